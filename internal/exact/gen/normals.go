package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

const (
	bits2to52   = 0x4330000000000000 // of the number 2^52
	bitsHalf    = 0x3FE0000000000000
	bits2toM53  = 0x3CA0000000000000
	significand = 1<<52 - 1
	greaterThan = 14 // VCMPPD: >
	notLess     = 13 // VCMPPD: ≥
)

// normals writes the two ranges of Normal, four numbers at once. Products are never fused with sums.
func normals() {
	p := quantile("centreAVX2", "func(f *float64, words *uint64, z *float64, n uint64)", "sets 4·n numbers to Normal of words in the centre; others are wrong.")
	q, r := YMM(), YMM()
	VSUBPD(p.half, p.p, q)
	VMULPD(q, q, r)
	VSUBPD(r, p.term(16), r) // the table has it behind the terms of the ratio
	x := p.ratio(r)
	VMULPD(q, x, x)
	VANDPD(p.signs, p.mirrored, p.mirrored)
	VXORPD(p.mirrored, x, x)
	p.next(x)
	RET()

	p = quantile("tailAVX2", "func(f *float64, words *uint64, z *float64, n uint64) (done uint64)", "sets 4·done numbers to Normal of words in the tails, up to the first four one of which lies beyond e^-25.")
	left, all := p.n, Load(Param("n"), GP64())
	x = p.ratio(p.root())
	VANDNPD(p.signs, p.mirrored, p.mirrored)
	VXORPD(p.mirrored, x, x)
	p.next(x)
	Label("beyond")
	VZEROUPPER()
	SUBQ(left, all)
	Store(all, ReturnIndex(0))
	RET()
}

// lane is a loop over words whose p, that is (k + ½)/2^53 mirrored below ½, is known.
type lane struct {
	f, words, z, n                  Register
	half, two52, two53, signs, zero VecVirtual
	p, mirrored                     VecVirtual
}

// quantile begins such a loop.
func quantile(name, signature, comment string) *lane {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + comment)
	l := &lane{f: Load(Param("f"), GP64()), words: Load(Param("words"), GP64()), z: Load(Param("z"), GP64()), n: Load(Param("n"), GP64())}
	l.half, l.two52, l.two53, l.signs, l.zero = constant(bitsHalf), constant(bits2to52), constant(bits2toM53), constant(1<<63), YMM()
	VPXOR(l.zero, l.zero, l.zero)
	Label("four")
	l.p, l.mirrored = YMM(), YMM()
	VMOVDQU(Mem{Base: l.words}, l.p)
	VPCMPGTQ(l.p, l.zero, l.mirrored)
	VPXOR(l.mirrored, l.p, l.p)
	VPSRLQ(Imm(11), l.p, l.p)
	number(l.p, l.two52)
	VADDPD(l.half, l.p, l.p)
	VMULPD(l.two53, l.p, l.p)
	return l
}

// number turns whole numbers below 2^52 into float64.
func number(x, two52 VecVirtual) {
	VPOR(two52, x, x)
	VSUBPD(two52, x, x)
}

// term is the i-th number of the table.
func (l *lane) term(i int) VecVirtual {
	y := YMM()
	VBROADCASTSD(Mem{Base: l.f, Disp: 8 * i}, y)
	return y
}

// ratio is that of package exact, whose terms begin the table.
func (l *lane) ratio(r VecVirtual) VecVirtual {
	n, d := l.term(7), l.term(15)
	for i := 6; i >= 0; i-- {
		VMULPD(r, n, n)
		VADDPD(l.term(i), n, n)
		VMULPD(r, d, d)
		VADDPD(l.term(8+i), d, d)
	}
	VDIVPD(d, n, n)
	return n
}

// root is √(−Log p) − 1.6. It leaves the loop where the root is above 5.
func (l *lane) root() VecVirtual {
	const (
		series = 17 // first of eleven terms; then the numbers that follow
		low    = series + 11
		mask   = low + 5
	)
	k, m := YMM(), YMM()
	VPSRLQ(Imm(52), l.p, k)
	number(k, l.two52)
	VSUBPD(l.term(low), k, k) // 1023
	VPAND(l.term(mask), l.p, m)
	one := l.term(low + 1)
	VPOR(one, m, m)
	large, smaller := YMM(), YMM()
	VCMPPD(Imm(notLess), l.term(low+2), m, large)
	VMULPD(l.half, m, smaller)
	VBLENDVPD(large, smaller, m, m)
	VANDPD(one, large, large)
	VADDPD(large, k, k)

	f, s, half, z := YMM(), YMM(), YMM(), YMM()
	VSUBPD(one, m, f)
	VADDPD(one, one, s)
	VADDPD(f, s, s)
	VDIVPD(s, f, s)
	VMULPD(f, f, half)
	VMULPD(l.half, half, half)
	VMULPD(s, s, z)
	q := l.term(series)
	for i := 1; i < 11; i++ {
		VMULPD(z, q, q)
		VADDPD(l.term(series+i), q, q)
	}
	VMULPD(z, q, q)
	VADDPD(q, half, q)
	VMULPD(s, q, q)
	small := YMM()
	VMULPD(l.term(low+3), k, small)
	VADDPD(small, q, small)
	VSUBPD(small, half, half)
	VSUBPD(f, half, half)
	VMULPD(l.term(low+4), k, k)
	VSUBPD(k, half, half) // −(k·ln2Hi − half): the difference has the same bits but for its sign
	VSQRTPD(half, half)
	far, any := YMM(), GP32()
	VCMPPD(Imm(greaterThan), l.term(mask+1), half, far)
	VMOVMSKPD(far, any)
	TESTL(any, any)
	JNZ(LabelRef("beyond"))
	VSUBPD(l.term(16), half, half)
	return half
}

// next stores four numbers and goes on.
func (l *lane) next(x VecVirtual) {
	VMOVUPD(x, Mem{Base: l.z})
	ADDQ(U32(32), l.words)
	ADDQ(U32(32), l.z)
	DECQ(l.n)
	JNZ(LabelRef("four"))
	VZEROUPPER()
}
