package cpu

import (
	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/pages"
)

// eventful is what a group of a model with Event stores in place of its part of the state: a cell a neuron.
type eventful interface {
	// read fills the state of the group's neurons, as burst t − 1 left them.
	read(t uint32, s state)
	// write takes the state of the group's neurons before burst t.
	write(t uint32, s state)
	// reads is what the k-th variable of the neuron of a cell reads after burst t.
	reads(k, cell, t uint32) float32
	// renew brings the last inputs of before burst t − MostAge there, from where on nobody counts.
	renew(t uint32)
}

// potentials are the cells of a group of lif_event. renew keeps their bursts, modulo 2^32, from being taken for later ones.
type potentials struct {
	area  *connectome.Area
	cells []vector.Cell
	list  []uint32 // scratch
}

// listed is how many slots are looked through, and their candidates listed, at a time.
const listed = 1 << 14

// renewed is how often, in bursts, cells that have been silent for long are renewed: often enough for differences of 32 bits.
const renewed = 1 << 24

func prepareEvent(_ *worker, g *group) {
	g.event = &potentials{g.area, pages.Slice[vector.Cell](uint64(g.hi - g.lo)), make([]uint32, listed+vector.Spare)}
}

// updateEvent is step 4 of lif_event for the group's candidates.
func (w *worker) updateEvent(g *group) {
	e, t := g.event.(*potentials), uint32(w.now)
	if w.now%renewed == 0 {
		e.renew(t)
	}
	w.setEvent(g)
	if w.looks(g) {
		w.forget(g, 0)
		w.listNext()
		for lo := uint32(0); lo < g.run; lo += listed {
			w.fetchNext(g.slot+lo, g.slot+min(lo+listed, g.run))
			n := w.b.kernels.Candidates(w.acc[g.slot+lo:g.slot+min(lo+listed, g.run)], e.list)
			w.inputs(g, lo, e.list[:n])
		}
		return
	}
	for hits := w.found(g, 0, true); len(hits) > 0; {
		some, n := hits[:min(len(hits), listed/vector.Block)], 0
		hits = hits[len(some):]
		for _, h := range some {
			n = vector.Places(e.list, n, 64*h.block, h.mask)
		}
		w.inputs(g, 0, e.list[:n])
	}
}

func (w *worker) setEvent(g *group) {
	w.eventConstants = vector.Event{
		Scale: float32(w.b.c.Scale), Threshold: g.k[0], Reset: g.k[1], Refractory: uint32(g.k[2]), Now: uint32(w.now), Decay: g.area.Decay,
	}
}

// inputs updates neurons that have an input: list counts them from the group's neuron lo.
func (w *worker) inputs(g *group, lo uint32, list []uint32) {
	cells, acc := g.event.(*potentials).cells[lo:], w.acc[g.slot+lo:g.slot+g.run]
	for len(list) > 0 {
		some := list
		if g.differ {
			some = list[:1]
			g.load(w.b.index(g.area, g.lo+lo+some[0]))
			w.setEvent(g)
		}
		list = list[len(some):]
		for _, i := range some[:w.b.kernels.Event(&w.eventConstants, cells, acc, some)] {
			g.fired = append(g.fired, w.b.own.Neuron(g.lo+lo+i))
		}
	}
}

func (e *potentials) renew(t uint32) {
	for i := range e.cells {
		renewLast(&e.cells[i].Last, t)
	}
}

func renewLast(last *uint32, t uint32) {
	if int32(t-*last) > connectome.MostAge {
		*last = t - connectome.MostAge
	}
}

func (e *potentials) read(t uint32, s state) {
	for i, c := range e.cells {
		s.v[i] = c.V
		s.r[i], s.count[i] = agesOf(c.Last, t-1)
	}
}

func (e *potentials) write(t uint32, s state) {
	for i := range e.cells {
		e.cells[i] = vector.Cell{V: s.v[i], Last: lastOf(t-1, s.r[i], s.count[i])}
	}
}

func (e *potentials) reads(k, cell, t uint32) float32 {
	c, x := &e.cells[cell], connectome.Kept{}
	x.V = c.V
	x.Refractory, x.Count = agesOf(c.Last, t)
	return e.area.Reads(k, x)
}

// agesOf are the bursts of silence that are left after burst t, and those since the last input.
func agesOf(last, t uint32) (r, count uint16) {
	age := int32(t - last)
	return uint16(max(-age, 0)), uint16(min(max(age, 0), connectome.MostAge))
}

// lastOf is what agesOf undoes.
func lastOf(t uint32, r, count uint16) uint32 { return t + uint32(r) - uint32(count) }

// settleEvents brings what cells hold to the state of their groups.
func (b *backend) settleEvents() {
	for _, w := range b.workers {
		for k := range w.groups {
			if g := &w.groups[k]; g.event != nil {
				g.event.read(uint32(b.number), g.state)
			}
		}
	}
}
