package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// eachPiece goes through pieces: body gets the number of lanes of the next one, above 0, and may change it.
func eachPiece(body func(n GPVirtual)) {
	ends, pieces := pointer("ends"), pointer("pieces")
	lo, n, end := GP64(), GP64(), GP64()
	XORQ(lo, lo)
	Label("piece")
	MOVL(Mem{Base: ends}, end.As32())
	MOVQ(end, n)
	SUBQ(lo, n)
	MOVQ(end, lo)
	body(n)
	Label("next")
	ADDQ(Imm(4), ends)
	DECQ(pieces)
	JNZ(LabelRef("piece"))
	VZEROUPPER()
	RET()
}

// start is the address of the next piece in an array of words.
func start(array, starts Register) Register {
	at := GP64()
	MOVQ(Mem{Base: starts}, at)
	LEAQ(Mem{Base: array, Index: at, Scale: 4}, at)
	return at
}

func loadPieces(masks Mem) {
	begin("loadAVX2", "func(out, from *uint32, starts *uint64, ends *uint32, pieces uint64, less uint32)", "puts pieces one behind the other, less a number.")
	out, from, starts := pointer("out"), pointer("from"), pointer("starts")
	less, x, mask, table := spreadOf("less"), YMM(), YMM(), GP64()
	LEAQ(masks.Offset(32), table)
	eachPiece(func(n GPVirtual) {
		at, back := start(from, starts), GP64()
		ADDQ(Imm(8), starts)
		SUBQ(Imm(8), n)
		JB(LabelRef("rest"))
		Label("eight")
		VMOVDQU(Mem{Base: at}, x)
		VPSUBD(less, x, x)
		VMOVDQU(x, Mem{Base: out})
		ADDQ(Imm(32), at)
		ADDQ(Imm(32), out)
		SUBQ(Imm(8), n)
		JAE(LabelRef("eight"))
		Label("rest")
		ADDQ(Imm(8), n)
		JZ(LabelRef("next"))
		MOVQ(table, back)
		SHLQ(Imm(2), n)
		SUBQ(n, back)
		VMOVDQU(Mem{Base: back}, mask)
		VPMASKMOVD(Mem{Base: at}, mask, x)
		VPSUBD(less, x, x)
		VMOVDQU(x, Mem{Base: out})
		ADDQ(n, out)
	})
}

func storePieces() {
	begin("storeAVX2", "func(to, from *uint32, starts *uint64, ends *uint32, pieces uint64)", "writes pieces back.")
	to, from, starts := pointer("to"), pointer("from"), pointer("starts")
	x, one := YMM(), GP64()
	eachPiece(func(n GPVirtual) {
		at := start(to, starts)
		ADDQ(Imm(8), starts)
		SUBQ(Imm(8), n)
		JB(LabelRef("rest"))
		Label("eight")
		VMOVDQU(Mem{Base: from}, x)
		VMOVDQU(x, Mem{Base: at})
		ADDQ(Imm(32), from)
		ADDQ(Imm(32), at)
		SUBQ(Imm(8), n)
		JAE(LabelRef("eight"))
		Label("rest")
		ADDQ(Imm(8), n)
		for _, lanes := range []int{4, 2, 1} {
			skip := map[int]string{4: "two", 2: "one", 1: "next"}[lanes]
			TESTB(Imm(uint64(lanes)), n.As8())
			JZ(LabelRef(skip))
			switch lanes {
			case 4:
				VMOVDQU(Mem{Base: from}, x.AsX())
				VMOVDQU(x.AsX(), Mem{Base: at})
			case 2:
				MOVQ(Mem{Base: from}, one)
				MOVQ(one, Mem{Base: at})
			default:
				MOVL(Mem{Base: from}, one.As32())
				MOVL(one.As32(), Mem{Base: at})
			}
			ADDQ(Imm(uint64(4*lanes)), from)
			ADDQ(Imm(uint64(4*lanes)), at)
			if lanes > 1 {
				Label(skip)
			}
		}
	})
}

func fillPieces() {
	begin("fillAVX2", "func(out, values, ends *uint32, pieces uint64)", "makes all entries of a piece one value.")
	out, values := pointer("out"), pointer("values")
	x, at := YMM(), GP64()
	eachPiece(func(n GPVirtual) {
		VPBROADCASTD(Mem{Base: values}, x)
		ADDQ(Imm(4), values)
		MOVQ(out, at)
		LEAQ(Mem{Base: out, Index: n, Scale: 4}, out)
		Label("eight")
		VMOVDQU(x, Mem{Base: at})
		ADDQ(Imm(32), at)
		CMPQ(at, out)
		JB(LabelRef("eight"))
	})
}

func fetchPieces() {
	begin("fetchAVX2", "func(a, b *uint32, starts *uint64, ends *uint32, pieces uint64)", "asks for pieces of two arrays.")
	a, b, starts := pointer("a"), pointer("b"), pointer("starts")
	eachPiece(func(n GPVirtual) {
		first, second, end := start(a, starts), start(b, starts), GP64()
		ADDQ(Imm(8), starts)
		LEAQ(Mem{Base: first, Index: n, Scale: 4, Disp: 63}, end) // up to one line too many
		Label("line")
		PREFETCHT0(Mem{Base: first})
		PREFETCHT0(Mem{Base: second})
		ADDQ(Imm(64), first)
		ADDQ(Imm(64), second)
		CMPQ(first, end)
		JB(LabelRef("line"))
	})
}

func touch() {
	begin("touchAVX2", "func(array *uint8, size uint64, at *uint32, n uint64)", "asks for n > 0 entries of an array.")
	array, size, at, n := pointer("array"), pointer("size"), pointer("at"), pointer("n")
	Label("entry")
	index := GP64()
	MOVL(Mem{Base: at}, index.As32())
	IMULQ(size, index)
	PREFETCHT0(Mem{Base: array, Index: index, Scale: 1})
	ADDQ(Imm(4), at)
	DECQ(n)
	JNZ(LabelRef("entry"))
	RET()
}
