package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// Entries of vector.Pair, of eight words each. The last ones are scratch.
const (
	ofPost  = 0
	ofPre   = 5
	pairLow = iota + 8
	pairHigh
	pairScale
	pairShift
	pairNow
	pairThen
	pairX
	pairAfter
	pairBase
	pairValid
	pairTargets
	pairWeights
)

// Entries of vector.PairStep.
const (
	stepC = iota
	stepE
	stepM
	stepD
	stepFinal
)

// pairs takes a row through on_post and on_pre of a pair rule, eight synapses at a time.
func pairs(masks Mem) {
	words := func(name string, x uint32) Mem {
		list := GLOBL(name, RODATA|NOPTR)
		for i := range 8 {
			DATA(4*i, U32(x))
		}
		return list
	}
	signs, halves := words("signs", 1<<31), words("halves", 0x3effffff) // see amounts
	bursts, gap := words("bursts", 1<<31-1), words("gap", 32)           // see vector.Head
	begin("pairsAVX2", "func(k, weight *float32, targets, heads *uint32, sums *int32, slots *uint64, last *uint32, ofTarget, ofSource *float32, again *uint32, next, farTargets *uint32, farWeight *float32, n uint64, x float32, after, base, shift uint32) (missed uint64, nan uint32)", "is pairs for n > 0 synapses.")
	k, weights, targets, heads, sums := pointer("k"), pointer("weight"), pointer("targets"), pointer("heads"), pointer("sums")
	ofTarget, ofSource, n, missed := pointer("ofTarget"), pointer("ofSource"), pointer("n"), GP64()
	of := func(i int) Mem { return Mem{Base: k, Disp: 32 * i} }
	shift := GP64()
	Load(Param("shift"), shift.As32())
	NEGQ(shift)
	LEAQ(Mem{Base: heads, Index: shift, Scale: 8}, heads)
	LEAQ(Mem{Base: sums, Index: shift, Scale: 4}, sums)
	XORQ(missed, missed)
	zero, nan, first := zeroed(), zeroed(), YMM()
	VMOVUPS(numberOf("x"), of(pairX))
	VMOVDQU(spreadOf("after"), of(pairAfter))
	VMOVDQU(spreadOf("base"), of(pairBase))
	VPCMPEQD(first, first, first)
	VMOVDQU(first, of(pairValid))
	SUBQ(Imm(8), n)
	JLT(LabelRef("tail"))

	Label("eight")
	ask := pointer("farWeight")
	ahead := GP64() // how far the row is done, in bytes
	Load(Param("n"), ahead)
	SUBQ(n, ahead)
	PREFETCHT0(Mem{Base: ask, Index: ahead, Scale: 4, Disp: -32})
	ask = pointer("farTargets")
	PREFETCHT0(Mem{Base: ask, Index: ahead, Scale: 4, Disp: -32})
	ask = pointer("next")
	for i := range 4 {
		pair := GP64()
		MOVQ(Mem{Base: ask, Index: ahead, Scale: 4, Disp: -32 + 8*i}, pair)
		one, two := split(pair)
		for _, index := range []Register{one, two} {
			PREFETCHT0(Mem{Base: heads, Index: index, Scale: 8})
			PREFETCHT0(Mem{Base: sums, Index: index, Scale: 4})
		}
	}
	Label("asked")
	lane, y, count, w := YMM(), YMM(), YMM(), YMM()
	pickHeads(heads, Mem{Base: targets}, lane, y)
	flags := YMM()
	VMOVDQA(lane, flags)
	VPAND(bursts, lane, lane)
	VPCMPGTW(of(pairAfter), lane, count)
	VMOVUPS(Mem{Base: weights}, w)
	age := YMM()
	VPTEST(count, count)
	JZ(LabelRef("pre"))
	second, bits := YMM(), GP32()
	VPSRAD(Imm(31), count, second)
	VPSLLD(Imm(16), count, count)
	VPSRAD(Imm(31), count, count)
	VPSRLD(Imm(31), second, age)
	VPSLLD(Imm(4), age, age)
	VPSRLVD(age, lane, age)
	early, apart := YMM(), YMM() // may there be a third event?
	VPSRLD(Imm(16), lane, early)
	VPBLENDW(Imm(0xAA), zero, early, early)
	VMOVDQU(of(pairAfter), apart)
	VPBLENDW(Imm(0xAA), zero, apart, apart)
	VPSUBD(apart, early, early)
	VPCMPGTD(gap, early, early)
	VPSRAD(Imm(31), flags, flags)
	VPANDN(second, flags, flags)
	VPAND(second, early, early)
	VPOR(early, flags, flags)
	VPAND(of(pairValid), flags, flags)
	VMOVMSKPS(flags, bits)
	TESTL(bits, bits)
	JZ(LabelRef("post"))
	slots, limit := pointer("slots"), GP32()
	Load(Param("after"), limit)
	MOVWLZX(limit.As16(), limit)
	Label("third")
	at, third := GP64(), GP32()
	TZCNTL(bits, at.As32())
	MOVL(Mem{Base: targets, Index: at, Scale: 4}, at.As32())
	Load(Param("shift"), third)
	SUBL(third, at.As32())
	SHLQ(Imm(4), at)
	MOVWLZX(Mem{Base: slots, Index: at, Scale: 1, Disp: 4}, third)
	CMPL(third, limit)
	JA(LabelRef("missed"))
	BLSRL(bits, bits)
	JNZ(LabelRef("third"))

	Label("post")
	next := stepOf(k, ofPost, w, pastOf(of, age, zero, ofSource))
	notNumber(next, count, nan)
	bounded(next, of(pairLow), of(pairHigh), zero)
	VBLENDVPS(count, next, w, w)
	VPTEST(second, second)
	JZ(LabelRef("pre"))
	next = stepOf(k, ofPost, w, pastOf(of, lane, zero, ofSource))
	notNumber(next, second, nan)
	bounded(next, of(pairLow), of(pairHigh), zero)
	VBLENDVPS(second, next, w, w)

	Label("pre")
	now, is, strange := YMM(), YMM(), YMM()
	VPBLENDW(Imm(0xAA), zero, lane, now)
	VPCMPEQD(of(pairThen), now, is)
	VPSRLD(Imm(31), is, is)
	VPSLLD(Imm(4), is, is) // the lane before the one of this burst
	VPSRLVD(is, lane, lane)
	VPBLENDW(Imm(0xAA), zero, lane, lane)
	VPCMPEQD(zero, lane, strange)
	then := YMM()
	VMOVDQU(of(pairThen), then)
	VPSUBD(lane, then, now)
	VCMPPS(Imm(equal), zero, y, is)
	VPANDN(strange, is, strange)
	VPTEST(strange, strange)
	JZ(LabelRef("known"))
	index, lasts := YMM(), pointer("last")
	VMOVDQU(Mem{Base: targets}, index)
	VPSUBD(of(pairShift), index, index)
	VMOVDQA(strange, is)
	found, today := gather(lasts, 0, index, 4, is), YMM()
	VMOVDQU(of(pairNow), today)
	VPSUBD(found, today, found)
	VPBLENDVB(strange, found, now, now)
	Label("known")
	p := tableAt(ofTarget, now, of(ofPre+stepFinal))
	VMULPS(y, p, p)
	out := stepOf(k, ofPre, w, p)
	VCMPPS(Imm(unordered), out, out, is)
	VPAND(of(pairValid), is, y)
	VPOR(y, nan, nan)
	bounded(out, of(pairLow), of(pairHigh), zero)
	VMOVUPS(out, Mem{Base: weights})
	away := YMM()
	VMULPS(of(pairScale), out, out)
	VANDPS(signs, out, away)
	VORPS(halves, away, away)
	VADDPS(away, out, out)
	VCVTTPS2DQ(out, out)
	VPANDN(out, is, out)
	VPAND(of(pairValid), out, out)
	addEight(sums, Mem{Base: targets}, out)

	Label("next")
	ADDQ(Imm(32), weights)
	ADDQ(Imm(32), targets)
	SUBQ(Imm(8), n)
	JGE(LabelRef("eight"))
	Label("tail") // of n + 8 synapses, or it is behind: n is 8 less
	table, mask, some, rest := GP64(), YMM(), YMM(), YMM()
	LEAQ(Mem{Base: n, Disp: 8}, shift)
	TESTQ(shift, shift)
	JLE(LabelRef("done"))
	LEAQ(masks.Offset(32), table)
	SHLQ(Imm(2), shift)
	SUBQ(shift, table)
	VMOVDQU(Mem{Base: table}, mask)
	VMOVDQU(mask, of(pairValid))
	VPMASKMOVD(Mem{Base: targets}, mask, some)
	VMOVDQU(of(pairShift), rest)
	VPBLENDVB(mask, some, rest, some)
	VMOVDQU(some, of(pairTargets))
	VPMASKMOVD(Mem{Base: weights}, mask, some)
	VMOVDQU(some, of(pairWeights))
	LEAQ(of(pairTargets), targets)
	LEAQ(of(pairWeights), weights)
	JMP(LabelRef("asked"))

	Label("missed")
	again, total := pointer("again"), GP64()
	Load(Param("n"), total)
	SUBQ(n, total)
	SUBQ(Imm(8), total)
	MOVL(total.As32(), Mem{Base: again, Index: missed, Scale: 4})
	INCQ(missed)
	JMP(LabelRef("next"))

	Label("done")
	storeTail(of(pairWeights), shift)
	result := GP32()
	VMOVMSKPS(nan, result)
	VZEROUPPER()
	Store(missed, ReturnIndex(0))
	Store(result, ReturnIndex(1))
	RET()
}

