package connectome

import (
	"sync/atomic"
	"unsafe"

	"burst/edgelist"
	"burst/genome"
)

// Sizes is what a genome grows to.
type Sizes struct {
	Neurons  uint64
	Ports    uint64
	Synapses uint64 // after merging
	ByRule   uint64 // before merging
	MaxDelay int    // bursts; no delay is longer
	Areas    []AreaSizes
	Pairs    []PairSizes // in the genome's order, then those whose synapses were merged; a pair of areas may come again
	Bytes    uint64      // of the connectome's arrays (1 a synapse less if every drawn delay happens to be 1)
	Peak     uint64      // bytes of all arrays while building
}

// AreaSizes is the part of Sizes that belongs to one area.
type AreaSizes struct {
	Name        string
	Neurons     uint64
	InSynapses  uint64 // synapses onto the area's neurons
	OutSynapses uint64 // synapses from them
}

// Memory of a neuron (Row, Bound and the sums of the proof) and of a synapse.
const (
	resultANeuron  = 8
	resultAPort    = 4
	bytesAPort     = resultAPort + 8
	bytesANeuron   = resultANeuron + bytesAPort // of a model with one port
	bytesASynapse  = 4 + 4
	bytesOfADelay  = 1
	bytesOfSorting = 16 // a synapse of the longest row, each thread
	bytesOfMerging = 40 // likewise, of a list that grows by copying
	bytesOfOutput  = 8  // a neuron, where weights are divided
)

// PairSizes is the part of Sizes that leads from one area to another.
type PairSizes struct {
	From, To int // areas
	Synapses uint64
}

// Check gives the errors of Build that concern sizes, rules, lists and distributions, without making a synapse: where chance
// decides how many there are, it is taken to be no more than surely come about.
func Check(g *genome.Genome, o Options) error {
	_, err := newDraft(g, o)
	return err
}

// Measure says how big Build would make g, without allocating synapses. Synapses are exact; where a rule leaves their
// number to chance the draws are made and counted. It returns the errors of Build that concern sizes, rules and
// distributions.
func Measure(g *genome.Genome, o Options) (*Sizes, error) {
	p, err := newPlan(g, o)
	if err != nil {
		return nil, err
	}
	p.count()
	if err := p.checkMemory(); err != nil {
		return nil, err
	}
	s := &Sizes{
		Neurons: p.neurons, Ports: p.inputs, Synapses: p.synapses(), ByRule: p.byRule(), MaxDelay: 1,
		Areas: make([]AreaSizes, len(g.Areas)),
	}
	for i := range g.Areas {
		s.Areas[i].Name, s.Areas[i].Neurons = g.Areas[i].Name, uint64(p.areas[i].Count)
	}
	for i := range p.wirings {
		w := &p.wirings[i]
		if !w.merged {
			p.credit(w, s)
		}
		if w.synapses > 0 {
			s.MaxDelay = max(s.MaxDelay, w.longest())
		}
	}
	for i := range p.groups {
		q := &p.groups[i]
		s.add(q.wirings[0].p.From, q.wirings[0].p.To, q.synapses)
	}
	s.Bytes, s.Peak = p.bytes()
	return s, nil
}

// add counts synapses from one area to another.
func (s *Sizes) add(from, to int, synapses uint64) {
	s.Areas[from].OutSynapses += synapses
	s.Areas[to].InSynapses += synapses
	s.Pairs = append(s.Pairs, PairSizes{From: from, To: to, Synapses: synapses})
}

// bytes is the size of the result and of everything while building; MaxUint64 where it does not fit 64 bits.
func (p *plan) bytes() (result, peak uint64) {
	synapses := p.synapses()
	each := uint64(bytesASynapse)
	if p.hasDelays() {
		each += bytesOfADelay
	}
	result = add(add(mul(p.neurons, resultANeuron)+8, mul(p.inputs, resultAPort)), mul(synapses, each))
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		result = add(result, uint64(unsafe.Sizeof(Area{})))
		result = add(result, mul(uint64(p.areas[i].Count), perNeuron(a)))
		result = add(result, mul(uint64(len(a.Spikes)), 8))
	}
	for i := range p.g.Stimuli {
		result = add(result, mul(uint64(len(p.g.Stimuli[i].Neurons)), 8)+uint64(unsafe.Sizeof(Stimulus{})))
	}
	peak = add(result, mul(p.inputs, bytesAPort-resultAPort))
	if p.divides() {
		peak = add(peak, mul(p.neurons, bytesOfOutput))
	}
	for i := range p.wirings {
		if r, ok := p.wirings[i].rule.(*edgeList); ok {
			peak = add(peak, edgelist.Bytes(uint64(len(r.Source))))
		}
	}
	for i := range p.wirings {
		w, most := &p.wirings[i], uint64(0)
		for _, part := range []Part{p.part, {}} {
			if p.countsFirst(w, part) {
				most = max(most, w.own(part))
			}
		}
		peak = add(peak, mul(uint64(p.workers), most))
	}
	each = 0
	if !p.part.Whole() {
		each = bytesASynapse + bytesOfADelay // rows whose place is not known yet
	}
	scratch := max(mul(min(synapses, longestSorted), bytesOfSorting+each), mul(p.longestMerged(), bytesOfMerging))
	scratch = add(scratch, p.largestSet())
	return result, add(peak, mul(uint64(p.workers), add(uint64(unsafe.Sizeof(batch{})), scratch)))
}

