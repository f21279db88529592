package split_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/exchange"
	"burst/internal/split"
)

// volleys is a network without a synapse faster than least bursts, in which nothing happens until, now and then, all neurons
// of one part of three fire at once, others some bursts later, and far fewer after them.
func volleys(least, longest uint8) *connectome.Connectome {
	const n = 21*connectome.Slice - 7
	a := enginetest.FEAGI(n)
	a.Constant("refractory").Const = 1
	net := enginetest.Net{RunSeed: 11, Areas: []connectome.Area{a, enginetest.PSCExp(97)}}
	s := connectome.Stimulus{Every: 53, From: 53, Until: 1 << 40}
	for p := range uint32(n) {
		if (connectome.Part{Of: 3}).Owner(p) == 1 {
			s.Ports, s.Amounts = append(s.Ports, p), append(s.Amounts, 1500)
		}
	}
	net.Stimuli = []connectome.Stimulus{s}
	r := rand.New(rand.NewPCG(uint64(least), uint64(longest)))
	for from := range uint32(n) {
		for range r.IntN(3) {
			d := least + uint8(r.IntN(int(longest-least)+1))
			net.Synapses = append(net.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(n + 97), Weight: 900 + r.Int32N(400), Delay: uint16(d)})
		}
	}
	return net.Build()
}

// stepsLikeOracle runs sizes of bursts, many at a time, and compares every burst and the states after them with the oracle's.
func stepsLikeOracle(t *testing.T, oracle, b engine.Backend, c *connectome.Connectome, sizes ...int) (spikes int) {
	t.Helper()
	feed := engine.NewFeed(c, nil)
	var want engine.Burst
	var s, read engine.State
	require.NoError(t, oracle.ReadState(&s))
	next := s.Number
	for _, n := range sizes {
		got := 0
		require.NoError(t, b.(engine.Batcher).StepN(n, func(out *engine.Burst) error {
			in, err := feed.Next(next)
			if err == nil {
				err = oracle.Step(in, &want)
			}
			if d := engine.CompareBursts(&want, out); err == nil && d != nil {
				err = fmt.Errorf("StepN(%d): %v", n, d)
			}
			spikes += len(out.Fired)
			next++
			got++
			return err
		}))
		require.Equal(t, n, got)
		require.NoError(t, oracle.ReadState(&s))
		require.NoError(t, b.ReadState(&read))
		require.Nil(t, engine.CompareStates(&s, &read), "after StepN(%d)", n)
	}
	return spikes
}

// However many bursts parts step before they gather, and wherever they are asked for a state in between, everything is as in
// one part: fire queues, candidates, values, the state.
func TestWindows(t *testing.T) {
	for _, d := range []struct{ least, longest uint8 }{{1, 1}, {1, 9}, {2, 2}, {7, 19}, {15, 15}, {254, 255}} {
		for _, parts := range []int{2, 3} {
			t.Run(fmt.Sprintf("delays %d to %d, %d parts", d.least, d.longest, parts), func(t *testing.T) {
				c := volleys(d.least, d.longest)
				w := engine.Want{FCL: true}
				for k := range uint32(1 + c.Variables()) {
					for n := 3 + k; n < c.Neurons; n += 41 {
						w.Values = append(w.Values, engine.Probe{Neuron: n, Variable: k})
					}
				}
				oracle, err := reference.Open(c, w)
				require.NoError(t, err)
				b, err := split.Local(cut(c, parts), w, openCPU)
				require.NoError(t, err)
				spikes := stepsLikeOracle(t, oracle, b, c, 50, 1, 16, 3, 31, 0, 7)
				var s engine.State
				require.NoError(t, b.ReadState(&s))
				require.NoError(t, b.Close())
				b, err = split.Local(cut(c, 5-parts), w, openCPU)
				require.NoError(t, err)
				defer b.Close()
				require.NoError(t, b.WriteState(&s))
				spikes += stepsLikeOracle(t, oracle, b, c, 5, 260, 44)
				assert.Greater(t, spikes, 2000)
			})
		}
	}
}

// counted counts an exchange's gatherings.
type counted struct {
	exchange.Exchange
	gathered int
}

func (c *counted) Allgather(own []uint32) ([][]uint32, error) {
	c.gathered++
	return c.Exchange.Allgather(own)
}

// openCounted opens a network of which one part's exchange counts.
func openCounted(t *testing.T, parts []*connectome.Connectome, w engine.Want) (engine.Backend, *counted) {
	ends := exchange.Local(len(parts))
	var serving sync.WaitGroup
	for i, c := range parts[1:] {
		serving.Go(func() { assert.NoError(t, split.Serve(c, ends[i+1], openCPU)) })
	}
	x := &counted{Exchange: ends[0]}
	b, err := split.Open(parts[0], x, w, openCPU)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, b.Close())
		serving.Wait()
	})
	return b, x
}

