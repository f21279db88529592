package connectome

import (
	"sync/atomic"

	"burst/genome"
)

// counts are how many synapses a goroutine has made onto each target of a wiring whose weights are all the same, modulo 256.
// The sums of |weight| that lie in memory far apart are so reached once for 256 synapses, and at the end.
type counts struct {
	list   []uint8 // by place among the part's targets; nil: not counted first
	dealer dealer
	first  uint32 // neuron of all targets
	ahead  uint32 // neurons of the part before it
}

// countsFirst says that the synapses of a wiring onto a part, the one to build or the whole, are counted first: where they are many onto
// each target. Either way it is the synapses of the part to build beside which counts must be small.
func (p *plan) countsFirst(w *wiring, part Part) bool {
	const least = 4 // synapses onto a target, for each goroutine
	if w.rule == nil || w.weights != nil || w.whole != nil || p.divided(w) || w.weight.Kind != genome.Const {
		return false
	}
	n, _ := w.total(p.part)
	return n >= least*mul(uint64(p.workers), w.own(part))
}

// own is how many of the targets a part has.
func (w *wiring) own(part Part) uint64 {
	return uint64(part.Count(w.to.End()) - part.Count(w.to.First))
}

// newCounts are those of a goroutine, by wiring, of synapses onto a part.
func (p *plan) newCounts(part Part) []counts {
	list := make([]counts, len(p.wirings))
	for i := range list {
		if w := &p.wirings[i]; p.countsFirst(w, part) {
			list[i] = counts{make([]uint8, w.own(part)), part.dealer(), w.to.First, part.Count(w.to.First)}
		}
	}
	return list
}

// add counts synapses onto targets.
func (c *counts) add(targets []uint32, sums []uint64, weight uint64) {
	list, dealer := c.list, c.dealer
	if dealer.of == 1 { // where a target's place is itself; one loop for both takes 1.1 ns a synapse longer
		for _, t := range targets {
			if list[t]++; list[t] == 0 {
				atomic.AddUint64(&sums[t], 256*weight)
			}
		}
		return
	}
	for _, t := range targets {
		k := dealer.place(c.first+t) - c.ahead
		if list[k]++; list[k] == 0 {
			atomic.AddUint64(&sums[t], 256*weight)
		}
	}
}

// addCounts adds what all goroutines have counted of a part to the sums, at a scale.
func (p *plan) addCounts(sums []uint64, all [][]counts, part Part, scale float64) {
	for i := range p.wirings {
		w := &p.wirings[i]
		weight := w.alike(scale)
		for k := range all {
			counted := &all[k][i]
			if counted.list == nil {
				continue
			}
			own := sums[w.port(0, weight):]
			spans(p.workers, uint64(len(counted.list)), 1<<14, func(_ int, lo, hi uint64) {
				for place := lo; place < hi; place++ {
					t := part.Neuron(counted.ahead+uint32(place)) - counted.first
					own[t] += uint64(counted.list[place]) * magnitude(weight)
				}
			})
		}
	}
}
