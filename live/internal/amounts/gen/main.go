// Command gen writes the assembly of package amounts. Operands stand in Go's order, the destination last.
package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

const less = 0x11 // VCMPPD: <, false for NaN

func main() {
	fours()
	eights()
	Generate()
}

// loop is what the bodies of the functions share: the next amounts and ports, and constants in all lanes.
type loop struct {
	list, ports, amounts, n   Register
	scale, beyond, sign, half VecVirtual
}

// write writes a function that takes so many amounts at once. Its body goes to "end" where one of them is not below beyond; otherwise it
// writes stimuli and adds their number to n.
func write(name string, width int, vector func() VecVirtual, body func(l *loop)) {
	TEXT(name, NOSPLIT, "func(list, ports *uint32, amounts *float32, scale, beyond float64, blocks uint64) (n, done uint64)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s makes stimuli of blocks of %d amounts, up to the first block that has one not below beyond: n of done blocks.", name, width))
	l := &loop{list: pointer("list"), ports: pointer("ports"), amounts: pointer("amounts"), n: GP64()}
	blocks, done := pointer("blocks"), GP64()
	l.scale, l.beyond = vector(), vector()
	VBROADCASTSD(argument("scale"), l.scale)
	VBROADCASTSD(argument("beyond"), l.beyond)
	l.sign, l.half = constant(1<<63, vector), constant(math.Float64bits(math.Nextafter(0.5, 0)), vector)
	XORQ(l.n, l.n)
	XORQ(done, done)
	JMP(LabelRef("next"))
	Label("block")
	body(l)
	ADDQ(Imm(uint64(4*width)), l.amounts)
	ADDQ(Imm(uint64(4*width)), l.ports)
	INCQ(done)
	Label("next")
	CMPQ(done, blocks)
	JNE(LabelRef("block"))
	Label("end")
	VZEROUPPER()
	Store(l.n, ReturnIndex(0))
	Store(done, ReturnIndex(1))
	RET()
}

// rounds adds almost a half, with the sign of product, which then is to be cut off.
func (l *loop) rounds(product, away VecVirtual) {
	VANDPD(l.sign, product, away)
	VORPD(l.half, away, away)
	VADDPD(away, product, product)
}

func fours() {
	keep := kept()
	write("stimuliAVX2", 4, YMM, func(l *loop) {
		product, is, within := YMM(), YMM(), GP32()
		VCVTPS2PD(Mem{Base: l.amounts}, product)
		VMULPD(l.scale, product, product)
		VANDNPD(product, l.sign, is)
		VCMPPD(Imm(less), l.beyond, is, is)
		VMOVMSKPD(is, within)
		CMPL(within, Imm(15))
		JNE(LabelRef("end"))
		q, zeros, none := XMM(), XMM(), GP64()
		l.rounds(product, is)
		VCVTTPD2DQY(product, q)
		VPXOR(zeros, zeros, zeros)
		VPCMPEQD(zeros, q, zeros)
		VMOVMSKPS(zeros, none.As32())
		stimuli, port, order := YMM(), YMM(), YMM()
		VPMOVZXDQ(q, stimuli)
		VPSLLQ(Imm(32), stimuli, stimuli)
		VPMOVZXDQ(Mem{Base: l.ports}, port)
		VPOR(port, stimuli, stimuli)
		table, row, count := GP64(), GP64(), GP64()
		LEAQ(keep, table)
		MOVQ(none, row)
		SHLQ(Imm(5), row)
		VMOVDQU(Mem{Base: table, Index: row, Scale: 1}, order)
		VPERMD(stimuli, order, stimuli)
		VMOVDQU(stimuli, Mem{Base: l.list, Index: l.n, Scale: 8})
		POPCNTQ(none, count)
		SUBQ(count, l.n)
		ADDQ(Imm(4), l.n)
	})
}

func eights() {
	write("stimuliAVX512", 8, ZMM, func(l *loop) {
		product, is, good, within := ZMM(), ZMM(), K(), GP32()
		VCVTPS2PD(Mem{Base: l.amounts}, product)
		VMULPD(l.scale, product, product)
		VANDNPD(product, l.sign, is)
		VCMPPD(Imm(less), l.beyond, is, good)
		KMOVB(good, within)
		CMPL(within, U32(255))
		JNE(LabelRef("end"))
		q, some, count := YMM(), K(), GP64()
		l.rounds(product, is)
		VCVTTPD2DQ(product, q)
		VPTESTMD(q, q, some)
		stimuli, port := ZMM(), ZMM()
		VPMOVZXDQ(q, stimuli)
		VPSLLQ(Imm(32), stimuli, stimuli)
		VPMOVZXDQ(Mem{Base: l.ports}, port)
		VPORQ(port, stimuli, stimuli)
		VPCOMPRESSQ_Z(stimuli, some, stimuli)
		VMOVDQU64(stimuli, Mem{Base: l.list, Index: l.n, Scale: 8})
		KMOVB(some, count.As32())
		POPCNTQ(count, count)
		ADDQ(count, l.n)
	})
}

func pointer(name string) Register { return Load(Param(name), GP64()) }

// argument is where an argument lies.
func argument(name string) Mem {
	c, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return c.Addr
}

// constant fills a register.
func constant(x uint64, vector func() VecVirtual) VecVirtual {
	r, y := GP64(), vector()
	MOVQ(U64(x), r)
	VMOVQ(r, y.AsX())
	VPBROADCASTQ(y.AsX(), y)
	return y
}

// kept has for each set of zeros among four stimuli the order that begins with the others, as VPERMD wants it.
func kept() Mem {
	table := GLOBL("kept", RODATA|NOPTR)
	for zeros := range 16 {
		at := 0
		for _, want := range []int{0, 1} {
			for i := range 4 {
				if zeros>>i&1 == want {
					DATA(32*zeros+8*at, U64(uint64(2*i)|uint64(2*i+1)<<32))
					at++
				}
			}
		}
	}
	return table
}
