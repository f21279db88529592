package cpu

import (
	"math"
	"slices"

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

	*posts
	place int            // among the shares of posts
	now   []uint8        // per target: 1 where it has an event in this burst; nil unless that is read
	still bool           // on_post leaves synapses unchanged while the traces of their source are 0, see stillness
	stays bool           // likewise, whatever the state has
	faded uint64         // bursts after a spike until the traces are 0
	in    inward         // by target, of FEAGI's rules
	asks  []formula.Read // what on_post reads of an event, as the ring's notes have it
	due   [][]trip       // by burst, modulo the longest delay: spikes that reach synapses then; only with several delays

	onPost, onPre, every, when, onSource *handler

	total    []int64 // per target
	sources  sources // those of the state, with a handler of the worker's own
	leaving  []uint32
	*pairing // nil: the rule is none of pairs
	block
}

// longAgo is beyond all ages that can be told from one another: traces are 0 by then.
const longAgo = 1 << 31

// trip is a spike on its way along a row: it reaches synapse k next.
type trip struct {
	k     uint64
	burst uint64
	place uint32 // in its volley
	left  uint32 // synapses of the row from k on
}

// moment is what a stretch of a row knows of its source.
type moment struct {
	last uint64 // burst of the last pre event plus 1; 0: none
	*values
	at uint32 // entry of values: after that event
}

func newShare(l *learning, w *worker) *share {
	p := l.p
	s := &share{l: l, w: w, index: w.index, g: w.groupOf(p)}
	g := s.g
	n := g.hi - g.lo
	s.slot, s.ahead = g.slot+p.Port*g.run, g.portsAhead(p.Port)
	s.ports = [2]uint32{s.ahead + w.b.own.Neuron(g.lo), s.ahead + w.b.own.Neuron(g.hi)}
	f := &w.b.kernels.Formula
	s.onPost, s.onPre, s.every, s.when = newHandler(p.OnPost, f), newHandler(p.OnPre, f), newHandler(p.Every, f), newHandler(p.When, f)
	s.onSource = newHandler(p.OnSource, f)
	if s.onPost != nil {
		s.asks = asksOf(p.OnPost)
		s.still, s.faded = stillness(p)
	}
	if readsPostToo(p) {
		s.now = make([]uint8, n)
	}
	if p.Every != nil {
		s.total = make([]int64, n)
	}
	s.block = w.blockFor(p)
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

// readsPostToo reports whether a handler asks which targets have an event in the burst.
func readsPostToo(p *connectome.Plastic) bool {
	for _, h := range []*connectome.Handler{p.OnPre, p.Every} {
		if h != nil && slices.ContainsFunc(h.Reads, func(r formula.Read) bool { return r.Kind == formula.ReadPostToo }) {
			return true
		}
	}
	return false
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
	cuts := room[uint16](uint64(p.From.Count))
	for i := range cuts {
		if row := p.Target[p.Row[i]:p.Row[i+1]]; len(row) <= longestCut {
			cuts[i] = uint16(reach(row, s.ports[0]))
		}
	}
	s.l.cuts[s.index] = cuts
}

// longestCut is how many synapses a row has at most whose cuts are kept. Others are found by search: that takes little beside such a row.
const longestCut = math.MaxUint16

// ownOf are the worker's synapses from ≤ k < to of source i, where there is a single delay.
func (s *share) ownOf(i uint32) (from, to uint64) {
	row := s.l.p.Row[i : i+2]
	from, to = row[0], row[1]
	if to-from > longestCut {
		targets := s.l.p.Target[from:to]
		first := reach(targets, s.ports[0])
		return from + uint64(first), from + uint64(first+reach(targets[first:], s.ports[1]))
	}
	if cuts := s.l.cuts[s.index]; cuts != nil {
		from += uint64(cuts[i])
	}
	if cuts := s.l.cuts[s.index+1]; cuts != nil {
		to = row[0] + uint64(cuts[i])
	}
	return from, to
}

// run finds, in synapses from ≤ k < end of a row, the end of those with the delay of the first one, and the worker's among them.
func (s *share) run(from, end uint64) (next, first, last uint64) {
	p := s.l.p
	if d := p.Delay.At(from); p.Delay.At(end-1) == d {
		next = end
	} else {
		next = firstOf(p.Delay, from, end, d+1)
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
	if s.place == 0 {
		s.expect(t)
	}
	flags := s.onPre.asksFor(formula.ReadPostToo)
	if flags {
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
	if flags {
		for _, j := range s.posted {
			s.now[j] = 0
		}
	}
	if s.place == len(s.of)-1 {
		s.raise(t) // 1c
	}
	s.settle()
}

// expect finds the post events of burst t, and notes them for all shares of posts.
func (s *share) expect(t uint64) {
	s.findPosted(t)
	if s.onPost == nil || s.rests(t) {
		return
	}
	s.advance(t)
	if !s.ring.fits(s.posted, t) {
		s.catchUp(t - 1)
	}
	s.note(t)
}

// finish is step 6 of burst t.
func (s *share) finish(t uint64) {
	if s.every == nil || (t+1)%s.l.p.Rule.Every != 0 {
		return
	}
	if s.sumsWanted() {
		s.catchUp(t)
		s.addUp()
	}
	s.sweep(t)
}

func (s *share) sumsWanted() bool { return s.every.asksFor(formula.ReadTotal) }

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
