package connectome

import (
	"math"

	"burst/internal/exact"
)

// bernoulli makes each pair with probability p: along the row of a source it jumps from synapse to synapse.
type bernoulli struct {
	ends
	p     float64
	gaps  geometric
	draws *exact.Stream
	lanes uint64 // rows that are drawn beside each other; 1: each by itself
	every bool   // p is 1
	both  bool   // a pair has both directions or none
}

func newBernoulli(_ *plan, w *wiring) (rule, error) {
	r := &bernoulli{ends: w.ends, p: w.p.P, every: w.p.P >= 1, both: w.p.Symmetric}
	if !r.every {
		r.gaps.prepare(r.p)
	}
	r.draws, r.lanes = w.ends.words(), 1
	if n := min(mostLanes, mostAhead/(r.mean()+1)); n >= leastLanes && r.p > leastChance && !r.every {
		r.lanes = n
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

// scratch is the memory of rows that are drawn beside each other.
func (r *bernoulli) scratch() uint64 {
	if r.lanes == 1 {
		return 0
	}
	return mostAtOnce * mul(r.lanes, 4*2*(r.mean()+8*root(r.mean())+8))
}

// mean is about the length of a row.
func (r *bernoulli) mean() uint64 { return uint64(float64(r.targets) * r.p) }

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
		first, start := s*r.targets, r.start(s)
		if row, ok := r.ahead(s, max(hi, b.until), b); ok {
			for _, t := range row {
				r.add(s, uint64(t), b)
			}
			continue
		}
		for t := r.jump(first, start); t < r.targets; t = r.jump(first, t+1) {
			r.add(s, t, b)
		}
	}
}

// start is the first target that the row of a source may reach.
func (r *bernoulli) start(s uint64) uint64 {
	if r.both {
		return s
	}
	return 0
}

func (r *bernoulli) add(s, t uint64, b *batch) {
	if r.noSelf && s == t {
		return
	}
	b.add(s, t, s*r.targets+t)
	if r.both && s != t {
		b.add(t, s, t*r.targets+s)
	}
}

// jump is the first target from t on that the row reaches, r.targets when there is none.
func (r *bernoulli) jump(first, t uint64) uint64 {
	if r.every || t >= r.targets {
		return t
	}
	x, _ := r.word(first + t)
	gap := r.gaps.of(x)
	if gap >= float64(r.targets-t) {
		return r.targets
	}
	return t + uint64(gap)
}

// geometric is how many pairs a row leaves out before the next one that it makes: floor(log(1−u)/log(1−p)) with u uniform in [0, 1).
type geometric struct {
	log, inverse float64 // log(1−p), negative, and 1 over it
	parts        [1 << partBits]struct{ inverse, log float64 }
}

// partBits is the number of upper bits of a mantissa that choose a part of a table of logarithms.
const partBits = 7

func (g *geometric) prepare(p float64) {
	g.log = exact.Log1p(-p)
	g.inverse = 1 / g.log
	for i := range g.parts {
		centre := 1 + (float64(i)+0.5)/(1<<partBits)
		g.parts[i].inverse, g.parts[i].log = 1/centre, exact.Log(centre)
	}
}

// of is the gap for a word. A quicker logarithm than exact.Log decides it where the quotient is not near a whole number. With the rest
// |r| ≤ 2^−8 its series leaves out less than 2^−40/4, and all roundings on both ways are less than 2^−46 of a logarithm ≤ 37 and
// 2^−50 of the quotient.
func (g *geometric) of(x uint64) float64 {
	v := 1 - exact.Uniform(x) // no rounding
	bits := math.Float64bits(v)
	m := math.Float64frombits(bits&(1<<52-1) | 1023<<52)
	part := &g.parts[bits>>(52-partBits)&(1<<partBits-1)]
	r := float64(m*part.inverse) - 1
	series := r - float64(float64(r*r)*(0.5-float64(r*(1.0/3-float64(0.25*r)))))
	log := float64(float64(int(bits>>52)-1023)*math.Ln2) + part.log + series
	gap := float64(log * g.inverse)
	floor := math.Floor(gap)
	doubt := float64(-0x1p-39*g.inverse) + float64(gap*0x1p-49)
	if gap-floor > doubt && floor+1-gap > doubt {
		return floor
	}
	return g.exactly(v)
}

// exactly is the gap for 1−u.
func (g *geometric) exactly(v float64) float64 { return math.Floor(exact.Log(v) / g.log) }
