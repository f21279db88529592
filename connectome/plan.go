package connectome

import (
	"fmt"
	"math"
	"slices"

	"burst/genome"
	"burst/internal/exact"
)

// plan is a genome with its sizes worked out and its projections ready to be wired; nothing big is allocated yet.
type plan struct {
	g       *genome.Genome
	workers int
	limit   uint64 // bytes
	part    Part
	gather  func(own []uint32) (all [][]uint32, err error) // Options.Gather
	areas   []Span                                         // neurons
	ports   []Span
	neurons uint64
	inputs  uint64   // ports of all areas
	counts  []uint32 // noiseCounts, made when first asked for
	wirings []wiring
	strips  []strip  // areas whose rows are made whole
	loose   []Span   // the neurons of all others
	spare   row      // memory of the part before
	groups  []group  // wirings whose synapses are merged
	out     []uint64 // per neuron, synapses from it before merging, where an area divides by them; else nil
	scale   float64
}

// wiring is a projection ready to be wired.
type wiring struct {
	index    int
	p        *genome.Projection
	from, to Span   // neurons
	ports    Span   // of the target area
	split    uint32 // ports between a neuron's first and its second one; 0 when it has one
	ends     ends
	rule     rule
	keep     uint64 // per cent of the rule's synapses that are made
	merged   bool   // belongs to a group
	striped  bool   // belongs to a strip
	weight   sampler
	factor   float64  // psp of the source area
	out      []uint64 // per source neuron, what the weight is divided by; nil: nothing
	delay    sampler
	weights  []float64 // of an edge list, by ordinal; nil: drawn
	delays   []uint8   // likewise, bursts
	whole    *plan     // set for a list of the whole network
	fixed    int64     // quanta, when the weight is constant and not divided
	steps    uint8     // bursts, when the delay is constant
	synapses uint64    // before merging
	counted  bool      // synapses is exact
}

// newPlan plans a network that fits into memory as far as is known before its synapses are counted.
func newPlan(g *genome.Genome, o Options) (*plan, error) {
	p, err := newDraft(g, o)
	if err != nil {
		return nil, err
	}
	p.countOut()
	return p, nil
}

// newDraft is a plan that draws nothing yet: of weights that are divided it does not know by what.
func newDraft(g *genome.Genome, o Options) (*plan, error) {
	p := &plan{g: g, workers: threads(o.Threads), limit: o.MaxBytes, part: o.Part, gather: o.Gather}
	if err := p.part.check(); err != nil {
		return nil, err
	}
	if p.limit == 0 {
		p.limit = AvailableMemory()
	}
	if err := p.placeAreas(); err != nil {
		return nil, err
	}
	p.wirings = make([]wiring, len(g.Projections))
	for i := range p.wirings {
		if err := p.prepare(i); err != nil {
			return nil, err
		}
	}
	p.makeGroups()
	return p, p.checkMemory()
}

// mostNumbers is how many neurons and ports there may be: numbers of 32 bits, with room to go on to the end of a block.
const mostNumbers = math.MaxUint32 - 1<<16

// placeAreas numbers the neurons and refuses more than ids or memory can hold.
func (p *plan) placeAreas() error {
	p.areas, p.ports = make([]Span, len(p.g.Areas)), make([]Span, len(p.g.Areas))
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		n := mul(mul(a.Size[0], a.Size[1]), mul(a.Size[2], a.PerVoxel))
		if !a.Empty() && a.Size[0] == 0 || a.Size[1] == 0 || a.Size[2] == 0 || a.PerVoxel == 0 {
			return p.g.Fault(a.Pos, areaKey(i, "size"), "%v voxels of %d neurons hold no neuron, want at least 1 on each axis", a.Size, a.PerVoxel)
		}
		sum := add(p.neurons, n)
		need := mul(sum, bytesANeuron)
		if sum > mostNumbers {
			return p.refuse(a.Pos, areaKey(i, "size"), "neurons", sum, mostNumbers, need)
		}
		if need > p.limit {
			return p.refuse(a.Pos, areaKey(i, "size"), "bytes", need, p.limit, need)
		}
		p.areas[i] = Span{uint32(p.neurons), uint32(n)}
		p.neurons = sum
		inputs := mul(n, uint64(a.Model.Ports))
		if add(p.inputs, inputs) > mostNumbers {
			return p.refuse(a.Pos, areaKey(i, "size"), "ports", add(p.inputs, inputs), mostNumbers, need)
		}
		p.ports[i] = Span{uint32(p.inputs), uint32(inputs)}
		p.inputs += inputs
	}
	return nil
}