// pastOf is x·P[age] of the source, with base the age of a lane, whose upper half is another one.
func pastOf(of func(i int) Mem, lane, zero VecVirtual, table Register) VecVirtual {
	age := YMM()
	VPBLENDW(Imm(0xAA), zero, lane, age)
	VPADDD(of(pairBase), age, age)
	p := tableAt(table, age, of(ofPost+stepFinal))
	VMULPS(of(pairX), p, p)
	return p
}

// tableAt is P at ages; final is spread in memory.
func tableAt(low Register, age VecVirtual, final Mem) VecVirtual {
	inside, index := YMM(), YMM()
	VPMINUD(final, age, index)
	VPCMPEQD(age, index, inside)
	p := pickAt(low, index)
	VANDPS(inside, p, p)
	return p
}

// stepOf is w + C·(E + w/M)·(t + D); t is lost.
func stepOf(k Register, step int, w, t VecVirtual) VecVirtual {
	of := func(i int) Mem { return Mem{Base: k, Disp: 32 * (step + i)} }
	out := YMM()
	VDIVPS(of(stepM), w, out)
	VADDPS(of(stepE), out, out)
	VMULPS(of(stepC), out, out)
	VADDPS(of(stepD), t, t)
	VMULPS(t, out, out)
	VADDPS(out, w, out)
	return out
}

