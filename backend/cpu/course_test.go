package cpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// excitedNet is a network of two areas in which spikes make spikes after the given delays and stimuli of the genome come now and then.
func excitedNet(delays ...uint16) *connectome.Connectome {
	pulse, cells := enginetest.FEAGI(900), enginetest.LIF(1100)
	pulse.Constant("excitability").Const = 0.7
	pulse.Drives = []connectome.Drive{enginetest.Always(connectome.Poisson, 900, 1<<30, 1<<31)}
	n := enginetest.Net{RunSeed: 7, Areas: []connectome.Area{pulse, cells}}
	for i := range uint32(8000) {
		n.Synapses = append(n.Synapses, enginetest.Synapse{From: i * 7 % 2000, To: i * 13 % 2000, Weight: int32(i%9) * 150, Delay: delays[int(i/2000)%len(delays)]})
	}
	n.Stimuli = []connectome.Stimulus{{At: 5, Every: 7, Until: 1 << 40, Ports: []uint32{3, 901, 1999}, Amounts: []int32{900, 20_000, 30_000}}}
	return n.Build()
}

// some bursts' sums: fewer than delays differ by.
const some = -1

// TestCoursesAreBursts runs courses of windows of all kinds against the reference: their lengths divide neither each other nor the delays.
func TestCoursesAreBursts(t *testing.T) {
	slow.Short(t)
	for kind, k := range []struct {
		delays []uint16
		window int
		coming int // bursts that workers have sums for
	}{
		{[]uint16{1}, 1, 1}, {[]uint16{3}, 3, 1}, {[]uint16{16, 20, 23}, 16, 1}, {[]uint16{17, 19}, 5, 1}, {[]uint16{40}, 13, 1}, {[]uint16{50}, 16, 1}, {[]uint16{1, 5}, 1, 1},
		{[]uint16{1, 5}, 1, 5}, {[]uint16{16, 20, 23}, 16, 8}, {[]uint16{1, 100, 700}, 1, some},
	} {
		c := excitedNet(k.delays...)
		if k.coming != 1 {
			c.Areas[1].Drives = []connectome.Drive{enginetest.Always(connectome.Noise, 1, 1<<31)}
			c.Areas[1].Drives[0].Table = []int32{-3, 7}
		}
		want := engine.Want{FCL: true, Values: []engine.Probe{{Neuron: 5}, {Neuron: 1700}}}
		for i, of := range [][2]int{{2, 2}, {2, 3}, {3, 3}, {2, 5}, {5, 5}} {
			threads, workers := of[0], of[1]
			if (kind+i)%2 == 0 || slow.Full() { // half of them, each with half of the windows
				t.Run(fmt.Sprintf("delays %d, %d of %d threads", k.delays, threads, workers), func(t *testing.T) {
					b := open(c, want, workers, vector.Best())
					defer b.Close()
					require.True(t, b.CanStepN())
					require.Equal(t, k.window, b.Window())
					if coming := max(1, b.workers[0].rows.bursts); k.coming == some {
						require.True(t, 10 < coming && coming < 700, "%d", coming)
					} else {
						require.Equal(t, k.coming, coming)
					}
					oracle, err := reference.Open(c, want)
					require.NoError(t, err)
					one := engine.NewDigest(oracle)
					defer one.Close()
					feed := engine.NewFeed(c, nil)
					var out engine.Burst
					spikes, several := 0, false
					next := func(got *engine.Burst) error {
						in, err := feed.Next(got.Number)
						require.NoError(t, err)
						require.NoError(t, one.Step(in, &out))
						require.Nil(t, engine.CompareBursts(&out, got))
						spikes += len(got.Fired)
						several = several || b.pool.threads > 1
						return nil
					}
					var s, read engine.State
					for _, n := range []int{50, 1, 2, 77, slow.Times(30, 140)} {
						work := uint64(0)
						for _, w := range b.workers {
							work += w.work()
						}
						b.pool.leastWork = max(1, work*uint64(b.window)/uint64(threads))
						require.NoError(t, b.StepN(n, next))
						require.NoError(t, one.ReadState(&s))
						require.NoError(t, b.ReadState(&read))
						require.Nil(t, engine.CompareStates(&s, &read))
						require.NoError(t, b.WriteState(&read))
					}
					require.Greater(t, spikes, 10_000)
					require.True(t, several)
				})
			}
		}
	}
}

// TestCourseEndsAfterError: after an error of the receiver nothing is delivered, and the run can go on.
func TestCourseEndsAfterError(t *testing.T) {
	c := excitedNet(3)
	b := eager(open(c, engine.Want{}, 3, vector.Best()))
	defer b.Close()
	enough, seen := errors.New("enough"), uint64(0)
	err := b.StepN(200, func(out *engine.Burst) error {
		if seen = out.Number; seen == 20 {
			return enough
		}
		return nil
	})
	require.ErrorIs(t, err, enough)
	require.EqualValues(t, 20, seen)
	require.Less(t, b.number, uint64(200))
	next := b.number
	require.NoError(t, b.StepN(1, func(out *engine.Burst) error {
		require.Equal(t, next, out.Number)
		return nil
	}))
}

