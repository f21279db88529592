// Command gen writes the assembly of package exact. Operands stand in Go's order, the destination last.
package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// counterAt is the offset of Stream.upper.
const counterAt = 20 * 32

func main() {
	offsets := GLOBL("offsets", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(i))
	}
	draws("xAVX2", "func(s *uint64, first uint64, x *uint64, n uint64)", "fills 8·n words.", offsets, "x")
	draws("xyAVX2", "func(s *uint64, first uint64, x, y *uint64, n uint64)", "fills 8·n words each.", offsets, "x", "y")
	draws("pickAVX2", "func(s *uint64, index, x *uint64, n uint64)", "fills 8·n words, of any indices.", Mem{}, "x")
	widest("xAVX512", "func(s *uint64, first uint64, x *uint64, n uint64)", "is xAVX2 by AVX-512.", offsets, "x")
	widest("xyAVX512", "func(s *uint64, first uint64, x, y *uint64, n uint64)", "is xyAVX2 by AVX-512.", offsets, "x", "y")
	widest("pickAVX512", "func(s *uint64, index, x *uint64, n uint64)", "is pickAVX2 by AVX-512.", Mem{}, "x")
	normals()
	Generate()
}

// spread fills the four lanes of a register.
func spread(r Register) VecVirtual {
	y := YMM()
	VMOVQ(r, y.AsX())
	VPBROADCASTQ(y.AsX(), y)
	return y
}

func constant(x uint64) VecVirtual {
	r := GP64()
	MOVQ(U64(x), r)
	return spread(r)
}

// draws writes the loop over eight draws, of indices that follow each other by these offsets, or of those in a list: each has a lane of 64 bits for each word of the counter, whose upper half holds
// whatever is left there, which multiplication does not look at.
func draws(name, signature, comment string, offsets Mem, outs ...string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + comment)
	s, n := Load(Param("s"), GP64()), Load(Param("n"), GP64())
	var out []Register
	for _, o := range outs {
		out = append(out, Load(Param(o), GP64()))
	}
	listed := offsets.Base == nil
	var list Register
	var index VecVirtual
	if listed {
		list = Load(Param("index"), GP64())
	} else {
		index = spread(Load(Param("first"), GP64()))
	}
	m0, m1, eight := constant(0xD2511F53), constant(0xCD9E8D57), constant(8)
	Label("eight")
	var c [2][4]VecVirtual // two halves side by side: neither waits for the other
	for half := range c {
		for i := range c[half] {
			c[half][i] = YMM()
		}
		if listed {
			VMOVDQU(Mem{Base: list, Disp: 32 * half}, c[half][0])
		} else {
			VPADDQ(offsets.Offset(32*half), index, c[half][0])
		}
		VPSRLQ(Imm(32), c[half][0], c[half][1])
		VPBROADCASTQ(Mem{Base: s, Disp: counterAt}, c[half][2])
		VPBROADCASTQ(Mem{Base: s, Disp: counterAt + 8}, c[half][3])
	}
	for round := range 10 {
		for half := range c {
			turn(&c[half], Mem{Base: s, Disp: 64 * round}, m0, m1)
		}
	}
	for half := range c {
		for i, o := range out {
			lo, hi := c[half][2*i], c[half][2*i+1]
			VPSLLQ(Imm(32), hi, hi)
			VPBLENDD(Imm(0xAA), hi, lo, lo)
			VMOVDQU(lo, Mem{Base: o, Disp: 32 * half})
		}
	}
	if listed {
		ADDQ(U32(64), list)
	} else {
		VPADDQ(eight, index, index)
	}
	for _, o := range out {
		ADDQ(U32(64), o)
	}
	DECQ(n)
	JNZ(LabelRef("eight"))
	VZEROUPPER()
	RET()
}

// turn is one round on four draws.
func turn(c *[4]VecVirtual, keys Mem, m0, m1 VecVirtual) {
	p0, p1 := YMM(), YMM()
	VPMULUDQ(c[0], m0, p0)
	VPMULUDQ(c[2], m1, p1)
	VPSRLQ(Imm(32), p1, c[0])
	VPXOR(c[1], c[0], c[0])
	VPXOR(keys, c[0], c[0])
	VPSRLQ(Imm(32), p0, c[2])
	VPXOR(c[3], c[2], c[2])
	VPXOR(keys.Offset(32), c[2], c[2])
	c[1], c[3] = p1, p0
}

// widest is draws with all eight in one register. Its rounds take a third of the instructions.
func widest(name, signature, comment string, offsets Mem, outs ...string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + comment)
	s, n := Load(Param("s"), GP64()), Load(Param("n"), GP64())
	var out []Register
	for _, o := range outs {
		out = append(out, Load(Param(o), GP64()))
	}
	eight := func(x uint64) VecVirtual {
		r, z := GP64(), ZMM()
		MOVQ(U64(x), r)
		VPBROADCASTQ(r, z)
		return z
	}
	const (
		sum      = 0x96 // VPTERNLOGQ: a ^ b ^ c
		combined = 0xEA // a & b | c
	)
	m0, m1, low, step := eight(0xD2511F53), eight(0xCD9E8D57), eight(1<<32-1), eight(8)
	listed := offsets.Base == nil
	var list Register
	index := ZMM()
	if listed {
		list = Load(Param("index"), GP64())
	} else {
		VPBROADCASTQ(Load(Param("first"), GP64()), index)
		VPADDQ(offsets, index, index)
	}
	Label("eight")
	var c [4]VecVirtual
	for i := range c {
		c[i] = ZMM()
	}
	if listed {
		VMOVDQU64(Mem{Base: list}, c[0])
	} else {
		VMOVDQA64(index, c[0])
	}
	VPSRLQ(Imm(32), c[0], c[1])
	VPBROADCASTQ(Mem{Base: s, Disp: counterAt}, c[2])
	VPBROADCASTQ(Mem{Base: s, Disp: counterAt + 8}, c[3])
	for round := range 10 {
		p0, p1 := ZMM(), ZMM()
		VPMULUDQ(c[0], m0, p0)
		VPMULUDQ(c[2], m1, p1)
		VPSRLQ(Imm(32), p1, c[0])
		VPTERNLOGQ_BCST(U8(sum), Mem{Base: s, Disp: 64 * round}, c[1], c[0])
		VPSRLQ(Imm(32), p0, c[2])
		VPTERNLOGQ_BCST(U8(sum), Mem{Base: s, Disp: 64*round + 32}, c[3], c[2])
		c[1], c[3] = p1, p0
	}
	for i, o := range out {
		lo, hi := c[2*i], c[2*i+1]
		VPSLLQ(Imm(32), hi, hi)
		VPTERNLOGQ(U8(combined), hi, low, lo)
		VMOVDQU64(lo, Mem{Base: o})
		ADDQ(U32(64), o)
	}
	if listed {
		ADDQ(U32(64), list)
	} else {
		VPADDQ(step, index, index)
	}
	DECQ(n)
	JNZ(LabelRef("eight"))
	VZEROUPPER()
	RET()
}
