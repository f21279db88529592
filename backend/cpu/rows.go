package cpu

import (
	"math/bits"

	"burst/connectome"
)

// rows are the synapses onto a part's slots, row by row and in a row by delay and slot. With one delay the synapses of
// neuron n are first[n] ≤ k < first[n+1]; with several those are its segments, of one delay each.
type rows struct {
	first  []uint64
	delay  []uint8  // of a segment
	start  []uint64 // of a segment's synapses, and the end of the last one's
	packed []uint32 // slot and the weight's place in table, 4 bytes a synapse; or
	slot   []uint32 // where weights are too many
	weight []int32
	table  []int32
	bits   uint // of a slot in packed
	single int  // the one delay, or 0
}

// packing says how a connectome's synapses fit into 4 bytes.
type packing struct {
	table []int32          // nil: weights are too many
	place map[int32]uint32 // in table
	bits  uint             // left for a slot
}

// newPacking collects the weights of c as long as they and the slots of one of parts parts fit into 32 bits.
func newPacking(c *connectome.Connectome, parts int) *packing {
	slots := uint64(c.Ports)/uint64(parts) + uint64(len(c.Areas)*2*cutAlign) + 1 // at most, by the cuts of share
	p := &packing{place: map[int32]uint32{}, bits: uint(bits.Len64(slots))}
	if p.bits > 31 {
		return &packing{}
	}
	most := 1 << (32 - p.bits)
	const longest = 1 << 14 // more weights than this would not stay in the first cache
	last, known := int32(0), false
	for _, w := range c.Weight {
		if known && w == last {
			continue
		}
		if _, known = p.place[w]; !known {
			if len(p.table) == min(most, longest) {
				return &packing{}
			}
			p.place[w] = uint32(len(p.table))
			p.table = append(p.table, w)
		}
		last, known = w, true
	}
	return p
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
	r := rows{table: pack.table, bits: pack.bits, first: make([]uint64, c.Neurons+1)}
	if len(delays) == 1 {
		r.single = delays[0]
	}
	w := walker{c: c, spans: p.portSpans()}
	total := uint64(0)
	w.each(func(_ uint32, from, to uint64, _ uint32) { total += to - from })
	if pack.table != nil {
		r.packed = make([]uint32, 0, total)
	} else {
		r.slot, r.weight = make([]uint32, 0, total), make([]int32, 0, total)
	}
	at := uint64(0)
	row := ^uint32(0)
	w.each(func(n uint32, from, to uint64, shift uint32) {
		fresh := n != row
		for ; row != n; row++ {
			r.first[row+1] = r.rowStart(at)
		}
		if r.single == 0 {
			r.segment(c, from, to, at, fresh)
		}
		r.copy(c, pack, from, to, shift)
		at += to - from
	})
	for ; row != c.Neurons; row++ {
		r.first[row+1] = r.rowStart(at)
	}
	if r.single == 0 {
		r.start = append(r.start, at)
	}
	return r
}

// rowStart is what first says of a row whose synapses begin at a place.
func (r *rows) rowStart(at uint64) uint64 {
	if r.single == 0 {
		return uint64(len(r.delay))
	}
	return at
}

// segment notes where delays begin in synapses from ≤ k < to of one row, which will lie from at on; fresh: the row's first.
func (r *rows) segment(c *connectome.Connectome, from, to, at uint64, fresh bool) {
	for k := from; k < to; k++ {
		if d := c.Delay[k]; fresh || r.delay[len(r.delay)-1] != d {
			r.delay, r.start = append(r.delay, d), append(r.start, at+k-from)
			fresh = false
		}
	}
}

// copy appends synapses whose ports are their slots plus shift.
func (r *rows) copy(c *connectome.Connectome, pack *packing, from, to uint64, shift uint32) {
	targets, weights := c.Target[from:to], c.Weight[from:to]
	if pack.table == nil {
		for _, t := range targets {
			r.slot = append(r.slot, t-shift)
		}
		r.weight = append(r.weight, weights...)
		return
	}
	last, place := pack.table[0], uint32(0)
	for i, t := range targets {
		if w := weights[i]; w != last {
			last, place = w, pack.place[w]
		}
		r.packed = append(r.packed, t-shift|place<<pack.bits)
	}
}

// portSpan is a run of ports that a part owns; port − shift is the slot.
type portSpan struct{ lo, hi, shift uint32 }

// portSpans lists the part's ports, ascending.
func (p *part) portSpans() []portSpan {
	var list []portSpan
	for i := range p.groups {
		g := &p.groups[i]
		n := g.hi - g.lo
		for port := range g.area.Model.Ports() {
			lo := g.area.Ports.First + port*g.area.Neurons.Count + g.lo - g.area.Neurons.First
			s := portSpan{lo, lo + n, lo - (g.slot + port*n)}
			if last := len(list) - 1; last >= 0 && list[last].hi == s.lo && list[last].shift == s.shift {
				list[last].hi = s.hi
			} else if n > 0 {
				list = append(list, s)
			}
		}
	}
	return list
}

// walker finds a part's synapses in the rows of c.
type walker struct {
	c     *connectome.Connectome
	spans []portSpan
}

// each calls take for every run of synapses from ≤ k < to of a row that lie in one span of ports and have one delay, in
// order.
func (w *walker) each(take func(n uint32, from, to uint64, shift uint32)) {
	for n := range w.c.Neurons {
		for from, end := w.c.Row[n], w.c.Row[n+1]; from < end; {
			to := w.sameDelay(from, end)
			w.run(n, from, to, take)
			from = to
		}
	}
}

// sameDelay is the end of the run of synapses from ≤ k < end that have the delay of the first.
func (w *walker) sameDelay(from, end uint64) uint64 {
	if w.c.Delay == nil {
		return end
	}
	to, d := from+1, w.c.Delay[from]
	for to < end && w.c.Delay[to] == d {
		to++
	}
	return to
}

// run takes the parts of a run of one delay, in which ports ascend.
func (w *walker) run(n uint32, from, to uint64, take func(n uint32, from, to uint64, shift uint32)) {
	for _, s := range w.spans {
		for from < to && w.c.Target[from] < s.lo {
			from++
		}
		lo := from
		for from < to && w.c.Target[from] < s.hi {
			from++
		}
		if lo < from {
			take(n, lo, from, s.shift)
		}
	}
}
