package connectome

import (
	"burst/internal/slow"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// ring is neurons whose angles are drawn evenly, without positions.
func ring(neurons uint64) genome.Area { return angled(block("lif", neurons, 1, 1, 1)) }

// Partners of a ring's neurons, a little further along it, have the angles of a von Mises distribution: its density is
// exp(κ·cos x)/(2π·I₀(κ)), and the mean of cos x is I₁(κ)/I₀(κ).
func TestTunedRing(t *testing.T) {
	const neurons, degree, bins = 997, 40, 24
	for _, kappa := range []float64{0.5, 2, 8} {
		bessel := func(order float64) float64 { // I of an order, by its integral
			sum := 0.0
			for i := range 200 {
				x := (float64(i) + 0.5) * math.Pi / 200
				sum += math.Exp(kappa*math.Cos(x)) * math.Cos(order*x) / 200
			}
			return sum
		}
		for end, rule := range []genome.Rule{genome.FixedOutdegree, genome.FixedIndegree, genome.DistanceRule} {
			p := genome.Projection{Rule: rule, Indegree: degree, Outdegree: degree, Weight: constant(1), Kernel: kernelOf(fmt.Sprintf("exp(%g*cos(source_angle - target_angle - 0.7))", kappa))}
			if rule == genome.DistanceRule {
				p.Kernel = kernelOf(fmt.Sprintf("%g*exp(%g*cos(source_angle - target_angle - 0.7))", degree/(neurons*bessel(0)), kappa))
			}
			g := network(1, ring(neurons)).join(p)
			n := build(t, g)
			angle := g.Areas[0].Columns[0].Each
			made, mean := 0.0, 0.0
			got := make([]float64, bins)
			for _, pair := range pairs(n) {
				x := angle[pair[0]] - angle[pair[1]] - 0.7
				turns := x / (2 * math.Pi)
				got[int(bins*(turns-math.Floor(turns)))%bins]++
				mean += math.Cos(x)
				made++
			}
			if end < 2 {
				require.Equal(t, float64(neurons*degree), made)
			}
			assert.InDelta(t, neurons*degree, made, 5*math.Sqrt(neurons*degree), "%v, κ %g", rule, kappa)
			assert.InDelta(t, bessel(1)/bessel(0), mean/made, 4/math.Sqrt(made), "%v, κ %g", rule, kappa)
			sum := 0.0
			for i, have := range got {
				want := 0.0
				for k := range 100 {
					x := 2 * math.Pi * (float64(i) + (float64(k)+0.5)/100) / bins
					want += made * math.Exp(kappa*math.Cos(x)) / bessel(0) / bins / 100
				}
				sum += (have - want) * (have - want) / want
			}
			assert.InDelta(t, 0, (sum-bins+1)/math.Sqrt(2*(bins-1)), 4.5, "%v, κ %g: chi-square %.1f of %d", rule, kappa, sum, bins-1)
		}
	}
}

// What a source draws goes with its synapses and not with the pairs: on four times the sheet it is nearly the same. Narrow tuning alone
// is bounded too.
func TestWorkOfColumnsGoesWithSynapses(t *testing.T) {
	slow.Short(t)
	const every = 29 // sources are looked at
	ruleOf := func(side uint64, text string) *byDistance {
		p := genome.Projection{Rule: genome.DistanceRule, Weight: constant(1), Kernel: kernelOf(text)}
		made, _, err := begin(network(1, angled(sheet(side, side, 1, true))).join(p), Options{})
		require.NoError(t, err)
		return made.wirings[0].rule.(*byDistance)
	}
	drawn := func(side uint64, r *byDistance) (candidates float64) {
		s, n := &nearby{}, 0.0
		for source := uint64(0); source < side*side; source += every {
			c := r.cutFor(r.home.group[source], s)
			candidates += c.most + float64(len(c.list)) // a stretch ends with a draw
			n++
		}
		return candidates / n
	}
	const near = "0.8*exp(-d/(40 um))*exp(2*(cos(2*(source_angle - target_angle)) - 1))"
	small, large := drawn(48, ruleOf(48, near)), drawn(96, ruleOf(96, near))
	t.Logf("%.0f candidates a source, %.0f on four times the sheet", small, large)
	assert.Less(t, large, 1.35*small)
	r := ruleOf(64, "0.8*exp(1000*(cos(source_angle - target_angle) - 1))")
	candidates, synapses, n := drawn(64, r), 0.0, 0.0
	for source := uint64(0); source < 64*64; source += every {
		for target := range uint64(64 * 64) {
			v := r.metric.between(source, target)
			synapses += r.kernel.At(&v)
		}
		n++
	}
	synapses /= n
	t.Logf("%.0f candidates for %.0f of 4096 pairs", candidates, synapses)
	assert.Less(t, candidates, 2.5*synapses)
}

// Weights and delays read columns of both ends.
func TestValuesOfColumns(t *testing.T) {
	p := genome.Projection{Rule: genome.AllToAll, Weight: byPlace("2 + cos(source_angle) + 3*target_angle", 1), Delay: byPlace("1 + floor(2*source_angle)", 1)}
	g := network(1000, ring(20)).join(p)
	n := build(t, g)
	angle := g.Areas[0].Columns[0].Each
	for s := range uint32(20) {
		for k := n.Row[s]; k < n.Row[s+1]; k++ {
			want := 1000 * (2 + math.Cos(angle[s]) + 3*angle[n.Target[k]])
			assert.InDelta(t, want, float64(n.Weight[k]), 0.5+1e-9)
			assert.Equal(t, uint32(1+math.Floor(2*angle[s])), n.DelayOf(k))
		}
	}
}
