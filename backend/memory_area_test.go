package backend

import (
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

const memoryText = `
burst: v1
areas:
  - {name: a, neurons: 70}
  - {name: scenes, neurons: 30, model: memory, upstream: [a], params: {temporal_depth: 3}}
`

// TestMemoryAreas: the cuda backend refuses networks with memory areas, of genome and connectome alike; auto takes another. The memory
// of their state is counted.
func TestMemoryAreas(t *testing.T) {
	g, err := genome.Parse("text", []byte(memoryText), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, c.Queues())
	const refusal = `the cuda backend cannot run memory areas yet, area "scenes" has the model memory; want cpu, reference or auto`
	for _, name := range Names() {
		err := Check(name, g)
		if name != "cuda" {
			require.NoError(t, err)
			continue
		}
		require.EqualError(t, err, refusal)
		_, err = Open(name, c, Options{})
		require.EqualError(t, err, refusal)
		require.NotErrorIs(t, err, engine.ErrUnavailable, "no other machine would do")
	}
	b, name, why, err := Auto(c, Options{})
	require.NoError(t, err)
	defer b.Close()
	require.Equal(t, "cpu", name)
	require.Equal(t, `no GPU taken: area "scenes" is a memory area, which the cuda backend cannot run yet`, why)
	host, _ := Footprint("reference", c, Options{})
	require.EqualValues(t, 100*8+70*4+30*13, host)
}
