package exact

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Many draws at a time are the draws one by one: with indices and t beyond 32 bits, across the carry of an index's lower
// half, for lengths that fill no step, by AVX-512, AVX2 and plain code.
func TestStreamEqualsSingleDraws(t *testing.T) {
	const seed, late = 0x9e3779b97f4a7c15, 0xabcdef_00000007
	for wide := range wideness() + 1 {
		s := NewStream(seed, WeightDraw, late)
		s.wide = wide
		for _, first := range []uint64{0, 77, 1<<32 - 5, 0xfffffff1_fffffff3, 1<<64 - 9} {
			for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 63, 1001} {
				x, y, alone := make([]uint64, n), make([]uint64, n), make([]uint64, n+1)
				s.XY(first, x, y)
				alone[n] = 0x5ca1ab1e
				s.X(first, alone[:n])
				picked, index := make([]uint64, n+1), make([]uint64, n)
				picked[n] = 0x5ca1ab1e
				for i := range index {
					index[i] = first - uint64(i*i*i)<<29
				}
				s.Pick(index, picked)
				for i := range n {
					wantX, wantY := Words(seed, WeightDraw, first+uint64(i), late)
					require.Equal(t, [2]uint64{wantX, wantY}, [2]uint64{x[i], y[i]}, "wideness %v, draw %d of %d from %d", wide, i, n, first)
					wantX, _ = Words(seed, WeightDraw, index[i], late)
					require.Equal(t, wantX, picked[i], "wideness %v, pick %d of %d from %d", wide, i, n, first)
					wantX, _ = Words(seed, WeightDraw, first+uint64(i), late)
					require.Equal(t, wantX, alone[i], "wideness %v, draw %d of %d from %d, x alone", wide, i, n, first)
				}
				require.EqualValues(t, 0x5ca1ab1e, alone[n], "nothing is written beyond")
				require.EqualValues(t, 0x5ca1ab1e, picked[n], "nothing is written beyond")
			}
		}
	}
}
