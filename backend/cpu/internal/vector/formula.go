package vector

import "math"

// Formula has the instructions of package formula for many neurons: each works on arrays of the same length. A flag is all
// ones or zero. out may be an operand.
type Formula struct {
	Add, Sub, Mul, Div, Min, Max func(out, a, b []float32)
	Neg, Abs, Sqrt               func(out, a []float32)
	Less, LessEqual, Equal       func(out []uint32, a, b []float32)
	And, Or, ButNot              func(out, a, b []uint32) // ButNot is a and not b
	Not                          func(out, a []uint32)
	MulAdd                       func(out, a, b, c []float32)                      // a·b, rounded, + c
	LessBut, LessEqualBut        func(out []uint32, a, b []float32, flag []uint32) // a comparison, and not flag
	Select                       func(out []float32, flag []uint32, a, b []float32)

	// Input is acc/scale; acc becomes zero. live has a byte per Block, which becomes 1 if something changes: here, if a
	// sum is not zero.
	Input func(acc []int32, scale *float32, out []float32, live []uint8)
	// AddInput is a + acc/scale, MulAddInput a·b, rounded, + acc/scale; acc becomes zero.
	AddInput    func(acc []int32, scale *float32, out, a []float32, live []uint8)
	MulAddInput func(acc []int32, scale *float32, out, a, b []float32, live []uint8)
	// Quiet is r > 0.
	Quiet func(r []uint16, out []uint32)
	// Settle stores now as the state.
	Settle func(now, state []float32, live []uint8)
	// SettleEither stores a where the flag is set, else b.
	SettleEither func(flag []uint32, a, b, state []float32, live []uint8)
	// Countdown writes a bit per neuron that fired. Their r becomes refractory (< 2^16); every other r > 0 is decremented.
	Countdown func(fired []uint32, refractory *uint32, r []uint16, words []uint64, live []uint8)
}

// plainFormula are the instructions in Go.
func plainFormula() Formula {
	return Formula{
		Add: add, Sub: sub, Mul: mul, Div: div, Min: least, Max: most, Neg: neg, Abs: abs, Sqrt: sqrt,
		Less: less, LessEqual: lessEqual, Equal: equal, And: and, Or: or, ButNot: butNot, Not: not,
		MulAdd: mulAdd, LessBut: lessBut, LessEqualBut: lessEqualBut, Select: choose, Input: input, AddInput: addInput, MulAddInput: mulAddInput,
		Quiet: quiet, Settle: settle, SettleEither: settleEither, Countdown: countdown,
	}
}

func add(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] + b[i]
	}
}

func sub(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] - b[i]
	}
}

func mul(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = float32(a[i] * b[i])
	}
}

func div(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] / b[i]
	}
}

func least(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		x := b[i]
		if a[i] < x {
			x = a[i]
		}
		out[i] = x
	}
}

func most(out, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		x := b[i]
		if x < a[i] {
			x = a[i]
		}
		out[i] = x
	}
}

const sign = 1 << 31

func neg(out, a []float32) {
	for i, x := range a[:len(out)] {
		out[i] = math.Float32frombits(math.Float32bits(x) ^ sign)
	}
}

func abs(out, a []float32) {
	for i, x := range a[:len(out)] {
		out[i] = math.Float32frombits(math.Float32bits(x) &^ sign)
	}
}

func sqrt(out, a []float32) {
	for i, x := range a[:len(out)] {
		out[i] = float32(math.Sqrt(float64(x)))
	}
}

// ones is a flag.
func ones(is bool) uint32 {
	if is {
		return math.MaxUint32
	}
	return 0
}

func less(out []uint32, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = ones(a[i] < b[i])
	}
}

func lessEqual(out []uint32, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = ones(a[i] <= b[i])
	}
}

func equal(out []uint32, a, b []float32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = ones(a[i] == b[i])
	}
}

func and(out, a, b []uint32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] & b[i]
	}
}

