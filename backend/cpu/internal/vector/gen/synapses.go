package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

const (
	unordered = 0x03 // VCMPPS: one is NaN
	ordered   = 0x07
)

// synapses writes the loops of Synapses.
func synapses() {
	masks := GLOBL("masks", RODATA|NOPTR) // eight lanes from 4·(8 − n) on have n that are set
	for i := range 16 {
		DATA(4*i, U32(map[bool]uint32{true: 1<<32 - 1}[i < 8]))
	}
	loadPieces(masks)
	storePieces()
	fillPieces()
	fetchPieces()
	touch()
	pendingLanes()
	above()
	oldestPlaces()
	ages()
	for _, long := range []bool{false, true} {
		decays(long)
		agings(long)
	}
	meetings()
	agingsNear()
	gathers()
	bounds(false)
	bounds(true)
	amounts()
	addAt()
	pairs(masks)
}

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

// spreadOf fills a register with an argument, a whole number.
func spreadOf(name string) VecVirtual {
	y := YMM()
	VMOVD(Load(Param(name), GP32()), y.AsX())
	VPBROADCASTD(y.AsX(), y)
	return y
}

// numberOf does so with a float32.
func numberOf(name string) VecVirtual {
	y := YMM()
	at, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	VBROADCASTSS(at.Addr, y) // from memory: Load would take MOVSS, and SSE after AVX costs as much as a hundred numbers
	return y
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

// gather reads words at base + disp + scale·index. Lanes that are not chosen become zero: most often these are most, and memory that
// is far is not read for them. mask is lost.
func gather(base Register, disp int, index VecVirtual, scale uint8, mask VecVirtual) VecVirtual {
	out := zeroed()
	VPGATHERDD(mask, Mem{Base: base, Disp: disp, Index: index, Scale: scale}, out)
	return out
}

// pick reads words of an array, at the numbers that eight words of memory hold. It takes half the time of a gather.
func pick(array Register, indices Mem) VecVirtual {
	return pickPairs(array, func(i int) Register {
		pair := GP64()
		MOVQ(indices.Offset(8*i), pair)
		return pair
	})
}

// pickAt does so at the numbers of a register. They do not go through memory: loads of parts of what was stored would wait for it,
// and where that crosses a line much longer.
func pickAt(array Register, index VecVirtual) VecVirtual {
	return pickPairs(array, pairsOf(index))
}

// pairsOf gives the i-th two of a register's eight numbers in one register.
func pairsOf(eight VecVirtual) func(i int) Register {
	high := XMM()
	VEXTRACTI128(Imm(1), eight, high)
	return func(i int) Register {
		half, pair := eight.AsX(), GP64()
		if i >= 2 {
			half = high
		}
		if i%2 == 0 {
			VMOVQ(half, pair)
		} else {
			VPEXTRQ(Imm(1), half, pair)
		}
		return pair
	}
}

// pickPairs gets the numbers in four pairs.
func pickPairs(array Register, pairOf func(i int) Register) VecVirtual {
	out := YMM()
	one := func(i int, index Register) {
		from := Mem{Base: array, Index: index, Scale: 4}
		if i == 0 {
			VBROADCASTSS(from, out)
			return
		}
		x := YMM()
		VBROADCASTSS(from, x) // by the load alone: insertions would all wait for one port
		VBLENDPS(Imm(1<<i), x, out, out)
	}
	for i := range 4 {
		first, second := split(pairOf(i))
		one(2*i, first)
		one(2*i+1, second)
	}
	return out
}

// split are the two words of a pair, which is lost.
func split(pair Register) (first, second Register) {
	low := GP64()
	MOVL(pair.(GPVirtual).As32(), low.As32())
	SHRQ(Imm(32), pair)
	return low, pair
}

// eights repeats body with the offset of eight lanes, and then does end.
func eights(body func(at Register), end func()) {
	n, at := pointer("eights"), GP64()
	XORQ(at, at)
	Label("eight")
	body(at)
	ADDQ(Imm(32), at)
	DECQ(n)
	JNZ(LabelRef("eight"))
	end()
	VZEROUPPER()
	RET()
}

func lanesAt(array, at Register) Mem { return Mem{Base: array, Index: at, Scale: 1} }

func pendingLanes() {
	second := GLOBL("second", RODATA|NOPTR) // the upper halves of words
	for i := range 8 {
		DATA(4*i, U32(0xffff0000))
	}
	begin("pendingAVX2", "func(counts, lanes *uint32, slots *uint64, targets, after *uint32, eights uint64) (some, most uint32)", "counts lanes of slots.")
	counts, lanes, slots, targets, after := pointer("counts"), pointer("lanes"), pointer("slots"), pointer("targets"), pointer("after")
	some, most, one, halves := zeroed(), zeroed(), YMM(), YMM()
	VPCMPEQD(one, one, one)
	VPSRLD(Imm(31), one, one)
	VMOVDQU(second, halves)
	eights(func(at Register) {
		index, limit, count, above := YMM(), YMM(), zeroed(), YMM()
		VMOVDQU(lanesAt(targets, at), index)
		VPADDD(index, index, index)
		VMOVDQU(lanesAt(after, at), limit)
		for word := range 4 { // two lanes each; most often no target has a third
			both := YMM()
			if word == 0 {
				VMOVDQU(lanesAt(lanes, at), above)
			} else {
				VPSRAD(Imm(16), above, above) // those whose second lane counts
				above = gather(slots, 4*word, index, 8, above)
			}
			VPCMPGTW(limit, above, above)
			VPMADDWD(above, above, both) // (−1)² for each
			VPADDD(both, count, count)
			if word < 3 {
				VPTEST(above, halves)
				JZ(LabelRef("counted"))
			}
		}
		Label("counted")
		VMOVDQU(count, lanesAt(counts, at))
		VPMAXUD(count, most, most)
		VPMINUD(one, count, count)
		VPADDD(count, some, some)
	}, func() {
		Store(joined(some, VPADDD), ReturnIndex(0))
		Store(joined(most, VPMAXUD), ReturnIndex(1))
	})
}

func above() {
	chosen := GLOBL("chosen", RODATA|NOPTR) // by eight flags: the numbers of those that are set, a byte each
	for flags := range 256 {
		numbers, n := uint64(0), 0
		for i := range 8 {
			if flags>>i&1 != 0 {
				numbers |= uint64(i) << (8 * n)
				n++
			}
		}
		DATA(8*flags, U64(numbers))
	}
	begin("aboveAVX2", "func(list, numbers *uint32, limit uint32, eights uint64) (found uint32)", "lists the entries of numbers below 2^31 above a limit.")
	list, numbers, limit, first := pointer("list"), pointer("numbers"), spreadOf("limit"), YMM()
	table, start, eight := GP64(), GP64(), GP32()
	LEAQ(chosen, table)
	MOVQ(list, start)
	VPXOR(first, first, first)
	MOVL(U32(8), eight)
	by := YMM()
	VMOVD(eight, by.AsX())
	VPBROADCASTD(by.AsX(), by)
	eights(func(at Register) {
		is, flags, place := YMM(), GP32(), YMM()
		VMOVDQU(lanesAt(numbers, at), is)
		VPCMPGTD(limit, is, is)
		VMOVMSKPS(is, flags)
		VPMOVZXBD(Mem{Base: table, Index: flags.As64(), Scale: 8}, place)
		VPADDD(first, place, place)
		VMOVDQU(place, Mem{Base: list})
		POPCNTL(flags, flags)
		LEAQ(Mem{Base: list, Index: flags.As64(), Scale: 4}, list)
		VPADDD(by, first, first)
	}, func() {
		SUBQ(start, list)
		SHRQ(Imm(2), list)
		Store(list.(GPVirtual).As32(), ReturnIndex(0))
	})
}

func oldestPlaces() {
	begin("oldestAVX2", "func(places, chosen, targets, counts *uint32, eights uint64)", "finds the places of the oldest lanes.")
	places, chosen, targets, counts := pointer("places"), pointer("chosen"), pointer("targets"), pointer("counts")
	zero := zeroed()
	eights(func(at Register) {
		count, some, place := YMM(), YMM(), YMM()
		VMOVDQU(lanesAt(counts, at), count)
		VPCMPGTD(zero, count, some)
		VMOVDQU(some, lanesAt(chosen, at))
		VMOVDQU(lanesAt(targets, at), place)
		VPSLLD(Imm(3), place, place)
		VPADDD(count, place, place)
		VPADDD(some, place, place)
		VMOVDQU(place, lanesAt(places, at))
	}, func() {})
}

func ages() {
	begin("sinceAVX2", "func(ages, lanes *uint32, slots *uint64, places, base *uint32, eights uint64)", "adds base to lanes.")
	out, lanes, slots, places, base := pointer("ages"), pointer("lanes"), pointer("slots"), pointer("places"), pointer("base")
	low, late := YMM(), YMM()
	VPCMPEQD(low, low, low)
	VPSRLD(Imm(16), low, low)
	VPSRLD(Imm(14), low, late) // 3
	VPADDD(late, late, late)   // 6
	zero := zeroed()
	eights(func(at Register) {
		index, lane, odd, near, far := YMM(), YMM(), YMM(), YMM(), YMM()
		VMOVDQU(lanesAt(places, at), index)
		VPSLLD(Imm(31), index, odd) // of 0 and 1, 0 and 16
		VPSRLD(Imm(27), odd, odd)
		VMOVDQU(lanesAt(lanes, at), lane)
		VPSRLVD(odd, lane, lane)
		VPTEST(late, index)
		JZ(LabelRef("found"))
		VPAND(late, index, far)
		VPCMPEQD(zero, far, near)
		VPCMPEQD(zero, near, far)
		more := gather(slots, 0, index, 2, far)
		VPAND(near, lane, lane)
		VPOR(more, lane, lane)
		Label("found")
		VPAND(low, lane, lane)
		VPADDD(lanesAt(base, at), lane, lane)
		VMOVDQU(lane, lanesAt(out, at))
	}, func() {})
}

// table are the arguments of P: it is low[age], or with long high[age/256]·low[age mod 256], and 0 above the age final.
type table struct {
	low, high   Register
	final, byte VecVirtual
}

func newTable(long bool) table {
	t := table{low: pointer("low"), final: spreadOf("final")}
	if long {
		t.high, t.byte = pointer("high"), YMM()
		VPCMPEQD(t.byte, t.byte, t.byte)
		VPSRLD(Imm(24), t.byte, t.byte)
	}
	return t
}

// at is P at ages.
func (t *table) at(age VecVirtual) VecVirtual {
	inside, index := YMM(), YMM()
	VPMINUD(t.final, age, index)
	VPCMPEQD(age, index, inside)
	var p VecVirtual
	if t.high == nil {
		p = pickAt(t.low, index)
	} else {
		part := YMM()
		VPSRLD(Imm(8), index, part)
		p = pickAt(t.high, part)
		VPAND(t.byte, index, index)
		VMULPS(pickAt(t.low, index), p, p)
	}
	VANDPS(inside, p, p)
	return p
}

func named(name string, long bool) string {
	if long {
		return name + "LongAVX2"
	}
	return name + "AVX2"
}

func tableArguments(long bool) string {
	if long {
		return "low *float32, high *float32, final uint32"
	}
	return "low *float32, final uint32"
}

func decays(long bool) {
	begin(named("decay", long), "func(out, x *float32, ages *uint32, "+tableArguments(long)+", eights uint64)", "is x·P[age].")
	out, x, ages, p := pointer("out"), pointer("x"), pointer("ages"), newTable(long)
	eights(func(at Register) {
		age := YMM()
		VMOVDQU(lanesAt(ages, at), age)
		y := p.at(age)
		VMULPS(lanesAt(x, at), y, y)
		VMOVUPS(y, lanesAt(out, at))
	}, func() {})
}

func agings(long bool) {
	begin(named("aged", long), "func(out, values *float32, last, at *uint32, now uint32, "+tableArguments(long)+", eights uint64)", "is values[at]·P[now − last[at]].")
	out, values, lasts, list, now := pointer("out"), pointer("values"), pointer("last"), pointer("at"), spreadOf("now")

	p := newTable(long)
	eights(func(at Register) {
		age := pick(lasts, lanesAt(list, at))
		VPSUBD(age, now, age)
		y := p.at(age)
		VMULPS(pick(values, lanesAt(list, at)), y, y)
		VMOVUPS(y, lanesAt(out, at))
	}, func() {})
}

// pickHeads gets the two words of eight heads.
func pickHeads(heads Register, targets Mem, lane, value VecVirtual) {
	var halves [2]VecVirtual // entries 0, 1, 4, 5 and 2, 3, 6, 7, as the shuffles want them
	var index, next Register
	for i := range 8 {
		if i%2 == 0 {
			pair := GP64()
			MOVQ(targets.Offset(4*i), pair)
			index, next = split(pair)
		} else {
			index = next
		}
		x, half := YMM(), &halves[i/2%2]
		VPBROADCASTQ(Mem{Base: heads, Index: index, Scale: 8}, x)
		if place := i%2 + i/4*2; place == 0 {
			*half = x
		} else {
			VPBLENDD(Imm(3<<(2*place)), x, *half, *half)
		}
	}
	a, b := halves[0], halves[1]
	VSHUFPS(Imm(0xDD), b, a, value)
	VSHUFPS(Imm(0x88), b, a, lane)
}

func meetings() {
	begin("meetAVX2", "func(lanes *uint32, values *float32, counts, ages, heads, targets, after, base *uint32, eights uint64) (some, both uint32)", "copies heads, counts their lanes and finds ages.")
	lanes, values, counts, ages := pointer("lanes"), pointer("values"), pointer("counts"), pointer("ages")
	heads, targets, after, base := pointer("heads"), pointer("targets"), pointer("after"), pointer("base")
	some, both, low, one, bursts := zeroed(), zeroed(), YMM(), YMM(), YMM()
	VPCMPEQD(low, low, low)
	VPSRLD(Imm(31), low, one)
	VPSRLD(Imm(1), low, bursts)
	VPSRLD(Imm(16), low, low)
	eights(func(at Register) {
		lane, value, count, second := YMM(), YMM(), YMM(), YMM()
		pickHeads(heads, lanesAt(targets, at), lane, value)
		VPAND(bursts, lane, lane)
		VMOVUPS(value, lanesAt(values, at))
		VMOVUPS(lane, lanesAt(lanes, at))
		VPCMPGTW(lanesAt(after, at), lane, count)
		VPSRLD(Imm(31), count, second)
		VPADDD(second, both, both)
		VPAND(one, count, count) // the second lane is above only where the first is
		VPADDD(count, some, some)
		VPADDD(second, count, count)
		VMOVDQU(count, lanesAt(counts, at))
		VPSLLD(Imm(4), second, second)
		VPSRLVD(second, lane, lane)
		VPAND(low, lane, lane)
		VPADDD(lanesAt(base, at), lane, lane)
		VMOVDQU(lane, lanesAt(ages, at))
	}, func() {
		Store(joined(some, VPADDD), ReturnIndex(0))
		Store(joined(both, VPADDD), ReturnIndex(1))
	})
}

// joined joins the eight lanes of a register.
func joined(all VecVirtual, join func(ops ...Op)) Register {
	half, result := XMM(), GP32()
	VEXTRACTI128(Imm(1), all, half)
	join(half, all.AsX(), half)
	for _, order := range []uint64{0x4E, 0xB1} {
		other := XMM()
		VPSHUFD(Imm(order), half, other)
		join(other, half, half)
	}
	VMOVD(half, result)
	return result
}

// agingsNear gathers only where no lane tells the age of a value that is not 0.
func agingsNear() {
	begin("agedNearAVX2", "func(out *float32, lanes, last, at *uint32, now, then uint32, "+tableArguments(false)+", eights uint64)", "is agedNear.")
	out, lanes, lasts, list, now, then := pointer("out"), pointer("lanes"), pointer("last"), pointer("at"), spreadOf("now"), spreadOf("then")
	p, low, zero := newTable(false), YMM(), zeroed()
	VPCMPEQD(low, low, low)
	VPSRLD(Imm(16), low, low)
	eights(func(at Register) {
		both, lane, x, strange, is, age := YMM(), YMM(), YMM(), YMM(), YMM(), YMM()
		VMOVDQU(lanesAt(lanes, at), both)
		VPAND(both, low, lane)
		VPCMPEQD(then, lane, is)
		VPSRLD(Imm(31), is, is)
		VPSLLD(Imm(4), is, is) // the lane before the one of this burst
		VPSRLVD(is, both, lane)
		VPAND(lane, low, lane)
		VMOVUPS(lanesAt(out, at), x)
		VPSUBD(lane, then, age)
		VPCMPEQD(zero, lane, strange)
		VCMPPS(Imm(equal), zero, x, is)
		VPANDN(strange, is, strange)
		VPTEST(strange, strange)
		JZ(LabelRef("known"))
		index := YMM()
		VMOVDQU(lanesAt(list, at), index)
		VMOVDQA(strange, is)
		VPSUBD(gather(lasts, 0, index, 4, is), now, index)
		VPBLENDVB(strange, index, age, age)
		Label("known")
		y := p.at(age)
		VMULPS(x, y, y)
		VMOVUPS(y, lanesAt(out, at))
	}, func() {})
}

func gathers() {
	begin("gatherAVX2", "func(out, from *float32, at *uint32, eights uint64)", "is from[at].")
	out, from, list := pointer("out"), pointer("from"), pointer("at")
	eights(func(at Register) {
		VMOVUPS(pick(from, lanesAt(list, at)), lanesAt(out, at))
	}, func() {})
}

func bounds(chosen bool) {
	name, arguments := "boundAVX2", "out, from *float32"
	if chosen {
		name, arguments = "boundSomeAVX2", "out, from *float32, counts *uint32"
	}
	begin(name, "func("+arguments+", low, high float32, eights uint64) (nan uint32)", "brings numbers within bounds; nan is not 0 if one is NaN.")
	out, from := pointer("out"), pointer("from")
	var counts Register
	if chosen {
		counts = pointer("counts")
	}
	low, high := numberOf("low"), numberOf("high")
	zero, nan := zeroed(), zeroed()
	eights(func(at Register) {
		x, is := YMM(), YMM()
		VMOVUPS(lanesAt(from, at), x)
		VCMPPS(Imm(unordered), x, x, is)
		VMAXPS(x, low, x) // the second, in Intel's order, where one is NaN
		VMINPS(x, high, x)
		VADDPS(zero, x, x)
		if chosen {
			some := YMM()
			VPCMPEQD(lanesAt(counts, at), zero, some)
			VPANDN(is, some, is)
			VBLENDVPS(some, lanesAt(out, at), x, x)
		}
		VPOR(is, nan, nan)
		VMOVUPS(x, lanesAt(out, at))
	}, func() {
		result := GP32()
		VMOVMSKPS(nan, result)
		Store(result, ReturnIndex(0))
	})
}

func amounts() {
	begin("amountsAVX2", "func(amounts *int32, out, from *float32, low, high, scale float32, eights uint64) (nan uint32)", "is bound, and the amounts in quanta.")
	list, out, from, low, high, scale := pointer("amounts"), pointer("out"), pointer("from"), numberOf("low"), numberOf("high"), numberOf("scale")
	sign, half, bits := YMM(), YMM(), GP32()
	VPCMPEQD(sign, sign, sign)
	VPSLLD(Imm(31), sign, sign)
	MOVL(U32(0x3effffff), bits) // the number before 1/2: with it a sum is 1 from 1/2 on, and not before
	VMOVD(bits, half.AsX())
	VPBROADCASTD(half.AsX(), half)
	zero, nan := zeroed(), zeroed()
	eights(func(at Register) {
		x, is, away := YMM(), YMM(), YMM()
		VMOVUPS(lanesAt(from, at), x)
		VCMPPS(Imm(unordered), x, x, is)
		VPOR(is, nan, nan)
		VMAXPS(x, low, x) // the second, in Intel's order, where one is NaN
		VMINPS(x, high, x)
		VADDPS(zero, x, x)
		VMOVUPS(x, lanesAt(out, at))
		VMULPS(scale, x, x)
		VANDPS(sign, x, away)
		VORPS(half, away, away)
		VADDPS(away, x, x)
		VCVTTPS2DQ(x, x)
		VPANDN(x, is, x)
		VMOVDQU(x, lanesAt(list, at))
	}, func() {
		result := GP32()
		VMOVMSKPS(nan, result)
		Store(result, ReturnIndex(0))
	})
}

func addAt() {
	begin("addAtAVX2", "func(sums *int32, at *uint32, amounts *int32, n uint64)", "adds n > 0 amounts to sums.")
	sums, at, amounts, n := pointer("sums"), pointer("at"), pointer("amounts"), pointer("n")
	add := func(index, amount Register) { ADDL(amount.(GPVirtual).As32(), Mem{Base: sums, Index: index, Scale: 4}) }
	pair := func(list Register, i int) (first, second Register) {
		both := GP64()
		MOVQ(Mem{Base: list, Disp: 8 * i}, both)
		return split(both)
	}
	SUBQ(Imm(4), n)
	JB(LabelRef("rest"))
	Label("four")
	for i := range 2 {
		first, second := pair(at, i)
		x, y := pair(amounts, i)
		add(first, x)
		add(second, y)
	}
	ADDQ(Imm(16), at)
	ADDQ(Imm(16), amounts)
	SUBQ(Imm(4), n)
	JAE(LabelRef("four"))
	Label("rest")
	ADDQ(Imm(4), n)
	JZ(LabelRef("done"))
	Label("one")
	index, x := GP64(), GP64()
	MOVL(Mem{Base: at}, index.As32())
	MOVL(Mem{Base: amounts}, x.As32())
	add(index, x)
	ADDQ(Imm(4), at)
	ADDQ(Imm(4), amounts)
	DECQ(n)
	JNZ(LabelRef("one"))
	Label("done")
	RET()
}
