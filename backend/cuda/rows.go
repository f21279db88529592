package cuda

import (
	"cmp"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/connectome"
	"burst/internal/cuda/driver"
	"burst/internal/weights"
)

// load is how many bytes of a row a thread of kernels/teams.cuh reads at a time.
const load = 16

// rows are what a device holds of its synapses, and what is known of them once they are no more on the host.
type rows struct {
	synapses uint64
	mean     uint32 // synapses of a row that has some
	filled   uint64 // rows that have some
	delays   uint64 // bytes of a synapse's delay; 0: all are 1
	packing
	unplaced string       // why rows are not of places
	crowded  bool         // of one device: a block has more than 2^32 synapses
	shape    clusterShape // how rows of places lie, if they do
	delay    uint32       // of all rows of places
	slots    uint64       // units of all slots
	more     uint64       // and those that hold what does not fit
	driven   uint64       // bytes of the driven synapses, in all
	delayed  delayed
	least    uint32 // where neurons change at inputs alone: the smallest delay
}

// lag is how many bursts after a spike the rows are delivered, if all are at once; sums that are due later wait for their burst.
func (r *rows) lag() uint64 { return max(1, uint64(r.delay)) }

// placed reports whether rows are of places.
func (r *rows) placed() bool { return r.shape.count > 0 }

// packing says how a synapse's port and weight lie in 4 bytes. The table is nil if there are too many different weights. Then a weight has
// a word of its own, with the delay in its lowest bits if delays take two bytes and fit there.
type packing struct {
	table     *weights.Table
	portBits  uint32
	delayBits uint32
}

// lengthsOf are the rows of c by their number and lengths alone.
func lengthsOf(c *connectome.Connectome) rows {
	var filled atomic.Uint64
	inShares(int(c.Neurons), func(lo, hi int) {
		n := uint64(0)
		for k := range c.Row[lo:hi] {
			if c.Row[lo+k+1] > c.Row[lo+k] {
				n++
			}
		}
		filled.Add(n)
	})
	r := rows{synapses: c.Synapses(), filled: max(1, filled.Load())}
	r.mean = uint32(r.synapses / r.filled)
	return r
}

// rowsOf looks at those of c, and decides how they are to be stored.
func (b *backend) rowsOf(c *connectome.Connectome, t *tables) (rows, error) {
	r := lengthsOf(c)
	_, driven := layDrivenRows(c.Driven, 0)
	r.delays, r.driven = delayBytes(c.Delay), driven.bytes
	if eventful(c) || apartByDelays(c) || mayBeApart(c) > 0 {
		r.least = leastDelay(c)
	}
	q := question{b: b, c: c, t: t, r: &r, oneDelay: func() bool { return oneDelay(c) }}
	lacks := q.lacks([]want{many, placeable, alike})
	if lacks == "" {
		var err error
		if lacks, err = q.placeRows(); err != nil || lacks == "" {
			return r, err
		}
	}
	r.unplaced, r.crowded = lacks, q.crowded()
	if most := b.tune.mostWeights(c.Ports); most > 0 {
		r.packing = pack(c, most)
	}
	if r.table == nil {
		r.delayBits = joined(c)
	}
	return r, nil
}

// madeRows are rows of c that a Maker has left on the device.
func (b *backend) madeRows(c *connectome.Connectome, m *made) rows {
	for of, p := range m.lists() {
		b.plan.ptr[of] = p
	}
	if m.coded.placed() {
		return m.coded
	}
	r := lengthsOf(c)
	r.delays, r.packing, r.least = m.delays, m.packing, m.least
	q := question{b: b, c: c, r: &r, oneDelay: func() bool { return false }}
	r.unplaced, r.crowded = cmp.Or(q.lacks([]want{many, placeable, alike}), m.unplaced), q.crowded()
	return r
}

// tableBytes is the size of the table of weights.
func (r *rows) tableBytes() uint64 {
	if r.table == nil {
		return 0
	}
	return size(r.table.List)
}

// pack collects the weights of c, if there are no more than most.
func pack(c *connectome.Connectome, most int) packing {
	return packing{table: weights.Collect(c.Weight, most, runtime.GOMAXPROCS(0)), portBits: uint32(bits.Len32(c.Ports))}
}

// joined is how many bits of each weight's word the delays of c take; 0 where they take no two bytes, or a weight does not leave so many.
func joined(c *connectome.Connectome) uint32 {
	if c.Delay.Long == nil {
		return 0
	}
	n := bits.Len(uint(c.MaxDelay))
	wide := func(w int32) bool { return w>>(31-n) != 0 && w>>(31-n) != -1 }
	if slices.ContainsFunc(c.Weight, wide) {
		return 0
	}
	return uint32(n)
}

// mostWeights is how many weights are packed beside so many ports, 0 for none.
func (t *tuning) mostWeights(ports uint32) int {
	const kept = 4096 // that all blocks keep in their shared memory
	if portBits := bits.Len32(ports); portBits < 32 && !t.unpacked {
		return min(kept, 1<<(32-portBits))
	}
	return 0
}

// leastRows are the smallest rows that a part with that many synapses can have: 2 bytes a synapse where clusters may take it.
func (b *backend) leastRows(synapses uint64) rows {
	r := rows{synapses: synapses}
	if b.tune.mostWeights(b.c.Ports) > 0 {
		r.table = &weights.Table{}
	}
	if q := (question{b: b, c: b.c}); q.lacks([]want{many, placeable}) == "" {
		r.table = &weights.Table{}
		r.shape.size, r.shape.rounds = 1, 1
		r.shape.count, r.shape.own = deal(b.c, b.sms)
		r.slots = 2 * synapses / unitBytes
	}
	return r
}

