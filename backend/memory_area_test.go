package backend

import (
	"testing"

	"burst/connectome"
	"burst/genome"

	"github.com/stretchr/testify/require"
)

const memoryText = `
burst: v1
areas:
  - {name: a, neurons: 70}
  - {name: scenes, neurons: 30, model: memory, upstream: [a], params: {temporal_depth: 3}}
`

// TestMemoryAreas: every backend takes networks with memory areas, and the memory of their state is counted.
func TestMemoryAreas(t *testing.T) {
	g, err := genome.Parse("text", []byte(memoryText), nil)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	require.Equal(t, 3, c.Queues())
	host, _ := Footprint("reference", c, Options{})
	require.EqualValues(t, 100*8+70*4+30*13, host)
	host, device := Footprint("cuda", c, Options{})
	g.Areas[1].Size[0] += 1000
	larger, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	more, moreDevice := Footprint("cuda", larger, Options{})
	require.EqualValues(t, 1000*(4+13), more-host, "what they keep lies on the host, where spikes arrive")
	require.Greater(t, moreDevice, device+1000*(8+8+16), "the device has rows, states, and the burst in which each neuron fires")
}
