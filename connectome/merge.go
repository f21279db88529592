package connectome

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// group is the projections between two areas whose synapses are merged: those of one source, port and delay become one.
type group struct {
	wirings  []*wiring
	synapses uint64 // after merging; until they are counted a number that is surely not more
}

// bySource is a rule whose units are the sources, that makes every pair once and knows how many a source has at most.
type bySource interface{ longest() uint64 }

func (r *oneToOne) longest() uint64  { return 1 }
func (r *allToAll) longest() uint64  { return r.targets }
func (r *bernoulli) longest() uint64 { return r.targets }

// makeGroups finds the projections to merge. One alone has nothing to merge.
func (p *plan) makeGroups() {
	at := map[[2]int]int{}
	for i := range p.wirings {
		w := &p.wirings[i]
		if !w.p.Merge {
			continue
		}
		ends := [2]int{w.p.From, w.p.To}
		k, ok := at[ends]
		if !ok {
			k = len(p.groups)
			at[ends] = k
			p.groups = append(p.groups, group{})
		}
		p.groups[k].wirings = append(p.groups[k].wirings, w)
	}
	p.groups = slices.DeleteFunc(p.groups, func(q group) bool { return len(q.wirings) == 1 })
	for i := range p.groups {
		q := &p.groups[i]
		for _, w := range q.wirings {
			w.merged = true
		}
		q.synapses = q.least()
	}
}

// least is how many synapses the group has for certain.
func (q *group) least() uint64 {
	most := uint64(0)
	for _, w := range q.wirings {
		most = max(most, w.synapses)
	}
	return most
}

// longestMerged is the largest number of synapses that a source has in a group, or one that is surely not less.
func (p *plan) longestMerged() uint64 {
	largest := uint64(0)
	for i := range p.groups {
		sum := uint64(0)
		for _, w := range p.groups[i].wirings {
			sum = add(sum, w.rule.(bySource).longest())
		}
		largest = max(largest, sum)
	}
	return largest
}

// contact is a synapse of the source at hand.
type contact struct {
	quanta int64
	target uint32
	delay  uint8
}

// gatherer takes the synapses of one source after the other, from all projections of a group.
type gatherer struct {
	values   *valuer
	weigh    bool // whether weights matter; to count, delays do
	progress *meter
	totals   []atomic.Uint64 // synapses of each projection
	list     []contact
}

func (g *gatherer) take(w *wiring, b *batch) {
	if g.weigh {
		g.values.weigh(w, b)
	}
	g.values.time(w, b)
	for i, t := range b.target[:b.n] {
		g.list = append(g.list, contact{int64(g.values.value[i]), t, g.values.delay[i]})
	}
	g.totals[w.index].Add(uint64(b.n))
	g.progress.add(uint64(b.n))
}

// merge adds up contacts of one target and delay and forgets the list; what it gives is valid until the next take.
func (g *gatherer) merge() []contact {
	list := g.list
	g.list = g.list[:0]
	slices.SortFunc(list, func(a, b contact) int { return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.delay, b.delay)) })
	n := 0
	for i, c := range list {
		if i > 0 && c.target == list[n-1].target && c.delay == list[n-1].delay {
			list[n-1].quanta += c.quanta
			continue
		}
		list[n] = c
		n++
	}
	return list[:n]
}

// gatherGroups makes the synapses of all groups, source by source, and hands each source's merged ones on.
func (p *plan) gatherGroups(gatherers []gatherer, emit func(worker int, q *group, source uint32, list []contact)) {
	batches := make([]batch, p.workers)
	for i := range batches {
		batches[i].part = p.part
	}
	for i := range p.groups {
		q := &p.groups[i]
		from := q.wirings[0].from
		spans(p.workers, uint64(from.Count), 64, func(worker int, lo, hi uint64) {
			g, b := &gatherers[worker], &batches[worker]
			b.sink = g
			for s := lo; s < hi; s++ {
				for _, w := range q.wirings {
					if w.keep > 0 {
						b.wiring = w
						w.rule.wire(s, s+1, b)
						b.flush()
					}
				}
				emit(worker, q, from.First+uint32(s), g.merge())
			}
		})
	}
}

// countGroups makes the numbers of groups and their wirings exact, and adds the merged synapses to those of their sources
// where row is not nil.
func (p *plan) countGroups(row []uint64, progress *meter) {
	if len(p.groups) == 0 {
		return
	}
	totals := make([]atomic.Uint64, len(p.wirings))
	gatherers := make([]gatherer, p.workers)
	for i := range gatherers {
		gatherers[i] = gatherer{values: &valuer{}, progress: progress, totals: totals}
	}
	for i := range p.groups {
		p.groups[i].synapses = 0
	}
	p.gatherGroups(gatherers, func(_ int, q *group, source uint32, list []contact) {
		if row != nil {
			row[source] += uint64(len(list)) // nobody else has this source now
		}
		atomic.AddUint64(&q.synapses, uint64(len(list)))
	})
	for i := range p.groups {
		for _, w := range p.groups[i].wirings {
			w.settle(totals[w.index].Load())
		}
	}
}

// placeGroups puts the merged synapses into their rows.
func (p *plan) placeGroups(workers []placer) {
	totals := make([]atomic.Uint64, len(p.wirings))
	gatherers := make([]gatherer, p.workers)
	for i := range gatherers {
		gatherers[i] = gatherer{values: &workers[i].valuer, weigh: true, progress: workers[i].progress, totals: totals}
	}
	p.gatherGroups(gatherers, func(worker int, q *group, source uint32, list []contact) {
		c, port := workers[worker].c, q.wirings[0].ports.First
		at := c.Row[source]
		c.Row[source] += uint64(len(list))
		for i, one := range list {
			c.Target[at+uint64(i)], c.Weight[at+uint64(i)] = port+one.target, clamp(one.quanta)
			if c.Delay != nil {
				c.Delay[at+uint64(i)] = one.delay
			}
		}
	})
}
