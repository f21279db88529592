package cpu

import (
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
)

// eventCurrents are the cells of a group of lif_psc_exp_event. A neuron is looked at in bursts with an input, and in all others as long
// as it is alert: that is while its potential may come to threshold without one.
type eventCurrents struct {
	area  *connectome.Area
	cells []currentCell
	alert []uint64   // one bit a neuron
	due   []uint64   // scratch: one bit a candidate
	spans []span     // of Decay's rows: 1, 2…3, 4…7 and so on
	whole [2]float32 // mV that a pA of each current adds in all, to a V that does not decay; ∞ where tau_syn is not well below tau
}

// currentCell is like vector.Cell.
type currentCell struct {
	v, ex, in float32
	last      uint32
}

func prepareEventCurrents(_ *worker, g *group) {
	words := g.run / 64
	g.event = &eventCurrents{g.area, make([]currentCell, g.hi-g.lo), make([]uint64, words), make([]uint64, words), spansOf(g.area), wholeOf(g.area)}
}

// span bounds FactorV, FromEx and FromIn in a span of rows, and in all rows from its first one on.
type span struct{ least, most, later [3]float32 }

func spansOf(a *connectome.Area) []span {
	rows := len(a.Decay) / len(a.DecayOver(0))
	list := make([]span, bits.Len(uint(rows-1)))
	for i := range list {
		s := &list[i]
		s.least = [3]float32{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
		for age := 1 << i; age < min(2<<i, rows); age++ {
			row := a.DecayOver(uint16(age))
			for k, x := range [3]float32{row[connectome.FactorV], row[connectome.FromEx], row[connectome.FromIn]} {
				s.least[k], s.most[k] = min(s.least[k], x), max(s.most[k], x)
			}
		}
	}
	for i := range slices.Backward(list) {
		list[i].later = list[i].most
		if i+1 < len(list) {
			for k, x := range list[i+1].later {
				list[i].later[k] = max(list[i].later[k], x)
			}
		}
	}
	return list
}

// wholeOf is whole of an area: tau·tau_syn/(tau − tau_syn)/C, the b of V(t) = (V + b·I)·exp(−t/tau) − b·I·exp(−t/tau_syn).
func wholeOf(a *connectome.Area) (whole [2]float32) {
	tau := a.Constant("tau").Const
	for k, name := range []string{"tau_syn_ex", "tau_syn_in"} {
		whole[k] = float32(math.Inf(1))
		if s := a.Constant(name).Const; s < 0.9*tau {
			whole[k] = tau * s / (tau - s) / a.Constant("capacity").Const
		}
	}
	return whole
}

// farBelow reports whether V stays below threshold by the sum of all that is still to come: with b and I ≥ 0 in wholeOf, V(t) is at most
// V + b·I, or 0. What rounding can add is some 1e-6 of the terms, less than the slack.
func (e *eventCurrents) farBelow(c *currentCell, threshold float32) bool {
	const slack = 1e-5
	rise := float32(0)
	if c.ex > 0 {
		rise = c.ex * e.whole[0]
	}
	if c.in > 0 {
		rise += c.in * e.whole[1]
	}
	return max(c.v+rise, 0)+slack*(max(c.v, -c.v)+rise) < threshold
}

// mayFire reports whether V can come to threshold without an input, more than so many bursts after the last one. V is a sum of rounded
// products, and rounding is monotone: so bounds that are rounded likewise hold to the last bit.
func (e *eventCurrents) mayFire(c *currentCell, age int, threshold float32) bool {
	if e.farBelow(c, threshold) {
		return false
	}
	for i := min(bits.Len(uint(age+1)), len(e.spans)) - 1; i < len(e.spans); i++ {
		s := &e.spans[i]
		if connectome.VAfter(max(c.v, 0), max(c.ex, 0), max(c.in, 0), s.later[:]) < threshold {
			return false
		}
		bound := s.most
		for k, x := range [3]float32{c.v, c.ex, c.in} {
			if x < 0 {
				bound[k] = s.least[k]
			}
		}
		if connectome.VAfter(c.v, c.ex, c.in, bound[:]) >= threshold {
			return true
		}
	}
	return false
}

// set notes whether neurons are alert.
func (e *eventCurrents) set(block int, bits uint64, alert bool) {
	e.alert[block] &^= bits
	if alert {
		e.alert[block] |= bits
	}
}

// updateEventCurrents is step 4 of lif_psc_exp_event for the group's candidates and alert neurons.
func (w *worker) updateEventCurrents(g *group) {
	e, t, scale, k, a := g.event.(*eventCurrents), uint32(w.now), float32(w.b.c.Scale), g.k, g.area
	if w.now%renewed == 0 {
		e.renew(t)
	}
	for port := range uint32(2) {
		for _, h := range w.found(g, port, true) {
			e.due[h.block] |= h.mask
		}
	}
	sums := [2][]int32{w.acc[g.slot : g.slot+g.run], w.acc[g.slot+g.run : g.slot+2*g.run]}
	for block, due := range e.due {
		e.due[block] = 0
		for m := due | e.alert[block]; m != 0; m &= m - 1 {
			bit := m & -m
			i := uint32(block)*64 + uint32(bits.TrailingZeros64(m))
			candidate := due&bit != 0
			var ex, in float32
			if candidate {
				ex, in = float32(sums[0][i])/scale, float32(sums[1][i])/scale
				sums[0][i], sums[1][i] = 0, 0 // 7
			}
			if g.differ {
				g.load(w.b.index(a, g.lo+i))
			}
			c := &e.cells[i]
			age := int32(t - c.last)
			if age <= 0 { // 4a
				if candidate {
					ahead := a.DecayOver(uint16(-age))
					c.ex += float32(ex * ahead[connectome.FactorEx])
					c.in += float32(in * ahead[connectome.FactorIn])
					e.set(block, bit, e.mayFire(c, 0, k[0]))
				}
				continue
			}
			age = min(age, connectome.MostAge)
			row := a.DecayOver(uint16(age))
			x := connectome.VAfter(c.v, c.ex, c.in, row) // 4b
			fires := x >= k[0]
			if candidate || fires { // 4c
				c.v, c.last, age = x, t, 0
				c.ex = float32(c.ex*row[connectome.FactorEx]) + ex
				c.in = float32(c.in*row[connectome.FactorIn]) + in
			}
			if fires { // 4d
				ahead := a.DecayOver(uint16(k[2]))
				c.v, c.last = k[1], t+uint32(k[2])
				c.ex, c.in = float32(c.ex*ahead[connectome.FactorEx]), float32(c.in*ahead[connectome.FactorIn])
				g.fired = append(g.fired, w.b.own.Neuron(g.lo+i))
			}
			e.set(block, bit, e.mayFire(c, int(age), k[0]))
		}
	}
}

func (e *eventCurrents) renew(t uint32) {
	for i := range e.cells {
		renewLast(&e.cells[i].last, t)
	}
}

func (e *eventCurrents) read(t uint32, s state) {
	for i, c := range e.cells {
		s.v[i], s.more[0][i], s.more[1][i] = c.v, c.ex, c.in
		s.r[i], s.count[i] = agesOf(c.last, t-1)
	}
}

func (e *eventCurrents) write(t uint32, s state) {
	for i := range e.cells {
		e.cells[i] = currentCell{s.v[i], s.more[0][i], s.more[1][i], lastOf(t-1, s.r[i], s.count[i])}
		e.alert[i/64] |= 1 << (i % 64)
	}
}

func (e *eventCurrents) reads(k, cell, t uint32) float32 {
	c, x := &e.cells[cell], connectome.Kept{}
	x.V, x.Ex, x.In = c.v, c.ex, c.in
	x.Refractory, x.Count = agesOf(c.last, t)
	return e.area.Reads(k, x)
}

// eventBytes is the memory of a group of a model with Event.
func (g *group) eventBytes() uint64 {
	n := uint64(g.hi - g.lo)
	if g.area.Variables() == 0 {
		return n*uint64(unsafe.Sizeof(vector.Cell{})) + 4*(listed+vector.Spare)
	}
	return n*uint64(unsafe.Sizeof(currentCell{})) + uint64(g.run/64)*16 + 64*uint64(unsafe.Sizeof(span{}))
}
