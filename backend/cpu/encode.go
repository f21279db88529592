package cpu

import (
	"math/bits"

	"burst/backend/cpu/internal/vector"
)

// encoder writes synapses as segments (package vector). It chooses the kinds that take the fewest units.
type encoder struct {
	scratch []uint32 // slots of one weight
}

// mostEven: a run with at most so many different weights may be written weight by weight.
const mostEven = 16

// mostUnits is the most that a synapse can take: one in a run and a segment of its own.
const mostUnits = vector.RunUnits + vector.HeaderUnits

// segments appends synapses whose ports ascend. They become Even segments if there are few different weights and few gaps
// that are too long for a unit.
func (e *encoder) segments(to []uint16, ports []uint32, shift uint32, weights []int32) []uint16 {
	if len(ports) == 0 {
		return to
	}
	var table [mostEven]int32
	distinct := collect(&table, weights)
	const saved = vector.MixedUnits - vector.EvenUnits             // units per synapse
	most := 1 + int((ports[len(ports)-1]-ports[0])/vector.MostGap) // Even segments per weight
	switch {
	case distinct == 1 && vector.HeaderUnits*breaks(ports, vector.MostGap) <= saved*len(ports):
		return even(to, ports, shift, weights[0])
	case distinct == 1 || distinct > mostEven || (vector.HeaderUnits-vector.EvenUnits)*distinct*most > vector.HeaderUnits+saved*len(ports):
		return uneven(to, ports, shift, weights)
	}
	for _, w := range table[:distinct] {
		own := e.scratch[:0]
		for i, x := range weights {
			if x == w {
				own = append(own, ports[i])
			}
		}
		e.scratch = own
		to = even(to, own, shift, w)
	}
	return to
}

// collect lists the different weights in table and returns their number, or the table's length + 1 if they do not fit.
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

// breaks counts the gaps between ports that exceed a limit.
func breaks(ports []uint32, limit uint32) int {
	n, last := 0, ports[0]
	for _, port := range ports {
		if port-last > limit {
			n++
		}
		last = port
	}
	return n
}

// even appends segments of synapses with the same weight. A gap too long for a unit begins another segment.
func even(to []uint16, ports []uint32, shift uint32, weight int32) []uint16 {
	for len(ports) > 0 {
		at, last := len(to), ports[0]
		to = header(to, 1, vector.Even, 0, last-shift, weight)
		next := ports[1:min(len(ports), vector.MostSynapses)]
		gaps := to[len(to):cap(to)][:len(next)]
		n := 0
		for i, port := range next {
			gap := port - last
			if gap > vector.MostGap {
				break
			}
			gaps[i] = uint16(gap)
			last, n = port, i+1
		}
		to = to[:len(to)+n]
		to[at] = uint16(n + 1)
		ports = ports[n+1:]
	}
	return to
}

// uneven appends segments of synapses with different weights: Mixed ones, or Wide ones if too many gaps are too long for
// the bits that the weights leave.
func uneven(to []uint16, ports []uint32, shift uint32, weights []int32) []uint16 {
	least, most := weights[0], weights[0]
	for _, w := range weights {
		least, most = min(least, w), max(most, w)
	}
	gapBits := uint(min(32-bits.Len32(uint32(most)-uint32(least)), 31))
	limit := uint32(1)<<gapBits - 1
	if vector.HeaderUnits*breaks(ports, limit) > (vector.WideUnits-vector.MixedUnits)*len(ports) {
		return wide(to, ports, shift, weights, least)
	}
	for len(ports) > 0 {
		at, last := len(to), ports[0]
		to = header(to, 1, vector.Mixed, gapBits, last-shift, least)
		some := ports[:min(len(ports), vector.MostSynapses)]
		words, own := to[len(to):cap(to)][:vector.MixedUnits*len(some)], weights[:len(some)]
		n := 0
		for i, port := range some {
			gap := port - last
			if gap > limit {
				break
			}
			vector.PutDouble(words[vector.MixedUnits*i:], gap|(uint32(own[i])-uint32(least))<<gapBits)
			last, n = port, i+1
		}
		to = to[:len(to)+vector.MixedUnits*n]
		to[at] = uint16(n)
		ports, weights = ports[n:], weights[n:]
	}
	return to
}

// wide appends Wide segments.
func wide(to []uint16, ports []uint32, shift uint32, weights []int32, least int32) []uint16 {
	for len(ports) > 0 {
		n, last := min(len(ports), vector.MostSynapses), ports[0]
		to = header(to, n, vector.Wide, 0, last-shift, least)
		for i, port := range ports[:n] {
			gap, weight := port-last, uint32(weights[i])-uint32(least)
			to = append(to, uint16(gap), uint16(gap>>16), uint16(weight), uint16(weight>>16))
			last = port
		}
		ports, weights = ports[n:], weights[n:]
	}
	return to
}
