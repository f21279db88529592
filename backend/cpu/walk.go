package cpu

import "burst/connectome"

// portSpan is a run of ports; those of the part's neurons in it are a thread's. Of a whole network port − shift is the slot;
// else port − shift is the neuron, and slot its place's distance to its slot.
type portSpan struct{ lo, hi, shift, slot uint32 }

// ports are the bounds of the ports of a group's neurons.
func (b *backend) ports(g *group, port uint32) (lo, hi uint32) {
	if g.lo == g.hi {
		return 0, 0
	}
	from := g.portsAhead(port)
	return from + b.own.Neuron(g.lo), from + b.own.Neuron(g.hi-1) + 1
}

// portSpans lists the part's ports, ascending.
func (p *part) portSpans() []portSpan {
	var list []portSpan
	for i := range p.groups {
		g := &p.groups[i]
		n := g.hi - g.lo
		for port := range g.area.PortsEach() {
			lo, hi := p.b.ports(g, port)
			s := portSpan{lo: lo, hi: hi, shift: lo - (g.slot + port*g.run)}
			if !p.b.own.Whole() {
				s.shift, s.slot = g.portsAhead(port), g.slot+port*g.run-g.lo
			}
			if last := len(list) - 1; last >= 0 && p.b.own.Whole() && list[last].hi == s.lo && list[last].shift == s.shift {
				list[last].hi = s.hi
			} else if n > 0 {
				list = append(list, s)
			}
		}
	}
	return list
}

// walker finds a part's synapses in the rows of c.
type walker struct {
	c     *connectome.Connectome
	spans []portSpan
}

// count is how many synapses and segments each finds.
func (w *walker) count() (synapses, segments uint64) {
	row, last := ^uint32(0), uint8(0)
	w.each(func(n uint32, from, to uint64, _ *portSpan) {
		synapses += to - from
		if d := w.c.DelayOf(from); n != row || d != last {
			segments++
			row, last = n, d
		}
	})
	return synapses, segments
}

// each calls take for every run of synapses from ≤ k < to of a row that lie in one span of ports and have one delay, in
// order.
func (w *walker) each(take func(n uint32, from, to uint64, in *portSpan)) {
	for n := range w.c.Neurons {
		for from, end := w.c.Row[n], w.c.Row[n+1]; from < end; {
			to := w.sameDelay(from, end)
			w.run(n, from, to, take)
			from = to
		}
	}
}

// sameDelay is the end of the run of synapses from ≤ k < end that have the delay of the first.
func (w *walker) sameDelay(from, end uint64) uint64 {
	if w.c.Delay == nil {
		return end
	}
	delays := w.c.Delay[from:end]
	d := delays[0]
	return from + leap(len(delays), func(i int) bool { return delays[i] == d })
}

// run takes the parts of a run of one delay, in which ports ascend.
func (w *walker) run(n uint32, from, to uint64, take func(n uint32, from, to uint64, in *portSpan)) {
	for i := range w.spans {
		s := &w.spans[i]
		if from == to || w.c.Target[to-1] < s.lo {
			return
		}
		ports := w.c.Target[from:to]
		if ports[0] >= s.hi {
			continue
		}
		lo := from + leap(len(ports), func(i int) bool { return ports[i] < s.lo })
		ports = w.c.Target[lo:to]
		from = lo + leap(len(ports), func(i int) bool { return ports[i] < s.hi })
		if lo < from {
			take(n, lo, from, s)
		}
	}
}

// leap is the first of n places for which is is false, where it is true before: steps double, then halve.
func leap(n int, is func(i int) bool) uint64 {
	lo, step := 0, 1 // is holds before lo
	for lo+step <= n && is(lo+step-1) {
		lo += step
		step *= 2
	}
	for ; step > 0; step /= 2 {
		if lo+step <= n && is(lo+step-1) {
			lo += step
		}
	}
	return uint64(lo)
}
