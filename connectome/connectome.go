package connectome

import (
	"math"
	"sort"
	"unsafe"
)

// Connectome is the built network. Its arrays are never changed after Build and may be shared.
type Connectome struct {
	Name     string
	Seed     uint64  // seed of wiring, weights, delays and initial state
	RunSeed  uint64  // seed of Poisson drive and excitability
	Timestep float64 // ms per burst
	Scale    int32   // quanta per unit, 1…2^24
	Neurons  uint32
	Ports    uint32
	Areas    []Area // in the genome's order; their neurons and ports are contiguous and ascending
	Part     Part   // the part that has the synapses; all else describes the whole network

	Row      []uint64 // Neurons+1 entries; synapses of neuron n are Row[n] ≤ k < Row[n+1]; nil if the synapses are not here (see Parts)
	Target   []uint32 // port of synapse k; a row is sorted by (delay, port, weight)
	Weight   []int32  // quanta
	Delay    Delays   // bursts
	MaxDelay int      // D, the largest delay in all parts, 1…65,535

	ByRule uint64 // number of synapses before merging, in all parts (see Options.Allgather)
	total  uint64 // the same after merging
	hash   uint64 // hash of the network if Row is nil; of the synapses where kept
	kept   bool   // a Maker has the synapses, and the network Row alone of them

	Bound   []uint32 // per port: an upper limit of |sum of synapses and drives| in one burst, ≤ MaxInt32
	Stimuli []Stimulus
	Plastic []Plastic // plastic projections, in the genome's order
	Driven  *Driven   // synapses of areas with PSPMax; nil: there are none
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
	Amounts                []int32  // quanta, one per port
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
	return sort.Search(len(c.Areas), func(i int) bool { return c.Areas[i].Neurons.End() > n })
}

// NeuronOf is the neuron that port p belongs to.
func (c *Connectome) NeuronOf(p uint32) uint32 {
	a := &c.Areas[c.AreaOfPort(p)]
	i, _ := a.Input(p)
	return a.Neurons.First + i
}

// AreaOfPort is the index of the area that holds port p.
func (c *Connectome) AreaOfPort(p uint32) int {
	return sort.Search(len(c.Areas), func(i int) bool { return c.Areas[i].Ports.End() > p })
}

// Memories are the memory areas, in order: those that keep patterns of the areas Upstream.
func (c *Connectome) Memories() (list []*Area) {
	for i := range c.Areas {
		if c.Areas[i].Model.Has("upstream") {
			list = append(list, &c.Areas[i])
		}
	}
	return list
}

// Variables is the number of state variables per neuron besides V: the largest number of all models.
func (c *Connectome) Variables() int {
	most := 0
	for i := range c.Areas {
		most = max(most, c.Areas[i].Variables())
	}
	return most
}

// Synapses is the number of synapses in Row: those of the part that are neither plastic nor driven.
func (c *Connectome) Synapses() uint64 {
	if c.Row == nil {
		return 0
	}
	return c.Row[c.Neurons]
}

// Total is the number of synapses of the whole network. It counts only the part's if Options.Allgather was nil.
func (c *Connectome) Total() uint64 {
	if c.Part.Whole() && c.Row != nil {
		return c.Synapses() + c.apartHere()
	}
	return c.total
}

// Bytes is the memory of the arrays.
func (c *Connectome) Bytes() uint64 {
	n := size(c.Row) + size(c.Target) + size(c.Weight) + size(c.Bound) + c.Delay.Bytes() + size(c.Areas) + size(c.Stimuli)
	for i := range c.Areas {
		a := &c.Areas[i]
		n += size(a.Chance.Each) + size(a.Spikes.Row) + size(a.Spikes.Low) + size(a.Spikes.High) + size(a.Upstream)
		for _, x := range a.Constants {
			n += size(x.Each)
		}
		for k := range a.Drives {
			n += size(a.Drives[k].Each) + a.Drives[k].Own.bytes()
		}
		if a.Custom != nil {
			n += size(a.Custom.Refractory.Each)
			for _, x := range a.Custom.StartParams {
				n += size(x.Each)
			}
		}
	}
	for i := range c.Plastic {
		n += c.Plastic[i].bytes()
	}
	if d := c.Driven; d != nil {
		n += size(d.Row) + size(d.Target) + size(d.Weight) + size(d.Delay) + size(d.Divide)
	}
	for i := range c.Stimuli {
		n += size(c.Stimuli[i].Ports) + size(c.Stimuli[i].Amounts)
	}
	return n
}

// size is the memory of a slice's elements in bytes.
func size[T any](s []T) uint64 { return uint64(len(s)) * uint64(unsafe.Sizeof(*new(T))) }

// DelayOf is the delay of synapse k in bursts.
func (c *Connectome) DelayOf(k uint64) uint32 { return c.Delay.At(k) }

// Headroom is the largest |amount|, in quanta, that stimuli may add to port p in one burst.
func (c *Connectome) Headroom(p uint32) int64 { return math.MaxInt32 - int64(c.Bound[p]) }
