package connectome

import (
	"burst/genome"
	"burst/internal/formula"
	"burst/internal/quanta"
)

// Plastic is a plastic projection. It has rows of its own; its synapses are not in the rows of the Connectome. In a part of a
// network, Row, Target, Delay and Weight are those of the part, and all else is that of the whole network.
//
// Its synapses have two orders. Rows are sorted by (delay, port, weight), like those of the Connectome. The state of a run has
// weights sorted by port, source, delay and initial weight. Synapses that are equal in all four see the same events; those of a list
// whose variables start from its columns are in the order of the list. Places maps the order of the rows to that of the state.
type Plastic struct {
	Projection int // in the genome
	Rule       *genome.Plasticity
	From, To   Span   // neurons
	Ports      Span   // of the target area
	Port       uint32 // which of the targets' ports, from 0

	Row    []uint64 // one entry per source and one more; the synapses of the i-th source are Row[i] ≤ k < Row[i+1]
	Target []uint32 // port
	Weight []int32  // initial, in quanta, not lifted; nil if all are Same
	Same   int32
	Delay  Delays   // none if all are Steps
	Steps  uint16   // bursts
	In     []uint32 // per port of Ports: number of synapses onto it in the whole network; nil in that, see Onto

	Lag             uint32 // L: a spike of the target in burst u is a post event of burst u + Lag
	Longest         uint32 // the largest delay
	Lo, Hi          float32
	Below, Above    float32 // what a weight beyond Lo or Hi becomes: that bound, or NaN, which ends the run
	Divide          []int32 // per source, what its spikes divide by; nil: nothing
	Lift            int64   // of the target area; see Unlift
	PSPMax          int32   // of the source area; above 0 what a spike delivers follows its amplitude
	Pre, Post       []Trace
	Modulators      []Modulator
	Source          []float32       // initial values of the source's variables
	Synapse         []float32       // initial values of the further variables of a synapse
	Drawn           []*genome.Value // per variable, what its initial values are drawn from; nil, or none for it: they are those of Synapse
	Listed          [][]float32     // per variable, what each synapse has it start from, in the order of the rows; nil, or none for it: as the two above say
	TargetVariables []int           // per Rule.Target: the state variable of the target's model, 0 for V
	OnPost          *Handler        // nil: there is no such handler
	OnPre           *Handler
	Every           *Handler
	OnSource        *Handler
	When            *Handler
	Window          Window
}

// Handler is a program with its parameters and tables.
type Handler struct {
	*formula.Handler
	Params []float32
	Decays []Table
}

// Trace is a trace with the table of its decay.
type Trace struct {
	Table  Table
	Amount float32
	Set    bool
}

// Modulator is a trace of the projection. Each spike of an area adds Amount.
type Modulator struct {
	Trace
	From  Span   // neurons
	Delay uint32 // a spike of burst s is an event of burst s + Delay
}

// Window has the parameters of FEAGI's rules.
type Window struct {
	Kind   genome.Window
	Bursts uint32
	Up     float32 // added if both ends fired
	Down   float32 // subtracted if only one end fired
}

// mostPlastic is the largest initial weight of a plastic synapse in quanta. Up to here a weight in float32 converts back to the
// same number of quanta.
const mostPlastic = 1 << 22

// Queues is the number of fire queues in the state: enough for the largest delay, for plasticity and for memory areas.
func (c *Connectome) Queues() int {
	most := uint32(c.MaxDelay)
	for i := range c.Plastic {
		p := &c.Plastic[i]
		most = max(most, p.Longest, p.Lag, p.Longest+p.Window.Bursts)
		for k := range p.Modulators {
			most = max(most, p.Modulators[k].Delay)
		}
	}
	for _, a := range c.Memories() {
		most = max(most, uint32(a.Constant("temporal_depth").Const))
	}
	return int(most)
}

// Synapses is the number of the projection's synapses onto the part.
func (p *Plastic) Synapses() uint64 { return uint64(len(p.Target)) }

// DelayOf is the delay of synapse k in bursts.
func (p *Plastic) DelayOf(k uint64) uint32 {
	if p.Delay.None() {
		return uint32(p.Steps)
	}
	return p.Delay.At(k)
}

