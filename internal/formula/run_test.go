package formula

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInstructions holds every instruction to its meaning where processors differ: zeros of both signs, NaN, subnormals.
func TestInstructions(t *testing.T) {
	nan, inf, zero := float32(math.NaN()), float32(math.Inf(1)), float32(math.Copysign(0, -1))
	tiny := math.Float32frombits(1)
	for _, c := range []struct {
		name string
		op   Op
		a, b float32
		want float32
		why  string
	}{
		{"min of zeros", Min, zero, 0, 0, "neither is less: the second"},
		{"min of zeros, turned", Min, 0, zero, zero, "neither is less: the second"},
		{"max of zeros", Max, 0, zero, zero, "neither is more: the second"},
		{"min, NaN first", Min, nan, 3.7, 3.7, "a comparison with NaN is false: the second"},
		{"max, NaN second", Max, 3.7, nan, nan, "a comparison with NaN is false: the second"},
		{"neg of zero", Neg, 0, 0, zero, "the sign bit turns over; 0 − 0 would be 0"},
		{"abs of −0", Abs, zero, 0, 0, "the sign bit is cleared"},
		{"subnormal product", Mul, 0x1p-100, 0x1p-49, tiny, "subnormal numbers are kept"},
		{"half of the least", Mul, tiny, 0.5, 0, "a tie goes to even"},
		{"quotient by −0", Div, 1.3, zero, -inf, "as IEEE 754 has it"},
		{"root of a subnormal", Sqrt, tiny, 0, 0x1.6a09e6p-75, "correctly rounded"},
		{"sum rounds to even", Add, 1 << 24, 1, 1 << 24, "a tie goes to even"},
	} {
		got := compute(c.op, c.a, c.b)
		if c.want != c.want {
			require.True(t, got != got, "%s: %v, want NaN: %s", c.name, got, c.why)
			continue
		}
		require.Equal(t, math.Float32bits(c.want), math.Float32bits(got), "%s: %v, want %v: %s", c.name, got, c.want, c.why)
	}
	require.False(t, compare(Equal, nan, nan))
	require.True(t, compare(Equal, zero, 0), "−0 equals 0")
	require.False(t, compare(LessEqual, nan, 1))
}

// TestRun runs a program by hand: V decays by a parameter and takes the input; it fires at 2 unless refractory.
func TestRun(t *testing.T) {
	b := newBuilder()
	v := b.apply(Add, b.apply(Mul, b.load(State, 0), b.load(Param, 1)), b.load(Input, 0))
	held := b.apply(Select, b.load(Refractory, 0), b.load(State, 0), v)
	fires := b.apply(And, b.apply(LessEqual, b.constant(2), held), b.apply(Not, b.load(Refractory, 0)))
	p := b.finish([]Ref{b.apply(Select, fires, b.constant(-0.3), held)}, fires, []string{"unused", "keep"}, 1)
	require.Equal(t, []string{"keep"}, p.Params, "what nothing loads is dropped")

	r := NewRunner(p)
	n := &Neuron{State: []float32{0.5}, Params: []float32{0.7}, Inputs: []float32{1.25}}
	require.False(t, r.Run(n, n.State))
	require.Equal(t, float32(float32(0.5)*float32(0.7))+1.25, n.State[0])
	require.True(t, r.Run(n, n.State))
	require.Equal(t, float32(-0.3), n.State[0], "reset")
	n.Refractory, n.Inputs[0] = true, 9
	require.False(t, r.Run(n, n.State))
	require.Equal(t, float32(-0.3), n.State[0], "held")
}
