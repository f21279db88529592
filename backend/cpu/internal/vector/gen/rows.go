package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// deliver is scalar: AVX2 cannot scatter. It spares Go's bounds checks and has a prefetch.
func deliver() {
	begin("deliverAVX2", "func(acc *int32, rows *uint16, spans *uint64, n uint64, ahead uint64)", "is deliver for n > 0 spans.")
	acc, rows, spans, n, ahead := pointer("acc"), pointer("rows"), pointer("spans"), pointer("n"), pointer("ahead")
	last := GP64() // from here on nothing is ahead
	MOVQ(n, last)
	SUBQ(ahead, last)
	SHLQ(Imm(4), ahead)
	p, end := GP64(), GP64()
	bounds := func(at Mem) { // of the span there
		MOVQ(at, p)
		at.Disp += 8
		MOVQ(at, end)
		LEAQ(Mem{Base: rows, Index: p, Scale: 2}, p)
		LEAQ(Mem{Base: rows, Index: end, Scale: 2}, end)
	}

	Label("span")
	DECQ(last)
	JL(LabelRef("fetched"))
	bounds(Mem{Base: spans, Index: ahead, Scale: 1})
	limit := GP64()
	LEAQ(Mem{Base: p, Disp: 1024}, limit)
	CMPQ(end, limit)
	CMOVQHI(limit, end)
	ANDQ(I8(-64), p)
	JMP(LabelRef("more"))
	Label("line")
	PREFETCHT0(Mem{Base: p})
	ADDQ(Imm(64), p)
	Label("more")
	CMPQ(p, end)
	JB(LabelRef("line"))
	Label("fetched")

	bounds(Mem{Base: spans})
	Label("segment")
	CMPQ(p, end)
	JAE(LabelRef("delivered"))
	count, kind, slot, weight := GP64(), GP32(), GP32(), GP32()
	MOVWLZX(Mem{Base: p}, count.As32())
	MOVWLZX(Mem{Base: p, Disp: 2}, kind)
	MOVL(Mem{Base: p, Disp: 4}, slot)
	MOVL(Mem{Base: p, Disp: 8}, weight)
	ADDQ(Imm(2*6), p)
	TESTL(kind, kind)
	JNZ(LabelRef("uneven"))

	sum := Mem{Base: acc, Index: slot.As64(), Scale: 4}
	gap, more := GP32(), GP32()
	ADDL(weight, sum)
	DECQ(count)
	unrolled("even", count, p, 2, func(disp int) {
		MOVWLZX(Mem{Base: p, Disp: disp}, gap)
		ADDL(gap, slot)
		ADDL(weight, sum)
	})

	Label("uneven")
	CMPB(kind.As8(), Imm(2))
	JE(LabelRef("wide"))
	SHRL(Imm(8), kind)
	unrolled("mixed", count, p, 4, func(disp int) {
		MOVL(Mem{Base: p, Disp: disp}, more)
		BZHIL(kind, more, gap)
		SHRXL(kind, more, more)
		ADDL(gap, slot)
		ADDL(weight, more)
		ADDL(more, sum)
	})

	Label("wide")
	unrolled("wide", count, p, 8, func(disp int) {
		ADDL(Mem{Base: p, Disp: disp}, slot)
		MOVL(Mem{Base: p, Disp: disp + 4}, more)
		ADDL(weight, more)
		ADDL(more, sum)
	})

	Label("delivered")
	ADDQ(Imm(16), spans)
	DECQ(n)
	JNZ(LabelRef("span"))
	RET()
}

// unrolled does body for count synapses of size bytes at p, four at a time and then one by one; then comes the next segment.
func unrolled(name string, count, p Register, size int, body func(disp int)) {
	four, rest, one := name+"_four", name+"_rest", name+"_one"
	SUBQ(Imm(4), count)
	JB(LabelRef(rest))
	Label(four)
	for i := range 4 {
		body(size * i)
	}
	ADDQ(U32(uint32(4*size)), p)
	SUBQ(Imm(4), count)
	JAE(LabelRef(four))
	Label(rest)
	ADDQ(Imm(4), count)
	JZ(LabelRef("segment"))
	Label(one)
	body(0)
	ADDQ(U32(uint32(size)), p)
	DECQ(count)
	JNZ(LabelRef(one))
	JMP(LabelRef("segment"))
}

func fetchRows() {
	begin("fetchRowsAVX2", "func(first *uint64, ids *uint32, n uint64)", "asks for first[id] of n > 0 ids.")
	first, ids, n := pointer("first"), pointer("ids"), pointer("n")
	Label("id")
	id := GP32()
	MOVL(Mem{Base: ids}, id)
	PREFETCHT0(Mem{Base: first, Index: id.As64(), Scale: 8})
	ADDQ(Imm(4), ids)
	DECQ(n)
	JNZ(LabelRef("id"))
	RET()
}
