package bench

import (
	"runtime"
	"sync"
)

// tally counts the synapses of neurons that fired. To look up their rows takes longer than a burst on a GPU, so the spikes are kept in
// blocks and counted afterwards; only where there are more than all blocks hold, meanwhile.
type tally struct {
	out        []synapses
	spikes     uint64
	block      []uint32 // that is being filled
	free, full chan []uint32
	counting   bool
	counters   sync.WaitGroup
	mu         sync.Mutex // guards what follows
	all        uint64     // synapses of all that fired
	plastic    uint64     // those of them that learn
}

// Blocks of a measurement: 1.25 GiB at most.
const (
	spikesABlock = 1 << 20
	mostBlocks   = 320
)

// newTally has room for the spikes of so many bursts and a quarter more, in at most so many blocks. It looks at all its memory, since a
// first look takes as long as a burst.
func newTally(out []synapses, bursts, each, block, most int) *tally {
	n := most
	if bursts < most*block/each {
		n = min(most, bursts*each/4*5/block+2)
	}
	t := &tally{out: out, free: make(chan []uint32, n), full: make(chan []uint32, n)}
	for range n {
		b := make([]uint32, block)
		clear(b)
		t.free <- b[:0]
	}
	t.block = <-t.free
	return t
}

// add takes the neurons that fired in a burst.
func (t *tally) add(fired []uint32) {
	t.spikes += uint64(len(fired))
	for len(fired) > 0 {
		if len(t.block) == cap(t.block) {
			t.full <- t.block
			select {
			case t.block = <-t.free:
			default:
				t.count()
				t.block = <-t.free
			}
		}
		n := min(len(fired), cap(t.block)-len(t.block))
		t.block = append(t.block, fired[:n]...)
		fired = fired[n:]
	}
}

// count starts the goroutines that count full blocks, which are free then.
func (t *tally) count() {
	if t.counting {
		return
	}
	t.counting = true
	for range max(1, runtime.GOMAXPROCS(0)/2) {
		t.counters.Go(func() {
			all, plastic := uint64(0), uint64(0)
			for block := range t.full {
				for _, neuron := range block {
					all += uint64(t.out[neuron].all)
					plastic += uint64(t.out[neuron].plastic)
				}
				t.free <- block[:0]
			}
			t.mu.Lock()
			defer t.mu.Unlock()
			t.all, t.plastic = t.all+all, t.plastic+plastic
		})
	}
}

// finish counts what is left; nothing is added afterwards. A second call has the same result.
func (t *tally) finish() (all, plastic uint64) {
	if t.block != nil {
		t.count()
		t.full <- t.block
		close(t.full)
		t.counters.Wait()
		t.block = nil
	}
	return t.all, t.plastic
}
