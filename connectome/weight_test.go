package connectome

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/slow"
)

// divided is a network whose first area divides its psp: n neurons of it, each reaching one of the second area, and
// besides fan neurons of the third.
func divided(psp float64, n, fan uint64) *genome.Genome {
	a := areaOf("feagi", n)
	a.PSP, a.DividePSP = &psp, true
	return network(1, a, areaOf("feagi", 1), areaOf("feagi", fan)).join(
		genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(1)},
		genome.Projection{Rule: genome.AllToAll, To: 2, Weight: constant(-2)})
}

// n inputs of 1/n must reach 1, whatever n, and at the automatic scale by no more than 0.1 per cent above.
func TestSharesAddUpToTheWhole(t *testing.T) {
	for n := uint64(1); n < 400; n += uint64(slow.Times(7, 1)) {
		g := divided(1, n, max(1, n-1)) // K is n, for n > 1
		g.Scale = 0
		c := build(t, g)
		k := max(2, n)
		assert.LessOrEqual(t, float64(c.Scale), 2*1000*float64(k))
		assert.GreaterOrEqual(t, float64(c.Scale), 1000*float64(k))
		sum := int32(0)
		for s := range uint32(n) {
			sum += c.Weight[c.Row[s]]
		}
		reached := float32(sum) / float32(c.Scale)
		whole := float64(n) / float64(k)
		assert.GreaterOrEqual(t, float64(reached), whole, "%d inputs", n)
		assert.LessOrEqual(t, float64(reached), whole*1.001, "%d inputs", n)
	}
}

// The weight of a synapse is the projection's times the area's psp over K, K counting all synapses of the source before
// merging and after attractivity, rounded away from zero; exact rationals say what that is.
func TestDividedWeights(t *testing.T) {
	for _, psp := range []float64{0.37, -5, 255, 1e-9} {
		a := block("feagi", 6, 5, 1, 2)
		a.PSP, a.DividePSP = &psp, true
		list := []genome.Projection{
			{Rule: genome.PairwiseBernoulli, P: 0.3, To: 1, Weight: constant(3), Merge: true},
			{Rule: genome.Projector, To: 1, Weight: constant(-7.5), Merge: true},
			{Rule: genome.AllToAll, Weight: constant(1), LeaveOut: 45},
			{Rule: genome.AllToAll, From: 1, Weight: constant(0.75)}, // of the other area: not divided
		}
		areas := []genome.Area{a, block("feagi", 3, 9, 1, 1)}
		c := build(t, network(1, areas...).join(list...))
		k, want := map[uint32]int64{}, map[edge]int32{}
		alone := func(i int) *Connectome { return build(t, network(1, areas...).join(lone(list, i)...)) }
		for i := range 3 {
			for e, l := range edges(alone(i)) {
				k[e.source] += int64(len(l))
			}
		}
		for i, p := range list {
			for e := range edges(alone(i)) {
				w := new(big.Rat).SetFloat64(p.Weight.A)
				if i < 3 {
					w.Mul(w, new(big.Rat).SetFloat64(psp)).Mul(w, big.NewRat(1000, k[e.source]))
				} else {
					w.Mul(w, big.NewRat(1000, 1))
				}
				want[e] += int32(away(w))
			}
		}
		got := map[edge]int32{}
		for e, l := range edges(c) {
			require.Len(t, l, 1, "%v", e)
			got[e] = l[0]
		}
		assert.Equal(t, want, got, "psp %v", psp)
	}
}

// lone leaves out all projections but the i-th, whose draws stay what they are.
func lone(list []genome.Projection, i int) []genome.Projection {
	var out []genome.Projection
	for k, p := range list {
		if k != i {
			p.LeaveOut = 100
		}
		out = append(out, p)
	}
	return out
}

// away rounds to the whole number next to r on the side away from zero, but what float64 cannot tell from a whole number
// is that number.
func away(r *big.Rat) int64 {
	f, _ := r.Float64()
	if f < 0 {
		return -away(r.Neg(r))
	}
	if n := math.Round(f); math.Abs(f-n) < 1e-9*n {
		return int64(n)
	}
	return int64(math.Ceil(f))
}

