package cpu

import (
	"burst/connectome"
	"burst/internal/memoryarea"
)

// recalled is a memory area, and which of its neurons fires in this burst.
type recalled struct {
	*memoryarea.Area
	neuron uint32
	fires  bool
}

func makeMemories(c *connectome.Connectome) (list []*recalled) {
	for _, m := range memoryarea.Of(c) {
		list = append(list, &recalled{Area: m})
	}
	return list
}

// updateMemory is step 4 of memory areas.
func (w *worker) updateMemory(g *group) {
	for _, m := range w.b.memories {
		if m.fires && m.Neurons() == g.area.Neurons && w.b.own.Owns(m.neuron) {
			if i := w.b.own.Count(m.neuron); g.lo <= i && i < g.hi {
				g.fired = append(g.fired, m.neuron)
			}
		}
	}
}
