package connectome

import (
	"cmp"
	"slices"
)

// group is one projection whose rule goes by source, or several ones between the same two areas, onto one port, that merge. Synapses of merging
// projections with the same source, port and delay become one.
type group struct {
	wirings  []*wiring
	synapses uint64 // synapses after merging; a lower bound until they are counted
}

func (q *group) merges() bool { return len(q.wirings) > 1 }

// longest is an upper bound of the synapses of a source before merging.
func (q *group) longest() uint64 {
	sum := uint64(0)
	for _, w := range q.wirings {
		sum = add(sum, w.rule.longest())
	}
	return sum
}

// least is a lower bound of the group's synapses.
func (q *group) least() uint64 {
	most := uint64(0)
	for _, w := range q.wirings {
		most = max(most, w.synapses)
	}
	return most
}

// planMerging groups the projections that merge. A single projection has nothing to merge.
func (p *plan) planMerging() {
	at := map[[3]int]int{}
	for i := range p.wirings {
		w := &p.wirings[i]
		if !w.p.Merge {
			continue
		}
		ends := [3]int{w.p.From, w.p.To, w.p.Port}
		k, ok := at[ends]
		if !ok {
			k = len(p.merging)
			at[ends] = k
			p.merging = append(p.merging, group{})
		}
		p.merging[k].wirings = append(p.merging[k].wirings, w)
	}
	p.merging = slices.DeleteFunc(p.merging, func(q group) bool { return !q.merges() })
	for i := range p.merging {
		q := &p.merging[i]
		for _, w := range q.wirings {
			w.merged = true
		}
		q.synapses = q.least()
	}
}

// longestMerged is an upper bound of the synapses of a source in a group that merges.
func (p *plan) longestMerged() uint64 {
	largest := uint64(0)
	for i := range p.merging {
		largest = max(largest, p.merging[i].longest())
	}
	return largest
}

// contact is a synapse of the current source.
type contact struct {
	quanta int64
	target uint32
	delay  uint16
}

// merger takes the synapses of one source after the other, from all projections of a group.
type merger struct {
	values *valuer
	weigh  bool     // compute weights too; counting needs only delays
	made   []uint64 // synapses before merging, by wiring
	drawn  uint64   // all of them
	list   []contact
}

func (m *merger) take(w *wiring, b *batch) {
	if m.weigh {
		m.values.weigh(w, b)
	}
	m.values.time(w, b)
	for i, t := range b.target[:b.n] {
		m.list = append(m.list, contact{int64(m.values.value[i]), t, m.values.delay[i]})
	}
	m.made[w.slot] += uint64(b.n)
	m.drawn += uint64(b.n)
}

// draw makes the synapses of a source and merges those with the same target and delay. The result is valid until the next call.
func (q *group) draw(source uint64, b *batch, m *merger) []contact {
	m.list = m.list[:0]
	b.sink = m
	for _, w := range q.wirings {
		if w.units() > 0 {
			b.wiring = w
			w.rule.draw(source, source+1, b)
			b.flush()
		}
	}
	list := m.list
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
