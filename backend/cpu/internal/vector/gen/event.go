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

// candidatesByTable looks up where the bits are that are set in a byte, eight sums at a time.
func candidatesByTable() {
	var rows [256]uint64
	for set := range rows {
		for bit, at := 0, 0; bit < 8; bit++ {
			if set>>bit&1 != 0 {
				rows[set] |= uint64(bit) << at
				at += 8
			}
		}
	}
	table := constants("setBits", rows[:]...)
	begin("candidatesAVX2", "func(acc *int32, list *uint32, blocks uint64) (n uint64)", "lists the places of sums that are not zero in blocks > 0.")
	acc, list, n := pointer("acc"), pointer("list"), pointer("blocks")
	at, eight, zero := zeroed(), immediate256(8), zeroed()
	out, first := GP64(), GP64()
	MOVQ(list, out)
	LEAQ(table, first)
	Label("block")
	for i := range 8 {
		has, set := YMM(), GP64()
		VPCMPEQD(Mem{Base: acc, Disp: 32 * i}, zero, has)
		VMOVMSKPS(has, set.As32())
		XORL(U32(0xff), set.As32())
		found := YMM()
		VPMOVZXBD(Mem{Base: first, Index: set, Scale: 8}, found)
		VPADDD(at, found, found)
		VMOVDQU(found, Mem{Base: out})
		POPCNTL(set.As32(), set.As32())
		LEAQ(Mem{Base: out, Index: set, Scale: 4}, out)
		VPADDD(eight, at, at)
	}
	ADDQ(U32(256), acc)
	DECQ(n)
	JNZ(LabelRef("block"))
	returnCount(list, out)
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
		for i := range ids {
			MOVL(U32(0), at(i)) // 7
		}
		sums[q], cellPairs[q] = x, YMM()
		VINSERTI32X4(Imm(1), high, low.AsY(), cellPairs[q])
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
	some := ZMM() // what is written behind the last one has been read
	VMOVDQU32(Mem{Base: list}, some)
	VPCOMPRESSD_Z(some, fires, some)
	VMOVDQU32(some, Mem{Base: out})
	KMOVW(fires, count.As32())
	POPCNTL(count.As32(), count.As32())
	LEAQ(Mem{Base: out, Index: count, Scale: 4}, out)
	ADDQ(Imm(64), list)
	DECQ(n)
	JNZ(LabelRef("sixteen"))
	returnCount(first, out)

	Label("gather")
	VPXORD(over, over, over)
	KMOVW(live, far)
	VPGATHERDD(Mem{Base: decay, Index: age, Scale: 4}, far, over)
	JMP(LabelRef("decayed"))
}

// fourInputs works on four neurons at a time, whose sums, cells and factors are loaded one by one.
func fourInputs() {
	begin("eventAVX2", "func(k *float32, decay *float32, last uint64, cells *float32, acc *int32, list *uint32, n uint64) (fired uint64)", "is event for 4·n > 0 neurons and a table of last + 1 numbers.")
	k, decay, cells, acc, list, n := pointer("k"), pointer("decay"), pointer("cells"), pointer("acc"), pointer("list"), pointer("n")
	constant := func(i int) VecVirtual {
		x := XMM()
		VBROADCASTSS(Mem{Base: k, Disp: 4 * i}, x)
		return x
	}
	scale, threshold, reset, later, now, last, zero := constant(0), constant(1), constant(2), constant(3), constant(4), XMM(), XMM()
	VPADDD(now, later, later)
	VMOVD(Load(Param("last"), GP64()).(GPVirtual).As32(), last)
	VPBROADCASTD(last, last)
	VPXOR(zero, zero, zero)
	out, first := GP64(), GP64()
	MOVQ(list, out)
	MOVQ(list, first)

	Label("four")
	var ids [4]GPVirtual
	for i := range ids {
		ids[i] = GP64()
		MOVL(Mem{Base: list, Disp: 4 * i}, ids[i].As32())
	}
	sumOf := func(i int) Mem { return Mem{Base: acc, Index: ids[i], Scale: 4} }
	cell := func(i int) Mem { return Mem{Base: cells, Index: ids[i], Scale: 8} }
	low, high, sum := XMM(), XMM(), XMM()
	VMOVQ(cell(0), low)
	VMOVQ(cell(2), high)
	VMOVHPS(cell(1), low, low)
	VMOVHPS(cell(3), high, high)
	VMOVD(sumOf(0), sum)
	for i := 1; i < 4; i++ {
		VPINSRD(Imm(uint64(i)), sumOf(i), sum, sum)
	}
	for i := range ids {
		MOVL(U32(0), sumOf(i)) // 7
	}
	v, at, age, live, x := XMM(), XMM(), XMM(), XMM(), XMM()
	VSHUFPS(Imm(0x88), high, low, v)
	VSHUFPS(Imm(0xDD), high, low, at)
	VPSUBD(at, now, age)
	VPCMPGTD(zero, age, live) // 4a
	VPMINSD(last, age, age)
	VPMAXSD(zero, age, age)
	for i := range ids {
		of := GP64()
		if i == 0 {
			VMOVD(age, of.As32())
			VMOVSS(Mem{Base: decay, Index: of, Scale: 4}, x)
		} else {
			VPEXTRD(Imm(uint64(i)), age, of.As32())
			VINSERTPS(Imm(uint64(16*i)), Mem{Base: decay, Index: of, Scale: 4}, x, x)
		}
	}
	VCVTDQ2PS(sum, sum)
	VDIVPS(scale, sum, sum)
	VMULPS(x, v, x)   // 4b
	VADDPS(sum, x, x) // 4c
	fires, count := XMM(), GP32()
	VCMPPS(Imm(greaterEq), threshold, x, fires) // 4d
	VPAND(live, fires, fires)
	VBLENDVPS(live, x, v, v)
	VBLENDVPS(live, now, at, at)
	VBLENDVPS(fires, reset, v, v)
	VBLENDVPS(fires, later, at, at)
	VUNPCKLPS(at, v, low)
	VUNPCKHPS(at, v, high)
	VMOVLPS(low, cell(0))
	VMOVHPS(low, cell(1))
	VMOVLPS(high, cell(2))
	VMOVHPS(high, cell(3))
	VMOVMSKPS(fires, count)
	TESTL(count, count)
	JNZ(LabelRef("fire"))
	Label("next")
	ADDQ(Imm(16), list)
	DECQ(n)
	JNZ(LabelRef("four"))
	returnCount(first, out)

	Label("fire") // what is written behind the last one has been read
	for i := range ids {
		fired := GP64()
		MOVL(ids[i].As32(), Mem{Base: out})
		MOVL(count, fired.As32())
		ANDL(Imm(1), fired.As32())
		LEAQ(Mem{Base: out, Index: fired, Scale: 4}, out)
		SHRL(Imm(1), count)
	}
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