// bounded brings numbers within bounds, makes +0 of −0, and leaves NaN.
func bounded(x VecVirtual, low, high Mem, zero VecVirtual) {
	bound := YMM()
	VMOVUPS(low, bound)
	VMAXPS(x, bound, x) // the second, in Intel's order, where one is NaN
	VMOVUPS(high, bound)
	VMINPS(x, bound, x)
	VADDPS(zero, x, x)
}

// notNumber tells where x is NaN, of those that are chosen, and adds this to all.
func notNumber(x, chosen, all VecVirtual) {
	is := YMM()
	VCMPPS(Imm(unordered), x, x, is)
	VPAND(chosen, is, is)
	VPOR(is, all, all)
}

// storeTail writes back what was a row's tail, if rest, 8 less than its length, is not 0.
func storeTail(from Mem, rest GPVirtual) {
	TESTQ(rest, rest)
	JZ(LabelRef("stored"))
	ADDQ(Imm(8), rest)
	to, n, at, x := pointer("weight"), GP64(), GP64(), GP32()
	Load(Param("n"), n)
	SUBQ(rest, n)
	LEAQ(Mem{Base: to, Index: n, Scale: 4}, to)
	LEAQ(from, at)
	Label("one")
	MOVL(Mem{Base: at}, x)
	MOVL(x, Mem{Base: to})
	ADDQ(Imm(4), at)
	ADDQ(Imm(4), to)
	DECQ(rest)
	JNZ(LabelRef("one"))
	Label("stored")
}

// addEight adds to the sums of eight targets.
func addEight(sums Register, targets Mem, amounts VecVirtual) {
	addPairs(sums, targets, 4, pairsOf(amounts))
}

// addPairs adds pairs of numbers to the sums of targets.
func addPairs(sums Register, targets Mem, pairs int, of func(i int) Register) {
	for i := range pairs {
		pair := GP64()
		MOVQ(targets.Offset(8*i), pair)
		first, second := split(pair)
		x, y := split(of(i))
		ADDL(x.(GPVirtual).As32(), Mem{Base: sums, Index: first, Scale: 4})
		ADDL(y.(GPVirtual).As32(), Mem{Base: sums, Index: second, Scale: 4})
	}
}
