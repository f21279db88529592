package connectome

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/genome"
)

// drawn builds 90,000 synapses whose weight and delay follow the values given.
func drawn(t *testing.T, weight, delay genome.Value) *Connectome {
	return build(t, network(1, areaOf("lif", 300)).join(genome.Projection{Rule: genome.AllToAll, Weight: weight, Delay: delay}))
}

func moments(n int, at func(i int) float64) (mean, sd float64) {
	for i := range n {
		mean += at(i) / float64(n)
	}
	for i := range n {
		sd += (at(i) - mean) * (at(i) - mean) / float64(n)
	}
	return mean, math.Sqrt(sd)
}

func TestWeightsFollowTheirDistribution(t *testing.T) {
	half := value(genome.Normal, 0, 2)
	half.Lo, half.LoOpen = 0, true
	cut := value(genome.Normal, 1, 2)
	cut.Lo, cut.Hi, cut.Clip = 0, 3, true
	cases := []struct {
		name     string
		v        genome.Value
		mean, sd float64
		lo, hi   float64
	}{
		{"constant", constant(-1.25), -1.25, 0, -1.25, -1.25},
		{"uniform", value(genome.Uniform, -3, 5), 1, 8 / math.Sqrt(12), -3, 5},
		{"normal", value(genome.Normal, -7.5, 2.5), -7.5, 2.5, -30, 15},
		{"lognormal", value(genome.LogNormal, 4, 3), 4, 3, 0, 400},
		{"mirrored lognormal", value(genome.LogNormal, -4, 3), -4, 3, -400, 0},
		{"redraw keeps the upper half of a normal", half, 2 * math.Sqrt(2/math.Pi), 2 * math.Sqrt(1-2/math.Pi), 0, 30},
		{"clip moves both tails to the bounds", cut, 1.22896, 1.16187, 0, 3},
	}
	for _, c := range cases {
		n := drawn(t, c.v, constant(1))
		mean, sd := moments(len(n.Weight), func(i int) float64 { return float64(n.Weight[i]) / 1000 })
		noise := 5 * c.sd / math.Sqrt(float64(len(n.Weight))) // five standard errors
		assert.InDelta(t, c.mean, mean, noise+1e-9, c.name)
		assert.InDelta(t, c.sd, sd, 5*noise+1e-9, c.name)
		for _, w := range n.Weight {
			if x := float64(w) / 1000; x < c.lo || x > c.hi {
				t.Fatalf("%s: weight %v outside %v…%v", c.name, x, c.lo, c.hi)
			}
		}
	}
}

func TestDelays(t *testing.T) {
	n := drawn(t, constant(1), atLeastValue(genome.Normal, 15, 7.5, 1))
	mean, _ := moments(len(n.Delay.Short), func(i int) float64 { return float64(n.Delay.Short[i]) })
	assert.InDelta(t, 15.48, mean, 0.15) // a normal cut at −1.87 sd
	longest := uint8(0)
	for _, d := range n.Delay.Short {
		longest = max(longest, d)
	}
	assert.EqualValues(t, longest, n.MaxDelay)
	assert.NotContains(t, n.Delay.Short, uint8(0))

	assert.True(t, drawn(t, constant(1), constant(1.4)).Delay.None(), "1.4 bursts round to 1")
	assert.True(t, drawn(t, constant(1), value(genome.Uniform, 0.6, 1.4)).Delay.None(), "all draws round to 1")
	assert.Equal(t, 65_535, drawn(t, constant(1), constant(65_535.4)).MaxDelay)
}

func TestValuesThatAreRefused(t *testing.T) {
	outside := value(genome.Normal, 0, 1)
	outside.Lo = 4
	cases := []struct {
		name          string
		weight, delay genome.Value
		says          []string
	}{
		{"half a burst is one, less is none", constant(1), constant(0.49), []string{"projections[0].delay", "0 bursts", "1…65535", ">= 0.5 ms"}},
		{"a delay beyond the ring", constant(1), constant(65_535.5), []string{"65536 bursts"}},
		{"a drawn delay of 0", constant(1), value(genome.Normal, 2, 1), []string{"synapse ", "projections[0].delay"}},
		{"a drawn delay of 0 where none is above 1", constant(1), value(genome.Uniform, 0.3, 1.4), []string{"synapse ", "projections[0].delay", "0 bursts"}},
		{"a bound that keeps nothing", outside, constant(1), []string{"projections[0].weight", "clip("}},
		{"a uniform beyond its bound", genome.Value{Kind: genome.Uniform, A: 0, B: 1, Lo: 2, Hi: 3}, constant(1), []string{"1 draw in 1000"}},
		{"a weight of less than half a quantum", constant(0.0004), constant(1), []string{"scale: 1250", "0 quanta"}},
		{"the mean of a distribution likewise", value(genome.Normal, 0.0001, 1), constant(1), []string{"scale: 5000"}},
		{"no scale is large enough", constant(1e-9), constant(1), []string{"16777216"}},
		{"a distribution that float32 cannot hold", value(genome.Normal, 0, 1e38), constant(1), []string{"3.4e38"}},
		{"a lognormal around nothing", value(genome.LogNormal, 0, 1), constant(1), []string{"mean"}},
	}
	for _, c := range cases {
		var first string
		for _, threads := range []int{1, 2, 8} {
			g := network(0.5, areaOf("lif", 300)).join(genome.Projection{Rule: genome.AllToAll, Weight: c.weight, Delay: c.delay})
			_, err := Build(g, Options{Threads: threads})
			require.Error(t, err, c.name)
			for _, s := range c.says {
				assert.Contains(t, err.Error(), s, c.name)
			}
			if first == "" {
				first = err.Error()
			}
			assert.Equal(t, first, err.Error(), "%s: threads change the message", c.name)
		}
	}
}

