package connectome

import (
	"math"
	"math/rand/v2"
	"testing"

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
