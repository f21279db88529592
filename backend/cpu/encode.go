package cpu

import (
	"math/bits"

	"burst/backend/cpu/vector"
	"burst/connectome"
)

// encoder writes a part's synapses as segments, in the kinds that take the fewest units.
type encoder struct {
	walker
	scratch []uint32 // slots of one weight
}

// mostEven is how many weights a run may have whose synapses are written weight by weight.
const mostEven = 16

func newEncoder(c *connectome.Connectome, spans []portSpan) *encoder {
	e := &encoder{walker: newWalker(c, spans)}
	e.scratch = make([]uint32, 0, len(e.slots))
	return e
}

// measure is how many units all rows take, and how many spans of them are delivered each by itself.
func (e *encoder) measure(single int) (units, spans uint64) {
	var to []uint16
	for n := range e.c.Neurons {
		to = e.row(to[:0], n, single)
		units += uint64(len(to))
		if single != 0 {
			spans++
			continue
		}
		for at := 0; at < len(to); spans++ {
			at += runUnits + int(vector.Double(to[at+1:]))
		}
	}
	return units, spans
}

// row appends neuron n's.
func (e *encoder) row(to []uint16, n uint32, single int) []uint16 {
	for from, end := e.c.Row[n], e.c.Row[n+1]; from < end; {
		next := e.sameDelay(from, end)
		slots, weights := e.take(from, next)
		if single != 0 {
			to = e.segments(to, slots, weights)
		} else if len(slots) > 0 {
			at := len(to)
			to = e.segments(append(to, uint16(e.c.DelayOf(from)), 0, 0), slots, weights)
			vector.PutDouble(to[at+1:], uint32(len(to)-at-runUnits))
		}
		from = next
	}
	return to
}

// segments appends synapses whose slots ascend.
func (e *encoder) segments(to []uint16, slots []uint32, weights []int32) []uint16 {
	if len(slots) == 0 {
		return to
	}
	var table [mostEven]int32
	distinct := collect(&table, weights)
	n := len(slots)
	switch few := distinct <= mostEven && vector.HeaderUnits*distinct-distinct <= vector.HeaderUnits+n*(vector.MixedUnits-vector.EvenUnits); {
	case distinct == 1:
		return even(to, slots, weights[0])
	case few:
		for _, w := range table[:distinct] {
			own := e.scratch[:0]
			for i, x := range weights {
				if x == w {
					own = append(own, slots[i])
				}
			}
			to = even(to, own, w)
		}
		return to
	}
	return uneven(to, slots, weights)
}

// collect lists the weights that occur, up to the table's length, and says how many; one more if there are more.
func collect(table *[mostEven]int32, weights []int32) int {
	n, last := 1, weights[0]
	table[0] = last
next:
	for _, w := range weights[1:] {
		if w == last {
			continue
		}
		last = w
		for _, x := range table[:n] {
			if x == w {
				continue next
			}
		}
		if n == mostEven {
			return n + 1
		}
		table[n] = w
		n++
	}
	return n
}

// header appends a segment's header.
func header(to []uint16, count int, kind, bits uint, slot uint32, weight int32) []uint16 {
	w := uint32(weight)
	return append(to, uint16(count), uint16(kind|bits<<8), uint16(slot), uint16(slot>>16), uint16(w), uint16(w>>16))
}

// even appends segments of synapses that have one weight. A gap too long for a unit begins another segment.
func even(to []uint16, slots []uint32, weight int32) []uint16 {
	for len(slots) > 0 {
		at := len(to)
		to = header(to, 1, vector.Even, 0, slots[0], weight)
		n := 1
		for last := slots[0]; n < min(len(slots), vector.MostSynapses) && slots[n]-last <= vector.MostGap; n++ {
			to = append(to, uint16(slots[n]-last))
			last = slots[n]
		}
		to[at] = uint16(n)
		slots = slots[n:]
	}
	return to
}

// uneven appends segments of synapses whose weights differ: Mixed ones, or where gaps leave too few bits for weights too
// often, Wide ones.
func uneven(to []uint16, slots []uint32, weights []int32) []uint16 {
	least, most := weights[0], weights[0]
	for _, w := range weights {
		least, most = min(least, w), max(most, w)
	}
	gapBits := uint(min(32-bits.Len32(uint32(most)-uint32(least)), 31))
	limit, breaks := uint32(1)<<gapBits-1, 0
	for i, s := range slots[1:] {
		if s-slots[i] > limit {
			breaks++
		}
	}
	kind, n := uint(vector.Mixed), len(slots)
	if vector.MixedUnits*n+vector.HeaderUnits*breaks > vector.WideUnits*n {
		kind, gapBits, limit = vector.Wide, 0, 1<<32-1
	}
	for len(slots) > 0 {
		at := len(to)
		to = header(to, 1, kind, gapBits, slots[0], least)
		n := 0
		for last := slots[0]; n < min(len(slots), vector.MostSynapses) && slots[n]-last <= limit; n++ {
			gap, weight := slots[n]-last, uint32(weights[n])-uint32(least)
			last = slots[n]
			if kind == vector.Wide {
				to = append(to, uint16(gap), uint16(gap>>16), uint16(weight), uint16(weight>>16))
				continue
			}
			word := gap | weight<<gapBits
			to = append(to, uint16(word), uint16(word>>16))
		}
		to[at] = uint16(n)
		slots, weights = slots[n:], weights[n:]
	}
	return to
}
