package cpu

import (
	"fmt"
	"slices"
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/engine"
	"burst/internal/plain"
)

// queues are the fire queues of the last bursts, as many as engine.State.Queues: that of burst t is list[t modulo their number].
type queues struct {
	list   [][]uint32
	number uint64 // the next burst
	spikes uint64
}

// newQueues copies those of a state.
func newQueues(number uint64, from [][]uint32) queues {
	q := queues{list: make([][]uint32, len(from)), number: number}
	for d, ids := range from {
		q.list[q.place(number, d+1)] = slices.Clone(ids)
		q.spikes += uint64(len(ids))
	}
	return q
}

// depth is how many there are.
func (q *queues) depth() int { return len(q.list) }

// place is where the queue of d bursts before burst t lies.
func (q *queues) place(t uint64, d int) int {
	n := len(q.list)
	return (int(t%uint64(n)) + n - d) % n
}

// before is the queue of d bursts before burst t, d = 1…depth. It may be read while later ones are pushed, none of burst t or later.
func (q *queues) before(t uint64, d int) []uint32 { return q.list[q.place(t, d)] }

// back is the queue of d bursts ago.
func (q *queues) back(d int) []uint32 { return q.before(q.number, d) }

// set replaces it.
func (q *queues) set(d int, fired []uint32) { q.put(q.place(q.number, d), fired) }

// push adds the queue of the newest burst and drops the oldest one.
func (q *queues) push(fired []uint32) {
	q.put(q.place(q.number, len(q.list)), fired)
	q.number++
}

// put replaces a list. It gives back memory that is far too large, as there may be tens of thousands of lists.
func (q *queues) put(at int, fired []uint32) {
	const spare = 1 << 10
	list := &q.list[at]
	q.spikes += uint64(len(fired)) - uint64(len(*list))
	if cap(*list) > 4*len(fired)+spare {
		*list = nil
	}
	*list = append((*list)[:0], fired...)
}

// checkQueues is the error where queues, the copies of them that the engine and a checkpoint keep, and spikes on their way have outgrown
// their room.
func (b *backend) checkQueues() error {
	const copies = 3
	need := copies * engine.QueueBytes(b.queues.depth(), b.queues.spikes)
	if b.workers[0].rows.single == 0 {
		need += b.queues.spikes * uint64(len(b.workers)) * uint64(unsafe.Sizeof(vector.Flight{}))
	}
	for _, l := range b.learns {
		need += l.flightBytes(len(b.workers))
	}
	if need <= b.queueBytes {
		return nil
	}
	return fmt.Errorf("burst %d: the fire queues of %d bursts hold %d spikes, which take %s with all copies, the limit leaves %s; want shorter delays, a network that fires less, or more memory",
		b.number-1, b.queues.depth(), b.queues.spikes, plain.Bytes(need), plain.Bytes(b.queueBytes))
}
