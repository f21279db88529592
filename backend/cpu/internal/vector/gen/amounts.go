package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

func gathers() {
	begin("gatherAVX2", "func(out, from *float32, at *uint32, eights uint64)", "is from[at].")
	out, from, list := pointer("out"), pointer("from"), pointer("at")
	eights(func(at Register) {
		VMOVUPS(pick(from, lanesAt(list, at)), lanesAt(out, at))
	}, func() {})
}

func bounds(chosen bool) {
	name, arguments := "boundAVX2", "out, from *float32"
	if chosen {
		name, arguments = "boundSomeAVX2", "out, from *float32, counts *uint32"
	}
	begin(name, "func("+arguments+", low, high float32, eights uint64) (nan uint32)", "brings numbers within bounds; nan is not 0 if one is NaN.")
	out, from := pointer("out"), pointer("from")
	var counts Register
	if chosen {
		counts = pointer("counts")
	}
	low, high := numberOf("low"), numberOf("high")
	zero, nan := zeroed(), zeroed()
	eights(func(at Register) {
		x, is := YMM(), YMM()
		VMOVUPS(lanesAt(from, at), x)
		VCMPPS(Imm(unordered), x, x, is)
		VMAXPS(x, low, x) // the second, in Intel's order, where one is NaN
		VMINPS(x, high, x)
		VADDPS(zero, x, x)
		if chosen {
			some := YMM()
			VPCMPEQD(lanesAt(counts, at), zero, some)
			VPANDN(is, some, is)
			VBLENDVPS(some, lanesAt(out, at), x, x)
		}
		VPOR(is, nan, nan)
		VMOVUPS(x, lanesAt(out, at))
	}, func() {
		result := GP32()
		VMOVMSKPS(nan, result)
		Store(result, ReturnIndex(0))
	})
}

func amounts() {
	begin("amountsAVX2", "func(amounts *int32, out, from *float32, low, high, scale float32, eights uint64) (nan uint32)", "is bound, and the amounts in quanta.")
	list, out, from, low, high, scale := pointer("amounts"), pointer("out"), pointer("from"), numberOf("low"), numberOf("high"), numberOf("scale")
	sign, half, bits := YMM(), YMM(), GP32()
	VPCMPEQD(sign, sign, sign)
	VPSLLD(Imm(31), sign, sign)
	MOVL(U32(0x3effffff), bits) // the number before 1/2: with it a sum is 1 from 1/2 on, and not before
	VMOVD(bits, half.AsX())
	VPBROADCASTD(half.AsX(), half)
	zero, nan := zeroed(), zeroed()
	eights(func(at Register) {
		x, is, away := YMM(), YMM(), YMM()
		VMOVUPS(lanesAt(from, at), x)
		VCMPPS(Imm(unordered), x, x, is)
		VPOR(is, nan, nan)
		VMAXPS(x, low, x) // the second, in Intel's order, where one is NaN
		VMINPS(x, high, x)
		VADDPS(zero, x, x)
		VMOVUPS(x, lanesAt(out, at))
		VMULPS(scale, x, x)
		VANDPS(sign, x, away)
		VORPS(half, away, away)
		VADDPS(away, x, x)
		VCVTTPS2DQ(x, x)
		VPANDN(x, is, x)
		VMOVDQU(x, lanesAt(list, at))
	}, func() {
		result := GP32()
		VMOVMSKPS(nan, result)
		Store(result, ReturnIndex(0))
	})
}

func addAt() {
	begin("addAtAVX2", "func(sums *int32, at *uint32, amounts *int32, n uint64)", "adds n > 0 amounts to sums.")
	sums, at, amounts, n := pointer("sums"), pointer("at"), pointer("amounts"), pointer("n")
	add := func(index, amount Register) { ADDL(amount.(GPVirtual).As32(), Mem{Base: sums, Index: index, Scale: 4}) }
	pair := func(list Register, i int) (first, second Register) {
		both := GP64()
		MOVQ(Mem{Base: list, Disp: 8 * i}, both)
		return split(both)
	}
	SUBQ(Imm(4), n)
	JB(LabelRef("rest"))
	Label("four")
	for i := range 2 {
		first, second := pair(at, i)
		x, y := pair(amounts, i)
		add(first, x)
		add(second, y)
	}
	ADDQ(Imm(16), at)
	ADDQ(Imm(16), amounts)
	SUBQ(Imm(4), n)
	JAE(LabelRef("four"))
	Label("rest")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	Label("one")
	index, x := GP64(), GP64()
	MOVL(Mem{Base: at}, index.As32())
	MOVL(Mem{Base: amounts}, x.As32())
	add(index, x)
	ADDQ(Imm(4), at)
	ADDQ(Imm(4), amounts)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("done")
	RET()
}
