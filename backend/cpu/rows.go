package cpu

import (
	"cmp"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/quanta"
)

// rows are the synapses that end at a worker's slots, one row per source neuron. The row of neuron n is
// units[first[n]:first[n+1]]. If the network has a single delay, a row is a list of segments (package vector). Otherwise it
// is a list of runs (vector.RunUnits), by ascending delay. If c has no synapse but plastic ones, there is no list at all. Where rows of
// a single delay are short, as with many workers, they have rooms of equal size in place of first and units.
type rows struct {
	first  []uint64
	units  []uint16
	single int // the only delay; 0 if there are several
	runs       // with several delays
	rooms  vector.Rooms
	mean   uint64 // units of a row in rooms
	ahead  int    // how many spans, or runs, ahead of the delivered one memory is prefetched
}

// runs says how a row with several delays is cut. The delays of all rows are dealt, from the least one on, into ranges of equal length.
// A run has a row's synapses of one range. They are delivered together, so a worker has sums for as many bursts as a range has delays.
type runs struct {
	least  int // the smallest delay
	bursts int // delays of a range; 0: all synapses have one delay
}

// begin is the first delay of the range that has synapse k.
func (r runs) begin(c *connectome.Connectome, k uint64) int { return int(c.DelayOf(k) - r.later(c, k)) }

// later is how many bursts synapse k is due after those that have its range's first delay.
func (r runs) later(c *connectome.Connectome, k uint64) uint32 {
	if r.bursts < 2 {
		return 0
	}
	return (c.DelayOf(k) - uint32(r.least)) % uint32(r.bursts)
}

// sums is for how many bursts a worker has sums.
func (r runs) sums() int { return max(1, r.bursts) }

// mostOfDelay is how many synapses of the same delay a neuron may have if there are several delays. So many synapses of 4
// units each, with the headers of their segments, stay below 2^32 units.
const mostOfDelay = 1<<30 - 1<<15

// checkRuns returns an error if a neuron has more than most synapses of the same delay and there are several delays.
func checkRuns(c *connectome.Connectome, most uint64) error {
	for n := range c.Neurons {
		from, end := c.Row[n], c.Row[n+1]
		if c.Delay.None() || end-from <= most {
			continue
		}
		for from < end {
			next := sameDelay(c, from, end)
			if next-from > most && len(delays(c, runtime.GOMAXPROCS(0))) > 1 {
				return fmt.Errorf("neuron %d has %d synapses with a delay of %d bursts; where delays differ the cpu backend takes at most %d, the reference backend any number",
					n, next-from, c.DelayOf(from), most)
			}
			from = next
		}
	}
	return nil
}

// delays lists the delays that occur in c, ascending; so many goroutines look for them.
func delays(c *connectome.Connectome, threads int) []int {
	if c.Delay.None() {
		return []int{1}
	}
	seen := make([][]bool, threads)
	var wg sync.WaitGroup
	for i := range uint64(threads) {
		wg.Go(func() {
			part, own := c.Delay.Between(c.Synapses()*i/uint64(threads), c.Synapses()*(i+1)/uint64(threads)), make([]bool, quanta.MaxDelay+1)
			for _, d := range part.Short {
				own[d] = true
			}
			for _, d := range part.Long {
				own[d] = true
			}
			seen[i] = own
		})
	}
	wg.Wait()
	var list []int
	for d := range seen[0] {
		if slices.ContainsFunc(seen, func(s []bool) bool { return s[d] }) {
			list = append(list, d)
		}
	}
	return list
}

// mostSums is how much memory a worker's sums of several bursts may take. They should stay in the second-level cache of a core.
const mostSums = 192 << 10

// runsOf chooses how many delays a range has. The more workers there are, the fewer synapses of one delay each of them has, and a run's
// header takes more than these. A range has one delay where the sums of several bursts would be too large, or where marks say which of
// them to look at.
func runsOf(c *connectome.Connectome, delays []int, workers []*worker) runs {
	r := runs{least: delays[0]}
	if len(delays) > 1 {
		r.bursts = 1
	}
	slots := slices.MaxFunc(workers, func(a, b *worker) int { return cmp.Compare(a.slots, b.slots) }).slots
	if r.bursts == 0 || slots == 0 || slices.ContainsFunc(c.Areas, rests) || longestRow(c) > mostOfDelay {
		return r
	}
	r.bursts = max(1, min(delays[len(delays)-1]-delays[0]+1, int(mostSums/4/slots)))
	return r
}

// longestRow is how many synapses a neuron has at most.
func longestRow(c *connectome.Connectome) (most uint64) {
	for n := range c.Neurons {
		most = max(most, c.Row[n+1]-c.Row[n])
	}
	return most
}

// rests reports whether there may be bursts in which not all sums of an area are looked at.
func rests(a connectome.Area) bool {
	return a.PortsEach() > 0 && !slices.ContainsFunc(a.Drives, func(d connectome.Drive) bool {
		return (d.Kind == connectome.Poisson || d.Kind == connectome.Noise) && d.From == 0 && d.Until == math.MaxUint64
	})
}

// cachedUnits of rows with several delays stay in the caches: runs of more are prefetched.
const cachedUnits = 1 << 16

// aheadOf is how many spans ahead to prefetch, if all spans have total units: enough to hide the latency of memory, and few
// enough to stay in the first-level cache.
func aheadOf(total, spans uint64) int {
	const units = 1024
	return int(min(max(units*spans/max(total, 1), 2), 16))
}
