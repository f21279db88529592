package serve_test

import (
	"testing"

	"burst/serve"

	"github.com/stretchr/testify/require"
)

// Synapses whose source's potential drives what they deliver are listed with its factor.
func TestDrivenSynapses(t *testing.T) {
	s := startGenome(t, network(t, `burst: v1
scale: 1000
areas:
  - {name: eye, size: [2, 1, 1], psp_max: 8}
  - {name: cell, size: [2, 1, 1], threshold: 9}
projections:
  - {from: eye, to: cell, rule: one_to_one, weight: 0.5, delay: 3}
  - {from: eye, to: eye, rule: one_to_one, weight: -2}
`), serve.Options{Paused: true})
	var list serve.Synapses
	s.get("/v1/neurons/1/synapses", &list)
	require.EqualValues(t, 2, list.Total)
	require.ElementsMatch(t, []serve.Synapse{{Target: 3, Weight: 0.5, Delay: 3, Projection: -1}, {Target: 1, Weight: -2, Delay: 1, Projection: -1}}, list.Rows)
}
