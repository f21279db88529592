package cpu

import "burst/backend/cpu/internal/vector"

// ring holds the post events of a worker's targets that some synapse may still lack. Each target has a slot, its last perSlot of
// them, latest first: lanes of 16 bits that hold a burst, counted from epoch, plus 1, below mostBursts; 0 is none. An event that
// is pushed out of the slot is lost if all synapses have had it. If not, the whole slot is saved before to a spare one:
//
//	slot of target j   21 20 17 | 14 12  9  8  5     own = 3 of its lanes are in no other slot
//	                            v
//	spare slot older[j]         14 12  9  8  5  4  3  1
//
// The place of an event is 8·slot + lane; later events of the target move it. What on_post reads of an event stands in notes, at its
// place. Spare slots are used in turn and given back in the same order: the oldest are those that all synapses have had first.
type ring struct {
	slots       [][2]uint64
	heads       [][2]uint32 // per target: the first two lanes (vector.Head), and the value of its first trace
	notes       [][]float32
	own         []uint8  // per target
	older       []uint32 // per slot: the number of the spare slot with the events before it; it is no more where first ≤ number < next does not hold
	targets     uint32
	first, next uint32 // numbers of the spare slots in use; slot targets + number mod their count
	events      uint64 // since clear
	dropped     uint64 // of them, those of bursts before done
	epoch       uint64 // the burst that lanes are counted from
	done        uint64 // all synapses have had the events of bursts before
}

const (
	perSlot    = 8
	mostBursts = 1 << 15
	tops       = 0x8000_8000_8000_8000 // the top bits of lanes
	lanes      = 0x0001_0001_0001_0001
)

// spareSlots is how many slots there are beside those of the targets.
func spareSlots(targets uint32) uint32 { return targets/4 + 64 }

func newRing(targets uint32, notes int) ring {
	n := uint64(targets + spareSlots(targets))
	return ring{
		slots: room[[2]uint64](n + 1), // vector.Synapses.Since reads on behind a lane
		heads: room[[2]uint32](uint64(max(targets, 16))), notes: lists(notes, perSlot*n), own: room[uint8](uint64(targets)), older: room[uint32](n), targets: targets,
	}
}

func (r *ring) spares() uint32 { return uint32(len(r.slots)) - 1 - r.targets }

// lane is what lanes hold of burst t − 1.
func (r *ring) lane(t uint64) uint32 { return uint32(t - r.epoch) }

// kept is the number of events that some synapse may lack.
func (r *ring) kept() uint64 { return r.events - r.dropped }

// pushesOut reports whether a further event of target j needs a spare slot.
func (r *ring) pushesOut(j uint32) bool {
	return r.own[j] == perSlot && uint32(r.slots[j][1]>>48) > r.lane(r.done)
}

// fits reports whether targets can have events in burst t.
func (r *ring) fits(list []uint32, t uint64) bool {
	if t-r.epoch >= mostBursts-2 && !r.rebase() || r.next >= 1<<31 {
		return false
	}
	free := r.spares() - (r.next - r.first)
	if uint64(free) >= uint64(len(list)) {
		return true
	}
	for _, j := range list {
		if r.pushesOut(j) {
			if free == 0 {
				return false
			}
			free--
		}
	}
	return true
}

// rebase counts lanes from burst done, if that gains much. Events before become none.
func (r *ring) rebase() bool {
	by := r.done - r.epoch
	if by < mostBursts/2 {
		return false
	}
	less := func(x uint64) uint64 {
		left := (x | tops) - by*lanes
		return left &^ tops & ((left & tops >> 15) * 0x7fff)
	}
	for j := range r.slots {
		s := &r.slots[j]
		s[0], s[1] = less(s[0]), less(s[1])
	}
	for j := range r.heads {
		r.heads[j][0] = vector.Head(r.slots[j][0])
	}
	r.epoch = r.done
	return true
}

// push notes an event of target j in burst t and returns its place.
func (r *ring) push(j uint32, t uint64) uint32 {
	s := &r.slots[j]
	switch {
	case r.pushesOut(j):
		spare := r.slot(r.next)
		r.slots[spare] = *s
		for _, notes := range r.notes {
			copy(notes[perSlot*spare:][:perSlot], notes[perSlot*j:])
		}
		r.older[spare], r.older[j] = r.older[j], r.next
		r.next++
		r.own[j] = 1
	case r.own[j] < perSlot:
		r.own[j]++
	}
	r.events++
	s[1] = s[1]<<16 | s[0]>>48
	s[0] = s[0]<<16 | (t - r.epoch + 1)
	r.heads[j][0] = vector.Head(s[0])
	for _, notes := range r.notes {
		copy(notes[perSlot*j+1:][:perSlot-1], notes[perSlot*j:])
	}
	return perSlot * j
}

// slot is that of a number of a spare one.
func (r *ring) slot(number uint32) uint32 { return r.targets + number%r.spares() }

// burst is the lane of the event at a place.
func (r *ring) burst(at uint32) uint32 {
	return uint32(r.slots[at/perSlot][at/4%2]>>(at%4*16)) & 0xffff
}

// chain appends the places of the events of target j after one burst and up to another, as lanes count them, latest first.
func (r *ring) chain(j, after, till uint32, list []uint32) []uint32 {
	for n := uint32(r.own[j]); ; n = perSlot {
		for lane := range n {
			at := perSlot*j + lane
			switch b := r.burst(at); {
			case b <= after:
				return list
			case b <= till:
				list = append(list, at)
			}
		}
		number := r.older[j]
		if number-r.first >= r.next-r.first {
			return list
		}
		j = r.slot(number)
	}
}

// clear forgets all events; those to come are of burst epoch or later.
func (r *ring) clear(epoch uint64) {
	if r.events > 0 {
		clear(r.slots)
		for j := range r.heads {
			r.heads[j][0] = 0
		}
		clear(r.own)
		clear(r.older)
	}
	r.first, r.next, r.events, r.dropped, r.epoch, r.done = 1, 1, 0, 0, epoch, epoch // older has 0: none
}

// drop notes that all synapses have had the events of bursts before done, which were all but so many of the latest.
func (r *ring) drop(done, but uint64) {
	r.done, r.dropped = done, r.events-but
	for r.first != r.next && uint32(r.slots[r.slot(r.first)][0]&0xffff) <= r.lane(done) {
		r.first++
	}
}
