package reference

import (
	"encoding/binary"

	"github.com/cespare/xxhash/v2"

	"burst/connectome"
	"burst/engine"
)

// memory is step 4 of memory areas: remember has found which neuron fires.
func memory(b *backend, a *connectome.Area, i uint32, _ []float32, _ uint64) bool {
	fires, any := b.recalled[a]
	return any && fires == i
}

// remember is what a memory area does once in burst t. It looks at every neuron.
func (b *backend) remember(a *connectome.Area, s *engine.Memory, t uint64) {
	delete(b.recalled, a)
	spares, none := a.Constant("spare_seen").Const != 0, a.Neurons.Count
	for i, left := range s.Lifespan { // 4a
		if left >= uint32(a.Constant("long_term").Const) {
			s.LongTerm[i] = 1
		}
	}
	if !spares {
		forget(s, none) // 4b
	}
	fires := none
	if pattern, found := b.pattern(a, t); found {
		if fires = recall(a, s, pattern); fires == none {
			s.Lost++
		} else {
			b.recalled[a] = fires
		}
	}
	if spares {
		forget(s, fires) // 4b
	}
}

// forget is step 4b, but for one neuron.
func forget(s *engine.Memory, but uint32) {
	for i := range s.Lifespan {
		if left := &s.Lifespan[i]; *left > 0 && s.LongTerm[i] == 0 && uint32(i) != but {
			if *left--; *left == 0 {
				s.Pattern[i] = 0
			}
		}
	}
}

// recall is step 4d. It gives the neuron that fires; their number where none is free.
func recall(a *connectome.Area, s *engine.Memory, pattern uint64) uint32 {
	for i, left := range s.Lifespan { // known
		if left > 0 && s.Pattern[i] == pattern {
			if s.LongTerm[i] == 0 {
				s.Lifespan[i] += uint32(a.Constant("lifespan_growth").Const) // below 2^24 each: more would be long-term
			}
			return uint32(i)
		}
	}
	for i, left := range s.Lifespan { // new
		if left == 0 {
			s.Pattern[i], s.Lifespan[i] = pattern, uint32(a.Constant("lifespan").Const)
			return uint32(i)
		}
	}
	return a.Neurons.Count
}

// pattern is step 4c: the hash of who fired upstream in the last bursts, false where nobody did or there were not so many bursts.
func (b *backend) pattern(a *connectome.Area, t uint64) (hash uint64, found bool) {
	depth := uint32(a.Constant("temporal_depth").Const)
	if t < uint64(depth) {
		return 0, false
	}
	var text []byte
	for d := depth; d >= 1; d-- {
		for _, from := range a.Upstream {
			neurons, ids := b.c.Areas[from].Neurons, []byte{}
			for _, n := range b.state.Queues[d-1] {
				if neurons.Has(n) {
					ids = binary.LittleEndian.AppendUint32(ids, n)
				}
			}
			text = binary.LittleEndian.AppendUint32(text, uint32(len(ids)/4))
			text = append(text, ids...)
			found = found || len(ids) > 0
		}
	}
	return xxhash.Sum64(text), found
}
