package live_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"burst/checkpoint"
	"burst/engine"
	"burst/genome"
	"burst/live"
	"burst/live/internal/inputlog"
	"burst/record/manifest"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// TestSegments: stimuli that are switched, Reset and Restore are in the log at their burst, before the first and behind the last as
// well, and a replay does them there.
func TestSegments(t *testing.T) {
	for _, text := range []string{loop, plastic} {
		dir := filepath.Join(t.TempDir(), "run")
		s, err := live.New(t.Context(), network(t, text), live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Folder: dir, Record: []string{"spikes=eye"}, Checkpoints: "10"}})
		require.NoError(t, err)
		require.NoError(t, s.Switch(0, false))
		eye := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye", Neurons: []uint32{3}}, Largest: 1})
		step := func(n uint64) { require.NoError(t, s.Step(t.Context(), n)) }
		require.NoError(t, s.Step(t.Context(), 13, live.Value{To: eye, Amounts: []float32{1}}))
		kept, err := s.State()
		require.NoError(t, err)
		require.EqualValues(t, 13, kept.Number)
		hash := kept.Hash()
		step(7)
		before := digest(t, s)
		require.NoError(t, s.Reset())
		now, err := s.State()
		require.NoError(t, err)
		fresh := engine.NewState(s.Facts().Connectome)
		require.Equal(t, []uint64{20, before, before}, []uint64{now.Number, now.Digest, digest(t, s)}, "bursts and digest go on")
		require.Equal(t, fresh.V, now.V)
		step(4)
		require.NoError(t, s.Switch(0, true))
		require.NoError(t, s.Restore(kept))
		require.Equal(t, hash, kept.Hash(), "the caller's state stays as it was")
		now, err = s.State()
		require.NoError(t, err)
		require.Equal(t, kept.V, now.V)
		require.Equal(t, kept.Queues, now.Queues)
		for i := range kept.Plastic {
			require.Equal(t, kept.Plastic[i].Weight, now.Plastic[i].Weight)
			for k, last := range kept.Plastic[i].PreLast {
				if last > 0 {
					last += 24 - 13
				}
				require.Equal(t, last, now.Plastic[i].PreLast[k])
			}
		}
		step(30)
		require.NoError(t, s.Reset())
		require.ErrorContains(t, s.Switch(2, true), "stimulus 2, want less than the genome's 2")
		require.NoError(t, s.Close())
		m := ended(t, dir, manifest.Complete)
		require.FileExists(t, filepath.Join(dir, "states", fmt.Sprintf("%016x.checkpoint", hash)))
		for _, backend := range []string{"reference", "cpu"} {
			require.Equal(t, m.Digest, replayed(t, dir, backend, 3))
		}
		require.Equal(t, []string{"stimulus off 0", "inputs 0", "reset 20", "inputs 20", "stimulus on 24", "restore 24", "inputs 24", "reset 54"}, logged(t, dir))
	}
}

// plastic is a loop that learns.
const plastic = `burst: v1
name: learning
areas:
  - {name: eye, neurons: 12, threshold: 0.9, drive: {poisson: {rate: 90 Hz, weight: 1}}}
  - {name: leg, neurons: 5, threshold: 2, drive: {poisson: {rate: 40 Hz, weight: 3}}}
projections:
  - {from: eye, to: leg, rule: all_to_all, weight: 0.6, delay: 3, plasticity: {rule: stdp, w_max: 1}}
stimuli:
  - {area: leg, every: 7, neurons: [0, 1, 2], amount: 2}
  - {area: leg, every: 11, neurons: [4], amount: 3}
`

// logged lists what inputs.arrows of a folder has.
func logged(t testing.TB, dir string) (list []string) {
	t.Helper()
	for _, e := range entries(t, dir) {
		text := fmt.Sprint(e.Kind, " ", e.Burst)
		if e.Kind == inputlog.SwitchOff {
			text = fmt.Sprint(e.Kind, " ", e.Value)
		}
		list = append(list, text)
	}
	return list
}

