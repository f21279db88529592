package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// number is the precision that a law is run in.
type number interface{ ~float32 | ~float64 }

// twins runs a law in float32 and in float64 on the same inputs and compares spikes and potentials.
func twins(bursts int, input func() float64, single, double func(float64) (fires bool, v float64)) (spikes [2]int, together int, apart float64) {
	for range bursts {
		x := input()
		f, v := single(x)
		g, w := double(x)
		if f {
			spikes[0]++
		}
		if g {
			spikes[1]++
		}
		if f && g {
			together++
		}
		apart = max(apart, math.Abs(v-w)) // one that fires a burst earlier counts in full
	}
	return spikes, together, apart
}

// lif and psc are laws of package engine in any precision; constants are worked out in float64 as the builder does.
func lif[T number]() func(float64) (bool, float64) {
	em1, v, r := T(math.Expm1(-0.1/20)), T(0), 0
	return func(x float64) (bool, float64) {
		if r > 0 {
			r--
			return false, float64(v)
		}
		if v = v + T(em1*v) + T(x); v >= 20 {
			v, r = 10, 20
			return true, float64(v)
		}
		return false, float64(v)
	}
}

func psc[T number]() func(float64) (bool, float64) {
	const tau, s, c, dt = 10, 0.5, 250, 0.1
	em1, p11 := T(math.Expm1(-dt/tau)), T(math.Exp(-dt/s))
	p21 := T(tau * s / (tau - s) / c * (math.Exp(-dt/tau) - math.Exp(-dt/s)))
	v, i, r := T(0), T(0), 0
	return func(x float64) (bool, float64) {
		if r > 0 {
			r--
		} else {
			v = v + T(em1*v) + T(p21*i)
		}
		i = T(p11*i) + T(x)
		if v >= 15 {
			v, r = 0, 20
			return true, float64(v)
		}
		return false, float64(v)
	}
}

func izhikevich[T number]() func(float64) (bool, float64) {
	a, b, v, u := T(0.02), T(0.2), T(-65), T(-13)
	return func(x float64) (bool, float64) {
		for range 2 {
			v = v + T(0.5*(T(T(0.04*v)*v)+T(5*v)+140-u+T(x)))
		}
		u = u + T(a*(T(b*v)-u))
		if v >= 30 {
			v = -65
			u += 8
			return true, float64(v)
		}
		return false, float64(v)
	}
}

// TestFloat32 holds float32 to a float64 run of the same law: docs/models.md quotes what it logs.
func TestFloat32(t *testing.T) {
	poisson := func(mean, weight float64) func() float64 {
		r := rand.New(rand.NewPCG(7, 8))
		return func() float64 {
			n, p := 0, r.Float64()
			for term := math.Exp(-mean); p > term; n++ {
				p -= term
				term *= mean / float64(n+1)
			}
			return weight * float64(n)
		}
	}
	noise := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		model          string
		input          func() float64
		single, double func(float64) (bool, float64)
		rate           float64 // largest relative difference of the rates
		together       float64 // least share of spikes in the same burst
	}{
		{"lif", poisson(1.0, 0.15), lif[float32](), lif[float64](), 0.001, 0.99},
		{"lif_psc_exp", poisson(1.68, 100), psc[float32](), psc[float64](), 0.001, 0.99},
		{"izhikevich", func() float64 { return 5 * noise.NormFloat64() }, izhikevich[float32](), izhikevich[float64](), 0.01, 0.9},
	} {
		spikes, together, apart := twins(2_000_000, c.input, c.single, c.double)
		t.Logf("%s: %d spikes in float32, %d in float64, %d in the same burst, potentials apart by up to %.2g mV", c.model, spikes[0], spikes[1], together, apart)
		require.Greater(t, spikes[1], 1000, c.model)
		require.InEpsilon(t, spikes[1], spikes[0], c.rate, c.model)
		require.Greater(t, float64(together), c.together*float64(spikes[1]), c.model)
	}
}
