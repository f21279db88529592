package main

import (
	. "github.com/mmcloughlin/avo/build" //nolint:revive // as avo's programs are written
	"github.com/mmcloughlin/avo/ir"
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

// byteCandidates does so with the places of 64 sums, which are bytes. Most often at most sixteen of them are there.
func byteCandidates() {
	offsets := GLOBL("bytes512", RODATA|NOPTR)
	for i := range 64 {
		DATA(i, U8(uint8(i)))
	}
	begin("candidatesVBMI2", "func(acc *int32, list *uint32, blocks uint64) (n uint64)", "lists the places of sums that are not zero in blocks > 0.")
	acc, list, n := pointer("acc"), pointer("list"), pointer("blocks")
	order, at, block, zero := ZMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU32(offsets, order)
	VPXORD(at, at, at)
	VPXORD(zero, zero, zero)
	step, out := GP32(), GP64()
	MOVL(U32(64), step)
	VPBROADCASTD(step, block)
	MOVQ(list, out)
	Label("block")
	var has [4]OpmaskVirtual
	for i := range has {
		has[i] = K()
		VPCMPD(Imm(notEqual), Mem{Base: acc, Disp: 64 * i}, zero, has[i])
	}
	KUNPCKWD(has[0], has[1], has[1])
	KUNPCKWD(has[2], has[3], has[3])
	KUNPCKDQ(has[1], has[3], has[3])
	found, count := ZMM(), GP64()
	compressBytes(order, has[3], found)
	KMOVQ(has[3], count)
	POPCNTQ(count, count)
	write := func(part int) {
		some, wide := found.AsX(), ZMM()
		if part > 0 {
			some = XMM()
			VEXTRACTI32X4(Imm(uint64(part)), found, some)
		}
		VPMOVZXBD(some, wide)
		VPADDD(at, wide, wide)
		VMOVDQU32(wide, Mem{Base: out, Disp: 64 * part})
	}
	write(0)
	CMPQ(count, Imm(16))
	JLS(LabelRef("written"))
	for part := 1; part < 4; part++ {
		write(part)
	}
	Label("written")
	LEAQ(Mem{Base: out, Index: count, Scale: 4}, out)
	VPADDD(block, at, at)
	ADDQ(U32(256), acc)
	DECQ(n)
	JNZ(LabelRef("block"))
	returnCount(list, out)
}

// compressBytes is VPCOMPRESSB, which avo does not know.
func compressBytes(from, chosen, to Op) {
	Instruction(&ir.Instruction{
		Opcode: "VPCOMPRESSB", Suffixes: []string{"Z"}, Operands: []Op{from, chosen, to}, Inputs: []Op{from, chosen}, Outputs: []Op{to}, ISA: []string{"AVX512VBMI2"},
	})
}

// near is how many factors of decay are kept in registers.
const near = 128

// inputs works on sixteen neurons at a time. Their sums and cells are loaded and stored one by one: on AMD's processors gathers and
// scatters take more than twice as long.
func inputs() {
	even := places("even512", func(i uint64) uint64 { return 2*i + evenPlaces })
	odd := places("odd512", func(i uint64) uint64 { return 2*i + oddPlaces })
	turns := [2]Mem{
		places("first512", func(i uint64) uint64 { return i/2 + i%2*16 }),
		places("second512", func(i uint64) uint64 { return 8 + i/2 + i%2*16 }),
	}
	begin("eventAVX512", "func(k *float32, decay *float32, last uint64, cells *float32, acc *int32, list *uint32, n uint64) (fired uint64)", "is event for 16·n > 0 neurons and a table of last + 1 ≥ 128 numbers.")
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
	var factors [near / 16]VecVirtual
	for i := range factors {
		factors[i] = ZMM()
		VMOVUPS(Mem{Base: decay, Disp: 64 * i}, factors[i])
	}
	limit, quarter, half := immediate(near-1), immediate(near/4), immediate(near/2)
	out, first := GP64(), GP64()
	MOVQ(list, out)
	MOVQ(list, first)
	id := func(i int) Register {
		r := GP64()
		MOVL(Mem{Base: list, Disp: 4 * i}, r.As32())
		return r
	}

	Label("sixteen")
	var sums, cellPairs [4]VecVirtual
	var pairs [2]VecVirtual
	for q := range sums {
		var ids [4]Register
		for i := range ids {
			ids[i] = id(4*q + i)
		}
		at := func(i int) Mem { return Mem{Base: acc, Index: ids[i], Scale: 4} }
		cell := func(i int) Mem { return Mem{Base: cells, Index: ids[i], Scale: 8} }
		x, low, high := XMM(), XMM(), XMM()
		VMOVD(at(0), x)
		VMOVQ(cell(0), low)
		VMOVQ(cell(2), high)
		VMOVHPS(cell(1), low, low)
		VMOVHPS(cell(3), high, high)
		for i := 1; i < 4; i++ {
			VPINSRD(Imm(uint64(i)), at(i), x, x)
		}
		sums[q], cellPairs[q] = x, YMM()
		VINSERTI32X4(Imm(1), high, low.AsY(), cellPairs[q])
	}
	for i := range 16 { // after all loads, as lanes may have the same neuron
		MOVL(U32(0), Mem{Base: acc, Index: id(i), Scale: 4}) // 7
	}
	join := func(low, high VecVirtual) VecVirtual {
		z := ZMM()
		VINSERTI64X4(Imm(1), high.AsY(), low.AsZ(), z)
		return z
	}
	VINSERTI32X4(Imm(1), sums[1], sums[0].AsY(), sums[0].AsY())
	VINSERTI32X4(Imm(1), sums[3], sums[2].AsY(), sums[2].AsY())
	sum := join(sums[0], sums[2])
	pairs[0], pairs[1] = join(cellPairs[0], cellPairs[1]), join(cellPairs[2], cellPairs[3])
	v, age := ZMM(), ZMM()
	VMOVDQU32(even, v)
	VMOVDQU32(odd, age)
	VPERMI2D(pairs[1], pairs[0], v)
	VPERMI2D(pairs[1], pairs[0], age)
	at := ZMM()
	VMOVDQA32(age, at)
	VPSUBD(age, now, age)
	live, far := K(), K()
	VPCMPD(Imm(moreThan), zero, age, live) // 4a
	VPMINSD(last, age, age)
	VPCMPD(Imm(moreThan), limit, age, live, far)
	VCVTDQ2PS(sum, sum)
	over, odds, upper := ZMM(), K(), K()
	KTESTW(far, far)
	JNZ(LabelRef("gather"))
	VPTESTMD(quarter, age, odds)
	VPTESTMD(half, age, upper)
	quarters := [4]VecVirtual{over, ZMM(), ZMM(), ZMM()}
	for i, z := range quarters {
		VMOVDQA32(age, z)
		VPERMI2PS(factors[2*i+1], factors[2*i], z)
	}
	VMOVAPS(quarters[1], odds, over)
	VMOVAPS(quarters[3], odds, quarters[2])
	VMOVAPS(quarters[2], upper, over)
	Label("decayed")
	VDIVPS(scale, sum, sum)
	x := ZMM()
	VMULPS(over, v, x) // 4b
	VADDPS(sum, x, x)  // 4c
	fires, count := K(), GP64()
	VCMPPS(Imm(greaterEq), threshold, x, live, fires) // 4d
	VMOVAPS(x, live, v)
	VMOVDQA32(now, live, at)
	VMOVAPS(reset, fires, v)
	VMOVDQA32(later, fires, at)
	for i := range pairs {
		VMOVDQU32(turns[i], pairs[i])
		VPERMI2D(at, v, pairs[i])
		for j := range 4 {
			two := pairs[i].AsX()
			if j > 0 {
				two = XMM()
				VEXTRACTI32X4(Imm(uint64(j)), pairs[i], two)
			}
			VMOVLPS(two, Mem{Base: cells, Index: id(8*i + 2*j), Scale: 8})
			VMOVHPS(two, Mem{Base: cells, Index: id(8*i + 2*j + 1), Scale: 8})
		}
	}
	KMOVW(fires, count.As32())
	TESTL(count.As32(), count.As32())
	JNZ(LabelRef("fire"))
	Label("next")
	ADDQ(Imm(64), list)
	DECQ(n)
	JNZ(LabelRef("sixteen"))
	returnCount(first, out)

	Label("gather")
	VPXORD(over, over, over)
	KMOVW(live, far)
	VPGATHERDD(Mem{Base: decay, Index: age, Scale: 4}, far, over)
	JMP(LabelRef("decayed"))

	Label("fire") // what is written behind the last one has been read
	some := ZMM()
	VMOVDQU32(Mem{Base: list}, some)
	VPCOMPRESSD_Z(some, fires, some)
	VMOVDQU32(some, Mem{Base: out})
	POPCNTL(count.As32(), count.As32())
	LEAQ(Mem{Base: out, Index: count, Scale: 4}, out)
	JMP(LabelRef("next"))
}

// returnCount ends a function that returns how many 32-bit numbers it has written from first to out.
func returnCount(first, out Register) {
	SUBQ(first, out)
	SHRQ(Imm(2), out)
	Store(out, ReturnIndex(0))
	VZEROUPPER()
	RET()
}
