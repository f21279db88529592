package connectome

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"burst/genome"
	"burst/internal/quanta"
	"burst/internal/slow"
)

// chiSquare is the statistic of counts against equal expectation, as standard deviations from its mean.
func chiSquare(counts []float64, want float64) float64 {
	sum := 0.0
	for _, n := range counts {
		sum += (n - want) * (n - want) / want
	}
	free := float64(len(counts) - 1)
	return (sum - free) / math.Sqrt(2*free)
}

func TestPartnersAreUniform(t *testing.T) {
	cases := []struct {
		name string
		p    genome.Projection
		end  int // which end of a pair is drawn
	}{
		{"sources of fixed_indegree", genome.Projection{Rule: genome.FixedIndegree, Indegree: 400}, 0},
		{"targets of fixed_outdegree", genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 400}, 1},
		{"targets without autapses", genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 400, NoAutapses: true}, 1},
		{"sources of fixed_total_number", genome.Projection{Rule: genome.FixedTotalNumber, Count: 333 * 400}, 0},
		{"targets of fixed_total_number", genome.Projection{Rule: genome.FixedTotalNumber, Count: 333 * 400}, 1},
		{"sources of many bernoulli draws", genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.05}, 0},
		{"targets of many bernoulli draws", genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.05}, 1},
	}
	for _, c := range cases {
		c.p.Weight = constant(1)
		n := build(t, network(1, areaOf("feagi", 333)).join(c.p))
		counts := make([]float64, 333)
		for _, pair := range pairs(n) {
			counts[pair[c.end]]++
		}
		assert.InDelta(t, 0, chiSquare(counts, float64(n.Synapses())/333), 4.5, c.name)
	}
}

// Every subset that a rule without multapses can make must be as likely as any other: small domains, many seeds.
func TestSubsetsAreUniform(t *testing.T) {
	slow.Short(t)
	cases := []struct {
		name    string
		p       genome.Projection
		subsets float64
	}{
		{"3 of 6 sources", genome.Projection{Rule: genome.FixedIndegree, Indegree: 3, NoMultapses: true}, 20},
		{"2 of 6 pairs", genome.Projection{Rule: genome.FixedTotalNumber, Count: 2, NoMultapses: true}, 15},
		{"3 of 6 pairs", genome.Projection{Rule: genome.FixedTotalNumber, Count: 3, NoMultapses: true}, 20},
	}
	for _, c := range cases {
		counts := map[int]float64{}
		seeds := slow.Times(2000, 6000)
		for seed := range uint64(seeds) {
			from, to := areaOf("feagi", 2), areaOf("feagi", 3)
			if c.p.Indegree > 0 {
				from, to = areaOf("feagi", 6), areaOf("feagi", 1)
			}
			c.p.To, c.p.Weight = 1, constant(1)
			n := network(1, from, to)
			n.Seed = seed * 0x9e3779b97f4a7c15
			subset := 0
			net, err := Build(n.join(c.p), Options{Threads: 1, MaxBytes: 1 << 30})
			require.NoError(t, err)
			for _, pair := range pairs(net) {
				subset |= 1 << (uint64(pair[0])*to.Neurons() + uint64(pair[1]) - from.Neurons())
			}
			counts[subset]++
		}
		var list []float64
		for _, n := range counts {
			list = append(list, n)
		}
		assert.Len(t, list, int(c.subsets), c.name)
		assert.InDelta(t, 0, chiSquare(list, float64(seeds)/c.subsets), 4.5, c.name)
	}
}

func TestPermutationVisitsEveryPairOnce(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 5, 16, 17, 99, 1000, 4099} {
		p := newPermutation(&ends{seed: 5, stream: n}, n)
		seen := make([]bool, n)
		for k := range n {
			at := p.at(k)
			require.Less(t, at, n)
			require.False(t, seen[at], "%d of %d twice", at, n)
			seen[at] = true
		}
	}
}

func TestBernoulliGapsAreGeometric(t *testing.T) {
	const p = 0.037
	n := build(t, network(1, areaOf("feagi", 2000)).join(genome.Projection{Rule: genome.PairwiseBernoulli, P: p, Weight: constant(1)}))
	assert.InDelta(t, 4e6*p, float64(n.Synapses()), 5*math.Sqrt(4e6*p))
	gaps := make([]float64, 60) // the rest is left out
	total := 0.0
	for s := range n.Neurons {
		for k := n.Row[s] + 1; k < n.Row[s+1]; k++ {
			total++
			if g := n.Target[k] - n.Target[k-1] - 1; g < 60 {
				gaps[g]++
			}
		}
	}
	for g, count := range gaps {
		want := total * p * math.Pow(1-p, float64(g))
		assert.InDelta(t, want, count, 5.5*math.Sqrt(want), "gap %d", g)
	}
}

