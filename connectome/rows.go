package connectome

import (
	"cmp"
	"slices"

	"burst/genome"
	"burst/internal/quanta"
)

// rows says how the rows of an area are made. For projections whose rule goes by source, one goroutine draws all synapses of
// a source. If the area has no others, the row is then complete, and it is sorted while it is in cache.
type rows struct {
	area     int
	from     Span
	groups   []*group // of projections by source: those of a group merge
	complete bool     // no other projection leads from here
	ordered  bool     // a row is sorted as soon as the targets of each group are
	longest  uint64   // no row has more synapses of these
}

// planRows assigns the projections to the rows of areas. Weights must be fixed before.
func (p *plan) planRows() {
	p.rows = make([]rows, len(p.areas))
	anywhere := false // a list of the whole network may lead from every area
	for i := range p.rows {
		p.rows[i] = rows{area: i, from: p.areas[i], complete: true}
	}
	for i := range p.merging {
		q := &p.merging[i]
		p.rows[q.wirings[0].p.From].groups = append(p.rows[q.wirings[0].p.From].groups, q)
	}
	for i := range p.wirings {
		w := &p.wirings[i]
		switch {
		case w.merged || w.units() == 0:
		case w.whole != nil:
			anywhere = true
		case w.rule.unit() != bySource:
			p.rows[w.p.From].complete = false
		default:
			p.rows[w.p.From].groups = append(p.rows[w.p.From].groups, &group{wirings: []*wiring{w}})
		}
	}
	for i := range p.rows {
		r := &p.rows[i]
		r.complete = r.complete && !anywhere
		for _, q := range r.groups {
			r.longest = add(r.longest, q.longest())
		}
		r.order()
	}
}

// order sorts the groups in the order of their synapses in a row, if there is one.
func (r *rows) order() {
	r.ordered = r.complete
	for _, q := range r.groups {
		r.ordered = r.ordered && !q.merges() && q.wirings[0].uniform()
	}
	if !r.ordered {
		return
	}
	slices.SortStableFunc(r.groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(a.wirings[0].steps, b.wirings[0].steps), cmp.Compare(a.wirings[0].lowest(), b.wirings[0].lowest()))
	})
	for i := 1; i < len(r.groups); i++ {
		a, b := r.groups[i-1].wirings[0], r.groups[i].wirings[0]
		r.ordered = r.ordered && (a.steps < b.steps || a.lowest()+a.to.Count <= b.lowest())
	}
}

// uniform reports whether all synapses of a source have the same weight and delay.
func (w *wiring) uniform() bool {
	return w.weights == nil && w.delays == nil && w.chosen == nil && w.weight.Kind == genome.Const && w.delay.Kind == genome.Const
}

// lowest is the lowest port that the synapses of a uniform wiring reach.
func (w *wiring) lowest() uint32 {
	sign := int64(1)
	if float64(w.weight.A*w.factor) < 0 {
		sign = -1
	}
	return w.port(0, sign, 0)
}

// rowBlock is consecutive sources of an area, whose rows one goroutine makes.
type rowBlock struct {
	rows   *rows
	lo, hi uint64
}

// blocks cuts the rows of all areas into blocks, in the order of the neurons; sizeOf is how many rows of an area a block has, 0 where they
// are left out.
func (p *plan) blocks(sizeOf func(*rows) uint64) (list []rowBlock) {
	for i := range p.rows {
		r := &p.rows[i]
		size, count := sizeOf(r), uint64(r.from.Count)
		if size == 0 {
			continue
		}
		for lo := uint64(0); lo < count; lo += size {
			list = append(list, rowBlock{r, lo, min(lo+size, count)})
		}
	}
	return list
}

// rowMaker makes rows, one after the other.
type rowMaker struct {
	*valuer
	c      *Connectome
	sorter sorter
	merger merger
	batch  *batch
	rows   *rows    // source of the current row
	to     row      // destination of the rows
	at     uint64   // in it, the next synapse
	made   []uint64 // synapses before merging, by wiring
	drawn  uint64   // all of them
}

