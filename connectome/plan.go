package connectome

import (
	"fmt"
	"math"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/quanta"
)

// plan is a genome with computed sizes and prepared projections. It allocates nothing large.
type plan struct {
	g        *genome.Genome
	workers  int
	limit    uint64 // bytes that planning and building may take
	allowed  uint64 // bytes that building could take; above limit where nothing is to be built
	part     Part
	areas    []Span // neurons
	ports    []Span
	neurons  uint64
	inputs   uint64            // ports of all areas
	counts   []uint32          // noiseCounts, made at first use
	trains   []SpikeList       // by area
	stimuli  []genome.Stimulus // of the genome, and drives of an amount for each neuron
	injected []*genome.Drive   // these drives
	wirings  []wiring
	merging  []group    // wirings whose synapses are merged
	rows     []rows     // by area
	spare    row        // memory of the part before
	hold     func() row // waits until synapses may be in the host's memory, and gives spare; nil: they may
	out      []uint64   // per neuron, synapses from it before merging, where an area divides by them; else nil
	lifts    []int64    // of areas, see lift
	scale    float64
	fixed    uint64            // fixedBytes
	load     load              // of the projections that are prepared
	tables   map[float64]Table // by time constant in bursts
	trees    map[treeKey]*tree // of areas whose positions or columns rules read
	where    map[int][]float64 // by area, see placesOf

	allgather func(own []uint32) (all [][]uint32, err error) // Options.Allgather
	maker     Maker                                          // Options.Maker
	keeps     bool                                           // it may keep the synapses
	elsewhere bool                                           // sizes of memory leave static synapses out, while the maker may keep them
}

// wiring is a projection ready to be wired.
type wiring struct {
	index    int
	p        *genome.Projection
	from, to Span   // neurons
	ports    Span   // of the target area
	first    uint32 // port of the first target that takes the weights, or those ≥ 0
	split    uint32 // ports from there to the one that takes weights < 0; 0 if it is the same
	ends     ends
	rule     rule
	keep     uint64 // per cent of the rule's synapses that are made
	merged   bool   // belongs to a group that merges
	weight   sampler
	factor   float64  // psp of the source area
	out      []uint64 // per source neuron, what the weight is divided by; nil: nothing
	delay    sampler
	weights  []float64        // of an edge list, by ordinal; nil: drawn
	delays   []uint16         // the same, in bursts
	chosen   []uint8          // the same: which of the target's ports, from 0; nil: as first and split say
	listed   uint64           // rows of the list
	held     uint64           // bytes that the rule keeps for itself
	metric   metric           // where a rule, weight or delay reads positions or columns
	whole    *plan            // set for a list of the whole network
	learns   *genome.Learning // plasticity; nil: the weights do not change
	drives   float64          // psp_max of the source area, whose potentials drive what the synapses deliver; 0: they do not
	slot     int              // in plan.wirings
	lifting  int64            // of the target area, where the weights change or are driven
	settled  bool             // where the weights may fail: the bounds are those that fit
	start    uint64           // until then: the most that one delivers at first, in quanta, lifted; 0: not known yet
	low      float32          // bounds of such weights, and what weights beyond them become
	high     float32
	below    float32
	above    float32
	lift     int64  // of the target area
	fixed    int64  // quanta, when the weight is constant and not divided
	longest  int    // no delay has more bursts
	steps    uint16 // bursts, when the delay is constant
	synapses uint64 // before merging; while not counted a number that is surely not more
	most     uint64 // synapses at most
	counted  bool   // synapses is exact
}

// newPlan plans a network. It refuses one that cannot fit into memory, as far as this is known before synapses are counted.
func newPlan(g *genome.Genome, o Options) (*plan, error) { return newPlanUpTo(g, o, 0) }

// inParts reports whether the plan is one of several parts.
func (p *plan) inParts() bool { return !p.part.Whole() || p.allgather != nil }

// newPlanUpTo is newPlan of a network that may take most bytes, since it is not to be built; 0: those of o.
func newPlanUpTo(g *genome.Genome, o Options, most uint64) (*plan, error) {
	p, err := newDraft(g, o, most)
	if err != nil {
		return nil, err
	}
	p.countOut()
	p.makeLifts()
	return p, nil
}

// newDraft is a plan before anything is drawn. The divisors of divided weights are not known yet.
func newDraft(g *genome.Genome, o Options, most uint64) (*plan, error) {
	if o.Threads < 0 {
		return nil, fmt.Errorf("connectome: %d threads, want a whole number; 0 is all processors", o.Threads)
	}
	p := &plan{g: g, workers: threads(o.Threads), limit: o.MaxBytes, allowed: most, part: o.Part, allgather: o.Allgather, maker: o.Maker, keeps: o.keeps, elsewhere: o.keeps, tables: map[float64]Table{}, trees: map[treeKey]*tree{}, where: map[int][]float64{}}
	if err := p.part.check(); err != nil {
		return nil, err
	}
	if p.limit == 0 {
		p.limit = AvailableMemory()
	}
	p.allowed = max(p.allowed, p.limit)
	if err := p.placeAreas(); err != nil {
		return nil, err
	}
	if err := p.makeTrains(); err != nil {
		return nil, err
	}
	if err := p.drawDrives(); err != nil {
		return nil, err
	}
	p.addDriven()
	p.fixed = p.fixedBytes()
	p.wirings = make([]wiring, len(g.Projections))
	for i := range p.wirings {
		if err := p.prepare(i); err != nil {
			return nil, err
		}
		p.load.add(p, &p.wirings[i])
	}
	p.planMerging()
	if p.maker != nil {
		if err := p.makable(); err != nil {
			return nil, err
		}
	}
	return p, p.checkMemory()
}