// TestCourseOutlivesPanic: a receiver that panics leaves nobody waiting.
func TestCourseOutlivesPanic(t *testing.T) {
	b := eager(open(excitedNet(3), engine.Want{}, 3, vector.Best()))
	require.Panics(t, func() { _ = b.StepN(64, func(*engine.Burst) error { panic("no") }) })
	require.NoError(t, b.Close())
}

// TestWhoHasCourses: a network whose workers need more of each other than fire queues is stepped burst by burst.
func TestWhoHasCourses(t *testing.T) {
	learns := open(learner{neurons: 90, fan: 10, period: 100, delay: 5, lag: 1}.build(true), engine.Want{}, 2, vector.Best())
	defer learns.Close()
	require.False(t, learns.CanStepN())
	part := open(regular(700).Cut(connectome.Part{Index: 1, Of: 2}), engine.Want{}, 2, vector.Best())
	defer part.Close()
	require.False(t, part.CanStepN(), "the other part's spikes are not here")
}

// TestRowsListedEarly runs networks whose rows are listed a burst ahead, in courses and in single bursts, and writes older states between them.
func TestRowsListedEarly(t *testing.T) {
	for _, delay := range []uint16{1, 2, 5, 17, 40} {
		t.Run(fmt.Sprintf("delay %d", delay), func(t *testing.T) {
			const neurons = 1200
			a := enginetest.Of("lif_event", neurons)
			a.Constant("threshold").Const, a.Constant("refractory").Const = 20, 3
			net := enginetest.Net{Areas: []connectome.Area{a}}
			r := rand.New(rand.NewPCG(uint64(delay), 5))
			for range neurons * 90 {
				net.Synapses = append(net.Synapses, enginetest.Synapse{From: r.Uint32N(neurons), To: r.Uint32N(neurons), Weight: r.Int32N(3000) - 1000, Delay: delay})
			}
			kick := connectome.Stimulus{At: 0, Every: 3, Until: 1 << 40}
			for port := uint32(3); port < neurons; port += 50 { // more than are marked
				kick.Ports, kick.Amounts = append(kick.Ports, port), append(kick.Amounts, 30_000)
			}
			net.Stimuli = []connectome.Stimulus{kick}
			c := net.Build()
			b := open(c, engine.Want{}, 3, vector.Best())
			defer b.Close()
			b.pool.leastWork = 1
			oracle, err := reference.Open(c, engine.Want{})
			require.NoError(t, err)
			defer oracle.Close()
			feed := engine.NewFeed(c, nil)
			var want, out engine.Burst
			spikes, early := 0, 0
			compare := func(got *engine.Burst) error {
				in, err := feed.Next(got.Number)
				require.NoError(t, err)
				require.NoError(t, oracle.Step(in, &want))
				require.Nil(t, engine.CompareBursts(&want, got))
				spikes += len(got.Fired)
				return nil
			}
			var older, read engine.State
			for round, n := range []int{90, 7, 61, 40, 33} {
				require.NoError(t, b.StepN(n, compare))
				for range 5 {
					in, err := feed.Next(b.number)
					require.NoError(t, err)
					require.NoError(t, b.Step(in, &out))
					require.NoError(t, compare(&out))
					for _, w := range b.workers {
						early += min(int(w.early.burst), len(w.early.spans))
					}
				}
				require.NoError(t, b.ReadState(&read))
				if round%2 == 0 {
					require.NoError(t, oracle.ReadState(&older))
					require.Nil(t, engine.CompareStates(&older, &read))
				} else { // in round 3 another past of the same burst
					if round == 3 {
						older, read = read, older
						older.Queues[delay-1] = nil
					}
					require.NoError(t, b.WriteState(&older))
					require.NoError(t, oracle.WriteState(&older))
					feed = engine.NewFeed(c, nil)
				}
			}
			require.Greater(t, spikes, 300)
			require.Equal(t, delay > 1, early > 0, "%d rows were listed early", early)
		})
	}
}

// TestSpikesFromBeforeBurstZero: a state of burst 0 may have spikes on their way.
func TestSpikesFromBeforeBurstZero(t *testing.T) {
	c := excitedNet(2, 7)
	s := engine.NewState(c)
	require.Len(t, s.Queues, 7)
	for i := range s.Queues {
		s.Queues[i] = []uint32{uint32(i), 900 + uint32(3*i), 1999}
	}
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	require.NoError(t, oracle.WriteState(s))
	b := open(c, engine.Want{}, 2, vector.Best())
	defer b.Close()
	require.NoError(t, b.WriteState(s))
	var out, got engine.Burst
	for i := range 40 {
		require.NoError(t, oracle.Step(nil, &out))
		require.NoError(t, b.Step(nil, &got))
		require.Nil(t, engine.CompareBursts(&out, &got), "burst %d", i)
	}
}
