package engine_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// piecewise is a batches that notes how the engine has its bursts run, and does not sleep.
type piecewise struct {
	echo
	runs []int // the number of bursts of each StepN; 0 for a Step
}

func (b *piecewise) Step(in []engine.Stimulus, out *engine.Burst) error {
	b.runs = append(b.runs, 0)
	return b.echo.Step(in, out)
}

func (b *piecewise) CanStepN() bool { return true }

func (b *piecewise) StepN(n int, each func(*engine.Burst) error) error {
	b.runs = append(b.runs, n)
	var out engine.Burst
	for range n {
		if err := errors.Join(b.echo.Step(nil, &out), each(&out)); err != nil {
			return err
		}
	}
	return nil
}

// TestBetween: what is asked for runs after the burst in progress, where the state is that of the burst before, in order; what it asks
// for itself runs a burst later; and what nobody has met waits for the next Run.
func TestBetween(t *testing.T) {
	var e *engine.Engine
	var at []uint64
	note := func() error {
		var s engine.State
		require.NoError(t, e.State(&s))
		require.Equal(t, s.Number, e.Number())
		at = append(at, e.Number())
		return nil
	}
	ask := recording(func(b *engine.Burst) {
		if b.Number == 2 || b.Number == 4 {
			e.Between(note)
		}
	})
	e = engine.New(net(), &echo{}, engine.Options{Recorders: []engine.Recorder{ask}})
	e.Between(note)
	e.Between(func() error {
		e.Between(note)
		return note()
	})
	require.Empty(t, at, "no Run is at work")
	require.NoError(t, e.Run(context.Background(), 5))
	require.Equal(t, []uint64{0, 0, 1, 3, 5}, at)
	e.Between(note)
	require.NoError(t, e.Run(context.Background(), 0))
	require.Equal(t, []uint64{0, 0, 1, 3, 5, 5}, at)
}

// recording is a function as a Recorder.
type recording func(b *engine.Burst)

func (f recording) Record(b *engine.Burst) error { f(b); return nil }

// TestBetweenStops: an error ends Run at a boundary, and what was asked for after it is not forgotten.
func TestBetweenStops(t *testing.T) {
	planted, calls := errors.New("planted"), 0
	e := engine.New(net(), &echo{}, engine.Options{})
	e.Between(func() error { return planted })
	e.Between(func() error { calls++; return nil })
	require.Equal(t, planted, e.Run(context.Background(), 3))
	require.Zero(t, e.Number())
	require.Zero(t, calls)
	require.NoError(t, e.Run(context.Background(), 3))
	require.EqualValues(t, 3, e.Number())
	require.Equal(t, 1, calls)
}

// TestBetweenBatches: a Batcher stops for what is asked for from another goroutine, which may put the engine back.
func TestBetweenBatches(t *testing.T) {
	c := net()
	start, began, ctx := engine.NewState(c), make(chan bool), t.Context()
	once := recording(func(b *engine.Burst) {
		if b.Number == 1000 {
			began <- true
			<-began // the other goroutine has asked
		}
	})
	b := &piecewise{}
	e := engine.New(c, b, engine.Options{Recorders: []engine.Recorder{once}})
	var at uint64
	go func() {
		<-began
		e.Between(func() error {
			at = e.Number()
			return e.Restore(start)
		})
		began <- true
	}()
	require.NoError(t, e.Run(ctx, 1100))
	require.Greater(t, at, uint64(1000))
	require.Equal(t, 1100-at, e.Number())
	require.NotContains(t, b.runs, 0)
}

// pulses is a source that gives a stimulus in the listed bursts, ascending, and knows it.
type pulses []uint64

func (p pulses) Stimuli(t uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	if slices.Contains(p, t) {
		in = append(in, engine.Stimulus{Port: 1, Amount: 900})
	}
	return in, nil
}

func (p pulses) QuietUntil(t uint64) uint64 {
	if k, _ := slices.BinarySearch(p, t); k < len(p) {
		return p[k]
	}
	return math.MaxUint64
}

// eager is a source that does not know.
type eager struct{ engine.Source }

// TestQuietSources: bursts without stimuli stay together up to those with some, of all sources, and every burst is run once. A
// source that does not know, or a Period, has them run one by one.
func TestQuietSources(t *testing.T) {
	for _, tc := range []struct {
		name    string
		sources []engine.Source
		want    []int
	}{
		{"two sources", []engine.Source{pulses{3, 4, 90}, pulses{50}}, []int{3, 0, 0, 45, 0, 39, 0, 9}},
		{"one that gives nothing", []engine.Source{pulses{}}, []int{64, 36}},
		{"one that does not know", []engine.Source{pulses{}, eager{pulses{50}}}, make([]int, 100)},
	} {
		synctest.Test(t, func(t *testing.T) { // whose clock stands still, so that no batch is cut short
			var s, want seen
			b := &piecewise{}
			e := engine.New(net(), b, engine.Options{Sources: tc.sources, Recorders: []engine.Recorder{&s}})
			require.NoError(t, e.Run(t.Context(), 100))
			require.Equal(t, tc.want, b.runs, tc.name)
			require.NoError(t, engine.New(net(), &echo{}, engine.Options{Sources: tc.sources, Recorders: []engine.Recorder{&want}}).Run(t.Context(), 100))
			require.Equal(t, want, s, tc.name)
		})
	}
	b := &piecewise{}
	require.NoError(t, engine.New(net(), b, engine.Options{Sources: []engine.Source{pulses{}}, Period: 1}).Run(t.Context(), 9))
	require.Equal(t, make([]int, 9), b.runs)
}

