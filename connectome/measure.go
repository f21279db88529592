package connectome

import (
	"slices"
	"unsafe"

	"burst/genome"
	"burst/internal/edgelist"
	"burst/internal/formula"
)

// Outlook is what a plan tells of a network before anything is drawn.
type Outlook struct {
	Least uint64 // synapses that it surely has, without those that merge: Parts.Least
	Lacks string // what a Maker does not make of it, as in MakerError.What; "": it makes all
}

// outlook is that of a plan.
func (p *plan) outlook() Outlook {
	o := Outlook{Least: p.least(Part{})}
	for i := range p.wirings {
		if w := &p.wirings[i]; o.Lacks == "" && w.units() > 0 {
			_, o.Lacks = p.unmakable(w)
		}
	}
	return o
}

// Sizes are the sizes of a genome's network.
type Sizes struct {
	Outlook
	Neurons  uint64
	Ports    uint64
	Synapses uint64 // after merging
	ByRule   uint64 // before merging
	Plastic  uint64 // number of plastic synapses in Synapses
	MaxDelay int    // bursts; no delay is longer
	Queues   int    // bursts that a state has fire queues of: as far back as delays, plasticity and memory areas look
	Areas    []AreaSizes
	Pairs    []PairSizes // in the genome's order, then merged projections; a pair of areas may appear more than once
	Bytes    uint64      // of the connectome's arrays (1 a synapse less if every drawn delay happens to be 1)
	Peak     uint64      // bytes of all arrays while building
	Learnt   uint64      // bytes of what a state holds of projections whose weights change
	Learning []LearningSizes
	Rooms    []Room // of projections with overflow: fail
}

// Room is how far the weights of a projection may go before the run ends.
type Room struct {
	Projection int // in the genome
	Lo, Hi     float32
	Cut        bool // there is no room for the genome's own bounds
}

// LearningSizes is the part of Sizes of a projection whose weights change.
type LearningSizes struct {
	Projection int // in the genome
	Synapses   uint64
	Learnt     uint64 // bytes of what a state holds of it
}

// AreaSizes is the part of Sizes that belongs to one area.
type AreaSizes struct {
	Name        string
	Neurons     uint64
	InSynapses  uint64 // synapses onto the area's neurons
	OutSynapses uint64 // synapses from them
}

// Memory per neuron (Row, Bound and the sums for the bounds) and per synapse, in bytes.
const (
	resultANeuron  = 8
	resultAPort    = 4
	bytesAPort     = resultAPort + 8
	bytesANeuron   = resultANeuron + bytesAPort // of a model with one port
	bytesASynapse  = 4 + 4
	bytesOfSorting = 16 // a synapse of the longest row, each thread
	bytesOfMerging = 40 // likewise, of a list that grows by copying
	bytesOfOutput  = 8  // a neuron, where weights are divided
)

// PairSizes is the part of Sizes that leads from one area to another.
type PairSizes struct {
	From, To int // areas
	Synapses uint64
}

// Check returns the errors of Build that concern sizes, rules, lists and distributions, without making synapses. For a random
// number of synapses it uses a lower bound. There is an Outlook also beside a LimitError of bytes, unless areas alone are too large.
func Check(g *genome.Genome, o Options) (*Outlook, error) {
	p, err := newDraft(g, o, 0)
	if p == nil {
		return nil, err
	}
	seen := p.outlook()
	return &seen, err
}

// MostMeasured is the largest network in bytes, while it is built, that Measure tells the sizes of where Options have no MaxBytes.
const MostMeasured = 1 << 40

