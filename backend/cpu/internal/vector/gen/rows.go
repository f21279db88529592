package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

// deliver is scalar: AVX2 cannot scatter. It spares Go's bounds checks and has a prefetch.
func deliver() {
	const signature = "func(acc *int32, rows *uint16, spans *uint64, n uint64, ahead uint64)"
	begin("deliverAVX2", signature, "is deliver for n > 0 spans.")
	throughSpans(even)
	begin("deliverAlikeAVX2", signature, "is deliver for n > 0 spans whose segments have equally many synapses: the processor guesses that.")
	throughSpans(guessed)
}

// evenly delivers all synapses of an Even segment but the first one, and goes on with the next segment.
type evenly func(count, p Register, gap, none, slot, weight GPVirtual, sum func(slot GPVirtual) Mem)

func throughSpans(how evenly) {
	acc, rows, spans, n, ahead := pointer("acc"), pointer("rows"), pointer("spans"), pointer("n"), pointer("ahead")
	last := GP64() // from here on nothing is ahead
	MOVQ(n, last)
	SUBQ(ahead, last)
	SHLQ(Imm(4), ahead)
	p, end := GP64(), GP64()
	ends := func(at Mem) { ofSpan(rows, at, p, end) }

	Label("span")
	DECQ(last)
	JL(LabelRef("fetched"))
	ends(Mem{Base: spans, Index: ahead, Scale: 1})
	fetchLines(p, end)
	Label("fetched")

	ends(Mem{Base: spans})
	segments(sumsAt(acc), p, end, "delivered", nil, how)

	Label("delivered")
	ADDQ(Imm(16), spans)
	DECQ(n)
	JNZ(LabelRef("span"))
	RET()
}

// ofSpan finds the first and last unit of the span there.
func ofSpan(rows Register, at Mem, p, end Register) {
	MOVQ(at, p)
	at.Disp += 8
	MOVQ(at, end)
	LEAQ(Mem{Base: rows, Index: p, Scale: 2}, p)
	LEAQ(Mem{Base: rows, Index: end, Scale: 2}, end)
}

// fetchLines asks for at most the first kilobyte from p to end.
func fetchLines(p, end Register) {
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
}

// segments delivers those from p to end and goes on at a label. With rest, those of a room (vector.Rooms).
func segments(sum func(slot GPVirtual) Mem, p, end Register, then string, rest Register, how evenly) {
	Label("segment")
	CMPQ(p, end)
	JAE(LabelRef(then))
	count, kind, slot, weight := GP64(), GP32(), GP32(), GP32()
	MOVWLZX(Mem{Base: p}, count.As32())
	if rest != nil {
		TESTL(count.As32(), count.As32())
		JZ(LabelRef(then))
	}
	MOVWLZX(Mem{Base: p, Disp: 2}, kind)
	MOVL(Mem{Base: p, Disp: 4}, slot)
	MOVL(Mem{Base: p, Disp: 8}, weight)
	ADDQ(Imm(2*6), p)
	TESTL(kind, kind)
	JNZ(LabelRef("uneven"))

	gap, more := GP32(), GP32()
	ADDL(weight, sum(slot))
	DECQ(count)
	how(count, p, gap, more, slot, weight, sum)

	Label("uneven")
	if rest != nil {
		CMPB(kind.As8(), Imm(4))
		JNE(LabelRef("many"))
		few(count, p, slot, weight, sum(slot), then)
		Label("many")
		CMPB(kind.As8(), Imm(3))
		JNE(LabelRef("here"))
		SHLQ(Imm(32), weight.As64())
		ORQ(slot.As64(), weight.As64())
		LEAQ(Mem{Base: rest, Index: weight.As64(), Scale: 2}, p)
		MOVQ(I32(-1), end) // a count of 0 ends the row
		JMP(LabelRef("segment"))
		Label("here")
	}
	CMPB(kind.As8(), Imm(2))
	JE(LabelRef("wide"))
	SHRL(Imm(8), kind)
	mixed(count, p, kind, gap, more, slot, weight, sum)

	Label("wide")
	unrolled("wide", count, p, 8, func(disp int) {
		ADDL(Mem{Base: p, Disp: disp}, slot)
		MOVL(Mem{Base: p, Disp: disp + 4}, more)
		ADDL(weight, more)
		ADDL(more, sum(slot))
	})
}

