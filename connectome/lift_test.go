package connectome

import (
	"fmt"
	"testing"

	"burst/genome"
	"burst/internal/quanta"

	"github.com/stretchr/testify/require"
)

// Amounts onto an area that rectifies are sent so that acc tells cancelled inputs from none, and gives the sum back.
func TestLift(t *testing.T) {
	for by := int64(1); by <= 64; by *= 2 {
		for low := range by { // amounts ≤ 0 of a burst
			for sum := int64(-3); sum <= 3; sum++ {
				acc, rest := int64(0), sum
				for range low {
					acc, rest = acc+lift(-2, by), rest+2
				}
				for ; rest > 0; rest-- {
					acc += lift(1, by)
				}
				if rest < 0 {
					continue // needs more amounts below 0
				}
				require.Equal(t, sum, int64(Unlift(int32(acc), by)), "M %d, %d amounts below 0", by, low)
				require.Equal(t, low == 0 && sum == 0, acc == 0)
			}
		}
	}
	require.Equal(t, int32(-7), Unlift(-7, 0))
	require.Equal(t, int64(-7), lift(-7, 0))
	require.Equal(t, int64(quanta.Overflow), lift(quanta.Overflow, 4))
}

// M is above the amounts ≤ 0 that can come: two synapses of weight −1, one of weight 0 and what a caller injects make 4.
func TestLifts(t *testing.T) {
	text := func(rectify bool) string {
		return fmt.Sprintf(`burst: v1
scale: auto
areas:
  - {name: a, size: [2, 1, 1], psp: 0.9}
  - {name: b, size: [1, 1, 1], rectify: %v}
projections:
  - {from: a, to: b, rule: all_to_all, weight: -1}
  - {from: a, to: b, rule: vectors, vectors: [[0, 0, 0]], weight: 0}
  - {from: a, to: b, rule: all_to_all, weight: 3}
`, rectify)
	}
	made := func(rectify bool) *Connectome {
		g, err := genome.Parse("lift.yaml", []byte(text(rectify)), nil)
		require.NoError(t, err)
		return build(t, g)
	}
	plain, lifted := made(false), made(true)
	require.Equal(t, int32(1<<20), plain.Scale)
	require.False(t, plain.Areas[1].Lifted())
	require.Equal(t, int32(10<<16), lifted.Scale, "nine tenths are whole quanta")
	require.Equal(t, float32(8), lifted.Areas[1].Constant("rectify").Const)
	unit := int32(9 << 16)
	require.ElementsMatch(t, []int32{-8*unit - 1, 8 * 3 * unit, -1, -8*unit - 1, 8 * 3 * unit}, lifted.Weight)
	require.Equal(t, int64(8*5), lifted.Areas[1].Lift(5))
	require.NotEqual(t, plain.Hash(), lifted.Hash())
}
