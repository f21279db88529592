package cpu

import (
	"burst/backend/cpu/internal/vector"
	"burst/connectome"
)

// task is what blocks of synapses go through, after the post events that are pending.
type task uint8

const (
	settles task = iota // nothing
	arrives             // a pre event, 1b
	sweeps              // the rule's sweep, 6
)

// block works on synapses of many rows together: stretch lists pieces of rows, flush joins them to blocks of at most a chunk and
// takes these through their task, array by array (vector.Synapses).
type block struct {
	task task
	t    uint64
	till uint32 // the latest post events to apply, as the ring's lanes count bursts
	pieces
	post        []vector.Table // of traces
	pre         []vector.Table
	variables   [][]float32 // per synapse: those of its source
	all, few    entries     // the block's synapses; those of them that have a further event
	firstTraces []float32   // of the targets, where heads have them
	counts      []uint32    // post events that are pending
	skips       []uint32    // later ones that are not to be applied yet
	chosen      []uint32    // flags
	which       []uint32    // the entries of few, in the block
	left        []uint32    // events of few
	at          []uint32    // the next one's entry in the list of places, or its place
	amounts     []int32
	out         []float32
	long        []uint32 // synapses with more events than a slot has
	places      []uint32 // of these events
	tally       []uint32 // scratch
	broken      bool     // there is a weight that is NaN
	paired      bool     // long stretches go to pairing
}

// entries are synapses with what on_post reads.
type entries struct {
	weight  []float32
	synapse [][]float32
	target  []uint32
	after   []uint32    // the last pre event as the ring's lanes count bursts, twice
	base    []uint32    // add it to a lane: how many bursts the last pre event was before
	past    [][]float32 // traces of the source after that event
	lanes   []uint32    // of heads
	places  []uint32
	ages    []uint32
}

// pieces are stretches of rows, in the order of blocks: those of a block begin behind the ones of the block before.
type pieces struct {
	n           uint32   // synapses of the last block
	blocks      []int    // ends of the others
	starts      []uint64 // in the rows
	ends        []uint32 // in the block
	before      []uint64 // burst of the last pre event plus 1; 0: none
	after, base []uint32
	past        [][]float32
	source      [][]float32 // variables
	value       []float32   // scratch
}

// mostBlocks are gathered before the first of them is worked on.
const mostBlocks = 64

// roomy is a chunk and room for vector.Synapses.
const roomy = chunk + 8

func newEntries(p *connectome.Plastic) entries {
	words := func() []uint32 { return make([]uint32, roomy) }
	return entries{
		weight: make([]float32, roomy), synapse: lists(len(p.Synapse), roomy), target: words(), after: words(), base: words(),
		past: lists(len(p.Pre), roomy), lanes: words(), places: words(), ages: words(),
	}
}

func entriesBytes(p *connectome.Plastic) uint64 {
	return 4 * roomy * uint64(1+len(p.Synapse)+6+len(p.Pre))
}

// blockFor is a projection's block, in the room of one of those before if that fits: they are used in turn.
func (w *worker) blockFor(p *connectome.Plastic) block {
	for _, s := range w.shares {
		if s != nil && sameScratch(s.l.p, p) {
			b := s.block
			b.pre, b.post = tablesOf(p.Pre), tablesOf(p.Post)
			return b
		}
	}
	return newBlock(p)
}

// sameScratch reports whether the blocks of projections take the same room.
func sameScratch(a, b *connectome.Plastic) bool {
	return len(a.Synapse) == len(b.Synapse) && len(a.Pre) == len(b.Pre) && len(a.Source) == len(b.Source)
}

func newBlock(p *connectome.Plastic) block {
	words := func() []uint32 { return make([]uint32, roomy) }
	return block{
		pieces: pieces{past: make([][]float32, len(p.Pre)), source: make([][]float32, len(p.Source))}, variables: lists(len(p.Source), roomy),
		all: newEntries(p), few: newEntries(p), counts: words(), skips: words(), chosen: words(), which: words(), left: words(), at: words(),
		firstTraces: make([]float32, roomy), amounts: make([]int32, roomy), out: make([]float32, roomy),
		pre: tablesOf(p.Pre), post: tablesOf(p.Post),
	}
}

func tablesOf(traces []connectome.Trace) (list []vector.Table) {
	for k := range traces {
		list = append(list, tableOf(&traces[k].Table))
	}
	return list
}

func tableOf(t *connectome.Table) vector.Table {
	return vector.Table{Low: t.Low, High: t.High, Until: uint32(t.Until)}
}

// blockBytes is the memory of a block without its pieces.
func blockBytes(p *connectome.Plastic) uint64 {
	return 2*entriesBytes(p) + 4*roomy*uint64(9+len(p.Source))
}