// guessed does so where the processor guesses how many there are.
func guessed(count, p Register, gap, _, slot, weight GPVirtual, sum func(slot GPVirtual) Mem) {
	unrolled("even", count, p, 2, func(disp int) {
		MOVWLZX(Mem{Base: p, Disp: disp}, gap)
		ADDL(gap, slot)
		ADDL(weight, sum(slot))
	})
}

// even does so four at a time, then what is left, 0 to 3, without asking how many that is, since no processor guesses it where rows differ.
// The gaps of these are read as the last ones of four, so that nothing behind them is read.
func even(count, p Register, gap, none, slot, weight GPVirtual, sum func(slot GPVirtual) Mem) {
	SUBQ(Imm(4), count)
	JB(LabelRef("even_rest"))
	Label("even_four")
	for i := range 4 {
		MOVWLZX(Mem{Base: p, Disp: 2 * i}, gap)
		ADDL(gap, slot)
		ADDL(weight, sum(slot))
	}
	ADDQ(Imm(8), p)
	SUBQ(Imm(4), count)
	JAE(LabelRef("even_four"))
	Label("even_rest")
	ADDQ(Imm(4), count)
	LEAQ(Mem{Base: p, Index: count, Scale: 2}, p)
	SHLQ(Imm(4), count)
	XORQ(Imm(48), count) // 48 less 16 times how many are left
	gaps := GP64()
	MOVQ(Mem{Base: p, Disp: -8}, gaps)
	SHRQ(Imm(16), gaps)
	SHRXQ(count, gaps, gaps)
	XORL(none, none)
	for i := range 3 {
		MOVWLZX(gaps.As16(), gap)
		CMPQ(count, Imm(uint64(32-16*i)))
		CMOVLHI(none, weight) // no more: 0 is added to the last one's sum
		ADDL(gap, slot)
		ADDL(weight, sum(slot))
		if i < 2 {
			SHRQ(Imm(16), gaps)
		}
	}
	JMP(LabelRef("segment"))
}

// mixed delivers the synapses of a Mixed segment with so many bits of a gap, and goes on with the next segment. The last 0 to 3 are read
// as the last ones of three, of which the others become 0: no processor guesses how many there are. The header is as long as three.
func mixed(count, p Register, bits, gap, more, slot, weight GPVirtual, sum func(slot GPVirtual) Mem) {
	SUBQ(Imm(4), count)
	JB(LabelRef("mixed_rest"))
	Label("mixed_four")
	for i := range 4 {
		MOVL(Mem{Base: p, Disp: 4 * i}, more)
		BZHIL(bits, more, gap)
		SHRXL(bits, more, more)
		ADDL(gap, slot)
		ADDL(weight, more)
		ADDL(more, sum(slot))
	}
	ADDQ(Imm(16), p)
	SUBQ(Imm(4), count)
	JAE(LabelRef("mixed_four"))
	Label("mixed_rest")
	ADDQ(Imm(4), count)
	LEAQ(Mem{Base: p, Index: count, Scale: 4}, p)
	for i := range 3 {
		word := GP32()
		CMPQ(count, Imm(uint64(3-i)))
		SBBL(more, more) // all ones where it is none of them
		ANDNL(Mem{Base: p, Disp: 4*i - 12}, more, word)
		ANDNL(weight, more, more)
		BZHIL(bits, word, gap)
		SHRXL(bits, word, word)
		ADDL(gap, slot)
		ADDL(word, more)
		ADDL(more, sum(slot))
	}
	JMP(LabelRef("segment"))
}

func deliverRuns() {
	begin("deliverRunsAVX2", "func(acc *int32, rows *uint16, flights *uint64, n uint64, ahead uint64)", "is deliverRuns for n > 0 flights, where slot 0 comes first.")
	throughRuns(sumsAt(pointer("acc")))
}

