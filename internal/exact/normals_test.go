package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Many normal numbers at a time are those one by one: in the centre, in the tails, at the edges of their ranges and at the ends, for
// lengths that fill no step.
func TestNormalsEqualSingleOnes(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	edge := func(k uint64) []uint64 { return []uint64{k << 11, k<<11 | 2047, ^(k << 11)} }
	var edges []uint64
	for _, k := range []uint64{0, 1, 2, 1<<52 - 1, 1 << 52, centreFrom - 1, centreFrom, centreFrom + 1} {
		edges = append(edges, edge(k)...)
	}
	beyond := uint64(math.Exp(-25) * 0x1p53)
	for k := beyond - 50; k < beyond+50; k++ {
		edges = append(edges, edge(k)...)
	}
	for k := uint64(1); k < 1<<52; k = k*5/4 + 1 {
		edges = append(edges, edge(k)...)
	}
	for _, share := range []int{0, 1, 3, 100} { // per cent that are edges
		for _, n := range []int{0, 1, 3, 4, 5, 255, 256, 257, 1023, 20_000} {
			words, z := make([]uint64, n), make([]float64, n+1)
			for i := range words {
				words[i] = r.Uint64()
				if r.IntN(100) < share {
					words[i] = edges[r.IntN(len(edges))]
				}
			}
			z[n] = 77
			Normals(words, z)
			for i, x := range words {
				require.Equal(t, math.Float64bits(Normal(x)), math.Float64bits(z[i]), "%#x, %d of %d", x, i, n)
			}
			require.EqualValues(t, 77, z[n], "nothing is written beyond")
		}
	}
}

func BenchmarkNormals(b *testing.B) {
	words, z := make([]uint64, 1024), make([]float64, 1024)
	r := rand.New(rand.NewPCG(5, 6))
	for i := range words {
		words[i] = r.Uint64()
	}
	b.Run("many", func(b *testing.B) {
		for b.Loop() {
			Normals(words, z)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/number")
	})
	b.Run("single", func(b *testing.B) {
		for b.Loop() {
			for i, x := range words {
				z[i] = Normal(x)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1024, "ns/number")
	})
}