func (b *builder) newRowMaker(worker int) rowMaker {
	m := rowMaker{valuer: &b.values[worker], c: b.c, batch: &batch{part: b.part}, made: make([]uint64, len(b.wirings))}
	m.merger = merger{values: m.valuer, weigh: true, made: m.made}
	return m
}

// placeRows makes the complete rows, each where it belongs, and moves their cursors.
func (b *builder) placeRows() {
	list := b.blocks(func(r *rows) uint64 {
		if len(r.groups) == 0 || !r.complete {
			return 0
		}
		mean := (b.c.Row[r.from.End()] - b.c.Row[r.from.First]) / uint64(r.from.Count)
		return max(1, synapsesAPiece/(mean+1))
	})
	makers := make([]rowMaker, b.workers)
	for i := range makers {
		makers[i] = b.newRowMaker(i)
		makers[i].to = row{b.c.Target, b.c.Weight, b.c.Delay}
	}
	parallel(b.workers, uint64(len(list)), func(worker int, k uint64) {
		m, first := &makers[worker], uint64(list[k].rows.from.First)
		before, sorted := m.drawn, uint64(0)
		m.turnTo(list[k])
		for s := list[k].lo; s < list[k].hi; s++ {
			m.at = m.c.Row[first+s]
			sorted += m.makeRow(list[k].rows, s)
			m.c.Row[first+s] = m.at
		}
		b.progress.add(m.drawn - before + sorted)
	})
}

// turnTo tells rules which rows will be made in turn.
func (m *rowMaker) turnTo(q rowBlock) {
	m.batch.until = 0
	if len(q.rows.groups) <= mostAtOnce {
		m.batch.until = q.hi
	}
}

// makeRow makes the synapses of a source at m.at and goes past them; those of a complete row are sorted then.
func (m *rowMaker) makeRow(r *rows, source uint64) (synapses uint64) {
	m.rows = r
	start := m.at
	for _, q := range r.groups {
		if q.merges() {
			before := m.merger.drawn
			m.put(q, q.draw(source, m.batch, &m.merger))
			m.drawn += m.merger.drawn - before
			continue
		}
		first, w := m.at, q.wirings[0]
		m.batch.wiring, m.batch.sink = w, m
		w.rule.draw(source, source+1, m.batch)
		m.batch.flush()
		if r.ordered {
			m.sorter.ports(m.to.target[first:m.at], w.lowest(), w.to.Count, w.rule.scattered())
		}
	}
	if r.complete && !r.ordered {
		m.sorter.sort(m.to.between(start, m.at))
	}
	return m.at - start
}

// take adds the synapses of a wiring to the current row.
func (m *rowMaker) take(w *wiring, b *batch) {
	n := b.n
	if m.at+uint64(n) > uint64(len(m.to.target)) { // only where the place of the row is not known
		m.to = m.to.grown(2*m.at + batchSize)
	}
	r := m.to.between(m.at, m.at+uint64(n))
	if m.rows.ordered && !w.varies() {
		m.count(w, b.target[:n], w.fixed)
		fill(r.weight, quanta.Clamp(w.fixed))
	} else {
		m.weigh(w, b)
		copy(r.weight, m.value[:n])
	}
	if m.rows.ordered {
		first := w.lowest()
		for i, t := range b.target[:n] {
			r.target[i] = first + t
		}
	} else {
		for i, t := range b.target[:n] {
			r.target[i] = w.port(t, int64(m.value[i]), b.ordinal[i])
		}
	}
	if !r.delay.None() {
		m.time(w, b)
		r.delay.putBursts(m.delay[:n])
	}
	m.made[w.slot] += uint64(n)
	m.drawn += uint64(n)
	m.at += uint64(n)
}

// put adds merged synapses to the current row.
func (m *rowMaker) put(q *group, list []contact) {
	r := m.to.between(m.at, m.at+uint64(len(list)))
	first := q.wirings[0].first
	for i, one := range list {
		r.target[i], r.weight[i] = first+one.target, quanta.Clamp(one.quanta)
		r.delay.set(uint64(i), uint64(one.delay))
	}
	m.at += uint64(len(list))
}
