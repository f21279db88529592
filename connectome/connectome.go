package connectome

import (
	"math"
	"slices"
	"unsafe"
)

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
	Part     Part   // whose synapses these are; all else is that of the whole network

	Row      []uint64 // Neurons+1; synapses of neuron n are Row[n] ≤ k < Row[n+1]; nil where they are not here (Parts)
	Target   []uint32 // port of synapse k; a row is sorted by (delay, port, weight)
	Weight   []int32  // quanta
	Delay    []uint8  // bursts, 1…255; nil when all are 1
	MaxDelay int      // D, the largest delay present in any part, ≥ 1

	ByRule uint64 // synapses that the rules made, before merging, of all parts that have agreed
	total  uint64 // synapses likewise, after merging
	hash   uint64 // of the network, where Row is nil

	Bound   []uint32 // per port: the largest |sum| that synapses and drives can make in one burst, ≤ MaxInt32
	Stimuli []Stimulus
}

// Span is a run of consecutive ids.
type Span struct{ First, Count uint32 }

// End is the first id after the span.
func (s Span) End() uint32 { return s.First + s.Count }

// Has reports whether id lies in the span.
func (s Span) Has(id uint32) bool { return id-s.First < s.Count }

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
	return c.Areas[lo].NeuronOf(p)
}

// Variables is how many variables beside V the state holds for each neuron, that of the model with most.
func (c *Connectome) Variables() int {
	most := 0
	for i := range c.Areas {
		most = max(most, c.Areas[i].Variables())
	}
	return most
}

// Synapses is the number of synapses that Row holds, those of the part.
func (c *Connectome) Synapses() uint64 {
	if c.Row == nil {
		return 0
	}
	return c.Row[c.Neurons]
}

// Total is the number of synapses of the whole network; of the part alone where it was built without the others.
func (c *Connectome) Total() uint64 {
	if c.Part.Whole() && c.Row != nil {
		return c.Synapses()
	}
	return c.total
}

// Bytes is the memory of the arrays.
func (c *Connectome) Bytes() uint64 {
	n := size(c.Row) + size(c.Target) + size(c.Weight) + size(c.Bound) + size(c.Delay) + size(c.Areas) + size(c.Stimuli)
	for i := range c.Areas {
		a := &c.Areas[i]
		n += size(a.FEAGI.Threshold.Each) + size(a.LIFEach) + size(a.PSCExpEach) + size(a.IzhikevichEach) + size(a.PoissonEach) + size(a.Spikes.Row) + size(a.Spikes.At)
		for k := range a.Drives {
			n += size(a.Drives[k].Each)
		}
		if a.Custom != nil {
			for _, x := range slices.Concat(a.Custom.Params, a.Custom.StartParams) {
				n += size(x.Each)
			}
		}
	}
	for i := range c.Stimuli {
		n += size(c.Stimuli[i].Ports) + size(c.Stimuli[i].Amounts)
	}
	return n
}

// size is the bytes of a slice's elements.
func size[T any](s []T) uint64 { return uint64(len(s)) * uint64(unsafe.Sizeof(*new(T))) }

// DelayOf is the delay of synapse k in bursts.
func (c *Connectome) DelayOf(k uint64) uint8 {
	if c.Delay == nil {
		return 1
	}
	return c.Delay[k]
}

// Headroom is how much a burst may inject into port p, in quanta and either direction, beyond synapses and drives.
func (c *Connectome) Headroom(p uint32) int64 { return math.MaxInt32 - int64(c.Bound[p]) }