func TestPoissonCountsAreTheDistribution(t *testing.T) {
	for _, mean := range []float64{0, 1e-9, 0.3, 2, 17.77, 140, 500} {
		counts := poissonCounts(mean)
		d := Drive{Counts: counts}
		sum, square, last := 0.0, 0.0, uint64(0)
		for k, c := range append(append([]uint32{}, counts...), 0) {
			next := uint64(c)
			if k == len(counts) {
				next = 1 << 32
			}
			require.LessOrEqual(t, last, next, "mean %v: thresholds ascend", mean)
			share := float64(next-last) / (1 << 32)
			sum += share * float64(k)
			square += share * float64(k) * float64(k)
			last = next
		}
		assert.InDelta(t, mean, sum, 1e-6*(1+mean), "mean %v", mean)
		assert.InDelta(t, mean, square-sum*sum, 1e-5*(1+mean), "variance at mean %v", mean)
		assert.EqualValues(t, len(counts), events(d.Counts, math.MaxUint32), "the largest draw makes the bound")
	}
	assert.Equal(t, []uint32{581260615, 1743781846, 2906303077}, poissonCounts(2)[:3])
}

func TestAreaConstants(t *testing.T) {
	lif := areaOf("lif", 3)
	for k, v := range map[string]float64{"tau": 10, "C": 250, "rest": -65.3, "reset": -60.1, "threshold": -50.7, "refractory": 2.1} {
		lif.Params[k] = v
	}
	lif.Drives = []genome.Drive{
		{Kind: genome.Constant, Unit: genome.Current, Value: 376, From: 3, Until: 9},
		{Kind: genome.Constant, Unit: genome.Voltage, Value: 15.04, Until: math.MaxUint64},
		{Kind: genome.Poisson, Rate: 20000, Weight: 0.1, Until: math.MaxUint64},
	}
	feagi := block("feagi", 2, 1, 3, 2)
	for k, v := range map[string]float64{"threshold": 0.7, "leak": 0.1, "refractory": 7, "excitability": 0.37, "fire_limit": 3, "snooze": 5, "accumulate": 0} {
		feagi.Params[k] = v
	}
	feagi.Gradient = [3]float64{1.6, 0, -0.25}
	feagi.Drives = []genome.Drive{{Kind: genome.Constant, Value: 0.0035, Until: 8}}
	n := build(t, network(0.1, lif, feagi).Genome)

	assert.Equal(t, []Param{{Const: float32(math.Expm1(-0.01))}, {Const: 14.6}, {Const: 5.2}, {Const: 21}}, n.Areas[0].Constants)
	d := n.Areas[0].Drives
	assert.Equal(t, Term, d[0].Kind)
	assert.InDelta(t, -math.Expm1(-0.01)*15.04, d[0].Term, 1e-15)
	assert.InDelta(t, d[0].Term, d[1].Term, 1e-15, "376 pA through 10 ms / 250 pF settle at 15.04 mV")
	assert.Equal(t, int32(100), d[2].Amount)
	assert.Equal(t, poissonCounts(2), d[2].Counts)
	assert.EqualValues(t, 100*len(d[2].Counts), n.Bound[0])

	f := &n.Areas[1]
	assert.Equal(t, float32(1)-float32(0.1), f.Constant("keep").Const)
	assert.EqualValues(t, 1589137900, f.Chance.Const)
	assert.True(t, math.IsInf(float64(f.Constant("threshold_limit").Const), 1))
	assert.Equal(t, []float32{0.7, 0.7, 0.45, 0.45, 0.2, 0.2, 2.3, 2.3, 2.05, 2.05, 1.8, 1.8}, round(f.Constant("threshold").Each))
	assert.Equal(t, Drive{Kind: Inject, Until: 8, Amount: 4}, n.Areas[1].Drives[0])
	assert.EqualValues(t, 4, n.Bound[3])
}

// TestShortCurrents: a synaptic current that is gone within a burst is built, too.
func TestShortCurrents(t *testing.T) {
	short := areaOf("lif_psc_exp", 3)
	short.Params["tau_syn_ex"] = 0.001
	build(t, network(1, short).Genome)
}