// largestSet is the memory that a goroutine takes to choose without repetition.
func (p *plan) largestSet() uint64 {
	largest := uint64(0)
	for i := range p.wirings {
		if r, ok := p.wirings[i].rule.(interface{ scratch() uint64 }); ok {
			largest = max(largest, r.scratch())
		}
	}
	return largest
}

// perNeuron is the bytes of constants that each neuron of an area has for itself.
func perNeuron(a *genome.Area) uint64 {
	n := uint64(0)
	if a.Gradient != [3]float64{} {
		n += 4
	}
	if a.Model.Name == "spike_list" {
		n += 4
	}
	if len(a.Varied) > 0 && a.Model.Custom != nil {
		d := a.Model.Custom.Definition
		n += 4 * uint64(len(d.Program.Params))
		if start := d.Start(given(a)); start != nil {
			n += 4 * uint64(len(start.Params))
		}
	} else if len(a.Varied) > 0 {
		n += map[string]uint64{"lif": uint64(unsafe.Sizeof(LIF{})), "lif_psc_exp": uint64(unsafe.Sizeof(PSCExp{})),
			"izhikevich": uint64(unsafe.Sizeof(Izhikevich{})), "poisson": uint64(unsafe.Sizeof(PoissonSource{}))}[a.Model.Name]
		n += 8 * uint64(len(a.Drives))
	}
	return n
}

// synapses is their number after merging, or one that is surely not more while not all is counted.
func (p *plan) synapses() uint64 {
	sum := uint64(0)
	for i := range p.wirings {
		if w := &p.wirings[i]; !w.merged {
			sum = add(sum, w.synapses)
		}
	}
	for i := range p.groups {
		sum = add(sum, p.groups[i].synapses)
	}
	return sum
}

// byRule is their number before merging.
func (p *plan) byRule() uint64 {
	sum := uint64(0)
	for i := range p.wirings {
		sum = add(sum, p.wirings[i].synapses)
	}
	return sum
}

// hasDelays is false when every delay is 1.
func (p *plan) hasDelays() bool {
	for i := range p.wirings {
		if w := &p.wirings[i]; w.steps != 1 && (w.synapses > 0 || !w.counted) {
			return true
		}
	}
	return false
}

// checkMemory refuses a network that does not fit, naming what makes most of its size.
func (p *plan) checkMemory() error {
	_, peak := p.bytes()
	if peak <= p.limit {
		return nil
	}
	at, field, most := genome.Pos{}, "areas", uint64(0)
	for i, a := range p.areas {
		if n := mul(uint64(a.Count), bytesANeuron); n > most {
			at, field, most = p.g.Areas[i].Pos, areaKey(i, "size"), n
		}
	}
	for i := range p.wirings {
		w := &p.wirings[i]
		if n := mul(w.synapses, bytesASynapse); n > most {
			at, field, most = w.p.Pos, projectionKey(i, sizeKey(w.p.Rule)), n
		}
	}
	return p.refuse(at, field, "bytes", peak, p.limit, peak)
}

// sizeKey is the key of a projection that makes it big.
func sizeKey(r genome.Rule) string {
	switch r {
	case genome.FixedIndegree:
		return "indegree"
	case genome.FixedOutdegree:
		return "outdegree"
	case genome.FixedTotalNumber:
		return "count"
	case genome.PairwiseBernoulli:
		return "p"
	case genome.Edges:
		return "file"
	}
	return "rule"
}

// count makes the number of synapses of every projection exact.
func (p *plan) count() {
	sinks, totals := make([]sink, p.workers), make([]atomic.Uint64, len(p.wirings))
	for i := range sinks {
		sinks[i] = tally(totals)
	}
	p.sweep(sinks, func(w *wiring) bool { return !w.counted && !w.merged }, p.part)
	for i := range p.wirings {
		if w := &p.wirings[i]; !w.counted && !w.merged {
			w.settle(totals[i].Load())
		}
	}
	p.countGroups(nil, &meter{})
}

// tally counts the synapses of each projection.
type tally []atomic.Uint64

func (t tally) take(w *wiring, b *batch) { t[w.index].Add(uint64(b.n)) }
