package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

const (
	lessThan = 0x11 // VCMPPS, as all false for NaN
	equal    = 0x00
)

// pass writes a loop over whole blocks of arrays of 32-bit lanes: body gets the places of eight lanes in all of them.
func pass(name, signature, comment string, arrays []string, prepare func(), body func(at []Mem), after func(last Register)) {
	begin(name, signature, comment)
	places := make([]Mem, len(arrays)) // of a block's first eight lanes; one index serves all large arrays
	index, strides := GP64(), make([]int, len(arrays))
	XORQ(index, index)
	steps, order := map[Register]int{}, []Register{}
	for i, a := range arrays {
		p := pointer(a)
		places[i] = Mem{Base: p, Index: index, Scale: 8}
		strides[i] = 32
		switch a {
		case "r":
			places[i].Scale, strides[i] = 4, 16
		case "words", "live":
			places[i], strides[i] = Mem{Base: p}, map[string]int{"words": 1}[a]
			order = append(order, p)
			steps[p] = map[string]int{"words": 8, "live": 1}[a]
		}
	}
	n := pointer("blocks")
	prepare()
	loop("block", n, steps, order, func() {
		for j := range 8 {
			at := make([]Mem, len(places))
			for i, p := range places {
				at[i] = p.Offset(j * strides[i])
			}
			body(at)
		}
		after(places[len(places)-1].Base)
		ADDQ(Imm(32), index)
	})
}

func nothing() {}

func noEnd(Register) {}

// formulas writes the instructions of package formula, a loop each.
func formulas() {
	const (
		numbers  = "func(out, a, b *float32, blocks uint64)"
		compares = "func(out *uint32, a, b *float32, blocks uint64)"
		flags    = "func(out, a, b *uint32, blocks uint64)"
	)
	two := func(name, signature, what string, op func(a Mem, b, out VecVirtual)) {
		pass(name, signature, what, []string{"out", "a", "b"}, nothing, func(at []Mem) {
			b, out := YMM(), YMM()
			VMOVUPS(at[2], b)
			op(at[1], b, out)
			VMOVUPS(out, at[0])
		}, noEnd)
	}
	// reversed is for operations whose first operand, in Intel's order, must be a register.
	reversed := func(op func(ops ...Op)) func(a Mem, b, out VecVirtual) {
		return func(a Mem, b, out VecVirtual) {
			first := YMM()
			VMOVUPS(a, first)
			op(b, first, out)
		}
	}
	commuting := func(op func(ops ...Op)) func(a Mem, b, out VecVirtual) {
		return func(a Mem, b, out VecVirtual) { op(a, b, out) }
	}
	two("addAVX2", numbers, "is a + b.", commuting(VADDPS))
	two("subAVX2", numbers, "is a − b.", reversed(VSUBPS))
	two("mulAVX2", numbers, "is a·b.", commuting(VMULPS))
	two("divAVX2", numbers, "is a/b.", reversed(VDIVPS))
	two("minAVX2", numbers, "is a where a < b, else b.", reversed(VMINPS))
	two("maxAVX2", numbers, "is a where b < a, else b.", reversed(VMAXPS))
	compare := func(kind uint64) func(a Mem, b, out VecVirtual) {
		return func(a Mem, b, out VecVirtual) {
			first := YMM()
			VMOVUPS(a, first)
			VCMPPS(Imm(kind), b, first, out)
		}
	}
	two("lessAVX2", compares, "is a < b: all ones, or zero.", compare(lessThan))
	two("lessEqualAVX2", compares, "is a ≤ b likewise.", compare(lessEq))
	two("equalAVX2", compares, "is a = b likewise.", compare(equal))
	two("andAVX2", flags, "is a and b.", commuting(VANDPS))
	two("orAVX2", flags, "is a or b.", commuting(VORPS))
	two("butNotAVX2", flags, "is a and not b.", func(a Mem, b, out VecVirtual) { VANDNPS(a, b, out) })
	var ones VecVirtual
	bits := func(shift uint64) func() {
		return func() {
			ones = YMM()
			VPCMPEQD(ones, ones, ones)
			VPSLLD(Imm(shift), ones, ones)
		}
	}
	one := func(name, signature, what string, prepare func(), op func(a Mem, out VecVirtual)) {
		pass(name, signature, what, []string{"out", "a"}, prepare, func(at []Mem) {
			x := YMM()
			op(at[1], x)
			VMOVUPS(x, at[0])
		}, noEnd)
	}
	one("notAVX2", "func(out, a *uint32, blocks uint64)", "is not a.", bits(0), func(a Mem, out VecVirtual) { VPXOR(a, ones, out) })
	one("negAVX2", "func(out, a *float32, blocks uint64)", "is a with its sign turned over.", bits(31), func(a Mem, out VecVirtual) { VPXOR(a, ones, out) })
	one("absAVX2", "func(out, a *float32, blocks uint64)", "is a without its sign.", bits(31), func(a Mem, out VecVirtual) { VPANDN(a, ones, out) })
	one("sqrtAVX2", "func(out, a *float32, blocks uint64)", "is the root of a.", nothing, func(a Mem, out VecVirtual) { VSQRTPS(a, out) })
	pass("mulAddAVX2", "func(out, a, b, c *float32, blocks uint64)", "is a·b, rounded, + c.", []string{"out", "a", "b", "c"}, nothing, func(at []Mem) {
		x := YMM()
		VMOVUPS(at[1], x)
		VMULPS(at[2], x, x)
		VADDPS(at[3], x, x)
		VMOVUPS(x, at[0])
	}, noEnd)
	pass("selectAVX2", "func(out *float32, flag *uint32, a, b *float32, blocks uint64)", "is a where flag is all ones, b where it is zero.", []string{"out", "flag", "a", "b"}, nothing, func(at []Mem) {
		flag, x := YMM(), YMM()
		VMOVUPS(at[1], flag)
		VMOVUPS(at[3], x)
		VBLENDVPS(flag, at[2], x, x)
		VMOVUPS(x, at[0])
	}, noEnd)
	notQuiet("lessButAVX2", "is a < b and not flag.", lessThan)
	notQuiet("lessEqualButAVX2", "is a ≤ b and not flag.", lessEq)
	formulaEnds()
}

