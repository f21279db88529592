package connectome

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/exact"
)

// edge is what a synapse connects, and when.
type edge struct {
	source, target uint32
	delay          uint32
}

// edges lists the weights of the synapses of every edge.
func edges(c *Connectome) map[edge][]int32 {
	m := map[edge][]int32{}
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			e := edge{n, c.Target[k], c.DelayOf(k)}
			m[e] = append(m[e], c.Weight[k])
		}
	}
	return m
}

// overlapping has projections that make many pairs twice, with drawn weights and delays, some of which merge.
func overlapping(merge ...bool) *genome.Genome {
	g := network(1, block("feagi", 7, 3, 2, 2), block("feagi", 5, 4, 2, 1)).join(
		genome.Projection{Rule: genome.AllToAll, To: 1, Weight: value(genome.Normal, 1.5, 2.5), Delay: value(genome.Uniform, 1, 4)},
		genome.Projection{Rule: genome.Projector, To: 1, Weight: constant(-1.75), Delay: constant(2)},
		genome.Projection{Rule: genome.Patterns, Patterns: []genome.Pattern{wild("***", "?!*"), wild("1**", "***")}, To: 1, Weight: value(genome.Uniform, -2, 1), LeaveOut: 21},
		genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.4, To: 1, Weight: constant(0.25), Delay: constant(3)},
		genome.Projection{Rule: genome.Randomizer, Weight: constant(0.5)},
		genome.Projection{Rule: genome.BlockToBlock, Weight: constant(-0.5), LeaveOut: 50},
	)
	for i, m := range merge {
		g.Projections[i].Merge = m
	}
	return g
}

// Merging must add the weights of one source, target and delay over the merging projections and nothing else: the test
// adds up what the same genome makes without.
func TestMergeAddsUp(t *testing.T) {
	for _, merge := range [][]bool{
		{true, true, true, true, true, true},
		{true, false, true, false, false, true},
		{false, true, false, false, true, false}, // each alone between its areas: nothing to merge
	} {
		want, sums, byRule := map[edge][]int32{}, map[edge]int32{}, uint64(0)
		for i := range merge {
			g := overlapping()
			for k := range g.Projections {
				if k != i {
					g.Projections[k].LeaveOut = 100
				}
			}
			n := build(t, g)
			byRule += n.Synapses()
			for e, list := range edges(n) {
				for _, w := range list {
					if merge[i] {
						sums[e] += w
					} else {
						want[e] = append(want[e], w)
					}
				}
			}
		}
		after := uint64(0)
		for e, sum := range sums {
			want[e] = append(want[e], sum)
		}
		for _, list := range want {
			after += uint64(len(list))
		}
		var hashes []uint64
		for _, threads := range []int{1, 2, 7} {
			n, err := Build(overlapping(merge...), Options{Threads: threads})
			require.NoError(t, err)
			got := edges(n)
			require.Len(t, got, len(want))
			for e, list := range want {
				require.ElementsMatch(t, list, got[e], "%v, merging %v", e, merge)
			}
			assert.Equal(t, byRule, n.ByRule)
			assert.Equal(t, after, n.Synapses())
			hashes = append(hashes, n.Hash())
		}
		assert.Equal(t, []uint64{hashes[0], hashes[0], hashes[0]}, hashes)
		s, err := Measure(overlapping(merge...), Options{})
		require.NoError(t, err)
		assert.Equal(t, [2]uint64{after, byRule}, [2]uint64{s.Synapses, s.ByRule})
		assert.Equal(t, after, s.Areas[0].OutSynapses)
		assert.Equal(t, after, s.Areas[0].InSynapses+s.Areas[1].InSynapses)
		if merge[0] {
			assert.Less(t, after, byRule, "a test of nothing")
		}
	}
}

// Contributions that cancel leave a synapse of weight 0, which counts; the bound of the port keeps both.
func TestMergedToNothing(t *testing.T) {
	p := genome.Projection{Rule: genome.OneToOne, To: 1, Merge: true, Weight: constant(1.25)}
	q := p
	q.Weight = constant(-1.25)
	n := build(t, network(1, areaOf("feagi", 3), areaOf("feagi", 3)).join(p, q))
	assert.Equal(t, []int32{0, 0, 0}, n.Weight)
	assert.EqualValues(t, 6, n.ByRule)
	assert.Equal(t, []uint32{0, 0, 0, 2500, 2500, 2500}, n.Bound)
}

