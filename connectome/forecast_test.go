package connectome

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// forecastValues are weights of every kind that forecasts know, with bounds that draw again and that clip.
func forecastValues() []genome.Value {
	bounded := func(v genome.Value, lo, hi float64, clip bool) genome.Value {
		v.Lo, v.Hi, v.Clip, v.LoOpen = lo, hi, clip, !clip
		return v
	}
	return []genome.Value{
		constant(0.7), constant(-3), value(genome.Uniform, 0.2, 3), value(genome.Uniform, 1, -4),
		value(genome.Normal, 87.8, 8.78), value(genome.Normal, -9, 0.9), value(genome.Normal, 0, 2), value(genome.LogNormal, 2, 1),
		value(genome.LogNormal, -0.5, 0.3), bounded(value(genome.Normal, 1, 2), 0, math.Inf(1), false),
		bounded(value(genome.Normal, 1, 2), -0.5, 1.5, true), bounded(value(genome.Uniform, -1, 3), 0.25, 2, false),
		bounded(value(genome.LogNormal, -1, 2), -2.5, -0.1, true), bounded(value(genome.Normal, 0, 1), 0, 2, false),
	}
}

// narrow has bounds that keep few draws, so that strata which the bounds cut are many of those they leave.
func narrow() genome.Value {
	v := value(genome.Normal, 0, 1)
	v.Lo, v.Hi = 2, 2.1
	return v
}

// forecastRules are projections of every rule that forecasts know, from 50 neurons to 40 or among 40.
func forecastRules() (list []genome.Projection) {
	for _, p := range []genome.Projection{
		{Rule: genome.AllToAll}, {Rule: genome.FixedIndegree, Indegree: 300}, {Rule: genome.FixedIndegree, Indegree: 20, NoMultapses: true},
		{Rule: genome.FixedOutdegree, Outdegree: 300}, {Rule: genome.FixedOutdegree, Outdegree: 30, NoMultapses: true},
		{Rule: genome.FixedTotalNumber, Count: 9000}, {Rule: genome.FixedTotalNumber, Count: 1100, NoMultapses: true},
		{Rule: genome.PairwiseBernoulli, P: 0.6}, {Rule: genome.PairwiseBernoulli, P: 1}, {Rule: genome.PairwisePoisson, Average: 2.5},
	} {
		for _, from := range []int{0, 1} {
			for _, leaveOut := range []uint64{0, 35} {
				p.From, p.To, p.NoAutapses, p.LeaveOut = from, 1, from == 1, leaveOut
				list = append(list, p)
			}
		}
	}
	for _, leaveOut := range []uint64{0, 35} {
		list = append(list, genome.Projection{Rule: genome.OneToOne, From: 1, To: 1, LeaveOut: leaveOut})
	}
	return list
}

func forecastPlan(t *testing.T, list ...genome.Projection) *plan {
	t.Helper()
	driven := areaOf("lif", 50)
	driven.Drives = []genome.Drive{{Kind: genome.Poisson, Rate: 900, Weight: 4}}
	g := network(1, driven, areaOf("lif_psc_exp", 40)).join(list...)
	g.Stimuli = []genome.Stimulus{{Area: 1, Neurons: []uint32{7}, Amounts: []float64{-300}}}
	p, err := newPlan(g, Options{Threads: 2})
	require.NoError(t, err)
	return p
}

// TestForecastsHold: the largest sum of each area lies between the bounds, for every rule with every kind of weights, alone and on top of
// another projection, at scales where a weight is many quanta and few.
func TestForecastsHold(t *testing.T) {
	values := forecastValues()
	for i, one := range forecastRules() {
		for k, v := range values {
			one.Weight = v
			other := genome.Projection{Rule: genome.FixedTotalNumber, Count: 700, To: 1, Weight: values[(i+k)%len(values)]}
			list := []genome.Projection{one, other}[:1+(i+k)%2]
			p := forecastPlan(t, list...)
			for _, scale := range []float64{1000, 1} {
				sums, o := p.sums(scale), p.forecasts(scale)
				require.False(t, o.blind())
				for a := range p.areas {
					found := float64(worst(sums[p.ports[a].First:p.ports[a].End()]))
					require.True(t, o.areas[a].low <= found && found <= o.areas[a].high, "%+v: scale %v: %v in %+v", list, scale, found, o.areas[a])
				}
			}
		}
	}
}

// TestExpected: the mean number of synapses onto a target is what the rules make, and all have it where it is fixed.
func TestExpected(t *testing.T) {
	for _, one := range forecastRules() {
		one.Weight = constant(1)
		p := forecastPlan(t, one)
		onto, fixed, ok := p.wirings[0].expected()
		require.True(t, ok)
		p.stimuli = nil
		sums, sum := p.sums(1)[50:90], 0.0
		for _, n := range sums {
			require.True(t, !fixed || float64(n) == onto, "%+v: %d, not %v", one, n, onto)
			sum += float64(n)
		}
		require.InDelta(t, 40*onto, sum, 5*math.Sqrt(40*onto), "%+v", one)
	}
	_, _, ok := forecastPlan(t, genome.Projection{Rule: genome.PairwiseBernoulli, P: 0.6, Symmetric: true, Weight: constant(1)}).wirings[0].expected()
	require.False(t, ok, "a draw makes two synapses")
}

