package connectome

import (
	"math"
	"slices"
	"sync/atomic"

	"burst/internal/exact"
)

// nearDegree gives every owner k partners, each as likely as a kernel says where a mask holds. An owner's attempts pick a place among
// stretches of the partners' tree as if all partners were as likely as the likeliest of their stretch may be, and keep it with its own share.
type nearDegree struct {
	degree
	field
}

// patience is after how many attempts for each synapse, and besides, the partners that are left are listed instead.
const (
	patience = 64
	besides  = 1024
)

func newNearDegree(p *plan, w *wiring, d *degree) (rule, error) {
	f, err := newField(p, w, d.incoming)
	if err != nil {
		return nil, err
	}
	all := w.metric.all()
	if f.kernel != nil {
		f.likeliest = max(0, f.kernel.Over(&all).Hi)
	}
	if math.IsInf(f.likeliest, 1) {
		return nil, p.fault(w, "kernel", "the formula may become infinite; bound it, as in min(1, …)")
	}
	r := &nearDegree{*d, f}
	if owner, found := r.lonely(p.workers); owner >= 0 {
		return nil, p.fault(w, r.sizeKey(), "%d synapses a neuron, but neuron %d has only %d partners where kernel and mask leave some", r.k, owner, found)
	}
	return r, nil
}

// lonely is the first owner that has too few partners, and how many those are; −1: there is none.
func (r *nearDegree) lonely(workers int) (owner int64, partners uint64) {
	want := min(r.k, 1)
	if r.distinct {
		want = r.k
	}
	owners, _ := r.owners()
	first := atomic.Int64{}
	first.Store(int64(owners))
	scratch := make([]nearby, workers)
	spans(workers, owners, 64, func(worker int, lo, hi uint64) {
		for owner := lo; owner < hi && int64(owner) < first.Load(); owner++ {
			if r.partners(owner, want, &scratch[worker]) < want {
				for old := first.Load(); int64(owner) < old && !first.CompareAndSwap(old, int64(owner)); old = first.Load() {
				}
			}
		}
	})
	if owner = first.Load(); owner == int64(owners) {
		return -1, 0
	}
	return owner, r.partners(uint64(owner), want, &scratch[0])
}

// partners counts partners of an owner, at most until there are enough.
func (r *nearDegree) partners(owner, enough uint64, s *nearby) uint64 {
	n, _ := r.count(owner, enough+1, false, s) // the owner may be one of them
	if n <= enough && r.noSelf {
		all, self := r.count(owner, enough+1, true, s)
		return all - self
	}
	return n
}

// count counts neurons that are likely at all, and how many of them are the owner, if that is asked for.
func (r *nearDegree) count(owner, enough uint64, asked bool, s *nearby) (n, self uint64) {
	group := r.home.group[owner]
	r.look(s, owner)
	s.nodes = append(s.nodes[:0], node{0, 0, uint32(len(r.tree.order)), 0})
	for len(s.nodes) > 0 && n < enough {
		q := s.nodes[len(s.nodes)-1]
		s.nodes = s.nodes[:len(s.nodes)-1]
		switch least, most := r.bounds(group, q.at); {
		case most <= 0:
		case least > 0:
			n += uint64(q.hi - q.lo)
			if asked && slices.Contains(r.tree.order[q.lo:q.hi], uint32(owner)) {
				self = 1
			}
		case q.level < r.tree.levels:
			half := q.lo + uint32(firstHalf(int(q.hi-q.lo)))
			s.nodes = append(s.nodes, node{2*q.at + 2, half, q.hi, q.level + 1}, node{2*q.at + 1, q.lo, half, q.level + 1})
		default:
			for place := q.lo; place < q.hi; place++ {
				s.put(place, 0)
			}
			for i, value := range r.work(s) {
				if value > 0 {
					n++
					if uint64(r.tree.order[s.place[i]]) == owner {
						self = 1
					}
				}
			}
			s.n = 0
		}
	}
	return n, self
}

func (r *nearDegree) synapses(onto uint64) (least, most uint64) {
	least, most = r.degree.synapses(onto)
	if least != most { // a part may have all of a source's partners, or none
		return 0, min(mul(r.sources, r.k), mul(onto, mul(r.sources, r.k)))
	}
	return least, most
}

