package connectome

// batchSize is how many synapses a rule makes before they are handed on.
const batchSize = 1024

// batch carries synapses from a rule to what is done with them.
type batch struct {
	n       int
	source  [batchSize]uint32 // neuron of the source area
	target  [batchSize]uint32 // neuron of the target area
	ordinal [batchSize]uint64 // names the synapse in its projection, for its draws
	x, y    [batchSize]uint64 // scratch of rules that draw many at once
	drawn   [batchSize]uint16 // which of these are kept
	boxes   []box             // scratch of a grid
	chosen  set               // scratch of a degree without multapses
	part    Part              // synapses onto others' neurons are left out

	wiring *wiring
	sink   sink
}

// sink takes the synapses of a projection; each goroutine has its own.
type sink interface{ take(w *wiring, b *batch) }

func (b *batch) add(source, target, ordinal uint64) {
	if b.n == batchSize {
		b.flush()
	}
	n := b.n & (batchSize - 1)
	b.source[n], b.target[n], b.ordinal[n] = uint32(source), uint32(target), ordinal
	b.n = n + 1
}

// room is for how many of n synapses there is room now, at least one.
func (b *batch) room(n uint64) uint64 {
	if b.n == batchSize {
		b.flush()
	}
	return min(n, batchSize-uint64(b.n))
}

func (b *batch) flush() {
	if !b.part.Whole() {
		b.leaveForeign()
	}
	if b.wiring.keep < 100 {
		b.thin()
	}
	if b.n > 0 {
		b.sink.take(b.wiring, b)
	}
	b.n = 0
}

// next is the first target ≥ t of the part, for rules that need not make the others' synapses.
func (b *batch) next(t uint64) uint64 {
	first := uint64(b.wiring.to.First)
	return b.part.Next(first+t) - first
}

// leaveForeign drops the synapses onto neurons of other parts.
func (b *batch) leaveForeign() {
	kept, first, part := 0, b.wiring.to.First, b.part.dealer()
	for i, t := range b.target[:b.n] {
		k := kept & (batchSize - 1)
		b.source[k], b.target[k], b.ordinal[k] = b.source[i], t, b.ordinal[i]
		kept += part.owns(first + t)
	}
	b.n = kept
}

// addOwn adds what a source draws among so many targets other than itself, one an x, but for others' neurons: of a part that is most, so
// that nothing is done for these but to draw them.
func (b *batch) addOwn(source, ordinal uint64, x []uint64, among, self uint64) {
	const mask = batchSize - 1 // which no number here exceeds
	kept, first, part := b.n, b.wiring.to.First, b.part.dealer()
	for i, x := range x {
		pick := below(x, among)
		pick += (self - 1 - pick) >> 63 // past itself
		b.target[kept&mask], b.drawn[kept&mask] = uint32(pick), uint16(i)
		kept += part.owns(first + uint32(pick))
	}
	for k := b.n; k < kept; k++ {
		b.source[k&mask], b.ordinal[k&mask] = uint32(source), ordinal+uint64(b.drawn[k&mask])
	}
	b.n = kept
}

// thin drops the synapses that attractivity leaves out.
func (b *batch) thin() {
	kept := 0
	for i := range b.n {
		if b.wiring.attracts(b.ordinal[i]) {
			b.source[kept], b.target[kept], b.ordinal[kept] = b.source[i], b.target[i], b.ordinal[i]
			kept++
		}
	}
	b.n = kept
}

// sweep makes all synapses onto a part of the projections wanted, once; sinks has one sink a worker.
func (p *plan) sweep(sinks []sink, wanted func(*wiring) bool, part Part) {
	const synapsesAPiece = 1 << 15
	type span struct {
		w           *wiring
		first, size uint64 // first piece, units a piece
	}
	var list []span
	pieces := uint64(0)
	for i := range p.wirings {
		w := &p.wirings[i]
		units := w.rule.units()
		if units == 0 || w.keep == 0 || !wanted(w) {
			continue
		}
		synapses, _ := w.rule.total()
		size := max(1, synapsesAPiece/(synapses/units+1))
		list = append(list, span{w, pieces, size})
		pieces += (units + size - 1) / size
	}
	batches := make([]batch, len(sinks))
	parallel(len(sinks), pieces, func(worker int, piece uint64) {
		lo, hi := 0, len(list) // the last span that begins at piece or before
		for hi-lo > 1 {
			if m := (lo + hi) / 2; list[m].first <= piece {
				lo = m
			} else {
				hi = m
			}
		}
		s, b := list[lo], &batches[worker]
		b.wiring, b.sink, b.part = s.w, sinks[worker], part
		first := (piece - s.first) * s.size
		s.w.rule.wire(first, min(first+s.size, s.w.rule.units()), b)
		b.flush()
	})
}

func all(*wiring) bool { return true }

// single is a wiring whose synapses are placed as its rule makes them.
func single(w *wiring) bool { return !w.merged }
