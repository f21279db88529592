package serve_test

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"burst/engine"
	"burst/live"
	"burst/live/wire"
	"burst/record/runfolder"
	"burst/record/stats"
	"burst/run"
	"burst/serve"

	"github.com/stretchr/testify/require"
)

// recorded is the folder of a run of loop.
func recorded(t testing.TB, bursts uint64, o run.Options) string {
	t.Helper()
	return recordedOf(t, loop, bursts, o)
}

// recordedOf is that of a run of another network.
func recordedOf(t testing.TB, text string, bursts uint64, o run.Options) string {
	t.Helper()
	o.Backend, o.Threads, o.Folder, o.Bursts = "cpu", 1, filepath.Join(t.TempDir(), "out"), bursts
	r, err := run.New(context.Background(), network(t, text), o)
	require.NoError(t, err)
	require.NoError(t, r.Advance(context.Background(), bursts))
	require.NoError(t, r.Close())
	return o.Folder
}

// view serves a recorded run until the test ends.
func view(t testing.TB, dir string, o serve.Options) *served {
	t.Helper()
	s, err := serve.View(dir, o)
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	x := &served{Server: s, t: t, end: end, done: make(chan error, 1)}
	go func() { x.done <- s.Serve(ctx) }()
	t.Cleanup(func() { require.NoError(t, x.stop()) })
	return x
}

// TestView: a recorded run is shown by the same routes and pictures; one can seek in it, and nobody acts on it.
func TestView(t *testing.T) {
	dir := recorded(t, 500, run.Options{Record: []string{"spikes=all"}})
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	spikes := map[uint64]map[uint32]bool{} // of crowd
	for c, err := range f.Spikes() {
		require.NoError(t, err)
		for i, burst := range c.Burst {
			if spikes[burst] == nil {
				spikes[burst] = map[uint32]bool{}
			}
			if c.Area[i] == 1 {
				spikes[burst][c.Neuron[i]-24] = true
			}
		}
	}
	path := socketIn(t)
	s := view(t, dir, serve.Options{Socket: path, Listen: "127.0.0.1:0", Paused: true})
	_, viewToken, control := s.tokens()
	c := dial(t, path, wire.Hello{Role: wire.RoleView})
	require.Equal(t, "paused", c.Welcome.Mode)
	shown := func(n uint64) map[uint32]bool {
		t.Helper()
		require.NoError(t, c.Control(wire.Control{Do: "step", Bursts: n}))
		var v wire.View
		require.NoError(t, c.See(&v))
		require.EqualValues(t, n, v.Bursts)
		got := map[uint32]bool{}
		collect(t, &v, got)
		return got
	}
	for _, from := range []uint64{0, 300, 17, 16, 499, 0} { // forwards and back
		require.NoError(t, c.Control(wire.Control{Do: "seek", Burst: from}))
		want := map[uint32]bool{}
		for burst := from; burst < min(from+9, 500); burst++ {
			for n := range spikes[burst] {
				want[n] = true
			}
		}
		require.Equal(t, want, shown(min(9, 500-from)), "from %d", from)
	}
	require.NotEmpty(t, spikes[300])
	var st serve.Status
	s.get("/v1/status", &st)
	require.Equal(t, f.Manifest.Digest, st.Digest)
	require.EqualValues(t, 9, st.Burst)
	require.Equal(t, f.Manifest.Spikes, st.Spikes)
	for do, want := range map[string]string{`{"do":"seek","burst":501}`: "0 to 500", `{"do":"reset"}`: "no client acts on it", `{"do":"step","bursts":492}`: "the 491 that are left"} {
		code, text := s.call("POST", "/v1/control", control, do)
		require.Equal(t, 409, code)
		require.Contains(t, text, want)
	}
	for path, want := range map[string]int{
		"/v1/info": 200, "/v1/areas": 200, "/v1/projections": 200, "/v1/rates": 200, "/v1/layout?area=eye": 200, "/v1/spikes": 200, "/v1/files/manifest.json": 200,
		"/v1/neurons/3": 501, "/v1/neurons/3/synapses": 501, "/v1/potentials?area=eye": 501, "/v1/projections/1/weights": 501,
	} {
		code, text := s.call("GET", path, viewToken, "")
		require.Equal(t, want, code, "%s: %s", path, text)
	}
	code, _ := s.call("POST", "/v1/inputs/bind", control, bodies["/v1/inputs/bind"])
	require.Equal(t, 501, code)
	_, err = wire.Dial(path, wire.Hello{Role: wire.RoleFeed})
	require.ErrorContains(t, err, "no client acts on it")
	require.NoError(t, c.Control(wire.Control{Do: "seek", Burst: 100}))
	require.NoError(t, c.Control(wire.Control{Do: "rate", Rate: ""}))
	require.NoError(t, c.Control(wire.Control{Do: "resume"}))
	until(t, "it ends", func() bool { s.get("/v1/status", &st); return st.Burst == 500 && st.Mode == "paused" })
	var r serve.Rates
	s.get("/v1/rates", &r)
	want := uint64(0)
	for burst := uint64(100); burst < 500; burst++ {
		want += uint64(len(spikes[burst]))
	}
	require.Equal(t, want, r.Areas[1].Spikes)

	_, err = serve.View(recorded(t, 5, run.Options{Record: []string{"spikes=none"}}), serve.Options{})
	require.ErrorContains(t, err, "--record spikes=all")
	_, err = serve.View(t.TempDir(), serve.Options{})
	require.Error(t, err)
}

