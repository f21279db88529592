package cpu

import (
	"math/bits"

	"burst/connectome"
)

// eventful is what a group of a model with Event stores in place of its part of the state: a cell a neuron.
type eventful interface {
	// read fills the state of the group's neurons, as burst t − 1 left them.
	read(t uint32, s keptState)
	// write takes the state of the group's neurons before burst t.
	write(t uint32, s keptState)
	// reads is what the k-th variable of the neuron of a cell reads after burst t.
	reads(k, cell, t uint32) float32
	// renew brings the last inputs of before burst t − MostAge there, from where on nobody counts.
	renew(t uint32)
}

// keptState is a group's part of the state; more is empty for neurons without currents.
type keptState struct {
	v        []float32
	more     [][]float32
	r, count []uint16
}

// potentials are the cells of a group of lif_event, which only inputs touch.
type potentials struct {
	area  *connectome.Area
	cells []cell
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
	g.event = &potentials{g.area, make([]cell, g.hi-g.lo)}
}

// updateEvent is step 4 of lif_event for the group's candidates.
func (w *worker) updateEvent(g *group) {
	e, t, scale, k := g.event.(*potentials), uint32(w.now), float32(w.b.c.Scale), g.k
	decay := g.area.Decay
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
			v := float32(c.v*decay[min(int(age), len(decay)-1)]) + float32(sum)/scale // 4b, 4c
			c.v, c.last = v, t
			if v >= k[0] { // 4d
				c.v, c.last = k[1], t+uint32(k[2])
				g.fired = append(g.fired, w.b.own.Neuron(g.lo+i))
			}
		}
	}
}

func (e *potentials) renew(t uint32) {
	for i := range e.cells {
		renewLast(&e.cells[i].last, t)
	}
}

func renewLast(last *uint32, t uint32) {
	if int32(t-*last) > connectome.MostAge {
		*last = t - connectome.MostAge
	}
}

func (e *potentials) read(t uint32, s keptState) {
	for i, c := range e.cells {
		s.v[i] = c.v
		s.r[i], s.count[i] = agesOf(c.last, t-1)
	}
}

func (e *potentials) write(t uint32, s keptState) {
	for i := range e.cells {
		e.cells[i] = cell{s.v[i], lastOf(t-1, s.r[i], s.count[i])}
	}
}

func (e *potentials) reads(k, cell, t uint32) float32 {
	c, x := &e.cells[cell], connectome.Kept{}
	x.V = c.v
	x.Refractory, x.Count = agesOf(c.last, t)
	return e.area.Reads(k, x)
}

// agesOf are the bursts of silence that are left after burst t, and those since the last input.
func agesOf(last, t uint32) (r, count uint16) {
	age := int32(t - last)
	return uint16(max(-age, 0)), uint16(min(max(age, 0), connectome.MostAge))
}

// lastOf is what agesOf undoes.
func lastOf(t uint32, r, count uint16) uint32 { return t + uint32(r) - uint32(count) }

// settleEvents brings what cells hold to the arrays of the state.
func (b *backend) settleEvents() {
	for _, w := range b.workers {
		for k := range w.groups {
			if g := &w.groups[k]; g.event != nil {
				g.event.read(uint32(b.number), b.keptOf(g))
			}
		}
	}
}

// keptOf is the group's part of the state.
func (b *backend) keptOf(g *group) keptState {
	s := keptState{v: b.v[g.lo:g.hi], r: b.r[g.lo:g.hi], count: b.count[g.lo:g.hi]}
	for k := range g.area.Variables() {
		s.more = append(s.more, b.more[k][g.lo:g.hi])
	}
	return s
}
