package formula

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// trigonometry are functions of one number, with what holds them and the largest size of what they are taken of.
var trigonometry = []struct {
	name string
	want func(float64) float64
	most float32
}{
	{"sin", math.Sin, maxAngle}, {"cos", math.Cos, maxAngle}, {"tanh", math.Tanh, math.MaxFloat32}, {"floor", math.Floor, math.MaxFloat32},
}

// TestTrigonometry holds sin, cos, tanh and floor of a burst to float64's within a unit of the last place: of numbers of all sizes,
// and of those that are nearest to multiples of π/2. With BURST_EVERY_FLOAT32=1 it tries every number.
func TestTrigonometry(t *testing.T) {
	every, _ := strconv.ParseBool(os.Getenv("BURST_EVERY_FLOAT32"))
	for _, f := range trigonometry {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			run := function(t, f.name+"(in)")
			worst, at := 0.0, float32(0)
			check := func(x float32) {
				if u := units(run(x, 0), f.want(float64(x))); !(u <= worst) {
					worst, at = u, x
				}
			}
			last := math.Float32bits(f.most)
			if every {
				for bits := range last + 1 {
					check(math.Float32frombits(bits))
					check(-math.Float32frombits(bits))
				}
			}
			r := rand.New(rand.NewPCG(7, 8))
			for range 60_000 {
				x := math.Float32frombits(r.Uint32N(last + 1))
				check(x)
				check(-x)
				check(float32(12 * (2*r.Float64() - 1)))
			}
			for k := range 41_722 {
				x := float32(float64(k) * math.Pi / 2)
				check(x)
				check(-math.Nextafter32(x, 0))
			}
			require.Less(t, worst, 1.0, "%v: %v", at, run(at, 0))
			t.Logf("within %.3f units of the last place, %v", worst, at)
		})
	}
}

// TestTrigonometryEnds: zeros of both signs, infinities, NaN, and angles that are too large.
func TestTrigonometryEnds(t *testing.T) {
	inf, nan, zero := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	above := math.Nextafter32(maxAngle, inf)
	for text, ends := range map[string]map[float32]float32{
		"sin(in)":   {0: 0, zero: zero, inf: nan, -inf: nan, above: nan, -above: nan, 0x1p-149: 0x1p-149},
		"cos(in)":   {0: 1, inf: nan, -inf: nan, above: nan, -above: nan, 0x1p-149: 1},
		"tanh(in)":  {0: 0, inf: 1, -inf: -1, 0x1p-149: 0x1p-149, 9: 0x1.fffffep-1, 9.1: 1, -9.1: -1},
		"floor(in)": {0: 0, inf: inf, -inf: -inf, 0.5: 0, -0.5: -1, 1.5: 1, -1.5: -2, 2.5: 2, 8388607.5: 8388607, -8388607.5: -8388608, -0x1p-149: -1, 0x1.fffffep-1: 0},
	} {
		run := function(t, text)
		for x, want := range ends {
			got := run(x, 0)
			require.True(t, same(want, got), "%s of %v: %v, not %v", text, x, got, want)
		}
		require.True(t, same(nan, run(nan, 0)), text)
	}
	for _, text := range []string{"sin(in)", "tanh(in)", "floor(in)"} {
		require.Equal(t, math.Float32bits(zero), math.Float32bits(function(t, text)(zero, 0)), "%s of −0", text)
	}
}

// TestTrigonometryOfConstants is the same under constants, in float64.
func TestTrigonometryOfConstants(t *testing.T) {
	of := func(what string, x float64) float64 {
		n, m := parse(what+"(a)", InConstants)
		require.Nil(t, m)
		return n.value(map[string]float64{"a": x})
	}
	for x := -100.0; x < 100; x += 0.37 {
		for _, f := range trigonometry {
			require.InDelta(t, f.want(x), of(f.name, x), 4e-16, "%s(%v)", f.name, x)
		}
		require.InDelta(t, math.Sin(655*x), of("sin", 655*x), 4e-16, x)
		require.InDelta(t, math.Cos(655*x), of("cos", 655*x), 4e-16, x)
		require.InEpsilon(t, math.Tanh(x*1e-5), of("tanh", x*1e-5), 1e-14, x)
	}
	for _, x := range []float64{65537, -65537, math.Inf(1), math.NaN()} {
		require.True(t, math.IsNaN(of("sin", x)) && math.IsNaN(of("cos", x)), x)
	}
}