// delayBytes is the memory of a synapse's delay.
func delayBytes(d connectome.Delays) uint64 {
	switch {
	case d.None():
		return 0
	case d.Long != nil:
		return 2
	}
	return 1
}

// bytes is what all synapses' ports, weights, the table of weights and delays take.
func (r *rows) bytes() (target, weight, values, delay uint64) {
	target = 4 * r.synapses
	if r.placed() {
		target = unitBytes * r.slots
	}
	if r.delayBits == 0 {
		delay = r.delays * r.synapses
	}
	if r.table == nil {
		return target, target, 0, delay
	}
	return target, 0, size(r.table.List), delay
}

// synapses is what kernels take.
func (b *backend) synapses() synapses {
	p := &b.plan
	s := synapses{target: p.ptr[bufTarget], weight: p.ptr[bufWeight], values: p.ptr[bufValues], portMask: math.MaxUint32, delayBits: b.rows.delayBits}
	if b.rows.table != nil && !b.rows.placed() {
		s.portBits, s.portMask = b.rows.portBits, 1<<b.rows.portBits-1
	}
	return s
}

// takeRows takes memory for the rows of c, after the whole plan is known to fit, and copies them to the device, unless a Maker has left
// them there. It keeps nothing of c.
func (b *backend) takeRows(c *connectome.Connectome, from *Maker, t *tables) error {
	start := time.Now()
	defer func() { b.uploading += time.Since(start) }()
	if m := from.take(b); m != nil {
		return b.takeMade(c, m, t)
	}
	var err error
	if b.rows, err = b.rowsOf(c, t); err != nil {
		return err
	}
	b.makePlan(t)
	if b.choice.path.early() {
		b.rows.delayed = delayedOf(c, b.rows.filled)
	}
	if err := b.plan.allocate(b.ctx, lastOfRows); err != nil {
		return err
	}
	if err := b.withStaging(max(b.plan.bytes[bufTarget], b.plan.bytes[bufRow]), func(s *staging) error { return b.uploadRows(c, s) }); err != nil {
		return err
	}
	return b.uploadDriven(c.Driven)
}

// takeMade is takeRows for rows that are there.
func (b *backend) takeMade(c *connectome.Connectome, m *made, t *tables) error {
	b.rows = b.madeRows(c, m)
	b.makePlan(t)
	err := b.plan.allocate(b.ctx, lastOfRows)
	if err == nil && b.choice.path.early() {
		b.rows.delayed, err = m.soon(&b.rows, b.plan.ptr[bufSoon])
	}
	return err
}

// uploadRows copies rows to the device.
func (b *backend) uploadRows(c *connectome.Connectome, s *staging) error {
	p := &b.plan
	if b.rows.placed() {
		return b.uploadPlaces(c, s)
	}
	for _, of := range []slot{bufTarget, bufWeight} {
		if n := p.bytes[of]; n > 0 { // what follows the last synapse is read, as if it were one
			if err := b.stream.Fill(p.ptr[of]+driver.Ptr(n-2*load), 0, 2*load); err != nil {
				return err
			}
		}
	}
	type list struct {
		to    slot
		from  unsafe.Pointer
		bytes uint64
	}
	delays := data(c.Delay.Short)
	if c.Delay.Long != nil {
		delays = data(c.Delay.Long)
	}
	lists := []list{{bufRow, data(c.Row), p.bytes[bufRow]}, {bufDelay, delays, p.bytes[bufDelay]}, {bufSoon, data(b.rows.delayed.each), p.bytes[bufSoon]}}
	if b.rows.table != nil {
		lists = append(lists, list{bufValues, data(b.rows.table.List), p.bytes[bufValues]})
	} else {
		lists = append(lists, list{bufTarget, data(c.Target), size(c.Target)})
	}
	if b.rows.table == nil && b.rows.delayBits == 0 {
		lists = append(lists, list{bufWeight, data(c.Weight), size(c.Weight)})
	}
	for _, l := range lists {
		if err := s.upload(p.ptr[l.to], l.from, l.bytes); err != nil {
			return err
		}
	}
	b.rows.delayed.each = nil
	if n := b.rows.delayBits; n > 0 {
		return s.fill(p.ptr[bufWeight], c.Synapses(), 4, func(first, end uint64, room []byte) error {
			joinDelays(unsafe.Slice((*int32)(data(room)), end-first), c.Weight[first:end], c.Delay.Long[first:end], n)
			return nil
		})
	}
	if b.rows.table == nil {
		return nil
	}
	return s.fill(p.ptr[bufTarget], c.Synapses(), 4, func(first, end uint64, room []byte) error {
		b.rows.fill(unsafe.Slice((*uint32)(data(room)), end-first), c.Target[first:end], c.Weight[first:end])
		return nil
	})
}

// fill packs as many synapses as there are words, on all processors.
func (p *packing) fill(words, target []uint32, weight []int32) {
	inShares(len(words), func(lo, hi int) {
		known, place := weight[lo], p.table.Place(weight[lo])<<p.portBits
		for k, w := range weight[lo:hi] {
			if w != known { // rows have stretches of one weight
				known, place = w, p.table.Place(w)<<p.portBits
			}
			words[lo+k] = target[lo+k] | place
		}
	})
}

// joinDelays puts weights above their delays of so many bits, in words, on all processors.
func joinDelays(words, weight []int32, delay []uint16, delayBits uint32) {
	inShares(len(words), func(lo, hi int) {
		for k, w := range weight[lo:hi] {
			words[lo+k] = w<<delayBits | int32(delay[lo+k])
		}
	})
}