// noise is noiseCounts, which all drives share.
func (p *plan) noise() []uint32 {
	if p.counts == nil {
		p.counts = noiseCounts()
	}
	return p.counts
}

// port is the port of the target area's t-th neuron that a weight goes to.
func (w *wiring) port(t uint32, weight int64) uint32 {
	if w.whole != nil {
		return w.whole.portOf(t, weight)
	}
	if weight < 0 {
		t += w.split
	}
	return w.ports.First + t
}

func areaKey(i int, key string) string       { return fmt.Sprintf("areas[%d].%s", i, key) }
func projectionKey(i int, key string) string { return fmt.Sprintf("projections[%d].%s", i, key) }

func (p *plan) refuse(at genome.Pos, field, unit string, needed, limit, bytes uint64) error {
	e := &LimitError{Field: field, Unit: unit, Needed: needed, Limit: limit, Bytes: bytes}
	e.fault = p.g.Fault(at, field, "%s", e.message())
	return e
}

// prepare makes the i-th wiring.
func (p *plan) prepare(i int) error {
	pr := &p.g.Projections[i]
	w := &p.wirings[i]
	from, to := p.ends(pr)
	*w = wiring{
		index: i, p: pr, from: from, to: to, factor: 1, weight: newSampler(pr.Weight, p.g.Seed, exact.WeightDraw, i),
		delay: newSampler(pr.Delay, p.g.Seed, exact.DelayDraw, i),
	}
	w.ends = ends{
		sources: uint64(from.Count), targets: uint64(to.Count),
		noSelf: pr.NoAutapses && pr.From == pr.To, seed: p.g.Seed, stream: uint64(i),
	}
	if pr.From == genome.WholeNetwork {
		w.whole = p
	} else {
		w.ports, w.factor = p.ports[pr.To], p.g.Areas[pr.From].Factor()
	}
	if w.ports.Count > w.to.Count {
		w.split = w.to.Count
	}
	if err := p.setRule(w); err != nil {
		return err
	}
	switch {
	case pr.LeaveOut > 100:
		return p.g.Fault(pr.Pos, projectionKey(i, "attractivity"), "%d per cent of the synapses are left out, want 0…100", pr.LeaveOut)
	case pr.Merge && !pr.Rule.Merges():
		return p.g.Fault(pr.Pos, projectionKey(i, "merge"), "the rule %s cannot merge, want one that makes every pair once, source by source", pr.Rule)
	}
	w.keep = 100 - pr.LeaveOut
	w.synapses, w.counted = w.total(p.part)
	for _, v := range []struct {
		key string
		s   *sampler
	}{{"weight", &w.weight}, {"delay", &w.delay}} {
		if wrong := v.s.probe(); wrong != "" {
			return p.g.Fault(v.s.Pos, projectionKey(i, v.key), "%s", wrong)
		}
	}
	if w.delay.Kind == genome.Const {
		d := nearest(w.delay.A)
		if !(1 <= d && d <= 255) {
			return p.g.Fault(w.delay.Pos, projectionKey(i, "delay"), "%s", delayMessage(d, p.g.Timestep))
		}
		w.steps = uint8(d)
	}
	w.takeColumns()
	return nil
}

// setRule gives the wiring its rule.
func (p *plan) setRule(w *wiring) (err error) {
	if w.p.Rule == genome.Edges {
		w.rule, err = p.newEdges(w)
		return err
	}
	r, key, wrong := p.newRule(w)
	if wrong != "" {
		return p.g.Fault(w.p.Pos, projectionKey(w.index, key), "%s", wrong)
	}
	w.rule = r
	return nil
}

