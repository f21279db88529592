package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"

	"burst/internal/exact"
)

// measured is what rows take that were encoded and discarded.
type measured struct {
	rows, units uint64
	spans       uint64    // runs, or rows with a single delay
	fit         [3]uint64 // rows of at most 8, 16 and 32 units
	rest        uint64    // units outside rooms, of rows that are longer than these
}

func (x *measured) add(y *measured) {
	x.rows, x.units, x.spans, x.rest = x.rows+y.rows, x.units+y.units, x.spans+y.spans, x.rest+y.rest
	for i, n := range y.fit {
		x.fit[i] += n
	}
}

// roomFor is the room for rows of equal room, and the mean length of rows. It is the least one that nearly all rows fit, since one that
// does not costs as much as several that do. It is 0 if there is none, or if it took two and a half times the memory of rows in sequence
// and their places: these are two or three lines of cache where a room is one.
func (x *measured) roomFor(single bool) (room, mean uint64) {
	for k, n := range x.fit {
		if room = 8 << k; single && 32*n >= 31*x.rows && 2*room*x.rows <= (2*x.units+8*x.rows)*5/2 {
			return room, x.units / x.rows
		}
	}
	return 0, 0
}

// sample is the i-th of the neurons measured, one in every step. It is random, because rows may repeat with any period.
func sample(i, step uint32) uint32 {
	return i*step + exact.Philox(0, [4]uint32{i})[0]%step
}

// measure encodes the rows of one neuron in every step and discards them. It returns what each worker's take, given its room, and their
// share of all synapses.
func (o *owners) measure(step uint32, rooms []uint64) (total []measured, share float64) {
	const some = 64
	var next, synapses atomic.Uint64
	var mu sync.Mutex
	total = make([]measured, o.count)
	rows := (uint64(o.c.Neurons) + uint64(step) - 1) / uint64(step)
	o.inParallel(func() {
		k, own := newCutter(o), make([]measured, o.count)
		for lo := next.Add(some) - some; lo < rows; lo = next.Add(some) - some {
			for i := lo; i < min(lo+some, rows); i++ {
				n := min(sample(uint32(i), step), o.c.Neurons-1)
				k.empty()
				k.row(n)
				k.tally(own, rooms)
				synapses.Add(o.c.Row[n+1] - o.c.Row[n])
			}
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range total {
			total[i].add(&own[i])
		}
	})
	return total, float64(synapses.Load()) / float64(max(o.c.Synapses(), 1))
}

// bytes is the memory of all rows and their places.
func (o *owners) bytes() (bytes uint64) {
	if o.c.Synapses() == 0 {
		return 0
	}
	n, rooms := uint64(o.c.Neurons), make([]uint64, o.count)
	guess, _ := o.measure(sampled, rooms)
	for i := range rooms {
		rooms[i], _ = guess[i].roomFor(o.runs.bursts == 0)
	}
	all, _ := o.measure(1, rooms)
	for i, room := range rooms {
		if room > 0 {
			bytes += 2 * (n*room + all[i].rest)
		} else {
			bytes += 2*all[i].units + 8*(n+1)
		}
	}
	return bytes
}

// inParallel runs a goroutine for each worker, of which no processor has two, and waits for them.
func (o *owners) inParallel(do func()) {
	var wg sync.WaitGroup
	for range min(o.count, runtime.GOMAXPROCS(0)) {
		wg.Go(do)
	}
	wg.Wait()
}
