package cuda

import (
	"runtime"
	"sort"
	"sync"

	"burst/connectome"
)

// queues is the number of bursts whose queue lengths bufSync holds: that of the burst before burst t at t mod queues (length_of of
// kernels/run.cuh). The lengths of rows that are due later follow from laterLengthAt on.
const queues = 4
const laterLengthAt = 48

// arrivedAt is where the two words in which launches count blocks by turns begin.
const arrivedAt = 16

// haltAt is where the number of the newest launch lies that has ended before its last burst (kernels/calls.cuh).
const haltAt = laterLengthAt + 4*queues

// delayed is what kernels/early_rows.cuh takes of a network.
type delayed struct {
	soon  uint32 // synapses of a row that have delay 1, in the mean of rows that have any synapses
	later uint32 // and that have more
	each  []uint32
}

// delayedOf counts the synapses with delay 1 of c's rows, which come first.
func delayedOf(c *connectome.Connectome, filled uint64) delayed {
	d := delayed{each: make([]uint32, c.Neurons)}
	parts := runtime.GOMAXPROCS(0)
	sums := make([]uint64, parts)
	var wg sync.WaitGroup
	for i := range parts {
		lo, hi := len(d.each)*i/parts, len(d.each)*(i+1)/parts
		wg.Go(func() {
			for n := lo; n < hi; n++ {
				d.each[n] = uint32(sort.Search(int(c.Row[n+1]-c.Row[n]), func(k int) bool { return c.DelayOf(c.Row[n]+uint64(k)) > 1 }))
				sums[i] += uint64(d.each[n])
			}
		})
	}
	wg.Wait()
	soon := uint64(0)
	for _, s := range sums {
		soon += s
	}
	d.soon, d.later = uint32(soon/filled), uint32((c.Synapses()-soon)/filled)
	return d
}

// frontWarps is how many warps of a block of the given number of threads update its own neurons and deliver the synapses that are due at
// once. The other warps deliver what is due later, unless they are too few to matter.
func frontWarps(own uint64, threads uint32) uint32 {
	warps := threads/32 - 1
	front := uint32(min(divUp(own, 32), uint64(warps)))
	if warps-front < warps/4 {
		return warps
	}
	return front
}

// soonRows is how many rows, with mean synapses of delay 1, a block's warps deliver at a time, and how long these rows may be. Rows beyond
// that need a second barrier of the grid, which takes about as long as four turns of eight synapses a thread.
func soonRows(synapses, mean uint32) (rows, longest uint32) {
	const warps = 16 // that share a block's synapses
	return synapses / max(1, mean), synapses / warps
}

// warpRows is how many rows of fired neurons a warp delivers at once. It is small, so that delivery starts early and is spread evenly, and
// suits networks in which one in a hundred of the neurons that a warp updates fires.
func warpRows(own uint64, threads uint32) uint32 {
	turns := uint32(own) / (threads - 32)
	return (turns + 2) / 4
}

// laterParts is the smallest and the largest number of warps that share a row. later is the mean number of a row's synapses with delays
// above 1, whole that of all its synapses. A warp gets one to four synapses for each of its threads.
func laterParts(later, whole uint32) (least, most uint32) {
	const four, one = 4 * 32, 32
	least = max(1, (later+four-1)/four)
	return least, max(least, whole/one)
}
