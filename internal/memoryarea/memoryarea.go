// Package memoryarea updates memory areas: step 4 of a burst (package engine). All backends but the reference use it. It finds, from the
// fire queues, which neuron of an area fires. Memory areas are small, so one thread of the host does this before the rest of a burst.
package memoryarea

import (
	"encoding/binary"
	"slices"

	"github.com/cespare/xxhash/v2"

	"burst/connectome"
	"burst/engine"
)

// Area is a memory area and what it keeps. In a part of a network every part keeps all of it, for each has the fire queues of all.
type Area struct {
	upstream                          []connectome.Span
	neurons                           connectome.Span
	depth                             int
	lifespan, lifespanGrowth, forGood uint32
	spares                            bool

	state engine.Memory
	used  int               // neurons from here on are free
	known map[uint64]uint32 // neuron of each pattern that is kept
	text  []byte            // scratch of pattern
}

// Of are the memory areas of c, in the order of its areas. They keep nothing until Write.
func Of(c *connectome.Connectome) (list []*Area) {
	for _, a := range c.Memories() {
		of := func(constant string) uint32 { return uint32(a.Constant(constant).Const) }
		m := &Area{neurons: a.Neurons, depth: int(of("temporal_depth")), lifespan: of("lifespan"), lifespanGrowth: of("lifespan_growth"), forGood: of("long_term"), spares: of("spare_seen") != 0}
		for _, from := range a.Upstream {
			m.upstream = append(m.upstream, c.Areas[from].Neurons)
		}
		list = append(list, m)
	}
	return list
}

// Neurons are those of the area.
func (m *Area) Neurons() connectome.Span { return m.neurons }

// Write replaces what the area keeps by a copy of s.
func (m *Area) Write(s *engine.Memory) {
	m.state.Copy(s)
	m.used, m.known = 0, make(map[uint64]uint32)
	for i, left := range s.Lifespan {
		if left > 0 {
			m.used, m.known[s.Pattern[i]] = i+1, uint32(i)
		}
	}
}

// Read copies what the area keeps into s.
func (m *Area) Read(s *engine.Memory) { s.Copy(&m.state) }

// Remember is step 4 of burst t. It returns the number in the network of the neuron that fires, if one does. queues are as in
// engine.State, at least temporal_depth of them; it must be called once for each burst.
func (m *Area) Remember(t uint64, queue func(back int) []uint32) (n uint32, fires bool) {
	s, none := &m.state, uint32(len(m.state.Lifespan))
	longTerm := s.LongTerm[:m.used]
	for i, left := range s.Lifespan[:m.used] { // 4a
		if left >= m.forGood {
			longTerm[i] = 1
		}
	}
	if !m.spares {
		m.age(none) // 4b
	}
	recalled := none
	if t >= uint64(m.depth) {
		if pattern, found := m.pattern(queue); found { // 4c
			if recalled = m.recall(pattern); recalled == none { // 4d
				s.Lost++
			}
		}
	}
	if m.spares {
		m.age(recalled) // 4b
	}
	return m.neurons.First + recalled, recalled < none
}

// age is step 4b, but for one neuron.
func (m *Area) age(but uint32) {
	s := &m.state
	longTerm := s.LongTerm[:m.used]
	for i, left := range s.Lifespan[:m.used] {
		if left == 0 || longTerm[i] != 0 || uint32(i) == but {
			continue
		}
		if s.Lifespan[i] = left - 1; left == 1 {
			delete(m.known, s.Pattern[i])
			s.Pattern[i] = 0
		}
	}
}

// recall gives the neuron of a pattern; their number where a new one finds no room.
func (m *Area) recall(pattern uint64) uint32 {
	s := &m.state
	if i, known := m.known[pattern]; known {
		if s.LongTerm[i] == 0 {
			s.Lifespan[i] += m.lifespanGrowth // below 2^24 each
		}
		return i
	}
	i := slices.Index(s.Lifespan[:m.used], 0)
	if i < 0 {
		if i = m.used; i == len(s.Lifespan) {
			return uint32(i)
		}
		m.used++
	}
	s.Pattern[i], s.Lifespan[i] = pattern, m.lifespan
	m.known[pattern] = uint32(i)
	return uint32(i)
}

// pattern is the hash of who fired upstream in the last bursts; false where nobody did.
func (m *Area) pattern(queue func(back int) []uint32) (hash uint64, found bool) {
	text := m.text[:0]
	for d := m.depth; d >= 1; d-- {
		q := queue(d)
		for _, from := range m.upstream {
			lo, _ := slices.BinarySearch(q, from.First)
			hi, _ := slices.BinarySearch(q, from.End())
			text = binary.LittleEndian.AppendUint32(text, uint32(hi-lo))
			for _, n := range q[lo:hi] {
				text = binary.LittleEndian.AppendUint32(text, n)
			}
			found = found || lo < hi
		}
	}
	m.text = text
	return xxhash.Sum64(text), found
}
