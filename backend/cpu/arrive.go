package cpu

import (
	"math"

	"burst/connectome"
)

// arrive is 1b for a block: it runs on_pre and adds what the synapses deliver to their ports.
func (s *share) arrive(lo int, ends []uint32) {
	e, h, p, n := &s.all, s.onPre, s.l.p, int(ends[len(ends)-1])
	w, k := s.w, &s.w.b.kernels.Synapses
	amounts, targets, scale := s.amounts[:n], e.target[:n], float32(s.w.b.c.Scale)
	if h != nil {
		s.apply(h, lo, ends)
	}
	switch out := 1 + len(e.synapse); {
	case h != nil && len(h.results) > out:
		nan := k.Amounts(amounts, s.out, h.made(out), min(p.Lo, 0), max(p.Hi, 0), scale)
		for q := 0; s.broken && q < n; q++ {
			if w := e.weight[q]; w != w {
				amounts[q], s.out[q], nan = 0, w, true
			}
		}
		s.keep(e, h, n, nil)
		for q := 0; nan && q < n; q++ {
			if x := s.out[q]; x != x {
				e.weight[q], s.broken = x, true
			}
		}
	case h != nil && !s.broken:
		s.broken = k.Amounts(amounts, e.weight, h.made(0), p.Lo, p.Hi, scale)
		s.keepVariables(e, h, n, false)
	default:
		if h != nil {
			s.keep(e, h, n, nil)
		}
		k.Amounts(amounts, s.out, e.weight, min(p.Lo, 0), max(p.Hi, 0), scale)
	}
	w.read += uint64(n)
	w.learnt += 16 * uint64(n)
	if p.Lift != 0 {
		for q, x := range amounts {
			amounts[q] = int32(connectome.Lift(int64(x), p.Lift))
		}
	}
	k.AddAt(w.acc[s.slot:], targets, amounts)
	if w.marking {
		for _, j := range targets {
			w.mark(s.slot + j)
		}
	}
}

// arriveAll lets the spikes of a single delay arrive.
func (s *share) arriveAll(t uint64) {
	l := s.l
	v := l.volley(t - l.longest)
	k, q := &s.w.b.kernels, uint32(0)
	inBatches(v.sources, func(part []uint32) {
		touch(k, l.p.Row, part)
		touch(k, l.p.Row[1:], part) // the next line for some
		for _, cuts := range l.cuts[s.index : s.index+2] {
			if cuts != nil {
				touch(k, cuts, part)
			}
		}
	}, func(part []uint32) {
		for _, i := range part {
			from, to := s.ownOf(i)
			s.stretch(i, from, to, moment{l.pastOf(v.last[q], l.longest), &v.values, q})
			q++
		}
	})
}

// pastOf adds a delay to the burst of a last event plus 1; 0, which means none, stays 0.
func (l *learning) pastOf(last, delay uint64) uint64 {
	if last == 0 {
		return 0
	}
	return last + delay
}

// arriveDue lets spikes arrive whose next synapses have the delay that ends in burst t.
func (s *share) arriveDue(t uint64) {
	l, p := s.l, s.l.p
	burst := t - l.least
	for q, i := range l.volley(burst).sources {
		if k := p.Row[i]; k < p.Row[i+1] {
			s.send(trip{k, burst, uint32(q), uint32(p.Row[i+1] - k)})
		}
	}
	now := t % l.longest
	for rest := s.due[now]; len(rest) > 0; {
		n := min(len(rest), batch)
		if len(rest) == len(s.due[now]) {
			s.expectTrips(rest[:n])
		}
		s.expectTrips(rest[n:min(2*batch, len(rest))])
		for _, x := range rest[:n] {
			v, end := l.volley(x.burst), x.k+uint64(x.left)
			next, first, last := s.run(x.k, end)
			s.stretch(v.sources[x.place], first, last, moment{l.pastOf(v.last[x.place], uint64(p.Delay.At(x.k))), &v.values, x.place})
			if next < end {
				s.send(trip{next, x.burst, x.place, uint32(end - next)})
			}
		}
		rest = rest[n:]
	}
	s.due[now] = s.due[now][:0]
}

// expectTrips asks for targets and delays of at most a batch of trips, which will be used soon.
func (s *share) expectTrips(list []trip) {
	p, k := s.l.p, &s.w.b.kernels
	if len(p.Target) > math.MaxUint32 {
		return
	}
	at := s.w.ahead[:len(list)]
	for q, x := range list {
		at[q] = uint32(x.k)
	}
	touch(k, p.Target, at)
	if p.Delay.Long != nil {
		touch(k, p.Delay.Long, at)
	} else {
		touch(k, p.Delay.Short, at)
	}
}

// send puts a trip into the list of the burst in which it reaches its next synapse.
func (s *share) send(x trip) {
	at := &s.due[(x.burst+uint64(s.l.p.Delay.At(x.k)))%s.l.longest]
	*at = append(*at, x)
}
