package formula

import "math"

// maxAngle is the largest |a| of which sin and cos are taken; those of larger ones are NaN.
const maxAngle = 65536

// quarter is π/2 in parts. A whole number up to 2^16 times one of the first six is exact, because these have at most 8 digits.
var quarter = partsOfQuarter()

func partsOfQuarter() (parts [7]float32) {
	const digits = 8
	rest := [2]float64{math.Pi / 2, 6.123233995736766e-17} // the sum of both is π/2 to 2^−107
	for i := range parts[:6] {
		unit := math.Ldexp(1, -7-digits*i)
		part := math.Floor(rest[0]/unit) * unit
		parts[i] = float32(part)
		rest[0] -= part
	}
	parts[6] = float32(rest[0] + rest[1])
	return parts
}

// turned gives r and a whole k with a = k·π/2 + r and |r| ≤ π/4, for |a| ≤ maxAngle (W. Cody and W. Waite, Software Manual for the
// Elementary Functions, 1980). As much of a is near a multiple of π/2 as float32 can be, r still has all its digits.
func (b maths) turned(a Ref) (r double, k Ref) {
	k = b.whole(b.mul(a, b.num(2/math.Pi)))
	high := a
	for _, part := range quarter[:3] { // exact
		high = b.sub(high, b.mul(k, b.num(part)))
	}
	low := b.num(0)
	for _, part := range quarter[3:6] {
		s := b.sum(high, b.mul(k, b.num(-part)))
		high, low = s.high, b.add(low, s.low)
	}
	return b.fast(high, b.sub(low, b.mul(k, b.num(quarter[6])))), k
}

// sinCos gives sin r and cos r for |r| ≤ π/4 (polynomials: S. Moshier, Cephes, sinf and cosf).
func (b maths) sinCos(r double) (sin, cos Ref) {
	one, half := b.num(1), b.num(0.5)
	z := b.mul(r.high, r.high)
	h := b.mul(z, half)
	p := b.polynomial(z, -1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1)
	sin = b.add(r.high, b.add(b.mul(b.mul(p, z), r.high), b.mul(r.low, b.sub(one, h))))
	q := b.polynomial(z, 2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2)
	w := b.sub(one, h)
	rest := b.sub(b.sub(one, w), h)
	cos = b.add(w, b.add(rest, b.sub(b.mul(b.mul(q, z), z), b.mul(r.high, r.low))))
	return sin, cos
}

// angle is sin a, or cos a.
func (b maths) angle(a Ref, cosine bool) Ref {
	size := b.apply(Abs, a)
	r, k := b.turned(b.bounded(a, -maxAngle, maxAngle))
	same, other := b.sinCos(r)
	q := b.sub(k, b.mul(b.num(4), b.whole(b.mul(k, b.num(0.25))))) // −2 to 2
	odd := b.equal(b.apply(Abs, q), b.num(1))
	down := b.apply(Or, b.less(q, b.num(0)), b.less(b.num(1), q)) // −2, −1 and 2
	if cosine {
		same, other = other, same
		down = b.apply(Or, b.less(b.num(0), q), b.less(q, b.num(-1))) // 1, 2 and −2
	}
	y := b.pick(odd, other, same)
	y = b.pick(down, b.apply(Neg, y), y)
	if !cosine {
		y = b.pick(b.less(size, b.num(0x1p-12)), a, y) // also −0
	}
	return b.pick(b.apply(LessEqual, size, b.num(maxAngle)), y, b.num(notANumber))
}

// floor is the largest whole number up to a; a itself where it is infinite, NaN, or −0.
func (b maths) floor(a Ref) Ref {
	const big = 1 << 23 // from here on all are whole
	size := b.apply(Abs, a)
	n := b.sub(b.add(size, b.num(big)), b.num(big))
	n = b.pick(b.less(a, b.num(0)), b.apply(Neg, n), n)
	whole := b.apply(Or, b.equal(n, a), b.apply(LessEqual, b.num(big), size))
	return b.pick(whole, a, b.pick(b.less(a, n), b.sub(n, b.num(1)), n))
}

// tanh is the hyperbolic tangent of a: a polynomial (S. Moshier, Cephes, tanhf) where |a| < 0.625, else 1 − 2/(e^2|a| + 1) with the
// sign of a.
func (b maths) tanh(a Ref) Ref {
	one, two := b.num(1), b.num(2)
	z := b.mul(a, a)
	p := b.polynomial(z, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
	near := b.add(a, b.mul(b.mul(p, z), a))

	size := b.apply(Abs, a)
	x := b.apply(Min, size, b.num(10)) // from 9.02 on it is 1
	l := b.double(2 * math.Log2E)
	t := b.product(x, l.high)
	e, k := b.exp2Parts(b.fast(t.high, b.add(t.low, b.mul(x, l.low))))
	e = b.fast(e.high, e.low)
	e = double{b.scaled(e.high, k), b.scaled(e.low, k)}
	d := b.sum(e.high, one)
	q := b.apply(Div, two, d.high)
	back := b.product(q, d.high)
	rest := b.sub(b.sub(two, back.high), back.low)
	rest = b.sub(rest, b.mul(q, b.add(d.low, e.low)))
	y := b.fast(one, b.apply(Neg, q))
	far := b.add(y.high, b.sub(y.low, b.apply(Div, rest, d.high)))
	far = b.pick(b.less(a, b.num(0)), b.apply(Neg, far), far)
	return b.pick(b.less(b.num(0.625), size), far, b.pick(b.less(size, b.num(0x1p-12)), a, near)) // NaN is near
}
