package engine_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/cespare/xxhash/v2"
	"github.com/stretchr/testify/require"
)

// echo is a backend in which a neuron fires when its port is stimulated, so that what reaches Step can be seen.
type echo struct {
	number uint64
	fail   error
}

func (b *echo) Step(in []engine.Stimulus, out *engine.Burst) error {
	out.Number, out.Fired = b.number, out.Fired[:0]
	for _, s := range in {
		out.Fired = append(out.Fired, s.Port)
	}
	b.number++
	return b.fail
}

func (b *echo) ReadState(s *engine.State) error  { s.Number = b.number; return nil }
func (b *echo) WriteState(s *engine.State) error { b.number = s.Number; return nil }
func (b *echo) Close() error                     { return nil }

// list is a Source that gives the same stimuli in every burst.
type list []engine.Stimulus

func (l list) Stimuli(_ uint64, in []engine.Stimulus) ([]engine.Stimulus, error) {
	return append(in, l...), nil
}

// seen collects the neurons that fired.
type seen struct{ fired [][]uint32 }

func (s *seen) Record(b *engine.Burst) error {
	s.fired = append(s.fired, append([]uint32(nil), b.Fired...))
	return nil
}

func net(stimuli ...connectome.Stimulus) *connectome.Connectome {
	return &connectome.Connectome{
		Scale: 1000, Neurons: 5, Ports: 5, Row: make([]uint64, 6), MaxDelay: 1, Bound: []uint32{0, 0, 100, math.MaxInt32, 7},
		Areas:   []connectome.Area{{Name: "here", Model: &genome.Model{Ports: []genome.Port{{Name: "input"}}}, Neurons: connectome.Span{Count: 5}, Ports: connectome.Span{Count: 5}, Size: [3]uint32{5, 1, 1}, PerVoxel: 1}},
		Stimuli: stimuli,
	}
}

func TestStimuliAreMergedAndAscending(t *testing.T) {
	c := net(connectome.Stimulus{Every: 2, From: 1, Until: 5, Ports: []uint32{1, 4}, Amounts: []int32{3, 9}}, connectome.Stimulus{At: 3, Ports: []uint32{0}, Amounts: []int32{-1}})
	var s seen
	e := engine.New(c, &echo{}, engine.Options{Sources: []engine.Source{list{{4, 1}, {2, 5}, {2, -5}, {1, -3}}}, Recorders: []engine.Recorder{&s}})
	require.NoError(t, e.Run(context.Background(), 6))
	// The list leaves 1 and 4 (2 cancels); bursts 2 and 4 add +3 to 1, which cancels too; burst 3 adds 0.
	require.Equal(t, [][]uint32{{1, 4}, {1, 4}, {4}, {0, 1, 4}, {4}, {1, 4}}, s.fired)
	require.EqualValues(t, 11, e.Spikes())
}

func TestStimuliThatCouldOverflowAreRefused(t *testing.T) {
	cases := []struct {
		name string
		in   list
		want string
	}{
		{"one above the headroom", list{{2, math.MaxInt32 - 100}, {2, 1}}, `stimuli of 2147483548 quanta for neuron 2 of area "here", which has room for 2147483547`},
		{"one below it", list{{2, math.MinInt32 + 100}}, "stimuli of -2147483548"},
		{"no room at all", list{{3, -1}}, "has room for 0"},
		{"a port that is not there", list{{5, 1}}, "stimulus for port 5, want less than 5"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			b := &echo{}
			err := engine.New(net(), b, engine.Options{Sources: []engine.Source{tc.in}}).Run(context.Background(), 1)
			require.ErrorContains(t, err, tc.want)
			require.ErrorContains(t, err, "burst 0")
			require.Zero(t, b.number, "the backend must not have stepped")
		})
	}
	two := net()
	a, b := two.Areas[0], two.Areas[0]
	a.Neurons.Count, a.Ports.Count = 2, 2
	b.Name, b.Neurons, b.Ports = "there", connectome.Span{First: 2, Count: 3}, connectome.Span{First: 2, Count: 3}
	two.Areas = []connectome.Area{a, b}
	err := engine.New(two, &echo{}, engine.Options{Sources: []engine.Source{list{{3, 1}}}}).Run(context.Background(), 1)
	require.ErrorContains(t, err, `neuron 1 of area "there"`, "neurons count from their area's first")
	fits := list{{2, math.MaxInt32 - 100}, {4, -math.MaxInt32 + 7}, {3, 12}, {3, -12}}
	require.NoError(t, engine.New(net(), &echo{}, engine.Options{Sources: []engine.Source{fits}}).Run(context.Background(), 1))
}

