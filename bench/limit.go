package bench

import (
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"burst/internal/pages"
)

// Work is what a burst has to move at least, whatever computes it.
type Work struct {
	Threads  int
	Rows     int    // rows read a burst, those of the neurons that fired
	RowBytes int    // of one row
	Store    uint64 // bytes of all rows
	Ports    uint32 // sums of 4 bytes
	Events   int    // random 4-byte read-modify-writes of sums a burst
	State    uint64 // bytes of state that a burst reads and writes
}

// Limit is how long this machine takes for a burst's work, part by part, in microseconds: the median over bursts of what
// the slowest of the threads needs on average is not seen in one burst, so each thread's own medians are averaged.
type Limit struct {
	Rows  float64 `json:"rows"`  // to read the rows, at random places
	Sums  float64 `json:"sums"`  // to add to random sums
	State float64 `json:"state"` // to pass over the state once
}

// Total is the sum of the parts.
func (l Limit) Total() float64 { return l.Rows + l.Sums + l.State }

// MeasureLimit lets all threads do their shares of the work side by side, bursts times.
func MeasureLimit(w Work, bursts int) Limit {
	store := pages.Slice[uint64](w.Store/8 + 1)
	sums := pages.Slice[int32](max(1, uint64(w.Ports)))
	state := pages.Slice[uint64](w.State/8 + 1)
	for i := range store {
		store[i] = uint64(i) // memory that was never written is one page of zeros
	}
	clear(sums)
	for i := range state {
		state[i] = uint64(i)
	}
	times := make([][3][]float64, w.Threads)
	var wg sync.WaitGroup
	for i := range times {
		wg.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			share := func(n int) (lo, hi int) { return n * i / w.Threads, n * (i + 1) / w.Threads }
			sumsLo, sumsHi := share(len(sums))
			stateLo, stateHi := share(len(state))
			rowLo, rowHi := share(w.Rows)
			eventLo, eventHi := share(w.Events)
			r := rand.New(rand.NewPCG(1, uint64(i)))
			places := make([]uint32, rowHi-rowLo)
			for range bursts {
				for k := range places {
					places[k] = uint32(r.Uint64N(max(1, uint64(len(store)-w.RowBytes/8))))
				}
				times[i][0] = append(times[i][0], micros(func() { keep(readRows(store, places, w.RowBytes/8)) }))
				times[i][1] = append(times[i][1], micros(func() { addAtRandom(sums[sumsLo:sumsHi], eventHi-eventLo, r.Uint32()) }))
				times[i][2] = append(times[i][2], micros(func() { pass(state[stateLo:stateHi]) }))
			}
		})
	}
	wg.Wait()
	var l Limit
	for _, t := range times {
		l.Rows += median(t[0]) / float64(w.Threads)
		l.Sums += median(t[1]) / float64(w.Threads)
		l.State += median(t[2]) / float64(w.Threads)
	}
	return l
}

func micros(f func()) float64 {
	start := time.Now()
	f()
	return float64(time.Since(start).Nanoseconds()) / 1e3
}

func median(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)/2]
}

// readRows adds up rows of words; eight rows are begun before they are read to the end, so that waits overlap.
func readRows(store []uint64, places []uint32, words int) uint64 {
	const line, ahead = 8, 8
	sum := uint64(0)
	for i := 0; i < len(places); i += ahead {
		next := places[min(i+ahead, len(places)):min(i+2*ahead, len(places))]
		for _, p := range next {
			for k := 0; k < words; k += line {
				sum += store[int(p)+k]
			}
		}
		for _, p := range places[i:min(i+ahead, len(places))] {
			row := store[p:][:words]
			for k := 0; k+4 <= len(row); k += 4 {
				sum += row[k] + row[k+1] + row[k+2] + row[k+3]
			}
		}
	}
	return sum
}

// addAtRandom adds to n sums whose places a hash of their number gives: no place waits for another.
func addAtRandom(sums []int32, n int, seed uint32) {
	size := uint64(len(sums))
	for i := range uint32(n) {
		h := (i + seed) * 0x9E3779B1
		h = (h ^ h>>15) * 0x85EBCA6B
		sums[uint64(h)*size>>32]++
	}
}

// pass reads and writes every word.
func pass(state []uint64) {
	for i, x := range state {
		state[i] = x + 1
	}
}

//go:noinline
func keep(uint64) {}
