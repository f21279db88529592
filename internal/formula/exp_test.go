package formula

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestExp holds exp of a burst to float64's within two units of the last place, and to what it is at its ends.
func TestExp(t *testing.T) {
	d, faults := Define(one("v = exp(in)", "v > 1e9", ""))
	require.Empty(t, faults)
	_, faults = Define(one("v = exp(in) + exp(v) + exp(w) + exp(p) + exp(q) + exp(-in) + exp(-v) + exp(-w) + exp(-p) + exp(-q)", "v > 1e9", ""))
	require.Empty(t, faults, "ten fit into a model")
	r := NewRunner(d.Program)
	exp := func(x float32) float32 {
		n := &Neuron{State: []float32{0, 0}, Params: make([]float32, len(d.Program.Params)), Inputs: []float32{x}}
		r.Run(n, n.State)
		return n.State[0]
	}
	worst := 0.0
	for x := float32(-87.3); x < 88.7; x += 0.00173 {
		want := math.Exp(float64(x))
		worst = max(worst, math.Abs(float64(exp(x))-want)/want)
	}
	require.Less(t, worst, 2*0x1p-23)
	t.Logf("within %.2f units of the last place", worst/0x1p-23)
	for x := float32(-104); x < -87.3; x += 0.00171 {
		require.InDelta(t, math.Exp(float64(x)), float64(exp(x)), 2*0x1p-149, "%v: subnormal", x)
	}
	inf := float32(math.Inf(1))
	for x, want := range map[float32]float32{0: 1, -104: 0, -1e30: 0, -inf: 0, 89: inf, 1e30: inf, inf: inf} {
		require.Equal(t, want, exp(x), "%v", x)
	}
	require.True(t, math.IsNaN(float64(exp(float32(math.NaN())))))
	last := exp(-88.8)
	for x := float32(-88.8); x < 88.8; x += 0.0137 {
		require.GreaterOrEqual(t, exp(x), last, "%v: falls", x)
		last = exp(x)
	}
}