// anyGenome draws a small network of every rule and distribution.
func anyGenome(t *rapid.T) *genome.Genome {
	size := rapid.Uint64Range(1, 5)
	var areas []genome.Area
	for range rapid.IntRange(1, 3).Draw(t, "areas") {
		model := rapid.SampledFrom([]string{"feagi", "lif"}).Draw(t, "model")
		areas = append(areas, block(model, size.Draw(t, "x"), size.Draw(t, "y"), size.Draw(t, "z"), rapid.Uint64Range(1, 3).Draw(t, "each")))
	}
	n := network(0.1, areas...)
	n.Seed = rapid.Uint64().Draw(t, "seed")
	n.Scale = rapid.SampledFrom([]int32{0, 1, 777, 1000, quanta.MaxScale}).Draw(t, "scale")
	for range rapid.IntRange(0, 4).Draw(t, "projections") {
		elem := rapid.Custom(func(t *rapid.T) genome.PatternElem {
			return genome.PatternElem{Kind: rapid.SampledFrom([]genome.PatternKind{genome.Exact, genome.Any, genome.Same, genome.Other}).Draw(t, "kind"),
				Coord: rapid.Int64Range(0, 5).Draw(t, "coord")}
		})
		p := genome.Projection{
			From: rapid.IntRange(0, len(areas)-1).Draw(t, "from"), To: rapid.IntRange(0, len(areas)-1).Draw(t, "to"),
			Rule:     rapid.SampledFrom([]genome.Rule{genome.AllToAll, genome.FixedIndegree, genome.FixedOutdegree, genome.FixedTotalNumber, genome.PairwiseBernoulli, genome.Projector, genome.Vectors, genome.Patterns}).Draw(t, "rule"),
			Indegree: rapid.Uint64Range(0, 9).Draw(t, "k"), Outdegree: rapid.Uint64Range(0, 9).Draw(t, "k"), Count: rapid.Uint64Range(0, 99).Draw(t, "n"),
			P: rapid.Float64Range(0, 1).Draw(t, "p"), NoAutapses: rapid.Bool().Draw(t, "autapses"), NoMultapses: rapid.Bool().Draw(t, "multapses"),
			Weight: value(rapid.SampledFrom([]genome.ValueKind{genome.Const, genome.Uniform, genome.Normal, genome.LogNormal}).Draw(t, "w"), rapid.Float64Range(0.5, 20).Draw(t, "a"), rapid.Float64Range(0, 20).Draw(t, "b")),
			Delay:  genome.Value{Kind: rapid.SampledFrom([]genome.ValueKind{genome.Const, genome.Uniform, genome.Normal}).Draw(t, "d"), A: rapid.Float64Range(1, 90).Draw(t, "a"), B: rapid.Float64Range(1, 90).Draw(t, "b"), Lo: 1, Hi: 200, Clip: true},
		}
		for range rapid.IntRange(0, 3).Draw(t, "shapes") {
			v := rapid.Int64Range(-3, 3)
			p.Vectors = append(p.Vectors, [3]int64{v.Draw(t, "dx"), v.Draw(t, "dy"), v.Draw(t, "dz")})
			var pattern genome.Pattern
			for i := range 3 {
				pattern.From[i], pattern.To[i] = elem.Draw(t, "from"), elem.Draw(t, "to")
			}
			p.Patterns = append(p.Patterns, pattern)
		}
		n.join(p)
	}
	return n.Genome
}

func TestEveryNetworkIsWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := anyGenome(t)
		sizes, wrong := Measure(g, Options{Threads: 1})
		c, err := Build(g, Options{Threads: 1, MaxBytes: 1 << 30})
		if err != nil {
			if wrong != nil {
				require.Equal(t, wrong.Error(), err.Error())
			}
			return
		}
		require.NoError(t, wrong)
		wellFormed(t, c, sizes)
		for _, threads := range []int{2, 5} {
			other, err := Build(g, Options{Threads: threads})
			require.NoError(t, err)
			require.Equal(t, c, other, "%d threads", threads)
		}
	})
}

