package stats

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/stat"
)

// TestMoments compares with gonum's, also where the mean is large and the deviations are small.
func TestMoments(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, offset := range []float64{0, -3, 1e9} {
		for _, n := range []int{2, 3, 1000} {
			x := make([]float64, n)
			for i := range x {
				x[i] = offset + r.NormFloat64()
			}
			mean, sum := squaresOf(x)
			require.InEpsilon(t, stat.Mean(x, nil), mean, 1e-12)
			require.Equal(t, mean, meanOf(x))
			require.InEpsilon(t, stat.Variance(x, nil), sum/float64(n-1), 1e-12)
		}
	}
	mean, sum := squaresOf([]float64{7})
	require.Equal(t, []float64{7, 0}, []float64{mean, sum})
}
