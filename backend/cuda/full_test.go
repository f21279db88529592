package cuda

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/engine"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
)

// TestR12FullDevice fills a GPU but for 64 or 128 MiB: a network of 200 MB is refused with what it needs and what is free, and a
// small one then runs in the same process.
func TestR12FullDevice(t *testing.T) {
	cudatest.Device(t)
	d, err := driver.Open("")
	require.NoError(t, err)
	v, err := d.Device(0)
	require.NoError(t, err)
	c, err := v.Retain()
	require.NoError(t, err)
	require.NoError(t, c.Enter())
	free, total, err := c.MemoryInfo()
	require.NoError(t, err)
	taken, err := c.Alloc(free - 64<<20)
	if err != nil { // the driver may keep some for itself
		taken, err = c.Alloc(free - 128<<20)
	}
	require.NoError(t, err)
	defer func() {
		require.NoError(t, c.Enter())
		require.NoError(t, c.Free(taken))
		c.Leave()
		require.NoError(t, c.Release())
	}()
	left, _, err := c.MemoryInfo()
	require.NoError(t, err)
	c.Leave()

	large := uneven(3_000_001, 7, 9_000_000, 5)
	_, err = Open(large, Options{})
	var m *MemoryError
	require.ErrorAs(t, err, &m)
	require.Equal(t, MemoryError{Device: 0, Need: DeviceBytes(large, engine.Want{}), Free: m.Free}, *m)
	require.LessOrEqual(t, m.Free, left)
	require.GreaterOrEqual(t, m.Free, left-2<<20, "kernels, which are loaded first, take a page or none")
	require.Greater(t, m.Need, uint64(200e6))
	b, err := Open(small(), Options{})
	require.NoError(t, err)
	require.NoError(t, b.Step(nil, &engine.Burst{}))
	require.NoError(t, b.Close())
	t.Logf("R12: a GPU of %d MB with %d MB free refused a network of %d MB and ran a small one", total>>20, left>>20, m.Need>>20)
}
