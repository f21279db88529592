package manifest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTime: times are the decimal numbers that people would write, as near as float64 comes; where they are too long for that, what
// the product gives.
func TestTime(t *testing.T) {
	for _, c := range []struct {
		timestep float64
		burst    uint64
		want     float64
	}{
		{1, 7, 7}, {0.1, 3, 0.3}, {0.1, 1_000_000_007, 100_000_000.7}, {0.25, 3, 0.75}, {0.5, 1, 0.5}, {2, 3, 6}, {20, 3, 60}, {1e-3, 12_345, 12.345},
		{1.0 / 3, 3, 1.0 / 3 * 3}, {0.1, 1 << 60, float64(1<<60) * 0.1}, {0.1, 0, 0}, {1e6, 5, 5e6},
	} {
		m := Manifest{Timestep: c.timestep}
		require.Equal(t, c.want, m.Time(c.burst), "%v times %d", c.timestep, c.burst)
	}
	m := Manifest{Timestep: 0.1}
	product := m.Timestep * 3 // at run time: constants are exact
	require.NotEqual(t, product, m.Time(3), "the plain product is not")
}
