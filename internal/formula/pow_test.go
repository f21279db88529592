package formula

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// function runs a function of the language of one or two numbers.
func function(t *testing.T, text string) func(x, y float32) float32 {
	d, faults := Define(one("v = "+text, "v > 1e9", ""))
	require.Empty(t, faults)
	r := NewRunner(d.Program)
	n := &Neuron{State: []float32{0, 0}, Params: make([]float32, len(d.Program.Params)), Inputs: []float32{0}}
	next := make([]float32, 2)
	return func(x, y float32) float32 {
		n.Inputs[0], n.State[1] = x, y
		r.Run(n, next)
		return next[0]
	}
}

// units says by how many units of the last place got is off; below 2^−126 these are 2^−149.
func units(got float32, want float64) float64 {
	if math.Abs(want) > math.MaxFloat32 && math.IsInf(float64(got), int(math.Copysign(1, want))) {
		return 0
	}
	_, e := math.Frexp(want)
	return math.Abs(float64(got)-want) / math.Ldexp(1, max(e-24, -149))
}

// TestLog holds log of a burst to float64's within a unit of the last place, and to what it is at its ends.
func TestLog(t *testing.T) {
	log := function(t, "log(in)")
	worst := 0.0
	check := func(x float32) { worst = max(worst, units(log(x, 0), math.Log(float64(x)))) }
	for x := float32(0.4); x < 2.6; x += 0x1p-15 {
		check(x)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		check(math.Float32frombits(uint32(r.Int32N(0x7f800000-1)) + 1))
	}
	require.Less(t, worst, 1.0)
	t.Logf("within %.3f units of the last place", worst)
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for x, want := range map[float32]float32{1: 0, inf: inf, 0: -inf, -0x1p-149: nan, -inf: nan} {
		require.True(t, same(want, log(x, 0)), "log %v: %v", x, log(x, 0))
	}
	require.True(t, same(nan, log(nan, 0)))
	require.Equal(t, -inf, log(float32(math.Copysign(0, -1)), 0))
}

// TestPow holds pow of a burst to float64's within a unit of the last place, and at its ends to C's powf.
func TestPow(t *testing.T) {
	pow := function(t, "pow(in, w)")
	worst := 0.0
	var atX, atY float32
	check := func(x, y float32) {
		want := math.Pow(float64(x), float64(y))
		if u := units(pow(x, y), want); u > worst {
			worst, atX, atY = u, x, y
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		x := math.Float32frombits(uint32(r.Int32N(0x7f800000-1)) + 1)
		check(x, float32(150*(2*r.Float64()-1)/math.Log2(float64(x))))
		near := float32(0.6 + r.Float64())
		check(near, float32(150*(2*r.Float64()-1)/math.Log2(float64(near))))
		check(float32(200*r.Float64()), float32(4*r.Float64()-2))
	}
	for n := -20; n <= 20; n++ {
		for x := float32(-12); x <= 12; x += 0.5 {
			check(x, float32(n))
		}
	}
	require.Less(t, worst, 1.0, "%v, %v: %v", atX, atY, pow(atX, atY))
	t.Logf("within %.3f units of the last place", worst)
	ends := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 1e30, -1e30, 1e-30, 16777215, -16777215, 8388607, -8388609,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, 0x1p-149, 0x1.fffffep-1, 0x1.000002p0}
	for _, x := range ends {
		for _, y := range ends {
			want := math.Pow(float64(x), float64(y))
			got := pow(x, y)
			require.True(t, same(float32(want), got) || units(got, want) < 1, "pow(%v, %v): %v, not %v", x, y, got, want)
		}
	}
}

// TestPowOfConstants is pow under constants, in float64.
func TestPowOfConstants(t *testing.T) {
	for _, x := range []float64{0, 0.3, 1, 2, 70.5, -1, -2, -0.7} {
		for _, y := range []float64{0, 1, 2, 3, -1, -2, 0.5, -0.7, 2.25, 21} {
			n, m := parse("pow(a, b)", InConstants)
			require.Nil(t, m)
			want := math.Pow(x, y)
			got := n.value(map[string]float64{"a": x, "b": y})
			if want != want || math.IsInf(want, 0) {
				require.True(t, want == got || want != want && got != got, "pow(%v, %v): %v, not %v", x, y, got, want)
				continue
			}
			require.InDelta(t, want, got, 1e-13*math.Abs(want), "pow(%v, %v)", x, y)
		}
	}
}

// TestSizes: two powers fit into a model.
func TestSizes(t *testing.T) {
	size := func(text string) int {
		d, faults := Define(one("v = "+text, "v > 1e9", ""))
		require.Empty(t, faults)
		return len(d.Program.Code) - 8
	}
	t.Logf("exp %d, log %d, pow %d, tanh %d, floor %d, sin %d, cos %d operations", size("exp(in)"), size("log(in)"), size("pow(in, w)"),
		size("tanh(in)"), size("floor(in)"), size("sin(in)"), size("cos(in)"))
	require.Less(t, size("pow(in, w) + pow(w, in)"), maxCode)
}

// same reports that two numbers are equal, or both NaN.
func same(a, b float32) bool { return a == b || a != a && b != b }
