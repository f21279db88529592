package cpu

import (
	"slices"

	"burst/internal/formula"
)

// applyPending runs on_post for the pending events of the block, each synapse's oldest first. It reports whether there was one.
func (s *share) applyPending(lo int, ends []uint32) bool {
	k, e, n := &s.w.b.kernels.Synapses, &s.all, ends[len(ends)-1]
	k.FillWords(e.after, s.pieces.after[lo:], ends)
	k.FillWords(e.base, s.pieces.base[lo:], ends)
	some, more := k.Meet(e.lanes[:n], s.firstTraces, s.counts, e.ages, s.ring.heads, e.target, e.after, e.base)
	if some == 0 {
		return false
	}
	for i, list := range e.past {
		k.Fill(list, s.past[i][lo:], ends)
	}
	dense := 2*some >= n && s.till == s.ring.lane(s.t+1) // or else some events stay for later
	limit := uint32(0)
	if dense {
		limit, some = 1, more
	}
	m := 0
	if some > 0 {
		m = s.collect(s.which[:k.Above(s.which, s.counts[:n], limit)], dense)
	}
	if dense {
		s.applyDense(int(n))
	}
	s.applyFew(m, nil)
	s.applyLong()
	return true
}

// collect finds all events of synapses of the block, and returns how many of these synapses come first in which, with left and at.
// Where the block is worked on whole, that has the oldest event of those with two, and the others' counts become 0.
func (s *share) collect(index []uint32, dense bool) int {
	k, all, e, n := &s.w.b.kernels.Synapses, &s.all, &s.few, len(index)
	for q, x := range index {
		e.target[q], e.after[q], e.lanes[q] = all.target[x], all.after[x], all.lanes[x]
	}
	clear(e.target[n:min(n+8, roomy)])
	left, skips := s.left[:n], s.skips[:n]
	k.Pending(left, e.lanes, s.ring.slots, e.target, e.after)
	if s.till < s.ring.lane(s.t+1) {
		for q := range e.after[:n] {
			e.after[q] = s.till * 0x1_0001
		}
		k.Pending(skips, e.lanes, s.ring.slots, e.target, e.after)
	} else {
		clear(skips)
	}
	s.long = s.long[:0]
	m := 0
	for q, x := range index {
		count, skip := left[q], skips[q]
		if count == perSlot { // there may be more
			s.long, s.counts[x] = append(s.long, x), 0
			continue
		}
		count -= min(skip, count)
		switch {
		case dense && count == 2:
			count = 1
		case dense:
			s.counts[x] = 0
		}
		if count > 0 {
			s.which[m], s.left[m], s.at[m] = x, count, perSlot*e.target[q]+skip+count-1
			m++
		}
	}
	return m
}

// applyDense runs on_post for one event of each synapse of the block that has a count.
func (s *share) applyDense(n int) {
	e, h := &s.all, s.onPost
	if len(s.asks) > 0 || len(e.synapse) > 0 {
		s.w.b.kernels.Oldest(e.places[:n], s.chosen, e.target, s.counts)
	}
	s.runPost(e, n)
	s.keep(e, h, n, s.counts)
}

// applyFew runs on_post for the first m synapses of which, which have as many events left as left says. Each round takes one
// event of each. Synapses with the most events come first, so each keeps its place from round to round. With a list of places,
// at is the event's entry there, without one its place. Later events come before earlier ones.
func (s *share) applyFew(m int, list []uint32) {
	if m == 0 {
		return
	}
	s.sortByLeft(m)
	k, e, all, h, n := &s.w.b.kernels.Synapses, &s.few, &s.all, s.onPost, m
	index := s.which[:m]
	clear(s.which[m:min(m+8, roomy)])
	for i := range h.results {
		k.Gather(s.column(e, i)[:m], s.column(all, i), index)
	}
	for i := range e.past {
		k.Gather(e.past[i][:m], all.past[i], index)
	}
	for q, x := range index {
		e.base[q], e.lanes[q] = all.base[x], all.lanes[x]
	}
	for round := uint32(1); n > 0; round++ {
		for q, at := range s.at[:n] {
			at -= round - 1
			if list != nil {
				at = list[at]
				e.lanes[q] = uint32(s.ring.slots[at/perSlot][0])
			}
			e.places[q] = at
		}
		clear(e.places[n:min(n+8, roomy)])
		k.Since(e.ages[:n], e.lanes, s.ring.slots, e.places, e.base)
		s.runPost(e, n)
		s.keep(e, h, n, nil)
		for n > 0 && s.left[n-1] == round {
			n--
		}
	}
	for i := range h.results {
		if h.changes(i) {
			values, to := s.column(e, i)[:m], s.column(all, i)
			for q, x := range index {
				to[x] = values[q]
			}
		}
	}
}

// sortByLeft sorts the first m of which, left and at by falling left.
func (s *share) sortByLeft(m int) {
	most, same := s.left[0], true
	for _, left := range s.left[1:m] {
		same = same && left == most
		most = max(most, left)
	}
	if same {
		return
	}
	s.tally = slices.Grow(s.tally[:0], int(most)+1)[:most+1]
	clear(s.tally)
	for _, left := range s.left[:m] {
		s.tally[left]++
	}
	before := uint32(0)
	for left := most; left > 0; left-- {
		s.tally[left], before = before, before+s.tally[left]
	}
	which, left, at := s.few.target, s.few.after, s.counts
	copy(which, s.which[:m])
	copy(left, s.left[:m])
	copy(at, s.at[:m])
	for q, n := range left[:m] {
		to := s.tally[n]
		s.which[to], s.left[to], s.at[to] = which[q], n, at[q]
		s.tally[n]++
	}
}

// applyLong runs on_post for the synapses of s.long, whose events are in several slots.
func (s *share) applyLong() {
	s.places = s.places[:0]
	m := 0
	for _, q := range s.long {
		had := len(s.places)
		s.places = s.ring.chain(s.all.target[q], s.all.after[q]&0xffff, s.till, s.places)
		if n := len(s.places) - had; n > 0 {
			s.which[m], s.left[m], s.at[m] = q, uint32(n), uint32(len(s.places)-1)
			m++
		}
	}
	s.long = s.long[:0]
	s.applyFew(m, s.places)
}

// runPost runs on_post (1a) for n entries, with one event each: places says where it lies in the ring, ages how old it is.
func (s *share) runPost(e *entries, n int) {
	k, h := &s.w.b.kernels.Synapses, s.onPost
	places, ages := e.places[:n], e.ages[:n]
	for i := range h.results {
		h.from(i, s.column(e, i))
	}
	asked := 0
	for i, read := range h.reads {
		in := h.input(i)[:n]
		switch read.Kind {
		case formula.ReadPre:
			k.Decay(in, e.past[read.K], ages, &s.pre[read.K])
		case formula.ReadPreToo:
			now := s.ring.lane(s.t + 1)
			for q, age := range ages {
				in[q] = flagNumber(s.task == arrives && age-e.base[q] == now)
			}
		case formula.ReadAgePre:
			for q, age := range ages {
				in[q] = ageNumber(age)
			}
		default:
			k.Gather(in, s.ring.notes[asked], places)
			asked++
		}
	}
	h.run(uint32(n))
}
