package connectome

import (
	"fmt"
	"math"

	"burst/genome"
	"burst/internal/formula"
)

// Maker makes the synapses of a network in place of Build's goroutines: a GPU (backend/cuda). Build plans, adds up lengths of rows,
// checks memory and proves as ever, so a network has the same bytes and a refusal the same words. Several goroutines use it at the same time,
// each for a part (see Parts).
type Maker interface {
	// Count adds the number of synapses of each neuron to row, and returns that of each projection of r.
	Count(r *Recipe, row []uint64) (made []uint64, err error)
	// Place makes the synapses of r, which has been counted last: the row of neuron n is row[n] ≤ k < row[n+1]. It adds each |weight|
	// to the sum of its port, and leaves all other sums alone, to which another part may add. Synapses go where room says, which refuses
	// more than the host has memory for; where r.Keeps, Place may keep them instead, and then asks for no room.
	Place(r *Recipe, row []uint64, room func() (Synapses, error), sums []uint64) (Placed, error)
}

// Synapses is room for synapses, as Connectome has them.
type Synapses struct {
	Target []uint32
	Weight []int32
	Delay  Delays // None: delays are not made
}

// Placed is what Place has found.
type Placed struct {
	Longest int    // delay, 1 where none are made
	Bad     bool   // a draw of a weight or delay gave no value that a synapse can have
	Kept    bool   // the Maker has kept the synapses
	Hash    uint64 // of these, the sum that Connectome.Hash has of them
}

// Recipe is what a Maker makes: the synapses onto the neurons of one part. The law is in this package's comment.
type Recipe struct {
	Seed        uint64
	Part        Part
	Neurons     uint32
	Ports       uint32
	Scale       float64 // quanta a unit
	Longest     int     // delay that a synapse may have, in bursts; known once all are counted
	Keeps       bool    // who has asked for the network knows how to use synapses that the Maker keeps
	Projections []ProjectionRecipe
}

// ProjectionRecipe is a projection that a Maker makes.
type ProjectionRecipe struct {
	Number   int  // in the genome
	Known    bool // the lengths of its rows are known: Count leaves it out
	None     bool // it makes no synapses
	Rule     genome.Rule
	From, To Span   // neurons
	Count    uint64 // FixedIndegree, FixedOutdegree: synapses of an owner. FixedTotalNumber: all
	P        float64
	Average  float64
	NoSelf   bool // an area to itself without autapses
	Distinct bool // no multapses
	Both     bool // symmetric
	Keep     uint64
	Pairs    Permutation // of FixedTotalNumber where Distinct
	Port     uint32      // of the first target
	Split    uint32      // from there to the one that takes weights < 0
	Factor   float64     // psp of the source area
	Lift     int64       // see Lift
	Fixed    int64       // quanta of a constant weight, lifted
	Weights  [2]int32    // the least and the largest that a synapse may have, in quanta, lifted
	Weight   Sampler
	Delay    Sampler
	Steps    uint16 // bursts of a constant delay
	Longest  int    // a delay that a synapse may have, in bursts
	Least    uint64 // synapses, as far as is known before they are counted: of a part, its share of all
	Field    *FieldRecipe
}

// Code is a formula's program.
type Code = formula.Code

// MaxColumns is how many columns an area may have.
const MaxColumns = formula.MaxColumns

// FieldRecipe is what makes the pairs of a projection differ: its kernel and mask, and the formulas of its Distance values, with what these
// read. Owners, which are the neurons of one end, look for partners in a tree of the other, where a kernel or mask says how likely pairs are.
type FieldRecipe struct {
	At                          [2][]float64             // x, y and z of each source, and of each target; nil: nothing reads them
	Columns                     [2][MaxColumns][]float64 // of the sources, and of the targets
	Period                      [3]float64               // um; 0: places do not repeat along the axis
	Kernel, Mask, Weight, Delay *Code                    // nil: there is none
	Near                        bool                     // the rule is Distance, or has a kernel or mask
	Backward                    bool                     // the owners are the targets
	Home, Partners              TreeRecipe               // of the owners, and of their partners
	Top                         float64                  // above which the kernel counts as this
	Slack                       float64                  // a node is a stretch where likelihoods, added up over it, differ by no more
}

// TreeRecipe is a tree of an area's neurons.
type TreeRecipe struct {
	Order   []uint32  // neuron, by its place in the tree
	Boxes   []float64 // least, then largest coordinates of each node; the halves of node i are nodes 2i + 1 and 2i + 2
	Levels  int
	Axes    int
	Columns []int // that are the last axes
}

