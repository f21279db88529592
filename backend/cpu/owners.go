package cpu

import (
	"cmp"
	"math/bits"
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
)

// owned is a range of ports and the worker that it belongs to.
type owned struct {
	portSpan
	worker uint32
}

// owners says which worker a port belongs to.
type owners struct {
	c     *connectome.Connectome
	runs  runs
	spans []owned
	ends  []uint32 // hi of each span
	near  []uint32 // of the ports from i<<shift on: the first span that ends behind them
	shift int
	count int      // workers
	slots []uint32 // of each worker
}

// newOwners has about as many entries in near as there are spans, times four: then the span looked for is hardly ever more than one further.
func newOwners(c *connectome.Connectome, workers []*worker, runs runs) *owners {
	s := &owners{c: c, runs: runs, count: len(workers)}
	for i, w := range workers {
		s.slots = append(s.slots, w.slots)
		for _, span := range w.portSpans() {
			s.spans = append(s.spans, owned{span, uint32(i)})
		}
	}
	slices.SortFunc(s.spans, func(a, b owned) int { return cmp.Compare(a.hi, b.hi) })
	for _, span := range s.spans {
		s.ends = append(s.ends, span.hi)
	}
	s.shift = max(0, bits.Len32(c.Ports)-bits.Len(uint(4*len(s.spans))))
	at := 0
	for i := range uint64(c.Ports)>>s.shift + 1 {
		at += reach(s.ends[at:], uint32(i<<s.shift)+1)
		s.near = append(s.near, uint32(at))
	}
	return s
}

// spanOf is the first span that ends behind a port.
func (s *owners) spanOf(port uint32) int {
	at := int(s.near[port>>s.shift])
	for at < len(s.ends) && s.ends[at] <= port {
		at++
	}
	return at
}

// piece are the synapses from ≤ k < to of a row, which are a worker's.
type piece struct {
	from, to uint64
	span     uint32
	later    uint32 // bursts, than the first ones of their run
	next     int32  // piece of the worker; −1: none
}

// held is what a worker has of the synapses of one run.
type held struct {
	first, last int32 // of its pieces; −1: none
	synapses    int
}

// cutter encodes rows for all workers at once.
type cutter struct {
	*owners
	encoder
	pieces  []piece
	parts   []held
	present []uint32   // the workers that have pieces
	units   [][]uint16 // of each worker, of the rows since they were emptied
	base    []uint64   // where these begin in all of the worker's
	long    [][]longRow
	kept    []int    // units of long rows
	spanned []uint64 // runs, likewise
	sums    []uint32 // scratch of gather
	weights []int32
}

func newCutter(s *owners) *cutter {
	n := s.count
	c := &cutter{
		owners: s, parts: make([]held, n), units: make([][]uint16, n), base: make([]uint64, n), long: make([][]longRow, n),
		kept: make([]int, n), spanned: make([]uint64, n),
	}
	for i := range c.parts {
		c.parts[i] = held{-1, -1, 0}
	}
	return c
}

// longRow is one that is longer than its room.
type longRow struct {
	n     uint32
	units int
}

// empty forgets what has been encoded.
func (c *cutter) empty() {
	for i := range c.units {
		c.units[i], c.long[i], c.kept[i], c.spanned[i] = c.units[i][:0], c.long[i][:0], 0, 0
	}
}

// tally adds the row that was encoded to what is known of those of each worker.
func (c *cutter) tally(to []measured, rooms []uint64) {
	for i := range to {
		x, units := &to[i], uint64(len(c.units[i]))
		x.rows++
		x.units += units
		x.spans += c.spanned[i]
		if c.runs.bursts == 0 {
			x.spans++
		}
		for k := range x.fit {
			if units <= 8<<k {
				x.fit[k]++
			}
		}
		if units > rooms[i] {
			x.rest += units + 1
		}
	}
}

// row appends neuron n's row to the units of each worker.
func (c *cutter) row(n uint32) {
	for from, end := c.c.Row[n], c.c.Row[n+1]; from < end; {
		c.pieces, c.present = c.pieces[:0], c.present[:0]
		first, next := c.runs.begin(c.c, from), uint64(0)
		for more := true; more; more = from < end && c.runs.begin(c.c, from) == first {
			next = sameDelay(c.c, from, end)
			c.cut(from, next, c.runs.later(c.c, from))
			from = next
		}
		for _, w := range c.present {
			c.encode(w, first)
		}
	}
}

// cut finds the pieces of the synapses from ≤ k < to, which have equal delays, so many bursts later than the first ones of their run.
func (c *cutter) cut(from, to uint64, later uint32) {
	all := c.c.Target[from:to]
	for i := 0; i < len(all); {
		s := c.spanOf(all[i])
		if s == len(c.spans) {
			break
		}
		own := &c.spans[s]
		if all[i] < own.lo { // a port of another part
			i += reach(all[i:], own.lo)
			continue
		}
		end := i + 1 + reach(all[i+1:], own.hi)
		p, at := &c.parts[own.worker], int32(len(c.pieces))
		if p.first < 0 {
			p.first = at
			c.present = append(c.present, own.worker)
		} else {
			c.pieces[p.last].next = at
		}
		p.last = at
		p.synapses += end - i
		c.pieces = append(c.pieces, piece{from + uint64(i), from + uint64(end), uint32(s), later, -1})
		i = end
	}
}

// encode appends a worker's pieces to its units, and forgets them.
func (c *cutter) encode(w uint32, delay int) {
	p := &c.parts[w]
	to := slices.Grow(c.units[w], mostUnits*p.synapses)
	ports, shift, weights := c.gather(p, c.slots[w])
	if c.runs.bursts > 0 {
		at := len(to)
		to = c.segments(append(to, uint16(delay), 0, 0), ports, shift, weights)
		vector.PutDouble(to[at+1:], uint32(len(to)-at-vector.RunUnits))
		c.spanned[w]++
	} else {
		to = c.segments(to, ports, shift, weights)
	}
	c.units[w], *p = to, held{-1, -1, 0}
}

// gather returns the ports and weights of the pieces of a worker with so many slots; the slot of a port is port − shift. Nothing is
// copied of one piece.
func (c *cutter) gather(p *held, slots uint32) (ports []uint32, shift uint32, weights []int32) {
	first := &c.pieces[p.first]
	if whole := c.c.Part.Whole(); whole && p.first == p.last && first.later == 0 {
		return c.c.Target[first.from:first.to], c.spans[first.span].shift, c.c.Weight[first.from:first.to]
	}
	c.sums, c.weights = c.sums[:0], c.weights[:0]
	for i := p.first; i >= 0; i = c.pieces[i].next {
		own := &c.pieces[i]
		c.weights = append(c.weights, c.c.Weight[own.from:own.to]...)
		for _, port := range c.c.Target[own.from:own.to] {
			c.sums = append(c.sums, own.later*slots+c.spans[own.span].slotOf(c.c.Part, port))
		}
	}
	return c.sums, 0, c.weights
}
