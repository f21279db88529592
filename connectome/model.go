package connectome

import (
	"fmt"
	"slices"

	"burst/internal/formula"
)

// Area is a span of neurons that follow one model.
type Area struct {
	Name     string
	Neurons  Span
	Ports    Span      // none for sources; else as many a neuron as the model has, all first ones before all second ones
	Size     [3]uint32 // voxels
	PerVoxel uint32
	Group    string // as in genome.Area
	Devices  uint64 // as in genome.Area
	Model    Model
	Drives   []Drive
	V0       Initial    // potential before burst 0, as the model holds it (lif, lif_psc_exp: relative to rest)
	More0    []*Initial // the model's further variables likewise; nil: 0, or b·V for izhikevich's u

	// The constants of the area's model; where parameters differ from neuron to neuron, the slice has one entry a neuron.
	FEAGI          FEAGI
	LIF            LIF
	LIFEach        []LIF
	PSCExp         PSCExp
	PSCExpEach     []PSCExp
	Izhikevich     Izhikevich
	IzhikevichEach []Izhikevich
	Poisson        PoissonSource
	PoissonEach    []PoissonSource
	Spikes         SpikeList
	Custom         *Custom // of a model that the genome defines
}

// Model tells backends which law of engine/doc.go an area follows.
type Model uint8

// The models.
const (
	FEAGIModel Model = iota
	LIFModel
	PSCExpModel
	IzhikevichModel
	PoissonModel
	SpikeListModel
	CustomModel
)

// PortsEach is the number of input ports of a neuron.
func (a *Area) PortsEach() uint32 {
	if a.Model == CustomModel {
		return uint32(a.Custom.Program.Inputs)
	}
	return [...]uint32{1, 1, 2, 1, 0, 0}[a.Model]
}

// Variables is the number of state variables beside V: I_ex and I_in of lif_psc_exp, u of izhikevich, all but the first
// of a custom model.
func (a *Area) Variables() int {
	if a.Model == CustomModel {
		return len(a.Custom.Program.Next) - 1
	}
	return [...]int{0, 0, 2, 1, 0, 0}[a.Model]
}

// Variable is the name of a state variable: of V where k is 0, else of the k-th further one.
func (a *Area) Variable(k int) string {
	if a.Model == CustomModel {
		return a.Custom.State[k]
	}
	return [...][]string{{"V"}, {"V"}, {"V", "I_ex", "I_in"}, {"V", "u"}, {"V"}, {"V"}}[a.Model][k]
}

// modelOf is the model of a kind in a genome.
func modelOf(name string) Model {
	for i, n := range [...]string{"feagi", "lif", "lif_psc_exp", "izhikevich", "poisson", "spike_list", "custom"} {
		if n == name {
			return Model(i)
		}
	}
	panic(fmt.Sprintf("BUG: model %q", name))
}

// NeuronOf is the neuron of port p, one of the area's.
func (a *Area) NeuronOf(p uint32) uint32 { return a.Neurons.First + (p-a.Ports.First)%a.Neurons.Count }

// PortOf is the port that an amount for the area's i-th neuron goes to: amounts ≥ 0 to its first, others to its last.
func (a *Area) PortOf(i uint32, amount int64) uint32 {
	if amount < 0 && a.PortsEach() == 2 {
		i += a.Neurons.Count
	}
	return a.Ports.First + i
}

// LIFOf, PSCExpOf, IzhikevichOf and PoissonOf are the constants of the area's i-th neuron.
func (a *Area) LIFOf(i uint32) *LIF { return of(&a.LIF, a.LIFEach, i) }

// PSCExpOf is documented at LIFOf.
func (a *Area) PSCExpOf(i uint32) *PSCExp { return of(&a.PSCExp, a.PSCExpEach, i) }

// IzhikevichOf is documented at LIFOf.
func (a *Area) IzhikevichOf(i uint32) *Izhikevich { return of(&a.Izhikevich, a.IzhikevichEach, i) }

// PoissonOf is documented at LIFOf.
func (a *Area) PoissonOf(i uint32) *PoissonSource { return of(&a.Poisson, a.PoissonEach, i) }

