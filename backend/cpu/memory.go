package cpu

import (
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/pages"
)

// Memory is the number of bytes that Open allocates for c and a number of threads (0: all processors): rows, sums, marks
// and state. The connectome itself, which the backend keeps, and the spikes of bursts are not counted.
func Memory(c *connectome.Connectome, wanted int) uint64 {
	list := dealt(c, wanted)
	runs := runsOf(c, delays(c, len(list)), list)
	return withRows(c, list, newOwners(c, list, runs).bytes(), func(slots uint64) uint64 {
		return 4 * slots * uint64(runs.sums())
	})
}

// MemoryAtMost is an upper bound of Memory that is computed without reading the synapses. A synapse takes at most 8 bytes,
// and a run a header of at most 12, or 18 with several delays. A run of one synapse takes 12 in all, and one of two 28.
func MemoryAtMost(c *connectome.Connectome, wanted int) uint64 {
	list := dealt(c, wanted)
	n, runs := c.Synapses(), uint64(c.Neurons)*uint64(len(list))
	rows := min(14*n, 8*n+12*runs)
	if !c.Delay.None() {
		rows = min(18*n, 8*n+18*runs*uint64(c.MaxDelay))
	}
	if n > 0 {
		rows += 8 * uint64(len(list)) * uint64(c.Neurons+1)
	}
	rows += rows/2 + n/4096 // rooms, and long runs have several headers
	return withRows(c, list, rows, func(slots uint64) uint64 {
		return max(4*slots, min(4*slots*uint64(c.MaxDelay), mostSums))
	})
}

// dealt returns the workers that Open makes, without their memory.
func dealt(c *connectome.Connectome, wanted int) []*worker {
	n, moving := threads(c, wanted), makeMoving(c)
	list := make([]*worker, n)
	for i := range list {
		list[i] = &worker{b: &backend{c: c, own: c.Part, moving: moving}}
		list[i].deal(i, n)
	}
	return list
}

// withRows adds the bytes of everything else to those of the rows and their places. sums are those of the sums of a worker with so many slots.
func withRows(c *connectome.Connectome, list []*worker, rows uint64, sums func(slots uint64) uint64) uint64 {
	total := rows
	for i := range c.Areas {
		total += 1024 * uint64(len(c.Areas[i].Drives)) // searches in tables of thresholds
	}
	for _, w := range list {
		total += w.bytes() + sums(uint64(w.slots))
	}
	if c.Driven != nil {
		total += uint64(len(list)) * drivenBytes(c.Driven)
	}
	for i := range c.Plastic {
		total += learningBytes(c, i, list)
	}
	return total + uint64(unsafe.Sizeof([]uint32{}))*uint64(c.Queues()) + engine.MemoryBytes(c)
}

// learningBytes is the memory of a plastic projection and its shares, without the spikes on their way and without what it shares with
// projections before it.
func learningBytes(c *connectome.Connectome, i int, list []*worker) uint64 {
	b, p := list[0].b, &c.Plastic[i]
	sources, workers := uint64(p.From.Count), uint64(len(list))
	total := p.Synapses() * uint64(4+4*len(p.Synapse))
	with := func(same func(a, b *connectome.Plastic) bool) bool {
		for k := range i {
			if same(&c.Plastic[k], p) {
				return true
			}
		}
		return false
	}
	if !with(sameSources) {
		each := uint64(8 + 4*len(p.Pre) + 4*len(p.Source)) // of a source
		total += sources * each
		if uint64(p.Least()) < uint64(c.Queues()) {
			total += sources * each
		}
		volleys := uint64(max(1, p.Longest)) - uint64(p.Least()) + 1
		total += volleys * (uint64(unsafe.Sizeof(volley{})) + uint64(unsafe.Sizeof([]float32{}))*uint64(len(p.Pre)+len(p.Source)))
	}
	posts := !with(sameTargets)
	if posts && !(&learning{b: b, p: p}).together() {
		total += uint64(b.span(p.To).Count) * uint64(8+4*len(p.Post))
	}
	if p.Delay.None() {
		total += 2 * sources * (workers - 1)
	} else {
		total += workers * uint64(p.Longest) * uint64(unsafe.Sizeof([]trip{}))
	}
	if p.Window.Kind != genome.WindowNone {
		total += windowBytes(p)
	}
	total += handlerBytes(p.OnSource) * (workers + 1)
	for _, w := range list {
		total += shareBytes(p)
		if !with(sameScratch) {
			total += blockBytes(p)
		}
		if posts {
			total += postsBytes(p, w.groupOf(p))
		}
	}
	return total
}

// shareBytes is the memory of a worker's share but for what it has of targets.
func shareBytes(p *connectome.Plastic) uint64 {
	total := uint64(unsafe.Sizeof(pairing{})) + uint64(len(p.Pre)+len(p.Post))*uint64(unsafe.Sizeof(vector.Table{}))
	for _, h := range []*connectome.Handler{p.OnPost, p.OnPre, p.Every, p.When} {
		total += handlerBytes(h)
	}
	return total
}

// postsBytes is the memory of a worker's share of targets.
func postsBytes(p *connectome.Plastic, g *group) uint64 {
	n := uint64(g.hi - g.lo)
	total := 4 * n * uint64(1+len(p.Post))
	if readsPostToo(p) {
		total += n
	}
	if p.OnPost != nil {
		total -= 4 * n * uint64(min(1, len(p.Post))) // heads have the first trace
		slots := n + uint64(spareSlots(uint32(n)))
		total += 16 + slots*uint64(16+4+4*perSlot*len(asksOf(p.OnPost))) + n + 8*max(n, 16)
	}
	if p.Every != nil {
		total += 8 * n
	}
	return total
}

// bytes is the memory of a worker without its rows and sums.
func (w *worker) bytes() uint64 {
	total := uint64(w.slots / 8) // marks
	longest := uint64(0)
	for i := range w.groups {
		g := &w.groups[i]
		longest = max(longest, uint64(g.run))
		if g.area.Model.Event != "" {
			total += g.eventBytes()
		}
		total += uint64(unsafe.Sizeof(*g)) + g.trains.bytes()
	}
	return total + w.ownBytes() + pages.OwnSlack + longest/64*uint64(unsafe.Sizeof(hit{}))
}
