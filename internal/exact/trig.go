package exact

import "math"

// π/2 in three parts; a whole number up to 2^20 times one of the first two is exact.
const (
	quarter1 = 0x1.921fb544p+0
	quarter2 = 0x1.0b4611a6p-34
	quarter3 = 0x1.3198a2e037073p-69
)

// maxAngle is the largest |x| that Sin and Cos take.
const maxAngle = 65536

// Sin is sin x to within 2^−52, NaN where |x| > 65,536.
func Sin(x float64) float64 { return angle(x, 0) }

// Cos is cos x to within 2^−52, NaN where |x| > 65,536.
func Cos(x float64) float64 { return angle(x, 1) }

// angle is sin(x + more·π/2): with x = k·π/2 + r it is sin r or cos r, by their Taylor series, with a sign.
func angle(x float64, more int) float64 {
	if !(math.Abs(x) <= maxAngle) {
		return math.NaN()
	}
	n := math.Floor(float64(x*(2/math.Pi)) + 0.5)
	r := ((x - float64(n*quarter1)) - float64(n*quarter2)) - float64(n*quarter3)
	var y float64
	turns := int(n) + more
	if turns&1 == 0 {
		y = r + float64(float64(r*float64(r*r))*series(float64(r*r), 3))
	} else {
		y = 1 + float64(float64(r*r)*series(float64(r*r), 2))
	}
	if turns&2 != 0 {
		return -y
	}
	return y
}

// series is −1/first! + z/(first+2)! − z²/(first+4)! + …, eight terms.
func series(z float64, first int) float64 {
	var terms [8]float64
	factorial := 1.0
	for i := 2; i < first; i++ {
		factorial *= float64(i)
	}
	for i := range terms {
		if factorial *= float64(first + 2*i); i > 0 {
			factorial *= float64(first + 2*i - 1)
		}
		terms[i] = 1 / factorial
		if i%2 == 0 {
			terms[i] = -terms[i]
		}
	}
	q := terms[7]
	for i := 6; i >= 0; i-- {
		q = float64(q*z) + terms[i]
	}
	return q
}

// Tanh is the hyperbolic tangent of x, to within four units in the last place.
func Tanh(x float64) float64 {
	t := Expm1(2 * math.Abs(x))
	if math.Abs(x) > 22 {
		return math.Copysign(1, x)
	}
	return math.Copysign(t/(t+2), x)
}
