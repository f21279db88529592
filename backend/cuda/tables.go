package cuda

import (
	"math"
	"slices"

	"burst/connectome"
)

// mostConstants is that of kernels/network.cuh.
const mostConstants = 14

// area, term and drive are the tables of kernels/network.cuh, field for field.
type area struct {
	first, end            uint32
	firstPort             uint32
	model, ports, program uint32
	each                  uint64
	below                 uint64
	from, until           uint64
	k                     [mostConstants]float32
	own                   uint32
	refractory            uint32
	firstTerm, terms      uint32
	firstDrive, drives    uint32
	differ                uint32
	moving                instants
}

type term struct {
	from, until uint64
	each        uint64
	all         float64
	moving      instants
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
	differ      uint32
	seconds     uint32
	moving      instants
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
	own         []uint64          // what neurons have for themselves of drives, as own_numbers and what follows it
	owners      []owner           // these drives
	movers      []mover           // drives and areas with factors
	stride      uint64            // bytes of their instants in one burst
	memories    []uint64          // of each memory area, where among the numbers its neurons' bursts begin
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
		first: a.Neurons.First, end: a.Neurons.End(), firstPort: a.Ports.First, model: uint32(a.Model.Number),
		ports: a.PortsEach(), each: noTable,
		firstDrive: firstDrive, drives: uint32(len(t.drives)) - firstDrive, differ: flag(a.TermsDiffer()),
	}
	switch {
	case a.Custom != nil:
		t.addCustom(a, &e)
	case a.Model.Has("upstream"):
		t.addMemory(a, &e)
	case a.Model.Has("spikes"):
		e.each = uint64(len(t.numbers))
		bursts := e.each + uint64(len(a.Spikes.Row))
		for _, k := range a.Spikes.Row {
			t.numbers = append(t.numbers, bursts+uint64(k))
		}
		t.numbers = slices.Grow(t.numbers, len(a.Spikes.Low))
		for k := range a.Spikes.Low {
			t.numbers = append(t.numbers, a.Spikes.At(uint32(k)))
		}
	default:
		t.addConstants(a, &e)
	}
	t.addTerms(a, &e)
	t.areas = append(t.areas, e)
	if a.Factor != nil {
		t.addMover(mover{factor: a.Factor, table: amongAreas, entry: len(t.areas) - 1})
	}
}

// addConstants adds the constants of an area of a built-in model, and of neurons that have their own.
func (t *tables) addConstants(a *connectome.Area, e *area) {
	e.below, e.from, e.until, e.own = a.Chance.Const, a.From, a.Until, uint32(a.Model.Own())
	k := make([]float32, len(a.Constants))
	for c := range a.Constants {
		e.k[c] = a.Constants[c].Const
	}
	if a.Decay != nil {
		e.program, e.refractory = uint32(len(t.constants)), uint32(len(a.Decay)/len(a.DecayOver(0)))
		t.constants = append(t.constants, a.Decay...)
	}
	switch {
	case a.Differ():
		e.each = uint64(len(t.constants))
		for i := range a.Neurons.Count {
			a.Load(i, k)
			t.constants = append(t.constants, k[:e.own]...)
		}
	case a.Chance.Each != nil:
		e.each = uint64(len(t.numbers))
		for _, below := range a.Chance.Each {
			t.numbers = append(t.numbers, below, a.From, a.Until)
		}
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
		if d.Moving != nil {
			t.addMover(mover{drive: d, table: amongTerms, entry: len(t.terms) - 1})
		}
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
	if d.Port > 0 {
		e.firstPort, e.split = a.PortOf(0, d.Port, 0), 0
	}
	for bit, first := range []uint32{e.firstPort, e.firstPort + e.split} {
		e.seconds |= flag(first == a.Ports.First+a.Neurons.Count && a.PortsEach() > 1) << bit
	}
	if d.Kind != connectome.Inject {
		e.kind, e.counts, e.entries = kindPoisson, uint64(len(t.counts)), uint32(len(d.Counts))
		t.counts = append(t.counts, d.Counts...)
	}
	if d.Kind == connectome.Noise {
		e.kind, e.table = kindNoise, uint64(len(t.amounts))
		t.amounts = append(t.amounts, d.Table...)
	}
	if d.Own != nil {
		e.differ = 1
		t.owners = append(t.owners, owner{drive: len(t.drives), at: size(t.own)})
		t.addOwn(d.Own)
	}
	t.drives = append(t.drives, e)
	if d.Moving != nil {
		t.addMover(mover{drive: d, table: amongDrives, entry: len(t.drives) - 1})
	}
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
