package connectome

import (
	"math"
	"slices"
	"sort"

	"burst/genome"
	"burst/internal/formula"
)

// Area is a span of neurons that follow one model.
type Area struct {
	Name     string
	Neurons  Span
	Ports    Span      // none for sources; else 1 to 16 per neuron: the first ports of all neurons, then their second ones, and so on
	Size     [3]uint32 // voxels
	PerVoxel uint32
	Group    string // as in genome.Area
	Devices  uint64 // as in genome.Area
	PSPMax   int32  // quanta: the psp of a spike is its amplitude, at most this in size; 0: it is not
	Model    *genome.Model
	Drives   []Drive
	V0       Initial    // potential before burst 0, as the model holds it: relative to the Rest of its variable
	More0    []*Initial // the same for the model's further variables; nil: 0, or computed by the variable's From

	Constants   []Param        // one for each of the model's ConstantNames
	Chance      Chance         // for models that have one
	From, Until uint64         // for models with these keys: the area fires in bursts From ≤ t < Until
	Factor      *genome.Factor // for models with this key: multiplies Chance in each burst; nil: it stays as it is
	Spikes      SpikeList      // for models with this key
	Upstream    []int          // for models with this key: indices of areas, ascending
	Custom      *Custom        // for a model that the genome defines
	Decay       []float32      // for models with Event: a row for each number of bursts from 0 on, see DecayOver
}

// PortsEach is the number of input ports of a neuron.
func (a *Area) PortsEach() uint32 { return uint32(len(a.Model.Ports)) }

// Variables is the number of state variables besides V, such as I_ex and I_in of lif_psc_exp.
func (a *Area) Variables() int { return max(0, len(a.Model.State)-1) }

// Variable is the name of the k-th state variable; V is number 0.
func (a *Area) Variable(k int) string {
	if k == 0 && a.Custom == nil {
		return "V"
	}
	return a.Model.State[k].Name
}

// Constant is the model's constant of that name.
func (a *Area) Constant(name string) *Param {
	return &a.Constants[slices.Index(a.Model.ConstantNames(), name)]
}

// Load copies the i-th neuron's constants to k.
func (a *Area) Load(i uint32, k []float32) { loadParams(a.Constants, i, k) }

// Input returns the neuron of the area to which port p belongs, and which of the neuron's ports it is.
func (a *Area) Input(p uint32) (i, which uint32) {
	p -= a.Ports.First
	return p % a.Neurons.Count, p / a.Neurons.Count
}

// PortOf is the port of the area's i-th neuron that takes an amount: number port of its ports, from 1. Where port is 0 it is the first
// one for amounts ≥ 0, and for others the second one, if there is one.
func (a *Area) PortOf(i uint32, port int, amount int64) uint32 {
	return portOf(a.Neurons, a.Ports, i, port, amount < 0)
}

func portOf(neurons, ports Span, i uint32, port int, negative bool) uint32 {
	switch {
	case port > 0:
		i += uint32(port-1) * neurons.Count
	case negative && ports.Count > neurons.Count:
		i += neurons.Count
	}
	return ports.First + i
}

// PortName names port p where neurons of the area have several, as in " at nmda"; else it is empty.
func (a *Area) PortName(p uint32) string {
	if a.PortsEach() < 2 {
		return ""
	}
	_, which := a.Input(p)
	return " at " + a.Model.Ports[which].Name
}

// PerNeuron is a number of an area: the same for all neurons, or one for each.
type PerNeuron[T any] struct {
	Const T
	Each  []T // nil, or one value per neuron of the area
}

// At is the value for the i-th neuron of the area.
func (p *PerNeuron[T]) At(i uint32) T {
	if p.Each != nil {
		return p.Each[i]
	}
	return p.Const
}

// Param is a parameter of a model.
type Param = PerNeuron[float32]

// Differ reports whether constants depend on the neuron.
func (a *Area) Differ() bool {
	return slices.ContainsFunc(a.Constants, func(x Param) bool { return x.Each != nil })
}

func loadParams(params []Param, i uint32, values []float32) {
	for k := range params {
		values[k] = params[k].At(i)
	}
}

// Chance is a probability times 2^32: an event happens if a 32-bit draw is below it.
type Chance = PerNeuron[uint64]

// Custom has the further data of an area whose model the genome defines.
type Custom struct {
	Program     *Program // its Params are the area's Constants
	Refractory  Silence
	Start       *Program // computes the initial state from drawn values; nil: all values are drawn
	StartParams []Param  // one for each of Start.Params
}

// Silence is how many bursts a neuron is silent after firing.
type Silence = PerNeuron[uint16]

// Program is the formulas of a model as instructions without loops or branches, which a backend executes for each neuron.
// Code lists them in order.
type Program = formula.Program

// SpikeList lists the bursts in which the neurons of a spike_list area fire.
type SpikeList struct {
	Row  []uint32 // one entry per neuron and one more; the bursts of the i-th neuron are Row[i] ≤ k < Row[i+1]
	Low  []uint32 // their numbers, less multiples of 2^32; ascending within a neuron, with High
	High []uint32 // those multiples; nil if all are 0
}

// At is the k-th burst.
func (l *SpikeList) At(k uint32) uint64 {
	if l.High == nil {
		return uint64(l.Low[k])
	}
	return uint64(l.High[k])<<32 | uint64(l.Low[k])
}

// Set makes t the k-th burst.
func (l *SpikeList) Set(k uint32, t uint64) {
	if t > math.MaxUint32 && l.High == nil {
		l.High = make([]uint32, len(l.Low))
	}
	if l.Low[k] = uint32(t); l.High != nil {
		l.High[k] = uint32(t >> 32)
	}
}

// From is the place of the i-th neuron's first burst that is not before t; Row[i+1] if there is none.
func (l *SpikeList) From(i uint32, t uint64) uint32 {
	first := l.Row[i]
	return first + uint32(sort.Search(int(l.Row[i+1]-first), func(k int) bool { return l.At(first+uint32(k)) >= t }))
}

// Fires reports whether the i-th neuron is listed for burst t.
func (l *SpikeList) Fires(i uint32, t uint64) bool {
	k := l.From(i, t)
	return k < l.Row[i+1] && l.At(k) == t
}
