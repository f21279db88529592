package cpu

import (
	"burst/connectome"
	"burst/internal/pages"
)

// rows are the synapses onto a part's slots, row by row and in a row by delay and slot. With one delay the synapses of
// neuron n are first[n] ≤ k < first[n+1]; with several those are its segments, of one delay each.
type rows struct {
	first    []uint64
	segments []uint64 // where a segment's synapses begin, and above delayAt its delay; one more to end the last
	packed   []uint32 // slot and the weight's place in table, 4 bytes a synapse; or
	slot     []uint32 // where weights are too many
	weight   []uint32 // an int32's bits
	table    []int32
	bits     uint // of a slot in packed
	single   int  // the one delay, or 0
}

const delayAt = 56

// segment is where segment i begins, and its delay.
func (r *rows) segment(i uint64) (from, delay uint64) {
	s := r.segments[i]
	return s & (1<<delayAt - 1), s >> delayAt
}

// delays lists the delays that occur in c.
func delays(c *connectome.Connectome) []int {
	if c.Delay == nil {
		return []int{1}
	}
	var seen [256]bool
	for _, d := range c.Delay {
		seen[d] = true
	}
	var list []int
	for d, is := range seen {
		if is {
			list = append(list, d)
		}
	}
	return list
}

// makeRows copies from c what ends in the part's slots.
func makeRows(c *connectome.Connectome, p *part, pack *packing, delays []int) rows {
	r := rows{table: pack.table, bits: pack.bits, first: pages.Slice[uint64](uint64(c.Neurons) + 1)}
	if len(delays) == 1 {
		r.single = delays[0]
	}
	w := walker{c: c, spans: p.portSpans()}
	total, segments := w.count()
	if pack.off {
		r.slot, r.weight = pages.Slice[uint32](total), pages.Slice[uint32](total)
	} else {
		r.packed = pages.Slice[uint32](total)
	}
	if r.single == 0 {
		r.segments = pages.Slice[uint64](segments + 1)[:0]
	}
	at, row := uint64(0), ^uint32(0)
	last := uint8(0) // delay of the row's last segment
	w.each(func(n uint32, from, to uint64, in *portSpan) {
		fresh := n != row
		for ; row != n; row++ {
			r.first[row+1] = r.rowStart(at)
		}
		if d := c.DelayOf(from); r.single == 0 && (fresh || d != last) {
			r.segments = append(r.segments, at|uint64(d)<<delayAt)
			last = d
		}
		r.copy(c, pack, at, from, to, in)
		at += to - from
	})
	for ; row != c.Neurons; row++ {
		r.first[row+1] = r.rowStart(at)
	}
	if r.single == 0 {
		r.segments = append(r.segments, at)
	}
	return r
}

// rowStart is what first says of a row whose synapses begin at a place.
func (r *rows) rowStart(at uint64) uint64 {
	if r.single == 0 {
		return uint64(len(r.segments))
	}
	return at
}

// copy puts synapses, whose ports lie in a span, at a place.
func (r *rows) copy(c *connectome.Connectome, pack *packing, at, from, to uint64, in *portSpan) {
	targets, weights := c.Target[from:to], c.Weight[from:to]
	weights = weights[:len(targets)]
	slots := r.packed
	if pack.off {
		slots = r.slot
		for i, w := range weights {
			r.weight[at+uint64(i)] = uint32(w)
		}
	}
	slots = slots[at:][:len(targets)]
	if c.Part.Whole() {
		for i, t := range targets {
			slots[i] = t - in.shift
		}
	} else {
		for i, t := range targets {
			slots[i] = c.Part.Count(t-in.shift) + in.slot
		}
	}
	if pack.off {
		return
	}
	last, high := weights[0], pack.of(weights[0])<<pack.bits
	for i, w := range weights {
		if w != last {
			last, high = w, pack.of(w)<<pack.bits
		}
		slots[i] |= high
	}
}
