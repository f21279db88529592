package cpu

import "slices"

// turn is a pass over all rows, those of one share of posts after those of the other, that applies post events for good, so that the ring may lose them. It goes on by a few rows a burst,
// the faster the fuller the ring is, and ends before the ring is full; then the next one begins:
//
//	           done            cut             t
//	events  ────┼───────────────┼───────────────┤
//	rows below row have had all before cut, the others all before done
//
// A row whose source has had a spike since cut needs no visit: the spike's arrival has applied what was pending. Nor does one whose
// source has no traces left, if on_post then leaves weights as they are; while no source has any, no events are kept at all.
type turn struct {
	share   int    // among those of posts: row is one of its rows
	before  uint64 // synapses of the rows of shares before
	row     uint32
	cut     uint64
	started uint64 // burst
	kept    uint64 // events and spare slots of the ring at the start
	spares  uint32
	events  uint64 // all that there had been

	resting bool // see rests
}

// How full the ring may be at the end of a turn: events for each target (a slot holds eight), and bursts.
const (
	turnEvents = 6
	turnBursts = mostBursts / 4
)

func (u *turn) begin(t uint64, r *ring) {
	*u = turn{cut: t, started: t, kept: r.kept(), spares: r.next - r.first, events: r.events, resting: u.resting}
}

// progress is which part of the rows must have been visited by burst t, 1 for all; below 0 none. It begins when half of the room is used:
// by then most sources have had a spike, and their rows need no visit.
func (u *turn) progress(t uint64, r *ring) float64 {
	part := func(now, start, goal uint64) float64 {
		return float64(now-start) / float64(max(goal, start+goal/4+1)-start)
	}
	spares := uint64(r.spares())
	most := max(part(t, u.started, u.started+turnBursts), part(r.kept(), u.kept, turnEvents*uint64(r.targets)), part(uint64(r.next-r.first), uint64(u.spares), spares-spares/4))
	return 2*most - 1
}

// advance goes on with the turn before the events of burst t.
func (p *posts) advance(t uint64) {
	u := &p.turn
	if p.ring.kept() == 0 {
		p.ring.drop(t, 0)
		u.begin(t, &p.ring)
		return
	}
	part, goal := u.progress(t, &p.ring), uint64(0)
	for _, s := range p.of {
		goal += s.l.p.Row[s.l.p.From.Count]
	}
	if part < 1 {
		goal = uint64(max(0, part) * float64(goal))
	}
	for ; u.share < len(p.of); u.share, u.row = u.share+1, 0 {
		s := p.of[u.share]
		row, rows, end := u.row, s.l.p.Row, s.l.p.From.Count
		s.begin(settles, t-1, u.cut)
		for ; row < end && u.before+rows[row+1] <= goal; row++ {
			s.visit(row, u.cut)
		}
		s.flush()
		u.row = row
		if row < end {
			return
		}
		u.before += rows[end]
	}
	p.ring.drop(u.cut, p.ring.events-u.events)
	u.begin(t, &p.ring)
}

// visit applies to the row of a source the pending events of bursts before cut.
func (s *share) visit(i uint32, cut uint64) {
	l, p := s.l, s.l.p
	had, longest := s.had(i), uint64(p.Longest)
	if last := l.live.last[i]; s.stays && (last == 0 || last+longest+s.faded <= had+1) {
		return
	}
	if s.due == nil {
		if m := l.momentOf(i, l.longest, s.t); m.last < cut {
			from, to := s.ownOf(i)
			s.stretch(i, from, to, m)
		}
		return
	}
	if m := l.momentOf(i, l.longest, s.t); m.last >= cut+l.longest-l.least {
		return // all of its delays have had a spike since
	}
	for k, end := p.Row[i], p.Row[i+1]; k < end; {
		next, first, last := s.run(k, end)
		if m := l.momentOf(i, uint64(p.Delay.At(k)), s.t); first < last && m.last < cut {
			s.stretch(i, first, last, m)
		}
		k = next
	}
}

// rests reports whether on_post would change nothing in burst t, because the traces of all sources are 0. Then no events are
// kept. Events of rules that read something of the target are kept all the same, so that a reading beyond mostNote is seen.
func (p *posts) rests(t uint64) bool {
	rest := !slices.ContainsFunc(p.of, func(s *share) bool {
		latest := s.l.latest
		return !s.stays || len(s.asks) > 0 || latest > 0 && latest+s.l.longest+s.faded > t+1
	})
	if rest != p.turn.resting {
		p.ring.clear(t)
		p.turn.begin(t, &p.ring)
		p.turn.resting = rest
	}
	return rest
}

// had is the burst before which the turns have applied all events to the row of a source.
func (s *share) had(i uint32) uint64 {
	if u := &s.turn; s.place < u.share || s.place == u.share && i < u.row {
		return u.cut
	}
	return s.ring.done
}

// catchUp applies all post events up to burst t that are pending.
func (p *posts) catchUp(t uint64) {
	for _, s := range p.of {
		if p.ring.kept() > 0 {
			s.begin(settles, t, t+1)
			for i := range s.l.p.From.Count {
				s.visit(i, t+1)
			}
			s.flush()
		}
	}
	p.ring.clear(t + 1)
	p.turn.begin(t+1, &p.ring)
}

// sweep is the rule's sweep of burst t, after all post events that are pending. Only one projection has posts with a sweep.
func (s *share) sweep(t uint64) {
	if s.g.lo < s.g.hi {
		s.begin(sweeps, t, t+1)
		s.eachStretch(func(i uint32, from, to, delay uint64) { s.stretch(i, from, to, s.l.momentOf(i, delay, t)) })
		s.flush()
	}
	s.ring.clear(t + 1)
	s.turn.begin(t+1, &s.ring)
}

// eachStretch goes through the share's synapses.
func (s *share) eachStretch(take func(i uint32, from, to, delay uint64)) {
	l, p := s.l, s.l.p
	for i := range p.From.Count {
		if s.due == nil {
			from, to := s.ownOf(i)
			take(i, from, to, l.longest)
			continue
		}
		for k, end := p.Row[i], p.Row[i+1]; k < end; {
			next, first, last := s.run(k, end)
			if first < last {
				take(i, first, last, uint64(p.Delay.At(k)))
			}
			k = next
		}
	}
}

// momentOf is what synapses of a source and a delay know of it after burst t.
func (l *learning) momentOf(i uint32, delay, t uint64) moment {
	m := moment{l.pastOf(l.live.last[i], delay), &l.live.values, i}
	for m.last > t+1 { // it is still on its way
		v := l.volley(m.last - delay - 1)
		at, _ := slices.BinarySearch(v.sources, i)
		m = moment{l.pastOf(v.last[at], delay), &v.values, uint32(at)}
	}
	return m
}
