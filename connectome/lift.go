package connectome

import (
	"math"
	"math/bits"
	"sync/atomic"

	"burst/genome"
	"burst/internal/quanta"
)

// An area that rectifies must tell input that sums to 0 from no input. So its input is lifted: an amount of q quanta is sent as
// q·M, or as q·M − 1 if q ≤ 0. M is a power of two above the number of amounts ≤ 0 that can reach a neuron in one burst. Then
// acc = sum·M − n with n < M, acc is 0 only without input, and the sum is acc/M, rounded up.

// lift is the lifted amount. by is M, or 0 if the area does not rectify.
func lift(q, by int64) int64 {
	if by == 0 || quanta.Magnitude(q) >= quanta.Overflow {
		return q
	}
	if q *= by; q <= 0 {
		q--
	}
	return q
}

// Lift is the lifted amount for an area whose constant rectify is M; 0: the area does not rectify.
func Lift(q, by int64) int64 { return lift(q, by) }

// Lift is the lifted amount for the area's neurons.
func (a *Area) Lift(quanta int64) int64 { return lift(quanta, a.lifts()) }

// Sum is the sum of quanta for a sum of lifted amounts.
func (a *Area) sum(acc int32) int32 { return Unlift(acc, a.lifts()) }

// Unlift is Sum for M, the constant rectify.
func Unlift(acc int32, by int64) int32 {
	if by == 0 {
		return acc
	}
	return int32((int64(acc) + by - 1) >> bits.TrailingZeros64(uint64(by)))
}

// lifts is M, or 0 if the area does not rectify.
func (a *Area) lifts() int64 {
	if !a.Lifted() {
		return 0
	}
	return int64(a.Constant("rectify").Const)
}

// Lifted reports whether the area rectifies.
func (a *Area) Lifted() bool {
	return a.Model.Custom == nil && a.Model.HasConstant("rectify") && a.Constant("rectify").Const != 0
}

// makeLifts finds M for each area.
func (p *plan) makeLifts() {
	p.lifts = make([]int64, len(p.areas))
	some := false
	for i := range p.g.Areas {
		if p.g.Areas[i].Params["rectify"] != 0 {
			p.lifts[i], some = 1, true
		}
	}
	if !some {
		return
	}
	low := make([]uint64, p.inputs)
	sinks := make([]sink, p.workers)
	for i := range sinks {
		sinks[i] = lowCounter(low)
	}
	p.draw(sinks, p.sendsLow, Part{})
	for i := range p.g.Areas {
		if p.lifts[i] == 0 {
			continue
		}
		most := worst(low[p.ports[i].First:p.ports[i].End()]) + uint64(len(p.stimuli)) + 1 // and what a caller injects
		for k := range p.g.Areas[i].Drives {
			most += 1
			if d := &p.g.Areas[i].Drives[k]; d.Kind == genome.Poisson {
				most += uint64(p.mostEvents(d))
			}
		}
		p.lifts[i] = 1 << bits.Len64(most)
	}
	for i := range p.wirings {
		switch w := &p.wirings[i]; {
		case w.whole != nil:
		case w.learns != nil || w.drives > 0:
			w.lifting = p.lifts[w.p.To] // lifted when they are delivered
		default:
			w.lift = p.lifts[w.p.To]
		}
	}
}

// sendsLow reports whether a wiring may have weights ≤ 0 onto an area that rectifies.
func (p *plan) sendsLow(w *wiring) bool {
	if w.whole != nil {
		return true
	}
	return p.lifts[w.p.To] != 0 && (w.learns != nil || w.drives > 0 && p.leastThreshold(w.p.From) <= 0 || w.weights != nil || w.weight.Kind != genome.Const || float64(w.weight.A*w.factor) <= 0)
}

// lowCounter counts the synapses of every port.
type lowCounter []uint64

func (c lowCounter) take(w *wiring, b *batch) {
	for i, t := range b.target[:b.n] {
		atomic.AddUint64(&c[w.port(t, 0, b.ordinal[i])], 1)
	}
}

// lifted is the lifted weight of a synapse onto a target.
func (w *wiring) lifted(t uint32, q int64) int64 {
	if w.whole != nil {
		return lift(q, w.whole.liftOf(t))
	}
	return lift(q, w.lift)
}

// liftOf is M of a neuron's area.
func (p *plan) liftOf(n uint32) int64 {
	for i, a := range p.areas {
		if a.Has(n) {
			return p.lifts[i]
		}
	}
	return 0
}

// exactScale is the least scale at which constant weights onto areas that rectify are whole quanta, if they are decimal numbers
// and the scale is not too large. Then the input is the float32 nearest to the weight, as in FEAGI. Otherwise it is 1.
func (p *plan) exactScale() uint64 {
	const most = 1 << 16
	d := uint64(1)
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.lift == 0 && w.lifting == 0 || w.varies() && w.out == nil || w.weight.Kind != genome.Const {
			continue
		}
		whole := denominator(float64(w.weight.A * w.factor))
		d = common(d, whole)
		last := uint64(0)
		for _, k := range w.out {
			if k != 0 && k != last && d <= most {
				d, last = common(d, whole*k), k
			}
		}
		if d > most {
			return 1
		}
	}
	return d
}

// denominator is the least number up to 1000 for which its product with x is whole; 1 if there is none.
func denominator(x float64) uint64 {
	for d := 1.0; d <= 1000; d++ {
		if y := float64(x * d); math.Abs(y-math.Round(y)) <= 1e-9*max(1, math.Abs(y)) {
			return uint64(d)
		}
	}
	return 1
}

// common is the least common multiple.
func common(a, b uint64) uint64 {
	x, y := a, b
	for y != 0 {
		x, y = y, x%y
	}
	return a / x * b
}
