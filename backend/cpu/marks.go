package cpu

import (
	"math/bits"

	"burst/backend/cpu/internal/vector"
	"burst/internal/pages"
)

// marks are bits that say which slots of a worker got input in this burst. Marking costs time at every synapse. It saves
// time when most slots get nothing. So a worker marks only in bursts with little activity.
type marks struct {
	marking bool
	marked  []uint64 // one bit per slot: something was added to its sum
	summary []uint64 // one bit per word of marked
	sparse  uint32   // slots of the groups in which only candidates are updated, as if each took the time that one of feagi takes to look at
	blocked uint32   // neurons of the groups that are updated by blocks
	updated uint32   // those of them that were updated in this burst

	mostMarks  uint64 // in the burst in progress, see recount
	otherMarks uint64
	ofRows     uint64 // units of listed rows in this burst
}

func newMarks(groups []group, slots uint32, k *vector.Kernels) marks {
	m := marks{}
	for i := range groups {
		switch g := &groups[i]; {
		case g.area.Model.Kind() == "lif_event":
			m.sparse += g.ports() / k.SlotsPerMark * slotsPerMark
		case g.area.Model.Lazy:
			m.sparse += g.ports()
		case g.law.update == nil:
			m.blocked += g.run
		}
	}
	m.updated = m.blocked
	words := (slots + 63) / 64
	m.marked, m.summary = pages.Slice[uint64](uint64(words)), make([]uint64, (words+63)/64)
	return m
}

// slotsPerMark is how many slots of a feagi group can be looked at in the time that one mark takes. For lif_event the kernels' number
// of that name stands.
const slotsPerMark = 32

// recount begins to count anew. It notes how many marks would be worth their while in this burst, and how many there will be beside those
// of listed rows, if there are as many as in the last one. A mark costs about 3 ns, with what comes of it up to 17, checking a feagi slot
// 0.1 ns, one of lif_event with AVX-512 0.06 ns, updating a neuron 0.4 ns.
func (w *worker) recount() {
	w.mostMarks, w.otherMarks = uint64(w.sparse/slotsPerMark+(w.blocked-w.updated)/8), w.read-w.ofRows
	w.read, w.ofRows, w.draws, w.updated, w.learnt = 0, 0, 0, 0, 0
}

// decide chooses whether to mark in this burst, in which so many units of rows are due, and marks what stimuli have added to.
func (w *worker) decide(due uint64) {
	w.read, w.ofRows = due, due
	w.marking = due+w.otherMarks+uint64(len(w.in)) < w.mostMarks
	if !w.marking || len(w.in) == 0 {
		return
	}
	for i := range w.groups {
		for slot := range w.stimuli(&w.groups[i]) {
			w.mark(slot)
		}
	}
}

// work estimates the time of the worker's next burst in nanoseconds, from the counts of the last one: 1 for a unit of
// rows (5 with marking), 0.4 for an updated neuron, 1 for a random draw, 0.5 for a feagi slot without marking, 16 for
// a plastic synapse, 8 in the pass of pair rules.
func (w *worker) work() uint64 {
	work := w.read + uint64(w.updated*2/5) + w.draws + w.learnt
	if w.marking {
		return work + 4*w.read
	}
	return work + uint64(w.sparse/2)
}

// add adds to a slot's sum and, where sums are marked, notes it.
func (w *worker) add(slot uint32, amount int32) {
	w.acc[slot] += amount
	if w.marking {
		w.mark(slot)
	}
}

func (m *marks) mark(slot uint32) {
	w := slot / 64
	if m.marked[w] == 0 {
		m.summary[w/64] |= 1 << (w % 64)
	}
	m.marked[w] |= 1 << (slot % 64)
}

// hit names up to 64 slots of a run: 64·block + i for every bit i that is set in mask.
type hit struct {
	block uint32
	mask  uint64
}

// each yields the slots, ascending, counted from the beginning of the run.
func (h hit) each(yield func(uint32) bool) {
	for m := h.mask; m != 0; m &= m - 1 {
		if !yield(h.block*64 + uint32(bits.TrailingZeros64(m))) {
			return
		}
	}
}

// looks reports whether all sums of a group must be checked in this burst, because the marks do not cover them.
func (w *worker) looks(g *group) bool { return !w.marking || g.driven }

// forget clears the marks of a group's run of ports.
func (w *worker) forget(g *group, port uint32) {
	if w.marking {
		w.hits = w.words(w.hits[:0], g.slot+port*g.run, g.run, true)
	}
}

// found lists the slots of a group's run of ports whose sums are not zero; out clears their marks.
func (w *worker) found(g *group, port uint32, out bool) []hit {
	lo := g.slot + port*g.run
	w.hits = w.hits[:0]
	if !w.looks(g) {
		w.hits = w.words(w.hits, lo, g.run, out)
		for k := range w.hits {
			h, mask := &w.hits[k], uint64(0)
			sums := w.acc[lo+64*h.block:][:64]
			for m := h.mask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				if sums[i&63] != 0 {
					mask |= 1 << i
				}
			}
			h.mask = mask
		}
		return w.hits
	}
	if out {
		w.forget(g, port)
		w.hits = w.hits[:0]
	}
	words := w.bits[:g.run/64]
	w.b.kernels.Nonzero(w.acc[lo:lo+g.run], words)
	for b, mask := range words {
		if mask != 0 {
			w.hits = append(w.hits, hit{uint32(b), mask})
		}
	}
	return w.hits
}

// words lists the marked slots of a run, ascending; out clears the marks.
func (m *marks) words(list []hit, lo, run uint32, out bool) []hit {
	first, end := lo/64, (lo+run)/64
	for s := first / 64; s < (end+63)/64; s++ {
		for words := m.summary[s]; words != 0; words &= words - 1 {
			w := s*64 + uint32(bits.TrailingZeros64(words))
			if w < first || w >= end {
				continue
			}
			list = append(list, hit{w - first, m.marked[w]})
			if out {
				m.marked[w] = 0
				m.summary[s] &^= 1 << (w % 64)
			}
		}
	}
	return list
}

// blocks hold, for a model that updates neurons in blocks of 64, one entry per block.
type blocks struct {
	spikes []uint64 // one bit per neuron that fired; zero between bursts
	live   []uint8  // 0: the last update had no input and changed nothing, so the next one may be skipped
}

// wake makes all blocks live.
func (b *blocks) wake() {
	for i := range b.live {
		b.live[i] = 1
	}
}