// Merged sums must not leave int32 in silence.
func TestMergedOverflowIsRefused(t *testing.T) {
	p := genome.Projection{Rule: genome.OneToOne, To: 1, Merge: true, Weight: constant(1.5e6)}
	_, err := Build(network(1, areaOf("feagi", 3), areaOf("feagi", 3)).join(p, p), Options{})
	assert.ErrorContains(t, err, "the largest scale that fits is 715")
}

// A rule that makes pairs twice, or not source by source, cannot merge.
func TestMergeNeedsPairsOnce(t *testing.T) {
	for _, r := range []genome.Rule{genome.FixedIndegree, genome.FixedOutdegree, genome.FixedTotalNumber} {
		p := genome.Projection{Rule: r, Indegree: 2, Outdegree: 2, Count: 2, Merge: true, Weight: constant(1)}
		_, err := Build(network(1, areaOf("feagi", 3)).join(p), Options{})
		assert.ErrorContains(t, err, "projections[0].merge")
	}
	_, err := Build(network(1, areaOf("feagi", 3)).join(genome.Projection{LeaveOut: 101, Weight: constant(1)}), Options{})
	assert.ErrorContains(t, err, "projections[0].attractivity")
}

// Sizes must be those of the arrays built, progress must end at its total, and the limit must hold to the byte.
func TestSizesOfMergedNetworks(t *testing.T) {
	g := overlapping(true, true, true, true, true, true)
	psp := 3.5
	g.Areas[0].PSP, g.Areas[0].DividePSP = &psp, true
	g.Projections[0].Weight, g.Projections[2].Weight = constant(1), constant(-2)
	s, err := Measure(g, Options{Threads: 3})
	require.NoError(t, err)
	var done, total uint64
	c, err := Build(g, Options{Threads: 3, MaxBytes: s.Peak, Progress: func(d, n uint64) { done, total = d, n }})
	require.NoError(t, err)
	assert.InEpsilon(t, c.Bytes(), s.Bytes, 0.05)
	assert.Equal(t, total, done)
	assert.Equal(t, 2*c.ByRule+c.Synapses(), total)
	_, err = Build(g, Options{Threads: 3, MaxBytes: s.Peak - 1})
	var refusal *LimitError
	assert.ErrorAs(t, err, &refusal)
}

// Attractivity keeps a synapse iff below(x, 100) < attractivity, for every rule, at any number of threads, and the
// number is known beforehand.
func TestAttractivity(t *testing.T) {
	for _, c := range ruleCases {
		for _, leaveOut := range []uint64{0, 1, 37, 99, 100} {
			c.p.LeaveOut = 0
			p := c.p
			p.LeaveOut = leaveOut
			g := ruleAreas().join(p)
			g.Projections[0].Weight = constant(1)
			whole := network(0.3, g.Areas...).join(c.p)
			whole.Projections[0].Weight = constant(1)
			plan, err := newPlan(whole, Options{})
			require.NoError(t, err)
			var list listed
			plan.draw([]sink{&list}, all, Part{})
			want := map[[2]uint32]int{}
			for _, o := range list {
				w := exact.Draw(g.Seed, exact.Attractivity, o.ordinal, 0)
				if below(uint64(w[1])<<32|uint64(w[0]), 100) < 100-leaveOut {
					want[[2]uint32{uint32(o.source) + plan.wirings[0].from.First, uint32(o.target) + plan.wirings[0].to.First}]++
				}
			}
			for _, threads := range []int{1, 3} {
				n, err := Build(g, Options{Threads: threads})
				require.NoError(t, err)
				got := map[[2]uint32]int{}
				for _, pair := range pairs(n) {
					got[pair]++
				}
				require.Equal(t, want, got, "%s, %d per cent left out", c.name, leaveOut)
				s, err := Measure(g, Options{Threads: threads})
				require.NoError(t, err)
				assert.Equal(t, n.Synapses(), s.Synapses, c.name)
			}
		}
	}
}

// listed takes synapses as they are made.
type listed []one

func (l *listed) take(_ *wiring, b *batch) {
	for i := range b.n {
		*l = append(*l, one{uint64(b.source[i]), uint64(b.target[i]), b.ordinal[i]})
	}
}

// The share of synapses made must be the attractivity: within five standard deviations of 90,000 pairs.
func TestAttractivityIsAShare(t *testing.T) {
	for _, percent := range []uint64{1, 5, 50, 93, 99} {
		n := build(t, network(1, areaOf("feagi", 300)).join(genome.Projection{Rule: genome.AllToAll, LeaveOut: 100 - percent, Weight: constant(1)}))
		mean := 90_000 * float64(percent) / 100
		assert.InDelta(t, mean, float64(n.Synapses()), 5*math.Sqrt(mean*(1-float64(percent)/100)))
	}
}
