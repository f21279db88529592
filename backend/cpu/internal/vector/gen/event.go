package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

const (
	moreThan   = 6 // VPCMPD: >
	notEqual   = 4
	evenPlaces = 0 // of two registers side by side
	oddPlaces  = 1
)

// places are sixteen 32-bit numbers in memory.
func places(name string, of func(i uint64) uint64) Mem {
	var list [8]uint64
	for i := range list {
		list[i] = of(uint64(2*i)) | of(uint64(2*i+1))<<32
	}
	return constants(name, list[:]...)
}

// candidates moves the places of sixteen sums that are not zero to the front of a register.
func candidates() {
	offsets := places("places512", func(i uint64) uint64 { return i })
	begin("candidatesAVX512", "func(acc *int32, list *uint32, blocks uint64) (n uint64)", "lists the places of sums that are not zero in blocks > 0.")
	acc, list, n := pointer("acc"), pointer("list"), pointer("blocks")
	at, sixteen, zero := ZMM(), ZMM(), ZMM()
	VMOVDQU32(offsets, at)
	step, out := GP32(), GP64()
	MOVL(U32(16), step)
	VPBROADCASTD(step, sixteen)
	VPXORD(zero, zero, zero)
	MOVQ(list, out)
	Label("block")
	for i := range 4 {
		has, found, count := K(), ZMM(), GP64()
		VPCMPD(Imm(notEqual), Mem{Base: acc, Disp: 64 * i}, zero, has)
		VPCOMPRESSD_Z(at, has, found)
		VMOVDQU32(found, Mem{Base: out})
		KMOVW(has, count.As32())
		POPCNTL(count.As32(), count.As32())
		LEAQ(Mem{Base: out, Index: count, Scale: 4}, out)
		VPADDD(sixteen, at, at)
	}
	ADDQ(U32(256), acc)
	DECQ(n)
	JNZ(LabelRef("block"))
	returnCount(list, out)
}

// inputs gathers the sums and cells of sixteen neurons, and scatters them.
func inputs() {
	even := places("even512", func(i uint64) uint64 { return 2*i + evenPlaces })
	odd := places("odd512", func(i uint64) uint64 { return 2*i + oddPlaces })
	turns := [2]Mem{
		places("first512", func(i uint64) uint64 { return i/2 + i%2*16 }),
		places("second512", func(i uint64) uint64 { return 8 + i/2 + i%2*16 }),
	}
	begin("eventAVX512", "func(k *float32, decay *float32, last uint64, cells *float32, acc *int32, list *uint32, n uint64) (fired uint64)", "is event for 16·n neurons and a table of last + 1 numbers.")
	k, decay, cells, acc, list, n := pointer("k"), pointer("decay"), pointer("cells"), pointer("acc"), pointer("list"), pointer("n")
	constant := func(i int) VecVirtual {
		z := ZMM()
		VPBROADCASTD(Mem{Base: k, Disp: 4 * i}, z)
		return z
	}
	scale, threshold, reset, later, now, last, zero := constant(0), constant(1), constant(2), constant(3), constant(4), ZMM(), ZMM()
	VPADDD(now, later, later)
	VPBROADCASTD(Load(Param("last"), GP64()).(GPVirtual).As32(), last)
	VPXORD(zero, zero, zero)
	out, first, count := GP64(), GP64(), GP64()
	MOVQ(list, out)
	MOVQ(list, first)
	all := func() OpmaskVirtual {
		m := K()
		KXNORW(m, m, m)
		return m
	}

	Label("sixteen")
	ids, sum, upper := ZMM(), ZMM(), YMM()
	VMOVDQU32(Mem{Base: list}, ids)
	VPXORD(sum, sum, sum)
	VPGATHERDD(Mem{Base: acc, Index: ids, Scale: 4}, all(), sum)
	VEXTRACTI64X4(Imm(1), ids, upper)
	places := [2]Mem{{Base: cells, Index: ids.AsY(), Scale: 8}, {Base: cells, Index: upper, Scale: 8}}
	var pairs [2]VecVirtual
	for i := range pairs {
		pairs[i] = ZMM()
		VPXORQ(pairs[i], pairs[i], pairs[i])
		VPGATHERDQ(places[i], all(), pairs[i])
	}
	v, age := ZMM(), ZMM()
	VMOVDQU32(even, v)
	VMOVDQU32(odd, age)
	VPERMI2D(pairs[1], pairs[0], v)
	VPERMI2D(pairs[1], pairs[0], age)
	VPSUBD(age, now, age)
	live, has := K(), K()
	VPCMPD(Imm(moreThan), zero, age, live) // 4a
	VPMINSD(last, age, age)
	over := ZMM()
	VPXORD(over, over, over)
	KMOVW(live, has)
	VPGATHERDD(Mem{Base: decay, Index: age, Scale: 4}, has, over)
	VMULPS(over, v, v) // 4b
	VCVTDQ2PS(sum, sum)
	VDIVPS(scale, sum, sum)
	VADDPS(sum, v, v) // 4c
	fires, at := K(), ZMM()
	VCMPPS(Imm(greaterEq), threshold, v, live, fires) // 4d
	VMOVAPS(reset, fires, v)
	VMOVDQA32(now, at)
	VMOVDQA32(later, fires, at)
	for i := range pairs {
		VMOVDQU32(turns[i], pairs[i])
		VPERMI2D(at, v, pairs[i])
	}
	high := K()
	KSHIFTRW(Imm(8), live, high)
	VPSCATTERDD(zero, all(), Mem{Base: acc, Index: ids, Scale: 4}) // 7
	KMOVW(fires, count.As32())
	VPSCATTERDQ(pairs[0], live, places[0])
	VPSCATTERDQ(pairs[1], high, places[1])
	TESTL(count.As32(), count.As32())
	JZ(LabelRef("silent"))
	VPCOMPRESSD(ids, fires, Mem{Base: out})
	POPCNTL(count.As32(), count.As32())
	LEAQ(Mem{Base: out, Index: count, Scale: 4}, out)
	Label("silent")
	ADDQ(Imm(64), list)
	DECQ(n)
	JNZ(LabelRef("sixteen"))
	returnCount(first, out)
}

// returnCount ends a function that returns how many 32-bit numbers it has written from first to out.
func returnCount(first, out Register) {
	SUBQ(first, out)
	SHRQ(Imm(2), out)
	Store(out, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
