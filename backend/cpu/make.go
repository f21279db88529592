package cpu

import (
	"sync"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/pages"
)

// sampled: one row in so many is measured to estimate the length of all.
const sampled = 61

// makeRows encodes the synapses of c that end at the slots of each worker.
func makeRows(c *connectome.Connectome, workers []*worker, delays []int) []rows {
	list := make([]rows, len(workers))
	runs := runsOf(c, delays, workers)
	for i := range list {
		r := &list[i]
		if r.runs = runs; len(delays) == 1 {
			r.single = delays[0]
		}
	}
	if c.Synapses() == 0 {
		return list
	}
	m := maker{owners: newOwners(c, workers, runs), list: list}
	guess, share := m.measure(sampled, make([]uint64, len(list)))
	for i := range list {
		m.reserve(&list[i], &guess[i], m.slots[i], share)
	}
	for !m.encode() {
	}
	return list
}

// maker fills the rows of all workers.
type maker struct {
	*owners
	list []rows
	used []uint64 // units of each worker that blocks have so far
}

// reserve makes the memory of a worker's rows.
func (m *maker) reserve(r *rows, guess *measured, slots uint32, share float64) {
	n := uint64(m.c.Neurons)
	if r.rooms.Room, r.mean = guess.roomFor(r.single != 0); r.rooms.Room > 0 {
		r.rooms.Units = pages.Slice[uint16](n * r.rooms.Room)
		if slots <= vector.MostDirect {
			r.rooms.Slots = slots
		}
		return
	}
	r.first = pages.Slice[uint64](n + 1)
	spans := max(1, guess.spans)
	r.ahead = aheadOf(guess.units, spans)
	r.units = pages.Slice[uint16](uint64(1.02 * float64(guess.units) / max(share, 1e-9)))
	if r.bursts > 0 && len(r.units) <= cachedUnits {
		r.ahead = 0
	}
}

// encode is a pass over all synapses. It reports whether all rows had the memory that they need; those that had not have it then.
func (m *maker) encode() bool {
	m.used = make([]uint64, m.count)
	for i := range m.list {
		m.list[i].rooms.Rest = nil
	}
	b := newDeal(m.c)
	m.inParallel(func() {
		k := newCutter(m.owners)
		for lo, hi, turn := b.take(); lo < hi; lo, hi, turn = b.take() {
			m.cutBlock(k, lo, hi)
			b.inTurn(turn, func() { m.place(k) })
			m.store(k, lo, hi)
		}
	})
	fit := true
	for i := range m.list {
		switch r, used := &m.list[i], m.used[i]; {
		case r.rooms.Room > 0:
		case used > uint64(len(r.units)):
			r.units = nil // so that the garbage collector can free it: copying would take twice the memory
			r.units, fit = pages.Slice[uint16](used), false
		default:
			r.units = r.units[:used]
		}
	}
	return fit
}

// cutBlock encodes the rows lo ≤ n < hi. A row that fits its room goes there at once.
func (m *maker) cutBlock(k *cutter, lo, hi uint32) {
	k.empty()
	for n := lo; n < hi; n++ {
		k.row(n)
		for i := range m.list {
			r := &m.list[i]
			if r.rooms.Room == 0 {
				r.first[n+1] = uint64(len(k.units[i]))
				continue
			}
			row := k.units[i][k.kept[i]:]
			if uint64(len(row)) <= r.rooms.Room {
				r.rooms.Put(n, row)
				k.units[i] = k.units[i][:k.kept[i]]
			} else {
				k.long[i], k.kept[i] = append(k.long[i], longRow{n, len(row)}), len(k.units[i])
			}
		}
	}
}

// place says where the block's units begin in those of each worker. Blocks come in turn, so the place does not depend on the threads.
func (m *maker) place(k *cutter) {
	for i := range m.list {
		k.base[i] = m.used[i]
		m.used[i] += uint64(len(k.units[i]))
		at := 0
		for _, row := range k.long[i] {
			m.list[i].rooms.Put(row.n, k.units[i][at:at+row.units])
			at += row.units
		}
	}
}

// store copies the block to its place, where there is memory.
func (m *maker) store(k *cutter, lo, hi uint32) {
	for i := range m.list {
		r, base := &m.list[i], k.base[i]
		if r.rooms.Room > 0 {
			continue
		}
		for n := lo; n < hi; n++ {
			r.first[n+1] += base
		}
		if end := base + uint64(len(k.units[i])); end <= uint64(len(r.units)) {
			copy(r.units[base:end], k.units[i])
		}
	}
}

// deal gives out all rows, some at a time and in order.
type deal struct {
	c     *connectome.Connectome
	mu    sync.Mutex
	next  uint32 // row
	taken uint64 // blocks
	turn  uint64 // the block whose turn it is
	over  sync.Cond
}

func newDeal(c *connectome.Connectome) *deal {
	b := &deal{c: c}
	b.over.L = &b.mu
	return b
}

// A block has at most so many synapses or one row, and at most so many rows: what is made of it should stay in the second-level cache.
const (
	blockSynapses = 1 << 16
	blockRows     = 1 << 10
)

// take takes the next block, the rows lo ≤ n < hi; none is left if they are the same.
func (b *deal) take() (lo, hi uint32, turn uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	lo = b.next
	end := uint32(min(uint64(lo)+blockRows, uint64(b.c.Neurons)))
	for hi = lo; hi < end && (hi == lo || b.c.Row[hi+1]-b.c.Row[lo] <= blockSynapses); hi++ {
	}
	turn, b.next = b.taken, hi
	b.taken++
	return lo, hi, turn
}

// inTurn does something for a block once it is done for all blocks before.
func (b *deal) inTurn(turn uint64, do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.turn != turn {
		b.over.Wait()
	}
	do()
	b.turn++
	b.over.Broadcast()
}
