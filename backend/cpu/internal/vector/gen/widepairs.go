package main

import (
	. "github.com/mmcloughlin/avo/build" //nolint:revive // as avo's programs are written
	"github.com/mmcloughlin/avo/gotypes"
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// Offsets in vector.PairRow, and its size.
const (
	rowFrom  = 0
	rowTo    = 8
	rowX     = 16
	rowAfter = 20
	rowBase  = 24
	rowSize  = 32
)

// Entries of vector.Pair that are scratch: sixteen words each.
const (
	tailTargets = pairX
	tailAmounts = pairX + 2
)

const (
	wideAhead = 512 // synapses: so far ahead rows are asked for
	nearAges  = 128 // of tables, in registers

	atMost   = 2 // VPCMPUD
	infinity = 0x7f800000
	differs  = 4 // VCMPPS: not equal, or NaN
)

// widePairs takes rows through on_post and on_pre of a pair rule, sixteen synapses at a time.
func widePairs() {
	word := func(name string, x uint32) Mem {
		m := GLOBL(name, RODATA|NOPTR)
		DATA(0, U32(x))
		return m
	}
	even := places("even512pairs", func(i uint64) uint64 { return 2*i + evenPlaces })
	odd := places("odd512pairs", func(i uint64) uint64 { return 2*i + oddPlaces })
	lanes := places("lanes512", func(i uint64) uint64 { return i })
	sign, half, bursts, low := word("sign512", 1<<31), word("half512", 0x3effffff), word("bursts512", 1<<31-1), word("low512", 0xffff)
	gap, sixteen, bit5, bit6, last := word("gap512", 32), word("sixteen512", 16), word("bit5", 32), word("bit6", 64), word("last512", nearAges-1)
	begin("pairsAVX512", "func(k, weight *float32, targets, heads *uint32, sums *int32, slots *uint64, last *uint32, ofTarget, ofSource *float32, rows *uint64, n uint64, again *uint32, shift uint32) (done, missed uint64, nan uint32)", "is pairs for n > 0 rows.")
	k, heads, sums, row := pointer("k"), pointer("heads"), pointer("sums"), pointer("rows")
	of := func(i int) Mem { return Mem{Base: k, Disp: 32 * i} }
	tables := [2][nearAges / 16]VecVirtual{}
	for i, name := range []string{"ofSource", "ofTarget"} {
		table, at, final := pointer(name), ZMM(), ZMM()
		VMOVDQU32(lanes, at)
		VPBROADCASTD([]Mem{of(ofPost + stepFinal), of(ofPre + stepFinal)}[i], final)
		for j := range tables[i] {
			inside := K()
			tables[i][j] = ZMM()
			VPCMPUD(Imm(atMost), final, at, inside)
			VMOVUPS_Z(Mem{Base: table, Disp: 64 * j}, inside, tables[i][j])
			VPADDD_BCST(sixteen, at, at)
		}
	}
	shift := GP64()
	Load(Param("shift"), shift.As32())
	NEGQ(shift)
	LEAQ(Mem{Base: heads, Index: shift, Scale: 8}, heads)
	LEAQ(Mem{Base: sums, Index: shift, Scale: 4}, sums)
	zero := ZMM()
	VPXORD(zero, zero, zero)
	missed, at, weights := memory(ReturnIndex(1)), GP64(), GP64() // weights less targets
	MOVQ(U32(0), missed)
	Load(Param("weight"), weights)
	Load(Param("targets"), at)
	SUBQ(at, weights)

	asked, ask, askEnd := GP64(), GP64(), GP64()
	MOVQ(row, asked)
	start := func(row, from, to Register) {
		base := pointer("targets")
		MOVQ(Mem{Base: row, Disp: rowFrom}, from)
		LEAQ(Mem{Base: base, Index: from, Scale: 4}, from)
		MOVQ(Mem{Base: row, Disp: rowTo}, to)
		LEAQ(Mem{Base: base, Index: to, Scale: 4}, to)
	}
	askLine := func(label string) {
		CMPQ(ask, askEnd)
		JB(LabelRef(label))
		PREFETCHT0(Mem{Base: askEnd, Disp: -4}) // the last line, where it is one more
		PREFETCHT0(Mem{Base: askEnd, Index: weights, Scale: 1, Disp: -4})
		end := GP64()
		Load(Param("n"), end)
		DECQ(end)
		SHLQ(Imm(5), end)
		ADDQ(memory(Param("rows")), end)
		CMPQ(asked, end)
		JAE(LabelRef(label))
		ADDQ(Imm(rowSize), asked)
		start(asked, ask, askEnd)
		Label(label)
		PREFETCHT0(Mem{Base: ask})
		PREFETCHT0(Mem{Base: ask, Index: weights, Scale: 1})
		ADDQ(Imm(64), ask)
	}
	start(asked, ask, askEnd)
	count := GP64()
	MOVQ(U32(wideAhead/16), count)
	Label("ahead")
	askLine("first")
	DECQ(count)
	JNZ(LabelRef("ahead"))

	left, list := GP64(), GP64()
	Label("row")
	start(row, at, left)
	SUBQ(at, left)
	SHRQ(Imm(2), left)
	bad := K()
	KXORW(bad, bad, bad)
	Label("sixteen")
	askLine("line")
	valid, window, w := K(), K(), ZMM()
	CMPQ(left, Imm(16))
	JL(LabelRef("tail"))
	KXNORW(valid, valid, valid)
	MOVQ(at, list)
	VMOVUPS(Mem{Base: at, Index: weights, Scale: 1}, w)
	Label("listed")
	lane, y := wideHeads(heads, list, even, odd)
	newest, second, far := ZMM(), ZMM(), ZMM()
	VPANDD_BCST(low, lane, newest)
	VPANDD_BCST(bursts, lane, second)
	VPSRLD(Imm(16), second, second)
	some, more := K(), K()
	VPCMPUD_BCST(Imm(moreThan), Mem{Base: row, Disp: rowAfter}, newest, valid, some)
	KORTESTW(some, some)
	JZ(LabelRef("pre"))
	VPCMPUD_BCST(Imm(moreThan), Mem{Base: row, Disp: rowAfter}, second, valid, more)
	early, near, bits := K(), K(), GP32() // may there be a third event?
	VPSUBD_BCST(Mem{Base: row, Disp: rowAfter}, second, far)
	VPCMPD_BCST(Imm(moreThan), gap, far, more, early)
	VPTESTNMD_BCST(sign, lane, more, near)
	KORW(early, near, near)
	KMOVW(near, bits)
	TESTL(bits, bits)
	JZ(LabelRef("post"))
	Label("third")
	which, third := GP64(), GP64()
	TZCNTL(bits, which.As32())
	MOVL(Mem{Base: list, Index: which, Scale: 4}, which.As32())
	SUBL(memory(Param("shift")), which.As32())
	SHLQ(Imm(4), which)
	ADDQ(memory(Param("slots")), which)
	MOVWLZX(Mem{Base: which, Disp: 4}, third.As32())
	CMPL(third.As32(), Mem{Base: row, Disp: rowAfter})
	JA(LabelRef("missed"))
	BLSRL(bits, bits)
	JNZ(LabelRef("third"))

	Label("post")
	event := ZMM()
	VMOVDQA32(newest, event)
	VMOVDQA32(second, more, event)
	VPADDD_BCST(Mem{Base: row, Disp: rowBase}, event, event)
	p := wideTable(event, some, tables[0], "ofSource", of(ofPost+stepFinal), [3]Mem{bit5, bit6, last}, "ages1")
	VMULPS_BCST(Mem{Base: row, Disp: rowX}, p, p)
	next := wideStep(k, ofPost, w, p, "step1")
	wideBound(next, k, zero)
	VMOVAPS(next, some, w)
	VPADDD_BCST(Mem{Base: row, Disp: rowBase}, newest, event)
	p = wideTable(event, more, tables[0], "ofSource", of(ofPost+stepFinal), [3]Mem{bit5, bit6, last}, "ages2")
	VMULPS_BCST(Mem{Base: row, Disp: rowX}, p, p)
	next = wideStep(k, ofPost, w, p, "step2")
	wideBound(next, k, zero)
	VMOVAPS(next, more, w)

	Label("pre")
	today, strange, raised := K(), K(), K()
	VPCMPUD_BCST(Imm(0), of(pairThen), newest, today)
	VMOVDQA32(second, today, newest)
	VCMPPS(Imm(differs), zero, y, valid, raised)
	VPTESTNMD(newest, newest, raised, strange)
	age := ZMM()
	VPBROADCASTD(of(pairThen), age)
	VPSUBD(newest, age, age)
	KORTESTW(strange, strange)
	JZ(LabelRef("known"))
	index, found, mask := ZMM(), ZMM(), K()
	VMOVDQU32(Mem{Base: list}, index)
	VPSUBD_BCST(of(pairShift), index, index)
	VPXORD(found, found, found)
	KMOVW(strange, mask)
	VPGATHERDD(Mem{Base: pointer("last"), Index: index, Scale: 4}, mask, found)
	VPBROADCASTD(of(pairNow), index)
	VPSUBD(found, index, strange, age)
	Label("known")
	p = wideTable(age, raised, tables[1], "ofTarget", of(ofPre+stepFinal), [3]Mem{bit5, bit6, last}, "ages3")
	VMULPS(y, p, p)
	out := wideStep(k, ofPre, w, p, "step3")
	not, all := K(), K()
	VCMPPS(Imm(unordered), out, out, valid, not)
	KORW(not, bad, bad)
	KANDNW(valid, not, all)
	wideBound(out, k, zero)
	CMPQ(left, Imm(16))
	JL(LabelRef("expand"))
	VMOVUPS(out, valid, Mem{Base: at, Index: weights, Scale: 1})
	Label("stored")
	away, quarter := ZMM(), XMM()
	VMULPS_BCST(of(pairScale), out, out)
	VPANDD_BCST(sign, out, away)
	VPORD_BCST(half, away, away)
	VADDPS(away, out, out)
	VCVTTPS2DQ_Z(out, all, out)
	CMPQ(left, Imm(16))
	JL(LabelRef("few"))
	addPairs(sums, Mem{Base: list}, 8, func(i int) Register {
		pair := GP64()
		if i%2 == 0 {
			VEXTRACTI64X2(Imm(uint64(i/2)), out, quarter)
			VMOVQ(quarter, pair)
		} else {
			VPEXTRQ(Imm(1), quarter, pair)
		}
		return pair
	})
	Label("added")
	ADDQ(Imm(64), at)
	SUBQ(Imm(16), left)
	JG(LabelRef("sixteen"))

	ADDQ(Imm(rowSize), row)
	is, end := GP32(), GP64()
	KMOVW(bad, is)
	TESTL(is, is)
	JNZ(LabelRef("done"))
	Load(Param("n"), end)
	SHLQ(Imm(5), end)
	ADDQ(memory(Param("rows")), end)
	CMPQ(row, end)
	JB(LabelRef("row"))
	Label("done")
	KMOVW(bad, is)
	Store(is, ReturnIndex(2))
	SUBQ(memory(Param("rows")), row)
	SHRQ(Imm(5), row)
	Store(row, ReturnIndex(0))
	VZEROUPPER()
	RET()

	Label("tail") // of a row: read are the lines that it has synapses in, and no other
	MOVQ(at, list)
	SHRQ(Imm(2), list)
	ANDQ(Imm(15), list)
	set, end := GP64(), GP64()
	LEAQ(Mem{Base: list, Index: left, Scale: 1}, end)
	CMPQ(end, Imm(16))
	JBE(LabelRef("single"))
	XORQ(list, list) // it goes on in the next line
	Label("single")
	MOVL(U32(1<<16-1), set.As32())
	BZHIL(left.As32(), set.As32(), set.As32())
	KMOVW(set.As32(), valid)
	SHLXL(list.As32(), set.As32(), set.As32())
	KMOVW(set.As32(), window)
	SHLQ(Imm(2), list)
	SUBQ(list, at)
	own, targets := ZMM(), ZMM()
	VMOVDQU32_Z(Mem{Base: at}, window, own)
	VPCOMPRESSD_Z(own, window, own)
	VPBROADCASTD(of(pairShift), targets) // the other lanes have targets of their own, to which nothing is added
	VPADDD(lanes, targets, targets)
	VMOVDQA32(own, valid, targets)
	VMOVDQU32(targets, of(tailTargets))
	VMOVUPS_Z(Mem{Base: at, Index: weights, Scale: 1}, window, w)
	VCOMPRESSPS_Z(w, window, w)
	LEAQ(of(tailTargets), list)
	JMP(LabelRef("listed"))

	Label("expand") // those of an eight that was missed stay as they were
	VMOVAPS(out, valid, w)
	VEXPANDPS_Z(w, window, w)
	VMOVUPS(w, window, Mem{Base: at, Index: weights, Scale: 1})
	JMP(LabelRef("stored"))

	Label("few") // not for the other lanes too: processors would expect sums of one tail to wait for those of the last one
	VMOVDQU32(out, of(tailAmounts))
	i := GP64()
	XORQ(i, i)
	Label("one")
	CMPQ(i, left)
	JGE(LabelRef("added"))
	one, amount := GP64(), GP32()
	MOVL(of(tailTargets).Idx(i, 4), one.As32())
	MOVL(of(tailAmounts).Idx(i, 4), amount)
	ADDL(amount, Mem{Base: sums, Index: one, Scale: 4})
	INCQ(i)
	JMP(LabelRef("one"))

	Label("missed") // the eight of the lowest bit
	eight, drop, place := GP64(), K(), GP64()
	TZCNTL(bits, eight.As32())
	ANDL(Imm(8), eight.As32())
	MOVQ(row, place)
	SUBQ(memory(Param("rows")), place)
	SHRQ(Imm(5), place)
	to := GP64()
	MOVQ(missed, to)
	SHLQ(Imm(3), to)
	ADDQ(memory(Param("again")), to)
	MOVL(place.As32(), Mem{Base: to})
	MOVQ(Mem{Base: row, Disp: rowTo}, place)
	SUBQ(left, place)
	SUBQ(Mem{Base: row, Disp: rowFrom}, place)
	ADDQ(eight, place)
	MOVL(place.As32(), Mem{Base: to, Disp: 4})
	INCQ(missed)
	MOVL(U32(0xff), place.As32())
	SHLXL(eight.As32(), place.As32(), place.As32())
	KMOVW(place.As32(), drop)
	KANDNW(valid, drop, valid)
	KANDNW(some, drop, some)
	KANDNW(more, drop, more)
	ANDNL(bits, place.As32(), bits)
	TESTL(bits, bits)
	JNZ(LabelRef("third"))
	JMP(LabelRef("post"))
}

// memory is where an argument or a result lies.
func memory(c gotypes.Component) Mem {
	at, err := c.Resolve()
	if err != nil {
		panic(err)
	}
	return at.Addr
}

// wideHeads gets the two words of sixteen heads.
func wideHeads(heads, list Register, even, odd Mem) (lane, value VecVirtual) {
	var halves [2]VecVirtual
	for half := range halves {
		var quarters [2]VecVirtual
		for quarter := range quarters {
			var pair [2]VecVirtual
			for i := range pair {
				pair[i] = XMM()
				for j := range 2 {
					index := GP32()
					MOVL(Mem{Base: list, Disp: 4 * (8*half + 4*quarter + 2*i + j)}, index)
					from := Mem{Base: heads, Index: index.As64(), Scale: 8}
					if j == 0 {
						VMOVQ(from, pair[i])
					} else {
						VMOVHPS(from, pair[i], pair[i])
					}
				}
			}
			quarters[quarter] = YMM()
			VINSERTI64X2(Imm(1), pair[1], pair[0].AsY(), quarters[quarter])
		}
		halves[half] = ZMM()
		VINSERTI64X4(Imm(1), quarters[1], quarters[0].AsZ(), halves[half])
	}
	lane, value = ZMM(), ZMM()
	VMOVDQU32(even, lane)
	VMOVDQU32(odd, value)
	VPERMI2D(halves[1], halves[0], lane)
	VPERMI2D(halves[1], halves[0], value)
	return lane, value
}

// wideTable is P at ages, where lanes are chosen.
func wideTable(age VecVirtual, chosen OpmaskVirtual, near [nearAges / 16]VecVirtual, table string, final Mem, bits [3]Mem, label string) VecVirtual {
	var parts [4]VecVirtual
	masks := [3]OpmaskVirtual{K(), K(), K()}
	VPTESTMD_BCST(bits[0], age, masks[0])
	VPTESTMD_BCST(bits[1], age, masks[1])
	for i := range parts {
		parts[i] = ZMM()
		VMOVDQA32(age, parts[i])
		VPERMI2D(near[2*i+1], near[2*i], parts[i])
	}
	VMOVDQA32(parts[1], masks[0], parts[0])
	VMOVDQA32(parts[3], masks[0], parts[2])
	VMOVDQA32(parts[2], masks[1], parts[0])
	far, inside := masks[2], K()
	VPCMPUD_BCST(Imm(moreThan), bits[2], age, chosen, far)
	KORTESTW(far, far)
	JZ(LabelRef(label))
	VPCMPUD_BCST(Imm(atMost), final, age, far, inside)
	VPXORD(parts[0], parts[0], far, parts[0])
	VGATHERDPS(Mem{Base: pointer(table), Index: age, Scale: 4}, inside, parts[0])
	Label(label)
	return parts[0]
}

// wideStep is w + C·(E + w/M)·(t + D); t is lost. Steps wait for each other, so an M that is infinite is not divided by: weights are finite.
func wideStep(k Register, step int, w, t VecVirtual, label string) VecVirtual {
	of := func(i int) Mem { return Mem{Base: k, Disp: 32 * (step + i)} }
	out := ZMM()
	VBROADCASTSS(of(stepE), out)
	CMPL(of(stepM), U32(infinity))
	JEQ(LabelRef(label))
	VDIVPS_BCST(of(stepM), w, out)
	VADDPS_BCST(of(stepE), out, out)
	Label(label)
	VMULPS_BCST(of(stepC), out, out)
	VADDPS_BCST(of(stepD), t, t)
	VMULPS(t, out, out)
	VADDPS(out, w, out)
	return out
}

// wideBound is bounded.
func wideBound(x VecVirtual, k Register, zero VecVirtual) {
	low, high := ZMM(), ZMM()
	VBROADCASTSS(Mem{Base: k, Disp: 32 * pairLow}, low)
	VBROADCASTSS(Mem{Base: k, Disp: 32 * pairHigh}, high)
	VMAXPS(x, low, x) // the second, in Intel's order, where one is NaN
	VMINPS(x, high, x)
	VADDPS(zero, x, x)
}