func of[T any](one *T, each []T, i uint32) *T {
	if each != nil {
		return &each[i]
	}
	return one
}

// Param is a float32 parameter, one value for the area or one a neuron.
type Param struct {
	Const float32
	Each  []float32 // nil, or one value per neuron of the area
}

// At is the value for the i-th neuron of the area.
func (p Param) At(i uint32) float32 {
	if p.Each != nil {
		return p.Each[i]
	}
	return p.Const
}

// FEAGI holds the constants of a feagi area.
type FEAGI struct {
	Threshold      Param
	ThresholdLimit float32 // +Inf when there is none
	Leak           float32 // 0…1
	LeakAmount     float32 // ≥ 0
	Keep           float32 // float32(1) − Leak, the factor of step 4d
	Refractory     uint16
	FireLimit      uint16 // 0: none
	Snooze         uint16
	Accumulate     bool
	FEAGIDraw      bool    // draw: feagi
	Excitability   float32 // compared with FEAGI's hash when FEAGIDraw
	ExciteBelow    uint64  // a Philox draw below this fires; round(excitability·2^32), 0…2^32
}

// LIF holds the constants of a lif neuron, potentials relative to rest.
type LIF struct {
	EM1        float32 // expm1(−dt/tau)
	Threshold  float32
	Reset      float32
	Refractory uint16 // bursts
}

// Words are the constants in order, as kernels read them.
func (p *LIF) Words() []float32 {
	return []float32{p.EM1, p.Threshold, p.Reset, float32(p.Refractory)}
}

// PSCExp holds the constants of a lif_psc_exp neuron, potentials relative to rest.
type PSCExp struct {
	EM1        float32 // expm1(−dt/tau)
	P21Ex      float32 // mV/pA: what a current of 1 pA at the burst's begin adds to V
	P21In      float32
	P11Ex      float32 // exp(−dt/tau_syn_ex)
	P11In      float32
	Threshold  float32
	Reset      float32
	Refractory uint16 // bursts
}

// Words are the constants in order, as kernels read them.
func (p *PSCExp) Words() []float32 {
	return []float32{p.EM1, p.P21Ex, p.P21In, p.P11Ex, p.P11In, p.Threshold, p.Reset, float32(p.Refractory)}
}

// Izhikevich holds the constants of an izhikevich neuron.
type Izhikevich struct {
	Half      float32 // dt/2 in ms
	ADt       float32 // a·dt
	B         float32
	C         float32 // mV
	D         float32
	Threshold float32 // mV
}

// Words are the constants in order, as kernels read them.
func (p *Izhikevich) Words() []float32 {
	return []float32{p.Half, p.ADt, p.B, p.C, p.D, p.Threshold}
}

// Custom is a model that the genome defines, for one area. Its constant drives are injected, as those of feagi are.
type Custom struct {
	Program     *formula.Program
	Params      []Param          // one for each of Program.Params
	Refractory  uint16           // bursts of silence after firing
	Start       *formula.Program // makes the state before burst 0 of what is drawn; nil where all of it is
	StartParams []Param          // one for each of Start.Params
	State       []string         // names of the state variables
}

// Load puts the i-th neuron's values of params, which are Params or StartParams, into values.
func (c *Custom) Load(params []Param, i uint32, values []float32) {
	for k := range params {
		values[k] = params[k].At(i)
	}
}

// PoissonSource holds the constants of a poisson neuron, which fires in bursts From ≤ t < Until.
type PoissonSource struct {
	Below       uint64 // a draw below this fires; round(rate·dt·2^32), 0…2^32
	From, Until uint64
}

// SpikeList says when the neurons of a spike_list area fire.
type SpikeList struct {
	Row []uint32 // one a neuron and one more; the bursts of the i-th neuron are Row[i] ≤ k < Row[i+1]
	At  []uint64 // ascending within a neuron
}

// Fires reports whether the i-th neuron is listed for burst t.
func (l *SpikeList) Fires(i uint32, t uint64) bool {
	_, listed := slices.BinarySearch(l.At[l.Row[i]:l.Row[i+1]], t)
	return listed
}
