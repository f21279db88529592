package record

import (
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

const varied = `burst: v1
timestep: 1 ms
models:
  - {name: two, ports: [ampa, gaba], state: {v: 0, w: 1}, update: [v = v + ampa + gaba, w = w + v], threshold: v > 9}
areas:
  - {name: eye, neurons: 2, model: poisson, params: {rate: 1 Hz}}
  - {name: leg.a, neurons: 3, model: lif_psc_exp, params: {rest: -65 mV, reset: -65 mV, threshold: -50 mV}}
  - {name: own, neurons: 2, model: two}
  - {name: old, neurons: 2}
`

// variedNetwork is varied with a record block.
func variedNetwork(t *testing.T, block string) (*genome.Genome, *connectome.Connectome, error) {
	t.Helper()
	g, err := genome.Parse("varied.yaml", []byte(varied+block), nil)
	if err != nil {
		return nil, nil, err
	}
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	return g, c, nil
}

// TestPlanOfVariables: genome and requests name the same state variables and inputs; what the backend is asked for is each once, and
// shared with the table of potentials.
func TestPlanOfVariables(t *testing.T) {
	const block = "record:\n  potentials: [{area: leg.a, neurons: [1, 2]}]\n  variables:\n    - {area: own, names: [gaba, w], neurons: all, every: 3 ms}\n" +
		"    - {area: leg.a, names: [V, I_in], neurons: [1]}\n    - {area: old, names: [input], voxels: [[1, 0, 0]], every: 2}\n"
	g, c, err := variedNetwork(t, block)
	require.NoError(t, err)
	p, _, err := NewPlan(g, c, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"V", "I_in", "w", "gaba", "input"}, p.Names)
	require.Equal(t, []engine.Probe{{Neuron: 3}, {Neuron: 4}, {Neuron: 5, Variable: 1}, {Neuron: 6, Variable: 1}, {Neuron: 3, Variable: 2}}, p.Values)
	require.Equal(t, []float32{-65, -65, 0, 0, 0}, p.Rest)
	require.Equal(t, []int{0, 1}, p.Potentials)
	require.Equal(t, []Series{
		{3, 0, 1, 0, 0}, {3, 1, 1, 4, 0}, {5, 2, 3, 2, 0}, {5, 3, 3, -1, c.Areas[2].Ports.First + 2},
		{6, 2, 3, 3, 0}, {6, 3, 3, -1, c.Areas[2].Ports.First + 3}, {8, 4, 2, -1, c.Areas[3].Ports.First + 1},
	}, p.Variables)
	require.Equal(t, engine.Want{FCL: true, Values: p.Values}, p.Want())

	g, c, err = variedNetwork(t, "")
	require.NoError(t, err)
	q, _, err := NewPlan(g, c, []string{"potentials=leg.a[1..2]", "variables=own.gaba,own.w every 3ms", "variables=leg.a[1].V,leg.a[1].I_in,leg.a[1].V", "variables=old[1].input every 2"})
	require.NoError(t, err)
	require.Equal(t, p, q)
	none, _, err := NewPlan(g, c, []string{"variables=none"})
	require.NoError(t, err)
	require.Empty(t, none.Variables)
	all, _, err := NewPlan(g, c, []string{"variables=all every 10"})
	require.NoError(t, err)
	require.Len(t, all.Variables, 3*3+2*2+2*1)
	require.False(t, all.Want().FCL)
}

// TestPlanOfVariablesRefused: each mistake is named, with what was meant.
func TestPlanOfVariablesRefused(t *testing.T) {
	g, c, err := variedNetwork(t, "")
	require.NoError(t, err)
	for request, want := range map[string]string{
		"leg.a":                 `no area "leg"`,
		"leg.a.I_ih":            `"I_ih", want a state variable or an input of the model lif_psc_exp: V, I_ex, I_in, ex, in; did you mean "I_in"?`,
		"own[0..1]":             `"own[0..1]", want all, none, or areas with a state variable or an input`,
		"own[0..2].v":           `want neurons such as [0..9] or [3], numbers below 2`,
		"legs.V":                `"legs"`,
		"eye.V":                 `area "eye" has no variables, its model poisson is a source; only its spikes can be recorded: spikes=eye`,
		"own.v every 0":         `every "0", want bursts`,
		"own.v every 1.5ms":     `every "1.5ms", want bursts`,
		"own.v,own.w every ten": `every "ten", want bursts`,
	} {
		_, _, err := NewPlan(g, c, []string{"variables=" + request})
		require.ErrorContains(t, err, "variables: ", request)
		require.ErrorContains(t, err, want, request)
	}
	_, _, err = NewPlan(g, c, []string{"variables=own.v every 2", "variables=own[1].v every 3"})
	require.ErrorContains(t, err, `v of neuron 1 of area "own" is chosen every`)
	for block, want := range map[string]string{
		"record: {variables: [{area: own, names: [gama], neurons: [0]}]}\n":          `did you mean "gaba"?`,
		"record: {variables: [{area: eye, names: [V], neurons: [0]}]}\n":             `found eye, whose model poisson is a source`,
		"record: {variables: [{area: own, names: [v]}]}\n":                           `expects neurons or voxels, found neither`,
		"record: {variables: [{area: own, names: [v], neurons: [0], every: 0}]}\n":   `every`,
		"record: {variables: [{area: own, names: [v], neurons: [2]}]}\n":             `neurons[0]`,
		"record: {variables: [{area: own, names: [v], neurons: [0], evry: 3 ms}]}\n": `did you mean "every"?`,
	} {
		_, _, err := variedNetwork(t, block)
		require.ErrorContains(t, err, want, block)
	}
	big, err := genome.Parse("big.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 5000000}]\n"), nil)
	require.NoError(t, err)
	c, err = connectome.Build(big, connectome.Options{})
	require.NoError(t, err)
	_, _, err = NewPlan(big, c, []string{"variables=all"})
	require.ErrorContains(t, err, "variables: 5000000 of a and others chosen, want at most 4194304, such as a[0..999].V")
}
