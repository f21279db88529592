package cpu

import (
	"math"
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/internal/formula"
)

// posts are a worker's neurons of an area as targets of plastic projections: their events, and the traces that these raise.
// Projections whose rules see the same of their targets share them (join).
type posts struct {
	of     []*share          // the first one notes events, the last one raises traces
	traces [][]float32       // after the last event; the first one is nil where the ring's heads have it, see traceOf
	last   []uint32          // the lower half of the burst of the last event, plus 1; of none and of old ones, a burst longAgo back
	old    map[uint32]uint64 // the burst of the last event, plus 1, of targets for which last does not tell it
	posted []uint32          // targets with an event in this burst
	ring   ring
	turn   turn
}

// Every turnover bursts, last events that are older than longestAge become old. So those that are not old are always less than longAgo
// back, and traces, which end before longestAge, never see the difference.
const (
	turnover   = longAgo / 16
	longestAge = longAgo - 2*turnover
)

// newPosts are those of a share's targets.
func newPosts(s *share) *posts {
	l, n := s.l, s.g.hi-s.g.lo
	p := &posts{last: room[uint32](uint64(n)), traces: make([][]float32, len(l.p.Post))}
	if s.onPost != nil {
		p.ring = newRing(n, len(s.asks))
	}
	for k := range p.traces {
		if k > 0 || s.onPost == nil {
			p.traces[k] = room[float32](uint64(n))
		}
	}
	return p
}

// near reports whether heads have the first trace.
func (p *posts) near() bool { return len(p.traces) > 0 && p.traces[0] == nil }

// traceOf is the k-th one of target j after its last event.
func (p *posts) traceOf(k int, j uint32) float32 {
	if k == 0 && p.near() {
		return math.Float32frombits(p.ring.heads[j][1])
	}
	return p.traces[k][j]
}

func (p *posts) setTrace(k int, j uint32, x float32) {
	if k == 0 && p.near() {
		p.ring.heads[j][1] = math.Float32bits(x)
	} else {
		p.traces[k][j] = x
	}
}

// touch asks for what traceOf and last have of targets.
func (p *posts) touch(k *vector.Kernels, list []uint32) {
	touch(k, p.last, list)
	if p.near() {
		touch(k, p.ring.heads, list)
		touchLists(k, p.traces[1:], list)
	} else {
		touchLists(k, p.traces, list)
	}
}

// lastOf is the burst of the last event of target j before burst t, plus 1; 0: none.
func (p *posts) lastOf(j uint32, t uint64) uint64 {
	if age := uint32(t) - p.last[j]; age < longAgo {
		return t - uint64(age)
	}
	return p.old[j]
}

// setLast is the other way round.
func (p *posts) setLast(j uint32, last, t uint64) {
	if last > 0 && t-last < longestAge {
		p.last[j] = uint32(last)
		return
	}
	p.last[j] = uint32(t) - longAgo
	if last > 0 {
		if p.old == nil {
			p.old = map[uint32]uint64{}
		}
		p.old[j] = last
	} else {
		delete(p.old, j)
	}
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
	now := uint32(t + 1)
	inBatches(s.posted, func(part []uint32) { s.touch(&s.w.b.kernels, part) }, func(part []uint32) {
		for k := range s.traces {
			trace := &s.l.p.Post[k]
			for _, j := range part {
				x := trace.Amount
				if age := now - s.last[j]; age < longAgo && !trace.Set {
					x = float32(s.traceOf(k, j)*trace.Table.At(uint64(age))) + trace.Amount
				}
				s.setTrace(k, j, x)
			}
		}
		for _, j := range part {
			s.last[j] = now
		}
	})
	if t%turnover == 0 {
		for j := range uint32(len(s.last)) {
			s.setLast(j, s.lastOf(j, t+1), t+1)
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
	if at := s.l.p.TargetVariables[k]; at > 0 {
		return s.g.more[at-1]
	}
	return s.g.v
}

// note puts the events of burst t into the ring, each with what on_post will read of it.
func (s *share) note(t uint64) {
	k := &s.w.b.kernels
	inBatches(s.posted, func(part []uint32) {
		touch(k, s.ring.slots, part)
		touch(k, s.ring.heads, part)
		touch(k, s.ring.own, part)
		if len(s.asks) > 0 {
			s.touch(k, part)
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
				x = float32(s.traceOf(int(r.K), j) * p.Post[r.K].Table.At(uint64(uint32(t+1)-s.last[j])))
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