// psp without division multiplies, distributions too.
func TestPSPMultiplies(t *testing.T) {
	psp := -2.5
	a := areaOf("feagi", 40)
	plain := network(1, a, areaOf("lif", 30)).join(genome.Projection{Rule: genome.AllToAll, To: 1, Weight: value(genome.Normal, 3, 1)})
	a.PSP = &psp
	scaled := network(1, a, areaOf("lif", 30)).join(plain.Projections...)
	plain.Scale, scaled.Scale = 1<<20, 1<<20
	p, s := edges(build(t, plain)), edges(build(t, scaled))
	require.Len(t, s, 1200)
	for e, w := range s {
		assert.InDelta(t, -2.5*float64(p[e][0]), float64(w[0]), 2)
	}
	fixed := build(t, network(1, a, areaOf("lif", 3)).join(genome.Projection{Rule: genome.AllToAll, To: 1, Weight: constant(3)}))
	assert.Equal(t, int32(-7500), fixed.Weight[0])
}

// Where the scale wanted does not fit, the largest that does is taken; beyond 2^24 none is tried.
func TestScaleOfDivision(t *testing.T) {
	g := divided(1, 3, 70_000)
	g.Scale = 0
	assert.EqualValues(t, 1<<24, build(t, g).Scale)
	g = divided(200_000, 3, 400)
	g.Scale = 0
	c := build(t, g)
	assert.Less(t, c.Scale, int32(400_000))
	assert.LessOrEqual(t, c.Bound[4], uint32(1<<30))
	g.Scale = 2 * c.Scale
	assert.Greater(t, build(t, g).Bound[4], uint32(1<<30))
	g.Scale = 1000
	*g.Areas[0].PSP = 1e38
	_, err := Build(g, Options{})
	assert.ErrorContains(t, err, "more than 2147483647")
}

// TestQuantaExtent: the interval that Makers go by holds all weights, and is no wider than distributions reach.
func TestQuantaExtent(t *testing.T) {
	for _, c := range []struct {
		area, weight string
		least, most  int32 // of the interval
	}{
		{"model: lif", "-1.5 mV", -1500, -1500},
		{"model: lif", `"uniform(-3 mV, 2 mV)"`, -3001, 2001},
		{"model: lif", `"normal(1 mV, 0.1 mV)"`, 169, 1831},
		{"model: lif", `"normal(1 mV, 2 mV) > 0 mV <= 3 mV"`, -1, 3001},
		{"model: lif", `"clip(normal(-1 mV, 0.1 mV), -1.1 mV, 0 mV)"`, -1101, -169},
		{"model: lif", `"lognormal(-1 mV, 0.5 mV)"`, -45115, 1},
		{"model: lif, size: [3, 3, 3], extent: [3 um, 3 um, 3 um]", `"1 mV - d * (1 mV/um)"`, -math.MaxInt32, math.MaxInt32},
		{"model: feagi, rectify: true, psp: -2", `"uniform(0.5, 1)"`, -2001*128 - 1, -999*128 - 1},
	} {
		neurons := "neurons: 90, "
		if strings.Contains(c.area, "size") {
			neurons = ""
		}
		text := "burst: v1\nscale: 1000\nareas:\n  - {name: a, " + neurons + c.area + "}\nprojections:\n  - {from: a, to: a, rule: fixed_indegree, indegree: 100, weight: " + c.weight + "}\n"
		g, err := genome.Parse("net.yaml", []byte(text), nil)
		require.NoError(t, err, text)
		p, _, err := begin(g, Options{})
		require.NoError(t, err)
		least, most := p.wirings[0].quantaExtent(p.scale)
		assert.Equal(t, [2]int32{c.least, c.most}, [2]int32{least, most}, c.weight)
		assert.Equal(t, [2]int32{least, most}, p.recipe().Projections[0].Weights)
		weights := build(t, g).Weight
		assert.LessOrEqual(t, least, slices.Min(weights), c.weight)
		assert.GreaterOrEqual(t, most, slices.Max(weights), c.weight)
	}
}