// notQuiet is a comparison that counts where a flag is not set.
func notQuiet(name, what string, kind uint64) {
	pass(name, "func(out *uint32, a, b *float32, flag *uint32, blocks uint64)", what, []string{"out", "a", "b", "flag"}, nothing, func(at []Mem) {
		a, out := YMM(), YMM()
		VMOVUPS(at[1], a)
		VCMPPS(Imm(kind), at[2], a, out)
		VMOVUPS(at[3], a)
		VANDNPS(out, a, out)
		VMOVUPS(out, at[0])
	}, noEnd)
}

// formulaEnds writes what stands before and behind a program: sums and countdowns in, state, spikes and countdowns out.
func formulaEnds() {
	var change, zero, scale, refractory VecVirtual
	alive := func(live Register) {
		b := GP8()
		VPTEST(change, change)
		SETNE(b)
		ORB(b, Mem{Base: live})
		VPXOR(change, change, change)
	}
	sum := func() {
		zero, change, scale = zeroed(), zeroed(), YMM()
		VBROADCASTSS(Mem{Base: pointer("scale")}, scale)
	}
	pass("inputAVX2", "func(acc *int32, scale *float32, out *float32, live *uint8, blocks uint64)", "is acc/scale; acc becomes zero.", []string{"acc", "out", "live"}, sum, func(at []Mem) { VMOVUPS(input(at[0], scale, zero, change), at[1]) }, alive)
	pass("addInputAVX2", "func(acc *int32, scale *float32, out, a *float32, live *uint8, blocks uint64)", "is a + acc/scale; acc becomes zero.",
		[]string{"acc", "out", "a", "live"}, sum, func(at []Mem) {
			x := input(at[0], scale, zero, change)
			VADDPS(at[2], x, x)
			VMOVUPS(x, at[1])
		}, alive)
	pass("mulAddInputAVX2", "func(acc *int32, scale *float32, out, a, b *float32, live *uint8, blocks uint64)", "is a·b, rounded, + acc/scale; acc becomes zero.",
		[]string{"acc", "out", "a", "b", "live"}, sum, func(at []Mem) {
			x, y := input(at[0], scale, zero, change), YMM()
			VMOVUPS(at[2], y)
			VMULPS(at[3], y, y)
			VADDPS(x, y, y)
			VMOVUPS(y, at[1])
		}, alive)
	pass("quietAVX2", "func(r *uint16, out *uint32, blocks uint64)", "is r > 0: all ones, or zero.", []string{"r", "out"}, func() { zero = zeroed() }, func(at []Mem) {
		_, silent := countdowns(at[0], zero)
		VMOVUPS(silent, at[1])
	}, noEnd)
	pass("settleAVX2", "func(now, state *float32, live *uint8, blocks uint64)", "stores now as state.", []string{"now", "state", "live"}, func() { change = zeroed() }, func(at []Mem) {
		now, old := YMM(), YMM()
		VMOVUPS(at[0], now)
		VMOVUPS(at[1], old)
		store(at[1], now, old, change)
	}, alive)
	pass("settleEitherAVX2", "func(flag *uint32, a, b, state *float32, live *uint8, blocks uint64)", "stores a where flag is set, else b.", []string{"flag", "a", "b", "state", "live"}, func() { change = zeroed() }, func(at []Mem) {
		flag, now, old := YMM(), YMM(), YMM()
		VMOVUPS(at[0], flag)
		VMOVUPS(at[2], now)
		VBLENDVPS(flag, at[1], now, now)
		VMOVUPS(at[3], old)
		store(at[3], now, old, change)
	}, alive)
	pass("countdownAVX2", "func(fired *uint32, refractory *uint32, r *uint16, words *uint64, live *uint8, blocks uint64)", "lists spikes and counts r down.",
		[]string{"fired", "r", "words", "live"}, func() {
			zero, change, refractory = zeroed(), zeroed(), YMM()
			VPBROADCASTD(Mem{Base: pointer("refractory")}, refractory)
		}, func(at []Mem) {
			fired := YMM()
			VMOVUPS(at[0], fired)
			left, silent := countdowns(at[1], zero)
			storeCountdowns(at[1], left, silent, fired, refractory, change)
			spikes(at[2], fired, change)
		}, alive)
}
