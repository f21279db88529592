package cuda

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"unsafe"

	"burst/backend/cuda/driver"
	"burst/connectome"
	"burst/internal/weights"
)

// load is how many bytes of a row a thread of kernels/teams.cuh reads at a time.
const load = 16

// rows are what a device holds of its synapses, and what is known of them once they are no more on the host.
type rows struct {
	synapses uint64
	mean     uint32 // synapses of a row that has some
	delays   bool   // not all are 1
	packing
	shape   clusterShape // how rows of places lie, if they do
	slots   uint64       // units of all slots
	more    uint64       // and those that hold what does not fit
	delayed delayed
}

// packing says how a synapse's port and weight lie in 4 bytes; the table is nil where weights are too many for that.
type packing struct {
	table    *weights.Table
	portBits uint32
}

// rowsOf looks at those of c.
func (b *backend) rowsOf(c *connectome.Connectome, t *tables) rows {
	r := rows{synapses: c.Synapses(), delays: c.Delay != nil}
	filled := uint64(1)
	for n := range c.Neurons {
		if c.Row[n+1] > c.Row[n] {
			filled++
		}
	}
	r.mean = uint32(r.synapses / filled)
	if p := b.clusterRows(c, t, r); p.shape.count > 0 {
		return p
	}
	if !b.tune.unpacked {
		r.packing = pack(c)
	}
	if u := &b.tune; u.delayedRow > 0 && r.synapses > 0 && (r.delays && r.mean >= u.delayedRow || !r.delays && modelSuffix(c) != "" && !u.listed) {
		r.delayed = delayedOf(c, filled)
	}
	return r
}

// pack collects the weights of c.
func pack(c *connectome.Connectome) packing {
	p := packing{portBits: uint32(bits.Len32(c.Ports))}
	if most := mostWeights(c.Ports); most > 0 {
		p.table = weights.Collect(c.Weight, most, runtime.GOMAXPROCS(0))
	}
	return p
}

// mostWeights is how many weights beside so many ports fit 4 bytes, 0 for none.
func mostWeights(ports uint32) int {
	const kept = 4096 // that all blocks keep in their shared memory
	if portBits := bits.Len32(ports); portBits < 32 {
		return min(kept, 1<<(32-portBits))
	}
	return 0
}

// leastRows are those of a part of which so many synapses are known for certain: 2 bytes each where clusters may take it.
func (b *backend) leastRows(synapses uint64) rows {
	r := rows{synapses: synapses}
	if !b.tune.unpacked && mostWeights(b.c.Ports) > 0 {
		r.table = &weights.Table{}
	}
	if b.mayCluster(b.c) {
		r.table = &weights.Table{}
		r.shape.size = 1
		r.shape.count, r.shape.own = deal(b.c, b.sms)
		r.slots = 2 * synapses / unitBytes
	}
	return r
}

// bytes is what all synapses' ports, weights, the table of weights and delays take.
func (r *rows) bytes() (target, weight, values, delay uint64) {
	target = 4 * r.synapses
	if r.shape.count > 0 {
		target = unitBytes * r.slots
	}
	if r.delays {
		delay = r.synapses
	}
	if r.table == nil {
		return target, target, 0, delay
	}
	return target, 0, size(r.table.List), delay
}

// synapses is what kernels take.
func (b *backend) synapses() synapses {
	p := &b.plan
	s := synapses{target: p.ptr[bufTarget], weight: p.ptr[bufWeight], values: p.ptr[bufValues], portMask: math.MaxUint32}
	if b.rows.table != nil && b.rows.shape.count == 0 {
		s.portBits, s.portMask = b.rows.portBits, 1<<b.rows.portBits-1
	}
	return s
}

// takeRows takes memory for the rows of c, once all of the plan is known to fit, and copies them to the device. It keeps
// nothing of c.
func (b *backend) takeRows(c *connectome.Connectome, t *tables) error {
	b.rows = b.rowsOf(c, t)
	b.makePlan(t)
	if err := b.plan.allocate(b.ctx, lastOfRows); err != nil {
		return err
	}
	if b.rows.shape.count > 0 {
		return b.uploadPlaces(c)
	}
	if err := b.stream.Upload(b.plan.ptr[bufRow], data(c.Row), b.plan.bytes[bufRow]); err != nil {
		return err
	}
	if b.rows.delays && b.rows.synapses > 0 {
		if err := b.stream.Upload(b.plan.ptr[bufDelay], data(c.Delay), b.plan.bytes[bufDelay]); err != nil {
			return err
		}
	}
	if n := b.plan.bytes[bufSoon]; n > 0 {
		if err := b.stream.Upload(b.plan.ptr[bufSoon], data(b.rows.delayed.each), n); err != nil {
			return err
		}
	}
	err := b.uploadSynapses(c)
	runtime.KeepAlive(c)
	runtime.KeepAlive(b.rows.delayed.each)
	b.rows.delayed.each = nil
	return err
}

// uploadSynapses copies ports and weights to the device and waits.
func (b *backend) uploadSynapses(c *connectome.Connectome) error {
	p := &b.plan
	if n := p.bytes[bufTarget]; n > 0 { // what follows the last synapse is read, as if it were one
		if err := b.stream.Fill(p.ptr[bufTarget]+driver.Ptr(n-2*load), 0, 2*load); err != nil {
			return err
		}
	}
	switch {
	case len(c.Target) == 0:
	case b.rows.table != nil:
		if err := b.stream.Upload(p.ptr[bufValues], data(b.rows.table.List), p.bytes[bufValues]); err != nil {
			return err
		}
		return b.uploadPacked(c)
	default:
		if err := b.stream.Upload(p.ptr[bufTarget], data(c.Target), size(c.Target)); err != nil {
			return err
		}
		if err := b.stream.Upload(p.ptr[bufWeight], data(c.Weight), size(c.Weight)); err != nil {
			return err
		}
	}
	return b.stream.Synchronize()
}

// uploadPacked packs a stretch of synapses while the one before is on its way.
func (b *backend) uploadPacked(c *connectome.Connectome) error {
	const stretch = 8 << 20
	at, n := b.plan.ptr[bufTarget], uint64(len(c.Target))
	var rooms [2][]uint32
	for i := range rooms {
		rooms[i] = make([]uint32, min(n, stretch))
	}
	for first, turn := uint64(0), 0; first < n; first, turn = first+stretch, 1-turn {
		words := rooms[turn][:min(n-first, stretch)]
		b.rows.fill(words, c.Target[first:], c.Weight[first:])
		if err := b.stream.Synchronize(); err != nil {
			return err
		}
		if err := b.stream.Upload(at, unsafe.Pointer(&words[0]), size(words)); err != nil {
			return err
		}
		at += 4 * stretch
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(rooms)
	return err
}

// fill packs as many synapses as there are words, on all processors.
func (p *packing) fill(words, target []uint32, weight []int32) {
	parts := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for i := range parts {
		lo, hi := len(words)*i/parts, len(words)*(i+1)/parts
		wg.Go(func() {
			if lo == hi {
				return
			}
			known, place := weight[lo], p.table.Place(weight[lo])<<p.portBits
			for k, w := range weight[lo:hi] {
				if w != known { // rows have stretches of one weight
					known, place = w, p.table.Place(w)<<p.portBits
				}
				words[lo+k] = target[lo+k] | place
			}
		})
	}
	wg.Wait()
}
