package vector

import (
	"math"
	"math/bits"
	"unsafe"
)

// Synapses are the loops over synapses that learn, gathered from pieces of rows. They work on eights: arrays have room for whole ones,
// that is up to seven entries behind their length, which may get any value, and there indices must be valid too.
type Synapses struct {
	// Load puts pieces of from one behind the other: the i-th begins at starts[i], goes behind the one before, and ends before out[ends[i]].
	Load func(out, from []float32, starts []uint64, ends []uint32)
	// Targets does so with numbers, less a number.
	Targets func(out, from []uint32, starts []uint64, ends []uint32, less uint32)
	// Store is the other way round.
	Store func(to, from []float32, starts []uint64, ends []uint32)
	// Fill makes all entries of piece i values[i].
	Fill      func(out, values []float32, ends []uint32)
	FillWords func(out, values []uint32, ends []uint32)
	// Fetch asks for pieces of two arrays, which are so long.
	Fetch func(a []float32, b []uint32, starts []uint64, ends []uint32)
	// Touch asks for entries of an array of so many bytes each.
	Touch func(array unsafe.Pointer, size uintptr, at []uint32)

	// Meet copies the two words of the heads of targets: the first two lanes of their slots (Head), and the value of a trace. It counts the lanes
	// above after, which stands in both halves of a word, and adds base to the last of these, or to the first lane where there is none. It
	// returns for how many targets there are any, and for how many both.
	Meet func(lanes []uint32, values []float32, counts, ages []uint32, heads [][2]uint32, targets, after, base []uint32) (some, both uint32)
	// Pending counts all lanes of the slots, of which lanes has the first two, and returns also the largest count.
	Pending func(counts, lanes []uint32, slots [][2]uint64, targets, after []uint32) (some, most uint32)
	// Above lists the entries above a limit and returns how many there are; the list has room for all.
	Above func(list, numbers []uint32, limit uint32) uint32
	// Oldest are the places of the oldest of so many lanes of targets, of the latest where there is none; chosen is a flag: there is one.
	Oldest func(places, chosen, targets, counts []uint32)
	// Since adds base to the lanes at places, which are numbers of lanes from slots[0] on; lanes has the first two of each slot.
	Since func(ages, lanes []uint32, slots [][2]uint64, places, base []uint32)

	// Decay is x·P[age].
	Decay func(out, x []float32, ages []uint32, t *Table)
	// Aged is values[at]·P[now − last[at]].
	Aged func(out, values []float32, last, at []uint32, now uint32, t *Table)
	// AgedNear is out·P[now − last[at]]. Where the low half of lanes, or the upper one if that is then, is not 0, that age is then less it.
	AgedNear func(out []float32, lanes, last, at []uint32, now, then uint32, t *Table)
	// Gather is from[at].
	Gather func(out, from []float32, at []uint32)
	// Bound brings numbers within bounds, makes +0 of −0, and leaves NaN. It reports whether there was one.
	Bound func(out, from []float32, low, high float32) bool
	// BoundSome does so where a count is not 0; elsewhere out stays as it is.
	BoundSome func(out, from []float32, counts []uint32, low, high float32) bool
	// Amounts is Bound, and what it leaves in quanta: times scale, below 2^31, rounded to nearest, ties away from 0; 0 for NaN.
	Amounts func(amounts []int32, out, from []float32, low, high, scale float32) bool
	// AddAt adds amounts to sums.
	AddAt func(sums []int32, at []uint32, amounts []int32)

	// Pairs takes rows of a pair rule, one after the other, through the post events that are pending, at most two a synapse, and a pre
	// event, and adds what they deliver to the sums. Where a target of an eight has more events, the eight stays as it is and is put
	// into again, which has room for all. A row in which a weight became NaN is the last one. done and missed are how many rows and
	// entries of again there are. Rows below ShortPair synapses take longer than one by one.
	Pairs     func(k *Pair, to *PairArrays, rows []PairRow, again []PairMiss) (done, missed int, nan bool)
	ShortPair uint64
}

// Table is P: Low[age], or High[age/256]·Low[age mod 256] where High is there, and 0 from Until on, which is below 2^31.
type Table struct {
	Low, High []float32
	Until     uint32
}

func (t *Table) at(age uint32) float32 {
	switch {
	case age >= t.Until:
		return 0
	case t.High == nil:
		return t.Low[age]
	}
	return float32(t.High[age>>8] * t.Low[age&255])
}

func plainSynapses() Synapses {
	return Synapses{
		Load: load, Targets: targets, Store: store, Fill: fill[float32], FillWords: fill[uint32], Fetch: func([]float32, []uint32, []uint64, []uint32) {},
		Touch: func(unsafe.Pointer, uintptr, []uint32) {},
		Meet:  meet, Pending: pending, Above: above, Oldest: oldest, Since: since, Decay: decay, Aged: aged, AgedNear: agedNear, Gather: gather, Bound: bound, BoundSome: boundSome, Amounts: amounts, AddAt: addAt, Pairs: pairs, ShortPair: 16,
	}
}

func load(out, from []float32, starts []uint64, ends []uint32) {
	lo := uint32(0)
	for i, end := range ends {
		copy(out[lo:end], from[starts[i]:])
		lo = end
	}
}

func targets(out, from []uint32, starts []uint64, ends []uint32, less uint32) {
	lo := uint32(0)
	for i, end := range ends {
		piece := from[starts[i]:][:end-lo]
		for q, x := range piece {
			out[lo+uint32(q)] = x - less
		}
		lo = end
	}
}

