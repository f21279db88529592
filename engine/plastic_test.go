package engine_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

// learning has one plastic projection, whose source fires in a few bursts; what its rule does stands in the statements.
func learning(t *testing.T, onPre string) *connectome.Connectome {
	t.Helper()
	const text = `burst: v1
plasticity:
  - {name: odd, synapse: {c: 1.7}, pre: {x: {tau: 20 ms, add: 1}}, bounds: [0, 2], on_pre: [%s]}
areas:
  - {name: idle, neurons: 5, threshold: 1}
  - {name: eye, neurons: 3, model: spike_list, spikes: [{neurons: [0], at: [4]}, {neurons: [1], at: [90, 95, 100, 105, 110, 115, 120, 121, 122, 123]}]}
  - {name: mind, neurons: 3, threshold: 9}
projections:
  - {from: idle, to: mind, rule: all_to_all, weight: 1}
  - {from: eye, to: mind, rule: one_to_one, weight: 0.5, delay: 3, plasticity: odd}
`
	g, err := genome.Parse("odd.yaml", fmt.Appendf(nil, text, onPre), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	return c
}

// TestNotFiniteSynapse: a weight or a variable of a synapse that is NaN or infinite ends the run; the error names the
// synapse and the burst.
func TestNotFiniteSynapse(t *testing.T) {
	const synapse = ` of projections[1] (odd), from neuron 1 of area "eye" (id 6) with delay 3, is `
	for _, x := range []struct{ onPre, what, value string }{
		{`"c = c*c"`, "synapse variable 0" + synapse, "+Inf after burst 124"},
		{`"c = c*c", "out = w + (c - c)"`, "weight" + synapse, "NaN after burst 124"},
	} {
		c := learning(t, x.onPre)
		for _, o := range []struct {
			name  string
			parts int
		}{{"reference", 0}, {"cpu", 0}, {"cpu", 3}} {
			b, err := backend.Open(o.name, c, backend.Options{Parts: o.parts})
			require.NoError(t, err)
			e := engine.New(c, b, engine.Options{})
			var n *engine.NumberError
			require.ErrorAs(t, errors.Join(e.Run(context.Background(), 1000), e.Check()), &n, "%v", o)
			require.EqualError(t, n, `neuron 1 of area "mind" (id 9): `+x.what+x.value+"; parameters and amounts with which the rule cannot run away keep it finite")
			require.ErrorAs(t, e.State(&engine.State{}), &n, "no checkpoint can have it")
			require.NoError(t, b.Close())
		}
	}
}

// TestWeightWithoutRoom: a weight that passes what there is room for ends the run; the error names the synapse, the burst and the bounds.
func TestWeightWithoutRoom(t *testing.T) {
	const text = `burst: v1
scale: 10000000
areas:
  - {name: eye, neurons: 2, model: spike_list, spikes: [{neurons: [1], at: [%s]}]}
  - {name: mind, neurons: 2, threshold: 1}
projections:
  - {from: eye, to: mind, rule: one_to_one, weight: 2, delay: 2, plasticity: {rule: feagi, window: 1, bounds: [0, 3e38], overflow: fail, ltp: 3}}
`
	list := ""
	for t := range 100 {
		list += fmt.Sprintf("%d, ", 20+t)
	}
	g, err := genome.Parse("open.yaml", fmt.Appendf(nil, text, list[:len(list)-2]), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	for name, parts := range map[string]int{"reference": 0, "cpu": 0, "cpu ": 3} {
		b, err := backend.Open(strings.TrimSpace(name), c, backend.Options{Parts: parts})
		require.NoError(t, err)
		e := engine.New(c, b, engine.Options{})
		var n *engine.NumberError
		require.ErrorAs(t, errors.Join(e.Run(context.Background(), 1000), e.Check()), &n, name)
		// Two bursts after its spikes of 20, 21 and 24 the source alone has fired, with 22, 23 and all from 25 on the target too: w is 1,
		// 0, 3, 6 and 5 after bursts 22 to 26, then 8, 11 … 107 after 60, and 110 is too much.
		require.EqualError(t, n, `neuron 1 of area "mind" (id 3): weight of projections[0] (feagi), from neuron 1 of area "eye" (id 1) with delay 2, has left 0…107.37418, `+
			"beyond which sums of inputs could overflow, after burst 61; a smaller scale leaves more room (--set scale=N)")

		require.NoError(t, e.Restore(engine.NewState(c)))
		require.NoError(t, e.Run(context.Background(), 61), name)
		require.ErrorAs(t, e.Run(context.Background(), 1), &n, "%s: a Run looks at its end", name)
		require.EqualValues(t, 61, n.Burst)
		require.NoError(t, b.Close())
	}
}

// TestPlasticDifference: a difference names the synapse, or the neuron, of which it is.
func TestPlasticDifference(t *testing.T) {
	c := learning(t, `"w = w + 0.1"`)
	for _, x := range []struct {
		change func(p *engine.Plastic)
		neuron uint32
		field  string
	}{
		{func(p *engine.Plastic) { p.Weight[2] = 1 }, 10, `weight of projections[1] (odd), from neuron 2 of area "eye" (id 7) with delay 3`},
		{func(p *engine.Plastic) { p.Synapse[0][0] = 1 }, 8, `synapse variable 0 of projections[1] (odd), from neuron 0 of area "eye" (id 5) with delay 3`},
		{func(p *engine.Plastic) { p.Pre[0][1] = float32(math.Copysign(0, -1)) }, 6, "source trace 0 of projections[1] (odd)"},
		{func(p *engine.Plastic) { p.PostLast[1] = 9 }, 9, "target spike of projections[1] (odd)"},
	} {
		a, b := engine.NewState(c), engine.NewState(c)
		x.change(&b.Plastic[0])
		d := engine.CompareStates(a, b)
		require.NotNil(t, d)
		d.Locate(c)
		require.Equal(t, x.field, d.Field)
		require.Equal(t, x.neuron, d.Neuron)
		cut := c.Cut(connectome.Part{Index: 1, Of: 2})
		if d.Entry.By == engine.BySynapse {
			d.Locate(cut)
			require.Contains(t, d.Field, "from a neuron that another part knows")
			require.Equal(t, x.neuron, d.Neuron)
		}
	}
}
