package cuda

import (
	"errors"
	"fmt"
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// slot names a buffer of the plan.
type slot int

// The buffers in device memory; kernels' comments say what is in them.
const (
	bufRow slot = iota
	bufTarget
	bufWeight
	bufValues
	bufMorePlaces
	bufDelay
	bufSoon
	bufDrivenRows
	bufAreas
	bufConstants
	bufNumbers
	bufTerms
	bufAddends
	bufDrives
	bufCounts
	bufTable
	bufOwn
	bufV
	bufMore
	bufRefractory
	bufCount
	bufAcc
	bufQueues
	bufFired
	bufCandidates
	bufList
	bufLengths
	bufStart
	bufLength
	bufSums
	bufInput
	bufRing
	bufQueue
	bufWaits
	bufLater
	bufLate
	bufSync
	bufInbox
	bufTold
	bufExchange
	bufWaited
	bufStimuli
	bufInjected
	bufLists
	bufNotes
	bufSpans
	bufSpanCounts
	bufProbes
	bufCut
	bufTeamSums
	bufCells
	bufDue
	bufLearnt
	bufLocal
	bufDriven
	bufInstants
	slotCount

	lastOfRows = bufDrivenRows
)

// plan is all device memory of a backend: sizes first, addresses once they are allocated.
type plan struct {
	bytes [slotCount]uint64 // 0: not needed
	ptr   [slotCount]driver.Ptr

	pairs                          uint64 // capacity of start and length
	firedSums, candidateSums, rows uint64 // offsets of the trees in bufSums, in bytes
	stimuli                        uint64 // capacity of the input's stimuli
	head                           uint64 // bytes of the input before the stimuli
	instants                       uint64 // bytes of what drives with factors have in one burst
}

// MemoryError says that a network does not fit the device's free memory.
type MemoryError struct {
	Device     int
	Need, Free uint64 // bytes
	Least      bool   // Need is what is known before the network is built
}

func (e *MemoryError) Error() string {
	least := ""
	if e.Least {
		least = "at least "
	}
	return fmt.Sprintf("the network needs %s%d bytes of device memory, device %d has %d free; free the device, choose another with --device, "+
		"make the network smaller, or take --backend cpu", least, e.Need, e.Device, e.Free)
}

// onUsual is a backend to be planned, for a GPU of usual size.
func onUsual(c *connectome.Connectome, w engine.Want) *backend {
	return &backend{c: c, want: w, tune: defaults, sms: usualSMs, room: mostShared, ringRoom: usualRing, clusters: usualClusters, cluster: true}
}

// DeviceBytes is the device memory that Open takes for c.
func DeviceBytes(c *connectome.Connectome, w engine.Want) uint64 {
	b := onUsual(c, w)
	t := makeTables(c)
	b.rows, _ = b.rowsOf(c, t) // only a device may fail
	b.makePlan(t)
	return b.plan.total()
}

// PathOf is how a GPU of usual size runs c.
func PathOf(c *connectome.Connectome, w engine.Want) Path {
	b := onUsual(c, w)
	t := makeTables(c)
	b.rows, _ = b.rowsOf(c, t)
	b.choice = b.choose(t)
	return b.Path()
}

// HostBytes is the memory of the host that a backend for c keeps, with a GPU of usual size. The number of blocks changes it by a few per
// cent.
func HostBytes(c *connectome.Connectome, w engine.Want) uint64 {
	b := onUsual(c, w)
	b.makePlan(makeTables(c))
	return b.hostBytes()
}

// PartsBytes are HostBytes and DeviceBytes of all devices that share c. Synapses that c does not hold do not count.
func PartsBytes(c *connectome.Connectome, devices int, w engine.Want) (host, device uint64) {
	var r rows
	if c.Row != nil {
		r, _ = (&backend{tune: defaults, share: share{devices: devices}}).rowsOf(c, nil)
		r.synapses = divUp(r.synapses, uint64(devices))
		_, laid := layDrivenRows(shareOfDriven(c.Driven, uint64(devices)), 0)
		r.driven = laid.bytes
	}
	for i := range devices {
		b := &backend{want: w, tune: defaults, sms: usualSMs, room: mostShared, ringRoom: usualRing, rows: r, share: share{devices: devices, self: i}}
		b.isPartOf(c)
		b.makePlan(makeTables(b.c))
		host, device = host+b.hostBytes(), device+b.plan.total()
	}
	return host, device
}

// hostBytes is the page-locked memory of a planned backend, the memory in which weights are sorted on their way to a state and back, and
// that of memory areas.
func (b *backend) hostBytes() uint64 {
	sorted := uint64(0)
	for i := range b.c.Plastic {
		sorted = max(sorted, 4*b.c.Plastic[i].Synapses())
	}
	total := b.plan.bytes[bufInput] + outputBytes(b.c, b.want, b.tune) + sorted + engine.MemoryBytes(b.c)
	if b.many() {
		s := b.ringShape()
		total += s.at().end + 2*s.list.bytes()
	}
	total += b.plan.bytes[bufInstants]
	return total
}

// usualSMs is how many multiprocessors a GPU of usual size has, usualClusters how many clusters of each size it runs.
const usualSMs = 128

var usualClusters = [mostClustered + 1]uint64{1: usualSMs, 2: usualSMs / 2, 4: usualSMs / 4}

// makePlan computes every size before anything is allocated.
func makePlan(c *connectome.Connectome, r rows, w engine.Want, tune tuning, t *tables) plan {
	n, ports, delays := uint64(c.Neurons), uint64(c.Ports), (&backend{c: c}).depth()
	p := plan{pairs: tune.pairs, instants: t.stride}
	if p.pairs == 0 {
		p.pairs = n
	}
	b := &p.bytes
	b[bufRow] = 8 * (n + 1)
	b[bufTarget], b[bufWeight], b[bufValues], b[bufDelay] = r.bytes()
	if r.placed() {
		b[bufRow], b[bufMorePlaces] = 0, unitBytes*r.more
	}
	b[bufDrivenRows] = r.driven
	for _, s := range []slot{bufTarget, bufWeight} {
		if b[s] > 0 {
			b[s] = readBytes(b[s] / 4)
		}
	}
	b[bufAreas], b[bufConstants], b[bufNumbers] = size(t.areas), size(t.constants), size(t.numbers)
	b[bufTerms], b[bufAddends] = size(t.terms), size(t.addends)
	b[bufDrives], b[bufCounts], b[bufTable], b[bufOwn] = size(t.drives), size(t.counts), size(t.amounts), size(t.own)
	b[bufV], b[bufRefractory], b[bufCount] = 4*pitch(c), 2*pitch(c), 2*pitch(c)
	b[bufMore] = 4 * pitch(c) * uint64(c.Variables())
	b[bufAcc] = 4 * ports
	b[bufQueues] = delays * n * 4
	b[bufFired], b[bufCandidates] = 4*divUp(n, 32), 4*divUp(ports, 32)
	if w.FCL {
		b[bufList] = listedBytes * ports
	}
	b[bufLengths] = 16
	b[bufStart], b[bufLength] = 8*p.pairs, 8*p.pairs
	p.candidateSums = 8 * nodes(divUp(n, 32))
	p.rows = p.candidateSums + 8*nodes(divUp(ports, 32))
	b[bufSums] = p.rows + 8*nodes(p.pairs)
	p.head = 8 * (delays + 1)
	p.stimuli = min(ports, tune.entries)
	b[bufInput] = p.head + 8*p.stimuli
	return p
}

// readBytes is the memory of n words of which threads read load bytes at a time.
func readBytes(n uint64) uint64 { return divUp(4*n, load)*load + load }

// nodes is the number of nodes of a tree of sums (kernels/sums.cuh).
func nodes(leaves uint64) uint64 {
	level := divUp(leaves, 32)
	total := level
	for level > 32 {
		level = divUp(level, 32)
		total += level
	}
	return total
}

func divUp(a, b uint64) uint64 { return (a + b - 1) / b }

// size is the bytes of a slice's elements.
func size[T any](s []T) uint64 { return uint64(len(s)) * uint64(unsafe.Sizeof(*new(T))) }

// total is the sum of all buffers, each rounded up as the driver does.
func (p *plan) total() uint64 {
	const grain = 512
	sum := uint64(0)
	for _, n := range p.bytes {
		sum += divUp(n, grain) * grain
	}
	return sum
}

// compare says what the plan needs and what is free for it, with what it has taken already.
func (p *plan) compare(ctx *driver.Context) (*MemoryError, error) {
	free, _, err := ctx.MemoryInfo()
	if err != nil {
		return nil, err
	}
	for s, ptr := range p.ptr {
		if ptr != 0 {
			free += p.bytes[s]
		}
	}
	return &MemoryError{Device: ctx.Device().Index(), Need: p.total(), Free: free}, nil
}

// allocate compares the plan with the free memory, then takes its buffers up to the last one, where it has not.
func (p *plan) allocate(ctx *driver.Context, last slot) error {
	tooMuch, err := p.compare(ctx)
	if err != nil {
		return err
	}
	if tooMuch.Need > tooMuch.Free {
		return tooMuch
	}
	for s, n := range p.bytes[:last+1] {
		if n == 0 || p.ptr[s] != 0 {
			continue
		}
		if p.ptr[s], err = ctx.Alloc(n); err != nil {
			var e *driver.Error
			if errors.As(err, &e) && e.Code == driver.OutOfMemory {
				return fmt.Errorf("%w: %w", tooMuch, err) // another process was faster, or the memory is fragmented
			}
			return err
		}
	}
	return nil
}

// free gives back what allocate took and returns the first failure.
func (p *plan) free(ctx *driver.Context) error {
	var first error
	for s, ptr := range p.ptr {
		if ptr == 0 {
			continue
		}
		if err := ctx.Free(ptr); err != nil && first == nil {
			first = err
		}
		p.ptr[s] = 0
	}
	return first
}
