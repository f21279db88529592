package connectome

// piece is consecutive sources of a strip, whose rows one goroutine makes.
type piece struct {
	strip  *strip
	lo, hi uint64
}

// pieces cuts all strips, in the order of their neurons. Those that wait for their place are longer, since of all draws they keep
// few: likely no more than so many, and no more than the longest row may have, for which memory is counted.
func (p *plan) pieces(wait bool) (list []piece, likely uint64) {
	const synapsesAPiece = 1 << 15
	parts, draws := uint64(max(1, p.part.Of)), uint64(synapsesAPiece)
	if wait {
		draws = min(draws*parts, longestSorted)
	}
	for i := range p.strips {
		s := &p.strips[i]
		size := min(max(1, draws/(s.longest+1)), uint64(s.from.Count))
		for lo := uint64(0); lo < uint64(s.from.Count); lo += size {
			list = append(list, piece{s, lo, min(lo+size, uint64(s.from.Count))})
		}
		mean := size * s.longest / parts
		likely = max(likely, mean+8*root(mean))
	}
	return list, likely
}

// rowMaker is one goroutine's share of the strips.
type rowMaker struct {
	*placer
	sorter sorter
	batch  *batch
	even   bool
	to     row    // where rows go
	at     uint64 // in it, the next synapse
	reply  chan uint64
}

// placeStrips makes the rows of all strips, straight into their places or, where these are not known, into out.
func (p *plan) placeStrips(workers []placer, out *store) {
	list, likely := p.pieces(out != nil)
	delays := out != nil && out.row.delay != nil
	makers := make([]rowMaker, len(workers))
	for i := range makers {
		m := &makers[i]
		*m = rowMaker{placer: &workers[i], batch: &batch{part: p.part}, reply: make(chan uint64, 1), to: row{workers[i].c.Target, workers[i].c.Weight, workers[i].c.Delay}}
		m.batch.sink = m
	}
	parallel(len(workers), uint64(len(list)), func(worker int, k uint64) {
		m := &makers[worker]
		if out == nil {
			m.makeInPlace(&list[k])
			return
		}
		if m.to.target == nil {
			m.to = newRows(likely, delays)
		}
		m.makeInOrder(k, &list[k], out)
	})
}

// makeInPlace makes rows whose places are known.
func (m *rowMaker) makeInPlace(p *piece) {
	start := m.c.Row[uint64(p.strip.from.First)+p.lo]
	m.at = start
	m.makeRows(p)
	m.progress.add(2 * (m.at - start)) // placed and sorted
}

// makeInOrder makes rows, finds their place and copies them there.
func (m *rowMaker) makeInOrder(k uint64, p *piece, out *store) {
	m.at = 0
	m.makeRows(p)
	at, first := out.place(k, m.at, m.reply), uint64(p.strip.from.First)
	for n := first + p.lo; n < first+p.hi; n++ {
		m.c.Row[n] += at
	}
	out.put(at, m.to.between(0, m.at))
	m.progress.add(2 * m.at)
}

// makeRows makes the rows of a piece and leaves each one's end in c.Row, as cursors that have passed them do.
func (m *rowMaker) makeRows(p *piece) {
	m.even = p.strip.even
	for s := p.lo; s < p.hi; s++ {
		m.makeRow(p.strip, s)
		m.c.Row[uint64(p.strip.from.First)+s] = m.at
	}
}

func (m *rowMaker) makeRow(s *strip, source uint64) {
	start := m.at
	for _, w := range s.wirings {
		first := m.at
		m.batch.wiring = w
		w.rule.wire(source, source+1, m.batch)
		m.batch.flush()
		if s.even {
			_, drawn := w.rule.(*outdegree)
			m.sorter.ports(m.to.target[first:m.at], w.lowest(), w.to.Count, drawn)
		}
	}
	if !s.even {
		m.sorter.sort(m.to.between(start, m.at))
	}
}

func (m *rowMaker) take(w *wiring, b *batch) {
	n := b.n
	if m.at+uint64(n) > uint64(len(m.to.target)) { // in a piece whose place is not known
		m.to = m.to.grown(2*m.at + batchSize)
	}
	r := m.to.between(m.at, m.at+uint64(n))
	if m.even && !w.varies() {
		m.count(w, b.target[:n], w.fixed)
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
	m.made[w.index] += uint64(n)
	m.at += uint64(n)
}