func deliverRound() {
	begin("deliverRoundAVX2", "func(acc *int32, at, left uint64, rows *uint16, flights *uint64, n uint64, ahead uint64)", "is deliverRuns likewise, where slot 0 is at acc[at] and there are left sums from there to the end.")
	acc, at, left, to := pointer("acc"), pointer("at"), pointer("left"), GP64()
	LEAQ(Mem{Base: acc, Index: at, Scale: 4}, at)
	MOVQ(left, to)
	SHLQ(Imm(2), to)
	SUBQ(to, acc) // of slots that go round
	throughRuns(func(slot GPVirtual) Mem {
		MOVQ(at, to)
		CMPQ(slot.As64(), left)
		CMOVQCC(acc, to)
		return Mem{Base: to, Index: slot.As64(), Scale: 4}
	})
}

// Of vector.Flight.
const (
	flightTo    = 8
	flightUnits = 16
	flightDue   = 20
	flightSize  = 24
)

// ofFlight finds the first and last unit of a flight's run.
func ofFlight(rows Register, at Mem, p, end GPVirtual) {
	MOVQ(at, p)
	at.Disp += flightUnits
	MOVL(at, end.As32())
	LEAQ(Mem{Base: rows, Index: p, Scale: 2}, p)
	LEAQ(Mem{Base: p, Index: end, Scale: 2}, end)
}

func fetchRuns() {
	begin("fetchRunsAVX2", "func(rows *uint16, flights *uint64, n uint64)", "asks for the runs of n > 0 flights.")
	rows, flights, n := pointer("rows"), pointer("flights"), pointer("n")
	p, end := GP64(), GP64()
	Label("flight")
	ofFlight(rows, Mem{Base: flights}, p, end)
	fetchLines(p, end)
	ADDQ(Imm(flightSize), flights)
	DECQ(n)
	JNZ(LabelRef("flight"))
	RET()
}

// throughRuns takes what it needs once a flight from memory: there are too few registers.
func throughRuns(sum func(slot GPVirtual) Mem) {
	flights, n, p, end := pointer("flights"), memory(Param("n")), GP64(), GP64()
	run := func(at Mem) { ofFlight(pointer("rows"), at, p, end) }

	Label("flight")
	far := pointer("ahead")
	CMPQ(far, n)
	JAE(LabelRef("fetched"))
	LEAQ(Mem{Base: far, Index: far, Scale: 2}, far)
	run(Mem{Base: flights, Index: far, Scale: 8})
	ADDQ(Imm(2*3-1), end) // with the header behind it, which says when the flight goes on
	PREFETCHT0(Mem{Base: p})
	PREFETCHT0(Mem{Base: end})
	line := GP64()
	for range 3 { // the last line again, where there are fewer: a question would often be guessed wrong
		ADDQ(Imm(64), p)
		MOVQ(end, line)
		CMPQ(p, end)
		CMOVQCS(p, line)
		PREFETCHT0(Mem{Base: line})
	}
	ADDQ(Imm(64), p)
	CMPQ(p, end)
	JAE(LabelRef("fetched"))
	fetchLines(p, end)
	Label("fetched")
	MOVQ(Mem{Base: flights}, p)
	CMPQ(p, Mem{Base: flights, Disp: flightTo})
	JAE(LabelRef("flown"))
	run(Mem{Base: flights})
	ADDQ(Imm(2*3), p)
	segments(sum, p, end, "delivered", nil, even)

	Label("delivered") // now the header of the next run is in the first-level cache: later it would have to come again
	from, header := GP64(), pointer("rows")
	MOVQ(Mem{Base: flights}, from)
	MOVL(Mem{Base: flights, Disp: flightUnits}, end.As32())
	ADDQ(from, end)
	MOVQ(end, Mem{Base: flights})
	CMPQ(end, Mem{Base: flights, Disp: flightTo})
	CMOVQCC(from, end) // the row ends, and nothing may be behind it: this run's header once more
	MOVWLZX(Mem{Base: header, Index: from, Scale: 2}, from.As32())
	SUBL(from.As32(), Mem{Base: flights, Disp: flightDue})
	MOVWLZX(Mem{Base: header, Index: end, Scale: 2}, from.As32())
	ADDL(from.As32(), Mem{Base: flights, Disp: flightDue})
	MOVL(Mem{Base: header, Index: end, Scale: 2, Disp: 2}, from.As32())
	ADDL(Imm(3), from.As32())
	MOVL(from.As32(), Mem{Base: flights, Disp: flightUnits})
	Label("flown")
	ADDQ(Imm(flightSize), flights)
	DECQ(n)
	JNZ(LabelRef("flight"))
	RET()
}

