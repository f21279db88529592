package live_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"burst/checkpoint"
	"burst/engine"
	"burst/live"
	"burst/record/manifest"
	"burst/run"

	"github.com/stretchr/testify/require"
)

// fullDisk is a disk that has room for so many bytes of a log.
type fullDisk struct {
	checkpoint.OS
	room int
}

func (d *fullDisk) Create(path string) (checkpoint.File, error) {
	f, err := d.OS.Create(path)
	if filepath.Base(path) == manifest.InputsLog {
		return &fullFile{f, d}, err
	}
	return f, err
}

type fullFile struct {
	checkpoint.File
	d *fullDisk
}

func (f *fullFile) Write(b []byte) (int, error) {
	n := min(len(b), f.d.room)
	f.d.room -= n
	done, err := f.File.Write(b[:n])
	if err == nil && n < len(b) {
		err = syscall.ENOSPC
	}
	return done, err
}

// TestFullDisk: the run stops before the burst that could not be logged, and says so; with room it goes on there.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{300, 321, 700} { // with and without a part of a record
		dir := filepath.Join(t.TempDir(), "run")
		last := uint64(0)
		seen := recorder(func(b *engine.Burst) { last = b.Number })
		s := session(t, run.Options{Folder: dir, Disk: &fullDisk{room: room}, Recorders: []engine.Recorder{seen}})
		in := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
		want, value := script{}, live.Value{To: in, At: []uint32{2}, Amounts: []float32{1}}
		var err error
		n := uint64(0)
		for ; err == nil; n++ {
			want[n] = []engine.Stimulus{{Port: 2, Amount: int32(100 + n)}}
			value.Amounts[0] = float32(100+n) / 1000
			err = s.Step(t.Context(), 1, value)
		}
		require.ErrorIs(t, err, syscall.ENOSPC)
		require.ErrorContains(t, err, fmt.Sprintf("burst %d: logging inputs to %s", n-1, filepath.Join(dir, "inputs")))
		require.Equal(t, n-2, last, "no burst was run that is not in the log")
		require.Error(t, s.Step(t.Context(), 1))
		require.ErrorIs(t, s.Close(), syscall.ENOSPC)
		m, err := manifest.Read(dir)
		require.NoError(t, err)
		require.Equal(t, manifest.Failed, m.Status)
		require.Contains(t, m.Failure, "no space left on device")
		s, err = live.Resume(t.Context(), dir, live.Options{})
		require.NoError(t, err)
		x, err := s.Status()
		require.NoError(t, err)
		require.Equal(t, n-1, x.Burst)
		require.Equal(t, plain(t, n-1, want), x.Digest)
		require.NoError(t, errors.Join(s.Step(t.Context(), 3), s.Close()))
		require.Equal(t, ended(t, dir, manifest.Complete).Digest, replayed(t, dir, "reference", 0))
	}
}

// TestPanics: a driver that panics leaves a session that can be closed, a recorder that does ends the run with its reason.
func TestPanics(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir, Bursts: 50})
	err := s.Drive(func() error {
		if err := s.Step(t.Context(), 7); err != nil {
			return err
		}
		var none []int
		return errors.New(fmt.Sprint(none[3]))
	})
	var p *live.PanicError
	require.ErrorAs(t, err, &p)
	require.ErrorContains(t, err, "live: the driver panicked: runtime error: index out of range [3] with length 0")
	require.Contains(t, string(p.Stack), "TestPanics")
	require.NoError(t, s.Close())
	ended(t, dir, manifest.Interrupted)
	s, err = live.Resume(t.Context(), dir, live.Options{})
	require.NoError(t, err)
	require.EqualValues(t, 7, s.Facts().Began)
	require.NoError(t, s.Drive(func() error { return s.Step(t.Context(), 43) }))
	require.NoError(t, s.Close())
	require.Equal(t, ended(t, dir, manifest.Complete).Digest, replayed(t, dir, "reference", 0))

	dir = filepath.Join(t.TempDir(), "run")
	s = session(t, run.Options{Folder: dir, Recorders: []engine.Recorder{recorder(func(b *engine.Burst) {
		if b.Number == 5 {
			panic("planted")
		}
	})}})
	require.ErrorContains(t, s.Step(t.Context(), 9), "burst 5: live: a recorder panicked: planted")
	require.NoError(t, s.Close())
	m, err := manifest.Read(dir)
	require.NoError(t, err)
	require.Equal(t, []string{manifest.Failed, "burst 5: live: a recorder panicked: planted"}, []string{m.Status, m.Failure})
}

