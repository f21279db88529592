package connectome

import (
	"fmt"
	"sync/atomic"
)

// count makes the numbers of synapses exact, where Build does not need to know how long rows are.
func (p *plan) count() {
	p.countDrawn(nil, func(w *wiring) bool { return !w.counted && !w.merged }, p.part, &meter{})
	p.countMerged(nil, &meter{})
}

// countRows counts the synapses of every row, for rules that go by source, and those of the others by bin.
func (b *builder) countRows() {
	rows := func(w *wiring) bool { return !w.merged && !w.scattered() }
	b.countKnown(b.c.Row, rows, b.part, b.progress)
	b.countDrawn(b.c.Row, func(w *wiring) bool { return rows(w) && !w.rowsKnown(b.part) }, b.part, b.progress)
	b.countMerged(b.c.Row, b.progress)
	b.countBins()
	for i := range b.evens {
		b.progress.add(b.evens[i].synapses)
	}
}

// scan turns the lengths of the rows into their offsets, each the sum of those before. Rows of a bin stay lengths; the bin has their offset.
func (b *builder) scan() {
	start, bins := uint64(0), b.bins
	for i := range b.rows {
		r := &b.rows[i]
		list := b.c.Row[r.from.First:r.from.End()]
		if r.complete {
			for s, length := range list {
				list[s] = start
				start += length
			}
			continue
		}
		if e := &b.evens[i]; e.synapses > 0 {
			e.begin, start = start, start+e.synapses
			continue
		}
		for len(bins) > 0 && bins[0].rows == r {
			q := &bins[0]
			q.begin, start = start, start+q.next
			for _, length := range list[q.lo:q.hi] {
				start += length
			}
			q.next, bins = q.begin, bins[1:]
		}
	}
	b.c.Row[b.neurons] = start
}

// countKnown adds the synapses of the wanted projections whose rows are known to those of their sources.
func (p *plan) countKnown(row []uint64, wanted func(*wiring) bool, part Part, progress *meter) {
	for i := range p.wirings {
		w := &p.wirings[i]
		if !w.rowsKnown(part) || !wanted(w) {
			continue
		}
		out := row[w.from.First:w.from.End()]
		spans(p.workers, uint64(len(out)), 1<<16, func(_ int, lo, hi uint64) {
			for s := lo; s < hi; s++ {
				n, _ := w.rule.row(s)
				out[s] += n
			}
		})
		progress.add(w.synapses)
	}
}

// countDrawn draws the synapses of the wanted projections onto a part, and counts them by source if row is not nil. If it is the
// part to build, it sets the exact numbers of the projections.
func (p *plan) countDrawn(row []uint64, wanted func(*wiring) bool, part Part, progress *meter) {
	sinks, made := make([]sink, p.workers), p.newTotals()
	for i := range sinks {
		sinks[i] = &counter{row: row, made: made[i], progress: progress}
	}
	p.draw(sinks, wanted, part)
	if part == p.part {
		p.setExact(made, wanted)
	}
}

// countMerged sets the exact numbers of projections that merge, and counts the merged synapses by source if row is not nil.
func (p *plan) countMerged(row []uint64, progress *meter) {
	mergers, batches, made := make([]merger, p.workers), make([]batch, p.workers), p.newTotals()
	for i := range mergers {
		mergers[i], batches[i].part = merger{values: &valuer{}, made: made[i]}, p.part
	}
	for i := range p.merging {
		q, synapses := &p.merging[i], atomic.Uint64{}
		from := q.wirings[0].from
		spans(p.workers, uint64(from.Count), 64, func(worker int, lo, hi uint64) {
			m := &mergers[worker]
			before := m.drawn
			for s := lo; s < hi; s++ {
				n := uint64(len(q.draw(s, &batches[worker], m)))
				synapses.Add(n)
				if row != nil {
					row[uint64(from.First)+s] += n // no other goroutine has this source
				}
			}
			progress.add(m.drawn - before)
		})
		q.synapses = synapses.Load()
	}
	p.setExact(made, func(w *wiring) bool { return w.merged })
}

// newTotals has a number for every goroutine and wiring.
func (p *plan) newTotals() [][]uint64 {
	totals := make([][]uint64, p.workers)
	for i := range totals {
		totals[i] = make([]uint64, len(p.wirings))
	}
	return totals
}

// setExact sets how many synapses the wanted wirings have, which all goroutines together have made.
func (p *plan) setExact(made [][]uint64, wanted func(*wiring) bool) {
	for i := range p.wirings {
		w, n := &p.wirings[i], uint64(0)
		if !wanted(w) {
			continue
		}
		for k := range made {
			n += made[k][i]
		}
		if w.counted && n != w.synapses {
			panic(fmt.Sprintf("BUG: projections[%d] made %d synapses, not %d", w.index, n, w.synapses))
		}
		w.synapses, w.most, w.counted = n, n, true
	}
}

// counter counts the synapses of each source and projection.
type counter struct {
	row      []uint64 // nil: projections alone
	made     []uint64 // by wiring
	progress *meter
}

func (c *counter) take(w *wiring, b *batch) {
	for lo, hi := 0, 0; lo < b.n && c.row != nil; lo = hi {
		hi = run(b, lo)
		atomic.AddUint64(&c.row[w.from.First+b.source[lo]], uint64(hi-lo))
	}
	c.made[w.slot] += uint64(b.n)
	c.progress.add(uint64(b.n))
}

// run is the end of the run of synapses from lo on that have the same source.
func run(b *batch, lo int) int {
	hi := lo + 1
	for hi < b.n && b.source[hi] == b.source[lo] {
		hi++
	}
	return hi
}
