package connectome

import "sync"

// chains reports whether rows are placed as they are made, without counting first. This is if all rules go by source and some row
// lengths are random. The number of synapses must be known well enough to allocate memory: for a part closely, while a whole network may
// reserve memory for the most that there may be, of which the system gives what is written to.
func (p *plan) chains() bool {
	if len(p.merging) > 0 {
		return false
	}
	for i := range p.rows {
		if !p.rows[i].complete || p.rows[i].longest > longestSorted {
			return false
		}
	}
	unknown := false
	for i := range p.wirings {
		w := &p.wirings[i]
		unknown = unknown || w.most > 0 && !w.rowsKnown(p.part)
	}
	least, most := p.synapses(), p.most()
	if !p.part.Whole() {
		return unknown && most-least <= least/16+1<<20
	}
	_, peak := p.bytes()
	each := bytesASynapse + DelayBytes(p.longestDelay())
	peak = add(peak, mul(add(most-least, mul(uint64(p.workers), longestSorted)), each))
	return unknown && peak <= p.limit
}

// most is an estimate of the number of synapses that is almost never exceeded.
func (p *plan) most() uint64 {
	sum := uint64(0)
	for i := range p.wirings {
		sum = add(sum, p.wirings[i].most)
	}
	return sum
}

// chainRows makes the rows of all areas in memory for that many synapses, which grows if needed. A block of rows is made in
// scratch memory and copied to its place as soon as all blocks before it have theirs.
func (b *builder) chainRows(room uint64) error {
	b.progress.total = 2*room + 1
	out, longest := &chain{row: b.room(room), waiting: map[uint64]arrival{}}, b.longestDelay()
	b.c.Delay = out.row.delay // that there are delays
	parts := uint64(max(1, b.part.Of))
	draws, scratch := min(synapsesAPiece*parts, longestSorted), uint64(0) // a part keeps only few of all draws
	list := b.blocks(func(r *rows) uint64 {
		most := uint64(0)
		for _, q := range r.groups {
			most += q.wirings[0].most
		}
		count := uint64(max(1, r.from.Count))
		size := max(1, draws/(most/count*parts+1))
		mean := most / count * min(size, count)
		scratch = max(scratch, mean+8*root(mean))
		return size
	})
	makers, replies := make([]rowMaker, b.workers), make([]chan uint64, b.workers)
	for i := range makers {
		makers[i], replies[i] = b.newRowMaker(i), make(chan uint64, 1)
	}
	parallel(b.workers, uint64(len(list)), func(worker int, k uint64) {
		m, first := &makers[worker], uint64(list[k].rows.from.First)
		if m.to.target == nil {
			m.to = newRows(scratch, longest) // not out.row, which another goroutine may grow now
		}
		m.at = 0
		m.turnTo(list[k])
		for s := list[k].lo; s < list[k].hi; s++ {
			m.makeRow(list[k].rows, s)
			b.c.Row[first+s+1] = m.at
		}
		at := out.place(k, m.at, replies[worker])
		for s := list[k].lo; s < list[k].hi; s++ {
			b.c.Row[first+s+1] += at
		}
		out.put(at, m.to.between(0, m.at))
		b.progress.add(2 * m.at)
	})
	made := make([][]uint64, len(makers))
	for i := range makers {
		made[i] = makers[i].made
	}
	b.setExact(made, all)
	r := out.row.between(0, out.at)
	b.c.Target, b.c.Weight, b.c.Delay, b.c.ByRule = r.target, r.weight, r.delay, b.byRule()
	b.progress.add(b.progress.total)
	return b.finish()
}

// chain is a prefix sum over blocks of rows, computed while other goroutines still make the rows before.
type chain struct {
	mu      sync.RWMutex // held for writing while the arrays are replaced
	row     row
	turn    sync.Mutex
	next    uint64             // the next block to be placed
	at      uint64             // the first synapse of its rows
	waiting map[uint64]arrival // finished blocks that wait for earlier ones
}

// arrival is the number of synapses of a block. The block's place is sent to the channel.
type arrival struct {
	synapses uint64
	at       chan<- uint64
}

// place returns the place of a block as soon as all blocks before it have theirs. The goroutine with the next block also places
// the finished blocks that wait for it, so that none of their goroutines must run first. reply belongs to the caller and holds
// one place.
func (s *chain) place(block, synapses uint64, reply chan uint64) (at uint64) {
	s.turn.Lock()
	s.waiting[block] = arrival{synapses, reply}
	for one, ok := s.waiting[s.next]; ok; one, ok = s.waiting[s.next] {
		delete(s.waiting, s.next)
		one.at <- s.at
		s.at, s.next = s.at+one.synapses, s.next+1
	}
	s.turn.Unlock()
	return <-reply
}

// put copies the rows of a block to their place.
func (s *chain) put(at uint64, r row) {
	end := at + uint64(len(r.target))
	s.mu.RLock()
	for uint64(len(s.row.target)) < end {
		s.mu.RUnlock()
		s.grow(end)
		s.mu.RLock()
	}
	defer s.mu.RUnlock()
	copy(s.row.target[at:], r.target)
	copy(s.row.weight[at:], r.weight)
	s.row.delay.put(at, r.delay)
}

// grow makes room if the draws have exceeded the estimate.
func (s *chain) grow(least uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := uint64(len(s.row.target)); n < least {
		s.row = s.row.grown(least + least/16)
	}
}
