package cuda

import (
	"fmt"
	"math"
	"slices"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// slice, hearers and ranges are the structs of kernels/learn_ranges.cu, field for field.

type slice struct {
	cut                     driver.Ptr
	first, blocks, place, _ uint32
}

type hearers struct{ learner, place uint32 }

type ranges struct {
	slices, hearing driver.Ptr
	count           uint64
	told            driver.Ptr
	own, events     uint32
	lists, apart    uint32
	launches        uint32
	at              uint64
}

// Of kernels/learn_ranges.cu: the sizes of slice, of what is looked up of a spike, of a warp's list, and of what a block
// has of all its warps; how few and how many events of a target a block remembers, and how many may be left.
const (
	sliceBytes, rowBytes                = 24, 20
	listBytes, totalsBytes              = 6 * 4 * 64, 4 * 32
	leastEvents, mostEvents, leftEvents = 2, 8, 63
)

// mostSynapses is how many synapses of a projection warps can count, each by 32 beyond the last one.
const mostSynapses = math.MaxUint32 - 32*32

// rangeShape is how targets are dealt to blocks.
type rangeShape struct {
	own, events uint64 // places of a block, and events of each that it remembers
	at          uint64 // where in its memory they begin
	apart       uint32 // turns that blocks are apart at most
}

// mostApart is the most that apart may be: counters are of twice as many turns, as blocks ahead of others use them again.
const mostApart = turns / 2

// mayBeApart is how many turns the blocks of path ranges may be apart at most by the delays of what learns: a third of the least delay, and
// half of the bursts from a spike to its post events. 0: blocks have to meet.
func mayBeApart(c *connectome.Connectome) uint32 {
	if len(c.Plastic) == 0 {
		return 0
	}
	apart := uint32(mostApart)
	for i := range c.Plastic {
		p := &c.Plastic[i]
		if !p.Delay.None() { // as rangeable wants; and depth asks in every burst, which is too often to look at all delays
			return 0
		}
		apart = min(apart, p.Least()/3, p.Lag/2)
	}
	return apart
}

// launches is how many bursts before they are due spikes set out.
func (l *learning) launches(apart uint32) uint32 {
	if apart > 0 {
		return 2 * apart
	}
	return flag(l.all.least > 1)
}

// rangeBytes is how much of a block's memory its range takes, with so many projections: where their rows are cut, what is looked up of
// spikes, warps' lists, the lengths of queues, and a sum, the events and two traces of each target.
func (b *backend) rangeBytes(s *rangeShape, projections int) uint64 {
	threads := uint64(b.tune.batchThreads)
	bytes := divUp(sliceBytes*uint64(projections), 16)*16 + rowBytes*threads + totalsBytes + divUp(4*b.depth(), 16)*16 + 4*s.own*(1+s.events+2)
	if b.long() {
		bytes += listBytes * threads / 32
	}
	return bytes
}

// hearing deals out places to the targets of projections that learn: those that share records have the same. It returns the
// groups of such targets, the place of each projection's first target, and how many places there are.
func (l *learning) hearing() (list []hearers, places []uint32, all uint64) {
	for i := range l.list {
		x := &l.list[i].arg
		k := slices.IndexFunc(list, func(h hearers) bool {
			y := &l.list[h.learner].arg
			return y.heard == x.heard
		})
		if k < 0 {
			k = len(list)
			list = append(list, hearers{uint32(i), uint32(all)})
			all += uint64(x.targets)
		}
		places = append(places, list[k].place)
	}
	return list, places, all
}

// part is how many synapses of a row a block with so many places has in the mean.
func (l *learning) part(own uint64) uint64 {
	synapses, parts := uint64(0), uint64(0)
	for i := range l.list {
		x := &l.list[i].arg
		synapses += x.synapses
		parts += uint64(x.sources) * divUp(uint64(x.targets), own)
	}
	return synapses / max(1, parts)
}

// layRanges lays out what blocks need for their ranges of targets.
func (b *backend) layRanges(l *learning, a *arena) {
	s := &b.choice.ranges
	list, places, _ := l.hearing()
	var cut []slice
	for i := range l.list {
		x, place := &l.list[i].arg, uint64(places[i])
		one := slice{first: uint32(place / s.own), place: places[i]}
		if x.targets > 0 {
			one.blocks = uint32((place+uint64(x.targets)-1)/s.own) - one.first + 1
		}
		one.cut = a.take(4 * uint64(x.sources) * uint64(one.blocks+1))
		cut = append(cut, one)
	}
	l.slices = cut
	l.ranges = ranges{
		slices: put(a, cut), hearing: put(a, list), count: uint64(len(list)), told: a.take(turnsBytes),
		own: uint32(s.own), events: uint32(s.events), lists: flag(b.long()), at: s.at,
	}
}

// cutRanges lets the device find where each block's synapses begin in each row.
func (b *backend) cutRanges() error {
	for i := range b.learning.slices {
		x, one := &b.learning.list[i].arg, b.learning.slices[i]
		threads := b.spread(uint64(x.sources) * uint64(one.blocks+1))
		if err := b.learning.kernels.cuts.launch(b, threads, cutsArgs{*x, one, b.learning.ranges.own}); err != nil {
			return err
		}
	}
	return b.stream.Synchronize()
}

// rangeable: all that learns does so by rules of pairs, and rows are of one delay.
func rangeable(q *question) string {
	synapses := uint64(0)
	for i := range q.c.Plastic {
		p := &q.c.Plastic[i]
		no := ""
		switch {
		case q.b.pairing(p) == noPairs || windowed(p) || p.When != nil || p.Every != nil || len(p.Modulators) > 0:
			no = "is not one of pairs of spikes alone"
		case p.Delay.Short != nil || p.Delay.Long != nil:
			no = "has delays that differ"
		case p.Synapses() > mostSynapses:
			no = fmt.Sprintf("has %d synapses, want at most %d", p.Synapses(), uint64(mostSynapses))
		}
		if no != "" {
			return fmt.Sprintf("projections[%d] %s", p.Projection, no)
		}
		synapses += p.Synapses()
	}
	switch {
	case q.b.tune.events > leftEvents:
		return fmt.Sprintf("%d events of a target are remembered, want at most %d", q.b.tune.events, leftEvents)
	case q.b.tune.rangeLeast == 0:
		return "ranges of targets are turned off"
	case synapses < q.b.tune.rangeLeast:
		return fmt.Sprintf("%d synapses learn, want at least %d", synapses, q.b.tune.rangeLeast)
	}
	return ""
}

// rangesFit: a block's memory has room for its range of targets, with more or fewer of their events.
func rangesFit(q *question) string {
	_, tabled, cached := q.t.sharedBytes(q.c, q.own)
	whole := q.answer
	for _, state := range []bool{true, false} {
		if state && !whole.cached {
			continue
		}
		for _, near := range []uint64{nearRoom, nearRoom / 4} {
			q.answer = whole
			if q.answer.cached = state; whole.cached && !state {
				q.answer.shared -= cached - tabled
			}
			l, learnt := q.learners(near, false)
			_, _, places := l.hearing()
			s := rangeShape{at: learnt, apart: q.b.apart(q.r), own: divUp(divUp(places, q.blocks), 4) * 4}
			if part := l.part(s.own); part < q.b.tune.rangePart {
				return fmt.Sprintf("of a row a block has %d synapses, want at least %d", part, q.b.tune.rangePart)
			}
			for s.events = mostEvents; s.events >= leastEvents; s.events-- {
				if bytes := learnt + q.b.rangeBytes(&s, len(l.list)); q.answer.shared+bytes <= q.b.room {
					q.answer.shared += bytes
					q.answer.learnt, q.answer.near, q.answer.ranges = bytes, near, s
					return ""
				}
			}
		}
	}
	return "the sums and events of a block's targets do not fit shared memory"
}

// apart is how many turns the blocks of path ranges are apart at most, with rows that do not learn, too.
func (b *backend) apart(r *rows) uint32 {
	apart := min(mayBeApart(b.c), b.tune.apart, b.tune.events/2)
	if r.synapses > 0 {
		apart = min(apart, r.least/2)
	}
	return apart
}

// apartFor is apart in so many bursts to come: 0, so that blocks meet, if 32 bits do not count all of them.
func (b *backend) apartFor(bursts uint64) uint32 {
	if b.number+bursts > math.MaxUint32 {
		return 0
	}
	return b.choice.ranges.apart
}
