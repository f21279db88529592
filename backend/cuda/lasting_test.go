package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// forever is longer than any test: launches that go on end when they are told to.
const forever = time.Hour

// TestConformanceOfLastingLaunches runs the suite by launches that go on from Step to Step; TestLastingPaths has a few networks of it.
func TestConformanceOfLastingLaunches(t *testing.T) {
	slow.Test(t)
	h := cudatest.Anywhere(t)
	tune := fewThreads()
	tune.linger = forever
	if h == nil {
		tune = defaults
	}
	enginetest.RunStatic(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
		w.Stimuli = true
		return open(c, Options{Want: w}, tune)
	}, reference.Open)
	if h != nil {
		require.Zero(t, h.Count("held"), "closed backends hold nothing")
	}
}

// TestLastingPaths mixes such Steps with launches of many bursts, on each path that has them: among them those on which blocks leave rows to
// each other.
func TestLastingPaths(t *testing.T) {
	slow.Short(t)
	h := cudatest.Anywhere(t)
	for name, tune := range paths() {
		if !strings.HasPrefix(name, "resident") && !strings.HasPrefix(name, "delayed") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if !strings.HasSuffix(name, "all rows shared") {
				slow.Test(t)
			}
			tune.linger = forever
			if h == nil {
				tune.linger = defaults.linger
			}
			lasting := 0
			enginetest.RunBatches(t, func(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
				w.Stimuli = true
				b, err := open(c, Options{Want: w}, tune)
				if err == nil && b.(*backend).lasting.kernel != nil {
					lasting++
				}
				return b, err
			}, reference.Open, engine.Want{})
			require.Positive(t, lasting)
		})
	}
}

// lastingOf opens a network for Steps that launches of so many bursts run.
func lastingOf(t *testing.T, c *connectome.Connectome, bursts uint64, w engine.Want) *backend {
	t.Helper()
	tune := fewThreads()
	tune.linger, tune.batch, tune.patience = forever, bursts, forever
	w.Stimuli = true
	b, err := open(c, Options{Want: w}, tune)
	require.NoError(t, err)
	require.True(t, b.(*backend).lasts())
	return b.(*backend)
}

// TestLastingLearning mixes Steps that share launches on path local with launches of many bursts, and with states that are read and written.
func TestLastingLearning(t *testing.T) {
	h, lasting := cudatest.Anywhere(t), 0
	for seed := range uint64(slow.Times(9, 60)) {
		r := rand.New(rand.NewPCG(seed, 0x6c617374))
		c := enginetest.RandomPlastic(r, int(seed)).Build()
		tune := defaults
		if h != nil {
			h.Control("multiprocessors", int64(1+seed%16))
			tune.linger = forever
		}
		tune.events, tune.batchThreads, tune.batch, tune.localBlocks = 1+r.Uint32N(20), 32*(2+r.Uint32N(7)), 1+r.Uint64N(30), 1+int(seed)%16
		t.Run(fmt.Sprintf("seed %d, %d events, %d threads", seed, tune.events, tune.batchThreads), func(t *testing.T) {
			oracle, err := reference.Open(c, engine.Want{})
			require.NoError(t, err)
			opened, err := open(c, Options{Want: engine.Want{Stimuli: true}}, tune)
			require.NoError(t, err)
			b := opened.(*backend)
			defer func() { require.NoError(t, b.Close()) }()
			if b.lasting.kernel != nil && b.choice.path == pathLocal {
				lasting++
			}
			feed, number := engine.NewFeed(c, nil), uint64(0)
			var x, y engine.Burst
			var want, got engine.State
			for range 10 {
				switch n := 1 + r.IntN(20); r.IntN(3) {
				case 0:
					require.NoError(t, b.StepN(n, func(y *engine.Burst) error {
						in, err := feed.Next(number)
						require.NoError(t, err)
						require.NoError(t, oracle.Step(in, &x))
						require.Nil(t, engine.CompareBursts(&x, y))
						number++
						return nil
					}))
				default:
					for range n {
						in, err := feed.Next(number)
						require.NoError(t, err)
						if len(in) == 0 {
							apart := 1 + r.Uint32N(9)
							for port := r.Uint32N(9); port < c.Ports && r.IntN(30) > 0; port += 1 + r.Uint32N(apart) {
								in = append(in, engine.Stimulus{Port: port, Amount: r.Int32N(1000) * 100})
							}
						}
						require.NoError(t, oracle.Step(in, &x))
						require.NoError(t, b.Step(in, &y))
						require.Nil(t, engine.CompareBursts(&x, &y))
						number++
					}
				}
				if r.IntN(2) > 0 {
					require.NoError(t, oracle.ReadState(&want))
					require.NoError(t, b.ReadState(&got))
					require.Nil(t, engine.CompareStates(&want, &got))
				}
				if r.IntN(4) == 0 {
					require.NoError(t, oracle.ReadState(&want))
					require.NoError(t, b.WriteState(&want))
				}
			}
		})
	}
	require.NotZero(t, lasting, "some are small enough for path local")
}

