package connectome

import (
	"math"
	"math/bits"
)

// set holds the numbers chosen so far of 0…n−1: in open addressing, its size at least twice what it will hold, or as one bit
// a number where that takes less memory.
type set struct {
	slots []uint32 // number + 1; 0 is free; empty where bits serve
	shift uint
	bits  []uint64
}

// setSize is how many slots or, where there are none, how many words of bits a set has for so many of n numbers.
func setSize(capacity, n uint64) (slots, words uint64) {
	words = n/64 + 1
	for slots = 4; slots < 2*capacity && slots < 2*words; slots *= 2 {
	}
	if slots < 2*words {
		return slots, 0
	}
	return 0, words
}

// prepare makes s one for so many of n numbers; what it holds is undefined until it is cleared.
func (s *set) prepare(capacity, n uint64) {
	slots, words := setSize(capacity, n)
	s.slots, s.bits = sized(s.slots, slots), sized(s.bits, words)
	s.shift = uint(65 - bits.Len64(slots))
}

// sized is a list of n entries, of any values, in the memory of list where it suffices.
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
	ends
	n    uint64
	perm permutation
}

func newDistinctPairs(e ends, n uint64) *distinctPairs {
	return &distinctPairs{ends: e, n: n, perm: newPermutation(&e, e.sources*e.others(e.targets))}
}

func (r *distinctPairs) total() (uint64, bool) { return r.n, true }
func (r *distinctPairs) units() uint64         { return r.n }

func (r *distinctPairs) wire(lo, hi uint64, b *batch) {
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
		p.keys[i], p.keys[i+1] = e.draw(uint64(i / 2))
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
			l = turn(l, below(mix(r^p.keys[i]), p.a), p.a)
			r = turn(r, below(mix(l^p.keys[i+1]), p.b), p.b)
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

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014), a bijection that spreads every bit.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