func store(to, from []float32, starts []uint64, ends []uint32) {
	lo := uint32(0)
	for i, end := range ends {
		copy(to[starts[i]:], from[lo:end])
		lo = end
	}
}

// Head is the first word of a slot's head: its two latest lanes, which are below 2^15. The top bit says that the third is none, or so
// long before the second that it need not be looked for where that is at most apart above the last pre event.
func Head(slot uint64) uint32 {
	lanes, third := uint32(slot), uint32(slot>>32&0xffff)
	if third == 0 || lanes>>16-third >= apart {
		lanes |= 1 << 31
	}
	return lanes
}

const apart = 32

func fill[T any](out, values []T, ends []uint32) {
	lo := uint32(0)
	for i, end := range ends {
		x, piece := values[i], out[lo:end]
		for q := range piece {
			piece[q] = x
		}
		lo = end
	}
}

func meet(lanes []uint32, values []float32, counts, ages []uint32, heads [][2]uint32, targets, after, base []uint32) (some, both uint32) {
	n := len(lanes)
	values, counts, ages, after, base = values[:n], counts[:n], ages[:n], after[:n], base[:n]
	for i, j := range targets[:n] {
		lane, limit := heads[j][0]&^(1<<31), after[i]&0xffff
		lanes[i], values[i] = lane, math.Float32frombits(heads[j][1])
		counts[i] = 0
		if lane&0xffff > limit {
			counts[i], some = 1, some+1
		}
		if lane>>16 > limit {
			counts[i], both, lane = 2, both+1, lane>>16
		}
		ages[i] = lane&0xffff + base[i]
	}
	return some, both
}

// tops are the top bits of a slot's lanes.
const tops = 0x8000_8000_8000_8000

func pending(counts, _ []uint32, slots [][2]uint64, targets, after []uint32) (some, most uint32) {
	targets, after = targets[:len(counts)], after[:len(counts)]
	for i, j := range targets {
		slot := &slots[j]
		above := uint64(after[i]) * 0x1_0000_0001
		count := uint32(bits.TrailingZeros64(((above|tops)-slot[0])&tops)) / 16
		if count == 4 {
			count += uint32(bits.TrailingZeros64(((above|tops)-slot[1])&tops)) / 16
		}
		counts[i] = count
		some += min(count, 1)
		most = max(most, count)
	}
	return some, most
}

func above(list, numbers []uint32, limit uint32) uint32 {
	list = list[:len(numbers)]
	n := 0
	for i, x := range numbers {
		list[n] = uint32(i)
		if x > limit {
			n++
		}
	}
	return uint32(n)
}

func oldest(places, chosen, targets, counts []uint32) {
	chosen, targets, counts = chosen[:len(places)], targets[:len(places)], counts[:len(places)]
	for i, count := range counts {
		some := min(count, 1)
		places[i], chosen[i] = 8*targets[i]+count-some, -some
	}
}

func since(ages, _ []uint32, slots [][2]uint64, places, base []uint32) {
	places, base = places[:len(ages)], base[:len(ages)]
	for i, at := range places {
		ages[i] = uint32(slots[at/8][at/4%2]>>(at%4*16))&0xffff + base[i]
	}
}

func decay(out, x []float32, ages []uint32, t *Table) {
	x, ages = x[:len(out)], ages[:len(out)]
	for i, age := range ages {
		out[i] = float32(x[i] * t.at(age))
	}
}

func aged(out, values []float32, last, at []uint32, now uint32, t *Table) {
	at = at[:len(out)]
	for i, j := range at {
		out[i] = float32(values[j] * t.at(now-last[j]))
	}
}

func agedNear(out []float32, lanes, last, at []uint32, now, then uint32, t *Table) {
	lanes, at = lanes[:len(out)], at[:len(out)]
	for i, x := range out {
		lane := lanes[i] & 0xffff
		if lane == then {
			lane = lanes[i] >> 16
		}
		age := then - lane
		if lane == 0 {
			age = now - last[at[i]]
		}
		out[i] = float32(x * t.at(age))
	}
}

func gather(out, from []float32, at []uint32) {
	at = at[:len(out)]
	for i, j := range at {
		out[i] = from[j]
	}
}

func bound(out, from []float32, low, high float32) bool {
	nan := false
	for i, x := range from[:len(out)] {
		nan = nan || x != x
		out[i] = within(x, low, high)
	}
	return nan
}

func within(x, low, high float32) float32 {
	switch {
	case x < low:
		x = low
	case high < x:
		x = high
	}
	return x + 0
}

func boundSome(out, from []float32, counts []uint32, low, high float32) bool {
	from, counts = from[:len(out)], counts[:len(out)]
	nan := false
	for i, count := range counts {
		if count != 0 {
			nan = nan || from[i] != from[i]
			out[i] = within(from[i], low, high)
		}
	}
	return nan
}

func amounts(amounts []int32, out, from []float32, low, high, scale float32) bool {
	nan := bound(out[:len(amounts)], from, low, high)
	for i, w := range out[:len(amounts)] {
		if w != w {
			amounts[i] = 0
			continue
		}
		w = float32(w * scale)
		whole := int32(w) // what is behind the point is exact
		amounts[i] = whole + int32(2*(w-float32(whole)))
	}
	return nan
}

func addAt(sums []int32, at []uint32, amounts []int32) {
	at = at[:len(amounts)]
	for i, x := range amounts {
		sums[at[i]] += x
	}
}