// Measure returns the sizes of the network that Build would make of g, without allocating synapses. Their number is exact: if
// it is random, the synapses are drawn and counted. The errors are those of Build about sizes, rules and distributions; but without
// o.MaxBytes the network may be larger than this machine's memory, up to MostMeasured.
func Measure(g *genome.Genome, o Options) (*Sizes, error) {
	most := uint64(0)
	if o.MaxBytes == 0 {
		most = MostMeasured
	}
	p, err := newPlanUpTo(g, o, most)
	if err != nil {
		return nil, err
	}
	p.count()
	if err := p.checkMemory(); err != nil {
		return nil, err
	}
	s := &Sizes{
		Outlook: p.outlook(), Neurons: p.neurons, Ports: p.inputs, Synapses: p.synapses(), ByRule: p.byRule(), MaxDelay: 1, Queues: 1,
		Areas: make([]AreaSizes, len(g.Areas)),
	}
	for i := range g.Areas {
		s.Areas[i].Name, s.Areas[i].Neurons = g.Areas[i].Name, uint64(p.areas[i].Count)
	}
	if p.mayFail() {
		p.chooseScale()
		p.settleBounds()
	}
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.settled {
			s.Rooms = append(s.Rooms, Room{w.index, w.low, w.high, w.below != w.low || w.above != w.high})
		}
		if !w.merged {
			p.credit(w, s)
		}
		if l := w.learns; l != nil {
			s.Plastic = add(s.Plastic, w.synapses)
			learnt := learntBytes(w.synapses, uint64(w.from.Count), uint64(w.to.Count), l.Rule)
			s.Learnt = add(s.Learnt, learnt)
			s.Learning = append(s.Learning, LearningSizes{w.index, w.synapses, learnt})
			s.Queues = max(s.Queues, w.longest+int(l.Params["window"])*bit(l.Rule.Window != genome.WindowNone), int(2*l.Back))
			for k := range l.Rule.Modulators {
				s.Queues = max(s.Queues, int(l.Rule.Modulators[k].Delay))
			}
		}
		if w.synapses > 0 {
			s.MaxDelay, s.Queues = max(s.MaxDelay, w.longest), max(s.Queues, w.longest)
		}
	}
	for i := range p.merging {
		q := &p.merging[i]
		s.add(q.wirings[0].p.From, q.wirings[0].p.To, q.synapses)
	}
	s.Bytes, s.Peak = p.bytes()
	return s, nil
}

// learntBytes is the memory of a plastic projection in a state: numbers, and bursts of sources and targets.
func learntBytes(synapses, sources, targets uint64, r *genome.Plasticity) uint64 {
	n := mul(synapses, 4*uint64(1+len(r.Synapse)))
	n = add(n, mul(sources, 8+4*uint64(len(r.Pre)+len(r.Source))))
	return add(add(n, mul(targets, 8+4*uint64(len(r.Post)))), 12*uint64(len(r.Modulators)))
}

// LearntBytes is the memory of the projection in a state.
func (p *Plastic) LearntBytes() uint64 {
	return learntBytes(p.Whole(), uint64(p.From.Count), uint64(p.To.Count), p.Rule)
}

// add counts synapses from one area to another.
func (s *Sizes) add(from, to int, synapses uint64) {
	s.Areas[from].OutSynapses += synapses
	s.Areas[to].InSynapses += synapses
	s.Pairs = append(s.Pairs, PairSizes{From: from, To: to, Synapses: synapses})
}

// bytes is the size of the result and of everything while building; MaxUint64 where it does not fit 64 bits.
func (p *plan) bytes() (result, peak uint64) {
	var l load
	for i := range p.wirings {
		l.add(p, &p.wirings[i])
	}
	l.synapses, l.longestMerged = p.synapses(), p.longestMerged()
	l.bins, l.stage = p.bytesOfBins()
	for i := range p.merging {
		q := &p.merging[i]
		for _, w := range q.wirings {
			if w.drives > 0 {
				l.driven -= w.synapses
			}
		}
		if q.wirings[0].drives > 0 {
			l.driven += q.synapses
		}
	}
	return p.bytesOf(&l)
}

// load is the memory that projections need.
type load struct {
	synapses      uint64
	longest       int    // delay
	plastic       uint64 // of synapses: those of plastic projections, which have rows of their own
	driven        uint64 // the same of driven ones, after merging
	drivenRows    uint64 // bytes of a driven synapse; 0: there is no driven projection
	plasticRows   uint64 // bytes of these
	plasticScrap  uint64 // bytes while the largest of these are made
	lists         uint64 // bytes of edge lists and of what rules keep
	histograms    uint64 // bytes, each goroutine
	scratch       uint64 // largest of all rules, each goroutine
	divides       bool   // weights, somewhere
	drivenDivides bool   // driven ones, somewhere
	longestMerged uint64
	bins, stage   uint64 // of rows that are not made by source: bytes, and bytes of each goroutine
}

