package formula

import "math"

var infinite, notANumber = float32(math.Inf(1)), float32(math.NaN())

// double is a number held as the sum of two float32; the second is at most half a unit in the last place of the first.
type double struct{ high, low Ref }

// fast is x + y where |x| ≥ |y| or x = 0 (T. Dekker, Numerische Mathematik 18:224, 1971).
func (b maths) fast(x, y Ref) double {
	s := b.add(x, y)
	return double{s, b.sub(y, b.sub(s, x))}
}

// sum is x + y (D. Knuth, The Art of Computer Programming 2, section 4.2.2, theorem B).
func (b maths) sum(x, y Ref) double {
	s := b.add(x, y)
	v := b.sub(s, x)
	return double{s, b.add(b.sub(x, b.sub(s, v)), b.sub(y, v))}
}

// halves gives x as the sum of two numbers of 12 binary digits each (Dekker 1971), for |x| below 2^115.
func (b maths) halves(x Ref) double {
	t := b.mul(x, b.num(4097))
	high := b.sub(t, b.sub(t, x))
	return double{high, b.sub(x, high)}
}

// product is x·y, exact where nothing of it is below 2^−149 (Dekker 1971).
func (b maths) product(x, y Ref) double {
	p := b.mul(x, y)
	if b.near {
		return double{p, b.apply(Fused, x, y, b.apply(Neg, p))}
	}
	u, v := b.halves(x), b.halves(y)
	e := b.sub(b.mul(u.high, v.high), p)
	e = b.add(e, b.mul(u.high, v.low))
	e = b.add(e, b.mul(u.low, v.high))
	return double{p, b.add(e, b.mul(u.low, v.low))}
}

// times is x·y to some 2^−45 of it.
func (b maths) times(x, y double) double {
	p := b.product(x.high, y.high)
	return b.fast(p.high, b.add(p.low, b.add(b.mul(x.high, y.low), b.mul(x.low, y.high))))
}

// double is a constant.
func (b maths) double(x float64) double {
	high := float32(x)
	return double{b.num(high), b.num(float32(x - float64(high)))}
}

// log2 is the logarithm of a to base 2, to some 2^−36 of it: with a = m·2^e and s = (m − 1)/(m + 1) it is
// e + 2/ln 2·(s + s³/3 + s⁵/5 + …).
func (b maths) log2(a Ref) double { return b.log2Of(b.split(a)) }

func (b maths) log2Of(m, e Ref) double {
	one := b.num(1)
	above, below := b.sub(m, one), b.sum(m, one)
	s := b.apply(Div, above, below.high)
	back := b.product(s, below.high)
	rest := b.sub(b.sub(above, back.high), back.low)
	rest = b.sub(rest, b.mul(s, below.low))
	q := b.fast(s, b.apply(Div, rest, below.high))

	const c = 2 / math.Ln2
	s2 := b.times(q, q)
	tail := b.polynomial(s2.high, c/13, c/11, c/9, c/7, c/5)
	third := b.times(s2, b.double(c/3))
	t := b.sum(third.high, b.mul(b.mul(s2.high, s2.high), tail))
	t = b.fast(t.high, b.add(t.low, third.low))
	first := b.double(c)
	u := b.fast(first.high, t.high)
	u = b.fast(u.high, b.add(u.low, b.add(first.low, t.low)))
	l := b.times(q, u)
	sum := b.sum(e, l.high)
	return b.fast(sum.high, b.add(sum.low, l.low))
}

// exp2 is 2 to the power of z.
func (b maths) exp2(z double) Ref {
	x, k := b.exp2Parts(z)
	return b.scaled(b.add(x.high, x.low), k)
}

// exp2Parts gives x and a whole k with 2^z = x·2^k: with z = k + f it is x = 1 + ln 2·f + f²·(ln²2/2 + …).
func (b maths) exp2Parts(z double) (x double, k Ref) {
	k = b.whole(b.bounded(z.high, -152, 130))
	f := b.fast(b.bounded(b.sub(z.high, k), -1, 1), b.bounded(z.low, -1, 1)) // the bounds are for what is 0 or infinite
	var c []float32
	for n := 7; n >= 2; n-- {
		x := 1.0
		for i := 1; i <= n; i++ {
			x *= math.Ln2 / float64(i)
		}
		c = append(c, float32(x))
	}
	rest := b.mul(b.polynomial(f.high, c...), b.mul(f.high, f.high))
	first := b.times(f, b.double(math.Ln2))
	sum := b.fast(b.num(1), first.high)
	return double{sum.high, b.add(sum.low, b.add(first.low, rest))}, k
}

// scaledLog is y·l.
func (b maths) scaledLog(l double, y Ref) double {
	z := b.product(y, l.high)
	return b.fast(z.high, b.add(z.low, b.mul(y, l.low)))
}

// pow is x to the power of y, as C's powf has it.
func (b maths) pow(x, y Ref) Ref {
	zero, one := b.num(0), b.num(1)
	size := b.apply(Abs, x)
	inf := b.num(infinite)
	l := b.log2(b.apply(Min, size, b.num(math.MaxFloat32)))
	few := b.bounded(y, -1<<32, 1<<32) // enough for 0 and infinity from the number next to 1
	p := b.exp2(b.scaledLog(l, few))

	// 0 and infinity, whose logarithms are none
	up := b.less(zero, y)
	p = b.pick(b.equal(size, zero), b.pick(up, zero, inf), p)
	p = b.pick(b.equal(size, inf), b.pick(up, inf, zero), p)

	// a negative x: y must be whole, and an odd y turns the sign
	isWhole := func(v Ref) Ref { // from 2^23 on all are
		a := b.apply(Abs, v)
		const big = 1 << 23
		return b.apply(Or, b.apply(LessEqual, b.num(big), a), b.equal(b.sub(b.add(a, b.num(big)), b.num(big)), a))
	}
	wholeY := isWhole(y)
	odd := b.apply(And, wholeY, b.apply(Not, isWhole(b.mul(y, b.num(0.5)))))
	below := b.less(x, zero)
	negative := b.apply(Or, below, b.less(b.apply(Div, one, x), zero)) // −0 is not less than 0
	p = b.pick(b.apply(And, odd, negative), b.apply(Neg, p), p)
	p = b.pick(b.apply(And, b.apply(And, below, b.less(size, inf)), b.apply(Not, wholeY)), b.num(notANumber), p)

	p = b.pick(b.apply(And, b.equal(x, x), b.equal(y, y)), p, b.add(x, y)) // NaN stays NaN
	return b.pick(b.apply(Or, b.equal(y, zero), b.equal(x, one)), one, p)
}
