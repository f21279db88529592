// Command gen writes the assembly of package vector. Operands stand in Go's order, the destination last.
package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// Offsets in the structs of package vector.
const (
	counterAt = 20 * 32 // Philox.Counter
	greaterEq = 0x1D    // VCMPPS: ≥, false for NaN
	lessEq    = 0x12
	greater   = 0x1E
)

func main() {
	one := GLOBL("one", RODATA|NOPTR)
	for i := range 16 {
		DATA(2*i, U16(1))
	}
	lif(one)
	pscExp(one)
	feagi()
	philox()
	addCounts()
	widePhilox()
	wideCounts()
	wideLIF()
	widePSCExp()
	fourInputs()
	inputs()
	candidatesByTable()
	candidates()
	byteCandidates()
	nonzero()
	deliver()
	deliverRuns()
	deliverRound()
	deliverRooms()
	fetchRows()
	fetchSpans()
	fetchRuns()
	pause()
	formulas()
	synapses()
	Generate()
}

func pause() {
	TEXT("Pause", NOSPLIT, "func()")
	Doc("Pause tells the processor that the thread looks at a word again and again, so that it does so more slowly and leaves at once.")
	PAUSE()
	RET()
}

func begin(name, signature, comment string) {
	TEXT(name, NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + " " + comment)
}

func pointer(name string) Register { return Load(Param(name), GP64()) }

// broadcast fills a register with the constant at k+4·i.
func broadcast(k Register, i int) VecVirtual {
	y := YMM()
	VBROADCASTSS(Mem{Base: k, Disp: 4 * i}, y)
	return y
}

func zeroed() VecVirtual {
	y := YMM()
	VPXOR(y, y, y)
	return y
}

// loop repeats body n times and moves each pointer on by its step.
func loop(label string, n Register, steps map[Register]int, order []Register, body func()) {
	Label(label)
	body()
	for _, p := range order {
		ADDQ(U32(steps[p]), p)
	}
	DECQ(n)
	JNZ(LabelRef(label))
	VZEROUPPER()
	RET()
}

// countdowns widens eight uint16 and tells which are above zero.
func countdowns(r Mem, zero VecVirtual) (left, silent VecVirtual) {
	left, silent = YMM(), YMM()
	VPMOVZXWD(r, left)
	VPCMPGTD(zero, left, silent)
	return left, silent
}

// storeCountdowns writes left − 1 where silent, refractory where fired, and gathers changes.
func storeCountdowns(r Mem, left, silent, fired, refractory, change VecVirtual) {
	now, hi := YMM(), XMM()
	VPADDD(silent, left, now)
	VPBLENDVB(fired, refractory, now, now)
	VPXOR(now, left, left)
	VPOR(left, change, change)
	VEXTRACTI128(Imm(1), now, hi)
	VPACKUSDW(hi, now.AsX(), hi)
	VMOVDQU(hi, r)
}

// store writes a variable and gathers changes; old is lost.
func store(to Mem, now, old, change VecVirtual) {
	VMOVUPS(now, to)
	VPXOR(now, old, old)
	VPOR(old, change, change)
}

// spikes writes eight bits.
func spikes(to Mem, fired, change VecVirtual) {
	bits := GP32()
	VPOR(fired, change, change)
	VMOVMSKPS(fired, bits)
	MOVB(bits.As8(), to)
}

// lively writes whether anything of a block changed.
func lively(to Register, change VecVirtual) {
	b := GP8()
	VPTEST(change, change)
	SETNE(b)
	MOVB(b, Mem{Base: to})
}

// input is acc/scale; acc becomes zero. It comes after the loads of the same neurons' state: a load that follows a store to an address
// with the same low bits waits for it, and arrays in huge pages often have such addresses.
func input(acc Mem, scale, zero, change VecVirtual) VecVirtual {
	in := YMM()
	VMOVDQU(acc, in)
	VPOR(in, change, change)
	VMOVDQU(zero, acc)
	VCVTDQ2PS(in, in)
	VDIVPS(scale, in, in)
	return in
}

// idle counts sixteen or eight countdowns down, each eight in a vector of as many lanes. It returns their new values, and a mask of those
// that were zero.
func idle(halves int, r Mem, zero VecVirtual, one Mem, change VecVirtual) (now VecVirtual, zeros [2]VecVirtual) {
	is := YMM()
	now, zeros = YMM(), [2]VecVirtual{YMM(), YMM()}
	if halves == 2 {
		VMOVDQU(r, now)
	} else {
		VMOVDQU(r, now.AsX())
	}
	VPOR(now, change, change) // who counts down changes
	VPCMPEQW(now, zero, is)
	VPMOVSXWD(is.AsX(), zeros[0])
	if halves == 2 {
		VEXTRACTI128(Imm(1), is, is.AsX())
		VPMOVSXWD(is.AsX(), zeros[1])
	}
	VPSUBUSW(one, now, now)
	return now, zeros
}

