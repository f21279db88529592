package connectome

import (
	"cmp"
	"slices"

	"burst/genome"
)

// strip is an area whose rows are each made whole and sorted while they are at hand, because all rules go source by source.
type strip struct {
	from    Span
	wirings []*wiring
	longest uint64 // synapses that a row has at most
	even    bool   // a row is in order when the targets of each wiring are
}

// makeStrips finds the areas that are strips, once weights are fixed.
func (p *plan) makeStrips() {
	for i := range p.areas {
		s := strip{from: p.areas[i], even: true}
		fits := true
		for k := range p.wirings {
			w := &p.wirings[k]
			if w.whole == nil && w.p.From != i || w.keep == 0 {
				continue
			}
			r, ok := w.rule.(bySource)
			if fits = ok && !w.merged && w.whole == nil; !fits {
				break
			}
			s.wirings, s.longest = append(s.wirings, w), add(s.longest, r.longest())
		}
		if !fits || s.longest > longestSorted {
			p.loose = append(p.loose, s.from)
			continue
		}
		s.order()
		for _, w := range s.wirings {
			w.striped = true
		}
		p.strips = append(p.strips, s)
	}
}

// order brings the wirings into the order of their synapses in a row, where there is one.
func (s *strip) order() {
	for _, w := range s.wirings {
		s.even = s.even && w.isEven()
	}
	if !s.even {
		return
	}
	slices.SortStableFunc(s.wirings, func(a, b *wiring) int {
		return cmp.Or(cmp.Compare(a.steps, b.steps), cmp.Compare(a.lowest(), b.lowest()))
	})
	for i := 1; i < len(s.wirings); i++ {
		a, b := s.wirings[i-1], s.wirings[i]
		s.even = s.even && (a.steps < b.steps || a.lowest()+a.to.Count <= b.lowest())
	}
}

// isEven says that all synapses of a source have one weight and one delay.
func (w *wiring) isEven() bool {
	return w.weights == nil && w.delays == nil && w.weight.Kind == genome.Const && w.delay.Kind == genome.Const
}

// lowest is the lowest port that the synapses of an even wiring reach.
func (w *wiring) lowest() uint32 {
	if float64(w.weight.A*w.factor) < 0 {
		return w.ports.First + w.split
	}
	return w.ports.First
}

// rowMaker is one goroutine's share of the strips.
type rowMaker struct {
	*placer
	sorter sorter
	batch  *batch
	even   bool
	at     uint64 // where the next synapse goes
}

// placeStrips makes the rows of all strips.
func (p *plan) placeStrips(workers []placer) {
	const synapsesAPiece = 1 << 15
	makers := make([]rowMaker, len(workers))
	for i := range makers {
		makers[i] = rowMaker{placer: &workers[i], batch: &batch{part: p.part}}
		makers[i].batch.sink = &makers[i]
	}
	for i := range p.strips {
		s := &p.strips[i]
		size := max(1, synapsesAPiece/(s.longest+1))
		spans(len(workers), uint64(s.from.Count), size, func(worker int, lo, hi uint64) {
			m := &makers[worker]
			m.even = s.even
			made := uint64(0)
			for n := lo; n < hi; n++ {
				made += m.make(s, n)
			}
			m.progress.add(2 * made) // placed and sorted
		})
	}
}

// make makes the row of a source of the strip and says how long it is.
func (m *rowMaker) make(s *strip, source uint64) uint64 {
	n := uint64(s.from.First) + source
	start := m.c.Row[n]
	m.at = start
	for _, w := range s.wirings {
		first := m.at
		m.batch.wiring = w
		w.rule.wire(source, source+1, m.batch)
		m.batch.flush()
		if s.even {
			_, even := w.rule.(*outdegree)
			m.sorter.ports(m.c.Target[first:m.at], w.lowest(), w.to.Count, even)
		}
	}
	if !s.even {
		m.sorter.sort(rowBetween(m.c, start, m.at))
	}
	m.c.Row[n] = m.at // as a cursor that has passed the row
	return m.at - start
}

func (m *rowMaker) take(w *wiring, b *batch) {
	n := b.n
	r := rowBetween(m.c, m.at, m.at+uint64(n))
	if m.even && !w.varies() {
		m.count(w, b.target[:n])
		fill(r.weight, clamp(w.fixed))
	} else {
		m.weigh(w, b)
		copy(r.weight, m.value[:n])
	}
	if m.even {
		first := w.lowest()
		for i, t := range b.target[:n] {
			r.target[i] = first + t
		}
	} else {
		for i, t := range b.target[:n] {
			r.target[i] = w.port(t, int64(m.value[i]))
		}
	}
	if r.delay != nil {
		m.time(w, b)
		copy(r.delay, m.delay[:n])
	}
	m.at += uint64(n)
}
