package cpu

import "slices"

// queues are the fire queues of the last bursts, as many as engine.State.Queues, in a ring.
type queues struct {
	list   [][]uint32
	newest int // in list
}

// newQueues copies those of a state.
func newQueues(from [][]uint32) queues {
	q := queues{list: make([][]uint32, len(from))}
	for d, ids := range from {
		q.list[d] = slices.Clone(ids)
	}
	return q
}

// depth is how many there are.
func (q *queues) depth() int { return len(q.list) }

// place is where the queue of d bursts ago lies.
func (q *queues) place(d int) int {
	at := q.newest + d - 1
	if at >= len(q.list) {
		at -= len(q.list)
	}
	return at
}

// back is the queue of d bursts ago, d = 1…depth.
func (q *queues) back(d int) []uint32 { return q.list[q.place(d)] }

// set replaces it.
func (q *queues) set(d int, fired []uint32) { put(&q.list[q.place(d)], fired) }

// push adds the queue of the newest burst and drops the oldest one.
func (q *queues) push(fired []uint32) {
	if q.newest--; q.newest < 0 {
		q.newest = len(q.list) - 1
	}
	put(&q.list[q.newest], fired)
}

// put replaces a list. It gives back memory that is far too large, as there may be tens of thousands of lists.
func put(list *[]uint32, fired []uint32) {
	const spare = 1 << 10
	if cap(*list) > 4*len(fired)+spare {
		*list = nil
	}
	*list = append((*list)[:0], fired...)
}
