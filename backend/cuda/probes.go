package cuda

import (
	"cmp"
	"slices"
	"unsafe"

	"burst/engine"
	"burst/internal/cuda/driver"
)

// probe is the struct of that name in kernels/run.cuh, field for field.
type probe struct {
	neuron, variable uint32
	place            uint32
}

const probeBytes = uint64(unsafe.Sizeof(probe{}))

// probes is the struct of that name in kernels/run.cuh, field for field.
type probes struct {
	list, first, values driver.Ptr
	count               uint64
}

// ownProbes are the wanted state variables of neurons that the device has.
func (b *backend) ownProbes() []engine.Probe {
	if b.c.Part.Whole() {
		return b.want.Values
	}
	var own []engine.Probe
	for _, p := range b.want.Values {
		if b.c.Part.Owns(p.Neuron) {
			own = append(own, p)
		}
	}
	return own
}

// dealProbes gives the blocks of a launch, which have so many neurons each, the wanted state variables of these: first[i] ≤ k <
// first[i+1] are block i's.
func (b *backend) dealProbes(s *ringShape) (list []probe, first []uint32) {
	type dealt struct {
		block uint64
		probe
	}
	var all []dealt
	for i, p := range b.ownProbes() {
		k := uint64(b.c.Part.Count(p.Neuron))
		all = append(all, dealt{k / s.own, probe{uint32(k % s.own), p.Variable, uint32(i)}})
	}
	slices.SortStableFunc(all, func(x, y dealt) int { return cmp.Compare(x.block, y.block) })
	first = make([]uint32, s.blocks+1)
	for _, p := range all {
		list = append(list, p.probe)
		first[p.block+1]++
	}
	for i := range s.blocks {
		first[i+1] += first[i]
	}
	return list, first
}

// uploadProbes brings them to the device.
func (b *backend) uploadProbes() error {
	s, at := &b.batch.shape, b.plan.ptr[bufProbes]
	if s.values == 0 {
		return nil
	}
	list, first := b.dealProbes(s)
	if err := b.stream.Upload(at, data(list), size(list)); err != nil {
		return err
	}
	if err := b.stream.Upload(at+driver.Ptr(size(list)), data(first), size(first)); err != nil {
		return err
	}
	return b.stream.Synchronize()
}

// probes is what stays the same in all launches.
func (x *batch) probes(p *[slotCount]driver.Ptr) probes {
	n := x.shape.values
	return probes{list: p[bufProbes], first: p[bufProbes] + driver.Ptr(probeBytes*n), count: n}
}