// round drops what float32 adds to sums of tenths.
func round(list []float32) []float32 {
	out := make([]float32, len(list))
	for i, x := range list {
		out[i] = float32(math.Round(float64(x)*1e5) / 1e5)
	}
	return out
}

func TestInitialPotentialsAreRelativeToRest(t *testing.T) {
	silent, drawnV := areaOf("lif", 5), areaOf("lif", 40_000)
	silent.Params["rest"], drawnV.Params["rest"] = -65, -65
	drawnV.Init = map[string]genome.Value{"V": value(genome.Normal, -58, 5)}
	n := build(t, network(0.1, silent, drawnV).Genome)
	v := make([]float32, n.Neurons)
	n.InitialState(v, nil)
	assert.Equal(t, make([]float32, 5), v[:5])
	mean, sd := moments(40_000, func(i int) float64 { return float64(v[5+i]) })
	assert.InDelta(t, 7, mean, 0.12)
	assert.InDelta(t, 5, sd, 0.1)
}

func TestPotentialsBeyondFloat32AreRefused(t *testing.T) {
	cases := []struct {
		name, says string
		spoil      func(lif, feagi *genome.Area)
	}{
		{"threshold far above rest", "areas[0].threshold", func(a, _ *genome.Area) { a.Params["threshold"], a.Params["rest"] = 3e38, -3e38 }},
		{"reset far below rest", "areas[0].reset", func(a, _ *genome.Area) { a.Params["reset"], a.Params["rest"] = -3.3e38, 3e37 }},
		{"a current through a large resistance", "areas[0].drive", func(a, _ *genome.Area) {
			a.Params["C"] = 1e-30
			a.Drives = []genome.Drive{{Unit: genome.Current, Value: 1e20}}
		}},
		{"an initial value", "areas[0].init.V", func(a, _ *genome.Area) {
			a.Init, a.Params["rest"] = map[string]genome.Value{"V": value(genome.Normal, 3e38, 1)}, -3e38
		}},
		{"a recovery that starts from b·v", "areas[0].init.u: u of neuron 0 is computed as -Inf", func(a, _ *genome.Area) {
			*a = areaOf("izhikevich", 2)
			a.Params["b"] = 1e37
		}},
		{"a gradient", "areas[1].threshold_gradient", func(_, b *genome.Area) { b.Gradient[1] = 1e38 }},
	}
	for _, c := range cases {
		lif, feagi := areaOf("lif", 2), block("feagi", 1, 9, 1, 1)
		c.spoil(&lif, &feagi)
		_, err := Build(network(0.1, lif, feagi).Genome, Options{})
		assert.ErrorContains(t, err, c.says, c.name)
	}
}

func TestPoissonAboveTheTableIsRefused(t *testing.T) {
	a := areaOf("lif", 1)
	a.Drives = []genome.Drive{{Kind: genome.Poisson, Rate: 5_000_001, Weight: 1}}
	_, err := Build(network(0.1, a).Genome, Options{})
	require.ErrorContains(t, err, "areas[0].drive[0].poisson.rate")
	assert.ErrorContains(t, err, "500")
}

func TestStimuliBecomePortsAndQuanta(t *testing.T) {
	g := network(1, areaOf("feagi", 4), areaOf("feagi", 6)).Genome
	g.Stimuli = []genome.Stimulus{{Area: 1, Every: 7, From: 2, Until: 90, Neurons: []uint32{1, 5}, Amounts: []float64{2.0005, -1}}}
	n := build(t, g)
	assert.Equal(t, []Stimulus{{Every: 7, From: 2, Until: 90, Ports: []uint32{5, 9}, Amounts: []int32{2001, -1000}}}, n.Stimuli)
	assert.Equal(t, make([]uint32, 10), n.Bound, "stimuli are no part of the bound")
	g.Stimuli[0].Amounts[1] = 0.0001
	_, err := Build(g, Options{})
	assert.ErrorContains(t, err, "stimuli[0].amount")
}

func TestRulesThatCannotBeMet(t *testing.T) {
	cases := []struct {
		name string
		p    genome.Projection
		says string
	}{
		{"unequal areas", genome.Projection{Rule: genome.OneToOne, To: 1}, "60 and 77"},
		{"too few different sources", genome.Projection{Rule: genome.FixedIndegree, Indegree: 60, NoAutapses: true, NoMultapses: true}, "59 partners"},
		{"too few different targets", genome.Projection{Rule: genome.FixedOutdegree, To: 1, Outdegree: 78, NoMultapses: true}, "77 partners"},
		{"too few pairs", genome.Projection{Rule: genome.FixedTotalNumber, Count: 3541, NoAutapses: true, NoMultapses: true}, "3540 pairs"},
	}
	for _, c := range cases {
		_, err := Build(ruleGenome(c.p), Options{})
		require.ErrorContains(t, err, c.says, c.name)
		assert.True(t, strings.Contains(err.Error(), "projections[0]"), c.name)
	}
}
