package formula

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/slow"
)

// shortcut is pow by a machine that has fused steps and exponents; whether it may be taken.
func shortcut(s *Shortcut, x, y float32) (p float32, fits bool) {
	if size := math.Abs(float64(y)); !(Low <= x && x <= High && Small <= size && size <= Large) {
		return 0, false
	}
	fraction, whole := math.Frexp(float64(x))
	m, e := float32(2*fraction), whole-1
	if Most < m {
		m, e = m/2, e+1
	}
	values := make([]float32, len(s.Code))
	for i, in := range s.Code {
		a, b, c := values[in.A], values[in.B], values[in.C]
		switch in.Op {
		case Const:
			values[i] = in.Value
		case Input:
			values[i] = [...]float32{m, float32(e), y}[in.K]
		case Fused: // a·b is exact in 64 bits, and so is the difference from its rounded self
			values[i] = float32(float64(a)*float64(b) + float64(c))
		default:
			values[i] = compute(in.Op, a, b)
		}
	}
	return float32(math.Ldexp(float64(values[s.Number]), int(values[s.Exponent]))), math.Abs(float64(values[s.Log])) <= MostLog
}

// TestPowerShortcut: where it may be taken, it has the bits of pow.
func TestPowerShortcut(t *testing.T) {
	pow, s := function(t, "pow(in, w)"), PowerShortcut()
	r := rand.New(rand.NewPCG(5, 6))
	any := func(low, high float64) float32 {
		return float32(math.Exp2(low + (high-low)*r.Float64()))
	}
	taken := 0
	check := func(x, y float32) {
		if p, fits := shortcut(&s, x, y); fits {
			taken++
			if want := pow(x, y); math.Float32bits(p) != math.Float32bits(want) {
				require.Equal(t, want, p, "pow(%v, %v)", x, y)
			}
		}
	}
	n := slow.Times(20_000, 300_000)
	for range n {
		sign := float32(1 - 2*r.IntN(2))
		check(any(-100, 100), sign*any(-60, 20))
		check(any(-100, 100), sign*any(-8, 1))
		check(any(-0.6, 0.6), sign*any(-20, 20))
		check(float32(200*r.Float64()), float32(r.Float64()))
		check(1+float32(r.IntN(65)-32)*0x1p-23, sign*any(-60, 20)) // next to 1
		check(float32(math.Ldexp(1, r.IntN(201)-100)), float32(r.IntN(41)-20)/8)
		check(float32(r.IntN(1000)), float32(r.IntN(41)-20)/4)
	}
	require.Greater(t, taken, 4*n)
}

// TestPowers finds pow in programs, and not where something else needs a part of it.
func TestPowers(t *testing.T) {
	for text, want := range map[string]int{
		"pow(in, w)": 1, "pow(in, 0.4)": 1, "pow(in, 2)": 1, "in*w": 0, "exp(in)": 0, "pow(in, w) + pow(w + 1, in + 1)": 2,
		"pow(in, w) + pow(in, w + 1)": 0, // which share the logarithm
	} {
		d, faults := Define(one("v = "+text, "v > 1e9", ""))
		require.Empty(t, faults)
		list := d.Program.Powers()
		require.Len(t, list, want, text)
		for _, p := range list {
			require.Equal(t, p.Result, p.Inside[len(p.Inside)-1])
			require.Greater(t, len(p.Inside), 250, text)
		}
	}
}