func or(out, a, b []uint32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] | b[i]
	}
}

func butNot(out, a, b []uint32) {
	a, b = a[:len(out)], b[:len(out)]
	for i := range out {
		out[i] = a[i] &^ b[i]
	}
}

func not(out, a []uint32) {
	for i, x := range a[:len(out)] {
		out[i] = ^x
	}
}

func mulAdd(out, a, b, c []float32) {
	a, b, c = a[:len(out)], b[:len(out)], c[:len(out)]
	for i := range out {
		out[i] = float32(a[i]*b[i]) + c[i]
	}
}

func lessBut(out []uint32, a, b []float32, flag []uint32) {
	a, b, flag = a[:len(out)], b[:len(out)], flag[:len(out)]
	for i := range out {
		out[i] = ones(a[i] < b[i]) &^ flag[i]
	}
}

func lessEqualBut(out []uint32, a, b []float32, flag []uint32) {
	a, b, flag = a[:len(out)], b[:len(out)], flag[:len(out)]
	for i := range out {
		out[i] = ones(a[i] <= b[i]) &^ flag[i]
	}
}

// choose blends bits, because a branch on the flag would be mispredicted often.
func choose(out []float32, flag []uint32, a, b []float32) {
	flag, a, b = flag[:len(out)], a[:len(out)], b[:len(out)]
	for i := range out {
		x, y := math.Float32bits(a[i]), math.Float32bits(b[i])
		out[i] = math.Float32frombits(y ^ (x^y)&flag[i])
	}
}

// touch makes the i-th neuron's block live if change is not zero.
func touch(live []uint8, i int, change uint32) {
	if change != 0 {
		live[i/Block] = 1
	}
}

func input(acc []int32, scale *float32, out []float32, live []uint8) {
	out = out[:len(acc)]
	for i, sum := range acc {
		out[i] = float32(sum) / *scale
		touch(live, i, uint32(sum))
		acc[i] = 0
	}
}

func addInput(acc []int32, scale *float32, out, a []float32, live []uint8) {
	out, a = out[:len(acc)], a[:len(acc)]
	for i, sum := range acc {
		out[i] = a[i] + float32(sum) / *scale
		touch(live, i, uint32(sum))
		acc[i] = 0
	}
}

func mulAddInput(acc []int32, scale *float32, out, a, b []float32, live []uint8) {
	out, a, b = out[:len(acc)], a[:len(acc)], b[:len(acc)]
	for i, sum := range acc {
		out[i] = float32(a[i]*b[i]) + float32(sum) / *scale
		touch(live, i, uint32(sum))
		acc[i] = 0
	}
}

func quiet(r []uint16, out []uint32) {
	out = out[:len(r)]
	for i, left := range r {
		out[i] = uint32(-int32(left) >> 31)
	}
}

func settle(now, state []float32, live []uint8) {
	state = state[:len(now)]
	for i, x := range now {
		touch(live, i, math.Float32bits(x)^math.Float32bits(state[i]))
		state[i] = x
	}
}

func settleEither(flag []uint32, a, b, state []float32, live []uint8) {
	a, b, state = a[:len(flag)], b[:len(flag)], state[:len(flag)]
	for i, is := range flag {
		x, y := math.Float32bits(a[i]), math.Float32bits(b[i])
		x = y ^ (x^y)&is
		touch(live, i, x^math.Float32bits(state[i]))
		state[i] = math.Float32frombits(x)
	}
}

func countdown(fired []uint32, refractory *uint32, r []uint16, words []uint64, live []uint8) {
	r = r[:len(fired)]
	clear(words[:blocks(len(fired))])
	for i, is := range fired {
		touch(live, i, is|uint32(r[i]))
		switch {
		case is != 0:
			r[i] = uint16(*refractory)
			words[i/Block] |= 1 << (i % Block)
		case r[i] > 0:
			r[i]--
		}
	}
}
