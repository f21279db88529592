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
}

func newBernoulli(e ends, p float64) *bernoulli {
	r := &bernoulli{ends: e, p: p, every: p >= 1}
	if !r.every {
		r.log = exact.Log1p(-p)
	}
	return r
}

// total is exact for p = 0 and 1; else eight standard deviations below the mean, which no draw in practice undercuts.
func (r *bernoulli) total() (uint64, bool) {
	pairs := float64(mul(r.sources, r.others(r.targets)))
	switch {
	case r.p <= 0:
		return 0, true
	case r.every:
		return mul(r.sources, r.others(r.targets)), true
	}
	mean := float64(pairs * r.p)
	least := mean - float64(8*math.Sqrt(mean)) - 1
	if least >= 1<<63 {
		return math.MaxUint64, false
	}
	return uint64(max(0, least)), false
}

func (r *bernoulli) units() uint64 {
	if r.p <= 0 {
		return 0
	}
	return r.sources
}

func (r *bernoulli) wire(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		first := s * r.targets
		for t := r.jump(first, 0); t < r.targets; t = r.jump(first, t+1) {
			if !r.noSelf || s != t {
				b.add(s, t, first+t)
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
	x, _ := r.draw(first + t)
	gap := math.Floor(exact.Log(1-exact.Uniform(x)) / r.log)
	if gap >= float64(r.targets-t) {
		return r.targets
	}
	return t + uint64(gap)
}
