package engine

import (
	"fmt"

	"burst/connectome"
)

// Memory is the state of a memory area. Slices have one entry for each of its neurons.
type Memory struct {
	Pattern  []uint64 // hash of the neuron's pattern; 0 while it is free
	Lifespan []uint32 // bursts that it has left; 0: it is free
	LongTerm []uint8  // 1: it keeps its pattern for good
	Lost     uint64   // bursts with a new pattern for which no neuron was free
}

// MemoryBytesEach is the size of Pattern, Lifespan and LongTerm for one neuron.
const MemoryBytesEach = 8 + 4 + 1

// MemoryBytes is the size of the state of all memory areas.
func MemoryBytes(c *connectome.Connectome) (n uint64) {
	for _, a := range c.Memories() {
		n += MemoryBytesEach * uint64(a.Neurons.Count)
	}
	return n
}

// Kept returns how many neurons have a pattern, and how many of these are long-term.
func (s *Memory) Kept() (patterns, longTerm int) {
	for i, left := range s.Lifespan {
		if left > 0 {
			patterns++
			longTerm += int(s.LongTerm[i])
		}
	}
	return patterns, longTerm
}

// resize gives the slices n entries; their content is undefined.
func (s *Memory) resize(n int) {
	s.Pattern, s.Lifespan, s.LongTerm = resized(s.Pattern, n), resized(s.Lifespan, n), resized(s.LongTerm, n)
}

// start makes it the state before burst 0.
func (s *Memory) start() {
	clear(s.Pattern)
	clear(s.Lifespan)
	clear(s.LongTerm)
	s.Lost = 0
}

// Copy makes s equal to from. Memory is reused where it is large enough.
func (s *Memory) Copy(from *Memory) {
	s.Pattern, s.Lifespan = append(s.Pattern[:0], from.Pattern...), append(s.Lifespan[:0], from.Lifespan...)
	s.LongTerm, s.Lost = append(s.LongTerm[:0], from.LongTerm...), from.Lost
}

// size shows the lengths of the slices.
func (s *Memory) size() string {
	return fmt.Sprintf(", %d patterns, %d lifespans, %d flags of a memory area", len(s.Pattern), len(s.Lifespan), len(s.LongTerm))
}

// compareMemory is the first difference of what memory areas keep, or nil.
func compareMemory(a, b []Memory) *Difference {
	for k := range a {
		x, y := &a[k], &b[k]
		differ := func(i int, what, a, b string) *Difference {
			return &Difference{Field: fmt.Sprintf("memory area %d: %s of its neuron %d", k, what, i), A: a, B: b}
		}
		for i := range x.Pattern {
			switch {
			case x.Pattern[i] != y.Pattern[i]:
				return differ(i, "pattern", fmt.Sprintf("%016x", x.Pattern[i]), fmt.Sprintf("%016x", y.Pattern[i]))
			case x.Lifespan[i] != y.Lifespan[i]:
				return differ(i, "lifespan", fmt.Sprint(x.Lifespan[i]), fmt.Sprint(y.Lifespan[i]))
			case x.LongTerm[i] != y.LongTerm[i]:
				return differ(i, "long-term flag", fmt.Sprint(x.LongTerm[i]), fmt.Sprint(y.LongTerm[i]))
			}
		}
		if x.Lost != y.Lost {
			return &Difference{Field: fmt.Sprintf("memory area %d: lost patterns", k), A: number(x.Lost), B: number(y.Lost)}
		}
	}
	return nil
}

// check reports the first thing in which s does not fit a.
func (s *Memory) check(a *connectome.Area) error {
	n := int(a.Neurons.Count)
	if len(s.Pattern) != n || len(s.Lifespan) != n || len(s.LongTerm) != n {
		return fmt.Errorf("state of memory area %q with %d patterns, %d lifespans and %d flags, want %d of each", a.Name, len(s.Pattern), len(s.Lifespan), len(s.LongTerm), n)
	}
	of := map[uint64]int{}
	for i, left := range s.Lifespan {
		pattern, longTerm := s.Pattern[i], s.LongTerm[i]
		other, known := of[pattern]
		switch {
		case longTerm > 1:
			return fmt.Errorf("state: long-term flag of neuron %d of memory area %q is %d, want 0 or 1", i, a.Name, longTerm)
		case left == 0 && (pattern != 0 || longTerm != 0):
			return fmt.Errorf("state: neuron %d of memory area %q has pattern %016x, long-term flag %d and no lifespan, want a lifespan or neither of the others", i, a.Name, pattern, longTerm)
		case longTerm == 1 && left < uint32(a.Constant("long_term").Const):
			return fmt.Errorf("state: neuron %d of memory area %q is long-term with %d bursts left, want at least %v", i, a.Name, left, a.Constant("long_term").Const)
		case left > 0 && known:
			return fmt.Errorf("state: neurons %d and %d of memory area %q have one pattern, %016x", other, i, a.Name, pattern)
		case left > 0:
			of[pattern] = i
		}
	}
	return nil
}
