package quanta

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHalvesRoundAwayFromZero(t *testing.T) {
	cases := []struct {
		value, scale float64
		want         int64
	}{
		{0.0025, 1000, 3}, {-0.0025, 1000, -3}, {0.5, 1, 1}, {-0.5, 1, -1}, {0.49999999999999994, 1, 0},
		{2147483647, 1, math.MaxInt32}, {2147483647.5, 1, Overflow}, {-2147483648, 1, -Overflow}, {1e300, 1000, Overflow},
		{-1.7976931348623157e308, 1000, -Overflow}, {math.Copysign(0, -1), 1000, 0}, {5e-324, 1 << 24, 0},
	}
	for _, c := range cases {
		require.Equal(t, c.want, Of(c.value, c.scale), "%v at %v", c.value, c.scale)
	}
}

// TestAmountsBeyondInt32 tell the largest scale that holds them.
func TestAmountsBeyondInt32(t *testing.T) {
	for _, x := range []struct {
		amount float64
		says   string
	}{
		{2147483.647, ""}, {-2147483.6474, ""}, {2147483.648, "the largest scale that holds it is 999"}, {-4294968, "the largest scale that holds it is 499"},
		{2147483647, "the largest scale that holds it is 1"}, {2147483648, "not even scale: 1"}, {-1e300, "not even scale: 1"},
	} {
		if says := TooLarge(x.amount, 1000); x.says == "" {
			require.Empty(t, says, "%v", x.amount)
		} else {
			require.Contains(t, says, x.says)
		}
	}
	require.Equal(t, []int32{math.MaxInt32, -math.MaxInt32, 5, math.MaxInt32}, []int32{Clamp(Overflow), Clamp(-Overflow), Clamp(5), Clamp(math.MaxInt32)})
}

func TestAmountsOfNoQuanta(t *testing.T) {
	require.Empty(t, TooSmall(0, 1000))
	require.Empty(t, TooSmall(-0.0005, 1000))
	require.Equal(t, "0.0004 becomes 0 quanta at scale 1000; write scale: 1250 or more", TooSmall(0.0004, 1000))
	require.Equal(t, "-1e-09 becomes 0 quanta even at the largest scale, 16777216; use a smaller unit for the whole network", TooSmall(-1e-9, 1000))
}

func TestDelay(t *testing.T) {
	for bursts, want := range map[float64]float64{0.5: 1, 1.49: 1, 1.5: 2, 255.49: 255} {
		d, ok := Delay(bursts, MaxApart)
		require.True(t, ok)
		require.Equal(t, want, d)
	}
	for _, bursts := range []float64{0, 0.49, -1, 255.5, math.Inf(1), math.NaN()} {
		_, ok := Delay(bursts, MaxApart)
		require.False(t, ok, bursts)
	}
}

// TestOfIsNearest: rounding in one step gives what Nearest gives, at halves and beside them, for amounts of all sizes.
func TestOfIsNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		x := math.Ldexp(r.Float64()-0.5, r.IntN(40)-4)
		for _, x := range []float64{x, math.Trunc(x), math.Trunc(x) + 0.5, math.Nextafter(math.Trunc(x)+0.5, -1e9), math.Nextafter(math.Trunc(x)+0.5, 1e9)} {
			if want := Nearest(x); math.Abs(want) <= math.MaxInt32 {
				require.Equal(t, int64(want), Of(x, 1), "%v", x)
			}
		}
	}
}
