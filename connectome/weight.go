package connectome

import (
	"math"

	"burst/genome"
	"burst/internal/exact"
)

// total is that of the rule with what the part and attractivity leave of it: exact, or eight standard deviations below the
// mean.
func (w *wiring) total(part Part) (synapses uint64, isExact bool) {
	n, isExact := w.share(part)
	switch w.keep {
	case 0:
		return 0, true
	case 100:
		return n, isExact
	}
	return surely(float64(float64(n) * float64(w.keep) / 100)), false
}

// surely is eight standard deviations below the mean of a number of independent choices.
func surely(mean float64) uint64 {
	return uint64(max(0, min(mean-float64(8*math.Sqrt(mean))-1, 1<<63)))
}

// share is how many synapses the rule makes onto a part: exact, or a number that is surely not more.
func (w *wiring) share(part Part) (synapses uint64, isExact bool) {
	n, isExact := w.rule.total()
	if part.Whole() {
		return n, isExact
	}
	own := w.own(part)
	switch r := w.rule.(type) {
	case *allToAll:
		return mul(own, r.others(r.sources)), true
	case *degree:
		return mul(own, r.k), true
	case *outdegree, *totalNumber, *distinctPairs, *bernoulli:
		return surely(float64(float64(n) / float64(max(1, w.to.Count)) * float64(own))), false
	}
	return 0, n == 0 && isExact // where the synapses of a source lie together, a part may have none
}

// known is the rule where the number of synapses of each source onto a part is known beforehand.
func (w *wiring) known(part Part) (counted, bool) {
	if w.keep < 100 || !part.Whole() {
		return nil, false
	}
	r, ok := w.rule.(counted)
	return r, ok
}

// attracts draws whether a synapse is made.
func (w *wiring) attracts(ordinal uint64) bool {
	x, _ := exact.Words(w.ends.seed, exact.Attractivity, ordinal, w.ends.stream)
	return below(x, 100) < w.keep
}

// varies says that the weight is not the same for all synapses.
func (w *wiring) varies() bool {
	return w.weights != nil || w.out != nil || w.weight.Kind != genome.Const
}

// alike is the weight of all synapses at a scale, where that does not vary.
func (w *wiring) alike(scale float64) int64 { return quanta(float64(w.weight.A*w.factor), scale) }

// quanta is the weight of a synapse; false when no attempt fell inside the bounds.
func (w *wiring) quanta(source uint32, ordinal uint64, scale float64) (q int64, ok bool) {
	if w.weights != nil {
		return quanta(w.weights[ordinal], scale), true
	}
	x, ok := w.weight.at(ordinal)
	x = float64(x * w.factor)
	if w.out == nil {
		return quanta(x, scale), ok
	}
	return shares(x, scale, w.out[source]), ok
}

// shares is value·scale/among, rounded up in magnitude, so that all shares together are no less than the whole; ±overflow
// where int32 could not hold it.
func shares(value, scale float64, among uint64) int64 {
	whole := math.Abs(float64(value * scale))
	up := math.Floor(whole)
	if up < whole {
		up++
	}
	if up > 1<<62 {
		up = 1 << 62
	}
	q := (uint64(up) + among - 1) / among
	if up == 1<<62 || q > math.MaxInt32 {
		q = overflow
	}
	if value < 0 {
		return -int64(q)
	}
	return int64(q)
}

// divides says that the weights of some area are divided.
func (p *plan) divides() bool {
	for i := range p.wirings {
		if p.divided(&p.wirings[i]) {
			return true
		}
	}
	return false
}

// divided says that the weights of a wiring are divided; those that stand in a list are final. A wiring that
// is not prepared yet has no projection.
func (p *plan) divided(w *wiring) bool {
	return w.p != nil && w.weights == nil && w.whole == nil && p.g.Areas[w.p.From].DividePSP
}

// countOut counts the synapses of every neuron whose area divides by them.
func (p *plan) countOut() {
	if !p.divides() {
		return
	}
	p.out = make([]uint64, p.neurons)
	p.tallyRows(p.out, p.divided, Part{}, &meter{}) // of all parts
	for i := range p.wirings {
		if w := &p.wirings[i]; p.divided(w) {
			w.out = p.out[w.from.First:w.from.End()]
		}
	}
}
