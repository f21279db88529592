package main

import (
	"math"
	"testing"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestLearning holds the rules of plasticity to tables worked out in float64; the slow cases are in TestPublished.
func TestLearning(t *testing.T) {
	slow.Short(t)
	for _, c := range quickLearning() {
		t.Run(c.name, func(t *testing.T) {
			checks, err := c.run(options{backend: "cpu"})
			require.NoError(t, err)
			require.NotEmpty(t, checks)
			report(t, checks)
		})
	}
}

// TestPotentiation: what pairs of spikes bring, worked out by hand.
func TestPotentiation(t *testing.T) {
	g, err := genome.Parse("pairs.yaml", []byte(`burst: v1
name: pairs
timestep: 1 ms
areas:
  - {name: s, neurons: 2, model: spike_list, spikes: [{neurons: [0], at: [10, 20]}, {neurons: [1], at: [20]}]}
  - {name: t, neurons: 1, model: lif, params: {refractory: 0 ms}}
  - {name: teacher, neurons: 1, model: spike_list, spikes: [{neurons: [0], at: [14, 19]}]}
projections:
  - {from: s, to: t, rule: all_to_all, weight: 0 mV, plasticity: vogels}
  - {from: teacher, to: t, rule: all_to_all, weight: 900 mV}
`), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, err := backend.Open("reference", c, backend.Options{})
	require.NoError(t, err)
	defer b.Close()
	m := newPotentiation(c, 0, 20)
	require.NoError(t, engine.New(c, b, engine.Options{Recorders: []engine.Recorder{m}}).Run(t.Context(), 30))
	// The target fires in bursts 15 and 20: source 0 is 5 before the first and 10 before the second, and 5 after the first; source 1 is 5
	// after it. Those of burst 20 are together, and count nothing.
	require.InDelta(t, (3*math.Exp(-5./20)+math.Exp(-10./20))/3, m.mean(), 1e-12)
}
