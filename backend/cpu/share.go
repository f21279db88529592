package cpu

import (
	"math"

	"burst/connectome"
	"burst/internal/formula"
)

// share is a worker's share of a plastic projection: the synapses that end at its neurons. Targets are counted from 0 in the group.
type share struct {
	l     *learning
	w     *worker
	g     *group
	index int       // of the worker
	slot  uint32    // of target 0
	ports [2]uint32 // of the group's neurons: first ≤ port < second
	ahead uint32    // from the number of a neuron to its port

	traces [][]float32 // of the targets: after their last event
	last   []uint32    // the lower half of the burst of that event, plus 1; of none, and of those longer ago, a burst longAgo back
	posted []uint32    // targets with an event in this burst
	now    []uint8     // per target: 1 where it has
	ring   ring
	turn   turn
	still  bool           // see stillness
	in     inward         // by target, of FEAGI\'s rules
	asks   []formula.Read // what on_post reads of an event, as the ring's notes have it
	due    [][]trip       // by burst, modulo the longest delay: spikes that reach synapses then; only with several delays

	onPost, onPre, every, when *handler
	total                      []int64 // per target
	sources                    sources // those of the state, with a handler of the worker's own
	leaving                    []uint32
	block
}

// longAgo is beyond all ages that can be told from one another: traces are 0 by then.
const longAgo = 1 << 31

// trip is a spike on its way along a row: it reaches synapse k next.
type trip struct {
	k     uint64
	burst uint64
	place uint32 // in its volley
}

// moment is what a stretch of a row knows of its source.
type moment struct {
	last      uint64 // burst of the last pre event plus 1; 0: none
	traces    [][]float32
	variables [][]float32
	at        uint32 // entry of traces and variables: after that event
}

func newShare(l *learning, w *worker, workers int) *share {
	p := l.p
	s := &share{l: l, w: w, index: w.index, g: w.groupOf(p)}
	g := s.g
	n := g.hi - g.lo
	s.slot, s.ahead = g.slot+p.Port*g.run, g.portsAhead(p.Port)
	own := w.b.span(p.To)
	s.ports = [2]uint32{s.ahead + w.b.own.Neuron(cut(own, w.index, workers)), s.ahead + w.b.own.Neuron(cut(own, w.index+1, workers))}
	s.last, s.now = room[uint32](uint64(n)), make([]uint8, n)
	if l.together() {
		first := g.lo - w.b.span(p.To).First
		for _, values := range l.post {
			s.traces = append(s.traces, values[first:first+n])
		}
	} else {
		s.traces = lists(len(p.Post), uint64(n))
	}
	f := &w.b.kernels.Formula
	s.onPost, s.onPre, s.every, s.when = newHandler(p.OnPost, f), newHandler(p.OnPre, f), newHandler(p.Every, f), newHandler(p.When, f)
	if s.onPost != nil {
		s.asks = asksOf(p.OnPost)
		s.ring = newRing(n, len(s.asks))
		s.still, s.turn.faded = stillness(p)
	}
	if p.Every != nil {
		s.total = make([]int64, n)
	}
	s.block = newBlock(p)
	s.sources = *l.settled
	s.sources.onSource = newHandler(p.OnSource, f)
	switch {
	case l.cuts == nil:
		s.due = make([][]trip, l.longest)
	case w.index > 0:
		s.cutRows()
	}
	return s
}

// groupOf is the group of the projection's targets.
func (w *worker) groupOf(p *connectome.Plastic) *group {
	for i := range w.groups {
		if w.groups[i].area.Ports == p.Ports {
			return &w.groups[i]
		}
	}
	panic("BUG: a plastic projection onto no area")
}

// asksOf are the reads of on_post that are the same for all synapses of the target.
func asksOf(h *connectome.Handler) (list []formula.Read) {
	for _, r := range h.Reads {
		switch r.Kind {
		case formula.ReadPost, formula.ReadModulator, formula.ReadTarget, formula.ReadAgePost:
			list = append(list, r)
		}
	}
	return list
}

// cutRows finds where the worker's synapses begin in every row.
func (s *share) cutRows() {
	p := s.l.p
	cuts := room[uint64](uint64(p.From.Count))
	for i := range cuts {
		cuts[i] = p.Row[i] + uint64(reach(p.Target[p.Row[i]:p.Row[i+1]], s.ports[0]))
	}
	s.l.cuts[s.index] = cuts
}

