package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

func pendingLanes() {
	second := GLOBL("second", RODATA|NOPTR) // the upper halves of words
	for i := range 8 {
		DATA(4*i, U32(0xffff0000))
	}
	begin("pendingAVX2", "func(counts, lanes *uint32, slots *uint64, targets, after *uint32, eights uint64) (some, most uint32)", "counts lanes of slots.")
	counts, lanes, slots, targets, after := pointer("counts"), pointer("lanes"), pointer("slots"), pointer("targets"), pointer("after")
	some, most, one, halves := zeroed(), zeroed(), YMM(), YMM()
	VPCMPEQD(one, one, one)
	VPSRLD(Imm(31), one, one)
	VMOVDQU(second, halves)
	eights(func(at Register) {
		index, limit, count, above := YMM(), YMM(), zeroed(), YMM()
		VMOVDQU(lanesAt(targets, at), index)
		VPADDD(index, index, index)
		VMOVDQU(lanesAt(after, at), limit)
		for word := range 4 { // two lanes each; most often no target has a third
			both := YMM()
			if word == 0 {
				VMOVDQU(lanesAt(lanes, at), above)
			} else {
				VPSRAD(Imm(16), above, above) // those whose second lane counts
				above = gather(slots, 4*word, index, 8, above)
			}
			VPCMPGTW(limit, above, above)
			VPMADDWD(above, above, both) // (−1)² for each
			VPADDD(both, count, count)
			if word < 3 {
				VPTEST(above, halves)
				JZ(LabelRef("counted"))
			}
		}
		Label("counted")
		VMOVDQU(count, lanesAt(counts, at))
		VPMAXUD(count, most, most)
		VPMINUD(one, count, count)
		VPADDD(count, some, some)
	}, func() {
		Store(joined(some, VPADDD), ReturnIndex(0))
		Store(joined(most, VPMAXUD), ReturnIndex(1))
	})
}

func above() {
	chosen := GLOBL("chosen", RODATA|NOPTR) // by eight flags: the numbers of those that are set, a byte each
	for flags := range 256 {
		numbers, n := uint64(0), 0
		for i := range 8 {
			if flags>>i&1 != 0 {
				numbers |= uint64(i) << (8 * n)
				n++
			}
		}
		DATA(8*flags, U64(numbers))
	}
	begin("aboveAVX2", "func(list, numbers *uint32, limit uint32, eights uint64) (found uint32)", "lists the entries of numbers below 2^31 above a limit.")
	list, numbers, limit, first := pointer("list"), pointer("numbers"), spreadOf("limit"), YMM()
	table, start, eight := GP64(), GP64(), GP32()
	LEAQ(chosen, table)
	MOVQ(list, start)
	VPXOR(first, first, first)
	MOVL(U32(8), eight)
	by := YMM()
	VMOVD(eight, by.AsX())
	VPBROADCASTD(by.AsX(), by)
	eights(func(at Register) {
		is, flags, place := YMM(), GP32(), YMM()
		VMOVDQU(lanesAt(numbers, at), is)
		VPCMPGTD(limit, is, is)
		VMOVMSKPS(is, flags)
		VPMOVZXBD(Mem{Base: table, Index: flags.As64(), Scale: 8}, place)
		VPADDD(first, place, place)
		VMOVDQU(place, Mem{Base: list})
		POPCNTL(flags, flags)
		LEAQ(Mem{Base: list, Index: flags.As64(), Scale: 4}, list)
		VPADDD(by, first, first)
	}, func() {
		SUBQ(start, list)
		SHRQ(Imm(2), list)
		Store(list.(GPVirtual).As32(), ReturnIndex(0))
	})
}

// pickHeads gets the two words of eight heads.
func pickHeads(heads Register, targets Mem, lane, value VecVirtual) {
	var halves [2]VecVirtual // entries 0, 1, 4, 5 and 2, 3, 6, 7, as the shuffles want them
	var index, next Register
	for i := range 8 {
		if i%2 == 0 {
			pair := GP64()
			MOVQ(targets.Offset(4*i), pair)
			index, next = split(pair)
		} else {
			index = next
		}
		x, half := YMM(), &halves[i/2%2]
		VPBROADCASTQ(Mem{Base: heads, Index: index, Scale: 8}, x)
		if place := i%2 + i/4*2; place == 0 {
			*half = x
		} else {
			VPBLENDD(Imm(3<<(2*place)), x, *half, *half)
		}
	}
	a, b := halves[0], halves[1]
	VSHUFPS(Imm(0xDD), b, a, value)
	VSHUFPS(Imm(0x88), b, a, lane)
}

func meetings() {
	begin("meetAVX2", "func(lanes *uint32, values *float32, counts, ages, heads, targets, after, base *uint32, eights uint64) (some, both uint32)", "copies heads, counts their lanes and finds ages.")
	lanes, values, counts, ages := pointer("lanes"), pointer("values"), pointer("counts"), pointer("ages")
	heads, targets, after, base := pointer("heads"), pointer("targets"), pointer("after"), pointer("base")
	some, both, low, one, bursts := zeroed(), zeroed(), YMM(), YMM(), YMM()
	VPCMPEQD(low, low, low)
	VPSRLD(Imm(31), low, one)
	VPSRLD(Imm(1), low, bursts)
	VPSRLD(Imm(16), low, low)
	eights(func(at Register) {
		lane, value, count, second := YMM(), YMM(), YMM(), YMM()
		pickHeads(heads, lanesAt(targets, at), lane, value)
		VPAND(bursts, lane, lane)
		VMOVUPS(value, lanesAt(values, at))
		VMOVUPS(lane, lanesAt(lanes, at))
		VPCMPGTW(lanesAt(after, at), lane, count)
		VPSRLD(Imm(31), count, second)
		VPADDD(second, both, both)
		VPAND(one, count, count) // the second lane is above only where the first is
		VPADDD(count, some, some)
		VPADDD(second, count, count)
		VMOVDQU(count, lanesAt(counts, at))
		VPSLLD(Imm(4), second, second)
		VPSRLVD(second, lane, lane)
		VPAND(low, lane, lane)
		VPADDD(lanesAt(base, at), lane, lane)
		VMOVDQU(lane, lanesAt(ages, at))
	}, func() {
		Store(joined(some, VPADDD), ReturnIndex(0))
		Store(joined(both, VPADDD), ReturnIndex(1))
	})
}

// joined joins the eight lanes of a register.
func joined(all VecVirtual, join func(ops ...Op)) Register {
	half, result := XMM(), GP32()
	VEXTRACTI128(Imm(1), all, half)
	join(half, all.AsX(), half)
	for _, order := range []uint64{0x4E, 0xB1} {
		other := XMM()
		VPSHUFD(Imm(order), half, other)
		join(other, half, half)
	}
	VMOVD(half, result)
	return result
}