// add counts a projection that does not merge.
func (l *load) add(p *plan, w *wiring) {
	l.synapses = add(l.synapses, w.synapses)
	l.divides = l.divides || p.divided(w)
	if w.learns == nil && w.drives == 0 && w.delayed() {
		l.longest = max(l.longest, w.longest)
	}
	if w.drives > 0 {
		if w.learns == nil {
			l.driven = add(l.driven, w.synapses)
		}
		l.drivenRows = max(l.drivenRows, bytesASynapse)
		if w.delayed() {
			l.drivenRows = bytesASynapse + DelayBytes(w.longest)
		}
		l.drivenDivides = l.drivenDivides || p.divided(w)
	}
	if w.learns != nil {
		l.plastic = add(l.plastic, w.synapses)
		each, dropped := uint64(bytesASynapse), uint64(0)
		if w.delay.Kind != genome.Const || w.delays != nil {
			each += DelayBytes(w.longest)
		} else if w.delayed() {
			dropped = DelayBytes(w.longest)
		}
		if !w.varies() {
			each, dropped = each-4, dropped+4
		}
		if n := uint64(w.moreColumns()); n > 0 {
			each, dropped = each+4*n, dropped+8 // the order of the rows
		}
		ends := mul(uint64(w.from.Count)+1, 8)
		if p.inParts() {
			ends = add(ends, mul(uint64(w.ports.Count), 4))
		}
		if p.divided(w) {
			ends = add(ends, mul(uint64(w.from.Count), 4))
		}
		l.plasticRows = add(l.plasticRows, add(mul(w.synapses, each), ends))
		if w.longest > mostShort {
			dropped++ // drawn ones may turn out to fit a byte
		}
		l.plasticScrap = max(l.plasticScrap, add(mul(p.neurons+1, 8), mul(w.synapses, dropped)))
	}
	l.lists = add(add(l.lists, edgelist.Bytes(w.listed, w.moreColumns())), w.held)
	most := uint64(0)
	for _, part := range []Part{p.part, {}} {
		if p.hasHistogram(w, part) {
			most = max(most, mul(w.own(part), w.eachCounted()))
		}
	}
	l.histograms = add(l.histograms, most)
	l.scratch = max(l.scratch, w.rule.scratch())
}

// bytesOf is bytes with the projections' part of it.
func (p *plan) bytesOf(l *load) (result, peak uint64) {
	each := uint64(bytesASynapse)
	each += DelayBytes(l.longest)
	if p.elsewhere {
		each = 0
	}
	still := l.synapses - l.plastic - l.driven
	result = add(add(p.fixed, mul(still, each)), l.plasticRows)
	if l.drivenRows > 0 {
		result = add(add(result, mul(l.driven, l.drivenRows)), mul(p.neurons+1, 8))
	}
	if l.drivenDivides {
		result = add(result, mul(p.neurons, 4))
	}
	peak = add(add(result, mul(p.inputs, bytesAPort-resultAPort)), l.plasticScrap)
	if p.elsewhere { // and nothing of building is here, but all parts are made at the same time, each with rows and sums of its own
		own := add(mul(p.neurons, resultANeuron), mul(p.inputs, bytesAPort-resultAPort))
		return result, add(add(peak, l.lists), mul(uint64(max(1, p.part.Of)-1), own))
	}
	if l.longest > mostShort { // drawn ones may turn out to fit a byte
		peak = add(peak, still)
	}
	if l.divides {
		peak = add(peak, mul(p.neurons, bytesOfOutput))
	}
	peak = add(add(peak, l.lists), mul(uint64(p.workers), l.histograms))
	each = 0
	if !p.part.Whole() {
		each = bytesASynapse + DelayBytes(l.longest) // rows whose place is not known yet
	}
	scratch := max(mul(min(l.synapses, longestSorted), bytesOfSorting+each), mul(l.longestMerged, bytesOfMerging))
	scratch = add(scratch, max(l.scratch, l.stage))
	return result, add(add(peak, l.bins), mul(uint64(p.workers), add(uint64(unsafe.Sizeof(batch{})), scratch)))
}

