package exact

import "math"

// ln2 is split so that k·ln2Hi is exact for every exponent k of a float64; constants are exact before they are rounded.
const (
	ln2   = 0.69314718055994530941723212145817656807550013436025525412068
	ln2Hi = 0x1.62e42fep-1
	ln2Lo = ln2 - ln2Hi
)

// Exp is e^x to within one unit in the last place.
func Exp(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x > 709.79:
		return math.Inf(1)
	case x < -745.2:
		return 0
	}
	k, r, tail := reduce(x)
	return scale(1+(r+tail), k)
}

// Expm1 is e^x − 1 to within one unit in the last place, also where x is small.
func Expm1(x float64) float64 {
	switch {
	case x != x || math.Abs(x) < 0x1p-54:
		return x
	case x < -40:
		return -1
	case x > 45:
		return Exp(x)
	}
	k, r, tail := reduce(x)
	if k == 0 {
		return r + tail
	}
	two := pow2(k)
	a, b := two-1, float64(two*r) // |a| > |b|, so the error of a + b is exact below
	sum := a + b
	lost := b - (sum - a)
	return sum + (lost + float64(two*tail))
}

// reduce writes x as k·ln 2 + r with |r| ≤ 0.35; e^r = 1 + (r + tail).
func reduce(x float64) (k int, r, tail float64) {
	n := math.Floor(float64(x*(1/ln2)) + 0.5)
	hi, lo := x-float64(n*ln2Hi), float64(n*ln2Lo)
	r = hi - lo
	return int(n), r, float64(float64(r*r)*expSeries(r)) + ((hi - r) - lo)
}

// expSeries is (e^r − 1 − r)/r² by its Taylor series; |r| ≤ 0.35 leaves 4e-18.
func expSeries(r float64) float64 {
	q := 1.0 / 87178291200
	q = float64(q*r) + 1.0/6227020800
	q = float64(q*r) + 1.0/479001600
	q = float64(q*r) + 1.0/39916800
	q = float64(q*r) + 1.0/3628800
	q = float64(q*r) + 1.0/362880
	q = float64(q*r) + 1.0/40320
	q = float64(q*r) + 1.0/5040
	q = float64(q*r) + 1.0/720
	q = float64(q*r) + 1.0/120
	q = float64(q*r) + 1.0/24
	q = float64(q*r) + 1.0/6
	return float64(q*r) + 1.0/2
}

// pow2 is 2^k for −1022 ≤ k ≤ 1023.
func pow2(k int) float64 { return math.Float64frombits(uint64(k+1023) << 52) }

// scale is y·2^k for y near 1, rounded once where the result is subnormal.
func scale(y float64, k int) float64 {
	switch {
	case k > 1023:
		return float64(float64(y*0x1p1023) * pow2(k-1023))
	case k < -1022:
		return float64(float64(y*pow2(k+200)) * 0x1p-200)
	}
	return float64(y * pow2(k))
}

// Log is the natural logarithm to within one unit in the last place; NaN below 0, −Inf at 0.
//
// x = 2^k·(1+f) with √½ ≤ 1+f < √2, and with s = f/(2+f) log(1+f) = 2 atanh s = f − (f²/2 − s·(f²/2 + R)),
// R = Σ 2·s^(2n)/(2n+1), n ≥ 1.
func Log(x float64) float64 {
	switch {
	case x != x || x > math.MaxFloat64:
		return x
	case x < 0:
		return math.NaN()
	case x == 0:
		return math.Inf(-1)
	}
	k := 0.0
	if x < 0x1p-1022 {
		x, k = float64(x*0x1p54), -54
	}
	bits := math.Float64bits(x)
	k += float64(int(bits>>52) - 1023)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	if m >= math.Sqrt2 {
		m, k = float64(m*0.5), k+1
	}
	f := m - 1
	s := f / (2 + f)
	half := float64(0.5 * float64(f*f))
	small := float64(s*(half+logSeries(float64(s*s)))) + float64(k*ln2Lo)
	return float64(k*ln2Hi) - ((half - small) - f)
}

// logSeries is R of Log for z = s² ≤ 0.0295.
func logSeries(z float64) float64 {
	q := 2.0 / 23
	q = float64(q*z) + 2.0/21
	q = float64(q*z) + 2.0/19
	q = float64(q*z) + 2.0/17
	q = float64(q*z) + 2.0/15
	q = float64(q*z) + 2.0/13
	q = float64(q*z) + 2.0/11
	q = float64(q*z) + 2.0/9
	q = float64(q*z) + 2.0/7
	q = float64(q*z) + 2.0/5
	q = float64(q*z) + 2.0/3
	return float64(q * z)
}

// Log1p is log(1+x) to within a few units in the last place, also where x is small (Goldberg 1991, theorem 4).
func Log1p(x float64) float64 {
	u := 1 + x
	if u == 1 {
		return x
	}
	if u <= 0 || u > 0x1p53 {
		return Log(u)
	}
	return float64(x*Log(u)) / (u - 1)
}
