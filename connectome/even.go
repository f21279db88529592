package connectome

import (
	"fmt"
	"slices"
	"unsafe"

	"burst/internal/quanta"
)

// The synapses of an area are drawn once, not twice (bins.go), where all have one weight and one delay and their number is known
// beforehand. A drawn synapse is then one word: its source within a bin, and its port. The words wait in Weight, which needs no other
// content until all of them have been put into their rows. This takes two steps:
//
//  1. Goroutines draw synapses in pieces and sort the words of each piece by bin.
//  2. Of each bin, the words are gathered from all pieces, in order, and put into the rows.

// even is an area whose synapses are drawn once.
type even struct {
	from     Span
	begin    uint64  // where the area's rows begin
	synapses uint64  // 0: the area's synapses are drawn twice
	one      *wiring // the first wiring from the area; all have its weight and delay
	alone    bool    // there is one wiring
	low, end uint32  // ports of the synapses: low ≤ port < end
	shift    int     // source s is in bin s>>shift
	bins     uint64  // at least one
	most     uint64  // synapses of a piece, at most
	jobs     []job
	pieces   []uint64 // where each piece begins in the area's rows, and where the last one ends
	starts   []uint32 // for each piece: where the words of each bin begin in it, and where the last bin ends
}

// job is a range of a wiring's units. One goroutine makes its pieces.
type job struct {
	w           *wiring
	lo, hi      uint64 // units
	first, last uint64 // pieces
}

const (
	leastPiece = 1 << 15
	mostPiece  = 1 << 19
	segment    = 128 // words that a bin has in a piece, on average
)

// evens says for each area whether its synapses are drawn once, and in which pieces.
func (p *plan) evens() []even {
	list, refused := make([]even, len(p.areas)), make([]bool, len(p.areas))
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.rule == nil || w.units() == 0 {
			continue
		}
		if w.whole != nil {
			return make([]even, len(p.areas))
		}
		e := &list[w.p.From]
		refused[w.p.From] = refused[w.p.From] || !w.scattered() || !w.known(p.part) || e.one != nil && !w.like(e.one)
		e.add(w)
	}
	for i := range list {
		e := &list[i]
		if refused[i] {
			*e = even{}
		}
		if e.synapses > 0 {
			e.size(p.areas[i], p.portBits())
		}
	}
	for i := range p.wirings {
		if w := &p.wirings[i]; w.rule != nil && w.units() > 0 && list[w.p.From].synapses > 0 {
			list[w.p.From].deal(w, p.part)
		}
	}
	for i := range list {
		if e := &list[i]; e.table() > e.synapses/8 { // as with many small projections from a large area
			*e = even{}
		}
	}
	return list
}

// like reports whether the synapses of two wirings whose weights do not vary have the same weight and delay.
func (w *wiring) like(o *wiring) bool {
	return w.weight.A == o.weight.A && w.factor == o.factor && w.lift == o.lift && w.steps == o.steps
}

// add adds the synapses of a wiring.
func (e *even) add(w *wiring) {
	low := w.lowest()
	if e.one == nil {
		e.one, e.low, e.end = w, low, low+w.to.Count
	}
	e.alone, e.low, e.end = e.one == w, min(e.low, low), max(e.end, low+w.to.Count)
	e.synapses = add(e.synapses, w.synapses)
}

// known reports whether all synapses are alike, and whether it is known how many a range of units makes.
func (w *wiring) known(part Part) bool {
	switch w.rule.(type) {
	case *degree:
	case *totalNumber, *distinctPairs:
		if !part.Whole() {
			return false
		}
	default:
		return false
	}
	return w.keep == 100 && w.uniform() && !w.varies()
}

// size chooses how many rows a bin and how many synapses a piece has. Both grow with the network, as starts has an entry for each bin
// of each piece.
func (e *even) size(from Span, portBits int) {
	count, want := uint64(from.Count), max(synapsesABin, root(segment*e.synapses))
	for e.from = from; e.shift < min(32-portBits, mostShift) && e.synapses/count<<(e.shift+1) <= want && 1<<e.shift < count; {
		e.shift++
	}
	e.bins = (count-1)>>e.shift + 1
	e.most = min(max(leastPiece, segment*e.bins), mostPiece)
	e.pieces = []uint64{0}
}

