package connectome

import (
	"flag"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
	"burst/internal/slow"
)

var long = flag.Bool("long", false, "10^6 networks rather than 8,000 in the overflow test")

// TestR17NoSumWraps builds networks of extreme weights, scales and fan-ins: one is refused exactly where a sum, added up in big
// integers, could leave int32, and what is built has bounds that hold.
func TestR17NoSumWraps(t *testing.T) {
	slow.Short(t)
	cases := slow.Times(2_000, 8_000)
	if *long && !testing.Short() {
		cases = 1_000_000
	}
	r := rand.New(rand.NewPCG(17, 0x77726170))
	refused, widest := 0, uint64(0) // the widest fan-in met
	for i := range cases {
		n := 1 + r.Uint64N(40)
		if i%1000 == 0 {
			n = 1 << (10 + r.IntN(11))
		}
		widest = max(widest, n)
		weights := []float64{math.Pow(10, -2+8*r.Float64()), -math.Pow(10, -2+8*r.Float64())}
		g := network(1, areaOf("feagi", n), areaOf("feagi", 1))
		g.Scale = 1 << r.IntN(25)
		sum := new(big.Int)
		var list []genome.Projection
		zero := false
		for _, w := range weights[:1+r.IntN(2)] {
			list = append(list, genome.Projection{To: 1, Rule: genome.AllToAll, Weight: constant(w)})
			q := math.Round(math.Abs(w) * float64(g.Scale)) // ties do not matter to this proof: Build is asked below
			zero = zero || q == 0
			quanta, _ := big.NewFloat(q).Int(nil)
			sum.Add(sum, quanta.Mul(quanta, new(big.Int).SetUint64(n)))
		}
		c, err := Build(g.join(list...), Options{Threads: 1})
		switch {
		case zero:
			require.Error(t, err)
		case sum.Cmp(big.NewInt(math.MaxInt32)) > 0:
			require.Error(t, err, "case %d: %v quanta were accepted", i, sum)
			refused++
		default:
			require.NoError(t, err, "case %d: %v quanta", i, sum)
			require.EqualValues(t, sum.Uint64(), c.Bound[c.Ports-1], "case %d", i)
		}
	}
	require.Greater(t, refused, cases/20)
	t.Logf("R17: %d networks, %d refused, fan-in up to %d: none that could wrap was built, none that could not was refused", cases, refused, widest)
}

// TestOverflowTellsTheScaleInDigits, as a genome has it.
func TestOverflowTellsTheScaleInDigits(t *testing.T) {
	g := network(1, areaOf("feagi", 2)).join(genome.Projection{Rule: genome.OneToOne, Weight: constant(200)})
	g.Scale = 1 << 24
	_, err := Build(g, Options{})
	require.ErrorContains(t, err, "at scale 16777216; the largest scale that fits is 10737418")
}