// Parts gather once for as many bursts as the network's smallest delay allows, also where a part's own synapses, or their
// lack, would allow more; and once a burst where single ones are asked for.
func TestGatherings(t *testing.T) {
	fast := enginetest.Synapse{From: 3, To: 70, Weight: 20, Delay: 6} // onto part 1 alone
	for _, k := range []struct {
		name     string
		c        *connectome.Connectome
		want     engine.Want
		n, times int
	}{
		{"delay 1", volleys(1, 9), engine.Want{}, 40, 40},
		{"one window", volleys(7, 19), engine.Want{}, 7, 1},
		{"windows and a rest", volleys(7, 19), engine.Want{}, 40, 6},
		{"windows without a rest", volleys(15, 15), engine.Want{}, 60, 4},
		{"less than a window", volleys(254, 255), engine.Want{}, 40, 1},
		{"the fastest synapse is another part's", enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(300)},
			Synapses: []enginetest.Synapse{{From: 1, To: 2, Weight: 5, Delay: 11}, fast}}.Build(), engine.Want{}, 60, 10},
		{"parts without synapses", enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(300)},
			Synapses: []enginetest.Synapse{fast}}.Build(), engine.Want{}, 60, 10},
		{"no synapses", enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(300)}}.Build(), engine.Want{}, 9, 9},
		{"candidates", volleys(15, 15), engine.Want{FCL: true}, 60, 4},
		{"candidates too many to keep", enginetest.Net{Areas: []connectome.Area{enginetest.FEAGI(1_400_000)},
			Synapses: []enginetest.Synapse{{From: 1, To: 2, Weight: 5, Delay: 200}}}.Build(), engine.Want{FCL: true}, 12, 4},
	} {
		t.Run(k.name, func(t *testing.T) {
			b, x := openCounted(t, cut(k.c, 2), k.want)
			for range 2 {
				x.gathered = 0
				require.NoError(t, b.(engine.Batcher).StepN(k.n, func(*engine.Burst) error { return nil }))
				assert.Equal(t, 1+k.times, x.gathered, "what to do, and the windows")
			}
			x.gathered = 0
			for range 5 {
				require.NoError(t, b.Step(nil, &engine.Burst{}))
			}
			assert.Equal(t, 10, x.gathered)
		})
	}
}

// A part that fails within a window ends all after it; what was gathered before has been handed on, and nothing twice.
func TestPartThatFailsInAWindow(t *testing.T) {
	c := volleys(10, 12)
	for part := range 3 {
		b := withFault(t, c, part, faulty{step: 34, err: errors.New("fell off the bus")})
		var numbers []uint64
		err := b.(engine.Batcher).StepN(80, func(out *engine.Burst) error {
			numbers = append(numbers, out.Number)
			return nil
		})
		require.ErrorContains(t, err, "fell off the bus")
		require.Len(t, numbers, 30, "three windows of ten were gathered")
		require.True(t, slices.IsSorted(numbers))
		require.Equal(t, uint64(29), numbers[29])
		require.NoError(t, b.Close())
	}
}

// What refuses a burst lets no more windows begin than the others are in.
func TestWindowThatIsRefused(t *testing.T) {
	c := volleys(10, 12)
	for _, at := range []uint64{0, 9, 10, 55, 79} {
		oracle, err := reference.Open(c, engine.Want{})
		require.NoError(t, err)
		b, err := split.Local(cut(c, 2), engine.Want{}, openCPU)
		require.NoError(t, err)
		enough, seen := errors.New("enough"), uint64(0)
		err = b.(engine.Batcher).StepN(80, func(out *engine.Burst) error {
			seen = out.Number
			if seen == at {
				return enough
			}
			return nil
		})
		require.ErrorIs(t, err, enough)
		require.Equal(t, at, seen, "nothing is handed on after a refusal")
		var s, want engine.State
		require.NoError(t, b.ReadState(&s))
		require.Equal(t, min(80, at/10*10+20), s.Number)
		feed := engine.NewFeed(c, nil)
		for next := range s.Number {
			in, err := feed.Next(next)
			require.NoError(t, err)
			require.NoError(t, oracle.Step(in, &engine.Burst{}))
		}
		require.NoError(t, oracle.ReadState(&want))
		require.Nil(t, engine.CompareStates(&want, &s))
		stepsLikeOracle(t, oracle, b, c, 33)
		require.NoError(t, b.Close())
	}
}
