package connectome

import "math"

// Connectome is the built network. Its arrays are never changed after Build and may be shared.
type Connectome struct {
	Name     string
	Seed     uint64  // wiring, weights, delays, initial state
	RunSeed  uint64  // Poisson drive and excitability
	Timestep float64 // ms a burst stands for
	Scale    int32   // quanta per unit, 1…2^24
	Neurons  uint32
	Ports    uint32
	Areas    []Area // in the genome's order; their neurons and ports are contiguous and ascending

	Row      []uint64 // Neurons+1; synapses of neuron n are Row[n] ≤ k < Row[n+1]
	Target   []uint32 // port of synapse k; a row is sorted by (delay, port, weight)
	Weight   []int32  // quanta
	Delay    []uint8  // bursts, 1…255; nil when all are 1
	MaxDelay int      // D, the largest delay present, ≥ 1

	ByRule uint64 // synapses that the rules made, before merging

	Bound   []uint32 // per port: the largest |sum| that synapses and drives can make in one burst, ≤ MaxInt32
	Stimuli []Stimulus
}

// Span is a run of consecutive ids.
type Span struct{ First, Count uint32 }

// End is the first id after the span.
func (s Span) End() uint32 { return s.First + s.Count }

// Has reports whether id lies in the span.
func (s Span) Has(id uint32) bool { return id-s.First < s.Count }

// Area is a span of neurons that follow one model with one set of parameters.
type Area struct {
	Name     string
	Neurons  Span
	Ports    Span      // one a neuron for feagi and lif: port = Ports.First + (neuron − Neurons.First)
	Size     [3]uint32 // voxels
	PerVoxel uint32
	Group    string // as in genome.Area
	Devices  uint64 // as in genome.Area
	Model    Model
	FEAGI    FEAGI // when Model is FEAGIModel
	LIF      LIF   // when Model is LIFModel
	Drives   []Drive
	V0       Initial // potential before burst 0, as the model holds it (lif: relative to rest)
}

// Model tells backends which law of engine/doc.go an area follows.
type Model uint8

// The models.
const (
	FEAGIModel Model = iota
	LIFModel
)

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

// LIF holds the constants of a lif area, potentials relative to rest.
type LIF struct {
	EM1        float32 // expm1(−dt/tau)
	Threshold  float32
	Reset      float32
	Refractory uint16 // bursts
}

// Drive is input an area makes by itself in bursts From ≤ t < Until.
type Drive struct {
	Kind   DriveKind
	From   uint64
	Until  uint64   // MaxUint64 when open
	Amount int32    // Inject: quanta a burst. Poisson: quanta an event.
	Term   float64  // Term: addend of the model's own formula (lif: −em1·R·I), not yet rounded
	Counts []uint32 // Poisson: a draw x makes as many events as there are entries ≤ x; ascending
}

// Active reports whether the drive acts in burst t.
func (d *Drive) Active(t uint64) bool { return d.From <= t && t < d.Until }

// Events is the number of Poisson events that draw x stands for.
func (d *Drive) Events(x uint32) int32 {
	lo, hi := 0, len(d.Counts)
	for lo < hi {
		if m := (lo + hi) / 2; d.Counts[m] <= x {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return int32(lo)
}

// DriveKind says how a drive reaches its neurons.
type DriveKind uint8

// Inject adds Amount to acc in step 2; Poisson adds events·Amount there; Term is part of the update in step 4.
const (
	Inject DriveKind = iota
	Poisson
	Term
)

// Term is what the constant drives add in burst t to the model's formula, summed in float64 and rounded once.
func (a *Area) Term(t uint64) float32 {
	sum := 0.0
	for i := range a.Drives {
		if d := &a.Drives[i]; d.Kind == Term && d.Active(t) {
			sum += d.Term
		}
	}
	return float32(sum)
}

// Stimulus is a scheduled injection, applied by the engine's Source of the same burst.
type Stimulus struct {
	At, Every, From, Until uint64   // as in genome.Stimulus
	Ports                  []uint32 // ascending
	Amounts                []int32  // quanta, one a port
}

// Active reports whether the stimulus acts in burst t.
func (s *Stimulus) Active(t uint64) bool {
	if s.Every == 0 {
		return t == s.At
	}
	return t%s.Every == 0 && s.From <= t && t < s.Until
}

// AreaOf is the index of the area that holds neuron n.
func (c *Connectome) AreaOf(n uint32) int {
	lo, hi := 0, len(c.Areas)
	for lo < hi {
		if m := (lo + hi) / 2; c.Areas[m].Neurons.End() <= n {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// NeuronOf is the neuron that port p belongs to.
func (c *Connectome) NeuronOf(p uint32) uint32 {
	lo, hi := 0, len(c.Areas)
	for lo < hi {
		if m := (lo + hi) / 2; c.Areas[m].Ports.End() <= p {
			lo = m + 1
		} else {
			hi = m
		}
	}
	a := &c.Areas[lo]
	return a.Neurons.First + (p-a.Ports.First)%a.Neurons.Count
}

// Synapses is the number of synapses.
func (c *Connectome) Synapses() uint64 { return c.Row[c.Neurons] }

// DelayOf is the delay of synapse k in bursts.
func (c *Connectome) DelayOf(k uint64) uint8 {
	if c.Delay == nil {
		return 1
	}
	return c.Delay[k]
}

// Headroom is how much a burst may inject into port p, in quanta and either direction, beyond synapses and drives.
func (c *Connectome) Headroom(p uint32) int64 { return math.MaxInt32 - int64(c.Bound[p]) }
