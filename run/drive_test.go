package run_test

import (
	"math"
	"testing"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

// TestDrivesArrive holds the drives of models to what docs/genome.md says of them: which are currents or a depolarisation, and which
// amounts that arrive as spikes do and add up.
func TestDrivesArrive(t *testing.T) {
	const text = `burst: v1
name: driven
timestep: 0.1 ms
areas:
  - {name: term, neurons: 1, model: lif, params: {threshold: 1 V}, drive: {constant: 1 mV}}
  - {name: arriving, neurons: 1, model: lif, params: {threshold: 1 V}, drive: {normal: {mean: 1 mV, sd: 0.001 mV}}}
  - {name: current, neurons: 1, model: lif_psc_exp, params: {threshold: 1 V}, drive: {constant: 205 pA}}
  - {name: adding up, neurons: 1, model: lif_psc_exp, params: {threshold: 1 V}, drive: {normal: {mean: 10 pA, sd: 0.001 pA}}}
  - {name: formulas, neurons: 1, model: lif_psc_delta, params: {threshold: 1 V}, drive: {constant: 1 mV}}
  - {name: steady, neurons: 1, model: lif_psc_delta, params: {threshold: 1 V, I_e: 250 pA}}
  - name: port current
    neurons: 1
    model: lif_cond_exp
    params: {threshold: 1 V}
    drive: {to: {port: current}, normal: {mean: 100 pA, sd: 0.001 pA}}
`
	c, err := connectome.Build(network(t, text), connectome.Options{})
	require.NoError(t, err)
	b, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	defer b.Close()
	e := engine.New(c, b, engine.Options{})
	require.NoError(t, e.Run(t.Context(), 5000))
	s := engine.NewState(c)
	require.NoError(t, e.State(s))
	adds := func(tau float64) float64 { return 1 / -math.Expm1(-0.1/tau) } // what 1 in every burst adds up to
	for area, rise := range map[string]float64{
		"term": 1, "arriving": adds(20), "current": 205 * 10 / 250., "adding up": 200 * 10 / 250., "formulas": adds(10), "steady": 10,
		"port current": 100 / 16.6667,
	} {
		for i := range c.Areas {
			if a := &c.Areas[i]; a.Name == area {
				rest := 0.0
				if a.Model.Custom != nil {
					rest = -70 // absolute there
				}
				require.InEpsilon(t, rise, float64(s.V[a.Neurons.First])-rest, 0.002, area)
			}
		}
	}
	require.InDelta(t, 200.5, adds(20), 0.05)
}
