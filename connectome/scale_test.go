package connectome

import (
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// TestLargestFit: the exponent that one pass at three scales finds is the one that a look at every exponent finds, where the guess is good
// and where it is far off, with synapses for three scales at once and without.
func TestLargestFit(t *testing.T) {
	for _, weight := range []float64{1e-6, 0.01, 0.3, 1, 1.3, 7, 500, 3e4, 2e6} {
		for _, p := range []genome.Projection{
			{Rule: genome.FixedIndegree, To: 1, Indegree: 57, Weight: constant(weight)},
			{Rule: genome.FixedIndegree, To: 1, Indegree: 3, Weight: constant(weight)},
			{Rule: genome.FixedTotalNumber, To: 1, Count: 3001, Weight: value(genome.Normal, 0, weight)}, // whose mean tells nothing
			{Rule: genome.FixedTotalNumber, To: 1, Count: 3001, Weight: value(genome.Uniform, weight/3, -weight)},
			{Rule: genome.LastToFirst, To: 1, Weight: constant(weight)}, // one target has all
		} {
			g := network(1, areaOf("lif", 300), areaOf("lif", 80)).join(p, genome.Projection{Rule: genome.AllToAll, From: 1, To: 0, Weight: constant(-weight / 9)})
			g.Scale = 0
			plan, err := newPlan(g, Options{Threads: 2})
			require.NoError(t, err)
			for _, unit := range []float64{1, 3} {
				want := 0
				for k := 1; k <= 18; k++ {
					if worst(plan.sums(unit*pow2(k))) <= autoBound {
						want = k
					}
				}
				require.Equal(t, want, plan.largestFit(unit, 18), "weight %v, %v, scale %v·2^k", weight, p.Rule, unit)
			}
			many := plan.sumsAt(all, 5, 1000, 3)
			for k, scale := range []float64{5, 1000, 3} {
				require.Equal(t, plan.sums(scale), many[k])
			}
		}
	}
}
