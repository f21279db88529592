package cuda

import (
	"testing"

	"burst/engine"
	"burst/internal/cuda/cudatest"

	"github.com/stretchr/testify/require"
)

// TestEnergy compares two readings of one device, and of two that work together.
func TestEnergy(t *testing.T) {
	host := cudatest.Host(t).WithAll()
	host.Control("devices", 2)
	host.Control("nvml_energy", 5)
	c := example(t, "quickstart")
	alone, err := open(c, Options{}, fewThreads())
	require.NoError(t, err)
	defer alone.Close()
	together, err := openParts(&cuts{c: c, of: 2}, []int{0, 1}, nil, engine.Want{}, fewThreads())
	require.NoError(t, err)
	defer together.Close()
	type meter interface{ Energy() (float64, error) }
	for b, want := range map[engine.Backend]float64{alone: 5, together: 10} {
		before, err := b.(meter).Energy()
		require.NoError(t, err)
		after, err := b.(meter).Energy()
		require.NoError(t, err)
		require.Equal(t, want, after-before)
	}
	host.Control("nvml_energy", 0)
	_, err = alone.(meter).Energy()
	require.ErrorContains(t, err, "nvmlDeviceGetTotalEnergyConsumption: Not Supported")
}
