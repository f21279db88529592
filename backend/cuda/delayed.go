package cuda

import (
	"runtime"
	"sort"
	"sync"

	"burst/connectome"
)

// laterLengthAt is where bufSync holds the lengths of the queues of delayed_bursts, behind all others.
const laterLengthAt = 48

// delayed is what kernels/delayed_bursts.cu takes of a network.
type delayed struct {
	on    bool
	soon  uint32 // synapses of a row that have delay 1, in the mean of rows that have any synapses
	later uint32 // and that have more
	each  []uint32
}

// delayedOf counts the synapses with delay 1 of c's rows, which come first.
func delayedOf(c *connectome.Connectome, filled uint64) delayed {
	d := delayed{on: true, each: make([]uint32, c.Neurons)}
	parts := runtime.GOMAXPROCS(0)
	sums := make([]uint64, parts)
	var wg sync.WaitGroup
	for i := range parts {
		lo, hi := len(d.each)*i/parts, len(d.each)*(i+1)/parts
		wg.Go(func() {
			for n := lo; n < hi; n++ {
				if c.Delay == nil {
					d.each[n] = uint32(c.Row[n+1] - c.Row[n])
				} else {
					row := c.Delay[c.Row[n]:c.Row[n+1]]
					d.each[n] = uint32(sort.Search(len(row), func(k int) bool { return row[k] > 1 }))
				}
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

// residence is how much of a block's memory the kernels need whose blocks keep their neurons' state in it, of own neurons each, and
// whether that of long rows with delays is the one to take; 0 where none can be.
func (b *backend) residence(t *tables, own uint64) (bytes uint64, delayed bool) {
	if some, _ := customs(b.c); some || b.share.devices > 1 || b.tune.roaming || !rowsFit(b.c, own) {
		return 0, false
	}
	bytes = t.residentBytes(b.c, own) + divUp(b.plan.bytes[bufValues], 16)*16
	if more := bytes + divUp(4*own, 16)*16; b.rows.delayed.on && more <= b.room {
		return more, true
	}
	if bytes > b.room {
		return 0, false
	}
	return bytes, false
}

// planDelayed adds the memory of delayed_bursts to the plan.
func (p *plan) planDelayed(b *backend, t *tables, own uint64) {
	if !b.rows.delayed.on {
		return
	}
	if _, yes := b.residence(t, own); yes {
		p.bytes[bufSoon] = 4 * uint64(b.c.Neurons)
		if b.rows.delays {
			p.bytes[bufLater] = 2 * spikeBytes * uint64(b.c.Neurons)
		}
	}
}

// frontWarps is how many warps of a block of so many threads update its own neurons and deliver what is due at once. The others are
// free for what is due later, unless they are too few to count.
func frontWarps(own uint64, threads uint32) uint32 {
	warps := threads/32 - 1
	front := uint32(min(divUp(own, 32), uint64(warps)))
	if warps-front < warps/4 {
		return warps
	}
	return front
}

// soonRows is how many rows of mean synapses with delay 1 a block's warps deliver together, and how long they may be. What is beyond
// costs a second meeting of all blocks, about as much as four turns of eight synapses a thread.
func soonRows(synapses, mean uint32) (rows, longest uint32) {
	const warps = 16 // that share a block's synapses
	return synapses / max(1, mean), synapses / warps
}

// warpRows is how many rows a warp delivers at once of the neurons that it has updated, a few of those that fire where one in a hundred
// does: so that additions begin early, and are spread evenly all the same.
func warpRows(own uint64, threads uint32) uint32 {
	turns := uint32(own) / (threads - 32)
	return (turns + 2) / 4
}

// laterParts is by how many warps at least and at most a row is delivered of which later synapses in the mean are not due at once, of
// whole ones in all: a warp takes four for each thread at most, and one at least.
func laterParts(later, whole uint32) (least, most uint32) {
	const four, one = 4 * 32, 32
	least = max(1, (later+four-1)/four)
	return least, max(least, whole/one)
}