func (r *nearDegree) scattered() bool { return false }

func (r *nearDegree) scratch() uint64 { return add(r.degree.scratch(), r.bytes()) }

func (r *nearDegree) draw(lo, hi uint64, b *batch) {
	s := b.nearby()
	_, partners := r.owners()
	if r.distinct {
		b.chosen.prepare(r.k, partners)
	}
	for owner := lo; owner < hi; owner++ {
		if r.incoming && b.next(owner) != owner {
			continue
		}
		if r.distinct {
			b.chosen.clear()
		}
		r.look(s, owner)
		c := r.cutFor(r.home.group[owner], s)
		made := r.attempt(owner, c, s, b)
		if made < r.k {
			r.list(owner, made, c, s, b)
		}
	}
}

// attempt makes synapses of an owner until it has all, or the attempts are used up. It returns how many it has made.
func (r *nearDegree) attempt(owner uint64, c *cut, s *nearby, b *batch) (made uint64) {
	total := c.ends[len(c.ends)-1]
	attempts := patience*r.k + besides
	for tried := uint64(0); made < r.k && tried < attempts; {
		n := min(wordsAtOnce, attempts-tried, max(8, 2*(r.k-made)))
		r.draws.XY(owner<<32+tried, s.x[:n], s.second[:n])
		tried += n
		var places [wordsAtOnce]uint32
		unsure := uint64(0) // attempts whose likelihood must be worked out, a bit each
		for i, x := range s.x[:n] {
			place, q := c.place(float64(exact.Uniform(x) * total))
			places[i] = place
			if above := q.drawn(s.second[i]); above >= q.least {
				unsure |= 1 << i
				s.put(place, above)
			}
		}
		values, worked := r.work(s), 0
		for i, place := range places[:n] {
			if unsure>>i&1 != 0 {
				if worked++; s.above[worked-1] >= values[worked-1] {
					continue
				}
			}
			if made < r.k && r.take(owner, place, made, b) {
				made++
			}
		}
		s.n = 0
	}
	return made
}

// take makes an owner's synapse with a partner, unless it may not.
func (r *nearDegree) take(owner uint64, place uint32, made uint64, b *batch) bool {
	partner := uint64(r.tree.order[place])
	if r.noSelf && partner == owner || r.distinct && !b.chosen.put(partner) {
		return false
	}
	if r.incoming {
		b.add(partner, owner, owner*r.k+made)
	} else {
		b.add(owner, partner, owner*r.k+made)
	}
	return true
}

// list makes the synapses that an owner still wants by going through all of its partners for each.
func (r *nearDegree) list(owner, made uint64, c *cut, s *nearby, b *batch) {
	var places []uint32
	var values []float64
	look := func() {
		for i, value := range r.work(s) {
			if place := s.place[i]; value > 0 && !(r.noSelf && uint64(r.tree.order[place]) == owner) {
				places, values = append(places, place), append(values, value)
			}
		}
		s.n = 0
	}
	for _, q := range c.list {
		for place := q.lo; place < q.hi; place++ {
			if s.put(place, 0); s.n == crowd {
				look()
			}
		}
	}
	if s.n > 0 {
		look()
	}
	for ; made < r.k; made++ {
		if r.distinct {
			places, values = left(places, values, func(place uint32) bool { return !b.chosen.has(uint64(r.tree.order[place])) })
		}
		total := 0.0
		for _, x := range values {
			total += x
		}
		x, _ := r.draws.Words(owner<<32 + patience*r.k + besides + made)
		sum, pick := float64(exact.Uniform(x)*total), 0
		for at := 0.0; pick < len(values)-1; pick++ {
			if at += values[pick]; at > sum {
				break
			}
		}
		r.take(owner, places[pick], made, b)
	}
}

// left is what of both lists may stay.
func left(places []uint32, values []float64, stays func(uint32) bool) ([]uint32, []float64) {
	kept := 0
	for i, place := range places {
		if stays(place) {
			places[kept], values[kept] = place, values[i]
			kept++
		}
	}
	return places[:kept], values[:kept]
}