// fixedBytes is the part of the result that does not depend on projections.
func (p *plan) fixedBytes() uint64 {
	n := add(add(mul(p.neurons, resultANeuron), 8), mul(p.inputs, resultAPort))
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		n = add(n, uint64(unsafe.Sizeof(Area{})))
		n = add(n, mul(uint64(p.areas[i].Count), p.perNeuron(a)))
		n = add(add(n, size(p.trains[i].Low)+size(p.trains[i].High)), size(a.Upstream))
	}
	for i := range p.stimuli {
		n = add(n, mul(uint64(len(p.stimuli[i].Neurons)), 8)+uint64(unsafe.Sizeof(Stimulus{})))
	}
	return n
}

// perNeuron is the bytes of constants that each neuron of an area has for itself.
func (p *plan) perNeuron(a *genome.Area) uint64 {
	n, names := uint64(0), a.Model.ConstantNames()
	if a.Model.Has("spikes") {
		n += 4
	}
	if a.Model.Custom != nil {
		if vary(a, []string{formula.Quiet}) {
			n += 2
		}
		if start := a.Model.Custom.Definition().Start(given(a)); start != nil {
			names = slices.Concat(names, start.Params)
		}
	}
	for _, name := range names {
		if vary(a, a.Model.Depends(name)) {
			n += 4
		}
	}
	if a.Model.Chance != nil && vary(a, chanceOn(a.Model)) {
		n += 8
	}
	for k := range a.Drives {
		n += p.ownBytes(&a.Drives[k])
		if d := &a.Drives[k]; d.Kind == genome.Constant && a.Model.Term != nil && (d.Each != nil || vary(a, termOn(a.Model, d))) {
			n += 8
		}
	}
	return n
}

// synapses is the number after merging; a lower bound until all synapses are counted.
func (p *plan) synapses() uint64 {
	sum := uint64(0)
	for i := range p.wirings {
		if w := &p.wirings[i]; !w.merged {
			sum = add(sum, w.synapses)
		}
	}
	for i := range p.merging {
		sum = add(sum, p.merging[i].synapses)
	}
	return sum
}

// byRule is the number before merging.
func (p *plan) byRule() uint64 {
	sum := uint64(0)
	for i := range p.wirings {
		sum = add(sum, p.wirings[i].synapses)
	}
	return sum
}

// longestDelay is the longest delay that synapses can have; 1 where there are none.
func (p *plan) longestDelay() int {
	longest := 1
	for i := range p.wirings {
		if w := &p.wirings[i]; w.delayed() {
			longest = max(longest, w.longest)
		}
	}
	return longest
}

// delayed says that a delay may not be 1.
func (w *wiring) delayed() bool { return w.steps != 1 && (w.synapses > 0 || !w.counted) }

// checkMemory refuses a network that does not fit into memory. The error names the largest contribution.
func (p *plan) checkMemory() error {
	_, peak := p.bytes()
	limit := p.allowed
	if peak <= limit {
		l := &p.load
		_, peak = p.bytesOf(&load{longestMerged: p.longestMerged(), lists: l.lists, histograms: l.histograms, scratch: l.scratch, divides: l.divides})
		limit = p.limit // of what planning alone takes
	}
	if peak <= limit {
		return nil
	}
	at, field, most, largest := genome.Pos{}, "areas", uint64(0), -1
	for i, a := range p.areas {
		if n := mul(uint64(a.Count), bytesANeuron); n > most {
			at, field, most = p.g.Areas[i].Pos, areaKey(i, "size"), n
		}
	}
	for i := range p.wirings {
		w := &p.wirings[i]
		if n := mul(w.synapses, bytesASynapse); n > most {
			at, field, most, largest = w.p.Pos, projectionKey(i, w.rule.sizeKey()), n, i
		}
	}
	e := p.refuse(at, field, "bytes", peak, limit, peak)
	if largest >= 0 {
		e.fault = p.g.ProjectionFault(largest, at, p.wirings[largest].rule.sizeKey(), "%s", e.message())
	}
	return e
}