// TestViewUnfinished: of a run that goes on, or was killed, what is on disk is shown.
func TestViewUnfinished(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	r, err := run.New(context.Background(), network(t, loop), run.Options{Backend: "cpu", Threads: 1, Folder: dir, Record: []string{"spikes=all"}})
	require.NoError(t, err)
	defer r.Close()
	require.NoError(t, r.Advance(context.Background(), 300))
	require.NoError(t, r.Save())
	until(t, "a checkpoint", func() bool {
		list, err := filepath.Glob(filepath.Join(dir, run.CheckpointFolder, "*.checkpoint"))
		return err == nil && len(list) > 0
	})
	s := view(t, dir, serve.Options{Options: live.Options{Options: run.Options{Rate: "100kHz"}}})
	var st serve.Status
	until(t, "it ends", func() bool { s.get("/v1/status", &st); return st.Mode == "paused" })
	require.Greater(t, st.Burst, uint64(250))
	require.LessOrEqual(t, st.Burst, uint64(300))
}

// TestWatch: a run of package run is shown while it goes on, and computes what it does without.
func TestWatch(t *testing.T) {
	o := run.Options{Backend: "cpu", Threads: 1}
	alone, err := run.New(context.Background(), network(t, loop), o)
	require.NoError(t, err)
	defer alone.Close()
	require.NoError(t, alone.Advance(context.Background(), 200))
	w := new(serve.Watch)
	o.Recorders = []engine.Recorder{w}
	r, err := run.New(context.Background(), network(t, loop), o)
	require.NoError(t, err)
	defer r.Close()
	path := socketIn(t)
	s, err := w.Open(r, serve.Options{Socket: path, Listen: "127.0.0.1:0"})
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	x := &served{Server: s, t: t, end: end, done: make(chan error, 1)}
	go func() { x.done <- s.Serve(ctx) }()
	defer x.stop()
	c := dial(t, path, wire.Hello{Role: wire.RoleView})
	require.NoError(t, r.Advance(context.Background(), 200))
	bursts := uint32(0)
	for v := new(wire.View); v.Next < 200; bursts += v.Bursts {
		require.NoError(t, c.See(v))
	}
	require.EqualValues(t, 200, bursts)
	require.Equal(t, alone.Engine().Digest(), r.Engine().Digest())
	var st serve.Status
	x.get("/v1/status", &st)
	require.EqualValues(t, 200, st.Burst)
	require.EqualValues(t, r.Activity().Total(), st.Spikes)
	require.ErrorContains(t, c.Control(wire.Control{Do: "pause"}), "no client acts on it")
}

// TestBeside: a second run is reached below /beside by the first one's address and tokens, and the first spike in which the two differ
// is that of stats.
func TestBeside(t *testing.T) {
	one := recordedOf(t, loop+"run_seed: 5\n", 300, run.Options{Record: []string{"spikes=all"}})
	two := recordedOf(t, loop+"run_seed: 6\n", 300, run.Options{Record: []string{"spikes=all"}})
	first, err := serve.View(one, serve.Options{Paused: true})
	require.NoError(t, err)
	second, err := serve.View(two, serve.Options{Paused: true, Beside: first})
	require.NoError(t, err)
	ctx, end := context.WithCancel(context.Background())
	done := make(chan error, 2)
	for _, s := range []*serve.Server{first, second} {
		go func() { done <- s.Serve(ctx) }()
	}
	defer func() {
		end()
		require.NoError(t, <-done)
		require.NoError(t, <-done)
	}()
	none, _ := second.Addresses()
	require.Empty(t, none)
	address, _ := first.Addresses()
	base, token, found := strings.Cut(address, "/pair#token=")
	require.True(t, found)
	get := func(path, token string) (int, string) {
		q, err := http.NewRequest("GET", base+path, nil)
		require.NoError(t, err)
		if token != "" {
			q.Header.Set("Authorization", "Bearer "+token)
		}
		a, err := http.DefaultClient.Do(q)
		require.NoError(t, err)
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		require.NoError(t, err)
		return a.StatusCode, string(text)
	}
	a, err := runfolder.Open(one)
	require.NoError(t, err)
	b, err := runfolder.Open(two)
	require.NoError(t, err)
	want, err := stats.FirstDifference(a, b, math.MaxUint64)
	require.NoError(t, err)
	require.NotNil(t, want)
	code, text := get("/v1/difference", token)
	require.Equal(t, 200, code, text)
	var got serve.Difference
	require.NoError(t, json.Unmarshal([]byte(text), &got))
	require.Equal(t, want, got.First)
	for path, seed := range map[string]string{"/v1/info": `"run_seed":5`, "/beside/v1/info": `"run_seed":6`} {
		code, text = get(path, token)
		require.Equal(t, 200, code, text)
		require.Contains(t, text, seed)
		code, _ = get(path, strings.Repeat("A", 22))
		require.Equal(t, 401, code)
	}
	for _, path := range []string{"/pair", "/beside/"} {
		code, text = get(path, "")
		require.Equal(t, 200, code)
		require.Contains(t, text, "<!doctype html>")
	}
	code, _ = get("/beside/v1/difference", token)
	require.Equal(t, 404, code)
	http.DefaultClient.CloseIdleConnections()
}