// run finds, in synapses from ≤ k < end of a row, the end of those with the delay of the first one, and the worker's among them.
func (s *share) run(from, end uint64) (next, first, last uint64) {
	p := s.l.p
	if p.Delay[end-1] == p.Delay[from] {
		next = end
	} else {
		next = from + uint64(reach(p.Delay[from:end], p.Delay[from]+1))
	}
	targets := p.Target[from:next]
	a := reach(targets, s.ports[0])
	b := a + reach(targets[a:], s.ports[1])
	return next, from + uint64(a), from + uint64(b)
}

// propagate is steps 1a to 1c of burst t.
func (s *share) propagate(t uint64) {
	if s.g.lo == s.g.hi {
		s.settle()
		return
	}
	if s.l.seen != nil {
		s.windows(t)
		s.settle()
		return
	}
	s.findPosted(t)
	k := &s.w.b.kernels
	for _, values := range s.traces {
		touch(k, values, s.posted)
	}
	touch(k, s.last, s.posted)
	if s.onPost != nil && !s.rests(t) {
		touch(k, s.ring.slots, s.posted)
		touch(k, s.ring.heads, s.posted)
		touch(k, s.ring.own, s.posted)
		s.advance(t)
		if !s.ring.fits(s.posted, t) {
			s.sweep(t-1, false)
		}
		s.note(t)
	}
	if s.onPre != nil {
		for _, j := range s.posted {
			s.now[j] = 1
		}
	}
	s.begin(arrives, t, t+1)
	if s.due == nil {
		s.arriveAll(t)
	} else {
		s.arriveDue(t)
	}
	s.flush()
	if s.onPre != nil {
		for _, j := range s.posted {
			s.now[j] = 0
		}
	}
	s.raise(t) // 1c
	s.settle()
}

// raise lets the traces of the posted targets have their event of burst t.
func (s *share) raise(t uint64) {
	now := uint32(t + 1)
	for k, values := range s.traces {
		trace := &s.l.p.Post[k]
		for _, j := range s.posted {
			if age := now - s.last[j]; age >= longAgo || trace.Set {
				values[j] = trace.Amount
			} else {
				values[j] = float32(values[j]*trace.Table.At(uint64(age))) + trace.Amount
			}
		}
	}
	for _, j := range s.posted {
		s.last[j] = now
	}
	if len(s.traces) > 0 && s.onPost != nil {
		for _, j := range s.posted {
			s.ring.heads[j][1] = math.Float32bits(s.traces[0][j])
		}
	}
	if t%(longAgo/2) == 0 {
		for j, last := range s.last {
			if now-last > longAgo {
				s.last[j] = now - longAgo
			}
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

// own appends those of the neurons that are the worker's targets.
func (s *share) own(list, neurons []uint32) []uint32 {
	part := s.w.b.own
	first, last := s.ports[0]-s.ahead, s.ports[1]-s.ahead
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

// note puts the events of burst t into the ring.
func (s *share) note(t uint64) {
	p := s.l.p
	for _, j := range s.posted {
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
			s.turn.still = s.turn.still && -mostNote <= x && x <= mostNote
		}
	}
}

// ageNumber is an age as handlers see it.
func ageNumber(age uint32) float32 { return float32(min(age, formula.MaxAge)) }

// arriveAll lets the spikes of a single delay arrive.
func (s *share) arriveAll(t uint64) {
	l := s.l
	v := l.volley(t - l.longest)
	from, to := l.cuts[s.index], l.cuts[s.index+1]
	touch(&s.w.b.kernels, from, v.sources)
	touch(&s.w.b.kernels, to, v.sources)
	for q, i := range v.sources {
		s.stretch(i, from[i], to[i], moment{l.pastOf(v.last[q], l.longest), v.traces, v.variables, uint32(q)})
	}
}

// pastOf is a burst, plus 1, so many bursts later; 0 stays.
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
			s.send(trip{k, burst, uint32(q)})
		}
	}
	now := t % l.longest
	for _, x := range s.due[now] {
		v := l.volley(x.burst)
		i := v.sources[x.place]
		next, first, last := s.run(x.k, p.Row[i+1])
		s.stretch(i, first, last, moment{l.pastOf(v.last[x.place], uint64(p.Delay[x.k])), v.traces, v.variables, x.place})
		if next < p.Row[i+1] {
			s.send(trip{next, x.burst, x.place})
		}
	}
	s.due[now] = s.due[now][:0]
}