// TestQuietSourcesOnBackends: a network in two parts, which runs many bursts at a time, comes to the digest of the reference, which
// is asked for stimuli burst by burst.
func TestQuietSourcesOnBackends(t *testing.T) {
	g, err := genome.Parse("quiet.yaml", []byte(reflex+"stimuli: [{area: eye, every: 7, neurons: [0, 1, 2], amount: 1}]\n"), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	digest := func(name string, parts int, s engine.Source) uint64 {
		b, err := backend.Open(name, c, backend.Options{Parts: parts})
		require.NoError(t, err)
		defer b.Close()
		e := engine.New(c, b, engine.Options{Sources: []engine.Source{s}})
		require.NoError(t, e.Run(t.Context(), 300))
		require.NotZero(t, e.Spikes())
		return e.Digest()
	}
	p := pulses{0, 5, 6, 30, 201}
	want := digest("reference", 0, eager{p})
	require.NotEqual(t, want, digest("reference", 0, pulses{}), "the pulses matter")
	require.Equal(t, want, digest("cpu", 2, p))
	require.Equal(t, want, digest("cpu", 2, eager{p}))
}

// TestFits: amounts count whatever their sign, beside all of the genome's stimuli for the port, whenever these act.
func TestFits(t *testing.T) {
	const room = math.MaxInt32 - 100 // of port 2
	own := connectome.Stimulus{At: 1, Ports: []uint32{2}, Amounts: []int32{30}}
	other := connectome.Stimulus{At: 2, Ports: []uint32{2, 4}, Amounts: []int32{-4, 1}}
	e := engine.New(net(own, other), &echo{}, engine.Options{})
	for _, tc := range []struct {
		name string
		in   []engine.Stimulus
		want *engine.RoomError
	}{
		{"nothing", nil, nil},
		{"all there is", []engine.Stimulus{{2, room - 34}, {4, -(math.MaxInt32 - 8)}}, nil},
		{"one more", []engine.Stimulus{{4, 1}, {2, room - 33}}, &engine.RoomError{Port: 2, Area: "here", Index: 2, Amount: room - 33, Room: room - 34}},
		{"one more, negative", []engine.Stimulus{{2, -(room - 33)}}, &engine.RoomError{Port: 2, Area: "here", Index: 2, Amount: room - 33, Room: room - 34}},
		{"they do not cancel", []engine.Stimulus{{2, room / 2}, {4, 1}, {2, -room/2 - 1}}, &engine.RoomError{Port: 2, Area: "here", Index: 2, Amount: room, Room: room - 34}},
		{"no room at all", []engine.Stimulus{{3, 1}}, &engine.RoomError{Port: 3, Area: "here", Index: 3, Amount: 1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := e.Fits(tc.in)
			if tc.want == nil {
				require.NoError(t, err)
				return
			}
			require.Equal(t, error(tc.want), err)
		})
	}
	require.ErrorContains(t, e.Fits([]engine.Stimulus{{5, 1}}), "stimulus for port 5, want less than 5")
}

// TestSwitch: a stimulus of the genome that is off acts in no burst, and one by one is how a Batcher is run then.
func TestSwitch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		own := connectome.Stimulus{Every: 2, Until: math.MaxUint64, Ports: []uint32{1}, Amounts: []int32{7}}
		other := connectome.Stimulus{Every: 3, Until: math.MaxUint64, Ports: []uint32{2}, Amounts: []int32{9}}
		b := &noted{}
		e := engine.New(net(own, other), b, engine.Options{})
		run := func(n uint64) { require.NoError(t, e.Run(t.Context(), n)) }
		require.NoError(t, e.Switch(0, false))
		run(4)
		require.NoError(t, e.Switch(1, false))
		require.NoError(t, e.Switch(0, true))
		run(3)
		require.Equal(t, [][]engine.Stimulus{{{2, 9}}, nil, nil, {{2, 9}}, {{1, 7}}, nil, {{1, 7}}}, b.in)
		require.NoError(t, e.Switch(1, true))
		run(5)
		require.Equal(t, []int{0, 0, 0, 0, 0, 0, 0, 5}, b.runs)
		require.EqualError(t, e.Switch(2, true), "stimulus 2, want less than the genome's 2")
	})
}

// noted is a piecewise that keeps what it is given.
type noted struct {
	piecewise
	in [][]engine.Stimulus
}

func (b *noted) Step(in []engine.Stimulus, out *engine.Burst) error {
	b.in = append(b.in, append([]engine.Stimulus(nil), in...))
	return b.piecewise.Step(in, out)
}