// TestLastingLaunches: Steps share a launch until it is full, or the state is read or written, or many bursts follow, or its time is over;
// all have the bits of the reference.
func TestLastingLaunches(t *testing.T) {
	h := cudatest.Host(t)
	c := small()
	want := engine.Want{Values: []engine.Probe{{Neuron: 3}}}
	b := lastingOf(t, c, 10, want)
	ref, err := reference.Open(c, want)
	require.NoError(t, err)
	burst := uint32(0)
	steps := func(n int) int64 { // and how many launches they take
		before := h.Count("launches")
		for range n {
			var x, y engine.Burst
			var in []engine.Stimulus
			for port := burst % 3; port < c.Ports; port += 3 {
				in = append(in, engine.Stimulus{Port: port, Amount: int32(port+burst) * 100_000})
			}
			burst++
			require.NoError(t, ref.Step(in, &x))
			require.NoError(t, b.Step(in, &y))
			require.Nil(t, engine.CompareBursts(&x, &y))
		}
		return h.Count("launches") - before
	}
	same := func() {
		var x, y engine.State
		require.NoError(t, ref.ReadState(&x))
		require.NoError(t, b.ReadState(&y))
		require.Nil(t, engine.CompareStates(&x, &y))
	}
	steps(1) // alone, after no other
	require.EqualValues(t, 3, steps(25), "two full ones and one that goes on")
	require.Zero(t, steps(4))
	same()
	require.EqualValues(t, 1, steps(3), "the state was read")
	var s engine.State
	require.NoError(t, b.ReadState(&s))
	steps(1)
	require.NoError(t, ref.WriteState(&s))
	require.NoError(t, b.WriteState(&s))
	same()
	steps(3)
	require.NoError(t, b.StepN(5, func(y *engine.Burst) error {
		var x engine.Burst
		require.NoError(t, ref.Step(nil, &x))
		require.Nil(t, engine.CompareBursts(&x, y))
		return nil
	}))
	require.EqualValues(t, 1, steps(2))
	require.Zero(t, steps(1))
	require.NoError(t, b.ctx.Enter())
	require.NoError(t, b.stream.Synchronize(), "the device's clock goes on meanwhile")
	b.ctx.Leave()
	require.EqualValues(t, 1, steps(3), "the launch has waited long enough")
	same()
	b.tune.linger = 1 // Steps that come one by one
	require.EqualValues(t, 3, steps(3))
	b.tune.linger = forever
	steps(2)
	require.NoError(t, b.Close(), "a launch waits")
	require.Zero(t, h.Count("held"))
}

// TestLastingLaunchThatGivesUp: one that has waited long enough ends, unless the host is just asking it for the next burst.
func TestLastingLaunchThatGivesUp(t *testing.T) {
	h := cudatest.Host(t)
	b := lastingOf(t, small(), 50, engine.Want{})
	l := &b.lasting
	l.calls.patience = 20_000_000 // by the stand-in's clock
	steps := func(n int) int64 {
		before := h.Count("launches")
		for range n {
			require.NoError(t, b.Step([]engine.Stimulus{{Port: 1, Amount: 1}}, &engine.Burst{}))
		}
		return h.Count("launches") - before
	}
	over := func() bool { return atomic.LoadUint64(l.over) == lastingOver }
	steps(2)
	atomic.StoreUint64(l.next, l.number) // as call begins
	began := time.Now()
	require.Never(t, over, 400*time.Millisecond, time.Millisecond)
	require.Zero(t, steps(1))
	require.Eventually(t, over, time.Minute, time.Millisecond)
	t.Logf("asked and waited for 400 ms, and was over in %v", time.Since(began))
	require.EqualValues(t, 1, steps(1))
	require.NoError(t, b.Close())
}

// TestStepsShareALaunch says so of a GPU too, where nobody counts launches: without it they would be as right, and no faster.
func TestStepsShareALaunch(t *testing.T) {
	h := cudatest.Anywhere(t)
	b := lastingOf(t, small(), 50, engine.Want{})
	if h == nil {
		b.tune.linger, b.lasting.calls.patience = time.Minute, uint64(time.Minute)
	}
	var out engine.Burst
	require.NoError(t, b.Step(nil, &out))
	for k := range uint64(20) {
		require.NoError(t, b.Step([]engine.Stimulus{{Port: 1, Amount: 1}}, &out))
		require.True(t, b.lasting.on)
		require.Equal(t, k+1, b.lasting.number)
	}
	require.NoError(t, b.Close())
}

