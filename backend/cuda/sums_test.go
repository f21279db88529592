package cuda

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/cuda/cudatest"
	"burst/internal/slow"
)

// summing is a tuning by which blocks that do not meet sum the rows of every network that allows it.
func summing() tuning {
	t := clustered(1)
	t.batchThreads, t.batch, t.sumsApart, t.sumsParts, t.sumsUnits = 288, 7, defaults.sumsApart, 0, 1
	return t
}

// evenly is leaks with one delay, and rows of one weight each.
func evenly(delay uint16) *connectome.Connectome {
	c := leaks(func(*rand.Rand) uint16 { return delay })
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			c.Weight[k] = int32(n%7)*40 - 120
		}
	}
	return c
}

// TestSums compares launches whose blocks sum rows and are some bursts apart with the reference, burst for burst and state for state: launches
// of one burst and of many, single bursts between them, states that go on in another backend, state variables of all bursts, and more spikes
// than a block's memory has ids of.
func TestSums(t *testing.T) {
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 4)
	}
	for _, n := range []struct {
		delay uint16
		apart uint32 // at most
	}{{5, 2}, {8, 5}, {15, 8}, {255, 8}} {
		c := evenly(n.delay)
		for i, v := range []struct {
			name   string
			w      engine.Want
			change func(*tuning)
		}{
			{"usual", engine.Want{}, func(*tuning) {}},
			{"variables", engine.Want{Values: []engine.Probe{{Neuron: 3}, {Neuron: 299}, {Neuron: 140}, {Neuron: 150}}}, func(t *tuning) { t.sumsApart = 3 }},
			{"many warps", engine.Want{}, func(t *tuning) { t.batchThreads = 1024 }},
			{"launches of one burst", engine.Want{Values: []engine.Probe{{Neuron: 7}, {Neuron: 8}}}, func(t *tuning) { t.batch = 1 }},
			{"long launches", engine.Want{}, func(t *tuning) { t.batch = 64 }},
		} {
			t.Run(fmt.Sprintf("%d/%s", n.delay, v.name), func(t *testing.T) {
				if i > 1 {
					slow.Short(t)
				}
				tune := summing()
				v.change(&tune)
				asReference(t, c, v.w, tune, pathSums, v.name)
				b, err := open(c, Options{}, tune)
				require.NoError(t, err)
				defer b.Close()
				require.Equal(t, min(tune.sumsApart, n.apart), b.(*backend).batch.args.sums.apart)
			})
		}
	}
}

// TestSumsOfStimuli does so for stimuli of the genome's, and those that callers give with single bursts.
func TestSumsOfStimuli(t *testing.T) {
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 4)
	}
	c := evenly(6)
	for k := range uint32(3) {
		s := connectome.Stimulus{At: uint64(3 * k), Every: uint64(k), From: 2, Until: 40}
		for p := k; p < c.Ports; p += 5 + k {
			s.Ports, s.Amounts = append(s.Ports, p), append(s.Amounts, 900-500*int32(k))
		}
		c.Stimuli = append(c.Stimuli, s)
	}
	b, err := open(c, Options{}, summing())
	require.NoError(t, err)
	defer func() { require.NoError(t, b.Close()) }()
	require.Equal(t, pathSums, b.(*backend).choice.path)
	likeReferenceFor(t, b, c, engine.Want{}, 60, thirds(c))
}

// TestSumsOfMany does so for drawn networks, of which some have neurons that differ, and rows that slots do not hold, whole or in part, and in
// which more fire in a burst than a block's memory has ids of.
func TestSumsOfMany(t *testing.T) {
	slow.Short(t)
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("multiprocessors", 3)
	}
	spikes, more, units := 0, uint64(0), map[uint64]bool{}
	for seed := range uint64(slow.Times(12, 32)) {
		r := rand.New(rand.NewPCG(seed, 0x73756d73))
		n := enginetest.Uniform(r, "lif")
		for i := range n.Areas {
			n.Areas[i].Drives = append(n.Areas[i].Drives, enginetest.Always(connectome.Poisson, n.Scale, 2_500_000_000))
		}
		whole := len(n.Synapses)
		for range whole * []int{0, 1, 12}[seed%3] {
			s := n.Synapses[r.IntN(whole)]
			s.To = n.Synapses[r.IntN(whole)].To
			n.Synapses = append(n.Synapses, s)
		}
		delay := []uint16{5, 6, 15, 40}[seed%4]
		for i := range n.Synapses {
			n.Synapses[i].Delay = delay
		}
		opened, fired := againstReference(t, n.Build(), []int{0}, summing(), seed)
		b := opened.(*backend)
		if b.choice.path != pathSums {
			require.Contains(t, b.Path().Not[0], "drives change, or neurons have drives of their own")
			continue
		}
		spikes, more = spikes+fired, more+b.rows.more
		units[b.rows.shape.units] = true
	}
	require.Greater(t, spikes, 1_000)
	require.NotZero(t, more, "stretches that slots do not hold")
	require.Greater(t, len(units), 1, "%v", units)
}

// TestSpread: all targets of a stretch are in its slot once, units have about equally many, in their first words, and words of the same number
// have few places of a bank.
func TestSpread(t *testing.T) {
	s := &clusterShape{size: 1, own: 4096, each: 1, rounds: 1, count: 1}
	r := rand.New(rand.NewPCG(7, 7))
	for _, units := range []int{8, 16, 32} {
		for _, count := range []int{0, 1, units - 1, units, 5*units - 3, 8*units - 2, 8*units - 1} {
			slot := make([]uint16, units*unit)
			for i := range slot {
				slot[i] = nobody
			}
			slot[0] = 7
			targets := make([]uint32, count)
			found := map[uint16]int{}
			for i := range targets {
				targets[i] = r.Uint32N(4096)
				found[uint16(targets[i])]++
			}
			s.spread(slot, targets, 0)
			require.EqualValues(t, 7, slot[0])
			words := count/units + 1
			var banks [unit][32]int
			for i, p := range slot[1:] {
				word := (i + 1) % unit
				if p == nobody {
					continue
				}
				require.Less(t, word, words)
				found[p]--
				banks[word][p%32]++
			}
			for p, n := range found {
				require.Zero(t, n, "place %d", p)
			}
			worst, load := 0, [32]int{}
			for _, b := range banks {
				most := 0
				for k, n := range b {
					most, load[k] = max(most, n), load[k]+n
				}
				worst += most
			}
			require.LessOrEqual(t, worst, slices.Max(load[:])+words, "turns of the banks for %d places in %d units", count, units)
		}
	}
}