// TestDigest restates the formula of step 5.
func TestDigest(t *testing.T) {
	e := engine.New(net(connectome.Stimulus{At: 1, Ports: []uint32{2, 4}, Amounts: []int32{1, 1}}), &echo{}, engine.Options{})
	var want uint64
	for burst, ids := range [][]uint32{{}, {2, 4}, {}} {
		require.NoError(t, e.Run(context.Background(), 1))
		var buf []byte
		buf = binary.LittleEndian.AppendUint64(buf, uint64(burst))
		buf = binary.LittleEndian.AppendUint64(buf, uint64(len(ids)))
		for _, id := range ids {
			buf = binary.LittleEndian.AppendUint32(buf, id)
		}
		h := xxhash.NewWithSeed(want)
		h.Write(buf)
		want = h.Sum64()
		require.Equal(t, want, e.Digest(), "after burst %d", burst)
	}
}

func TestRunStopsAtABurstsBoundary(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	e := engine.New(net(), &echo{}, engine.Options{Recorders: []engine.Recorder{stopAt{3, cancel}}})
	require.ErrorIs(t, e.Run(ctx, 1000), context.Canceled)
	require.EqualValues(t, 4, e.Number(), "burst 3 is finished, burst 4 not begun")
}

type stopAt struct {
	burst uint64
	stop  func()
}

func (s stopAt) Record(b *engine.Burst) error {
	if b.Number == s.burst {
		s.stop()
	}
	return nil
}

func TestErrorsNameTheBurst(t *testing.T) {
	b := &echo{}
	e := engine.New(net(), b, engine.Options{})
	require.NoError(t, e.Run(context.Background(), 7))
	b.fail = errors.New("planted")
	require.ErrorContains(t, e.Run(context.Background(), 1), "burst 7: planted")
}

// TestRecorderThatFails: the backend is a burst ahead of what is recorded then, so nothing goes on but from a state.
func TestRecorderThatFails(t *testing.T) {
	planted := errors.New("planted")
	e := engine.New(net(), &echo{}, engine.Options{Recorders: []engine.Recorder{failAt{3, planted}}})
	require.ErrorIs(t, e.Run(context.Background(), 10), planted)
	require.EqualValues(t, 3, e.Number())
	require.ErrorIs(t, e.Run(context.Background(), 1), planted)
	require.ErrorIs(t, e.State(new(engine.State)), planted)
}

type failAt struct {
	burst uint64
	with  error
}

func (f failAt) Record(b *engine.Burst) error {
	if b.Number == f.burst {
		return f.with
	}
	return nil
}

// TestPeriod runs on a clock that moves only while the engine waits: every burst begins when it is due.
func TestPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := engine.OnTimers(engine.New(net(), &echo{}, engine.Options{Period: 3 * time.Millisecond}))
		start := time.Now()
		require.NoError(t, e.Run(context.Background(), 11))
		require.Equal(t, 30*time.Millisecond, time.Since(start))
		require.Zero(t, e.Late())
		e.Pace(5 * time.Millisecond)
		require.NoError(t, e.Run(context.Background(), 3))
		require.Equal(t, 40*time.Millisecond, time.Since(start), "another pace")
		e.Pace(0)
		require.NoError(t, e.Run(context.Background(), 9))
		require.Equal(t, 40*time.Millisecond, time.Since(start), "none")
		require.Zero(t, e.Lateness())
	})
}

// TestStartsInTime: where the clock is a real one bursts begin when they are due or after that, never before, and the lateness says
// by how much. No figure decides.
func TestStartsInTime(t *testing.T) {
	b := &paced{start: time.Now(), takes: func(uint64) time.Duration { return 0 }}
	e := engine.New(net(), b, engine.Options{Period: 2 * time.Millisecond})
	require.NoError(t, e.Run(t.Context(), 50))
	for i, began := range b.began {
		require.GreaterOrEqual(t, began, time.Duration(i)*2*time.Millisecond)
	}
	require.Positive(t, e.Lateness().Max)
	t.Logf("lateness %+v µs, late %d", e.Lateness(), e.Late())
}

// batches is an echo that advances many bursts at a time, each in two milliseconds.
type batches struct{ echo }

func (b *batches) Step(in []engine.Stimulus, out *engine.Burst) error {
	time.Sleep(2 * time.Millisecond)
	return b.echo.Step(in, out)
}

func (b *batches) CanStepN() bool { return true }

func (b *batches) StepN(n int, each func(*engine.Burst) error) error {
	var out engine.Burst
	for range n {
		if err := b.Step(nil, &out); err != nil {
			return err
		}
		if err := each(&out); err != nil {
			return err
		}
	}
	return nil
}