// entries are those of inputs.arrows of a folder.
func entries(t testing.TB, dir string) (list []inputlog.Entry) {
	t.Helper()
	r, err := inputlog.OpenArrow(filepath.Join(dir, manifest.InputsFile), 1000)
	require.NoError(t, err)
	defer r.Close()
	for {
		e, err := r.Next()
		if err != nil {
			return list
		}
		list = append(list, inputlog.Entry{Kind: e.Kind, Burst: e.Burst, Value: e.Value, Stimuli: slices.Clone(e.Stimuli)})
	}
}

// TestSwitchedWhenResumed: what was switched before the checkpoint is switched when the session goes on.
func TestSwitchedWhenResumed(t *testing.T) {
	digests := map[bool]uint64{}
	for _, stops := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "run")
		s := session(t, run.Options{Folder: dir})
		require.NoError(t, s.Switch(0, false))
		require.NoError(t, s.Step(t.Context(), 20))
		if stops {
			require.NoError(t, s.Suspend())
			var err error
			s, err = live.Resume(t.Context(), dir, live.Options{})
			require.NoError(t, err)
		}
		require.NoError(t, s.Step(t.Context(), 50))
		digests[stops] = digest(t, s)
		require.NoError(t, s.Close())
	}
	require.Equal(t, digests[false], digests[true])
	require.NotEqual(t, plain(t, 70, nil), digests[true], "the stimulus matters")
}

// TestQuiet: a backend that can run many bursts at a time, as a GPU does, may do so while nobody can give anything, and up to the
// burst before something is done.
func TestQuiet(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir})
	require.EqualValues(t, uint64(math.MaxUint64), live.QuietUntil(s, 0), "nobody feeds it")
	f := s.Feeder("x")
	in := bound(t, f, live.Binding{Place: live.Place{Area: "eye"}, Largest: 1, Once: true})
	require.Zero(t, live.QuietUntil(s, 0), "one may feed it at any time")
	require.NoError(t, s.Step(t.Context(), 7, live.Value{To: in, At: []uint32{1}, Amounts: []float32{1}}))
	require.Equal(t, []uint64{0, 7, 7}, []uint64{live.QuietUntil(s, 0), live.QuietUntil(s, 1), live.QuietUntil(s, 6)}, "the first burst has it")
	require.NoError(t, s.Reset())
	require.NoError(t, s.Step(t.Context(), 9))
	require.Equal(t, []uint64{7, 16}, []uint64{live.QuietUntil(s, 7), live.QuietUntil(s, 8)})
	require.NoError(t, s.Close())
	log := live.NewLog(dir)
	r, err := run.New(t.Context(), network(t, loop), run.Options{Backend: "cpu", Threads: 1, Sources: []engine.Source{log}})
	require.NoError(t, err)
	defer log.Close()
	defer r.Close()
	for _, at := range []struct{ burst, quiet uint64 }{{0, 0}, {1, 6}, {6, 6}, {7, math.MaxUint64}, {9, math.MaxUint64}} {
		require.NoError(t, log.Advance(t.Context(), r, at.burst))
		require.Equal(t, at.quiet, log.QuietUntil(at.burst), "at burst %d", at.burst)
	}
}

