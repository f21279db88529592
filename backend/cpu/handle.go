package cpu

import "burst/internal/formula"

// column is the i-th variable of entries: the weight, then those of the rule.
func (s *share) column(e *entries, i int) []float32 {
	if i == 0 {
		return e.weight
	}
	return e.synapse[i-1]
}

// keep stores what a handler computed for n entries, and brings the weights within their bounds. With counts, it stores the entries
// whose count is not 0. A weight that was NaN stays as it was, with the synapse's variables.
func (s *share) keep(e *entries, h *handler, n int, counts []uint32) {
	k, p, made := &s.w.b.kernels, s.l.p, h.made(0)
	if s.broken {
		for q, w := range e.weight[:n] {
			if w != w || counts != nil && counts[q] == 0 {
				continue
			}
			for i, list := range e.synapse {
				list[q] = h.made(1 + i)[q]
			}
			k.Bound(e.weight[q:q+1], made[q:q+1], p.Lo, p.Hi)
		}
		return
	}
	if counts == nil {
		s.broken = k.Bound(e.weight[:n], made, p.Lo, p.Hi)
	} else {
		s.broken = k.BoundSome(e.weight[:n], made, counts, p.Lo, p.Hi)
	}
	s.keepVariables(e, h, n, counts != nil)
}

// keepVariables stores the variables that the handler changed: of all synapses, or with some of those that s.chosen marks.
func (s *share) keepVariables(e *entries, h *handler, n int, some bool) {
	for i, list := range e.synapse {
		switch {
		case !h.changes(1 + i):
		case some:
			s.w.b.kernels.Select(list[:n], s.chosen, h.made(1+i), list)
		default:
			copy(list[:n], h.made(1+i))
		}
	}
}

// apply runs on_pre (1b) or every (6) for the whole block. The caller stores the results, see keep.
func (s *share) apply(h *handler, lo int, ends []uint32) {
	for i := 0; i <= len(s.all.synapse); i++ {
		h.from(i, s.column(&s.all, i))
	}
	for i, read := range h.reads {
		s.read(read, h.input(i), lo, ends)
	}
	h.run(ends[len(ends)-1])
}

// read fills an input of on_pre or every for the block of the pieces from lo on.
func (s *share) read(r formula.Read, in []float32, lo int, ends []uint32) {
	l, p, k, t := s.l, s.l.p, &s.w.b.kernels.Synapses, s.t
	targets := s.all.target[:ends[len(ends)-1]]
	each := func(value func(i int) float32) {
		s.value = s.value[:0]
		for i := range ends {
			s.value = append(s.value, value(lo+i))
		}
		k.Fill(in, s.value, ends)
	}
	now := uint32(t + 1)
	switch r.Kind {
	case formula.ReadPre:
		each(func(i int) float32 { return aged(&p.Pre[r.K].Table, s.past[r.K][i], s.before[i], 0, t) })
	case formula.ReadPost:
		switch {
		case r.K > 0 || !s.near():
			k.Aged(in[:len(targets)], s.traces[r.K], s.last, targets, now, &s.post[r.K])
		case s.task == arrives:
			copy(in[:len(targets)], s.firstTraces)
			k.AgedNear(in[:len(targets)], s.all.lanes, s.last, targets, now, s.ring.lane(t+1), &s.post[0])
		default:
			ages := s.all.ages[:len(targets)]
			for q, j := range targets {
				ages[q] = now - s.last[j]
			}
			k.Decay(in[:len(targets)], s.firstTraces, ages, &s.post[0])
		}
	case formula.ReadModulator:
		now := l.now[r.K]
		if s.task == sweeps {
			now = l.after[r.K]
		}
		each(func(int) float32 { return now })
	case formula.ReadSource:
		k.Fill(in, s.source[r.K][lo:], ends)
	case formula.ReadTarget:
		k.Gather(in[:len(targets)], s.variable(r.K), targets)
	case formula.ReadPostToo:
		for q, j := range targets {
			in[q] = float32(s.now[j])
		}
	case formula.ReadAgePre:
		each(func(i int) float32 {
			if last := s.before[i]; last > 0 {
				return float32(min(t+1-last, formula.MaxAge))
			}
			return formula.MaxAge
		})
	case formula.ReadAgePost:
		for q, j := range targets {
			in[q] = ageNumber(now - s.last[j])
		}
	case formula.ReadTotal:
		scale := float32(s.w.b.c.Scale)
		for q, j := range targets {
			in[q] = float32(s.total[j]) / scale
		}
	default:
		panic("BUG: a handler reads what it cannot")
	}
}