// send puts a trip where it is due.
func (s *share) send(x trip) {
	at := &s.due[(x.burst+uint64(s.l.p.Delay[x.k]))%s.l.longest]
	*at = append(*at, x)
}

// settle lets the spikes that leave the queues in this burst become state.
func (s *share) settle() {
	l, b := s.l, s.w.b
	oldest := uint64(len(b.queues))
	queue, at := b.queues[oldest-1], b.number-oldest
	if l.settled != &l.live {
		n := uint64(len(b.workers))
		lo, hi := uint32(uint64(l.p.From.Count)*uint64(s.index)/n), uint32(uint64(l.p.From.Count)*uint64(s.index+1)/n)
		s.leaving = s.leaving[:0]
		for _, id := range queue {
			if i := id - l.p.From.First; i-lo < hi-lo {
				s.leaving = append(s.leaving, i)
			}
		}
		s.sources.fire(l.p, s.leaving, at)
	}
	first := s.g.lo - b.span(l.p.To).First
	list := s.posted // of a rule with a condition the state has the events themselves
	if s.when == nil {
		s.leaving = s.own(s.leaving[:0], queue)
		list = s.leaving
	} else {
		at = b.number
	}
	end := first + s.g.hi - s.g.lo
	last := l.postLast[first:end]
	touch(&b.kernels, last, list)
	if !l.together() {
		for k := range l.post {
			touch(&b.kernels, l.post[k][first:end], list)
		}
		for k := range l.post {
			raise(&l.p.Post[k], l.post[k][first:end], last, list, at)
		}
	}
	for _, j := range list {
		last[j] = at + 1
	}
}

// restore prepares for a new state, in which no event is pending.
func (s *share) restore() {
	l, b := s.l, s.w.b
	first, lag := s.g.lo-b.span(l.p.To).First, uint64(l.p.Lag)
	for k := range s.traces {
		copy(s.traces[k], l.post[k][first:])
	}
	for j := range s.last {
		last := l.postLast[first+uint32(j)]
		if s.when == nil && last > 0 {
			last += lag
		}
		s.last[j] = uint32(b.number) - longAgo
		if last > 0 && b.number-last < longAgo {
			s.last[j] = uint32(last)
		}
	}
	if s.when == nil {
		for back := uint64(len(b.queues)); back > lag; back-- {
			s.posted = s.own(s.posted[:0], b.queues[back-1])
			s.raise(b.number - back + lag)
		}
	}
	s.ring.clear(b.number)
	for j := range s.ring.heads {
		s.ring.heads[j] = [2]uint32{}
		if len(s.traces) > 0 {
			s.ring.heads[j][1] = math.Float32bits(s.traces[0][j])
		}
	}
	s.turn.begin(b.number, &s.ring)
	s.turn.still, s.turn.resting = s.still && l.tame, false
	s.broken = !l.tame // maybe
	for i := range s.due {
		s.due[i] = s.due[i][:0]
	}
	if s.due == nil {
		return
	}
	for back := l.longest; back > l.least; back-- {
		burst := b.number - back
		if b.number < back {
			continue
		}
		for q, i := range l.volley(burst).sources {
			if k, end := l.p.Row[i], l.p.Row[i+1]; k < end && uint64(l.p.Delay[end-1]) >= back {
				k += uint64(reach(l.p.Delay[k:end], uint8(back)))
				s.send(trip{k, burst, uint32(q)})
			}
		}
	}
}

// finish is step 6 of burst t.
func (s *share) finish(t uint64) {
	if s.every == nil || (t+1)%s.l.p.Rule.Every != 0 {
		return
	}
	if s.sumsWanted() {
		s.sweep(t, false)
		s.addUp()
	}
	s.sweep(t, true)
}

func (s *share) sumsWanted() bool {
	for _, r := range s.every.reads {
		if r.Kind == formula.ReadTotal {
			return true
		}
	}
	return false
}

// addUp adds up the quanta of the weights onto each target.
func (s *share) addUp() {
	clear(s.total)
	p, scale := s.l.p, s.w.b.c.Scale
	s.eachStretch(func(_ uint32, from, to, _ uint64) {
		for k := from; k < to; k++ {
			s.total[s.targetOf(p.Target[k])] += int64(connectome.Quanta(s.l.weight[k], scale))
		}
	})
}

// targetOf is the target that a port belongs to.
func (s *share) targetOf(port uint32) uint32 {
	return s.w.b.own.Count(port-s.ahead) - s.g.lo
}
