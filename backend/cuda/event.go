package cuda

import (
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
)

// eventLists is the struct event_lists of kernels/event_bursts.cu, field for field.
type eventLists struct {
	cells           driver.Ptr
	queues, lengths driver.Ptr
	depth           uint32
	lengthMask, all uint32
	at              uint32
	lag, back       uint32
	early           uint32
	room            uint32
}

// cellBytes is the size of cell there, and foundBytes that of what a warp has found.
const cellBytes, foundBytes = 8, 160 * uint64(unsafe.Sizeof(candidate{}))

// eventThreads is how many threads a block has at most (KERNEL_OF_768).
const eventThreads = 768

// nearAreas, nearEntries and nearWeights are NEAR_AREAS, NEAR and NEAR_VALUES there.
const nearAreas, nearEntries, nearWeights = 8, 512, 512

// eventful reports whether an area's neurons change at inputs alone.
func eventful(c *connectome.Connectome) bool {
	return slices.ContainsFunc(c.Areas, func(a connectome.Area) bool { return a.Model.Event != "" })
}

// steady: no area's neurons change at inputs alone.
func steady(q *question) string {
	if eventful(q.c) {
		return "neurons of the models lif_event and lif_psc_exp_event change at inputs alone, which path event is for"
	}
	return ""
}

// changing: some do, and nothing stands in the way of their kernel.
func changing(q *question) string {
	switch {
	case !eventful(q.c):
		return "no neurons change at inputs alone"
	case len(q.c.Plastic) > 0:
		return still(q)
	case q.devices() > 1:
		return "several devices or processes share neurons that change at inputs alone"
	case q.b.want.FCL:
		return "fire candidate lists are wanted of neurons that change at inputs alone"
	case !builtIn(q.c):
		return "the genome has models of its own beside neurons that change at inputs alone"
	}
	return ""
}

// dueFits: there is room for the sums of the bursts for which rows are delivered at a time.
func dueFits(q *question) string {
	slots := q.b.dueSlots()
	if n := slots * uint64(q.c.Ports) * 4; n > q.b.ringRoom {
		return fmt.Sprintf("sums of %d bursts to come take %d bytes, want at most %d", slots, n, q.b.ringRoom)
	}
	return ""
}

// cellsFit: a block's memory has who fires, what warps have found, tables if there is room, and neurons if there is room yet.
func cellsFit(q *question) string {
	least, tabled, _ := q.t.sharedBytes(q.c, q.own)
	more := aligned(2*q.own/32*4, 4*nearEntries*min(nearAreas, uint64(len(q.c.Areas)))) + foundBytes*uint64(q.b.threads()/32-1)
	if values := q.r.tableBytes(); values <= 4*nearWeights {
		more += aligned(values)
	}
	if q.answer.tabled = tabled+more <= q.b.room && !q.b.tune.uncached; q.answer.tabled {
		least = tabled
	}
	q.answer.cells = least
	if cells := aligned(cellBytes * q.own); q.answer.tabled && least+more+cells <= q.b.room {
		q.answer.cached = true
		more += cells
	}
	return q.fits(least + more)
}

// turns and turnsBytes are TURNS of kernels/turns.cuh, and what its counters take.
const turns, turnsBytes = 8, turns * 128

// early is how many bursts before its first synapses are due a row is delivered, at most. Blocks are so many bursts apart. The more, the more
// sums wait.
func (b *backend) early() uint32 {
	if most := (b.rows.least - min(2, b.rows.least)) / 2; most > 1 && b.threads() >= 224 && b.tune.parts <= 1 {
		return min(b.tune.apart, most, turns)
	}
	return 1
}

// dueSlots is how many bursts' sums wait where a row is delivered in the burst in which its first synapses are due, or before that.
func (b *backend) dueSlots() uint64 {
	bursts := b.c.MaxDelay - int(b.rows.least) + 1
	if b.rows.least > 1 {
		bursts += 2*int(b.early()) - 1
	}
	return powerOfTwo(uint64(bursts))
}