// TestRestoreRefuses a state of another network, one that learnt later than now, and a folder whose state is gone or another.
func TestRestoreRefuses(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s, err := live.New(t.Context(), network(t, plastic), live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Folder: dir}})
	require.NoError(t, err)
	require.ErrorContains(t, s.Restore(&engine.State{}), "state of 0 neurons")
	require.ErrorContains(t, s.Restore(nil), "no state (nil), want one of the network")
	require.NoError(t, s.Step(t.Context(), 20))
	x, err := s.State()
	require.NoError(t, err)
	later := x.Clone()
	later.Number = 21
	require.ErrorContains(t, s.Restore(later), "a state of burst 21 at burst 20, want one of an earlier burst")
	require.NoError(t, s.Restore(x))
	require.NoError(t, s.Step(t.Context(), 5))
	require.NoError(t, s.Close())
	path := filepath.Join(dir, "states", fmt.Sprintf("%016x.checkpoint", x.Hash()))
	c, err := checkpoint.Read(checkpoint.OS{}, path)
	require.NoError(t, err)
	replay := func() error {
		log := live.NewLog(dir)
		r, err := run.New(t.Context(), network(t, plastic), run.Options{Backend: "cpu", Threads: 1, Sources: []engine.Source{log}})
		require.NoError(t, err)
		defer r.Close()
		defer log.Close()
		return log.Advance(t.Context(), r, 25)
	}
	require.NoError(t, replay())
	c.State.V[0]++
	require.NoError(t, checkpoint.SaveAs(checkpoint.OS{}, path, c))
	require.ErrorContains(t, replay(), "its state hashes to ")
	require.NoError(t, os.Remove(path))
	require.ErrorContains(t, replay(), "the log of inputs names this state, which is gone")
}

// TestFiles: what is handed over with a genome is kept in the run's folder, from where a replay reads it, wherever the folder is.
func TestFiles(t *testing.T) {
	files := live.Files{"edges/own.csv": []byte("source,target,weight\n0,1,2\n1,0,2.5\n")}
	const text = "burst: v1\nname: given\nareas:\n  - {name: a, neurons: 2, threshold: 1}\n" +
		"projections:\n  - {from: a, to: a, rule: edges, file: edges/own.csv}\n"
	_, err := genome.Parse("net.yaml", []byte(text), live.Files{}.Open)
	require.ErrorContains(t, err, "edges/own.csv")
	g, err := genome.Parse("net.yaml", []byte(text), files.Open)
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "run")
	s, err := live.New(t.Context(), g, live.Options{Files: files, Options: run.Options{Backend: "reference", Folder: dir}})
	require.NoError(t, err)
	in := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "a"}, Largest: 2, Once: true})
	require.NoError(t, s.Step(t.Context(), 9, live.Value{To: in, Amounts: []float32{2, 0}}))
	require.NoError(t, s.Close())
	moved := filepath.Join(t.TempDir(), "moved")
	require.NoError(t, os.Rename(dir, moved))
	require.Equal(t, ended(t, moved, manifest.Complete).Digest, replayed(t, moved, "cpu", 1))
	require.NoError(t, os.WriteFile(filepath.Join(moved, "files", "edges", "own.csv"), []byte("source,target,weight\n0,1,2\n1,0,3\n"), 0o600))
	f := openFolder(t, moved)
	_, err = f.Genome()
	require.ErrorContains(t, err, "has changed since the run")
	for want, wrong := range map[string]live.Files{
		`file "../x", want a path inside`:                    {"edges/own.csv": nil, "../x": nil},
		`the genome names edges/own.csv, which is not among`: {"own.csv": nil},
	} {
		_, err = live.New(t.Context(), g, live.Options{Files: wrong})
		require.ErrorContains(t, err, want)
	}
}

// TestOptions that a session cannot have are refused.
func TestOptions(t *testing.T) {
	for want, o := range map[string]run.Options{
		"live: Sources are given":                {Sources: []engine.Source{script{}}},
		"live: a session runs in one process":    {Peers: &run.Peers{}},
		"needs a run without input from outside": {OnFault: run.CPU, Folder: filepath.Join(t.TempDir(), "x")},
	} {
		_, err := live.New(t.Context(), network(t, loop), live.Options{Options: o})
		require.ErrorContains(t, err, want)
	}
	_, err := live.Load(t.Context(), "none.yaml", live.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = live.Resume(t.Context(), t.TempDir(), live.Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// TestResumeNeedsTheLog: a run that took input goes on with its log alone, one that took none without.
func TestResumeNeedsTheLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir, Bursts: 30})
	require.NoError(t, s.Step(t.Context(), 20))
	require.ErrorContains(t, s.Step(t.Context(), 11), "a step of 11 bursts at burst 20, want at most the 10 to the run's end")
	require.NoError(t, s.Close())
	ended(t, dir, manifest.Interrupted)
	_, err := run.Resume(t.Context(), dir, run.Options{})
	require.ErrorContains(t, err, "took input from outside")
	other := filepath.Join(t.TempDir(), "other")
	r, err := run.New(t.Context(), network(t, loop), run.Options{Backend: "cpu", Bursts: 9, Folder: other})
	require.NoError(t, err)
	require.NoError(t, errors.Join(r.Advance(t.Context(), 3), r.Close()))
	_, err = live.Resume(t.Context(), other, live.Options{})
	require.ErrorContains(t, err, "has no log of inputs")
}

