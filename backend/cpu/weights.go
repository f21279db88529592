package cpu

import (
	"math/bits"
	"sync"

	"burst/connectome"
)

// packing says how a connectome's synapses fit into 4 bytes: a slot below, the weight's place in a table above.
type packing struct {
	places
	bits uint // left for a slot
	off  bool // weights are too many
}

// mostWeights is how many weights a table may have: more would not stay in the first cache.
const mostWeights = 1 << 14

// newPacking collects the weights of c as long as they and a part's slots fit into 32 bits.
func newPacking(c *connectome.Connectome, slots, threads int) *packing {
	p := &packing{bits: uint(bits.Len64(uint64(slots)))}
	if p.bits > 31 {
		return &packing{off: true}
	}
	most := min(mostWeights, 1<<(32-p.bits))
	found := make([]places, threads)
	var wg sync.WaitGroup
	for i := range found {
		n := len(c.Weight)
		wg.Go(func() { found[i].collect(c.Weight[n*i/threads:n*(i+1)/threads], most) })
	}
	wg.Wait()
	for i := range found {
		p.collect(found[i].table, most)
		if len(found[i].table) > most || len(p.table) > most {
			return &packing{off: true}
		}
	}
	return p
}

// places tells the place of a weight in a table, by open addressing.
type places struct {
	table []int32
	index []uint16 // by hash: place + 1, or 0
}

// collect adds weights to the table, until it has more than most.
func (p *places) collect(weights []int32, most int) {
	if p.index == nil {
		p.index = make([]uint16, 4*mostWeights)
	}
	for i, w := range weights {
		if i > 0 && w == weights[i-1] {
			continue
		}
		h := p.find(w)
		if p.index[h] != 0 {
			continue
		}
		p.table = append(p.table, w)
		p.index[h] = uint16(len(p.table))
		if len(p.table) > most {
			return
		}
	}
}

// find is where in the index a weight is, or would be put.
func (p *places) find(w int32) uint32 {
	h := uint32(w) * 0x9E3779B1 >> 16
	for p.index[h] != 0 && p.table[p.index[h]-1] != w {
		h = (h + 1) % (4 * mostWeights)
	}
	return h
}

// of is the place of a weight that was collected.
func (p *places) of(w int32) uint32 { return uint32(p.index[p.find(w)] - 1) }