// TestManyStimuliOfLastingLaunches: a block may have any number of stimuli, and any number of its neurons may fire, in one launch.
func TestManyStimuliOfLastingLaunches(t *testing.T) {
	h := cudatest.Host(t)
	h.Control("multiprocessors", 4)
	c := enginetest.Net{Areas: []connectome.Area{enginetest.LIF(4200)}}.Build()
	b := lastingOf(t, c, 100, engine.Want{Values: []engine.Probe{{Neuron: 3}, {Neuron: 4100}}})
	ref, err := reference.Open(c, b.want)
	require.NoError(t, err)
	var in []engine.Stimulus
	for port := range c.Ports {
		in = append(in, engine.Stimulus{Port: port, Amount: int32(port%7) * 1_000_000})
	}
	require.NoError(t, b.Step(nil, &engine.Burst{}))
	require.NoError(t, ref.Step(nil, &engine.Burst{}))
	before := h.Count("launches")
	most := 0
	for _, v := range []struct{ from, to int }{{0, 4200}, {0, 5}, {4000, 4200}, {0, 0}, {0, 600}, {1100, 1800}, {0, requestWords - 1}, {7, 7 + requestWords}, {0, 4200}, {4199, 4200}} {
		var x, y engine.Burst
		require.NoError(t, ref.Step(in[v.from:v.to], &x))
		require.NoError(t, b.Step(in[v.from:v.to], &y))
		require.Nil(t, engine.CompareBursts(&x, &y))
		most = max(most, len(x.Fired))
	}
	require.EqualValues(t, 1, h.Count("launches")-before)
	require.Greater(t, most, int(b.batch.blocks)*mostAnswers)
	var x, y engine.State
	require.NoError(t, ref.ReadState(&x))
	require.NoError(t, b.ReadState(&y))
	require.Nil(t, engine.CompareStates(&x, &y))
	require.NoError(t, b.Close())
}

// TestLastingLaunchLosesItsDevice in a burst that it was called for: the Step says so, and all later calls.
func TestLastingLaunchLosesItsDevice(t *testing.T) {
	h := cudatest.Host(t)
	c := small()
	b := lastingOf(t, c, 10, engine.Want{})
	var out engine.Burst
	for range 4 {
		require.NoError(t, b.Step(nil, &out))
	}
	b.tune.patience = defaults.patience
	h.Control("lose_at", 5)
	require.NoError(t, b.Step(nil, &out))
	first := b.Step(nil, &out)
	require.ErrorContains(t, first, "CUDA_ERROR_ILLEGAL_ADDRESS")
	require.ErrorContains(t, first, "start a new process")
	require.Equal(t, first, b.Step(nil, &out))
	require.Equal(t, first, b.ReadState(&engine.State{}))
	require.Equal(t, first, b.WriteState(engine.NewState(c)))
	require.Equal(t, first, b.Close())
}

// TestLastingLaunchThatFails: one that does not begin, or does nothing, fails the Step, and a new state mends the backend.
func TestLastingLaunchThatFails(t *testing.T) {
	for _, name := range []string{"a block too large", "skip_launch"} {
		t.Run(name, func(t *testing.T) {
			h := cudatest.Host(t)
			c := small()
			b := lastingOf(t, c, 3, engine.Want{})
			var saved engine.State
			var out engine.Burst
			require.NoError(t, b.Step(nil, &out))
			require.NoError(t, b.ReadState(&saved))
			require.NoError(t, b.Step(nil, &out))
			fired := slices.Clone(out.Fired)
			require.NoError(t, b.Step(nil, &out))
			require.NoError(t, b.ctx.Enter())
			require.NoError(t, b.stream.Synchronize(), "so that the next Step begins a launch")
			b.ctx.Leave()
			threads := b.batch.threads
			if name == "skip_launch" {
				h.Control("skip_launch", 1)
				b.tune.patience = defaults.patience
			} else {
				b.batch.threads = 2048 // more than a block may have
			}
			first := b.Step(nil, &out)
			require.Error(t, first)
			require.Equal(t, first, b.Step(nil, &out))
			b.batch.threads = threads
			require.NoError(t, b.WriteState(&saved))
			require.NoError(t, b.Step(nil, &out))
			require.Equal(t, fired, out.Fired)
			require.NoError(t, b.Close())
			require.Zero(t, h.Count("held"))
		})
	}
}

// TestLastingStepsDoNotAllocate, nor do they call the driver.
func TestLastingStepsDoNotAllocate(t *testing.T) {
	h := cudatest.Host(t)
	b := lastingOf(t, small(), 256, engine.Want{Values: []engine.Probe{{Neuron: 3}}})
	require.Equal(t, map[string]int64{"launches": 0, "synchronizes": 0}, stepsWithoutAllocating(t, h, b, "launches", "synchronizes"))
	require.NoError(t, b.Close())
}
