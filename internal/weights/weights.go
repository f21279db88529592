// Package weights numbers the few different weights of a network, so that backends can store a synapse in 4 bytes.
package weights

import "sync"

// limit is how many weights a Table may have.
const limit = 1 << 14

// Table lists different weights and tells each one's place in the list, by open addressing.
type Table struct {
	List  []int32
	index []uint16 // by hash: place + 1, or 0
}

// Collect lists the weights in the order of their first appearance, nil when there are more than most, at most limit. Each of
// threads takes a part, so that the order depends on their number.
func Collect(weights []int32, most, threads int) *Table {
	most = min(most, limit)
	found := make([]Table, threads)
	var wg sync.WaitGroup
	for i := range found {
		n := len(weights)
		wg.Go(func() { found[i].collect(weights[n*i/threads:n*(i+1)/threads], most) })
	}
	wg.Wait()
	t := &Table{}
	for i := range found {
		t.collect(found[i].List, most)
		if len(found[i].List) > most || len(t.List) > most {
			return nil
		}
	}
	return t
}

// collect adds weights, until there are more than most.
func (t *Table) collect(weights []int32, most int) {
	if t.index == nil {
		t.index = make([]uint16, 4*limit)
	}
	for i, w := range weights {
		if i > 0 && w == weights[i-1] {
			continue
		}
		h := t.find(w)
		if t.index[h] != 0 {
			continue
		}
		t.List = append(t.List, w)
		t.index[h] = uint16(len(t.List))
		if len(t.List) > most {
			return
		}
	}
}

// find is the place of a weight in the index, or the place where it would be put.
func (t *Table) find(w int32) uint32 {
	h := uint32(w) * 0x9E3779B1 >> 16
	for t.index[h] != 0 && t.List[t.index[h]-1] != w {
		h = (h + 1) % (4 * limit)
	}
	return h
}

// Place is the place of a weight that was collected.
func (t *Table) Place(w int32) uint32 { return uint32(t.index[t.find(w)] - 1) }