// deal cuts the units of a wiring into jobs, and what each job makes into pieces.
func (e *even) deal(w *wiring, part Part) {
	units, size := w.units(), e.most // of each job
	made := func(lo, hi uint64) uint64 { return hi - lo }
	if r, is := w.rule.(*degree); is {
		size = max(1, e.most*uint64(max(1, part.Of))/r.k)
		made = func(lo, hi uint64) uint64 {
			return r.k * uint64(part.Count(w.to.First+uint32(hi))-part.Count(w.to.First+uint32(lo)))
		}
	}
	for lo := uint64(0); lo < units; lo += size {
		j := job{w: w, lo: lo, hi: min(units, lo+size), first: e.pieceCount()}
		begin := e.pieces[j.first]
		end := begin + made(j.lo, j.hi)
		for at := begin; at < end; {
			at = min(end, at+e.most)
			e.pieces = append(e.pieces, at)
		}
		if j.last = e.pieceCount(); j.last > j.first {
			e.jobs = append(e.jobs, j)
		}
	}
}

func (e *even) pieceCount() uint64 { return uint64(len(e.pieces)) - 1 }

// table is the bytes that say where words begin.
func (e *even) table() uint64 {
	if e.synapses == 0 {
		return 0
	}
	return mul(e.pieceCount(), 4*(e.bins+1)+8) + uint64(len(e.jobs))*uint64(unsafe.Sizeof(job{}))
}

// bytesOfEvens is the memory of such areas, and that of each goroutine.
func bytesOfEvens(list []even) (all, each uint64) {
	for i := range list {
		if e := &list[i]; e.synapses > 0 {
			all = add(all, add(e.table(), uint64(unsafe.Sizeof(even{}))))
			each = max(each, add(mul(8, min(e.most, e.synapses)), mul(4, e.bins)))
		}
	}
	return all, add(each, uint64(unsafe.Sizeof(binFiller{})))
}

// placeEvens makes the synapses of all areas that are drawn once.
func (b *builder) placeEvens() {
	type share struct {
		e *even
		k uint64
	}
	var jobs, bins []share
	for i := range b.evens {
		e := &b.evens[i]
		if e.synapses == 0 {
			continue
		}
		e.starts = make([]uint32, e.pieceCount()*(e.bins+1))
		for k := range e.jobs {
			jobs = append(jobs, share{e, uint64(k)})
		}
		for k := range e.bins {
			bins = append(bins, share{e, k})
		}
	}
	makers, batches := make([]pieceMaker, b.workers), make([]batch, b.workers)
	parallel(b.workers, uint64(len(jobs)), func(worker int, k uint64) {
		m, to, e := &makers[worker], &batches[worker], jobs[k].e
		j := &e.jobs[jobs[k].k]
		m.b, m.valuer = b, &b.values[worker]
		m.turnTo(e, j)
		to.wiring, to.sink, to.part = j.w, m, b.part
		j.w.rule.draw(j.lo, j.hi, to)
		to.flush()
		if m.piece != j.last {
			panic(fmt.Sprintf("BUG: projections[%d] made %d pieces, not %d", j.w.index, m.piece-j.first, j.last-j.first))
		}
	})
	clear(makers)
	fillers := make([]binFiller, b.workers)
	parallel(b.workers, uint64(len(bins)), func(worker int, k uint64) {
		fillers[worker].fill(b, bins[k].e, bins[k].k)
	})
	for i := range b.evens {
		e := &b.evens[i]
		spans(b.workers, e.synapses, 1<<18, func(_ int, lo, hi uint64) {
			fill(b.c.Weight[e.begin+lo:e.begin+hi], quanta.Clamp(e.one.fixed))
			b.c.Delay.Between(e.begin+lo, e.begin+hi).fill(e.one.steps)
		})
	}
}

