package cpu

import (
	"math/bits"
	"slices"

	"burst/connectome"
	"burst/internal/pages"
)

// marks say which slots of a part got something in this burst. Marking costs time at every synapse, and saves it where
// most slots get nothing; so a part marks in a burst only where little happens.
type marks struct {
	marking bool
	marked  []uint64 // a bit a slot: something was added to its sum
	summary []uint64 // a bit a word of marked
	sparse  uint32   // slots of feagi groups: only their candidates are updated
	blocked uint32   // neurons that are updated by blocks,
	updated uint32   // and in this burst were
}

func newMarks(groups []group, slots uint32) marks {
	m := marks{}
	for i := range groups {
		switch g := &groups[i]; g.area.Model {
		case connectome.FEAGIModel:
			m.sparse += g.run
		case connectome.LIFModel, connectome.PSCExpModel, connectome.IzhikevichModel, connectome.CustomModel:
			m.blocked += g.run
		}
	}
	m.updated = m.blocked
	words := (slots + 63) / 64
	m.marked, m.summary = pages.Slice[uint64](uint64(words)), make([]uint64, (words+63)/64)
	return m
}

// decide whether to mark in this burst, by what happened in the last one. A mark costs about 3 ns, to look at a feagi slot
// 0.1 ns, to update a neuron 0.4 ns.
func (p *part) decide() {
	p.marking = p.read+uint64(len(p.b.in)) < uint64(p.sparse/32+(p.blocked-p.updated)/8)
	p.read, p.draws, p.updated = 0, 0, 0
}

// work guesses how long the next burst takes the part, in nanoseconds, by what happened in the last one: a unit of rows 1 ns,
// 5 where its slot is marked and looked for; to update a neuron 0.4, a draw and its count 1, a feagi slot that is looked at 0.5.
func (p *part) work() uint64 {
	work := p.read + uint64(p.updated*2/5) + p.draws
	if p.marking {
		return work + 4*p.read
	}
	return work + uint64(p.sparse/2)
}

// add adds to a slot's sum and, where sums are marked, notes it.
func (p *part) add(slot uint32, amount int32) {
	p.acc[slot] += amount
	if p.marking {
		p.mark(slot)
	}
}

func (m *marks) mark(slot uint32) {
	w := slot / 64
	if m.marked[w] == 0 {
		m.summary[w/64] |= 1 << (w % 64)
	}
	m.marked[w] |= 1 << (slot % 64)
}

// hit are slots of a run, 64·block + i for the bits i of mask.
type hit struct {
	block uint32
	mask  uint64
}

// each yields the slots, ascending, counted from the run's begin.
func (h hit) each(yield func(uint32) bool) {
	for m := h.mask; m != 0; m &= m - 1 {
		if !yield(h.block*64 + uint32(bits.TrailingZeros64(m))) {
			return
		}
	}
}

// looks tells whether all sums of a group are looked at in this burst, because marks do not say which are not zero.
func (p *part) looks(g *group) bool { return !p.marking || g.driven }

// forget takes the marks of a group's run of ports away.
func (p *part) forget(g *group, port uint32) {
	if p.marking {
		p.hits = p.words(p.hits[:0], g.slot+port*g.run, g.run, true)
	}
}

// found lists the slots of a group's run of ports whose sums are not zero; take out forgets their marks.
func (p *part) found(g *group, port uint32, out bool) []hit {
	lo := g.slot + port*g.run
	p.hits = p.hits[:0]
	if !p.looks(g) {
		p.hits = p.words(p.hits, lo, g.run, out)
		for k := range p.hits {
			h, mask := &p.hits[k], uint64(0)
			sums := p.acc[lo+64*h.block:][:64]
			for m := h.mask; m != 0; m &= m - 1 {
				i := bits.TrailingZeros64(m)
				if sums[i&63] != 0 {
					mask |= 1 << i
				}
			}
			h.mask = mask
		}
		return p.hits
	}
	if out {
		p.forget(g, port)
		p.hits = p.hits[:0]
	}
	words := p.bits[:g.run/64]
	p.b.kernels.Nonzero(p.acc[lo:lo+g.run], words)
	for b, mask := range words {
		if mask != 0 {
			p.hits = append(p.hits, hit{uint32(b), mask})
		}
	}
	return p.hits
}

// words lists the marked slots of a run, ascending; out forgets the marks.
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

// blocks are what a group's model remembers of every 64 neurons, where it updates them by blocks.
type blocks struct {
	spikes []uint64 // bits of those that fired; zero between bursts
	live   []uint8  // 0: the last update had no input and left every bit as it was, and so would the next
}

func newBlocks(g *group) blocks {
	switch g.area.Model {
	case connectome.LIFModel, connectome.PSCExpModel, connectome.IzhikevichModel, connectome.CustomModel:
		return blocks{make([]uint64, g.run/64), slices.Repeat([]uint8{1}, int(g.run/64))}
	}
	return blocks{}
}

// wake makes all blocks live.
func (b *blocks) wake() {
	for i := range b.live {
		b.live[i] = 1
	}
}
