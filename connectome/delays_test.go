package connectome

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// Delays take two bytes where one is above 255, and one byte where none is, also where drawn ones could have been longer.
func TestDelaysAreAsWideAsNeeded(t *testing.T) {
	for longest, delay := range map[int]genome.Value{
		255:    constant(255),
		256:    constant(256),
		1_000:  value(genome.Uniform, 999.6, 1_000.4),
		65_535: constant(65_535),
	} {
		n := drawn(t, constant(1), delay)
		assert.Equal(t, longest, n.MaxDelay)
		assert.Equal(t, longest > 255, n.Delay.Long != nil)
		assert.Equal(t, longest > 255, n.Delay.Short == nil)
		assert.EqualValues(t, longest, n.DelayOf(0))
	}
	rare := genome.Value{Kind: genome.LogNormal, A: 20, B: 9, Lo: 1, Hi: 60_000} // as far as 700, hardly ever
	n := drawn(t, constant(1), rare)
	assert.Less(t, n.MaxDelay, 256)
	assert.NotNil(t, n.Delay.Short)
	assert.Nil(t, n.Delay.Long)
}

// The hash tells all bits of a delay from those of a weight, and parts and threads do not change it.
func TestHashOfLongDelays(t *testing.T) {
	seen := map[uint64]bool{}
	for _, delay := range []uint32{1, 255, 256, 257, 1_000, 65_535} {
		for _, weight := range []int32{0, 1, 2, 256, -1, -1 << 31, 1<<31 - 1} {
			seen[synapseHash(3, 4, weight, delay)] = true
		}
	}
	assert.Len(t, seen, 6*7)
	g := func() *genome.Genome {
		return network(1, areaOf("lif", 300), areaOf("lif", 200)).join(
			genome.Projection{Rule: genome.FixedIndegree, Indegree: 40, To: 1, Weight: value(genome.Normal, 1, 0.2), Delay: value(genome.Uniform, 1, 3_000)},
			genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 7, From: 1, Weight: constant(-1), Delay: constant(2)})
	}
	one, err := Build(g(), Options{Threads: 1})
	require.NoError(t, err)
	require.NotNil(t, one.Delay.Long)
	for n := range one.Neurons { // rows are in order, and delays have all their bits
		row := one.Delay.Long[one.Row[n]:one.Row[n+1]]
		require.True(t, slices.IsSorted(row))
	}
	assert.Greater(t, slices.Max(one.Delay.Long), uint16(2_900))
	eight, err := Build(g(), Options{Threads: 8})
	require.NoError(t, err)
	assert.Equal(t, one.Hash(), eight.Hash())
	sum := uint64(0)
	for i := range 3 {
		part := one.Cut(Part{i, 3})
		sum += part.Hash()
		require.Equal(t, one.MaxDelay, part.MaxDelay)
	}
	assert.Equal(t, one.Hash(), sum)
}

// Sizes are counted before anything is built, drawn delays of two bytes included.
func TestMeasureLongDelays(t *testing.T) {
	g := network(1, areaOf("lif", 300)).join(genome.Projection{Rule: genome.AllToAll, Weight: constant(1), Delay: value(genome.Uniform, 200, 300)})
	s, err := Measure(g, Options{})
	require.NoError(t, err)
	c := build(t, g)
	assert.Equal(t, 300, s.MaxDelay)
	assert.Equal(t, c.Bytes(), s.Bytes)
	assert.EqualValues(t, 90_000*(4+4+2), c.Delay.Bytes()+size(c.Target)+size(c.Weight))
}

// Synapses that learn by FEAGI's rules, or follow a potential, have delays up to 255: the error says so, and whether in a list or drawn.
// Other rules know all delays, and their rows hold them in a byte where that suffices.
func TestLongDelaysApart(t *testing.T) {
	head := "burst: v1\nareas:\n  - {name: a, neurons: 9}\n  - {name: b, neurons: 9, psp_max: 3}\nprojections:\n"
	learns := "plasticity: feagi, "
	for _, c := range []struct{ projection, want string }{
		{"from: a, to: a, rule: all_to_all, weight: 0.5, " + learns + "delay: 256", "1…255 bursts of 1 ms, which is the most for the rule feagi"},
		{"from: b, to: a, rule: all_to_all, weight: 0.5, delay: 256", "1…255 bursts of 1 ms, which is the most from an area with psp_max"},
		{"from: b, to: a, rule: all_to_all, weight: 0.5, delay: \"normal(300, 3)\"", "want 1…255 (1 ms to 255 ms) for synapses that learn by FEAGI's rules or follow a psp_max"},
		{"from: b, to: a, rule: edges, file: w.csv, weight: 0.5", "column delay: 256, want 1…255 bursts"},
	} {
		g, err := genome.Parse("net.yaml", []byte(head+"  - {"+c.projection+"}\n"), opener(map[string]string{"w.csv": "source,target,delay\n1,2,256\n"}))
		if err == nil {
			_, err = Build(g, Options{})
		}
		require.ErrorContains(t, err, c.want)
	}
	g, err := genome.Parse("net.yaml", []byte(head+"  - {from: a, to: a, rule: edges, file: w.csv, weight: 0.5}\n"), opener(map[string]string{"w.csv": "source,target,delay\n1,2,65535\n3,2,7\n"}))
	require.NoError(t, err)
	assert.Equal(t, Delays{Long: []uint16{65_535, 7}}, build(t, g).Delay)
}

// Rows of synapses that learn hold their delays in two bytes where one is above 255; they are counted before they are made, parts have
// theirs, and queues go back as far as delays, their dendritic share and modulators want.
func TestLongDelaysOfPlasticity(t *testing.T) {
	const head = "burst: v1\nareas:\n  - {name: a, neurons: 200}\n  - {name: b, neurons: 50}\n"
	for _, c := range []struct {
		projection  string
		each        uint64 // bytes of a delay
		most, least uint32
		queues      int
	}{
		{"delay: 65535, plasticity: stdp", 0, 65_535, 65_535, 65_535},
		{"delay: 400, back: 400, plasticity: stdp", 0, 400, 400, 800},
		{"delay: \"uniform(200, 300)\", plasticity: stdp", 2, 300, 200, 300},
		{"delay: \"uniform(200, 255)\", plasticity: stdp", 1, 255, 200, 255},
		{"delay: 3, plasticity: {rule: stdp_dopamine, da: b, delay: 1000}", 0, 3, 3, 1000},
	} {
		g, err := genome.Parse("net.yaml", []byte(head+"projections:\n  - {from: a, to: b, rule: all_to_all, weight: 0.5, "+c.projection+"}\n"), nil)
		require.NoError(t, err)
		n := build(t, g)
		p := &n.Plastic[0]
		require.Equal(t, 10_000*c.each, p.Delay.Bytes(), c.projection)
		require.Equal(t, []uint32{c.least, c.most}, []uint32{p.Least(), p.Longest})
		require.Equal(t, c.queues, n.Queues())
		s, err := Measure(g, Options{})
		require.NoError(t, err)
		require.Equal(t, c.queues, s.Queues)
		require.InEpsilon(t, n.Bytes(), s.Bytes, 0.01)
		sum := uint64(0)
		for i := range 3 {
			part := n.Cut(Part{i, 3})
			sum += part.Hash()
			for k := range part.Plastic[0].Target {
				require.LessOrEqual(t, part.Plastic[0].DelayOf(uint64(k)), c.most)
			}
		}
		require.Equal(t, n.Hash(), sum)
	}
}
