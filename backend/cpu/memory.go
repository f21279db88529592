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
	packed, single := newPacking(c, int(maxOf(slots)), len(list)), len(delays(c)) == 1
	var segments atomic.Uint64
	var wg sync.WaitGroup
	for _, p := range list {
		wg.Go(func() {
			if !single {
				w := walker{c: c, spans: p.portSpans()}
				_, n := w.count()
				segments.Add(n + 1)
			}
		})
	}
	wg.Wait()
	perSynapse := uint64(4)
	if packed.off {
		perSynapse = 8
	}
	return withRows(c, list, slots, c.Synapses()*perSynapse+8*segments.Load())
}

// MemoryAtMost is a bound of Memory that does not look at the synapses: each has a weight of its own and begins a segment.
func MemoryAtMost(c *connectome.Connectome, wanted int) uint64 {
	list, slots := dealt(c, wanted)
	perSynapse := uint64(8)
	if c.Delay != nil {
		perSynapse += 8
	}
	return withRows(c, list, slots, c.Synapses()*perSynapse+8*uint64(len(list)))
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

func maxOf(list []uint64) uint64 {
	most := uint64(0)
	for _, x := range list {
		most = max(most, x)
	}
	return most
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