// Permutation orders the pairs of neurons: a Feistel network on Left·Right ≥ N numbers.
type Permutation struct {
	N, Left, Right uint64
	Keys           [rounds]uint64
}

// Sampler is a Const, Uniform, Normal, LogNormal or Distance value; of the last one mean and standard deviation of the logarithm.
type Sampler struct {
	genome.Value
	Mu, SD float64
}

// MakerError is the error for what a Maker does not make; Build without one may make it.
type MakerError struct {
	What  string // such as "synapses that learn"
	fault error
}

// Error says what and where, and what to do.
func (e *MakerError) Error() string { return e.fault.Error() }

// Unwrap is the genome.Faults that points into the text, or an error without a position.
func (e *MakerError) Unwrap() error { return e.fault }

// makable refuses what a Maker does not make. It names the first such projection.
func (p *plan) makable() error {
	for i := range p.wirings {
		if w := &p.wirings[i]; w.units() > 0 {
			if key, what := p.unmakable(w); what != "" {
				return &MakerError{what, p.fault(w, key, "a GPU does not build %s; build the network on the host (--build host)", what)}
			}
		}
	}
	return nil
}

// unmakable is what a Maker does not make of a projection, and its key; empty if it makes all.
func (p *plan) unmakable(w *wiring) (key, what string) {
	switch w.p.Rule {
	case genome.OneToOne, genome.AllToAll, genome.FixedIndegree, genome.FixedOutdegree, genome.FixedTotalNumber, genome.PairwiseBernoulli, genome.PairwisePoisson, genome.DistanceRule:
	default:
		return "rule", "synapses of the rule " + w.p.Rule.String()
	}
	switch {
	case w.merged:
		return "merge", "synapses that merge"
	case w.learns != nil:
		return "plasticity", "synapses that learn"
	case w.drives > 0:
		return "from", "synapses of areas with psp_max"
	case p.divided(w):
		return "from", "synapses of areas that divide their psp"
	}
	for _, k := range w.formulas() {
		if k.of != nil {
			if _, lacks := k.of.Code(); lacks != "" {
				return k.key, "synapses by formulas with " + lacks
			}
		}
	}
	return "", ""
}

// keyed is a formula of a projection and its key; nil: there is none.
type keyed struct {
	key string
	of  *formula.Kernel
}

// formulas are a projection's kernel, mask, weight and delay.
func (w *wiring) formulas() [4]keyed {
	list := [4]keyed{{"kernel", w.p.Kernel}, {"mask", w.p.Mask}, {"weight", w.weight.formula()}, {"delay", w.delay.formula()}}
	if w.p.Rule == genome.DistanceRule {
		list[0].key = "p"
	}
	return list
}

// formula is that of a Distance value; nil: it is none.
func (s *sampler) formula() *formula.Kernel {
	if s.Kind != genome.Distance {
		return nil
	}
	return s.Of
}

// fieldRecipe is that of a projection; nil: its pairs do not differ.
func (p *plan) fieldRecipe(w *wiring) *FieldRecipe {
	var f *field
	r := &FieldRecipe{Period: w.metric.period}
	switch rule := w.rule.(type) {
	case *byDistance:
		f = &rule.field
	case *nearDegree:
		f = &rule.field
	}
	placed, any := f != nil && f.placed, f != nil
	for i, k := range w.formulas() {
		if k.of == nil {
			continue
		}
		any = true
		*[]**Code{&r.Kernel, &r.Mask, &r.Weight, &r.Delay}[i], _ = k.of.Code()
		placed = placed || k.of.ReadsPlace()
	}
	if !any {
		return nil
	}
	for i, area := range []int{w.p.From, w.p.To} {
		if placed {
			r.At[i] = p.placesOf(area)
		}
		for k, column := range p.g.Areas[area].Columns {
			r.Columns[i][k] = column.Each
		}
	}
	if f != nil {
		r.Near, r.Backward, r.Home, r.Partners, r.Top, r.Slack = true, f.backward, f.home.recipe(), f.tree.recipe(), f.top, float64(slack*f.likeliest)
	}
	return r
}

func (t *tree) recipe() TreeRecipe {
	return TreeRecipe{t.order, t.boxes, t.levels, len(t.at), t.column}
}