// pieceMaker makes pieces, one after the other.
type pieceMaker struct {
	*valuer
	b     *builder
	e     *even
	piece uint64
	left  uint64   // synapses of the piece that are still to come
	made  []uint64 // those of it, source above port
	count []uint32 // of them, by bin
}

// turnTo begins the first piece of a job.
func (m *pieceMaker) turnTo(e *even, j *job) {
	if m.e != e {
		m.e, m.count = e, make([]uint32, e.bins)
		m.made = slices.Grow(m.made, int(min(e.most, e.synapses)))
	}
	m.piece, m.left = j.first, e.pieces[j.first+1]-e.pieces[j.first]
}

func (m *pieceMaker) take(w *wiring, b *batch) {
	m.valuer.count(w, b.target[:b.n], w.fixed)
	m.longest = max(m.longest, w.steps)
	first, shift := w.port(0, w.fixed, 0), m.e.shift
	for lo, hi := 0, 0; lo < b.n; lo = hi {
		hi = lo + int(min(m.left, uint64(b.n-lo)))
		made, targets := m.made[len(m.made):][:hi-lo], b.target[lo:hi]
		for i, source := range b.source[lo:hi][:len(made)] {
			m.count[source>>shift]++
			made[i] = uint64(source)<<32 | uint64(first+targets[i])
		}
		m.made = m.made[:len(m.made)+len(made)]
		if m.left -= uint64(len(made)); m.left == 0 {
			m.sort()
		}
	}
	m.b.progress.add(uint64(b.n))
}

// sort brings the words of a piece into the order of their bins, and turns to the next piece.
func (m *pieceMaker) sort() {
	e, sum := m.e, uint32(0)
	starts := e.starts[m.piece*(e.bins+1):][:e.bins+1]
	for k, n := range m.count {
		starts[k], m.count[k] = sum, sum
		sum += n
	}
	starts[e.bins] = sum
	to := m.b.c.Weight[e.begin+e.pieces[m.piece]:][:len(m.made)]
	width, mask := m.b.portBits(), uint32(1)<<e.shift-1
	for _, x := range m.made {
		source := uint32(x >> 32)
		next := &m.count[source>>e.shift]
		to[*next] = int32(uint32(uint64(source&mask)<<width) | uint32(x))
		*next++
	}
	clear(m.count)
	m.made = m.made[:0]
	if m.piece++; m.piece < e.pieceCount() {
		m.left = e.pieces[m.piece+1] - e.pieces[m.piece]
	}
}

// binFiller is one goroutine's scratch memory.
type binFiller struct {
	sorter sorter
	next   [1 << mostShift]uint64 // where the next synapse of each row goes
}

// fill makes the rows of a bin. Those whose synapses were made in the order of their ports are in order then.
func (f *binFiller) fill(b *builder, e *even, k uint64) {
	lo := k << e.shift
	rows := b.c.Row[uint64(e.from.First)+lo:][:min(1<<e.shift, uint64(e.from.Count)-lo)]
	next, width, at := f.next[:len(rows)], b.portBits(), e.begin
	clear(next)
	for i := range int(e.pieceCount()) {
		for _, word := range e.words(b.c.Weight, i, k) {
			next[uint32(word)>>width]++
		}
		at += uint64(e.starts[uint64(i)*(e.bins+1)+k])
	}
	from := at
	for s, n := range next {
		next[s] = at
		at += n
		rows[s] = at
	}
	target, mask := b.c.Target, uint32(uint64(1)<<width-1)
	for i := range int(e.pieceCount()) {
		for _, word := range e.words(b.c.Weight, i, k) {
			s := uint32(word) >> width
			target[next[s]] = uint32(word) & mask
			next[s]++
		}
	}
	b.progress.add(at - from)
	for _, end := range rows {
		f.sorter.ports(target[from:end], e.low, e.end-e.low, e.alone)
		from = end
	}
}

// words are those of a piece that belong to a bin.
func (e *even) words(list []int32, piece int, bin uint64) []int32 {
	starts, begin := e.starts[uint64(piece)*(e.bins+1)+bin:], e.begin+e.pieces[piece]
	return list[begin+uint64(starts[0]) : begin+uint64(starts[1])]
}
