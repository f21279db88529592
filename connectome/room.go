package connectome

import (
	"math"
	"slices"

	"burst/genome"
	"burst/internal/quanta"
)

// bounds sets the bounds of weights that change.
func (w *wiring) bounds(low, high float32) {
	w.low, w.high, w.below, w.above = low, high, low, high
}

// fails says that a projection may end the run in place of being refused.
func (w *wiring) fails() bool { return w.learns != nil && w.learns.Fail }

// mayFail says that there is one.
func (p *plan) mayFail() bool {
	return slices.ContainsFunc(p.wirings, func(w wiring) bool { return w.fails() })
}

// halves says that half the scale is a whole number at which all that the network starts with is whole quanta too, so that it does
// the same until it learns.
func (p *plan) halves() bool {
	whole := func(x float64) bool { return float64(x*(p.scale/2)) == math.Trunc(float64(x*(p.scale/2))) }
	if p.out != nil || !whole(1) {
		return false
	}
	for i := range p.wirings {
		if w := &p.wirings[i]; w.varies() || !whole(float64(w.weight.A*w.factor)) {
			return false
		}
	}
	for i := range p.g.Areas {
		for k := range p.g.Areas[i].Drives {
			if d := &p.g.Areas[i].Drives[k]; d.Kind == genome.Noise || !whole(d.Weight) || slices.ContainsFunc(d.Weights, func(x float64) bool { return !whole(x) }) || p.g.Areas[i].Model.Term == nil && (d.Factor != nil || !whole(d.Value)) {
				return false
			}
		}
	}
	for i := range p.stimuli {
		if slices.ContainsFunc(p.stimuli[i].Amounts, func(x float64) bool { return !whole(x) }) {
			return false
		}
	}
	return true
}

// settleBounds cuts the bounds of projections that may fail to what there is room for. Each synapse keeps what the largest of its
// projection starts with. What all inputs then leave of autoBound at a port goes in equal shares to the synapses onto it that may
// fail, and the least such share is what the weights of a projection may grow by. A weight that passes a bound that has been cut
// becomes NaN.
func (p *plan) settleBounds() {
	if !p.mayFail() {
		return
	}
	onto := make([]uint64, p.inputs)
	sinks := make([]sink, p.workers)
	for i := range sinks {
		sinks[i] = lowCounter(onto)
	}
	p.draw(sinks, (*wiring).fails, Part{})
	starts := p.largest(func(w *wiring, source, _ uint32, q int64) int64 { return int64(w.bound(source, q, p.scale)) })
	for i := range p.wirings {
		p.wirings[i].start = uint64(starts[i])
	}
	taken := p.sums(p.scale)
	short := p.largest(func(w *wiring, _, target uint32, _ int64) int64 { // of autoBound
		port := w.port(target, 0, 0)
		return autoBound - int64((autoBound-min(autoBound, taken[port]))/onto[port])
	})
	for i := range p.wirings {
		if w := &p.wirings[i]; w.fails() {
			w.cut(int64(w.start)+autoBound-short[i], p.scale)
		}
	}
}

// largest is the largest number that a function has of the synapses of each projection that may fail, or 0.
func (p *plan) largest(of func(w *wiring, source, target uint32, quanta int64) int64) []int64 {
	found, sinks := make([][]int64, p.workers), make([]sink, p.workers)
	for i := range sinks {
		found[i] = make([]int64, len(p.wirings))
		sinks[i] = &largest{found[i], of, p.scale}
	}
	p.draw(sinks, (*wiring).fails, Part{})
	for _, list := range found[1:] {
		for i, x := range list {
			found[0][i] = max(found[0][i], x)
		}
	}
	return found[0]
}

// largest is a goroutine's part of that.
type largest struct {
	found []int64 // by wiring
	of    func(w *wiring, source, target uint32, quanta int64) int64
	scale float64
}

func (l *largest) take(w *wiring, b *batch) {
	for i, t := range b.target[:b.n] {
		q, _ := w.quanta(b.source[i], t, b.ordinal[i], l.scale)
		l.found[w.slot] = max(l.found[w.slot], l.of(w, b.source[i], t, q))
	}
}

// cut brings the bounds down to weights that deliver no more than so many quanta, lifted.
func (w *wiring) cut(room int64, scale float64) {
	w.settled = true
	least := uint64(math.MaxInt32) // number of synapses that a source's weights are divided by
	for _, n := range w.out {
		if n > 0 {
			least = min(least, n)
		}
	}
	weight := func(room int64) float32 {
		most := uint64(room / max(1, w.lifting))
		if w.drives > 0 { // then it is multiplied by an amplitude
			most = mul(most, uint64(scale)) / uint64(max(1, quanta.Of(w.drives, scale)))
		}
		if w.out != nil {
			most = min(mul(most, least), autoBound) // a weight is an int32 of quanta before it is divided
		}
		x := float32(float64(most) / scale)
		for bounded(x, scale) > int64(most) {
			x = math.Nextafter32(x, 0)
		}
		return x
	}
	nan := float32(math.NaN())
	if x := weight(room); x < w.high {
		w.high, w.above = x, nan
	}
	if w.lifting > 0 {
		room-- // amounts ≤ 0 are one more when they are lifted
	}
	if x := weight(room); w.low < -x {
		w.low, w.below = -x, nan
	}
}
