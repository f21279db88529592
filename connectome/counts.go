package connectome

import (
	"sync/atomic"

	"burst/genome"
)

// counts are how many synapses a goroutine has made onto each target of a wiring whose weights are all the same, modulo 256.
// The sums of |weight| that lie in memory far apart are so reached once for 256 synapses, and at the end.
type counts []uint8

// countsFirst says that the synapses of a wiring are counted first: where they are many onto each target.
func (p *plan) countsFirst(w *wiring) bool {
	const least = 4 // synapses onto a target, for each goroutine
	if w.rule == nil || w.weights != nil || w.whole != nil || p.divided(w) || w.weight.Kind != genome.Const {
		return false
	}
	n, _ := w.total(p.part)
	return n >= least*mul(uint64(p.workers), uint64(w.to.Count))
}

// newCounts are those of a goroutine, by wiring.
func (p *plan) newCounts() []counts {
	list := make([]counts, len(p.wirings))
	for i := range list {
		if w := &p.wirings[i]; p.countsFirst(w) {
			list[i] = make(counts, w.to.Count)
		}
	}
	return list
}

// add counts synapses onto targets.
func (c counts) add(targets []uint32, sums []uint64, weight uint64) {
	for _, t := range targets {
		if c[t]++; c[t] == 0 {
			atomic.AddUint64(&sums[t], 256*weight)
		}
	}
}

// addCounts adds what all goroutines have counted to the sums, at a scale.
func (p *plan) addCounts(sums []uint64, all [][]counts, scale float64) {
	for i := range p.wirings {
		w := &p.wirings[i]
		weight := w.alike(scale)
		for k := range all {
			counted := all[k][i]
			if counted == nil {
				continue
			}
			own := sums[w.port(0, weight):][:len(counted)]
			spans(p.workers, uint64(len(own)), 1<<14, func(_ int, lo, hi uint64) {
				for t := lo; t < hi; t++ {
					own[t] += uint64(counted[t]) * magnitude(weight)
				}
			})
		}
	}
}
