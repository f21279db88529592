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
	parts := threads(c, wanted)
	total, single := uint64(c.Neurons)*uint64(4+2+2+4*c.Variables()), 0
	if list := delays(c); len(list) == 1 {
		single = list[0]
	}
	var units atomic.Uint64
	var wg sync.WaitGroup
	for i := range parts {
		p := &part{b: &backend{c: c}}
		total += p.bytes(uint64(p.deal(i, parts)))
		wg.Go(func() {
			n, _, _ := newEncoder(c, p.portSpans()).measure(single, 1)
			units.Add(n)
		})
	}
	wg.Wait()
	return total + 2*units.Load() + 8*uint64(parts)*uint64(c.Neurons+1)
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
