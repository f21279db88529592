package formula

// Functions become instructions of the language, so that they need nothing of a backend and have the same bits on each.

// maths writes sums and products of numbers as a program.
type maths struct{ *builder }

func (b maths) num(x float32) Ref  { return b.constant(x) }
func (b maths) add(x, y Ref) Ref   { return b.apply(Add, x, y) }
func (b maths) sub(x, y Ref) Ref   { return b.apply(Sub, x, y) }
func (b maths) mul(x, y Ref) Ref   { return b.apply(Mul, x, y) }
func (b maths) less(x, y Ref) Ref  { return b.apply(Less, x, y) }
func (b maths) equal(x, y Ref) Ref { return b.apply(Equal, x, y) }

// pick is x where the flag is true, else y.
func (b maths) pick(flag, x, y Ref) Ref { return b.apply(Select, flag, x, y) }

// bounded is x, at least low and at most high, as it is anyway in a Shortcut.
func (b maths) bounded(x Ref, low, high float32) Ref {
	if b.near {
		return x
	}
	return b.apply(Max, b.apply(Min, x, b.num(high)), b.num(low))
}

// whole is the whole number nearest to x, for |x| up to 2^22: of so large a sum the last digit stands for 1.
func (b maths) whole(x Ref) Ref {
	const big = 3 << 22
	return b.sub(b.add(x, b.num(big)), b.num(big))
}

// polynomial is the sum of c[i]·x^(len(c)−1−i), by Horner's rule.
func (b maths) polynomial(x Ref, c ...float32) Ref {
	p := b.num(c[0])
	for _, next := range c[1:] {
		p = b.add(b.mul(p, x), b.num(next))
	}
	return p
}

// scaled is x·2^k for a whole k from −191 to 191, by the binary digits of k.
func (b maths) scaled(x, k Ref) Ref {
	down, left := b.less(k, b.num(0)), b.apply(Abs, k)
	for _, digit := range []int{64, 64, 32, 16, 8, 4, 2, 1} {
		has := b.apply(LessEqual, b.num(float32(digit)), left)
		up := power(digit)
		x = b.pick(has, b.mul(x, b.pick(down, b.num(1/up), b.num(up))), x)
		left = b.pick(has, b.sub(left, b.num(float32(digit))), left)
	}
	return x
}

// exp is e^a: a = k·ln 2 + r with a whole k, a polynomial for e^r (S. Moshier, Cephes, expf), and its product with 2^k.
func (b maths) exp(a Ref) Ref {
	x := b.bounded(a, -104, 89) // e^89 is infinite, e^−104 is 0
	k := b.whole(b.mul(x, b.num(1.44269504088896341)))
	r := b.sub(x, b.mul(k, b.num(0.693359375))) // ln 2 in two parts, of which the first times k is exact
	r = b.sub(r, b.mul(k, b.num(-2.12194440e-4)))
	p := b.polynomial(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
	e := b.add(b.add(b.mul(p, b.mul(r, r)), r), b.num(1))
	e = b.scaled(e, k)
	return b.pick(b.equal(a, a), e, a) // NaN stays NaN
}

// split gives m and a whole e with a = m·2^e and √½ < m ≤ √2, for a finite a above 0.
func (b maths) split(a Ref) (m, e Ref) {
	return b.splitBy(a, []int{64, 32, 16, 8, 4, 2, 1}, []int{64, 64, 32, 16, 8, 4, 2, 1})
}

// splitBy is split with the binary digits of the exponents that a may have, above 0 and below.
func (b maths) splitBy(a Ref, up, down []int) (m, e Ref) {
	m, e = a, b.num(0)
	step := func(has Ref, by float32, digit int) {
		m = b.pick(has, b.mul(m, b.num(by)), m)
		e = b.pick(has, b.add(e, b.num(float32(digit))), e)
	}
	for _, digit := range up {
		step(b.apply(LessEqual, b.num(power(digit)), m), 1/power(digit), digit)
	}
	for _, digit := range down {
		step(b.less(m, b.num(2/power(digit))), power(digit), -digit)
	}
	step(b.less(b.num(1.41421356), m), 0.5, 1)
	return m, e
}

// log is the natural logarithm of a.
func (b maths) log(a Ref) Ref {
	y := b.logOf(b.split(a))
	inf := b.num(infinite)
	y = b.pick(b.less(a, inf), y, a) // infinite stays so, NaN too
	y = b.pick(b.equal(a, b.num(0)), b.num(-infinite), y)
	return b.pick(b.less(a, b.num(0)), b.num(notANumber), y)
}

// logOf is log(m·2^e): a polynomial for log m (S. Moshier, Cephes, logf).
func (b maths) logOf(m, e Ref) Ref {
	f := b.sub(m, b.num(1))
	ff := b.mul(f, f)
	p := b.polynomial(f, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1,
		-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)
	y := b.mul(b.mul(f, ff), p)
	y = b.add(y, b.mul(e, b.num(-2.12194440e-4)))
	y = b.sub(y, b.mul(ff, b.num(0.5)))
	return b.add(b.add(f, y), b.mul(e, b.num(0.693359375)))
}

// normal is the standard normal number that a draw stands for, given its signed tail: the quantile of M. Wichura (Applied Statistics
// 37:477, 1988), AS 241, PPND7, whose third range, beyond e^−25, no draw of 32 bits reaches.
func (b maths) normal(signed Ref) Ref {
	tail := b.apply(Abs, signed)
	q := b.sub(b.num(0.5), tail)
	r := b.sub(b.num(0.180625), b.mul(q, q))
	centre := b.mul(q, b.apply(Div, b.polynomial(r, 5.9109374720e+01, 1.5929113202e+02, 5.0434271938e+01, 3.3871327179e+00),
		b.polynomial(r, 6.7187563600e+01, 7.8757757664e+01, 1.7895169469e+01, 1)))
	r = b.sub(b.apply(Sqrt, b.apply(Neg, b.logOf(b.splitBy(tail, nil, []int{32, 16, 8, 4, 2, 1})))), b.num(1.6))
	far := b.apply(Div, b.polynomial(r, 1.7023821103e-01, 1.3067284816e+00, 2.7568153900e+00, 1.4234372777e+00),
		b.polynomial(r, 1.2021132975e-01, 7.3700164250e-01, 1))
	size := b.pick(b.apply(LessEqual, q, b.num(0.425)), centre, far)
	return b.pick(b.less(signed, b.num(0)), size, b.apply(Neg, size))
}

// power is 2^n for n up to 64.
func power(n int) float32 {
	x := float32(1)
	for range n {
		x *= 2
	}
	return x
}