// storeIdle writes sixteen or eight countdowns: refractory where fired, else now; firing is a change.
func storeIdle(halves int, r Mem, now VecVirtual, fired [2]VecVirtual, refractory, change VecVirtual) {
	all := fired[0]
	VPACKSSDW(fired[halves-1], all, all)
	VPERMQ(Imm(0xD8), all, all)
	VPOR(all, change, change)
	VPBLENDVB(all, refractory, now, now)
	if halves == 2 {
		VMOVDQU(now, r)
	} else {
		VMOVDQU(now.AsX(), r)
	}
}

// refractoryWords fills a register's 16-bit lanes with the constant at k+4·i.
func refractoryWords(k Register, i int) VecVirtual {
	y := YMM()
	VPBROADCASTW(Mem{Base: k, Disp: 4 * i}, y)
	return y
}

// eightSpikes writes eight bits.
func eightSpikes(to Mem, fired VecVirtual) {
	bits := GP32()
	VMOVMSKPS(fired, bits)
	MOVB(bits.As8(), to)
}

// sixteens goes through 8·n neurons. body updates sixteen of them, or the last eight; it gets their place in arrays of 4 and of 2 bytes.
// It says of each block whether it is live, also of the last one, of which there may be but a part.
func sixteens(n, fired, live Register, change VecVirtual, body func(halves int, words, shorts func(p Register) Mem)) {
	at, left := GP64(), GP64()
	words := func(p Register) Mem { return Mem{Base: p, Index: at, Scale: 4} }
	shorts := func(p Register) Mem { return Mem{Base: p, Index: at, Scale: 2} }
	XORQ(at, at)
	Label("block")
	VPXOR(change, change, change)
	MOVQ(U32(8), left)
	CMPQ(n, left)
	CMOVQCS(n, left)
	SUBQ(left, n)
	CMPQ(left, Imm(1))
	JEQ(LabelRef("eight"))
	Label("sixteen")
	body(2, words, shorts)
	ADDQ(Imm(16), at)
	ADDQ(Imm(2), fired)
	SUBQ(Imm(2), left)
	CMPQ(left, Imm(1))
	JA(LabelRef("sixteen"))
	JCS(LabelRef("over"))
	Label("eight")
	body(1, words, shorts)
	Label("over")
	lively(live, change)
	INCQ(live)
	TESTQ(n, n)
	JNZ(LabelRef("block"))
	VZEROUPPER()
	RET()
}

func lif(one Mem) {
	begin("lifAVX2", "func(k *float32, acc *int32, v *float32, r *uint16, fired *uint64, live *uint8, n uint64)", "is lif for 8·n > 0 neurons.")
	k := pointer("k")
	em1, term, scale, threshold, reset, refractory := broadcast(k, 0), broadcast(k, 1), broadcast(k, 2), broadcast(k, 3), broadcast(k, 4), refractoryWords(k, 5)
	acc, v, r, fired, live, n := pointer("acc"), pointer("v"), pointer("r"), pointer("fired"), pointer("live"), pointer("n")
	zero, change := zeroed(), YMM()
	sixteens(n, fired, live, change, func(halves int, words, shorts func(p Register) Mem) {
		now, may := idle(halves, shorts(r), zero, one, change)
		for half := range halves {
			place := func(p Register) Mem { return words(p).Offset(32 * half) }
			old, x := YMM(), YMM()
			VMOVUPS(place(v), old)
			in := input(place(acc), scale, zero, change)
			VMULPS(old, em1, x) // 4b
			VADDPS(term, x, x)
			VADDPS(x, old, x)
			VADDPS(in, x, x)
			VBLENDVPS(may[half], x, old, x) // 4a
			spike := in
			VCMPPS(Imm(greaterEq), threshold, x, spike) // 4c
			VPAND(spike, may[half], may[half])
			VBLENDVPS(may[half], reset, x, x)
			store(place(v), x, old, change)
			eightSpikes(Mem{Base: fired, Disp: half}, may[half])
		}
		storeIdle(halves, shorts(r), now, may, refractory, change)
	})
}

