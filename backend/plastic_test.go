package backend

import (
	"testing"

	"burst/connectome"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

const plasticText = `
burst: v1
plasticity: [{name: grow, params: {up: 0.1}, synapse: {c: 0}, bounds: [0, 2], on_pre: [c = 1, w = w + up*c]}]
areas:
  - {name: a, neurons: 70, threshold: 1.5}
projections:
  - {from: a, to: a, rule: fixed_indegree, indegree: 5, weight: 3}
  - {from: a, to: a, rule: fixed_indegree, indegree: 5, weight: 1, plasticity: grow}
`

// TestPlasticBackends: every backend takes networks that learn; without a GPU auto takes the cpu.
func TestPlasticBackends(t *testing.T) {
	t.Setenv("CUDA_VISIBLE_DEVICES", "")
	g, err := genome.Parse("text", []byte(plasticText), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	b, name, why, err := Auto(c, Options{})
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, "cpu", name)
	require.NotContains(t, why, "projections")
	learnt := uint64(70*5*4*2 + 70*8*2)
	host, _ := Footprint("reference", c, Options{})
	require.Equal(t, learnt+70*(8+4), host)
	require.Equal(t, host+4*(learnt+70*8), hostMemory("reference", c, Options{}), "two of the engine, checkpoint, weights' digest")
	var m *MemoryError
	_, err = Open("reference", c, Options{MaxBytes: c.Bytes() + host})
	require.ErrorAs(t, err, &m)
}
