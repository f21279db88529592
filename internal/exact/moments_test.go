package exact

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMoments(t *testing.T) {
	of := func(list ...float32) [2]float64 {
		var m Moments
		m.Add(list)
		return [2]float64{m.Mean(), m.SD()}
	}
	require.Equal(t, [2]float64{}, of())
	require.Equal(t, [2]float64{-3, 0}, of(-3))
	require.Equal(t, [2]float64{3, 2}, of(1, 5, 1, 5))
	require.Equal(t, [2]float64{1.0 / 3, math.Sqrt(2.0 / 9)}, of(0, 1, 0), "rounded once")
	least := float32(math.SmallestNonzeroFloat32)
	require.Equal(t, [2]float64{float64(least), 0}, of(least, least, least))
	require.Equal(t, [2]float64{float64(least) / 3, math.MaxFloat32 * math.Sqrt(2.0/3)}, of(math.MaxFloat32, least, -math.MaxFloat32), "nothing is lost beside large numbers")

	many := make([]float32, 200_000) // whose squares do not fit 64 bits
	for i := range many {
		many[i] = 1.9999999
	}
	require.Equal(t, [2]float64{float64(many[0]), 0}, of(many...))

	r := rand.New(rand.NewPCG(1, 2))
	list := make([]float32, 20_000)
	for i := range list {
		list[i] = float32(math.Ldexp(r.Float64()-0.5, r.IntN(80)-40))
	}
	whole := of(list...)
	r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	require.Equal(t, whole, of(list...), "whatever the order")
	var parts Moments
	parts.Add(list[:7000])
	parts.Add(list[7000:])
	require.Equal(t, whole, [2]float64{parts.Mean(), parts.SD()})
	mean, squares := 0.0, 0.0
	for _, x := range list {
		mean += float64(x) / float64(len(list))
	}
	for _, x := range list {
		squares += (float64(x) - mean) * (float64(x) - mean) / float64(len(list))
	}
	require.InEpsilon(t, mean, whole[0], 1e-9)
	require.InEpsilon(t, math.Sqrt(squares), whole[1], 1e-9)
}

func BenchmarkMoments(b *testing.B) {
	list := make([]float32, 1<<20)
	for i := range list {
		list[i] = float32(i%977) / 977
	}
	b.SetBytes(4 << 20)
	for b.Loop() {
		var m Moments
		m.Add(list)
	}
}
