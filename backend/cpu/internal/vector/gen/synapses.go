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
	widePairs()
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