// placesOf are x, y and z of an area's neurons, made at their first use.
func (p *plan) placesOf(area int) []float64 {
	list := p.where[area]
	if list == nil {
		a := &p.g.Areas[area]
		list = make([]float64, 3*uint64(p.areas[area].Count))
		spans(p.workers, uint64(p.areas[area].Count), 1<<14, func(_ int, lo, hi uint64) {
			for n := lo; n < hi; n++ {
				at := a.At(n)
				copy(list[3*n:], at[:])
			}
		})
		p.where[area] = list
	}
	return list
}

// placesBytes is the memory that a projection's recipe may take for placesOf.
func (w *wiring) placesBytes() uint64 {
	for _, k := range w.formulas() {
		if k.of != nil {
			return mul(uint64(w.from.Count)+uint64(w.to.Count), 24)
		}
	}
	return 0
}

// recipe is the plan for a Maker, projections in the order of wirings.
func (p *plan) recipe() *Recipe {
	r := &Recipe{Seed: p.g.Seed, Part: p.part, Neurons: uint32(p.neurons), Ports: uint32(p.inputs), Scale: p.scale, Keeps: p.keeps}
	for i := range p.wirings {
		w := &p.wirings[i]
		q := ProjectionRecipe{
			Number: w.index, Known: w.rowsKnown(p.part), None: w.units() == 0, Rule: w.p.Rule, From: w.from, To: w.to, P: w.p.P, Average: w.p.Average,
			NoSelf: w.ends.noSelf, Distinct: w.p.NoMultapses, Both: w.p.Symmetric, Keep: w.keep, Port: w.first, Split: w.split, Factor: w.factor,
			Lift: w.lift, Fixed: w.fixed, Weight: w.weight.recipe(), Delay: w.delay.recipe(), Steps: w.steps, Longest: w.mostDelay(), Field: p.fieldRecipe(w),
		}
		q.Weights[0], q.Weights[1] = w.quantaExtent(p.scale)
		q.Least, _ = w.estimate(Part{})
		q.Least /= uint64(max(1, p.part.Of))
		switch rule := w.rule.(type) {
		case *degree:
			q.Count = rule.k
		case *nearDegree:
			q.Count = rule.k
		case *totalNumber:
			q.Count = rule.n
		case *distinctPairs:
			q.Count, q.Pairs = rule.n, Permutation{rule.perm.n, rule.perm.a, rule.perm.b, rule.perm.keys}
		}
		r.Projections = append(r.Projections, q)
	}
	return r
}

func (s *sampler) recipe() Sampler { return Sampler{s.Value, s.mu, s.sd} }

// wireBy is wire by the plan's Maker.
func (p *plan) wireBy(c *Connectome, sums []uint64, progress *meter) error {
	r := p.recipe()
	c.Row = make([]uint64, p.neurons+1)
	progress.total = 2 * p.synapses()
	made, err := p.maker.Count(r, c.Row[:p.neurons])
	if err != nil {
		return err
	}
	p.setExact([][]uint64{made}, func(w *wiring) bool { return !r.Projections[w.slot].Known })
	p.countKnown(c.Row, all, p.part, &meter{})
	start := uint64(0)
	for n, length := range c.Row {
		if length > math.MaxUint32 {
			return &MakerError{"rows so long", fmt.Errorf("neuron %d has %d synapses, and a GPU builds rows of at most %d; build the network on the host (--build host)", n, length, uint32(math.MaxUint32))}
		}
		c.Row[n] = start
		start += length
	}
	r.Longest, c.ByRule = p.longestDelay(), p.byRule()
	progress.total = 2 * c.ByRule
	progress.add(c.ByRule)
	placed, err := p.maker.Place(r, c.Row, func() (Synapses, error) {
		p.claim()
		p.elsewhere = false
		if err := p.checkMemory(); err != nil { // now that sizes are exact
			return Synapses{}, err
		}
		room := p.room(start)
		c.Target, c.Weight, c.Delay = room.target, room.weight, room.delay
		return Synapses{c.Target, c.Weight, c.Delay}, nil
	}, sums)
	if err != nil {
		return err
	}
	if placed.Kept {
		c.kept, c.hash = true, placed.Hash
	}
	progress.add(c.ByRule)
	c.MaxDelay = max(c.MaxDelay, placed.Longest)
	c.Delay = c.Delay.narrow(c.MaxDelay)
	if !placed.Bad {
		return nil
	}
	part := p.part
	if p.allgather == nil {
		part = Part{} // parts that are built one after the other are refused with the words of the whole
	}
	first := p.firstBadValue(part)
	if first.w == nil {
		panic("BUG: a Maker found a bad value where there is none")
	}
	return p.report(first)
}
