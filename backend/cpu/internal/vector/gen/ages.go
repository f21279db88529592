package main

import (
	. "github.com/mmcloughlin/avo/build"   //nolint:revive // as avo's programs are written
	. "github.com/mmcloughlin/avo/operand" //nolint:revive
	. "github.com/mmcloughlin/avo/reg"     //nolint:revive
)

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