func pscExp(one Mem) {
	begin("pscExpAVX2", "func(k *float32, accEx, accIn *int32, v, ex, in *float32, r *uint16, fired *uint64, live *uint8, n uint64)", "is pscExp for 8·n > 0 neurons.")
	k := pointer("k")
	at := func(i int) VecVirtual { return broadcast(k, i) } // read anew where registers are short
	scale, threshold := broadcast(k, 6), broadcast(k, 7)
	accEx, accIn, v, ex, in, r := pointer("accEx"), pointer("accIn"), pointer("v"), pointer("ex"), pointer("in"), pointer("r")
	fired, live, n := pointer("fired"), pointer("live"), pointer("n")
	zero, change := zeroed(), YMM()
	sixteens(n, fired, live, change, func(halves int, words, shorts func(p Register) Mem) {
		now, may := idle(halves, shorts(r), zero, one, change)
		for half := range halves {
			place := func(p Register) Mem { return words(p).Offset(32 * half) }
			old, oldEx, oldIn, x, y := YMM(), YMM(), YMM(), YMM(), YMM()
			VMOVUPS(place(v), old)
			VMOVUPS(place(ex), oldEx)
			VMOVUPS(place(in), oldIn)
			addEx, addIn := input(place(accEx), scale, zero, change), input(place(accIn), scale, zero, change)
			VMULPS(old, at(0), x) // 4b, left to right
			VADDPS(x, old, x)
			VMULPS(oldEx, at(1), y)
			VADDPS(y, x, x)
			VMULPS(oldIn, at(2), y)
			VADDPS(y, x, x)
			VADDPS(at(5), x, x)
			VBLENDVPS(may[half], x, old, x)         // 4a
			VCMPPS(Imm(greaterEq), threshold, x, y) // 4d
			VMOVAPS(y, may[half])
			VBLENDVPS(may[half], at(8), x, x)
			store(place(v), x, old, change)
			for _, c := range []struct {
				add, old VecVirtual
				to       Register
				decay    int
			}{{addEx, oldEx, ex, 3}, {addIn, oldIn, in, 4}} { // 4c
				next := YMM()
				VMULPS(c.old, at(c.decay), next)
				VADDPS(c.add, next, next)
				store(place(c.to), next, c.old, change)
			}
			eightSpikes(Mem{Base: fired, Disp: half}, may[half])
		}
		storeIdle(halves, shorts(r), now, may, refractoryWords(k, 9), change)
	})
}

func feagi() {
	begin("feagiAVX2", "func(k *float32, acc *int32, v *float32, r *uint16, fired *uint64, blocks uint64)", "is feagi for whole blocks.")
	k := pointer("k")
	at := func(i int) VecVirtual { return broadcast(k, i) } // read anew where registers are short
	scale, accumulate, zero, change := broadcast(k, 4), broadcast(k, 6), zeroed(), zeroed()
	acc, v, r, fired, n := pointer("acc"), pointer("v"), pointer("r"), pointer("fired"), pointer("blocks")
	order := []Register{acc, v, r, fired}
	loop("block", n, map[Register]int{acc: 256, v: 256, r: 128, fired: 8}, order, func() {
		for j := range 8 {
			none, idle, old, x, y, spike := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
			left, silent := countdowns(Mem{Base: r, Disp: 16 * j}, zero)
			VPCMPEQD(Mem{Base: acc, Disp: 32 * j}, zero, none)
			VPOR(silent, none, idle)
			in := input(Mem{Base: acc, Disp: 32 * j}, scale, zero, change)
			VMOVUPS(Mem{Base: v, Disp: 32 * j}, old)
			VANDPS(accumulate, old, x)
			VADDPS(in, x, x)                        // 4b
			VCMPPS(Imm(greaterEq), at(0), x, spike) // 4c
			VCMPPS(Imm(lessEq), at(1), x, y)
			VANDPS(y, spike, spike)
			VPANDN(spike, idle, spike)
			VMULPS(at(2), x, x) // 4d
			VSUBPS(at(3), x, y)
			VMAXPS(zero, y, y)
			above := in
			VCMPPS(Imm(greater), zero, x, above)
			VANDPS(at(7), above, above)
			VBLENDVPS(above, y, x, x)
			VANDPS(accumulate, x, x)
			VANDNPS(x, spike, x)
			VBLENDVPS(idle, old, x, x)
			VMOVUPS(x, Mem{Base: v, Disp: 32 * j})
			VPANDN(silent, none, silent) // 4a
			storeCountdowns(Mem{Base: r, Disp: 16 * j}, left, silent, spike, at(5), change)
			spikes(Mem{Base: fired, Disp: j}, spike, change)
		}
	})
}

// spread256 fills the eight 32-bit lanes of a register.
func spread256(r Register) VecVirtual {
	y := YMM()
	VMOVD(r, y.AsX())
	VPBROADCASTD(y.AsX(), y)
	return y
}

func immediate256(x uint32) VecVirtual {
	r := GP32()
	MOVL(U32(x), r)
	return spread256(r)
}

