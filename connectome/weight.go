package connectome

import (
	"math"
	"slices"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/quanta"
)

// attracts draws whether a synapse is made, by attractivity.
func (w *wiring) attracts(ordinal uint64) bool {
	x, _ := exact.Words(w.ends.seed, exact.Attractivity, ordinal, w.ends.stream)
	return below(x, 100) < w.keep
}

// varies reports whether synapses may have different weights, or ports that a list chooses.
func (w *wiring) varies() bool {
	return w.weights != nil || w.chosen != nil || w.out != nil || w.weight.Kind != genome.Const
}

// constant is the weight of all synapses at a scale, lifted, where that does not vary.
func (w *wiring) constant(scale float64) int64 {
	return lift(quanta.Of(float64(w.weight.A*w.factor), scale), w.lift)
}

// quantaExtent is an interval that holds the weights of all synapses, lifted.
func (w *wiring) quantaExtent(scale float64) (least, most int32) {
	if w.weight.Kind == genome.Distance { // a formula may give no number, too
		return -math.MaxInt32, math.MaxInt32
	}
	lo, hi := w.weight.extent()
	ends := [2]int64{quanta.Of(float64(lo*w.factor), scale), quanta.Of(float64(hi*w.factor), scale)}
	slices.Sort(ends[:])
	if w.weight.Kind != genome.Const { // products of draws may round up to a bound of theirs
		ends[0], ends[1] = ends[0]-1, ends[1]+1
	}
	return quanta.Clamp(lift(ends[0], w.lift)), quanta.Clamp(lift(ends[1], w.lift))
}

// quanta is the weight of a synapse, not lifted; false if no draw fell within the bounds.
func (w *wiring) quanta(source, target uint32, ordinal uint64, scale float64) (q int64, ok bool) {
	x, ok := w.amount(source, target, ordinal)
	return w.round(x, source, scale), ok
}

// amount is the weight of a synapse in the genome's units; false if no draw fell within the bounds.
func (w *wiring) amount(source, target uint32, ordinal uint64) (x float64, ok bool) {
	if w.weights != nil {
		return w.weights[ordinal], true
	}
	x, ok = w.weight.of(source, target, ordinal)
	return float64(x * w.factor), ok
}

// round is an amount in quanta.
func (w *wiring) round(x float64, source uint32, scale float64) int64 {
	if w.weights != nil || w.out == nil || w.learns != nil || w.drives > 0 { // what changes is divided when it is delivered
		return quanta.Of(x, scale)
	}
	return shares(x, scale, w.out[source])
}

// shares is value·scale/among, rounded up in magnitude, so that all shares together are no less than the whole; ±Overflow
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
		q = quanta.Overflow
	}
	if value < 0 {
		return -int64(q)
	}
	return int64(q)
}

// divided reports whether the weights of a wiring are divided by the number of synapses; weights from a list never are.
func (p *plan) divided(w *wiring) bool {
	return w.weights == nil && w.whole == nil && p.g.Areas[w.p.From].DividePSP
}

// countOut counts the synapses of every neuron whose area divides by them.
func (p *plan) countOut() {
	if !p.load.divides {
		return
	}
	p.out = make([]uint64, p.neurons)
	whole := Part{} // of all parts
	p.countKnown(p.out, p.divided, whole, &meter{})
	p.countDrawn(p.out, func(w *wiring) bool { return p.divided(w) && !w.rowsKnown(whole) }, whole, &meter{})
	for i := range p.wirings {
		if w := &p.wirings[i]; p.divided(w) {
			w.out = p.out[w.from.First:w.from.End()]
		}
	}
}
