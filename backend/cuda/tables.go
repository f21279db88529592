package cuda

import (
	"math"

	"burst/connectome"
)

// area, term and drive are the tables of kernels/network.cuh, field for field.
type area struct {
	first, end            uint32
	firstPort             uint32
	model, ports, program uint32
	each                  uint64
	below                 uint64
	from, until           uint64
	k                     [8]float32
	thresholdLimit        float32
	keep, leakAmount      float32
	excitability          float32
	refractory            uint32
	fireLimit, snooze     uint32
	accumulate, feagiDraw uint32
	firstTerm, terms      uint32
	firstDrive, drives    uint32
	differ                uint32
}

type term struct {
	from, until uint64
	each        uint64
	all         float64
}

type drive struct {
	end         uint64
	from, until uint64
	counts      uint64
	table       uint64
	entries     uint32
	first       uint32
	firstPort   uint32
	count       uint32
	place       uint32
	kind        uint32
	split       uint32
	amount      int32
}

// scheduled is the struct of that name in kernels/run.cuh, field for field.
type scheduled struct {
	at, every, from, until uint64
	first, count           uint64
}

// The kernels' numbers of kinds of drive; those of models are connectome's.
const (
	kindInject, kindPoisson, kindNoise = 0, 1, 2
	noTable                            = math.MaxUint64
)

// tables are a network's parameters as the kernels read them.
type tables struct {
	areas     []area
	constants []float32
	numbers   []uint64
	terms     []term
	addends   []float64
	drives    []drive
	counts    []uint32
	amounts   []int32
	driven    uint64 // threads that the drives need
	stimuli   []scheduled

	models      []ownModel        // that the genome defines, by their numbers
	modelNumber map[string]uint32 // by code
	injected    []candidate       // of the stimuli
}

// makeTables collects them from c.
func makeTables(c *connectome.Connectome) *tables {
	t := &tables{modelNumber: map[string]uint32{}}
	for i := range c.Areas {
		a := &c.Areas[i]
		first := len(t.drives)
		for place := range a.Drives {
			t.addDrive(a, uint32(place))
		}
		t.addArea(a, uint32(first))
	}
	for i := range c.Stimuli {
		t.addStimulus(c, &c.Stimuli[i])
	}
	return t
}

// addArea adds an area whose drives begin at a place of the table.
func (t *tables) addArea(a *connectome.Area, firstDrive uint32) {
	e := area{
		first: a.Neurons.First, end: a.Neurons.End(), firstPort: a.Ports.First, model: uint32(a.Model),
		ports: a.PortsEach(), each: noTable,
		firstDrive: firstDrive, drives: uint32(len(t.drives)) - firstDrive, differ: flag(a.TermsDiffer()),
	}
	switch a.Model {
	case connectome.FEAGIModel:
		p := &a.FEAGI
		e.below, e.excitability, e.feagiDraw = p.ExciteBelow, p.Excitability, flag(p.FEAGIDraw)
		e.k[0], e.thresholdLimit = p.Threshold.Const, p.ThresholdLimit
		e.keep, e.leakAmount = p.Keep, p.LeakAmount
		e.refractory, e.fireLimit, e.snooze = uint32(p.Refractory), uint32(p.FireLimit), uint32(p.Snooze)
		e.accumulate = flag(p.Accumulate)
		if p.Threshold.Each != nil {
			e.each = uint64(len(t.constants))
			t.constants = append(t.constants, p.Threshold.Each...)
		}
	case connectome.LIFModel:
		copy(e.k[:], a.LIF.Words())
		addEach(t, &e, a.LIFEach, (*connectome.LIF).Words)
	case connectome.PSCExpModel:
		copy(e.k[:], a.PSCExp.Words())
		addEach(t, &e, a.PSCExpEach, (*connectome.PSCExp).Words)
	case connectome.IzhikevichModel:
		copy(e.k[:], a.Izhikevich.Words())
		addEach(t, &e, a.IzhikevichEach, (*connectome.Izhikevich).Words)
	case connectome.PoissonModel:
		e.below, e.from, e.until = a.Poisson.Below, a.Poisson.From, a.Poisson.Until
		if a.PoissonEach != nil {
			e.each = uint64(len(t.numbers))
			for _, s := range a.PoissonEach {
				t.numbers = append(t.numbers, s.Below, s.From, s.Until)
			}
		}
	case connectome.SpikeListModel:
		e.each = uint64(len(t.numbers))
		bursts := e.each + uint64(len(a.Spikes.Row))
		for _, k := range a.Spikes.Row {
			t.numbers = append(t.numbers, bursts+uint64(k))
		}
		t.numbers = append(t.numbers, a.Spikes.At...)
	case connectome.CustomModel:
		t.addCustom(a, &e)
	default:
		panic("BUG: a model without a kernel")
	}
	t.addTerms(a, &e)
	t.areas = append(t.areas, e)
}

// addEach adds the constants of neurons that have their own.
func addEach[T any](t *tables, e *area, each []T, words func(*T) []float32) {
	if each == nil {
		return
	}
	e.each = uint64(len(t.constants))
	for i := range each {
		t.constants = append(t.constants, words(&each[i])...)
	}
}

// addStimulus adds what a stimulus of the genome gives to the device's neurons.
func (t *tables) addStimulus(c *connectome.Connectome, s *connectome.Stimulus) {
	first := uint64(len(t.injected))
	for k, port := range s.Ports {
		if c.Part.Whole() || c.Part.Owns(c.NeuronOf(port)) {
			t.injected = append(t.injected, candidate{port, s.Amounts[k]})
		}
	}
	t.stimuli = append(t.stimuli, scheduled{
		at: s.At, every: s.Every, from: s.From, until: s.Until, first: first, count: uint64(len(t.injected)) - first,
	})
}

// addTerms adds the constant drives of an area that are terms of its model's formula.
func (t *tables) addTerms(a *connectome.Area, e *area) {
	e.firstTerm = uint32(len(t.terms))
	for i := range a.Drives {
		d := &a.Drives[i]
		if d.Kind != connectome.Term {
			continue
		}
		one := term{from: d.From, until: d.Until, each: noTable, all: d.Term}
		if d.Each != nil {
			one.each = uint64(len(t.addends))
			t.addends = append(t.addends, d.Each...)
		}
		t.terms = append(t.terms, one)
	}
	e.terms = uint32(len(t.terms)) - e.firstTerm
}

// addDrive adds the drive at a place of its area, if it goes into acc.
func (t *tables) addDrive(a *connectome.Area, place uint32) {
	d := &a.Drives[place]
	if d.Kind == connectome.Term || a.Neurons.Count == 0 {
		return
	}
	t.driven += uint64(a.Neurons.Count)
	e := drive{
		end: t.driven, from: d.From, until: d.Until,
		first: a.Neurons.First, firstPort: a.Ports.First, count: a.Neurons.Count,
		place: place, kind: kindInject, split: a.Ports.Count - a.Neurons.Count, amount: d.Amount,
	}
	if d.Kind != connectome.Inject {
		e.kind, e.counts, e.entries = kindPoisson, uint64(len(t.counts)), uint32(len(d.Counts))
		t.counts = append(t.counts, d.Counts...)
	}
	if d.Kind == connectome.Noise {
		e.kind, e.table = kindNoise, uint64(len(t.amounts))
		t.amounts = append(t.amounts, d.Table...)
	}
	t.drives = append(t.drives, e)
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
