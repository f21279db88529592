package formula

// exp is e^a as instructions of the language, so that it needs nothing of a backend and has the same bits on each: a = k·ln 2 + r
// with a whole k, a polynomial for e^r (S. Moshier, Cephes, expf), and its product with 2^k by the binary digits of k.
func (c *compiler) exp(a Ref) Ref {
	b := c.b
	num, mul := b.constant, func(x, y Ref) Ref { return b.apply(Mul, x, y) }
	x := b.apply(Max, b.apply(Min, a, num(89)), num(-104)) // e^89 is infinite, e^−104 is 0

	const toWhole = 3 << 22 // of so large a number the last digit stands for 1
	k := b.apply(Sub, b.apply(Add, mul(x, num(1.44269504088896341)), num(toWhole)), num(toWhole))
	r := b.apply(Sub, x, mul(k, num(0.693359375))) // ln 2 in two parts, of which the first times k is exact
	r = b.apply(Sub, r, mul(k, num(-2.12194440e-4)))

	p := num(1.9875691500e-4)
	for _, next := range []float32{1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1} {
		p = b.apply(Add, mul(p, r), num(next))
	}
	e := b.apply(Add, b.apply(Add, mul(p, mul(r, r)), r), num(1))

	down := b.apply(Less, k, num(0))
	left := b.apply(Abs, k)
	for _, digit := range []int{64, 64, 32, 16, 8, 4, 2, 1} {
		has := b.apply(LessEqual, num(float32(digit)), left)
		up := power(digit)
		e = b.apply(Select, has, mul(e, b.apply(Select, down, num(1/up), num(up))), e)
		left = b.apply(Select, has, b.apply(Sub, left, num(float32(digit))), left)
	}
	return b.apply(Select, b.apply(Equal, a, a), e, a) // NaN stays NaN
}

// power is 2^n for n up to 64.
func power(n int) float32 {
	x := float32(1)
	for range n {
		x *= 2
	}
	return x
}