// Least is the smallest delay of the part's synapses, the longest where it has none.
func (p *Plastic) Least() uint32 {
	switch {
	case len(p.Target) == 0:
		return max(1, p.Longest)
	case p.Delay.None():
		return uint32(p.Steps)
	}
	least, _ := p.Delay.extremes()
	return least
}

// Quanta converts a weight w to quanta, before it is lifted: round(w·scale) in float32, ties away from zero; 0 for NaN.
func Quanta(w float32, scale int32) int32 {
	if w != w {
		return 0
	}
	return int32(quanta.Nearest(float64(float32(w * float32(scale)))))
}

// Fails says that a weight which passes a bound ends the run.
func (p *Plastic) Fails() bool { return p.Below != p.Lo || p.Above != p.Hi }

// Delivers is what a synapse of the weight q, in quanta, delivers of a spike of a source, before it is lifted. Only where PSPMax is above 0
// does the spike's amplitude matter.
func (p *Plastic) Delivers(q int32, source uint32, amplitude, scale int32) int64 {
	if p.PSPMax == 0 {
		return int64(p.Share(q, source))
	}
	by := int32(0)
	if p.Divide != nil {
		by = p.Divide[source]
	}
	return Delivers(q, amplitude, scale, by)
}

// Share is what a spike of the source delivers of q quanta, before it is lifted: where its area divides, q divided by the number of
// its synapses, rounded up in size, as weights that stay are.
func (p *Plastic) Share(q int32, source uint32) int32 {
	if p.Divide == nil {
		return q
	}
	return int32(shareOf(int64(q), int64(p.Divide[source])))
}

// shareOf is q/by, rounded up in size.
func shareOf(q, by int64) int64 {
	if q < 0 {
		return -((-q + by - 1) / by)
	}
	return (q + by - 1) / by
}

// First is the weight that synapse k starts from, in quanta, not lifted.
func (p *Plastic) First(k uint64) int32 {
	if p.Weight == nil {
		return p.Same
	}
	return p.Weight[k]
}

// Initial is First in the weight's unit.
func (p *Plastic) Initial(k uint64, scale int32) float32 {
	return float32(p.First(k)) / float32(scale)
}

// bytes is the memory of its arrays, but for the tables of traces, which several share.
func (p *Plastic) bytes() uint64 {
	n := size(p.Row) + size(p.Target) + size(p.Weight) + p.Delay.Bytes() + size(p.In) + size(p.Divide)
	for _, list := range p.Listed {
		n += size(list)
	}
	return n
}

// apartHere is the number of the part's synapses that have rows of their own: those that are plastic or driven.
func (c *Connectome) apartHere() uint64 {
	n := c.Driven.Synapses()
	for i := range c.Plastic {
		n += c.Plastic[i].Synapses()
	}
	return n
}

// cut returns part of a plastic projection.
func (p *Plastic) cut(c *Connectome, part Part) Plastic {
	cut := *p
	cut.Row, cut.Target, cut.Weight, cut.Listed, cut.In = make([]uint64, len(p.Row)), nil, nil, make([][]float32, len(p.Listed)), p.Onto()
	for v, list := range p.Listed {
		if list != nil {
			cut.Listed[v] = []float32{}
		}
	}
	var delays []uint16
	for s := range p.From.Count {
		for k := p.Row[s]; k < p.Row[s+1]; k++ {
			if !part.Owns(c.NeuronOf(p.Target[k])) {
				continue
			}
			cut.Target, delays = append(cut.Target, p.Target[k]), append(delays, uint16(p.DelayOf(k)))
			if p.Weight != nil {
				cut.Weight = append(cut.Weight, p.Weight[k])
			}
			for v, list := range p.Listed {
				if list != nil {
					cut.Listed[v] = append(cut.Listed[v], list[k])
				}
			}
		}
		cut.Row[s+1] = uint64(len(cut.Target))
	}
	if !p.Delay.None() {
		cut.Delay = newDelays(uint64(len(delays)), int(p.Longest))
		cut.Delay.putBursts(delays)
	}
	return cut
}
