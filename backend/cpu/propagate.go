package cpu

import (
	"sort"

	"burst/backend/cpu/vector"
)

// flight is a spike that still has segments to deliver to a part: next ≤ s < end.
type flight struct{ next, end uint64 }

// While some rows are delivered, the memory of the next ones is asked for: at most ahead rows of together about fetchAhead
// words. More than that took longer (2, 4, 8 and 32 rows of 100 synapses: 1.9, 1.9, 2.2, 2.6 ns a synapse).
const (
	ahead      = 16
	fetchAhead = 384
)

// propagate is step 1.
func (p *part) propagate() {
	if single := p.rows.single; single != 0 {
		p.deliverQueue(p.b.queues[single-1])
		return
	}
	p.launch()
	longest := uint64(len(p.due))
	now := p.b.number % longest
	var earlier []vector.Span
	for list, which := p.due[now], 0; len(list) > 0; which ^= 1 {
		spans := p.spans[which][:0]
		for words := uint64(0); len(list) > 0 && len(spans) < ahead && words < fetchAhead; list = list[1:] {
			f := &list[0]
			from, d := p.rows.segment(f.next)
			to, later := p.rows.segment(f.next + 1)
			spans = append(spans, vector.Span{From: from, To: to})
			words += to - from
			if f.next++; f.next < f.end { // sums do not depend on the order of flights
				at := (now + later - d) % longest
				p.due[at] = append(p.due[at], *f)
			}
		}
		p.fetch(spans)
		p.deliverAll(earlier)
		earlier = spans
	}
	p.deliverAll(earlier)
	p.due[now] = p.due[now][:0]
}

// launch makes flights of the newest fire queue.
func (p *part) launch() {
	longest := uint64(len(p.due))
	before := p.b.number%longest + longest - 1
	for _, n := range p.b.queues[0] {
		if f := (flight{p.rows.first[n], p.rows.first[n+1]}); f.next < f.end {
			_, d := p.rows.segment(f.next)
			at := (before + d) % longest
			p.due[at] = append(p.due[at], f)
		}
	}
}

// restore makes the flights of a state's fire queues; the newest queue's are launched by the next burst.
func (p *part) restore() {
	for i := range p.groups {
		p.groups[i].wake()
	}
	p.updated, p.events, p.draws = p.blocked, 0, 0
	p.marking = false
	if p.rows.single != 0 {
		return
	}
	longest := uint64(p.b.c.MaxDelay)
	p.due = make([][]flight, longest)
	for age := uint64(2); age <= longest; age++ { // of a spike, in the burst to come
		for _, n := range p.b.queues[age-1] {
			from, end := p.rows.first[n], p.rows.first[n+1]
			from += uint64(sort.Search(int(end-from), func(i int) bool {
				_, d := p.rows.segment(from + uint64(i))
				return d >= age
			}))
			if from < end {
				_, d := p.rows.segment(from)
				at := (p.b.number%longest + d - age) % longest
				p.due[at] = append(p.due[at], flight{from, end})
			}
		}
	}
}

// deliverQueue delivers the rows of all neurons of a fire queue.
func (p *part) deliverQueue(queue []uint32) {
	var earlier []vector.Span
	first := p.rows.first
	p.b.kernels.FetchRows(first, queue[:min(2*ahead, len(queue))])
	for which := 0; len(queue) > 0; which ^= 1 {
		spans := p.spans[which][:0]
		for words := uint64(0); len(queue) > 0 && len(spans) < ahead && words < fetchAhead; queue = queue[1:] {
			s := vector.Span{From: first[queue[0]], To: first[queue[0]+1]}
			spans = append(spans, s)
			words += s.To - s.From
		}
		p.b.kernels.FetchRows(first, queue[min(ahead, len(queue)):min(2*ahead, len(queue))])
		p.fetch(spans)
		p.deliverAll(earlier)
		earlier = spans
	}
	p.deliverAll(earlier)
}

// fetch asks for the segments' memory.
func (p *part) fetch(list []vector.Span) {
	if p.rows.packed != nil {
		p.b.kernels.Fetch(p.rows.packed, list)
		return
	}
	p.b.kernels.Fetch(p.rows.slot, list)
	p.b.kernels.Fetch(p.rows.weight, list)
}

// deliverAll adds the segments' weights to the sums and, where sums are marked, notes that.
func (p *part) deliverAll(list []vector.Span) {
	r := &p.rows
	mask := uint32(1)<<(r.bits&31) - 1
	for _, s := range list {
		p.events += s.To - s.From
		if r.packed == nil {
			slots := r.slot[s.From:s.To]
			p.b.kernels.DeliverPairs(p.acc, slots, r.weight[s.From:s.To])
			if p.marking {
				for _, slot := range slots {
					p.mark(slot)
				}
			}
			continue
		}
		synapses := r.packed[s.From:s.To]
		p.b.kernels.Deliver(p.acc, synapses, r.table, r.bits)
		if p.marking {
			for _, s := range synapses {
				p.mark(s & mask)
			}
		}
	}
}
