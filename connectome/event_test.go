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
	require.Equal(t, float32(math.Exp(-3/40.0)), a.DecayOver(3))
	require.Equal(t, float32(v[0]*a.DecayOver(3)), a.Potential(v[0], 3))
	last := uint16(len(a.Decay) - 1)
	require.Zero(t, a.DecayOver(last))
	require.NotZero(t, a.DecayOver(last-1))
	require.Zero(t, a.DecayOver(MostAge))
	require.Len(t, NewDecay(4096), MostAge+1)
	require.InDelta(t, math.Exp(-65534/4096.0), NewDecay(4096)[MostAge-1], 1e-13)

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