// runaway is a model that leaves the range of float32 when it is pushed.
const runaway = `burst: v1
name: runaway
models:
  - name: grows
    ports: [in]
    state: {v: 0}
    update: [v = v*v + in]
    threshold: v >= 1e9
    reset: [v = v]
areas: [{name: a, neurons: 3, model: grows}]
`

// TestNotANumber: an input that drives the state out of its range ends the run with neuron and burst, at the end of a Step at the
// latest by Close; checkpoints and log are kept.
func TestNotANumber(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s, err := live.New(t.Context(), network(t, runaway), live.Options{Options: run.Options{Backend: "cpu", Threads: 1, Folder: dir, Checkpoints: "100"}})
	require.NoError(t, err)
	in := bound(t, s.Feeder("x"), live.Binding{Name: "push", Place: live.Place{Area: "a"}, Largest: 10})
	require.NoError(t, s.Step(t.Context(), 150))
	err = s.Step(t.Context(), 200, live.Value{To: in, At: []uint32{1}, Amounts: []float32{9}})
	var n *engine.NumberError
	require.ErrorAs(t, err, &n)
	require.EqualValues(t, 1, n.Index)
	require.NoError(t, s.Close())
	m, err := manifest.Read(dir)
	require.NoError(t, err)
	require.Equal(t, manifest.Failed, m.Status)
	require.Contains(t, m.Failure, `area "a"`)
	require.FileExists(t, filepath.Join(dir, run.CheckpointFolder, checkpoint.Name(100)))
	require.FileExists(t, filepath.Join(dir, manifest.InputsLog))
}

// TestRealTime: Run holds its rate; a pause of the machine is late bursts, none is left out; what feeders set meets the next burst,
// and what they held ends with them or after its bursts. All replays.
func TestRealTime(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	next, stalled := uint64(0), false
	var behind atomic.Uint64
	each := recorder(func(b *engine.Burst) {
		if b.Number != next {
			t.Errorf("burst %d behind burst %d", b.Number, next)
		}
		if next++; next == 20 && !stalled {
			stalled = true
			time.Sleep(30 * time.Millisecond)
		}
		behind.Store(next)
	})
	s := session(t, run.Options{Folder: dir, Bursts: 250, Rate: "1kHz", Recorders: []engine.Recorder{each}})
	held := bound(t, s.Feeder("holds"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1, HoldFor: 9})
	goes := s.Feeder("goes")
	other := bound(t, goes, live.Binding{Place: live.Place{Area: "skin"}, Largest: 90})
	ran := make(chan error, 1)
	require.NoError(t, goes.Set(live.Value{To: other, At: []uint32{3}, Amounts: []float32{90}}))
	start := time.Now()
	go func() { ran <- s.Run(t.Context()) }()
	for behind.Load() < 40 {
		time.Sleep(time.Millisecond)
	}
	require.NoError(t, held.Feeder().Set(live.Value{To: held, At: []uint32{1}, Amounts: []float32{1}}))
	goes.Close()
	require.ErrorIs(t, s.Run(t.Context()), live.ErrBusy)
	require.NoError(t, <-ran)
	require.GreaterOrEqual(t, time.Since(start), 249*time.Millisecond)
	x, err := s.Status()
	require.NoError(t, err)
	require.NotZero(t, x.Late)
	require.GreaterOrEqual(t, x.Lateness.Max, 28e3)
	t.Logf("lateness %+v µs, %d of 250 late", x.Lateness, x.Late)
	require.NoError(t, s.Close())
	m := ended(t, dir, manifest.Complete)
	require.Equal(t, "1kHz", m.Options.RealTime)
	require.Equal(t, x.Lateness, *m.Timings.Lateness)
	require.Equal(t, m.Digest, replayed(t, dir, "reference", 0))
	var inputs [][2]uint64
	for _, e := range entries(t, dir) {
		inputs = append(inputs, [2]uint64{e.Burst, e.Value})
	}
	require.Len(t, inputs, 2, "%v", inputs)
	require.Zero(t, inputs[0][0])
	require.EqualValues(t, 9, inputs[1][1], "held for nine bursts")
	require.LessOrEqual(t, inputs[0][1], inputs[1][0])
}