// sumSlots is how many bursts the ring has sums of, and how many of each: those of four neighbours are loaded at once by event_bursts.
func (b *backend) sumSlots() (slots, ports uint64) {
	if b.choice.path == pathEvent {
		return b.dueSlots(), divUp(uint64(b.c.Ports), 4) * 4
	}
	longest := b.c.MaxDelay
	if apart := int(b.choice.ranges.apart); b.choice.path == pathRanges && apart > 0 {
		longest = max(longest, 2*apart-1) // sums are there so many turns before they are read, and slots are used again so many turns later
	}
	return ringSlots(longest), uint64(b.c.Ports)
}

// lengthSlots is for the lengths of queues: of those of a state, and of more bursts, as they are cleared ahead.
func (b *backend) lengthSlots() uint64 { return 1 << bits.Len64(b.depth()+uint64(b.early())) }

// dueCounters is where counters of turns lie behind them, those of two launches by turns.
func (b *backend) dueCounters() uint64 { return divUp(4*b.lengthSlots(), 128) * 128 }

// addEvents adds what event_bursts has to the plan.
func (p *plan) addEvents(b *backend) {
	p.bytes[bufDue] = b.dueCounters() + 2*turnsBytes
	if !b.choice.cached {
		p.bytes[bufCells] = cellBytes * uint64(b.c.Neurons)
	}
}

// delayOfAll is the delay that all synapses have, of rows whose least one is known; 0 if delays differ.
func (b *backend) delayOfAll() uint32 {
	if r := &b.rows; int(r.least) == b.c.MaxDelay && r.delayBits == 0 {
		return r.least
	}
	return 0
}

// bindEvents fills in what stays the same in all launches.
func (b *backend) bindEvents(x *batch) {
	p, r := &b.plan.ptr, &b.rows
	x.args.events = eventLists{
		cells: p[bufCells], queues: p[bufQueues], lengths: p[bufDue], depth: uint32(b.depth()), lengthMask: uint32(b.lengthSlots() - 1),
		all: b.c.Neurons, lag: r.least, back: r.least, early: b.early(), room: uint32(b.choice.cells),
	}
	x.args.run.arrived = p[bufDue] + driver.Ptr(b.dueCounters())
	x.args.run.arrivedNext = x.args.run.arrived + turnsBytes
	x.args.run.cached = 0 // the state of neurons of other models stays outside
	if b.delayOfAll() > 0 {
		x.args.events.back, x.args.run.delay, x.args.run.late = 1, 0, 0
	}
}

// tellDue brings the device the lengths of its fire queues, and resets what counts turns.
func (b *backend) tellDue() error {
	lengths := make([]uint32, b.plan.bytes[bufDue]/4)
	for d, queue := range b.batch.history {
		lengths[(b.number-uint64(d)-1)%b.lengthSlots()] = uint32(len(queue))
	}
	if err := b.stream.Upload(b.plan.ptr[bufDue], data(lengths), size(lengths)); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(lengths)
	return err
}

// leastDelay is the smallest delay of c.
func leastDelay(c *connectome.Connectome) uint32 {
	if c.Delay.None() || c.Synapses() == 0 {
		return 1
	}
	var least atomic.Uint32
	least.Store(uint32(c.MaxDelay))
	inParts(c, 0, c.Neurons, func(_ int, low, high uint32) {
		own := uint32(c.MaxDelay)
		for k := c.Row[low]; k < c.Row[high]; k++ {
			own = min(own, c.Delay.At(k))
		}
		for now := least.Load(); own < now && !least.CompareAndSwap(now, own); now = least.Load() {
		}
	})
	return least.Load()
}

// leastOf is that of a recipe, or 1 where delays are drawn.
func leastOf(r *connectome.Recipe) uint32 {
	least := uint32(r.Longest)
	for i := range r.Projections {
		switch p := &r.Projections[i]; {
		case p.None:
		case p.Delay.Kind != genome.Const:
			return 1
		default:
			least = min(least, uint32(p.Steps))
		}
	}
	return max(1, least)
}