// philox holds four calls in a register, one in the lower half of each 64-bit lane; upper halves are never read.
func philox() {
	offsets := GLOBL("offsets", RODATA|NOPTR)
	for i := range 8 {
		DATA(8*i, U64(i))
	}
	begin("drawsAVX2", "func(p *uint32, first uint32, out *uint32, n uint64)", "fills 32·n words.")
	p, out, n := pointer("p"), pointer("out"), pointer("n")
	first := Load(Param("first"), GP32())
	index := spread256(first)
	m0, m1 := immediate256(0xD2511F53), immediate256(0xCD9E8D57)
	loop("eight", n, map[Register]int{out: 128}, []Register{out}, func() {
		var c [2][4]VecVirtual // two halves side by side: neither waits for the other
		for half := range c {
			for i := range c[half] {
				c[half][i] = YMM()
			}
			VPADDD(offsets.Offset(32*half), index, c[half][0])
			for i := range 3 {
				VPBROADCASTD(Mem{Base: p, Disp: counterAt + 4*i}, c[half][i+1])
			}
		}
		for round := range 10 {
			for half := range c {
				c, p0, p1 := &c[half], YMM(), YMM()
				VPMULUDQ(c[0], m0, p0)
				VPMULUDQ(c[2], m1, p1)
				VPSRLQ(Imm(32), p1, c[0])
				VPXOR(c[1], c[0], c[0])
				VPXOR(Mem{Base: p, Disp: 64 * round}, c[0], c[0])
				VPSRLQ(Imm(32), p0, c[2])
				VPXOR(c[3], c[2], c[2])
				VPXOR(Mem{Base: p, Disp: 64*round + 32}, c[2], c[2])
				c[1], c[3] = p1, p0
			}
		}
		for half := range c {
			c := &c[half]
			for i := range 2 { // words 0 and 1, 2 and 3 side by side
				VPSLLQ(Imm(32), c[2*i+1], c[2*i+1])
				VPBLENDD(Imm(0xAA), c[2*i+1], c[2*i], c[2*i])
			}
			lo, hi := YMM(), YMM()
			VPUNPCKLQDQ(c[2], c[0], lo) // calls 0 and 2
			VPUNPCKHQDQ(c[2], c[0], hi) // calls 1 and 3
			for i, select2 := range []uint64{0x20, 0x31} {
				y := YMM()
				VPERM2I128(Imm(select2), hi, lo, y)
				VMOVDQU(y, Mem{Base: out, Disp: 64*half + 32*i})
			}
		}
		eight := GP32()
		MOVL(U32(8), eight)
		VPADDD(spread256(eight), index, index)
	})
}

func addCounts() {
	begin("addCountsAVX2", "func(acc *int32, draws, thresholds *uint32, count uint64, amount int32, n uint64)", "is addCounts for 32·n draws and count > 0 thresholds.")
	acc, draws, thresholds, count, n := pointer("acc"), pointer("draws"), pointer("thresholds"), pointer("count"), pointer("n")
	amount := YMM()
	{
		r := Load(Param("amount"), GP32())
		VMOVD(r, amount.AsX())
		VPBROADCASTD(amount.AsX(), amount)
	}
	loop("draws", n, map[Register]int{acc: 128, draws: 128}, []Register{acc, draws}, func() {
		var x, k [4]VecVirtual
		for i := range x {
			x[i], k[i] = YMM(), zeroed()
			VMOVDQU(Mem{Base: draws, Disp: 32 * i}, x[i])
		}
		at := GP64()
		XORQ(at, at)
		Label("threshold")
		t, any := YMM(), zeroed()
		VPBROADCASTD(Mem{Base: thresholds, Index: at, Scale: 4}, t)
		for i := range x { // x ≥ t where the greater is x
			m := YMM()
			VPMAXUD(x[i], t, m)
			VPCMPEQD(x[i], m, m)
			VPSUBD(m, k[i], k[i])
			VPOR(m, any, any)
		}
		VPTEST(any, any)
		JZ(LabelRef("counted"))
		INCQ(at)
		CMPQ(at, count)
		JB(LabelRef("threshold"))
		Label("counted")
		for i := range x {
			VPMULLD(amount, k[i], k[i])
			VPADDD(Mem{Base: acc, Disp: 32 * i}, k[i], k[i])
			VMOVDQU(k[i], Mem{Base: acc, Disp: 32 * i})
		}
	})
}

func nonzero() {
	begin("nonzeroAVX2", "func(acc *int32, bits *uint64, blocks uint64)", "is nonzero for whole blocks.")
	acc, bits, n := pointer("acc"), pointer("bits"), pointer("blocks")
	zero := zeroed()
	loop("block", n, map[Register]int{acc: 256, bits: 8}, []Register{acc, bits}, func() {
		for j := range 8 {
			y, b := YMM(), GP32()
			VPCMPEQD(Mem{Base: acc, Disp: 32 * j}, zero, y)
			VMOVMSKPS(y, b)
			NOTL(b)
			MOVB(b.As8(), Mem{Base: bits, Disp: j})
		}
	})
}
