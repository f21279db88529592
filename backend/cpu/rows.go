package cpu

import (
	"fmt"
	"math"
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/pages"
	"burst/internal/quanta"
)

// rows are the synapses that end at a worker's slots, one row per source neuron. The row of neuron n is
// units[first[n]:first[n+1]]. If the network has a single delay, a row is a list of segments (package vector). Otherwise it
// is a list of runs (vector.Runs), one per delay and by ascending delay. If c has no synapse but plastic ones, there is no list
// at all. Where rows of a single delay are short, as with many workers, they have rooms of equal size in place of first and units.
type rows struct {
	first  []uint64
	units  []uint16
	least  int // the smallest delay
	single int // the only delay; 0 if there are several
	bursts int // in progress and to come, that a worker has sums for
	rooms  vector.Rooms
	mean   uint64 // units of a row in rooms
	fetch  uint64 // bytes to prefetch of a row with several delays
	ahead  int    // how many spans ahead of the delivered one memory is prefetched
}

// delay is that of the run at unit at.
func (r *rows) delay(at uint64) uint64 { return uint64(r.units[at]) }

// run are its segments.
func (r *rows) run(at uint64) []uint16 {
	return r.units[at+vector.RunUnits:][:vector.Double(r.units[at+1:])]
}

// mostOfDelay is how many synapses of the same delay a neuron may have if there are several delays. So many synapses of 4
// units each, with the headers of their segments, stay below 2^32 units.
const mostOfDelay = 1<<30 - 1<<15

// checkRuns returns an error if a neuron has more than most synapses of the same delay and there are several delays.
func checkRuns(c *connectome.Connectome, most uint64) error {
	w := walker{c: c}
	for n := range c.Neurons {
		from, end := c.Row[n], c.Row[n+1]
		if c.Delay.None() || end-from <= most {
			continue
		}
		for from < end {
			next := w.sameDelay(from, end)
			if next-from > most && len(delays(c)) > 1 {
				return fmt.Errorf("neuron %d has %d synapses with a delay of %d bursts; where delays differ the cpu backend takes at most %d, the reference backend any number",
					n, next-from, c.DelayOf(from), most)
			}
			from = next
		}
	}
	return nil
}

// delays lists the delays that occur in c, ascending.
func delays(c *connectome.Connectome) []int {
	if c.Delay.None() {
		return []int{1}
	}
	var seen [quanta.MaxDelay + 1]bool
	for _, d := range c.Delay.Short {
		seen[d] = true
	}
	for _, d := range c.Delay.Long {
		seen[d] = true
	}
	var list []int
	for d, is := range seen {
		if is {
			list = append(list, d)
		}
	}
	return list
}

// mostSums is how much memory a worker's sums of several bursts may take. They should stay in the second-level cache of a core.
const mostSums = 192 << 10

// burstsOf is how many bursts a worker of so many slots has sums for, at most as many as delays differ by. A row has a run for each
// delay, and the more workers there are, the shorter are their runs: with sums for several bursts, a flight takes several runs at a
// time. It is 1 where sums are too large, or where marks say which of them to look at.
func burstsOf(c *connectome.Connectome, delays []int, slots uint64) int {
	if slots == 0 || slices.ContainsFunc(c.Areas, rests) {
		return 1
	}
	return max(1, min(delays[len(delays)-1]-delays[0]+1, int(mostSums/(4*slots))))
}

// rests reports whether there may be bursts in which not all sums of an area are looked at.
func rests(a connectome.Area) bool {
	return a.PortsEach() > 0 && !slices.ContainsFunc(a.Drives, func(d connectome.Drive) bool {
		return (d.Kind == connectome.Poisson || d.Kind == connectome.Noise) && d.From == 0 && d.Until == math.MaxUint64
	})
}

// sampled: one row in so many is measured to estimate the length of all.
const sampled = 61

// makeRows encodes the synapses of c that end at the worker's slots.
func makeRows(c *connectome.Connectome, w *worker, delays []int) rows {
	r := rows{least: delays[0], bursts: burstsOf(c, delays, uint64(len(w.marked))*64)}
	if len(delays) == 1 {
		r.single = delays[0]
	}
	if c.Synapses() == 0 {
		return r
	}
	e := newEncoder(c, w.portSpans())
	if r.rooms.Room, r.mean = e.roomFor(r.single); r.rooms.Room > 0 {
		r.rooms.Units = pages.Slice[uint16](uint64(c.Neurons) * r.rooms.Room)
		row := make([]uint16, 0, mostUnits*len(e.slots))
		for n := range c.Neurons {
			r.rooms.Put(n, e.row(row, n, r.single))
		}
		return r
	}
	r.first = pages.Slice[uint64](uint64(c.Neurons) + 1)
	units, spans, share := e.measure(r.single, sampled)
	spans = max(1, spans/uint64(r.bursts))
	r.ahead, r.fetch = aheadOf(units, spans), min(1024, 2*units/spans+1)
	if !r.encode(e, uint64(1.02*float64(units)/max(share, 1e-9))) { // too short: count instead of copying, which would take twice the memory
		units, _, _ = e.measure(r.single, 1)
		r.encode(e, units)
	}
	return r
}

// encode encodes all rows in an array of so many units and reports whether they fit.
func (r *rows) encode(e *encoder, units uint64) bool {
	spare := uint64(mostUnits * len(e.slots)) // what the last row could take
	r.units = pages.Slice[uint16](units + spare)[:0]
	for n := range e.c.Neurons {
		if room := mostUnits * (e.c.Row[n+1] - e.c.Row[n]); uint64(cap(r.units)-len(r.units)) < room {
			r.units = nil // so that the garbage collector can free it
			return false
		}
		r.units = e.row(r.units, n, r.single)
		r.first[n+1] = uint64(len(r.units))
	}
	return true
}

// aheadOf is how many spans ahead to prefetch, if all spans have total units: enough to hide the latency of memory, and few
// enough to stay in the first-level cache.
func aheadOf(total, spans uint64) int {
	const units = 1024
	return int(min(max(units*spans/max(total, 1), 2), 16))
}
