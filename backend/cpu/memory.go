package cpu

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"burst/connectome"
)

// Memory is how many bytes Open takes on the host for c and a number of threads (0: all processors), beside the
// connectome itself, which it keeps: rows copied for every thread, sums, marks and state. What a burst's spikes take is
// not in it.
func Memory(c *connectome.Connectome, wanted int) uint64 {
	list, slots := dealt(c, wanted)
	single := 0
	if delays := delays(c); len(delays) == 1 {
		single = delays[0]
	}
	var units atomic.Uint64
	var wg sync.WaitGroup
	for _, p := range list {
		wg.Go(func() {
			n, _, _ := newEncoder(c, p.portSpans()).measure(single, 1)
			units.Add(n)
		})
	}
	wg.Wait()
	return withRows(c, list, slots, 2*units.Load())
}

// MemoryAtMost is a bound of Memory that does not look at the synapses: each takes 8 bytes, a run at most a header of 12 and
// 6 more with delays; one alone takes 12 and two 28.
func MemoryAtMost(c *connectome.Connectome, wanted int) uint64 {
	list, slots := dealt(c, wanted)
	n, runs := c.Synapses(), uint64(c.Neurons)*uint64(len(list))
	rows := min(14*n, 8*n+12*runs)
	if c.Delay != nil {
		rows = min(18*n, 8*n+18*runs*uint64(c.MaxDelay))
	}
	return withRows(c, list, slots, rows+n/4096) // long runs have more headers
}

// dealt are the parts that Open makes, without their memory, and the slots of each.
func dealt(c *connectome.Connectome, wanted int) (list []*part, slots []uint64) {
	parts := threads(c, wanted)
	list, slots = make([]*part, parts), make([]uint64, parts)
	for i := range list {
		list[i] = &part{b: &backend{c: c, own: c.Part}}
		slots[i] = uint64(list[i].deal(i, parts))
	}
	return list, slots
}

// withRows adds to the bytes of the rows those of everything else.
func withRows(c *connectome.Connectome, list []*part, slots []uint64, rows uint64) uint64 {
	total := rows + uint64(c.Part.Count(c.Neurons))*uint64(4+2+2+4*c.Variables()) + 8*uint64(len(list))*uint64(c.Neurons+1)
	for i, p := range list {
		total += p.bytes(slots[i])
	}
	return total
}

// bytes are what a part takes beside its rows.
func (p *part) bytes(slots uint64) uint64 {
	total := 4*slots + slots/8 // sums and marks
	longest := uint64(0)
	for i := range p.groups {
		g := &p.groups[i]
		longest = max(longest, uint64(g.run))
		total += uint64(unsafe.Sizeof(*g)) + uint64(len(g.list))*uint64(unsafe.Sizeof(listed{})) + uint64(g.run/64)*9 + 1024*uint64(len(g.drives))
	}
	return total + longest/64*(8+uint64(unsafe.Sizeof(hit{})))
}
