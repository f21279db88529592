package connectome

import (
	"math"
	"math/bits"

	"burst/internal/exact"
)

// set is the set of numbers of 0…n−1 that were chosen so far. It is a hash table with open addressing, at most half full, or a
// bitmap if that takes less memory.
type set struct {
	slots []uint32 // number + 1; 0 is free; empty where bits serve
	shift uint
	bits  []uint64
}

// setSize is the number of slots that a set needs for so many of n numbers, or the number of words of its bitmap.
func setSize(capacity, n uint64) (slots, words uint64) {
	words = n/64 + 1
	for slots = 4; slots < 2*capacity && slots < 2*words; slots *= 2 {
	}
	if slots < 2*words {
		return slots, 0
	}
	return 0, words
}

// prepare makes room for so many of n numbers. The content is undefined until the set is cleared.
func (s *set) prepare(capacity, n uint64) {
	slots, words := setSize(capacity, n)
	s.slots, s.bits = sized(s.slots, slots), sized(s.bits, words)
	s.shift = uint(65 - bits.Len64(slots))
}

// sized is a list of n entries with undefined values. It uses the memory of list if that is large enough.
func sized[T any](list []T, n uint64) []T {
	if uint64(cap(list)) < n {
		return make([]T, n)
	}
	return list[:n]
}

func (s *set) clear() {
	clear(s.slots)
	clear(s.bits)
}

// put adds n and reports whether it is new.
func (s *set) put(n uint64) bool {
	if len(s.slots) == 0 {
		old := s.bits[n/64]
		s.bits[n/64] |= 1 << (n % 64)
		return s.bits[n/64] != old
	}
	const golden = 0x9e3779b97f4a7c15
	for i := n * golden >> s.shift; ; i = (i + 1) & uint64(len(s.slots)-1) {
		switch s.slots[i] {
		case 0:
			s.slots[i] = uint32(n + 1)
			return true
		case uint32(n + 1):
			return false
		}
	}
}

// has reports whether n was put.
func (s *set) has(n uint64) bool {
	if len(s.slots) == 0 {
		return s.bits[n/64]&(1<<(n%64)) != 0
	}
	const golden = 0x9e3779b97f4a7c15
	for i := n * golden >> s.shift; s.slots[i] != 0; i = (i + 1) & uint64(len(s.slots)-1) {
		if s.slots[i] == uint32(n+1) {
			return true
		}
	}
	return false
}

// choose picks one of 0…last that was not picked before, such that after all picks every subset is equally likely
// (Bentley and Floyd, "A sample of brilliance", 1987); last grows by one from pick to pick.
func (s *set) choose(x, last uint64) uint64 {
	if n := below(x, last+1); s.put(n) {
		return n
	}
	s.put(last)
	return last
}

// distinctPairs makes n different pairs: the first n values of a keyed permutation of all pairs.
type distinctPairs struct {
	counted
	perm permutation
}

func (r *distinctPairs) draw(lo, hi uint64, b *batch) {
	targets := r.others(r.targets)
	for k := lo; k < hi; k++ {
		pair := r.perm.at(k)
		s := pair / targets
		b.add(s, r.past(s, pair%targets), k)
	}
}

// rounds of the permutation; tests count how often each pair of small domains is chosen.
const rounds = 12

// permutation is a Feistel network on a×b ≥ n numbers, walked until it is back below n.
type permutation struct {
	n, a, b uint64
	keys    [rounds]uint64
}

func newPermutation(e *ends, n uint64) permutation {
	p := permutation{n: n, a: max(1, root(n))}
	p.b = (n + p.a - 1) / p.a
	for i := 0; i < rounds; i += 2 {
		p.keys[i], p.keys[i+1] = e.word(uint64(i / 2))
	}
	return p
}

// root is the least r with r² ≥ n, for n < 2^64 − 2^33.
func root(n uint64) uint64 {
	r := uint64(math.Sqrt(float64(n)))
	for r*r >= n && r > 0 {
		r--
	}
	for r*r < n {
		r++
	}
	return r
}

func (p *permutation) at(x uint64) uint64 {
	for {
		l, r := x/p.b, x%p.b
		for i := 0; i < rounds; i += 2 {
			l = turn(l, below(exact.Mix(r^p.keys[i]), p.a), p.a)
			r = turn(r, below(exact.Mix(l^p.keys[i+1]), p.b), p.b)
		}
		if x = l*p.b + r; x < p.n {
			return x
		}
	}
}

// turn is x + by modulo n.
func turn(x, by, n uint64) uint64 {
	if x += by; x >= n {
		x -= n
	}
	return x
}
