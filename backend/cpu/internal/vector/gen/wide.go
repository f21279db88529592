package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

const (
	xor3       = 0x96 // VPTERNLOGD: the exclusive or of all three
	notBelow   = 5    // VPCMPUD: ≥
	upperWords = 0xAAAA
)

// widePhilox is philox with eight calls in a register and one xor of three numbers.
func widePhilox() {
	offsets := constants("offsets512", 0, 1, 2, 3, 4, 5, 6, 7)
	order := [2]Mem{constants("lower512", 0, 8, 1, 9, 2, 10, 3, 11), constants("upper512", 4, 12, 5, 13, 6, 14, 7, 15)}
	begin("drawsAVX512", "func(p *uint32, first uint32, out *uint32, n uint64)", "fills 32·n words.")
	p, out, n := pointer("p"), pointer("out"), pointer("n")
	index, eight := spread(Load(Param("first"), GP32())), immediate(8)
	m0, m1 := immediate(0xD2511F53), immediate(0xCD9E8D57)
	VPADDD(offsets, index, index)
	mask, k := GP32(), K()
	MOVL(U32(upperWords), mask)
	KMOVW(mask, k)
	loop("eight", n, map[Register]int{out: 128}, []Register{out}, func() {
		var c [4]VecVirtual
		for i := range c {
			c[i] = ZMM()
		}
		VMOVDQU32(index, c[0])
		for i := range 3 {
			VPBROADCASTD(Mem{Base: p, Disp: counterAt + 4*i}, c[i+1])
		}
		for round := range 10 {
			p0, p1 := ZMM(), ZMM()
			VPMULUDQ(c[0], m0, p0)
			VPMULUDQ(c[2], m1, p1)
			VMOVSHDUP(p1, c[0]) // the upper half: a shift would wait for the multipliers
			VPTERNLOGD_BCST(U8(xor3), Mem{Base: p, Disp: 64 * round}, c[1], c[0])
			VMOVSHDUP(p0, c[2])
			VPTERNLOGD_BCST(U8(xor3), Mem{Base: p, Disp: 64*round + 32}, c[3], c[2])
			c[1], c[3] = p1, p0
		}
		for i := range 2 { // words 0 and 1, 2 and 3 side by side
			VPSLLQ(Imm(32), c[2*i+1], c[2*i+1])
			VPBLENDMD(c[2*i+1], c[2*i], k, c[2*i])
		}
		for half := range order {
			z := ZMM()
			VMOVDQU64(order[half], z)
			VPERMI2Q(c[2], c[0], z)
			VMOVDQU32(z, Mem{Base: out, Disp: 64 * half})
		}
		VPADDD(eight, index, index)
	})
}

// spread is a 32-bit register in all sixteen places of a wide one.
func spread(r Register) VecVirtual {
	z := ZMM()
	VPBROADCASTD(r, z)
	return z
}

// immediate is a number in all sixteen places.
func immediate(x uint32) VecVirtual {
	r := GP32()
	MOVL(U32(x), r)
	return spread(r)
}

// constants are eight 64-bit numbers in memory.
func constants(name string, list ...uint64) Mem {
	m := GLOBL(name, RODATA|NOPTR)
	for i, x := range list {
		DATA(8*i, U64(x))
	}
	return m
}

// wideCounts is addCounts with masks.
func wideCounts() {
	begin("addCountsAVX512", "func(acc *int32, draws, thresholds *uint32, count uint64, amount int32, n uint64)", "is addCounts for 32·n draws and count > 0 thresholds.")
	acc, draws, thresholds, count, n := pointer("acc"), pointer("draws"), pointer("thresholds"), pointer("count"), pointer("n")
	amount := ZMM()
	VPBROADCASTD(Load(Param("amount"), GP32()), amount)
	loop("draws", n, map[Register]int{acc: 128, draws: 128}, []Register{acc, draws}, func() {
		var x, sum [2]VecVirtual
		var m [2]OpmaskVirtual
		for i := range x {
			x[i], sum[i], m[i] = ZMM(), ZMM(), K()
			VMOVDQU32(Mem{Base: draws, Disp: 64 * i}, x[i])
			VMOVDQU32(Mem{Base: acc, Disp: 64 * i}, sum[i])
		}
		at := GP64()
		XORQ(at, at)
		Label("threshold")
		for i := range x {
			VPCMPUD_BCST(Imm(notBelow), Mem{Base: thresholds, Index: at, Scale: 4}, x[i], m[i])
			VPADDD(amount, sum[i], m[i], sum[i])
		}
		KORTESTW(m[1], m[0])
		JZ(LabelRef("counted"))
		INCQ(at)
		CMPQ(at, count)
		JB(LabelRef("threshold"))
		Label("counted")
		for i := range x {
			VMOVDQU32(sum[i], Mem{Base: acc, Disp: 64 * i})
		}
	})
}
