package cpu

import "burst/connectome"

// portSpan is a range of ports that belongs to one worker; if the network is split, only the ports of own neurons do. In a
// whole network the slot is port − shift. In a split one port − shift is the neuron, and its slot is its local index + slot.
type portSpan struct{ lo, hi, shift, slot uint32 }

// ports returns the range of the ports of a group's neurons.
func (b *backend) ports(g *group, port uint32) (lo, hi uint32) {
	if g.lo == g.hi {
		return 0, 0
	}
	from := g.portsAhead(port)
	return from + b.own.Neuron(g.lo), from + b.own.Neuron(g.hi-1) + 1
}

// portSpans lists the worker's ports, ascending.
func (w *worker) portSpans() []portSpan {
	var list []portSpan
	for i := range w.groups {
		g := &w.groups[i]
		n := g.hi - g.lo
		for port := range g.area.PortsEach() {
			lo, hi := w.b.ports(g, port)
			s := portSpan{lo: lo, hi: hi, shift: lo - (g.slot + port*g.run)}
			if !w.b.own.Whole() {
				s.shift, s.slot = g.portsAhead(port), g.slot+port*g.run-g.lo
			}
			if last := len(list) - 1; last >= 0 && w.b.own.Whole() && list[last].hi == s.lo && list[last].shift == s.shift {
				list[last].hi = s.hi
			} else if n > 0 {
				list = append(list, s)
			}
		}
	}
	return list
}

// walker finds a worker's synapses in the rows of c.
type walker struct {
	c       *connectome.Connectome
	spans   []portSpan
	ends    []uint32 // hi of each span
	slots   []uint32 // scratch of take, like weights
	weights []int32
}

func newWalker(c *connectome.Connectome, spans []portSpan) walker {
	w := walker{c: c, spans: spans}
	for _, s := range spans {
		w.ends = append(w.ends, s.hi)
	}
	longest := uint64(0)
	for n := range c.Neurons {
		longest = max(longest, c.Row[n+1]-c.Row[n])
	}
	w.slots, w.weights = make([]uint32, longest), make([]int32, longest)
	return w
}

// sameDelay returns where, in synapses from ≤ k < end, those with the delay of the first one end.
func sameDelay(c *connectome.Connectome, from, end uint64) uint64 {
	if c.Delay.None() {
		return end
	}
	return from + uint64(c.Delay.Between(from, end).Same())
}

// take finds the worker's synapses among from ≤ k < to, which have equal delays. It returns their weights and their ports;
// the slot of a port is port − shift. If they are adjacent in c nothing is copied.
func (w *walker) take(from, to uint64) (ports []uint32, shift uint32, weights []int32) {
	all, allWeights := w.c.Target[from:to], w.c.Weight[from:to]
	n, s := 0, 0
	for i := 0; i < len(all); {
		if s += reach(w.ends[s:], all[i]+1); s == len(w.spans) {
			break
		}
		own := &w.spans[s]
		i += reach(all[i:], own.lo)
		end := i + reach(all[i:], own.hi)
		if w.c.Part.Whole() && n == 0 && (end == len(all) || s == len(w.spans)-1) {
			return all[i:end], own.shift, allWeights[i:end]
		}
		piece := all[i:end]
		copy(w.weights[n:], allWeights[i:end])
		slots := w.slots[n:][:len(piece)]
		for k, port := range piece {
			slots[k] = own.slotOf(w.c.Part, port)
		}
		n += len(piece)
		i = end
	}
	return w.slots[:n], 0, w.weights[:n]
}

// slotOf returns the slot of a port in the span.
func (s *portSpan) slotOf(part connectome.Part, port uint32) uint32 {
	if part.Whole() {
		return port - s.shift
	}
	return part.Count(port-s.shift) + s.slot
}

// firstOf is the first of the synapses from ≤ k < end with a delay of at least so many bursts, which the list can hold.
func firstOf(d connectome.Delays, from, end uint64, bursts uint32) uint64 {
	if d.Long != nil {
		return from + uint64(reach(d.Long[from:end], uint16(bursts)))
	}
	return from + uint64(reach(d.Short[from:end], uint8(bursts)))
}

// reach is the index of the first element ≥ x of an ascending list. Its steps double, then halve.
func reach[T uint8 | uint16 | uint32](list []T, x T) int {
	lo, step := 0, 1 // all elements before lo are < x
	for lo+step <= len(list) && list[lo+step-1] < x {
		lo += step
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if lo+step <= len(list) && list[lo+step-1] < x {
			lo += step
		}
	}
	return lo
}
