package exact

import (
	"math"
	"testing"
)

// goldenBits are argument and result as bits; they hold on every processor.
var goldenBits = []struct {
	name    string
	f       func(float64) float64
	x, want uint64
}{
}

func TestGoldenBits(t *testing.T) {
	for _, g := range goldenBits {
		x := math.Float64frombits(g.x)
		if got := math.Float64bits(g.f(x)); got != g.want {
			t.Errorf("%s(%v): bits %#016x, want %#016x", g.name, x, got, g.want)
		}
	}
}
