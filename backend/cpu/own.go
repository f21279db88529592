package cpu

import (
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/pages"
)

// state is that of a group's neurons. more may have variables that the model does not have.
type state struct {
	v        []float32
	more     [][]float32
	r, count []uint16
}

// arena is memory of a worker's own, in pages that nobody else's memory lies in: processors fetch lines ahead to the end of a page, and a
// line that another one has fetched has to be taken back before the worker can write to it. Each list takes whole lines.
type arena []byte

// lineBytes is a line of the caches.
const lineBytes = 64

// listBytes is what a list of n items takes.
func listBytes[T any](n uint64) uint64 {
	return (n*uint64(unsafe.Sizeof(*new(T))) + lineBytes - 1) / lineBytes * lineBytes
}

// carve takes a list of n items without pointers.
func carve[T any](a *arena, n uint64) []T {
	if n == 0 {
		return nil
	}
	list := unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(*a))), n)
	*a = (*a)[listBytes[T](n):]
	return list
}

// ownBytes is the size of the worker's arena.
func (w *worker) ownBytes() (bytes uint64) {
	longest := uint32(0)
	for i := range w.groups {
		run := uint64(w.groups[i].run)
		longest = max(longest, w.groups[i].run)
		bytes += listBytes[float32](run)*uint64(1+w.b.c.Variables()) + 2*listBytes[uint16](run) + listBytes[uint64](run/64) + listBytes[uint8](run/64)
	}
	return bytes + listBytes[uint64](uint64(longest/64)) + listBytes[uint32](drawn+64) + listBytes[vector.Philox](1)
}

// makeOwn makes the memory of the worker's own, and the state of its groups there.
func (w *worker) makeOwn() {
	w.memory = pages.Own(w.ownBytes())
	a, longest := w.memory, uint32(0)
	for i := range w.groups {
		g := &w.groups[i]
		n := uint64(g.hi - g.lo)
		longest = max(longest, g.run)
		list := func() []float32 { return carve[float32](&a, uint64(g.run))[:n:n] }
		short := func() []uint16 { return carve[uint16](&a, uint64(g.run))[:n:n] }
		g.state = state{v: list(), r: short(), count: short(), more: make([][]float32, w.b.c.Variables())}
		for k := range g.more {
			g.more[k] = list()
		}
		if g.law.update == nil {
			g.blocks = blocks{carve[uint64](&a, uint64(g.run/64)), carve[uint8](&a, uint64(g.run/64))}
			g.wake()
		}
	}
	w.bits, w.hits = carve[uint64](&a, uint64(longest/64)), make([]hit, 0, longest/64)
	w.draw = carve[uint32](&a, drawn+64)
	w.dice = &carve[vector.Philox](&a, 1)[0]
	*w.dice = *vector.NewPhilox(w.b.c.RunSeed)
}

// eachGroup goes through the groups of all workers, those of an area in the order of their neurons.
func (b *backend) eachGroup(take func(g *group)) {
	for _, w := range b.workers {
		for i := range w.groups {
			take(&w.groups[i])
		}
	}
}

// gather copies numbers of the backend's own neurons into out, which has one entry per neuron of the network. Other parts' become 0.
func gather[T any](b *backend, out []T, of func(g *group) []T) []T {
	out = resized(out, int(b.c.Neurons))
	if !b.own.Whole() {
		clear(out)
	}
	b.eachGroup(func(g *group) {
		own := of(g)
		b.eachSlice(g.lo, len(own), func(i, end int, neuron uint32) { copy(out[neuron:], own[i:end]) })
	})
	return out
}

// handOut copies numbers of the backend's own neurons from all, which has one entry per neuron of the network.
func handOut[T any](b *backend, of func(g *group) []T, all []T) {
	b.eachGroup(func(g *group) {
		own := of(g)
		b.eachSlice(g.lo, len(own), func(i, end int, neuron uint32) { copy(own[i:end], all[neuron:]) })
	})
}

// eachSlice goes through n of the backend's neurons, the first of which has a local index, slice by slice: those from i to end are the
// network's from a neuron on.
func (b *backend) eachSlice(first uint32, n int, take func(i, end int, neuron uint32)) {
	if b.own.Whole() {
		take(0, n, first)
		return
	}
	for i := 0; i < n; {
		local := int(first) + i
		end := min(n, local/connectome.Slice*connectome.Slice+connectome.Slice-int(first))
		take(i, end, b.own.Neuron(uint32(local)))
		i = end
	}
}
