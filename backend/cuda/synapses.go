package cuda

import (
	"math"
	"math/bits"
	"runtime"
	"sync"
	"unsafe"

	"burst/connectome"
	"burst/internal/weights"
)

// packing says how a synapse's port and weight lie in 4 bytes; the table is nil where weights are too many for that.
type packing struct {
	table    *weights.Table
	portBits uint32
}

// pack collects the weights of c.
func pack(c *connectome.Connectome) packing {
	const mostWeights = 4096 // that all blocks keep in their shared memory
	p := packing{portBits: uint32(bits.Len32(c.Ports))}
	if p.portBits < 32 {
		p.table = weights.Collect(c.Weight, min(mostWeights, 1<<(32-p.portBits)), runtime.GOMAXPROCS(0))
	}
	return p
}

// bytes is what all synapses' ports, weights and the table of weights take.
func (p *packing) bytes(c *connectome.Connectome) (target, weight, values uint64) {
	if p.table == nil {
		return size(c.Target), size(c.Weight), 0
	}
	return size(c.Target), 0, size(p.table.List)
}

// synapses is what kernels take.
func (b *backend) synapses() synapses {
	p := &b.plan
	s := synapses{target: p.ptr[bufTarget], weight: p.ptr[bufWeight], values: p.ptr[bufValues], portMask: math.MaxUint32}
	if p.packing.table != nil {
		s.portBits, s.portMask = p.packing.portBits, 1<<p.packing.portBits-1
	}
	return s
}

// uploadSynapses copies ports and weights to the device and waits.
func (b *backend) uploadSynapses() error {
	c, p := b.c, &b.plan
	if len(c.Target) == 0 {
		return nil
	}
	if p.packing.table != nil {
		if err := b.stream.Upload(p.ptr[bufValues], data(p.packing.table.List), p.bytes[bufValues]); err != nil {
			return err
		}
		return b.uploadPacked()
	}
	if err := b.stream.Upload(p.ptr[bufTarget], data(c.Target), size(c.Target)); err != nil {
		return err
	}
	if err := b.stream.Upload(p.ptr[bufWeight], data(c.Weight), size(c.Weight)); err != nil {
		return err
	}
	return b.stream.Synchronize()
}

// uploadPacked packs a stretch of synapses while the one before is on its way.
func (b *backend) uploadPacked() error {
	const stretch = 8 << 20
	c, at := b.c, b.plan.ptr[bufTarget]
	n := uint64(len(c.Target))
	var rooms [2][]uint32
	for i := range rooms {
		rooms[i] = make([]uint32, min(n, stretch))
	}
	for first, turn := uint64(0), 0; first < n; first, turn = first+stretch, 1-turn {
		words := rooms[turn][:min(n-first, stretch)]
		b.plan.packing.fill(words, c.Target[first:], c.Weight[first:])
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
			for k := lo; k < hi; k++ {
				words[k] = target[k] | p.table.Place(weight[k])<<p.portBits
			}
		})
	}
	wg.Wait()
}
