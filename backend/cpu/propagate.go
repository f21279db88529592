package cpu

import "burst/backend/cpu/vector"

// flight is a spike with runs to deliver to a part: the segments of the next one, and where its row ends.
type flight struct {
	next vector.Span
	end  uint64
}

// propagate is step 1.
func (p *part) propagate() {
	if single := p.rows.single; single != 0 {
		p.listRows(p.b.queues[single-1])
		p.deliver()
		return
	}
	p.launch()
	now := p.b.number % uint64(len(p.due))
	p.spans = p.spans[:0]
	for _, f := range p.due[now] {
		p.spans = append(p.spans, f.next)
	}
	p.deliver()
	p.follow(now)
}

// batch is how many places of rows are asked for together.
const batch = 32

// listRows lists the spans of the rows of a fire queue.
func (p *part) listRows(queue []uint32) {
	first := p.rows.first
	p.spans = p.spans[:0]
	p.b.kernels.FetchRows(first, queue[:min(batch, len(queue))])
	for len(queue) > 0 {
		n := min(batch, len(queue))
		p.b.kernels.FetchRows(first, queue[n:min(2*batch, len(queue))])
		for _, id := range queue[:n] {
			p.spans = append(p.spans, vector.Span{From: first[id], To: first[id+1]})
		}
		queue = queue[n:]
	}
}

// launch makes flights of the newest fire queue of which something may arrive. Those after it may still be the part's own of
// the network (backend.Launch).
func (p *part) launch() {
	longest, least := uint64(len(p.due)), uint64(p.rows.least)
	before := p.b.number%longest + longest - least
	p.listRows(p.b.queues[least-1])
	for _, row := range p.spans {
		if row.From < row.To {
			delay, next := p.rows.run(row.From)
			at := (before + delay) % longest
			p.due[at] = append(p.due[at], flight{next, row.To})
		}
	}
}

// follow moves the flights of a burst that are not at their end to the burst of their next runs.
func (p *part) follow(now uint64) {
	longest := uint64(len(p.due))
	for _, f := range p.due[now] { // sums do not depend on the order of flights
		if f.next.To < f.end {
			delay, next := p.rows.run(f.next.To)
			at := (now + delay - p.rows.delayBefore(f.next.From)) % longest
			p.due[at] = append(p.due[at], flight{next, f.end})
		}
	}
	p.due[now] = p.due[now][:0]
}

// restore makes the flights of the state's fire queues, counts no work, and takes all blocks for live: nothing is known
// about the next burst.
func (p *part) restore() {
	for i := range p.groups {
		p.groups[i].wake()
	}
	p.updated, p.read, p.draws = p.blocked, 0, 0
	p.marking = false
	if p.rows.single != 0 {
		return
	}
	longest := uint64(p.b.c.MaxDelay)
	p.due = make([][]flight, longest)
	for age := uint64(p.rows.least) + 1; age <= longest; age++ { // of a spike, in the burst to come
		for _, n := range p.b.queues[age-1] {
			for at, end := p.rows.first[n], p.rows.first[n+1]; at < end; {
				delay, next := p.rows.run(at)
				if delay >= age {
					in := (p.b.number%longest + delay - age) % longest
					p.due[in] = append(p.due[in], flight{next, end})
					break
				}
				at = next.To
			}
		}
	}
}

// deliver adds the listed spans' weights to the sums and, where sums are marked, notes that.
func (p *part) deliver() {
	r := &p.rows
	p.b.kernels.Deliver(p.acc, r.units, p.spans, r.ahead)
	for _, s := range p.spans {
		p.read += s.To - s.From
	}
	if !p.marking {
		return
	}
	for _, s := range p.spans {
		p.slots = vector.Slots(p.slots[:0], r.units[s.From:s.To])
		for _, slot := range p.slots {
			p.mark(slot)
		}
	}
}
