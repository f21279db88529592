package cpu

import (
	"math/bits"

	"burst/connectome"
)

// eventful is a group of a model with Event: a cell a neuron, which only an input touches.
type eventful struct {
	cells []cell
	decay []float32
}

// cell is a neuron's V after its last input, and the burst of that input, or where the neuron fired then the last one of its silence.
// It is modulo 2^32; renew keeps it from being taken for a later one.
type cell struct {
	v    float32
	last uint32
}

// renewed is how often, in bursts, cells that have been silent for long are renewed: often enough for differences of 32 bits.
const renewed = 1 << 24

func prepareEvent(_ *worker, g *group) {
	g.eventful = &eventful{cells: make([]cell, g.hi-g.lo), decay: g.area.Decay}
}

// updateEvent is step 4 of lif_event for the group's candidates.
func (w *worker) updateEvent(g *group) {
	e, t, scale, k := g.eventful, uint32(w.now), float32(w.b.c.Scale), g.k
	if w.now%renewed == 0 {
		e.renew(t)
	}
	acc := w.acc[g.slot : g.slot+g.run]
	for _, h := range w.found(g, 0, true) {
		for m := h.mask; m != 0; m &= m - 1 {
			i := h.block*64 + uint32(bits.TrailingZeros64(m))
			sum := acc[i]
			acc[i] = 0 // 7
			c := &e.cells[i]
			age := int32(t - c.last)
			if age <= 0 { // 4a
				continue
			}
			if g.differ {
				g.load(w.b.index(g.area, g.lo+i))
			}
			v := float32(c.v*e.decay[min(int(age), len(e.decay)-1)]) + float32(sum)/scale // 4b, 4c
			c.v, c.last = v, t
			if v >= k[0] { // 4d
				c.v, c.last = k[1], t+uint32(k[2])
				g.fired = append(g.fired, w.b.own.Neuron(g.lo+i))
			}
		}
	}
}

// renew brings the last inputs of before burst t − MostAge there, from where on nobody counts.
func (e *eventful) renew(t uint32) {
	for i := range e.cells {
		if c := &e.cells[i]; int32(t-c.last) > connectome.MostAge {
			c.last = t - connectome.MostAge
		}
	}
}

// read fills the state of the group's neurons, as burst t − 1 left them.
func (e *eventful) read(t uint32, v []float32, r, count []uint16) {
	for i, c := range e.cells {
		age := int32(t - 1 - c.last)
		v[i], r[i], count[i] = c.v, uint16(max(-age, 0)), uint16(min(max(age, 0), connectome.MostAge))
	}
}

// write takes the state of the group's neurons before burst t.
func (e *eventful) write(t uint32, v []float32, r, count []uint16) {
	for i := range e.cells {
		e.cells[i] = cell{v[i], t - 1 + uint32(r[i]) - uint32(count[i])}
	}
}

// settleEvents brings what cells hold to the arrays of the state.
func (b *backend) settleEvents() {
	for _, w := range b.workers {
		for k := range w.groups {
			if g := &w.groups[k]; g.eventful != nil {
				g.read(uint32(b.number), b.v[g.lo:g.hi], b.r[g.lo:g.hi], b.count[g.lo:g.hi])
			}
		}
	}
}

// fading is the potential of the neuron of a cell after burst t.
func (e *eventful) fading(a *connectome.Area, cell, t uint32) float32 {
	c := &e.cells[cell]
	return a.Potential(c.v, uint16(min(max(int32(t-c.last), 0), connectome.MostAge)))
}