// TestBranch: a session may begin with a checkpoint, and its replay too.
func TestBranch(t *testing.T) {
	dir := t.TempDir()
	first := session(t, run.Options{Folder: filepath.Join(dir, "first")})
	require.NoError(t, first.Step(t.Context(), 20))
	require.NoError(t, first.Checkpoint())
	require.NoError(t, first.Close())
	path := filepath.Join(dir, "first", run.CheckpointFolder, checkpoint.Name(20))
	c, err := checkpoint.Read(checkpoint.OS{}, path)
	require.NoError(t, err)
	s := session(t, run.Options{Folder: filepath.Join(dir, "second"), From: &run.Start{Path: path, Saved: c}})
	in := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
	require.NoError(t, s.Step(t.Context(), 15, live.Value{To: in, At: []uint32{4}, Amounts: []float32{1}}))
	require.NoError(t, s.Close())
	require.Equal(t, ended(t, filepath.Join(dir, "second"), manifest.Complete).Digest, replayed(t, filepath.Join(dir, "second"), "reference", 0))
}

// TestDeliveredOnce: while several goroutines act on a session that goes by itself, each does what it asks for, once, and all replays.
func TestDeliveredOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir, Checkpoints: "300"})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	var g sync.WaitGroup
	for i := range 4 {
		g.Go(func() {
			f := s.Feeder(fmt.Sprint(i))
			in, err := f.Bind(live.Binding{Place: live.Place{Area: "eye"}, Largest: 1, Once: i == 1, HoldFor: uint64(i * i)})
			if err != nil {
				t.Error(err)
				return
			}
			out, err := s.Output(live.Place{Area: "leg"}, live.Counts)
			if err != nil {
				t.Error(err)
				return
			}
			var x live.Reading
			for k := range 60 {
				var err error
				switch {
				case k%20 == 5:
					err = s.Reset()
				case k%20 == 11:
					err = s.Switch(i%2, k%40 > 20)
				case i == 2 && k%20 == 15:
					s.Pause()
					err = s.Step(ctx, 3)
					s.Unpause()
				case i == 3 && k%20 == 16:
					err = s.SetRate("20kHz")
				case i == 3 && k%20 == 18:
					err = s.SetRate("")
				default:
					err = f.Set(live.Value{To: in, At: []uint32{uint32(k % 24)}, Amounts: []float32{0.5}})
					out.Read(&x)
				}
				if err != nil && !errors.Is(err, live.ErrBusy) {
					t.Error(err)
				}
				if _, err := s.Status(); err != nil {
					t.Error(err)
				}
			}
			f.Close()
		})
	}
	g.Wait()
	cancel()
	require.ErrorIs(t, <-ran, context.Canceled)
	require.NoError(t, s.Close())
	m := ended(t, dir, manifest.Complete)
	require.Greater(t, len(logged(t, dir)), 12+8)
	require.Equal(t, m.Digest, replayed(t, dir, "reference", 0))
	require.Equal(t, m.Digest, replayed(t, dir, "cpu", 2))
	require.ErrorIs(t, s.Reset(), live.ErrClosed)
	require.ErrorIs(t, s.Step(t.Context(), 1), live.ErrClosed)
	require.ErrorIs(t, s.Run(t.Context()), live.ErrClosed)
}