// TestSlowRate: while a burst is far from due, what is asked of a session is done at once, a higher rate included.
func TestSlowRate(t *testing.T) {
	s := session(t, run.Options{Rate: "0.001Hz"})
	done := make(chan error, 1)
	go func() { done <- s.Run(t.Context()) }()
	for {
		x, err := s.Status() // before Run is at work, and while it waits
		require.NoError(t, err)
		if x.Burst == 1 {
			break
		}
	}
	bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
	require.NoError(t, s.Switch(0, false))
	require.NoError(t, s.SetRate("1kHz"))
	for {
		x, err := s.Status()
		require.NoError(t, err)
		if x.Burst >= 10 {
			break
		}
	}
	require.NoError(t, s.Close())
	require.ErrorIs(t, <-done, live.ErrClosed)
}

// TestPause: a session that is paused runs nothing but Steps, and goes on; Suspend leaves it to be resumed though no end was planned.
func TestPause(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	s := session(t, run.Options{Folder: dir})
	number := func() uint64 {
		x, err := s.Status()
		require.NoError(t, err)
		return x.Burst
	}
	s.Pause()
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- s.Run(ctx) }()
	require.NoError(t, s.Step(t.Context(), 3))
	require.EqualValues(t, 3, number())
	s.Unpause()
	for number() < 10 {
		time.Sleep(time.Millisecond)
	}
	s.Pause()
	at := number()
	require.NoError(t, s.Step(t.Context(), 2))
	x, err := s.Status()
	require.NoError(t, err)
	require.Equal(t, []any{at + 2, true}, []any{x.Burst, x.Paused})
	cancel()
	require.ErrorIs(t, <-ran, context.Canceled)
	go func() { ran <- s.Run(t.Context()) }()
	require.NoError(t, s.Suspend())
	require.ErrorIs(t, <-ran, live.ErrClosed)
	require.NoError(t, s.Close())
	m := ended(t, dir, manifest.Interrupted)
	require.Equal(t, at+2, m.Bursts)
	s, err = live.Resume(t.Context(), dir, live.Options{})
	require.NoError(t, err)
	require.Equal(t, at+2, number())
	require.NoError(t, errors.Join(s.Step(t.Context(), 5), s.Close()))
	require.Equal(t, ended(t, dir, manifest.Complete).Digest, replayed(t, dir, "cpu", 2))
}

// TestStepStopped: a Step that its context ends stops between two bursts; the next one begins there, with what it brings.
func TestStepStopped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	ctx, cancel := context.WithCancel(t.Context())
	stop := uint64(4)
	s := session(t, run.Options{Folder: dir, Recorders: []engine.Recorder{recorder(func(b *engine.Burst) {
		if b.Number == stop {
			cancel()
		}
	})}})
	in := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
	one := live.Value{To: in, At: []uint32{0}, Amounts: []float32{1}}
	require.ErrorIs(t, s.Step(ctx, 10, one), context.Canceled)
	one.Amounts[0] = 0
	require.NoError(t, s.Step(t.Context(), 3, one))
	require.ErrorIs(t, s.Step(ctx, 10), context.Canceled)
	require.NoError(t, s.Step(t.Context(), 5))
	want := script{}
	for b := range uint64(5) {
		want[b] = []engine.Stimulus{{Port: 0, Amount: 1000}}
	}
	require.Equal(t, plain(t, 13, want), digest(t, s))
	one.Amounts[0] = 0.7
	require.ErrorIs(t, s.Step(ctx, 1000, one), context.Canceled, "before its first burst")
	one.Amounts[0] = 0.5
	ctx, cancel = context.WithCancel(t.Context())
	stop = 16
	require.ErrorIs(t, s.Step(ctx, 1000, one), context.Canceled)
	one.Amounts[0] = 0
	require.NoError(t, in.Feeder().Set(one))
	ctx, cancel = context.WithCancel(t.Context())
	defer cancel()
	stop = 20
	require.ErrorIs(t, s.Run(ctx), context.Canceled)
	for b := uint64(13); b < 17; b++ {
		want[b] = []engine.Stimulus{{Port: 0, Amount: 500}}
	}
	require.NoError(t, s.Close())
	require.Equal(t, want.sums(), given(t, dir))
	require.Equal(t, ended(t, dir, manifest.Complete).Digest, replayed(t, dir, "reference", 0))
}

