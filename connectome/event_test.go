package connectome

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// eventArea is an area of lif_event under constant drives: 75 pA into 20 ms/250 pF is 6 mV, and 2 mV.
func eventArea() genome.Area {
	a := areaOf("lif_event", 5)
	a.Drives = []genome.Drive{
		{Kind: genome.Constant, Value: 75, Unit: genome.Current, Until: math.MaxUint64}, {Kind: genome.Constant, Value: 2, Unit: genome.Voltage, Until: math.MaxUint64},
		{Kind: genome.Poisson, Rate: 5, Weight: 1, Unit: genome.Voltage, Until: math.MaxUint64},
	}
	return a
}

// Constant drives become part of rest, and the others stay.
func TestEventArea(t *testing.T) {
	c := build(t, network(0.5, eventArea()).Genome)
	a := &c.Areas[0]
	require.Equal(t, []float32{12, 2, 4, 40}, []float32{a.Constants[0].Const, a.Constants[1].Const, a.Constants[2].Const, a.Constants[3].Const})
	require.Equal(t, 8.0, a.V0.Rest)
	require.Len(t, a.Drives, 1)
	v := make([]float32, 5)
	c.InitialState(v, nil)
	require.Equal(t, float32(-8), v[0], "V starts at rest")
	require.Equal(t, float32(math.Exp(-3/40.0)), a.DecayOver(3)[FactorV])
	require.Equal(t, float32(v[0]*a.DecayOver(3)[FactorV]), a.Reads(0, Kept{V: v[0], Count: 3}))
	last := uint16(len(a.Decay) - 1)
	require.Zero(t, a.DecayOver(last)[FactorV])
	require.NotZero(t, a.DecayOver(last - 1)[FactorV])
	require.Zero(t, a.DecayOver(MostAge)[FactorV])
	require.Len(t, fading(4096), MostAge)
	require.InDelta(t, math.Exp(-65534/4096.0), fading(4096)[MostAge-1], 1e-13)

	less := eventArea()
	less.Drives = less.Drives[1:]
	require.NotEqual(t, c.Hash(), build(t, network(0.5, less).Genome).Hash(), "the hash sees constant drives")
}

func TestEventRefused(t *testing.T) {
	for _, x := range []struct {
		change func(a *genome.Area)
		want   string
	}{
		{func(a *genome.Area) { a.Drives[1].Value = 14 }, "areas[0].drive: rest and constant drives hold neuron 0 at 20 mV (0 + 20), want less than its threshold of 20 mV"},
		{func(a *genome.Area) { a.Params["rest"], a.Drives[1].Value, a.Params["threshold"] = 0.1, 0.2, 0.25 }, "at 6.3 mV (0.1 + 6.2), want less than its threshold of 0.25 mV: a neuron of the model lif_event fires at inputs alone; want a drive below 0.15 mV"},
		{func(a *genome.Area) { a.Params["rest"], a.Params["threshold"] = 12.5, 20 }, "want a drive below 7.5 mV, or the model lif"},
		{func(a *genome.Area) { a.Params["tau"], a.Drives = 2049, nil }, "areas[0].params.tau: tau is 2049 ms, 4098 bursts of 0.5 ms, want at most 4096 bursts (2048 ms)"},
	} {
		a := eventArea()
		x.change(&a)
		_, err := Build(network(0.5, a).Genome, Options{})
		require.ErrorContains(t, err, x.want)
	}
}

// The rest of a run's network cannot change, other drives can.
func TestEventRedriven(t *testing.T) {
	g := network(0.5, eventArea()).Genome
	c := build(t, g)
	now := func(change func(d []genome.Drive)) (*Connectome, error) {
		other := network(0.5, eventArea()).Genome
		change(other.Areas[0].Drives)
		return c.Redriven(g, other, 1)
	}
	_, err := now(func(d []genome.Drive) { d[1].Value = 3 })
	require.ErrorContains(t, err, "constant drives of a lif_event area are part of its rest, which a run cannot change: found 9 mV, want 8 mV as before")
	_, err = now(func(d []genome.Drive) { d[2].Rate = 7 })
	require.NoError(t, err)
}

// The table of lif_psc_exp_event, and what variables read of it.
func TestEventCurrents(t *testing.T) {
	a := areaOf("lif_psc_exp_event", 5)
	a.Params["tau"], a.Params["tau_syn_ex"], a.Params["tau_syn_in"], a.Params["C"] = 10, 2, 40, 200
	a.Drives = []genome.Drive{{Kind: genome.Constant, Value: 1000, Unit: genome.Current, Until: math.MaxUint64}} // to −20 mV, above threshold
	c := build(t, network(0.5, a).Genome)
	area := &c.Areas[0]
	require.Equal(t, -20.0, area.V0.Rest)
	require.Equal(t, float32(-35), area.Constant("threshold").Const)
	response := func(tau, s, t float64) float64 { // of V to a current of 1 pA that decays by s
		return tau * s / (tau - s) / 200 * (math.Exp(-t/tau) - math.Exp(-t/s))
	}
	row := area.DecayOver(7)
	for k, want := range [mostFactors]float64{FactorV: math.Exp(-0.35), FromEx: response(10, 2, 3.5), FromIn: response(10, 40, 3.5), FactorEx: math.Exp(-1.75), FactorIn: math.Exp(-3.5 / 40)} {
		require.InEpsilon(t, want, row[k], 1e-6)
	}
	require.Equal(t, make([]float32, mostFactors), area.DecayOver(MostAge))

	x := Kept{V: 3, Ex: 50, In: -20, Count: 7}
	require.InDelta(t, 3*math.Exp(-0.35)+50*response(10, 2, 3.5)-20*response(10, 40, 3.5), area.Reads(0, x), 1e-5)
	require.InDelta(t, 50*math.Exp(-1.75), area.Reads(1, x), 1e-5)
	require.InDelta(t, -20*math.Exp(-3.5/40), area.Reads(2, x), 1e-5)
	x.Count, x.Refractory = 0, 7
	require.Equal(t, x.V, area.Reads(0, x))
	require.InDelta(t, 50*math.Exp(1.75), area.Reads(1, x), 1e-4, "currents are held as at the end of the silence")
	x.Refractory = 60000
	require.Zero(t, area.Reads(1, x), "nothing of the current is left, whatever it is")

	a.Params["tau_syn_in"] = 2049
	_, err := Build(network(0.5, a).Genome, Options{})
	require.ErrorContains(t, err, "areas[0].params.tau_syn_in: tau_syn_in is 2049 ms, 4098 bursts of 0.5 ms, want at most 4096 bursts (2048 ms) for the model lif_psc_exp_event; take a longer timestep, or the model lif_psc_exp")
}
