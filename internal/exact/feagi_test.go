package exact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFEAGIHash holds the hash to values computed from feagi-core's formula; the last burst is 2^32 + 5, truncated.
func TestFEAGIHash(t *testing.T) {
	require.EqualValues(t, 3_993_518_367, FEAGIHash(1, 1))
	require.EqualValues(t, 3_180_583_298, FEAGIHash(42, 100))
	for _, c := range []struct {
		neuron, burst uint32
		want          float32
	}{{0, 0, 0.0301999971}, {1, 1, 0.929813445}, {42, 101, 0.439186811}, {49_999, 7, 0.176776066}, {123_456, 5, 0.149067014}} {
		require.Equal(t, c.want, float32(FEAGIHash(c.neuron, c.burst))/(1<<32), "neuron %d, burst %d", c.neuron, c.burst)
	}
}
