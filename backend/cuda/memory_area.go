package cuda

import (
	"math"
	"slices"
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
	"burst/internal/memoryarea"
)

// spikeList is the kernels' number of spike lists, that of their descriptor in package genome.
const spikeList = 5

// memory is the host's part of memory areas. Before each burst it finds which of their neurons fires. For the device a memory area is a
// spike list that has one burst for each neuron, which the host writes.
type memory struct {
	areas  []*memoryarea.Area
	lists  []driver.Ptr // where the bursts of each area's neurons lie
	queues [][]uint32   // as engine.State.Queues; none where there are no memory areas
	burst  uint64       // the one that is being uploaded
}

// addMemory adds a memory area, none of whose neurons fires in any burst.
func (t *tables) addMemory(a *connectome.Area, e *area) {
	n := uint64(a.Neurons.Count)
	e.model, e.each = spikeList, uint64(len(t.numbers))
	list := e.each + n + 1
	for i := range n + 1 {
		t.numbers = append(t.numbers, list+i)
	}
	t.numbers = append(t.numbers, slices.Repeat([]uint64{math.MaxUint64}, int(n))...)
	t.memories = append(t.memories, list)
}

// startMemory finds the memory areas; a state must be written next.
func (b *backend) startMemory(t *tables) {
	m := &b.memory
	if m.areas = memoryarea.Of(b.c); len(m.areas) > 0 {
		m.queues = make([][]uint32, b.c.Queues())
	}
	for _, list := range t.memories {
		m.lists = append(m.lists, b.plan.ptr[bufNumbers]+driver.Ptr(8*list))
	}
}

// remember is step 4 of memory areas, but for what the kernels do for all sources. The caller waits before the next burst.
func (b *backend) remember() error {
	m := &b.memory
	m.burst = b.number
	for i, a := range m.areas {
		n, fires := a.Remember(b.number, func(back int) []uint32 { return m.queues[back-1] })
		if !fires {
			continue
		}
		at := m.lists[i] + driver.Ptr(8*uint64(n-a.Neurons().First))
		if err := b.stream.Upload(at, unsafe.Pointer(&m.burst), 8); err != nil {
			return err
		}
	}
	return nil
}

// keep takes the newest fire queue, of the whole network.
func (m *memory) keep(fired []uint32) {
	if len(m.queues) == 0 {
		return
	}
	oldest := m.queues[len(m.queues)-1]
	copy(m.queues[1:], m.queues)
	m.queues[0] = append(oldest[:0], fired...)
}

// replace takes the fire queue of a burst some bursts ago, in any order.
func (m *memory) replace(delay int, fired []uint32) {
	if len(m.queues) == 0 {
		return
	}
	q := append(m.queues[delay-1][:0], fired...)
	slices.Sort(q)
	m.queues[delay-1] = q
}

// read copies what memory areas keep into a state.
func (m *memory) read(s *engine.State) {
	for i, a := range m.areas {
		a.Read(&s.Memory[i])
	}
}

// writeMemory takes what memory areas keep, and the fire queues, from a state. Bursts that the device has may come once more.
func (b *backend) writeMemory(s *engine.State) error {
	m := &b.memory
	for d := range m.queues {
		m.queues[d] = append(m.queues[d][:0], s.Queues[d]...)
	}
	for i, a := range m.areas {
		a.Write(&s.Memory[i])
		if err := b.stream.Fill(m.lists[i], 255, 8*uint64(a.Neurons().Count)); err != nil {
			return err
		}
	}
	return nil
}
