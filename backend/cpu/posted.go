package cpu

import (
	"math"
	"slices"

	"burst/internal/formula"
)

// posts are a worker's neurons of an area as targets of plastic projections: their events, and the traces that these raise.
// Projections whose rules see the same of their targets share them (join).
type posts struct {
	of     []*share // the first one notes events, the last one raises traces
	traces [][]float32
	last   []uint32 // the lower half of the burst of the last event, plus 1; of none, and of those longer ago, a burst longAgo back
	posted []uint32 // targets with an event in this burst
	ring   ring
	turn   turn
}

// newPosts are those of a share's targets.
func newPosts(s *share) *posts {
	l, n := s.l, s.g.hi-s.g.lo
	p := &posts{last: room[uint32](uint64(n))}
	if l.together() {
		first := s.g.lo - s.w.b.span(l.p.To).First
		for _, values := range l.post {
			p.traces = append(p.traces, values[first:first+n])
		}
	} else {
		p.traces = lists(len(l.p.Post), uint64(n))
	}
	if s.onPost != nil {
		p.ring = newRing(n, len(s.asks))
	}
	return p
}

// bind makes s one of the shares of p.
func (s *share) bind(p *posts) {
	s.posts, s.place = p, len(p.of)
	p.of = append(p.of, s)
	s.pairing = newPairing(s)
	s.sources = *s.l.settled
	s.sources.onSource = s.onSource
}

// raise adds the events of burst t to the traces of the targets that posted lists.
func (s *share) raise(t uint64) {
	now, k := uint32(t+1), &s.w.b.kernels
	near := s.hasNear() && !s.turn.resting // heads are not read meanwhile
	inBatches(s.posted, func(part []uint32) {
		touchLists(k, s.traces, part)
		touch(k, s.last, part)
		if near {
			touch(k, s.ring.heads, part)
		}
	}, func(part []uint32) {
		for k, values := range s.traces {
			trace := &s.l.p.Post[k]
			for _, j := range part {
				if age := now - s.last[j]; age >= longAgo || trace.Set {
					values[j] = trace.Amount
				} else {
					values[j] = float32(values[j]*trace.Table.At(uint64(age))) + trace.Amount
				}
			}
		}
		for _, j := range part {
			s.last[j] = now
			if near {
				s.ring.heads[j][1] = math.Float32bits(s.traces[0][j])
			}
		}
	})
	if t%(longAgo/2) == 0 {
		for j, last := range s.last {
			if now-last > longAgo {
				s.last[j] = now - longAgo
			}
		}
	}
}

// hasNear says that heads have the first trace.
func (p *posts) hasNear() bool { return len(p.traces) > 0 && len(p.ring.heads) > 0 }

// bringNear puts the first traces into the heads.
func (p *posts) bringNear() {
	if p.hasNear() {
		for j := range p.ring.heads {
			p.ring.heads[j][1] = math.Float32bits(p.traces[0][j])
		}
	}
}

// findPosted lists the targets that have a post event in burst t.
func (s *share) findPosted(t uint64) {
	s.posted = s.posted[:0]
	if s.when == nil {
		s.posted = s.own(s.posted, s.w.b.queueOf(t-uint64(s.l.p.Lag)))
		return
	}
	for lo, n := uint32(0), s.g.hi-s.g.lo; lo < n; lo += chunk {
		m := min(n-lo, chunk)
		for k, r := range s.when.reads {
			copy(s.when.input(k)[:m], s.variable(r.K)[lo:lo+m])
		}
		s.when.run(m)
		for q, is := range s.when.flags[s.when.fired][:m] {
			if is != 0 {
				s.posted = append(s.posted, lo+uint32(q))
			}
		}
	}
}

// own appends to list the neurons that are targets of this worker.
func (s *share) own(list, neurons []uint32) []uint32 {
	part := s.w.b.own
	first, last := s.ports[0]-s.ahead, s.ports[1]-s.ahead
	if part.Whole() { // neurons ascend
		from, _ := slices.BinarySearch(neurons, first)
		to, _ := slices.BinarySearch(neurons, last)
		for _, n := range neurons[from:to] {
			list = append(list, n-s.g.lo)
		}
		return list
	}
	for _, n := range neurons {
		if n-first < last-first && part.Owns(n) {
			list = append(list, part.Count(n)-s.g.lo)
		}
	}
	return list
}

// variable is a state variable of the targets that the rule reads.
func (s *share) variable(k int) []float32 {
	b := s.w.b
	if at := s.l.p.TargetVariables[k]; at > 0 {
		return b.more[at-1][s.g.lo:s.g.hi]
	}
	return b.v[s.g.lo:s.g.hi]
}

// note puts the events of burst t into the ring, each with what on_post will read of it.
func (s *share) note(t uint64) {
	k := &s.w.b.kernels
	inBatches(s.posted, func(part []uint32) {
		touch(k, s.ring.slots, part)
		touch(k, s.ring.heads, part)
		touch(k, s.ring.own, part)
		if len(s.asks) > 0 {
			touchLists(k, s.traces, part)
			touch(k, s.last, part)
		}
	}, func(part []uint32) { s.noteSome(part, t) })
}

func (s *share) noteSome(list []uint32, t uint64) {
	p := s.l.p
	for _, j := range list {
		at := s.ring.push(j, t)
		for k, r := range s.asks {
			x := float32(0)
			switch r.Kind {
			case formula.ReadPost:
				x = float32(s.traces[r.K][j] * p.Post[r.K].Table.At(uint64(uint32(t+1)-s.last[j])))
			case formula.ReadModulator:
				x = s.l.now[r.K]
			case formula.ReadTarget:
				x = s.variable(r.K)[j]
			case formula.ReadAgePost:
				x = ageNumber(uint32(t+1) - s.last[j])
			}
			s.ring.notes[k][at] = x
			s.stays = s.stays && -mostNote <= x && x <= mostNote
		}
	}
}

// ageNumber is an age as handlers see it.
func ageNumber(age uint32) float32 { return float32(min(age, formula.MaxAge)) }