// sleeper is a recorder that takes five milliseconds a burst.
type sleeper struct{}

func (sleeper) Record(*engine.Burst) error {
	time.Sleep(5 * time.Millisecond)
	return nil
}

// TestLatency: burst by burst it is the time in the backend alone, of many at a time that from burst to burst, recorders included.
// The clock moves only while somebody sleeps.
func TestLatency(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    engine.Options
		took time.Duration
	}{
		{"burst by burst", engine.Options{Sources: []engine.Source{list{}}, Recorders: []engine.Recorder{sleeper{}}}, 2 * time.Millisecond},
		{"many at a time", engine.Options{Recorders: []engine.Recorder{sleeper{}}}, 7 * time.Millisecond},
		{"many, nobody records", engine.Options{}, 2 * time.Millisecond},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := engine.New(net(), &batches{}, tc.o)
				require.NoError(t, e.Run(context.Background(), 60))
				require.InEpsilon(t, float64(tc.took.Microseconds()), e.Latency().P50, 0.002, "three figures")
				require.InEpsilon(t, float64(tc.took.Microseconds()), e.Latency().Max, 0.002, "three figures")
			})
		})
	}
}

// TestRestoreLeavesTheCounts: Spikes, Late and Latency are of this engine's bursts, whatever state it goes on from.
func TestRestoreLeavesTheCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := net()
		e := engine.OnTimers(engine.New(c, &batches{}, engine.Options{Sources: []engine.Source{list{{1, 3}, {4, 2}}}, Period: time.Millisecond / 2}))
		run := func() { require.NoError(t, e.Run(context.Background(), 7)) }
		run()
		require.EqualValues(t, 14, e.Spikes())
		late := e.Late()
		require.NotZero(t, late)
		s := engine.NewState(c)
		s.Number = 41
		require.NoError(t, e.Restore(s))
		require.EqualValues(t, 41, e.Number())
		require.EqualValues(t, 14, e.Spikes())
		require.Equal(t, late, e.Late())
		require.NotZero(t, e.Latency().P50)
		run()
		require.EqualValues(t, 28, e.Spikes())
		require.EqualValues(t, 48, e.Number())
	})
}

func TestRestoreRefusesAStateThatDoesNotFit(t *testing.T) {
	c := net()
	c.Areas[0].Model = &genome.Model{State: []genome.Variable{{Name: "V"}, {Name: "I_ex"}, {Name: "I_in"}}} // of two further variables
	e := engine.New(c, &echo{}, engine.Options{})
	cases := []struct {
		name   string
		damage func(*engine.State)
		want   string
	}{
		{"a neuron short", func(s *engine.State) { s.V = s.V[1:] }, "state of 4 neurons"},
		{"a countdown short", func(s *engine.State) { s.Refractory = s.Refractory[1:] }, "state of "},
		{"a count too many", func(s *engine.State) { s.Count = append(s.Count, 0) }, "state of "},
		{"a further variable too many", func(s *engine.State) { s.More = make([][]float32, 3) }, "state of 3 further variables, want 2"},
		{"a further variable of a neuron less", func(s *engine.State) { s.More[1] = s.More[1][1:] }, "further variable 2 of 4 neurons, want 5"},
		{"an infinite further variable", func(s *engine.State) { s.More[1][4] = float32(math.Inf(-1)) }, "state variable I_in of neuron 4 is -Inf"},
		{"a falling id", func(s *engine.State) { s.Queues[0] = []uint32{3, 4, 1} }, "fire queue of 1 bursts earlier, entry 2: 1 found, want ascending ids below 5"},
		{"a queue too many", func(s *engine.State) { s.Queues = append(s.Queues, nil) }, "2 fire queues"},
		{"not a number", func(s *engine.State) { s.V[3] = float32(math.NaN()) }, "potential of neuron 3 is NaN"},
		{"a repeated id", func(s *engine.State) { s.Queues[0] = []uint32{2, 2} }, "entry 1: 2 found, want ascending ids below 5"},
		{"an id beyond the network", func(s *engine.State) { s.Queues[0] = []uint32{5} }, "entry 0: 5 found"},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			s := engine.NewState(c)
			tc.damage(s)
			require.ErrorContains(t, e.Restore(s), tc.want)
		})
	}
	s := engine.NewState(c)
	s.Number, s.Digest, s.Queues[0] = 41, 99, []uint32{0, 4} // the first and the last
	require.NoError(t, e.Restore(s))
	require.EqualValues(t, 41, e.Number())
	require.EqualValues(t, 99, e.Digest())
}