// TestForecastOfDrives: what drives and stimuli add is in the bounds.
func TestForecastOfDrives(t *testing.T) {
	o := forecastPlan(t, genome.Projection{Rule: genome.OneToOne, From: 1, To: 1, Weight: constant(2)}).forecasts(1)
	require.InDelta(t, 4*15, o.areas[0].low, 20, "of a Poisson drive with a mean of 0.9 events")
	require.InDelta(t, o.areas[0].low, o.areas[0].high, 1e-6)
	require.InDelta(t, 300./40, o.areas[1].low, 0.1)
	require.InDelta(t, 300, o.areas[1].high, 1e-6)
}

// TestMoments: mean, mean square and largest of the sizes of drawn weights are within the bounds, which are close.
func TestMoments(t *testing.T) {
	const scale = 100
	for _, v := range append(forecastValues(), narrow()) {
		for _, factor := range []float64{1, -2.5} {
			synapses := 1 << 15
			if v.Lo == narrow().Lo {
				synapses = 1 << 9
			}
			w := &forecastPlan(t, genome.Projection{Rule: genome.FixedTotalNumber, Count: 1, To: 1, Weight: v}).wirings[0]
			w.factor = factor
			for side, m := range w.moments(scale) {
				var mean, square, most float64
				for k := range synapses {
					q, ok := w.quanta(0, 0, uint64(k), scale)
					require.True(t, ok)
					if x := float64(q); (x < 0) == (side == 1) {
						mean += math.Abs(x) / float64(synapses)
						square += x * x / float64(synapses)
						most = max(most, math.Abs(x))
					}
				}
				noise := 6 * math.Sqrt(square/float64(synapses))
				says := fmt.Sprintf("%+v times %v, side %d: %+v", v, factor, side, m)
				require.True(t, m.low <= mean+noise && mean-noise <= m.high, "%s: mean %v", says, mean)
				require.True(t, square <= m.square*1.05 && most <= m.most, "%s: mean square %v, largest %v", says, square, most)
				if v.Lo == narrow().Lo {
					continue // with bounds that cut strata
				}
				require.LessOrEqual(t, m.high-m.low, 0.05*m.high+0.01*m.most, says)
				require.LessOrEqual(t, m.square, 1.2*square+0.01*m.most*m.most, says)
			}
		}
	}
}

// TestScaleWithoutDraws: an automatic scale of a network with 24 billion drawn weights is known at once, and the one that its bounds tell.
func TestScaleWithoutDraws(t *testing.T) {
	const each = 60_000 // synapses onto a neuron
	g := network(0.1, areaOf("lif_psc_exp", 2e5), areaOf("lif_psc_exp", 2e5)).join(
		genome.Projection{Rule: genome.FixedTotalNumber, Count: each * 2e5, To: 1, Weight: atLeastValue(genome.Normal, 88, 8.8, 0)},
		genome.Projection{Rule: genome.FixedTotalNumber, Count: each * 2e5, From: 1, Weight: value(genome.Normal, -700, 70)},
	)
	g.Scale = 0
	p, err := newPlan(g, Options{MaxBytes: 1 << 50})
	require.NoError(t, err)
	p.chooseScale()
	require.EqualValues(t, 16, p.scale, "60,000·700·16 is about 0.63 of 2^30")
	require.Less(t, p.forecasts(16).whole.high, 1.2*each*700*16)
	require.Greater(t, p.forecasts(16).whole.low, 0.999*each*700*16)

	fixed := forecastPlan(t, genome.Projection{Rule: genome.FixedIndegree, To: 1, Indegree: 300, Weight: value(genome.Normal, 87.8, 8.78)}).forecasts(10).areas[1]
	require.Less(t, fixed.high-300*10, 1.13*300*878, "their number does not vary")
	require.Greater(t, fixed.low, 0.88*300*878)
}

// TestScaleInDoubt: where forecasts leave more than one scale the sums decide, as they do without forecasts; also where the area that
// receives most is drawn before the others.
func TestScaleInDoubt(t *testing.T) {
	areas := []genome.Area{areaOf("lif", 300)}
	for range 9 {
		areas = append(areas, areaOf("lif", 300))
	}
	for step := range 8 {
		weight := 40 * math.Exp2(float64(step)/4)
		n := network(1, areas...)
		for i := range areas {
			n.join(genome.Projection{Rule: genome.FixedTotalNumber, To: i, Count: 60*300 + 400*uint64(i), Weight: value(genome.Normal, weight, weight/5)})
		}
		n.Scale = 0
		p, err := newPlan(n.Genome, Options{Threads: 2})
		require.NoError(t, err)
		want, scales := 0, []float64{}
		for k := range 21 {
			scales = append(scales, pow2(k))
		}
		for k, sums := range p.sumsAt(all, scales...) {
			if worst(sums) <= autoBound {
				want = k
			}
		}
		require.Equal(t, want, p.largestFit(1, 20), "weight %v", weight)
		o := make([]forecast, len(areas)) // by area
		for i := range o {
			o[i] = forecast{float64(9 - i), 2 * autoBound}
		}
		o[3].low = 10
		few := p.fewOnto(o)
		require.True(t, few(&p.wirings[3]) && !few(&p.wirings[0]) && !few(&p.wirings[4]))
		clear(o[4:])
		require.Nil(t, p.fewOnto(o), "they are a quarter of all in doubt, or more")
	}
}
