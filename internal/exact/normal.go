package exact

import "math"

// NormalQuantile is the x below which a standard normal number lies with probability p; ∓Inf at 0 and 1, NaN outside.
// Wichura's algorithm AS 241, PPND16 (Applied Statistics 37, 1988), about 16 digits.
func NormalQuantile(p float64) float64 {
	switch {
	case !(0 <= p && p <= 1):
		return math.NaN()
	case p == 0:
		return math.Inf(-1)
	case p == 1:
		return math.Inf(1)
	}
	q := p - 0.5
	if math.Abs(q) <= 0.425 {
		r := 0.180625 - float64(q*q)
		return float64(q * ratio(r, &centre)) // one division, then one product
	}
	tail := p
	if q > 0 {
		tail = 1 - p
	}
	r := math.Sqrt(-Log(tail))
	x := 0.0
	if r <= 5 {
		x = ratio(r-1.6, &middle)
	} else {
		x = ratio(r-5, &far)
	}
	if q < 0 {
		return -x
	}
	return x
}

// Normal is a standard normal number from the 53 high bits of x, k: the quantile of (k + ½)/2^53, mirrored at the
// centre so that k and its complement give exactly opposite numbers. |Normal| < 8.3.
func Normal(x uint64) float64 {
	k := x >> 11
	if k >= 1<<52 {
		return -NormalQuantile(float64((float64(1<<53-1-k) + 0.5) * 0x1p-53))
	}
	return NormalQuantile(float64((float64(k) + 0.5) * 0x1p-53))
}

// Uniform is k/2^53 from the 53 high bits k of x: 0 ≤ Uniform < 1.
func Uniform(x uint64) float64 { return float64(float64(x>>11) * 0x1p-53) }

// rational holds numerator and denominator, constant terms first.
type rational struct{ num, den [8]float64 }

func ratio(r float64, f *rational) float64 {
	n, d := f.num[7], f.den[7]
	for i := 6; i >= 0; i-- {
		n = float64(n*r) + f.num[i]
		d = float64(d*r) + f.den[i]
	}
	return n / d
}

// The three ranges of AS 241: |p − ½| ≤ 0.425, tails down to e^−25, and beyond.
var (
	centre = rational{
		num: [8]float64{
			3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
			4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3,
		},
		den: [8]float64{
			1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
			2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3,
		},
	}
	middle = rational{
		num: [8]float64{
			1.42343711074968357734e0, 4.63033784615654529590e0, 5.76949722146069140550e0, 3.64784832476320460504e0,
			1.27045825245236838258e0, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4,
		},
		den: [8]float64{
			1, 2.05319162663775882187e0, 1.67638483018380384940e0, 6.89767334985100004550e-1,
			1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9,
		},
	}
	far = rational{
		num: [8]float64{
			6.65790464350110377720e0, 5.46378491116411436990e0, 1.78482653991729133580e0, 2.96560571828504891230e-1,
			2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7,
		},
		den: [8]float64{
			1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
			7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15,
		},
	}
)
