package connectome

import (
	"math"

	"burst/internal/exact"
)

// bernoulli makes each pair with probability p: along the row of a source it jumps from synapse to synapse.
type bernoulli struct {
	ends
	p     float64
	log   float64 // log(1−p), negative
	every bool    // p is 1
	both  bool    // a pair has both directions or none
}

func newBernoulli(_ *plan, w *wiring) (rule, error) {
	r := &bernoulli{ends: w.ends, p: w.p.P, every: w.p.P >= 1, both: w.p.Symmetric}
	if !r.every {
		r.log = exact.Log1p(-r.p)
	}
	return r, nil
}

func (r *bernoulli) synapses(onto uint64) (least, most uint64) {
	pairs := mul(onto, r.others(r.sources))
	switch {
	case r.p <= 0:
		return 0, 0
	case r.every:
		return pairs, pairs
	}
	if r.both { // synapses come in twos
		least, most = around(float64(float64(pairs)*r.p) / 2)
		return mul(2, least), min(pairs, add(mul(2, most), 2))
	}
	least, most = around(float64(float64(pairs) * r.p))
	return least, min(pairs, most)
}

func (r *bernoulli) row(uint64) (synapses uint64, known bool) {
	return r.others(r.targets), r.every
}

func (r *bernoulli) longest() uint64 { return r.targets }
func (r *bernoulli) scattered() bool { return false }
func (r *bernoulli) scratch() uint64 { return 0 }
func (r *bernoulli) sizeKey() string { return "p" }

// unit is not a row where other sources make a part of it.
func (r *bernoulli) unit() unit {
	if r.both {
		return byTarget
	}
	return bySource
}

func (r *bernoulli) draw(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		first := s * r.targets
		start := uint64(0)
		if r.both {
			start = s
		}
		for t := r.jump(first, start); t < r.targets; t = r.jump(first, t+1) {
			if r.noSelf && s == t {
				continue
			}
			b.add(s, t, first+t)
			if r.both && s != t {
				b.add(t, s, t*r.targets+s)
			}
		}
	}
}

// jump is the first target from t on that the row reaches, r.targets when there is none: the gap is geometric,
// floor(log(u)/log(1−p)) with u uniform in (0, 1].
func (r *bernoulli) jump(first, t uint64) uint64 {
	if r.every || t >= r.targets {
		return t
	}
	x, _ := r.word(first + t)
	gap := math.Floor(exact.Log(1-exact.Uniform(x)) / r.log)
	if gap >= float64(r.targets-t) {
		return r.targets
	}
	return t + uint64(gap)
}
