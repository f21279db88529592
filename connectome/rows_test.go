package connectome

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

func TestPortsAreSorted(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 11))
	var s sorter
	for _, n := range []int{0, 1, 2, 47, 48, 100, 1000, 5003, 70_001} {
		for _, among := range []uint32{1, 2, 97, 2049, 1_000_003, 1<<32 - 78} {
			drawn, near := make([]uint32, n), make([]uint32, n)
			for i := range drawn {
				drawn[i] = 77 + uint32(r.Uint64N(uint64(among)))
				near[i] = 77 + uint32(r.Uint64N(uint64(min(among, 13))))
			}
			for _, c := range []struct {
				list []uint32
				even bool
			}{{drawn, true}, {drawn, false}, {near, false}} {
				got, want := slices.Clone(c.list), slices.Clone(c.list)
				slices.Sort(want)
				s.ports(got, 77, among, c.even)
				require.Equal(t, want, got, "%d of %d, even %v", n, among, c.even)
			}
		}
	}
}

// Which rows are complete, in which order of projections, and that bounds count what comes 256 times and more: a's rows are
// in order when the projections are taken by delay and then by port, b's must be sorted as a whole, c's rule goes by target.
func TestRows(t *testing.T) {
	two := areaOf("lif_psc_exp", 23)
	for _, key := range []string{"C", "tau", "tau_syn_ex", "tau_syn_in"} {
		two.Params[key] = 7.5
	}
	out := func(from, to int, k uint64, weight, delay float64) genome.Projection {
		return genome.Projection{Rule: genome.FixedOutdegree, From: from, To: to, Outdegree: k, Weight: constant(weight), Delay: constant(delay)}
	}
	g := network(1, areaOf("lif", 3001), areaOf("lif", 7), areaOf("lif", 409), two).join(
		out(0, 3, 20, -0.002, 2), out(0, 1, 41, 0.003, 2), out(0, 3, 53, 0.001, 2), out(0, 2, 30, 0.004, 1),
		out(1, 0, 60, 0.001, 1), out(1, 0, 61, -0.002, 1),
		genome.Projection{Rule: genome.FixedIndegree, From: 2, To: 1, Indegree: 300, Weight: constant(0.001)}, out(2, 2, 5, 0.001, 1))
	for _, workers := range []int{1, 3} {
		p, _, err := begin(g, Options{Threads: workers})
		require.NoError(t, err)
		var order []int
		for i := range p.rows {
			assert.Equal(t, i != 2, p.rows[i].complete, "area %d", i)
		}
		for _, q := range p.rows[0].groups {
			order = append(order, q.wirings[0].index)
			assert.True(t, p.hasHistogram(q.wirings[0], Part{}), "projection %d", q.wirings[0].index)
		}
		assert.Equal(t, []int{3, 1, 2, 0}, order)
		assert.True(t, p.rows[0].ordered)
		assert.False(t, p.rows[1].ordered)
		c, err := Build(g, Options{Threads: workers})
		require.NoError(t, err)
		assert.Greater(t, slices.Max(c.Bound), uint32(3*256), "counts have gone round")
		sizes, err := Measure(g, Options{Threads: workers})
		require.NoError(t, err)
		wellFormed(t, c, sizes)
	}
}
