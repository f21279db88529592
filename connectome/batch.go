package connectome

// batchSize is the number of synapses that a rule makes before it passes them on.
const batchSize = 1024

// batch carries synapses from a rule to a sink.
type batch struct {
	n       int
	source  [batchSize]uint32 // neuron of the source area
	target  [batchSize]uint32 // neuron of the target area
	ordinal [batchSize]uint64 // number of the synapse in its projection, which indexes its draws
	x, y    [batchSize]uint64 // scratch memory of rules that draw many at once
	drawn   [batchSize]uint16 // index of those that are kept
	boxes   []box             // scratch memory of a grid
	chosen  set               // scratch memory of a degree without multapses
	near    *nearby           // scratch memory of rules that read positions
	lanes   [mostAtOnce]lanes // scratch memory of bernoulli
	until   uint64            // units up to here will be asked for in turn
	part    Part              // synapses onto neurons of other parts are left out

	wiring *wiring
	sink   sink
}

// sink receives the synapses of a projection; each goroutine has its own.
type sink interface{ take(w *wiring, b *batch) }

func (b *batch) add(source, target, ordinal uint64) {
	if b.n == batchSize {
		b.flush()
	}
	n := b.n & (batchSize - 1)
	b.source[n], b.target[n], b.ordinal[n] = uint32(source), uint32(target), ordinal
	b.n = n + 1
}

// room is the number of synapses, at most n, for which the batch has room. It is at least one.
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

// next is the part's first target ≥ t. Rules use it to skip the synapses of other parts.
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

// addOwn adds the synapses that a source draws, one for each x, among targets other than itself. Targets of other parts,
// which are most of them in a part of a network, are skipped at once.
func (b *batch) addOwn(source, ordinal uint64, x []uint64, among, self uint64) {
	const mask = batchSize - 1 // larger than any number here
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