// sumsAt is where the sum of a slot is, if slot 0 is at acc.
func sumsAt(acc Register) func(slot GPVirtual) Mem {
	return func(slot GPVirtual) Mem { return Mem{Base: acc, Index: slot.As64(), Scale: 4} }
}

func deliverRooms() {
	begin("deliverRoomsAVX2", "func(acc *int32, units *uint16, room uint64, rest *uint16, ids *uint32, n uint64)", "is deliverRooms for n > 0 rows and rooms of so many bytes.")
	acc, units, room, rest, ids, n := pointer("acc"), pointer("units"), pointer("room"), pointer("rest"), pointer("ids"), pointer("n")
	p, end := GP64(), GP64()
	Label("row")
	CMPQ(n, Imm(roomsAhead))
	JBE(LabelRef("fetched"))
	MOVL(Mem{Base: ids, Disp: 4 * roomsAhead}, p.As32())
	IMULQ(room, p)
	PREFETCHT0(Mem{Base: units, Index: p, Scale: 1})
	Label("fetched")
	MOVL(Mem{Base: ids}, p.As32())
	IMULQ(room, p)
	ADDQ(units, p)
	kind := GP32()
	MOVWLZX(Mem{Base: p, Disp: 2}, kind)
	CMPL(kind, Imm(5))
	JNE(LabelRef("other"))
	direct(acc, p, room, "delivered")
	Label("other")
	LEAQ(Mem{Base: p, Index: room, Scale: 1}, end)
	segments(sumsAt(acc), p, end, "delivered", rest, guessed)
	Label("delivered")
	ADDQ(Imm(4), ids)
	DECQ(n)
	JNZ(LabelRef("row"))
	RET()
}

// direct delivers a Direct row. All rows have the same room, so that the processor guesses right whether more than four synapses fit.
func direct(acc, p, room Register, then string) {
	count, weight, slot := GP32(), GP32(), GP32()
	MOVWLZX(Mem{Base: p}, count)
	MOVL(Mem{Base: p, Disp: 4}, weight)
	const perStep = 4
	for k := 0; k < 28; k += perStep {
		switch {
		case k == perStep:
			CMPQ(room, Imm(16))
			JBE(LabelRef(then))
		case k > perStep:
			CMPL(count, Imm(uint64(k)))
			JBE(LabelRef(then))
		}
		for i := range perStep {
			MOVWLZX(Mem{Base: p, Disp: 2 * (4 + k + i)}, slot)
			ADDL(weight, Mem{Base: acc, Index: slot.As64(), Scale: 4})
		}
	}
	JMP(LabelRef(then))
}

// few delivers a row's only segment, of one weight, that ends in its room: synapses beyond the last one add 0 to its sum.
func few(count, p Register, slot, weight GPVirtual, sum Mem, then string) {
	gap, none := GP32(), GP32()
	XORL(none, none)
	ADDL(weight, sum)
	k := 1
	for i, most := range fewSteps {
		if i > 0 {
			CMPQ(count, Imm(uint64(k)))
			JLS(LabelRef(then))
		}
		for ; k < most; k++ {
			MOVWLZX(Mem{Base: p, Disp: 2 * (k - 1)}, gap)
			CMPQ(count, Imm(uint64(k)))
			CMOVLLS(none, weight)
			ADDL(gap, slot)
			ADDL(weight, sum)
		}
	}
	JMP(LabelRef(then))
}

// fewSteps are how many synapses are delivered before it is asked whether there are more: a room of 16 units holds 11, one of 32 units 27.
var fewSteps = []int{4, 8, 11, 15, 19, 23, 27}

// roomsAhead is how many rows ahead rooms are prefetched.
const roomsAhead = 16

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

func fetchSpans() {
	begin("fetchSpansAVX2", "func(rows *uint16, spans *uint64, n uint64)", "asks for n > 0 spans.")
	rows, spans, n := pointer("rows"), pointer("spans"), pointer("n")
	p, end := GP64(), GP64()
	Label("span")
	ofSpan(rows, Mem{Base: spans}, p, end)
	fetchLines(p, end)
	ADDQ(Imm(16), spans)
	DECQ(n)
	JNZ(LabelRef("span"))
	RET()
}
