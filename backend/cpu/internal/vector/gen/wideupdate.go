package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// VPTERNLOGD of three numbers, of which the last one is also the result.
const (
	or3        = 0xFE // the or of all three
	orOfChange = 0xF6 // the last one, or the exclusive or of the first two
)

// spreadAt fills a wide register with the constant at k+4·i.
func spreadAt(k Register, i int) VecVirtual {
	z := ZMM()
	VPBROADCASTD(Mem{Base: k, Disp: 4 * i}, z)
	return z
}

func zeroedWide() VecVirtual {
	z := ZMM()
	VPXORD(z, z, z)
	return z
}

// wideUpdate goes through 16·n neurons. body updates sixteen of them; it gets their place in arrays of 4 and of 2 bytes, gathers changes and
// returns who fired. It says of each block whether it is live, also of the last one, of which there may be but a part.
func wideUpdate(n, fired, live Register, change VecVirtual, body func(words, shorts func(p Register) Mem) OpmaskVirtual) {
	at, left, some := GP64(), GP64(), K()
	words := func(p Register) Mem { return Mem{Base: p, Index: at, Scale: 4} }
	shorts := func(p Register) Mem { return Mem{Base: p, Index: at, Scale: 2} }
	XORQ(at, at)
	Label("block")
	VPXORD(change, change, change)
	KXORW(some, some, some)
	MOVQ(U32(4), left)
	CMPQ(n, left)
	CMOVQCS(n, left)
	SUBQ(left, n)
	Label("sixteen")
	fires := body(words, shorts)
	KORW(fires, some, some) // firing is a change
	KMOVW(fires, Mem{Base: fired})
	ADDQ(Imm(16), at)
	ADDQ(Imm(2), fired)
	DECQ(left)
	JNZ(LabelRef("sixteen"))
	changed, is := K(), GP8()
	VPTESTMD(change, change, changed)
	KORTESTW(changed, some)
	SETNE(is)
	MOVB(is, Mem{Base: live})
	INCQ(live)
	TESTQ(n, n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

// wideIdle reads sixteen countdowns. It returns them, what they are when they have counted down, and a mask of those that are zero.
func wideIdle(r Mem, one VecVirtual) (left, now VecVirtual, zeros OpmaskVirtual) {
	left, now, zeros = ZMM(), ZMM(), K()
	counts := K()
	VPMOVZXWD(r, left)
	VPTESTMD(left, left, counts)
	VPTESTNMD(left, left, zeros)
	VMOVDQA32(left, now)
	VPSUBD(one, now, counts, now)
	return left, now, zeros
}

// wideStoreIdle writes sixteen countdowns: refractory where fires, else now.
func wideStoreIdle(r Mem, left, now VecVirtual, fires OpmaskVirtual, refractory, change VecVirtual) {
	VMOVDQA32(refractory, fires, now)
	VPTERNLOGD(U8(orOfChange), left, now, change)
	VPMOVDW(now, r)
}

// wideInputs divides sums, which become zero, by scale. It comes after the loads of the same neurons' state, see input.
func wideInputs(scale, zero, change VecVirtual, sums ...Mem) []VecVirtual {
	in := make([]VecVirtual, len(sums))
	for i, from := range sums {
		in[i] = ZMM()
		VMOVDQU32(from, in[i])
		VMOVDQU32(zero, from)
	}
	if len(in) == 2 {
		VPTERNLOGD(U8(or3), in[0], in[1], change)
	} else {
		VPORD(in[0], change, change)
	}
	for _, x := range in {
		VCVTDQ2PS(x, x)
		VDIVPS(scale, x, x)
	}
	return in
}

// wideStore writes a variable and gathers changes.
func wideStore(to Mem, now, old, change VecVirtual) {
	VMOVUPS(now, to)
	VPTERNLOGD(U8(orOfChange), now, old, change)
}

func wideLIF() {
	begin("lifAVX512", "func(k *float32, acc *int32, v *float32, r *uint16, fired *uint64, live *uint8, n uint64)", "is lif for 16·n > 0 neurons.")
	k := pointer("k")
	em1, term, scale, threshold, reset, refractory := spreadAt(k, 0), spreadAt(k, 1), spreadAt(k, 2), spreadAt(k, 3), spreadAt(k, 4), spreadAt(k, 5)
	acc, v, r, fired, live, n := pointer("acc"), pointer("v"), pointer("r"), pointer("fired"), pointer("live"), pointer("n")
	zero, one, change := zeroedWide(), immediate(1), ZMM()
	wideUpdate(n, fired, live, change, func(words, shorts func(p Register) Mem) OpmaskVirtual {
		left, now, may := wideIdle(shorts(r), one)
		old, x, fires := ZMM(), ZMM(), K()
		VMOVUPS(words(v), old)
		in := wideInputs(scale, zero, change, words(acc))[0]
		VMULPS(old, em1, x) // 4b
		VADDPS(term, x, x)
		VADDPS(x, old, x)
		VADDPS(in, x, x)
		VCMPPS(Imm(greaterEq), threshold, x, may, fires) // 4c
		VBLENDMPS(x, old, may, x)                        // 4a
		VMOVAPS(reset, fires, x)
		wideStore(words(v), x, old, change)
		wideStoreIdle(shorts(r), left, now, fires, refractory, change)
		return fires
	})
}

func widePSCExp() {
	begin("pscExpAVX512", "func(k *float32, accEx, accIn *int32, v, ex, in *float32, r *uint16, fired *uint64, live *uint8, n uint64)", "is pscExp for 16·n > 0 neurons.")
	k := pointer("k")
	var c [10]VecVirtual
	for i := range c {
		c[i] = spreadAt(k, i)
	}
	accEx, accIn, v, ex, in, r := pointer("accEx"), pointer("accIn"), pointer("v"), pointer("ex"), pointer("in"), pointer("r")
	fired, live, n := pointer("fired"), pointer("live"), pointer("n")
	zero, one, change := zeroedWide(), immediate(1), ZMM()
	wideUpdate(n, fired, live, change, func(words, shorts func(p Register) Mem) OpmaskVirtual {
		left, now, may := wideIdle(shorts(r), one)
		old, oldEx, oldIn, x, y, fires := ZMM(), ZMM(), ZMM(), ZMM(), ZMM(), K()
		VMOVUPS(words(v), old)
		VMOVUPS(words(ex), oldEx)
		VMOVUPS(words(in), oldIn)
		add := wideInputs(c[6], zero, change, words(accEx), words(accIn))
		VMULPS(old, c[0], x) // 4b, left to right
		VADDPS(x, old, x)
		VMULPS(oldEx, c[1], y)
		VADDPS(y, x, x)
		VMULPS(oldIn, c[2], y)
		VADDPS(y, x, x)
		VADDPS(c[5], x, x)
		VBLENDMPS(x, old, may, x)              // 4a
		VCMPPS(Imm(greaterEq), c[7], x, fires) // 4d
		VMOVAPS(c[8], fires, x)
		wideStore(words(v), x, old, change)
		for i, s := range []struct {
			old VecVirtual
			to  Register
		}{{oldEx, ex}, {oldIn, in}} { // 4c
			next := ZMM()
			VMULPS(s.old, c[3+i], next)
			VADDPS(add[i], next, next)
			wideStore(words(s.to), next, s.old, change)
		}
		wideStoreIdle(shorts(r), left, now, fires, c[9], change)
		return fires
	})
}