// mostNumbers is the largest number of neurons and of ports: 32 bits, less the size of a block.
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
		inputs := mul(n, uint64(len(a.Model.Ports)))
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

// port is the port of the target area's t-th neuron that a weight goes to. Only a list that chooses ports needs the synapse's ordinal.
func (w *wiring) port(t uint32, weight int64, ordinal uint64) uint32 {
	switch {
	case w.chosen != nil:
		return w.chosenPort(t, ordinal)
	case w.whole != nil:
		return w.whole.portOf(t, weight)
	case w.learns != nil:
		weight = w.side() // where it stays, whatever becomes of the weight
	}
	if weight < 0 {
		t += w.split
	}
	return w.first + t
}

// chosenPort is the port that a list chooses.
func (w *wiring) chosenPort(t uint32, ordinal uint64) uint32 {
	ports, neurons := w.ports, w.to
	if w.whole != nil {
		i := w.whole.areaOf(t)
		ports, neurons = w.whole.ports[i], w.whole.areas[i]
		t -= neurons.First
	}
	return portOf(neurons, ports, t, int(w.chosen[ordinal])+1, false)
}

func areaKey(i int, key string) string       { return fmt.Sprintf("areas[%d].%s", i, key) }
func projectionKey(i int, key string) string { return fmt.Sprintf("projections[%d].%s", i, key) }

func (p *plan) refuse(at genome.Pos, field, unit string, needed, limit, bytes uint64) *LimitError {
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
		index: i, slot: i, p: pr, from: from, to: to, factor: 1, learns: pr.Learning, weight: newSampler(pr.Weight, p.g.Seed, exact.WeightDraw, i),
		delay: newSampler(pr.Delay, p.g.Seed, exact.DelayDraw, i),
	}
	w.ends = ends{
		sources: uint64(from.Count), targets: uint64(to.Count),
		noSelf: pr.NoAutapses && pr.From == pr.To, seed: p.g.Seed, stream: uint64(i),
	}
	if pr.From == genome.WholeNetwork {
		w.whole = p
	} else {
		w.ports, w.factor, w.drives = p.ports[pr.To], p.g.Areas[pr.From].Factor(), p.g.Areas[pr.From].PSPMax
	}
	if l := w.learns; l != nil {
		w.bounds(float32(l.Lo), float32(l.Hi))
	}
	w.first = w.ports.First + uint32(max(1, pr.Port)-1)*w.to.Count
	if pr.Port == 0 && w.ports.Count > w.to.Count {
		w.split = w.to.Count
	}
	if pr.From >= 0 {
		w.metric = newMetric(&p.g.Areas[pr.From], &p.g.Areas[pr.To])
		w.weight.metric, w.delay.metric = &w.metric, &w.metric
	}
	var err error
	if w.rule, err = p.newRule(w); err != nil {
		return err
	}
	switch {
	case pr.LeaveOut > 100:
		return p.fault(w, "attractivity", "%d per cent of the synapses are left out, want 0…100", pr.LeaveOut)
	case pr.Merge && (!pr.Rule.Merges() || pr.Symmetric):
		return p.fault(w, "merge", "the rule %s cannot merge, want one that makes every pair once, source by source", pr.Rule)
	}
	if w.keep = 100 - pr.LeaveOut; p.maker != nil {
		w.held = add(w.held, w.placesBytes())
	}
	w.size(p.part)
	for _, v := range []struct {
		key string
		s   *sampler
	}{{"weight", &w.weight}, {"delay", &w.delay}} {
		if wrong := v.s.probe(); wrong != "" {
			return p.g.ProjectionFault(i, v.s.Pos, v.key, "%s", wrong)
		}
	}
	if w.delay.Kind == genome.Const {
		d, ok := quanta.Delay(w.delay.A, w.mostDelay())
		if !ok {
			return p.g.ProjectionFault(i, w.delay.Pos, "delay", "%s", w.delayMessage(d, p.g.Timestep))
		}
		w.steps = uint16(d)
	}
	if w.delays != nil {
		w.steps = 0
	}
	w.longest = w.latest()
	return nil
}

// mostDelay is the longest delay that the synapses may have, in bursts.
func (w *wiring) mostDelay() int {
	if w.drives > 0 || w.learns != nil && w.learns.Rule.Window != genome.WindowNone {
		return quanta.MaxApart
	}
	return quanta.MaxDelay
}

func (w *wiring) delayMessage(bursts, timestep float64) string {
	most, of := w.mostDelay(), ""
	if most < quanta.MaxDelay {
		of = " for synapses that learn by FEAGI's rules or follow a psp_max"
	}
	return fmt.Sprintf("a delay rounds to %v bursts, want 1…%d (%v ms to %v ms)%s; bound it, as in normal(1.5 ms, 0.75 ms) >= %v ms, or choose another timestep",
		bursts, most, timestep, float64(float64(most)*timestep), of, timestep)
}
