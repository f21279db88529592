package connectome

import (
	"burst/internal/quanta"
)

// startScale is the largest scale unit·2^k with k ≤ best at which checkStart has nothing against the weights of projections that learn; with
// k = best if it has at each.
func (p *plan) startScale(unit float64, best int) float64 {
	largest := float64(unit * pow2(best))
	if p.startable(largest)[0] {
		return largest
	}
	var scales []float64
	for k := range best {
		scales = append(scales, float64(unit*pow2(k)))
	}
	can := p.startable(scales...)
	for k := best - 1; k >= 0; k-- {
		if can[k] {
			return scales[k]
		}
	}
	return largest
}

// startable says of each of some scales whether all weights that learn can start from their quanta.
func (p *plan) startable(scales ...float64) []bool {
	can, sinks := make([]bool, len(scales)), make([]sink, p.workers)
	for i := range sinks {
		sinks[i] = &starter{scales: scales, cannot: make([]bool, len(scales))}
	}
	p.draw(sinks, func(w *wiring) bool { return w.learns != nil && w.varies() }, Part{})
	for k, scale := range scales {
		can[k] = true
		for _, s := range sinks {
			can[k] = can[k] && !s.(*starter).cannot[k]
		}
		for i := range p.wirings {
			if w := &p.wirings[i]; w.learns != nil && !w.varies() {
				can[k] = can[k] && w.startsFrom(w.constant(scale), scale)
			}
		}
	}
	return can
}

// startsFrom says that a synapse can start from a weight in quanta.
func (w *wiring) startsFrom(q int64, scale float64) bool {
	whole := int32(scale)
	return quanta.Magnitude(q) < quanta.Overflow && keeps(int32(q), whole) && within(float32(q)/float32(whole), w.low, w.high)
}

// starter is a goroutine's part of startable.
type starter struct {
	valuer
	scales []float64
	cannot []bool // at each scale
}

func (s *starter) take(w *wiring, b *batch) {
	for i, x := range s.amounts(w, b) {
		for k, scale := range s.scales {
			s.cannot[k] = s.cannot[k] || !w.startsFrom(w.round(x, b.source[i], scale), scale)
		}
	}
}
