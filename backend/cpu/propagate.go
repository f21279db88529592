package cpu

import "sort"

// flight is a spike that still has segments to deliver to a part: next ≤ s < end.
type flight struct{ next, end uint64 }

// ahead is how many rows are touched before they are delivered, so that the waits for memory overlap.
const ahead = 8

// propagate is step 1.
func (p *part) propagate() {
	r := &p.rows
	if r.single != 0 {
		p.deliverQueue(p.b.queues[r.single-1])
		return
	}
	p.launch()
	longest := uint64(len(p.flights))
	var block [ahead]segment
	n := 0
	for d := uint64(1); d <= longest; d++ {
		slot := (p.b.number + longest - d) % longest
		list := p.flights[slot]
		for i := 0; i < len(list); {
			f := &list[i]
			if r.delay[f.next] != uint8(d) {
				i++
				continue
			}
			block[n] = segment{r.start[f.next], r.start[f.next+1]}
			if n++; n == ahead {
				p.deliverAll(block[:n])
				n = 0
			}
			if f.next++; f.next == f.end { // sums do not depend on the order of flights
				list[i] = list[len(list)-1]
				list = list[:len(list)-1]
				continue
			}
			i++
		}
		p.flights[slot] = list
	}
	p.deliverAll(block[:n])
}

// launch makes flights of the newest fire queue.
func (p *part) launch() {
	longest := uint64(len(p.flights))
	slot := (p.b.number + longest - 1) % longest
	list := p.flights[slot][:0]
	for _, n := range p.b.queues[0] {
		if f := (flight{p.rows.first[n], p.rows.first[n+1]}); f.next < f.end {
			list = append(list, f)
		}
	}
	p.flights[slot] = list
}

// restore makes the flights of a state's fire queues; the newest queue's are launched by the next burst.
func (p *part) restore() {
	if p.rows.single != 0 {
		return
	}
	longest := p.b.c.MaxDelay
	if p.flights == nil {
		p.flights = make([][]flight, longest)
	}
	for d := 1; d <= longest; d++ {
		slot := (p.b.number%uint64(longest) + uint64(longest-d)) % uint64(longest)
		list := p.flights[slot][:0]
		for _, n := range p.b.queues[d-1] {
			from, end := p.rows.first[n], p.rows.first[n+1]
			delays := p.rows.delay[from:end]
			from += uint64(sort.Search(len(delays), func(i int) bool { return int(delays[i]) >= d }))
			if from < end {
				list = append(list, flight{from, end})
			}
		}
		p.flights[slot] = list
	}
}

// segment is a run of synapses, from ≤ k < to.
type segment struct{ from, to uint64 }

// deliverQueue delivers the rows of all neurons of a fire queue.
func (p *part) deliverQueue(queue []uint32) {
	var block [ahead]segment
	for len(queue) > 0 {
		rows := block[:min(ahead, len(queue))]
		for i := range rows {
			rows[i] = segment{p.rows.first[queue[i]], p.rows.first[queue[i]+1]}
		}
		queue = queue[len(rows):]
		p.deliverAll(rows)
	}
}

// deliverAll touches the segments' memory, then adds their weights to the sums.
func (p *part) deliverAll(list []segment) {
	r := &p.rows
	switch {
	case r.packed != nil:
		p.touch(r.packed, list)
		for _, s := range list {
			p.deliverPacked(r.packed[s.from:s.to])
		}
	default:
		p.touch(r.slot, list)
		for _, s := range list {
			p.deliver(r.slot[s.from:s.to], r.weight[s.from:s.to])
		}
	}
}

// touch reads a word of each cache line that the segments begin with.
func (p *part) touch(words []uint32, list []segment) {
	const line, most = 16, 256 // words; further ones the processor fetches ahead by itself
	sum := uint32(0)
	for _, s := range list {
		for k := s.from; k < min(s.to, s.from+most); k += line {
			sum += words[k]
		}
	}
	p.touched = sum
}

func (p *part) deliverPacked(synapses []uint32) {
	table, bits := p.rows.table, p.rows.bits&31
	mask := uint32(1)<<bits - 1
	if p.marks {
		for _, s := range synapses {
			p.add(s&mask, table[s>>bits])
		}
		return
	}
	acc := p.acc
	if len(table) == 1 {
		w := table[0]
		for _, s := range synapses {
			acc[s] += w
		}
		return
	}
	for _, s := range synapses {
		acc[s&mask] += table[s>>bits]
	}
}

func (p *part) deliver(slots []uint32, weights []int32) {
	weights = weights[:len(slots)]
	if p.marks {
		for k, s := range slots {
			p.add(s, weights[k])
		}
		return
	}
	acc := p.acc
	for k, s := range slots {
		acc[s] += weights[k]
	}
}

// add adds to a slot's sum and, where sums are marked, notes it.
func (p *part) add(slot uint32, amount int32) {
	p.acc[slot] += amount
	if !p.marks {
		return
	}
	w := slot / 64
	if p.marked[w] == 0 {
		p.summary[w/64] |= 1 << (w % 64)
	}
	p.marked[w] |= 1 << (slot % 64)
}
