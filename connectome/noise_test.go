package connectome

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestNoiseCounts holds the thresholds of a normal drive to the normal distribution by the error function.
func TestNoiseCounts(t *testing.T) {
	counts := noiseCounts()
	require.Len(t, counts, 792)
	for k, c := range counts {
		edge := (float64(k-396) + 0.5) / 64
		p := 0.5 * math.Erfc(-edge/math.Sqrt2)
		require.InDelta(t, p*0x1p32, float64(c), 1.01, "threshold %d", k)
	}
}