func wellFormed(t require.TestingT, c *Connectome, sizes *Sizes) {
	require.Equal(t, sizes.Synapses, c.Synapses())
	require.LessOrEqual(t, c.MaxDelay, sizes.MaxDelay)
	require.Len(t, c.Target, int(sizes.Synapses))
	require.Len(t, c.Weight, int(sizes.Synapses))
	in, out := uint64(0), uint64(0)
	for i, a := range sizes.Areas {
		in, out = in+a.InSynapses, out+a.OutSynapses
		require.EqualValues(t, c.Areas[i].Neurons.Count, a.Neurons)
	}
	require.Equal(t, [2]uint64{c.Synapses(), c.Synapses()}, [2]uint64{in, out})
	longest := uint32(1)
	sums := make([]uint64, c.Ports)
	for n := range c.Neurons {
		require.LessOrEqual(t, c.Row[n], c.Row[n+1])
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			if c.Target[k] >= c.Ports || c.DelayOf(k) == 0 { // millions of synapses: package require would take longer than the builder
				require.Fail(t, "a synapse to no port, or without delay", "synapse %d: port %d of %d, delay %d", k, c.Target[k], c.Ports, c.DelayOf(k))
			}
			longest = max(longest, c.DelayOf(k))
			sums[c.Target[k]] += quanta.Magnitude(int64(c.Weight[k]))
		}
		require.True(t, rowBetween(c, c.Row[n], c.Row[n+1]).sorted(), "row of neuron %d", n)
	}
	require.EqualValues(t, longest, c.MaxDelay)
	for port, s := range sums {
		require.LessOrEqual(t, s, uint64(math.MaxInt32))
		require.EqualValues(t, s, c.Bound[port])
	}
}

// TestSumsThatLeaveInt32AreRefused compares the proof with sums in big integers, at fan-ins and weights around the edge.
func TestSumsThatLeaveInt32AreRefused(t *testing.T) {
	slow.Short(t)
	r := rand.New(rand.NewPCG(20, 26))
	accepted := 0
	for range 4000 {
		fan := uint64(1) << r.IntN(12)
		fan += r.Uint64N(fan)
		scale := int32(1) << r.IntN(25)
		edge := math.MaxInt32 / float64(scale) / float64(fan)
		weight := edge * (1 + float64(r.IntN(9)-4)*math.Exp2(-float64(r.IntN(32)))) * math.Copysign(1, r.Float64()-0.5)
		g := network(1, areaOf("feagi", fan), areaOf("feagi", 1)).join(genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(weight)})
		g.Scale = scale
		exact := new(big.Float).SetInt64(int64(math.Round(math.Abs(float64(weight * float64(scale))))))
		sum, _ := exact.Mul(exact, new(big.Float).SetUint64(fan)).Float64()
		c, err := Build(g, Options{Threads: 1, MaxBytes: 1 << 30})
		if quanta.Of(weight, float64(scale)) == 0 {
			continue
		}
		require.Equal(t, sum <= math.MaxInt32, err == nil, "fan-in %d, weight %v, scale %d: %v", fan, weight, scale, err)
		if err == nil {
			accepted++
			require.Equal(t, sum, float64(c.Bound[fan]))
		}
	}
	assert.Greater(t, accepted, 1000)
	assert.Less(t, accepted, 3500)
}

func TestTheProofNamesNeuronBoundAndLargestScale(t *testing.T) {
	slow.Short(t)
	target := areaOf("feagi", 3)
	target.Drives = []genome.Drive{{Kind: genome.Constant, Value: 500}}
	g := network(1, areaOf("feagi", 1500), target).join(
		genome.Projection{Rule: genome.AllToAll, To: 1, Weight: value(genome.Uniform, -1, 3)})
	g.Stimuli = []genome.Stimulus{{Area: 1, At: 4, Neurons: []uint32{1}, Amounts: []float64{1e6}}}
	g.Scale = 4000
	_, err := Build(g, Options{})
	require.ErrorContains(t, err, `areas[1]: neuron 1 of area "A1"`)
	require.ErrorContains(t, err, "2147483647")

	p, planErr := newPlan(g, Options{})
	require.NoError(t, planErr)
	fits := uint64(0)
	for s := uint64(2000); s < 4000; s++ {
		if worst(p.sums(float64(s))) <= math.MaxInt32 {
			fits = s
		}
	}
	assert.ErrorContains(t, err, "largest scale that fits is "+atLeast(fits))
	g.Scale = int32(fits)
	build(t, g)
	g.Scale++
	_, err = Build(g, Options{})
	assert.ErrorContains(t, err, "largest scale that fits is "+atLeast(fits))

	g.Stimuli[0].Amounts[0] = 3e9
	_, err = Build(g, Options{})
	assert.ErrorContains(t, err, refusedAlways)
}

func TestAutoScaleIsTheLargestPowerOfTwoThatFits(t *testing.T) {
	cases := []struct {
		name   string
		weight genome.Value
		want   int32
	}{
		{"small weights take the top", constant(0.9), 1 << 20},
		{"exactly at the bound", constant(1), 1 << 20},
		{"just above it", constant(1.000001), 1 << 19},
		{"drawn weights", value(genome.Normal, -87.8, 8.78), 1 << 13},
		{"huge weights", constant(1e6), 1},
	}
	for _, c := range cases {
		g := network(1, areaOf("feagi", 1024), areaOf("feagi", 2)).join(genome.Projection{Rule: genome.AllToAll, To: 1, Weight: c.weight})
		g.Scale = 0
		n := build(t, g)
		assert.Equal(t, c.want, n.Scale, c.name)
	}
}
