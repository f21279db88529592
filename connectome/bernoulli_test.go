package connectome

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestGapsAreExact: the quicker logarithm gives the gaps of the exact one, also for words beside every whole quotient, at the ends, and
// where p is tiny or almost 1.
func TestGapsAreExact(t *testing.T) {
	slow.Short(t)
	r := rand.New(rand.NewPCG(5, 2))
	for _, p := range []float64{0.001, 1e-300, 5e-324, 1e-17, 1e-12, 1e-9, 3e-5, 0.02, 0.1, 1.0 / 3, 0.5, 0.75, 0.9, 0.999, 1 - 0x1p-53} {
		var g geometric
		g.prepare(p)
		check := func(x uint64) {
			want := math.Floor(exact.Log(1-exact.Uniform(x)) / g.log)
			if got := g.of(x); got != want {
				require.Equal(t, want, got, "p %v, word %#x", p, x)
			}
		}
		for k := range uint64(4096) {
			check(k << 11)
			check(-(1 + k) << 11)
			check(k << 52)
		}
		for range slow.Times(20_000, 3_000_000) {
			check(r.Uint64())
			check(r.Uint64() >> r.IntN(53)) // log near 0
			check(-r.Uint64()>>r.IntN(53) ^ math.MaxUint64)
			whole := float64(r.IntN(1 << r.IntN(20)))
			u := -math.Expm1(whole * g.log) // where the quotient is whole
			for near := range int64(9) {
				check(uint64(int64(u*0x1p53)+near-4) << 11)
			}
		}
	}
}

// TestRowsBesideEachOther: rows drawn in lanes are those drawn one by one, whatever rows are asked for, in turn and of several rules.
func TestRowsBesideEachOther(t *testing.T) {
	var b batch
	for _, p := range []float64{1e-6, 0.003, 0.04, 0.5, 0.9, 1 - 0x1p-53} {
		for _, both := range []bool{false, true} {
			rule, err := newBernoulli(nil, &wiring{p: &genome.Projection{P: p, Symmetric: both}, ends: ends{sources: 1009, targets: 1009, seed: 77, stream: 5}})
			require.NoError(t, err)
			r := rule.(*bernoulli)
			require.Greater(t, r.lanes, uint64(1))
			drawn := 0
			for _, span := range [][2]uint64{{10, 100}, {100, 103}, {90, 131}, {996, 1009}, {5, 40}} {
				for s := span[0]; s < span[1]; s++ {
					var want []uint32
					for c := r.jump(s*r.targets, r.start(s)); c < r.targets; c = r.jump(s*r.targets, c+1) {
						want = append(want, uint32(c))
					}
					if got, ok := r.ahead(s, span[1], &b); ok {
						drawn++
						require.True(t, slices.Equal(want, got), "p %v, both %v, source %d of %v", p, both, s, span)
					}
				}
			}
			require.Greater(t, drawn, 150, "of 182 rows")
		}
	}
	dense, err := newBernoulli(nil, &wiring{p: &genome.Projection{P: 0.5}, ends: ends{sources: 9, targets: 1 << 20}})
	require.NoError(t, err)
	_, ok := dense.(*bernoulli).ahead(0, 9, &b)
	require.False(t, ok, "32 rows of half a million would take too much memory")
}