func delayMessage(bursts, timestep float64) string {
	return fmt.Sprintf("a delay rounds to %v bursts, want 1…255 (%v ms to %v ms); bound it, as in normal(1.5 ms, 0.75 ms) >= %v ms, or choose another timestep",
		bursts, timestep, float64(255*timestep), timestep)
}

// newRule makes the rule of a projection, or says what is wrong and at which key.
func (p *plan) newRule(w *wiring) (r rule, key, wrong string) {
	pr, e := w.p, w.ends
	switch pr.Rule {
	case genome.OneToOne:
		if e.sources != e.targets {
			return nil, "rule", fmt.Sprintf("one_to_one needs areas of equal size, these have %d and %d neurons", e.sources, e.targets)
		}
		return &oneToOne{e}, "", ""
	case genome.AllToAll:
		return &allToAll{e}, "", ""
	case genome.FixedIndegree:
		d := newDegree(e, pr.Indegree, pr.NoMultapses, true)
		return &d, "indegree", d.fault()
	case genome.FixedOutdegree:
		d := outdegree{newDegree(e, pr.Outdegree, pr.NoMultapses, false)}
		return &d, "outdegree", d.fault()
	case genome.FixedTotalNumber:
		return newTotal(e, pr)
	case genome.PairwiseBernoulli:
		return newBernoulli(e, pr.P), "", ""
	case genome.Randomizer:
		to := &p.g.Areas[pr.To]
		return &randomizer{e, e.targets / to.PerVoxel, to.PerVoxel}, "", ""
	}
	return p.newGrid(e, pr)
}

// fault says when there are too few partners.
func (r *degree) fault() string {
	_, partners := r.owners()
	n := r.others(partners)
	if r.k == 0 || n > 0 && (!r.distinct || r.k <= n) {
		return ""
	}
	return fmt.Sprintf("%d synapses a neuron, but there are only %d partners", r.k, n)
}

func newTotal(e ends, pr *genome.Projection) (r rule, key, wrong string) {
	pairs := e.sources * e.others(e.targets)
	if pr.Count > 0 && (pairs == 0 || pr.NoMultapses && pr.Count > pairs) {
		return nil, "count", fmt.Sprintf("%d synapses, but there are only %d pairs", pr.Count, pairs)
	}
	if pr.NoMultapses {
		return newDistinctPairs(e, pr.Count), "", ""
	}
	return &totalNumber{ends: e, n: pr.Count, draws: e.stretches()}, "", ""
}

// newGrid makes a rule that goes by voxels.
func (p *plan) newGrid(e ends, pr *genome.Projection) (r rule, key, wrong string) {
	from, to := &p.g.Areas[pr.From], &p.g.Areas[pr.To]
	g := &grid{
		ends: e, fromSize: signed(from.Size), toSize: signed(to.Size),
		fromEach: from.PerVoxel, toEach: to.PerVoxel,
	}
	switch {
	case pr.Rule != genome.Composite:
		m := genome.Mapper{Rule: pr.Rule, Axes: pr.Axes, FromEnd: pr.FromEnd, Divide: pr.Divide, Vectors: pr.Vectors, Patterns: pr.Patterns}
		g.shape, g.disjoint = newShape(&m, g.fromSize, g.toSize)
	case pr.Mapper == nil || !slices.Contains(genome.Mappers(), pr.Mapper.Rule):
		return nil, "mapper", fmt.Sprintf("a composite needs a mapper, one of the rules %v", genome.Mappers())
	default:
		c := &composite{block: signed(pr.Blocks), choose: pr.Choose}
		for i := range 3 {
			if c.block[i] < 1 || c.choose[i][0] < 1 {
				return nil, "src_seed", fmt.Sprintf("blocks of %v voxels, %v of them taken and skipped, want at least 1 voxel and 1 block taken on each axis", pr.Blocks, pr.Choose)
			}
		}
		c.mapper, g.disjoint = newShape(pr.Mapper, c.block, g.toSize)
		g.shape = c
	}
	g.survey(p.workers)
	return g, "", ""
}

func signed(size [3]uint64) [3]int64 {
	return [3]int64{int64(size[0]), int64(size[1]), int64(size[2])}
}
