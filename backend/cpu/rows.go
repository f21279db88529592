package cpu

import (
	"fmt"

	"burst/backend/cpu/vector"
	"burst/connectome"
	"burst/internal/pages"
)

// rows are the synapses onto a part's slots, row by row: units first[n] ≤ k < first[n+1] are those of neuron n. With one
// delay they are segments. With several they are runs, one a delay and by ascending delay: the delay, how many units of
// segments follow (2 units), the segments.
type rows struct {
	first  []uint64
	units  []uint16
	least  int // no delay is smaller
	single int // the one delay, or 0
	ahead  int // how many rows' or runs' memory is asked for while one is delivered
}

// runUnits are those before a run's segments.
const runUnits = 3

// run is the delay of the run at a place, and the span of its segments.
func (r *rows) run(at uint64) (delay uint64, s vector.Span) {
	head := r.units[at : at+runUnits]
	from := at + runUnits
	return uint64(head[0]), vector.Span{From: from, To: from + uint64(vector.Double(head[1:]))}
}

// delayBefore is the delay of the run whose segments begin at a place.
func (r *rows) delayBefore(from uint64) uint64 { return uint64(r.units[from-runUnits]) }

// mostOfDelay is how many synapses with one delay a neuron may have where there are several delays: 4 units each, and the
// headers of segments, are fewer than 2^32.
const mostOfDelay = 1<<30 - 1<<15

// checkRuns refuses a network in which a neuron has more than most synapses with one of several delays.
func checkRuns(c *connectome.Connectome, most uint64) error {
	w := walker{c: c}
	for n := range c.Neurons {
		from, end := c.Row[n], c.Row[n+1]
		if c.Delay == nil || end-from <= most {
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
	if c.Delay == nil {
		return []int{1}
	}
	var seen [256]bool
	for _, d := range c.Delay {
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

// sampled is every how many rows one is measured to guess how long all get.
const sampled = 61

// makeRows encodes what of c ends in the part's slots.
func makeRows(c *connectome.Connectome, p *part, delays []int) rows {
	r := rows{first: pages.Slice[uint64](uint64(c.Neurons) + 1), least: delays[0]}
	if len(delays) == 1 {
		r.single = delays[0]
	}
	e := newEncoder(c, p.portSpans())
	units, spans, share := e.measure(r.single, sampled)
	r.ahead = aheadOf(units, spans)
	if !r.encode(e, uint64(1.02*float64(units)/max(share, 1e-9))) { // counted then, for a copy would be in memory beside it
		units, _, _ = e.measure(r.single, 1)
		r.encode(e, units)
	}
	return r
}

// encode encodes all rows in an array of so many units, and tells whether they fit.
func (r *rows) encode(e *encoder, units uint64) bool {
	spare := uint64(mostUnits * len(e.slots)) // what the last row could take
	r.units = pages.Slice[uint16](units + spare)[:0]
	for n := range e.c.Neurons {
		if room := mostUnits * (e.c.Row[n+1] - e.c.Row[n]); uint64(cap(r.units)-len(r.units)) < room {
			r.units = nil // for the collector
			return false
		}
		r.units = e.row(r.units, n, r.single)
		r.first[n+1] = uint64(len(r.units))
	}
	return true
}

// aheadOf is how many spans to ask for in advance, where spans of them have total units: so many that memory answers in time,
// and so few that they stay in the first cache.
func aheadOf(total, spans uint64) int {
	const units = 1024
	return int(min(max(units*spans/max(total, 1), 2), 16))
}