// TestTornLog: what a loss of power has torn off a log is left out; what is gone that a checkpoint counts on is damage.
func TestTornLog(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	const steps = 3000 // more than a reader reads at a time
	s := session(t, run.Options{Folder: dir, Bursts: 2 * steps, Record: []string{"spikes=none"}})
	in := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
	saved := filepath.Join(dir, run.CheckpointFolder, checkpoint.Name(10))
	for i := range uint32(steps) {
		require.NoError(t, s.Step(t.Context(), 1, live.Value{To: in, At: []uint32{i % 24}, Amounts: []float32{1}}))
		if i == 9 {
			require.NoError(t, s.Checkpoint())
			require.Eventually(t, func() bool { return there(saved) }, time.Minute, time.Millisecond)
		}
	}
	log := filepath.Join(dir, manifest.InputsLog)
	whole, err := os.ReadFile(log)
	require.NoError(t, err)
	number := func(bytes int) (uint64, error) {
		left := filepath.Join(t.TempDir(), "left")
		require.NoError(t, os.CopyFS(left, os.DirFS(dir)))
		require.NoError(t, os.WriteFile(filepath.Join(left, manifest.InputsLog), whole[:bytes], 0o600))
		s, err := live.Resume(t.Context(), left, live.Options{})
		if err != nil {
			return 0, err
		}
		defer s.Close()
		return numberOf(t, s), nil
	}
	n, err := number(len(whole))
	require.NoError(t, err)
	require.EqualValues(t, steps, n)
	last := len(whole)
	if whole[last-28] == 7 { // the kind of a mark a second has passed meanwhile
		last -= 32
	}
	n, err = number(last - 5)
	require.NoError(t, err)
	require.EqualValues(t, steps-1, n)
	_, err = number(200)
	require.ErrorContains(t, err, "its whole records end at 184, the checkpoint says at ")
	_, err = number(10)
	require.ErrorContains(t, err, "not the head of a log of inputs")
}

func numberOf(t testing.TB, s *live.Session) uint64 {
	t.Helper()
	x, err := s.Status()
	require.NoError(t, err)
	return x.Burst
}

// TestNoAllocation: a Step with inputs, outputs and a log takes no memory beyond what the run's own takes.
func TestNoAllocation(t *testing.T) {
	for _, folder := range []bool{false, true} {
		o := run.Options{}
		if folder {
			o.Folder, o.Record = filepath.Join(t.TempDir(), "run"), []string{"spikes=none"}
		}
		s := session(t, o)
		in := bound(t, s.Feeder("x"), live.Binding{Place: live.Place{Area: "eye"}, Largest: 1, Once: true})
		held := bound(t, s.Feeder("y"), live.Binding{Place: live.Place{Area: "skin"}, Largest: 1})
		out := output(t, s, "leg", live.Counts)
		require.NoError(t, held.Feeder().Set(live.Value{To: held, Amounts: make([]float32, 20)}))
		amounts, x, ctx := make([]float32, 24), live.Reading{}, t.Context()
		one := func() {
			amounts[3] += 0.001
			if err := s.Step(ctx, 1, live.Value{To: in, Amounts: amounts}); err != nil {
				t.Fatal(err)
			}
			out.Read(&x)
		}
		for range 300 { // until fire queues and bins have their size
			one()
		}
		require.Zero(t, testing.AllocsPerRun(200, one), "with a folder: %v", folder)
	}
}

// TestNewestCounts: of what feeders set before a burst the newest counts, in any order, from any goroutine; and it adds up.
func TestNewestCounts(t *testing.T) {
	s := session(t, run.Options{})
	var g sync.WaitGroup
	for i := range 3 {
		f := s.Feeder(fmt.Sprint(i))
		in := bound(t, f, live.Binding{Place: live.Place{Area: "eye"}, Largest: 1})
		g.Go(func() {
			for k := range 50 {
				if err := f.Set(live.Value{To: in, At: []uint32{5}, Amounts: []float32{float32(k) / 100}}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Wait()
	require.NoError(t, s.Step(t.Context(), 9))
	want := script{}
	for b := range uint64(9) {
		want[b] = []engine.Stimulus{{Port: 5, Amount: 3 * 490}}
	}
	require.Equal(t, plain(t, 9, want), digest(t, s))
}
