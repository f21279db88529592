package connectome

import (
	"math"

	"burst/genome"
	"burst/internal/exact"
)

// rule makes the synapses of a projection by the recipes in doc.go. The builder knows a rule only through this interface.
type rule interface {
	// synapses is the number of synapses onto so many neurons of the target area. If it is known, least and most are equal. If it is
	// random, draws outside least…most do not happen in practice.
	synapses(onto uint64) (least, most uint64)
	// row is the number of synapses of a source, if it is known without draws.
	row(source uint64) (synapses uint64, known bool)
	// longest is an upper bound of the synapses of a source.
	longest() uint64
	// unit is the unit of the rule's work.
	unit() unit
	// scattered reports whether the targets of a source are uniformly distributed and unordered.
	scattered() bool
	// scratch is the memory, in bytes, that a goroutine needs beside its batch.
	scratch() uint64
	// sizeKey is the key of the genome that sets the number of synapses.
	sizeKey() string
	// draw adds the synapses of units lo ≤ u < hi to b. Units can be drawn in any order, each on its own.
	draw(lo, hi uint64, b *batch)
}

// unit is the smallest piece of a rule's work.
type unit uint8

const (
	bySource  unit = iota // a row: all synapses of a source
	byTarget              // a column: all synapses of a target
	bySynapse             // one synapse, with its ordinal
)

// maker makes the rule of a projection ready, or a voxel rule's shape from the voxels of source and target.
type maker struct {
	rule  func(p *plan, w *wiring) (rule, error)
	shape func(m *genome.Mapper, from, to [3]int64) (shape morphology, disjoint bool)
}

// makerOf maps each rule of package genome to the code that makes its synapses.
func makerOf(r genome.Rule) maker {
	return [...]maker{
		genome.OneToOne:          {rule: newOneToOne},
		genome.AllToAll:          {rule: newAllToAll},
		genome.FixedIndegree:     {rule: newIndegree},
		genome.FixedOutdegree:    {rule: newOutdegree},
		genome.FixedTotalNumber:  {rule: newTotal},
		genome.PairwiseBernoulli: {rule: newBernoulli},
		genome.Projector:         {shape: newProjector},
		genome.Vectors:           {shape: newVectors},
		genome.Patterns:          {shape: newPatterns},
		genome.Expander:          {shape: newExpander},
		genome.Reducer:           {shape: newReducer},
		genome.BlockToBlock:      {shape: newBlocks},
		genome.LateralPairs:      {shape: newLateralPairs},
		genome.LastToFirst:       {shape: newLastToFirst},
		genome.Randomizer:        {rule: newRandomizer},
		genome.Composite:         {rule: newComposite},
		genome.Edges:             {rule: newEdges},
		genome.DistanceRule:      {rule: newDistance},
		genome.PairwisePoisson:   {rule: newPairwisePoisson},
	}[r]
}

// newRule makes the rule of a projection.
func (p *plan) newRule(w *wiring) (rule, error) {
	m := makerOf(w.p.Rule)
	if m.shape != nil {
		return newGrid(p, w, m.shape)
	}
	return m.rule(p, w)
}

// fault reports a mistake in a key of a projection.
func (p *plan) fault(w *wiring, key, format string, args ...any) error {
	return p.g.ProjectionFault(w.index, w.p.Pos, key, format, args...)
}

// ends is the data of a projection that all rules have.
type ends struct {
	sources, targets uint64
	noSelf           bool // one area to itself, autapses forbidden
	seed             uint64
	stream           uint64 // number of the projection
}

// others is the number of partners that a neuron has among n neurons.
func (e *ends) others(n uint64) uint64 {
	if e.noSelf {
		return n - 1
	}
	return n
}

// past maps 0…n−2 to the neurons other than self where it is forbidden.
func (e *ends) past(self, n uint64) uint64 {
	if e.noSelf && n >= self {
		return n + 1
	}
	return n
}

// word is the wiring draw of an index as two 64-bit words.
func (e *ends) word(index uint64) (x, y uint64) {
	return exact.Words(e.seed, exact.Wiring, index, e.stream)
}

// words are the wiring draws of many indices in a row.
func (e *ends) words() *exact.Stream { return exact.NewStream(e.seed, exact.Wiring, e.stream) }

// share is the number of n synapses that go to so many of the targets, if each target is equally likely.
func (e *ends) share(n, onto uint64) (least, most uint64) {
	if onto == e.targets {
		return n, n
	}
	least, most = around(float64(n) * (float64(onto) / float64(max(1, e.targets))))
	return least, min(n, most)
}

// around is eight standard deviations to either side of the mean of a number of independent choices, which no draw in practice leaves.
func around(mean float64) (least, most uint64) {
	reach := float64(8*math.Sqrt(mean)) + 1
	return uint64(max(0, min(mean-reach, 1<<63))), uint64(min(mean+reach, 1<<63))
}

// size sets the number of synapses that the wiring makes onto a part.
func (w *wiring) size(part Part) {
	w.synapses, w.most = w.estimate(part)
	w.counted = w.synapses == w.most
}

// estimate is the number of synapses that the wiring makes onto a part, as in rule.synapses.
func (w *wiring) estimate(part Part) (least, most uint64) {
	least, most = w.rule.synapses(w.own(part))
	switch w.keep {
	case 0:
		return 0, 0
	case 100:
		return least, most
	}
	share := float64(w.keep) / 100
	all := most
	least, _ = around(float64(float64(least) * share))
	_, most = around(float64(float64(most) * share))
	return least, min(all, most)
}

// units is the number of the rule's units; 0 if the projection makes no synapses.
func (w *wiring) units() uint64 {
	n, most := w.rule.synapses(w.ends.targets)
	switch {
	case most == 0 || w.keep == 0:
		return 0
	case w.rule.unit() == bySource:
		return w.ends.sources
	case w.rule.unit() == byTarget:
		return w.ends.targets
	}
	return n
}

// onto is how many synapses each target has, where that is known without draws and all have the same weight.
func (w *wiring) onto() (synapses uint64, known bool) {
	if w.keep != 100 || w.merged || w.varies() {
		return 0, false
	}
	switch r := w.rule.(type) {
	case *degree:
		return r.k, r.incoming
	case *allToAll:
		return r.others(r.sources), true
	case *oneToOne:
		return r.each(), true
	}
	return 0, false
}

// rowsKnown reports whether the number of synapses of each source onto a part is known without draws.
func (w *wiring) rowsKnown(part Part) bool {
	_, known := w.rule.row(0)
	return known && w.keep == 100 && part.Whole()
}