// begin starts on a task of burst t, and on post events of bursts before till.
func (s *share) begin(what task, t, till uint64) {
	s.task, s.t, s.till = what, t, s.ring.lane(till)
	if s.pairing != nil {
		s.pairing.Sums = s.w.acc[s.slot:]
	}
	s.paired = what == arrives && s.pairing != nil && !s.broken && !s.w.marking && s.pairing.begin(t, s.till)
}

// stretch adds the synapses from ≤ k < to, of one source and delay.
func (s *share) stretch(i uint32, from, to uint64, m moment) {
	after := max(m.last, s.had(i)) - s.ring.epoch
	base := uint32(longAgo)
	if m.last > 0 && s.t-m.last < longAgo-2*mostBursts {
		base = uint32(s.ring.epoch - m.last)
	}
	if s.paired && to-from >= s.w.b.kernels.Synapses.ShortPair {
		s.pair(from, to, m, uint32(after), base)
		return
	}
	s.addBlocks(from, to, &m, uint32(after), base)
}

// addBlocks adds synapses from ≤ k < to to the blocks.
func (s *share) addBlocks(from, to uint64, m *moment, after, base uint32) {
	for from < to {
		if s.n == chunk {
			s.blocks, s.n = append(s.blocks, len(s.starts)), 0
			if len(s.blocks) == mostBlocks {
				s.flushBlocks()
			}
		}
		n := min(to-from, uint64(chunk-s.n))
		s.n += uint32(n)
		s.starts, s.ends, s.before = append(s.starts, from), append(s.ends, s.n), append(s.before, m.last)
		s.pieces.after, s.pieces.base = append(s.pieces.after, after*0x1_0001), append(s.pieces.base, base)
		for k := range s.past {
			x := float32(0)
			if m.last > 0 {
				x = m.traces[k][m.at]
			}
			s.past[k] = append(s.past[k], x)
		}
		for k := range s.source {
			s.source[k] = append(s.source[k], m.variables[k][m.at])
		}
		from += n
	}
}

// flush works on all that has been gathered.
func (s *share) flush() {
	if s.paired {
		s.pairUp()
	}
	s.flushBlocks()
}

// flushBlocks works on all blocks and empties the list of pieces.
func (s *share) flushBlocks() {
	if s.n > 0 {
		s.blocks = append(s.blocks, len(s.starts))
	}
	k, lo := &s.w.b.kernels.Synapses, 0
	for i, hi := range s.blocks {
		if i+1 < len(s.blocks) {
			next := s.blocks[i+1]
			k.Fetch(s.l.weight, s.l.p.Target, s.starts[hi:next], s.ends[hi:next])
		}
		s.work(lo, hi)
		lo = hi
	}
	p := &s.pieces
	p.n, p.blocks, p.starts, p.ends, p.before, p.after, p.base = 0, p.blocks[:0], p.starts[:0], p.ends[:0], p.before[:0], p.after[:0], p.base[:0]
	for _, lists := range [][][]float32{p.past, p.source} {
		for k := range lists {
			lists[k] = lists[k][:0]
		}
	}
}

// work takes the pieces lo ≤ i < hi through the task.
func (s *share) work(lo, hi int) {
	k, l, e := &s.w.b.kernels.Synapses, s.l, &s.all
	starts, ends := s.starts[lo:hi], s.ends[lo:hi]
	k.Load(e.weight, l.weight, starts, ends)
	for i, list := range e.synapse {
		k.Load(list, l.synapse[i], starts, ends)
	}
	s.loadTargets(starts, ends)
	changed := s.task != settles
	if s.onPost != nil {
		if s.applyPending(lo, ends) {
			changed = true
		}
	}
	switch s.task {
	case arrives:
		s.arrive(lo, ends)
	case sweeps:
		s.apply(s.every, lo, ends)
		s.keep(&s.all, s.every, int(ends[len(ends)-1]), nil)
	}
	if changed {
		k.Store(l.weight, e.weight, starts, ends)
		for i, list := range e.synapse {
			k.Store(l.synapse[i], list, starts, ends)
		}
	}
}

// loadTargets finds the targets of pieces.
func (s *share) loadTargets(starts []uint64, ends []uint32) {
	own, n := s.w.b.own, ends[len(ends)-1]
	shift := s.ahead
	if own.Whole() {
		shift += s.g.lo
	}
	list := s.all.target
	s.w.b.kernels.Targets(list, s.l.p.Target, starts, ends, shift)
	if !own.Whole() {
		for q, neuron := range list[:n] {
			list[q] = own.Count(neuron) - s.g.lo
		}
	}
	clear(list[n:min(n+8, roomy)]) // indices too
}
