package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

func TestPhiloxGivesThePublishedVectors(t *testing.T) {
	cases := []struct {
		name    string // Random123's kat_vectors, philox4x32-10
		key     uint64
		counter [4]uint32
		want    [4]uint32
	}{
		{"zeros", 0, [4]uint32{}, [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{"ones", math.MaxUint64, [4]uint32{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
			[4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{"pi", 0x299f31d0a4093822, [4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	}
	for _, c := range cases {
		if got := Philox(c.key, c.counter); got != c.want {
			t.Errorf("%s: %08x, want %08x", c.name, got, c.want)
		}
	}
}

func TestDrawPutsEachPartInItsWord(t *testing.T) {
	got := Draw(0x1122334455667788, DelayDraw, 0xa1a2a3a4b1b2b3b4, 0x00c1c2c3d1d2d3d4)
	want := Philox(0x1122334455667788, [4]uint32{0xb1b2b3b4, 0xa1a2a3a4, 0xd1d2d3d4, 0x03c1c2c3})
	if got != want {
		t.Errorf("%08x, want %08x", got, want)
	}
	x, y := Words(0x1122334455667788, DelayDraw, 0xa1a2a3a4b1b2b3b4, 0x00c1c2c3d1d2d3d4)
	if got := [4]uint32{uint32(x), uint32(x >> 32), uint32(y), uint32(y >> 32)}; got != want {
		t.Errorf("as words %08x, want %08x", got, want)
	}
}

// function is one of the package's, the oracle it is held to and the range over which tests draw its argument.
type function struct {
	name      string
	f, oracle func(float64) float64
	arg       func(r *rand.Rand) float64
	ulp       float64
}

func functions() []function {
	span := func(lo, hi float64) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return lo + (hi-lo)*r.Float64() }
	}
	logSpan := func(lo, hi float64, both bool) func(*rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			x := math.Ldexp(1+r.Float64(), int(lo+(hi-lo)*r.Float64()))
			if both && r.Uint32()&1 == 1 {
				return -x
			}
			return x
		}
	}
	return []function{
		{"exp", Exp, math.Exp, span(-708, 709), 2},
		{"exp near 0", Exp, math.Exp, logSpan(-60, 1, true), 2},
		{"exp subnormal", Exp, math.Exp, span(-745, -708), 2},
		{"expm1", Expm1, math.Expm1, span(-40, 50), 2},
		{"tanh", Tanh, math.Tanh, span(-30, 30), 5},
		{"tanh near 0", Tanh, math.Tanh, logSpan(-60, 1, true), 5},
		{"sin near 0", Sin, math.Sin, logSpan(-60, -1, true), 2},
		{"cos near 0", Cos, math.Cos, logSpan(-60, -1, true), 2},
		{"expm1 far", Expm1, math.Expm1, span(40, 709), 2},
		{"expm1 near 0", Expm1, math.Expm1, logSpan(-60, 1, true), 2},
		{"expm1 at one", Expm1, math.Expm1, span(-1.1, 1.1), 2},
		{"log", Log, math.Log, logSpan(-1022, 1023, false), 2},
		{"log subnormal", Log, logOfSubnormal, logSpan(-1060, -1023, false), 2},
		{"log near 1", Log, math.Log, span(0.5, 2), 2},
		{"log1p", Log1p, math.Log1p, logSpan(-70, -1, true), 4},
		{"log1p far", Log1p, math.Log1p, logSpan(0, 60, false), 4},
	}
}

// logOfSubnormal scales first: package math's Log is wrong below 2^-1022 on amd64.
func logOfSubnormal(x float64) float64 { return math.Log(math.Ldexp(x, 80)) - 80*math.Ln2 }

// ulps is the distance of a and b in units in the last place of b.
func ulps(a, b float64) float64 {
	if a == b {
		return 0
	}
	unit := math.Nextafter(math.Abs(b), math.Inf(1)) - math.Abs(b)
	return math.Abs(a-b) / unit
}

func TestAccuracyAgainstPackageMath(t *testing.T) {
	for _, f := range functions() {
		r := rand.New(rand.NewPCG(7, 11))
		worst, at := 0.0, 0.0
		for range 200_000 {
			x := f.arg(r)
			if d := ulps(f.f(x), f.oracle(x)); d > worst || d != d {
				worst, at = d, x
			}
		}
		if !(worst <= f.ulp) {
			t.Errorf("%s: %.2f ulp at %v (%v, math has %v)", f.name, worst, at, f.f(at), f.oracle(at))
		}
	}
}

func TestEdges(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	cases := []struct {
		name    string
		f       func(float64) float64
		x, want float64
	}{
		{"exp(-inf)", Exp, -inf, 0},
		{"exp(inf)", Exp, inf, inf},
		{"exp(nan)", Exp, nan, nan},
		{"exp overflows", Exp, 709.785, inf},
		{"exp(0)", Exp, 0, 1},
		{"expm1(-0) keeps its sign", Expm1, math.Copysign(0, -1), math.Copysign(0, -1)},
		{"expm1(-inf)", Expm1, -inf, -1},
		{"expm1(inf)", Expm1, inf, inf},
		{"expm1(nan)", Expm1, nan, nan},
		{"log(0)", Log, 0, -inf},
		{"log(-1)", Log, -1, nan},
		{"log(inf)", Log, inf, inf},
		{"log(1)", Log, 1, 0},
		{"log of the least number", Log, 5e-324, -744.4400719213812},
		{"log1p(-1)", Log1p, -1, -inf},
		{"log1p(1e-300)", Log1p, 1e-300, 1e-300},
		{"quantile(0)", NormalQuantile, 0, -inf},
		{"quantile(1)", NormalQuantile, 1, inf},
		{"quantile(½)", NormalQuantile, 0.5, 0},
		{"quantile(2)", NormalQuantile, 2, nan},
		{"quantile(nan)", NormalQuantile, nan, nan},
	}
	for _, c := range cases {
		got := c.f(c.x)
		if math.Float64bits(got) != math.Float64bits(c.want) && !(got != got && c.want != c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestQuantileInvertsTheDistribution compares with one Newton step on package math's erfc, which is exact enough to
// show the quantile's own error.
func TestQuantileInvertsTheDistribution(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 100_000 {
		p := math.Exp(-math.Abs(r.NormFloat64()) * 40)
		if p > 0.5 || p < 1e-290 {
			continue
		}
		x := NormalQuantile(p)
		density := math.Exp(-x*x/2) / math.Sqrt(2*math.Pi)
		off := (math.Erfc(-x/math.Sqrt2)/2 - p) / density
		if limit := 2e-13 * math.Max(math.Abs(x), 1e-3); !(math.Abs(off) <= limit) {
			t.Fatalf("quantile(%v) = %v is off by %v", p, x, off)
		}
	}
}

func TestNormalIsFiniteAndSymmetric(t *testing.T) {
	for _, x := range []uint64{0, 1 << 11, 1<<63 - 1, 1 << 63, math.MaxUint64, 0x123456789abcdef0} {
		a, b := Normal(x), Normal(^x)
		if a != -b || !(math.Abs(a) < 8.3) || (x < 1<<63) != (a < 0) {
			t.Errorf("Normal(%#x) = %v, of the complement %v", x, a, b)
		}
	}
	if u := Uniform(math.MaxUint64); u != 1-0x1p-53 {
		t.Errorf("largest uniform is %v", u)
	}
}

// fold mixes bits into h (FNV-1a over 64-bit words).
func fold(h, bits uint64) uint64 { return (h ^ bits) * 0x100000001b3 }

// goldenArg is an argument without any rounding that could differ between machines.
func goldenArg(name string, i uint64) float64 {
	w := Draw(99, Wiring, i, 0)
	u := float64(uint64(w[1])<<21|uint64(w[0])>>11) * 0x1p-53
	switch name {
	case "exp":
		return float64(1400*u) - 700
	case "expm1":
		return float64(80*u) - 40
	case "log":
		return math.Float64frombits(uint64(w[2]%2046+1)<<52 | uint64(w[0])<<20 | uint64(w[1])>>12)
	case "log1p":
		return float64(2*u) - 1
	}
	return u
}

var goldenFunctions = []struct {
	name string
	f    func(float64) float64
	hash uint64
}{
	{"exp", Exp, 0xd19cfdc6599d6ba8},
	{"expm1", Expm1, 0x6d2fb1c93bb42689},
	{"log", Log, 0xf0fe2fb1f773b3dc},
	{"log1p", Log1p, 0x309124f463ebd827},
	{"quantile", NormalQuantile, 0x06106ae5cd110c9f},
}

func TestGoldenHashOver100000Arguments(t *testing.T) {
	for _, g := range goldenFunctions {
		h := uint64(0xcbf29ce484222325)
		for i := range uint64(100_000) {
			h = fold(h, math.Float64bits(g.f(goldenArg(g.name, i))))
		}
		if h != g.hash {
			t.Errorf("%s: hash of 100,000 results is %#016x, want %#016x", g.name, h, g.hash)
		}
	}
}

func TestExpFarOutside(t *testing.T) {
	for x, want := range map[float64]float64{2e300: math.Inf(1), math.Inf(1): math.Inf(1), -2e300: 0, math.Inf(-1): 0} {
		if got := Exp(x); got != want {
			t.Errorf("exp(%v) is %v, want %v", x, got, want)
		}
	}
}

// TestExpIsWithinOneUnit sums the series with 200 bits, which package math cannot referee.
func TestExpIsWithinOneUnit(t *testing.T) {
	r := rand.New(rand.NewPCG(17, 4))
	for range 3000 {
		x := 60*r.Float64() - 30
		sum, term := big.NewFloat(1).SetPrec(300), big.NewFloat(1).SetPrec(300)
		for n := 1.0; n < 250; n++ {
			term.Mul(term, big.NewFloat(x)).Quo(term, big.NewFloat(n))
			sum.Add(sum, term)
		}
		want, _ := sum.Float64()
		if d := ulps(Exp(x), want); d > 1 {
			t.Fatalf("exp(%v) is off by %v ulp", x, d)
		}
		minus, _ := sum.Sub(sum, big.NewFloat(1)).Float64()
		if d := ulps(Expm1(x), minus); d > 1 {
			t.Fatalf("expm1(%v) is off by %v ulp", x, d)
		}
	}
}

func ExampleExp() {
	fmt.Println(Exp(1), Log(10), Expm1(-0.005), NormalQuantile(0.975))
	// Output: 2.7182818284590455 2.302585092994046 -0.004987520807317687 1.9599639845400536
}
