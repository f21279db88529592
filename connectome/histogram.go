package connectome

import (
	"math"
	"sync/atomic"

	"burst/genome"
)

// histogram is how many synapses a goroutine has made onto each target of a wiring whose weights are all the same, modulo 256.
// The sums of |weight| that lie in memory far apart are so reached once for 256 synapses, and at the end.
//
// Where weights are drawn, it is the sum of what these add instead, which goes to the sums as soon as 32 bits do not hold it.
type histogram struct {
	list   []uint8  // by place among the part's targets; nil: there is none
	drawn  []uint32 // likewise, of drawn weights
	port   uint32   // of the first target, that most of the drawn weights go to
	dealer dealer
	first  uint32 // neuron of all targets
	ahead  uint32 // neurons of the part before it
}

// hasHistogram says that the synapses of a wiring onto a part, the one to build or the whole, are counted by target: where they are many
// onto each. Either way it is the synapses of the part to build beside which a histogram must be small.
func (p *plan) hasHistogram(w *wiring, part Part) bool {
	const least = 4 // synapses onto a target, for each goroutine and byte
	if _, known := w.onto(); known || w.weights != nil || w.chosen != nil || w.whole != nil || p.divided(w) {
		return false
	}
	n, _ := w.estimate(p.part)
	return n >= least*mul(uint64(p.workers), mul(w.own(part), w.eachCounted()))
}

// eachCounted is the bytes of a target in a histogram.
func (w *wiring) eachCounted() uint64 {
	if w.weight.Kind == genome.Const {
		return 1
	}
	return 4
}

// own is how many of the targets a part has.
func (w *wiring) own(part Part) uint64 {
	return uint64(part.Count(w.to.End()) - part.Count(w.to.First))
}

// newHistograms are those of a goroutine, by wiring, of synapses onto a part.
func (p *plan) newHistograms(part Part) []histogram {
	list := make([]histogram, len(p.wirings))
	for i := range list {
		w := &p.wirings[i]
		if !p.hasHistogram(w, part) {
			continue
		}
		h := histogram{dealer: part.dealer(), first: w.to.First, ahead: part.Count(w.to.First)}
		if w.weight.Kind == genome.Const {
			h.list = make([]uint8, w.own(part))
		} else {
			h.drawn, h.port = make([]uint32, w.own(part)), w.usualPort()
		}
		list[i] = h
	}
	return list
}

// add counts synapses onto targets.
func (c *histogram) add(targets []uint32, sums []uint64, weight uint64) {
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

// usualPort is the port of the first target that a weight of the mean's sign goes to.
func (w *wiring) usualPort() uint32 {
	if float64(w.weight.Mean()*w.factor) < 0 {
		return w.port(0, -1, 0)
	}
	return w.port(0, 1, 0)
}

// put adds to the sum of a target, whose port is c.port + t.
func (c *histogram) put(t uint32, x uint64, sums []uint64) {
	k := t
	if c.dealer.of != 1 {
		k = c.dealer.place(c.first+t) - c.ahead
	}
	if x += uint64(c.drawn[k]); x > math.MaxUint32 {
		atomic.AddUint64(&sums[c.port+t], x)
		x = 0
	}
	c.drawn[k] = uint32(x)
}

// addHistograms adds what all goroutines have counted of a part to the sums, at a scale, and what is known without counting.
func (p *plan) addHistograms(sums []uint64, values []valuer, part Part, scale float64) {
	for i := range p.wirings {
		w := &p.wirings[i]
		weight := w.constant(scale)
		if n, known := w.onto(); known {
			own, each := sums[w.port(0, weight, 0):], n*w.bound(0, weight, scale)
			first := part.Count(w.to.First)
			spans(p.workers, w.own(part), 1<<14, func(_ int, lo, hi uint64) {
				for place := lo; place < hi; place++ {
					own[part.Neuron(first+uint32(place))-w.to.First] += each
				}
			})
			continue
		}
		for k := range values {
			h := &values[k].histograms[i]
			if h.drawn != nil {
				own := sums[h.port:]
				spans(p.workers, uint64(len(h.drawn)), 1<<14, func(_ int, lo, hi uint64) {
					for place := lo; place < hi; place++ {
						own[part.Neuron(h.ahead+uint32(place))-h.first] += uint64(h.drawn[place])
					}
				})
			}
			if h.list == nil {
				continue
			}
			own := sums[w.port(0, weight, 0):]
			spans(p.workers, uint64(len(h.list)), 1<<14, func(_ int, lo, hi uint64) {
				for place := lo; place < hi; place++ {
					t := part.Neuron(h.ahead+uint32(place)) - h.first
					own[t] += uint64(h.list[place]) * w.bound(0, weight, scale)
				}
			})
		}
	}
}
