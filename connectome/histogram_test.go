package connectome

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// Drawn weights of both signs onto two ports, some redrawn and some clipped, are counted by target, of the whole and of parts: a port's
// bound is the sum of what the synapses have.
func TestDrawnHistograms(t *testing.T) {
	two := areaOf("lif_psc_exp", 190)
	for _, key := range []string{"C", "tau", "tau_syn_ex", "tau_syn_in"} {
		two.Params[key] = 7.5
	}
	out := func(from, to int, k uint64, weight genome.Value) genome.Projection {
		return genome.Projection{Rule: genome.FixedOutdegree, From: from, To: to, Outdegree: k, Weight: weight, Delay: value(genome.Uniform, 1, 4)}
	}
	clipped := atLeastValue(genome.Normal, 0.2, 0.3, 0)
	clipped.Clip = true
	mixed := value(genome.Normal, -0.05, 0.1)
	g := network(1, areaOf("lif", 600), two, areaOf("lif", 37)).join(out(0, 1, 100, mixed), out(0, 1, 90, clipped), out(1, 2, 80, atLeastValue(genome.Normal, 0.2, 0.3, 0.1)),
		out(0, 2, 80, value(genome.LogNormal, -0.2, 0.1)), genome.Projection{Rule: genome.FixedIndegree, From: 2, To: 0, Indegree: 200, Weight: value(genome.Uniform, -0.1, 0.2)})
	const parts = 3
	for _, part := range []Part{{}, {0, parts}} {
		p, _, err := begin(g, Options{Threads: 2, Part: part})
		require.NoError(t, err)
		for i := range p.wirings {
			assert.True(t, p.hasHistogram(&p.wirings[i], part), "projection %d", i)
		}
	}
	c := build(t, g)
	sums := make([]uint32, c.Ports)
	for i, port := range c.Target {
		sums[port] += uint32(max(c.Weight[i], -c.Weight[i]))
	}
	require.Equal(t, sums, c.Bound)
	samePart(t, g, c, parts)
}

// What 32 bits do not hold goes on to the sums, and nothing is lost.
func TestDrawnHistogramCarries(t *testing.T) {
	sums := make([]uint64, 5)
	h := histogram{drawn: make([]uint32, 3), dealer: Part{}.dealer(), port: 2}
	for _, x := range []uint64{math.MaxUint32, 7, 1 << 40, math.MaxUint32 - 3, 3, 1} {
		h.put(1, x, sums)
	}
	require.Equal(t, uint64(2*math.MaxUint32+8+1<<40), sums[3]+uint64(h.drawn[1]))
	require.Equal(t, []uint64{0, 0, 0, 1<<40 + 2*math.MaxUint32 + 8, 0}, sums)
}

// Values that are drawn many at a time are those drawn one by one, also where the first attempt misses the bounds.
func TestManyValues(t *testing.T) {
	clipped := atLeastValue(genome.Normal, 1, 2, 0.5)
	clipped.Clip = true
	open := atLeastValue(genome.Uniform, -3, 4, 0)
	open.LoOpen = true
	for _, v := range []genome.Value{value(genome.Uniform, 2, 5), open, value(genome.Normal, 1, 2), atLeastValue(genome.Normal, 1, 2, 2.5), clipped, value(genome.LogNormal, -2, 3)} {
		s := newSampler(v, 0x9d2c5680_1a7, 3, 11)
		const first, n = 1<<33 - 50, 101
		list, words := make([]float64, n), make([]uint64, n)
		require.True(t, s.many(first, list, words))
		for i, got := range list {
			want, ok := s.at(first + uint64(i))
			require.True(t, ok)
			require.Equal(t, want, got, "%+v, index %d", v, i)
		}
		indices := make([]uint64, n)
		for i := range indices {
			indices[i] = uint64(i) * 0x9e3779b97f4a7c15
		}
		require.True(t, s.some(indices, list, words))
		for i, got := range list {
			want, ok := s.at(indices[i])
			require.True(t, ok)
			require.Equal(t, want, got, "%+v, index %d", v, indices[i])
		}
	}
	never := atLeastValue(genome.Uniform, 0, 1, 2)
	s := newSampler(never, 1, 3, 0)
	require.False(t, s.many(0, make([]float64, 2), make([]uint64, 2)))
	require.False(t, s.some([]uint64{7, 3}, make([]float64, 2), make([]uint64, 2)))
}
