package connectome

import (
	"sync/atomic"

	"burst/internal/exact"
)

// byDistance makes each pair with a probability that depends on where its neurons lie. The targets of a source are cut into stretches; in
// each the rule jumps from candidate to candidate as if all pairs were as likely as the likeliest may be, and keeps each candidate with
// its own share of that.
type byDistance struct {
	ends
	field
	both        bool   // a pair has both directions or none
	least, most uint64 // synapses, but for chance
	longestRow  uint64
	draws       *exact.Stream
}

// slack is about how many wasted candidates a stretch may have: fewer make more stretches. Sizes are bounded with longer ones.
const (
	slack      = 4
	roughSlack = 32
)

func newDistance(p *plan, w *wiring) (rule, error) {
	f, err := newField(p, w, false)
	if err != nil {
		return nil, err
	}
	f.top = 1
	r := &byDistance{ends: w.ends, field: f, both: w.p.Symmetric, draws: w.ends.words()}
	r.bound(p.workers)
	return r, nil
}

// bound bounds the number of synapses, from what the pairs of each source with each stretch are at least and at most.
func (r *byDistance) bound(workers int) {
	const parts = 1 << 16 // of a synapse: whole numbers, so that the order of the sums does not matter
	var low, high, longest atomic.Uint64
	scratch := make([]nearby, workers)
	sizes := r.home.groups()
	spans(workers, uint64(len(sizes)), 16, func(worker int, lo, hi uint64) {
		for group := lo; group < hi; group++ {
			c := r.cut(r.home.firstGroup()+uint32(group), roughSlack, &scratch[worker])
			low.Add(uint64(float64(c.least*parts)) * sizes[group])
			high.Add((uint64(float64(c.most*parts)) + 1) * sizes[group])
			_, row := rare(c.most)
			for old := longest.Load(); row > old && !longest.CompareAndSwap(old, row); old = longest.Load() {
			}
		}
	})
	r.least, _ = rare(float64(low.Load()) / parts)
	_, r.most = rare(float64(high.Load()) / parts)
	if r.longestRow = min(r.targets, longest.Load()); r.both { // the pairs that other sources draw are not bounded
		r.least, r.most, r.longestRow = 0, mul(2, r.most), r.targets
	} else if r.noSelf {
		r.least -= min(r.least, r.sources)
	}
	r.most = min(r.most, mul(r.sources, r.targets))
}

// rare is around for means that may be small.
func rare(mean float64) (least, most uint64) {
	least, most = around(mean)
	return least, add(most, 40)
}

func (r *byDistance) synapses(onto uint64) (least, most uint64) {
	if onto < r.targets { // a part may have none of a source's synapses
		return 0, min(r.most, mul(r.sources, onto))
	}
	return r.least, r.most
}

func (r *byDistance) row(uint64) (synapses uint64, known bool) { return 0, false }
func (r *byDistance) longest() uint64                          { return r.longestRow }
func (r *byDistance) scattered() bool                          { return false }
func (r *byDistance) scratch() uint64                          { return r.bytes() }
func (r *byDistance) sizeKey() string                          { return "p" }

// unit is not a row where other sources make a part of it.
func (r *byDistance) unit() unit {
	if r.both {
		return byTarget
	}
	return bySource
}

func (r *byDistance) draw(lo, hi uint64, b *batch) {
	s := b.nearby()
	for source := lo; source < hi; source++ {
		r.look(s, source)
		next, used := source<<32, wordsAtOnce
		c := r.cutFor(r.home.group[source], s)
		for i := range c.list {
			q := &c.list[i]
			for at := q.lo; at < q.hi; at++ {
				if used == wordsAtOnce {
					r.draws.XY(next, s.x[:], s.second[:])
					next, used = next+wordsAtOnce, 0
				}
				x, y := s.x[used], s.second[used]
				used++
				if q.top < 1 {
					gap := exact.Log(1-exact.Uniform(x)) / q.none
					if gap >= float64(q.hi-at) {
						break
					}
					at += uint32(gap)
				}
				if !r.wants(source, uint64(r.tree.order[at]), b) {
					continue
				}
				if above := q.drawn(y); above < q.least {
					r.make(source, at, b)
				} else if s.put(at, above); s.n == crowd {
					r.join(source, s, b)
				}
			}
		}
		r.join(source, s, b)
	}
}

// wants reports whether a source may make a synapse onto a target, as far as that is known without the likelihood.
func (r *byDistance) wants(source, target uint64, b *batch) bool {
	switch {
	case source == target && r.noSelf, r.both && target < source:
		return false
	case b.part.Whole() || b.next(target) == target:
		return true
	}
	return r.both && b.next(source) == source
}

// join makes the synapses of the candidates that were put.
func (r *byDistance) join(source uint64, s *nearby, b *batch) {
	if s.n == 0 {
		return
	}
	for i, value := range r.work(s) {
		if s.above[i] < value {
			r.make(source, s.place[i], b)
		}
	}
	s.n = 0
}

// make makes the synapses of a source with the target at a place.
func (r *byDistance) make(source uint64, place uint32, b *batch) {
	target := uint64(r.tree.order[place])
	b.add(source, target, source*r.targets+target)
	if r.both && target != source {
		b.add(target, source, target*r.targets+source)
	}
}
