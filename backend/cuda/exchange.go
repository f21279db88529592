package cuda

import (
	"runtime"
	"time"
	"unsafe"

	"burst/backend/cuda/driver"
	"burst/connectome"
)

// mostDevices is MOST_DEVICES of kernels/exchange.cuh.
const mostDevices = 8

// share is a device's part in a network that several devices of this process hold.
type share struct {
	devices, self int // 0 devices: alone
}

// exchange is the struct of that name in kernels/exchange.cuh, field for field.
type exchange struct {
	devices, self uint32
	room          uint64
	stop          driver.Ptr
	ids           [mostDevices]driver.Ptr
	flags         [mostDevices]driver.Ptr
}

// most is how many neurons the device with most of them has.
func (b *backend) most() uint64 {
	return uint64(connectome.Part{Of: b.c.Part.Of}.Count(b.c.Neurons))
}

// planExchange adds the memory that the other devices write their fire queues to.
func (p *plan) planExchange(b *backend) {
	k := uint64(b.share.devices)
	p.bytes[bufInbox] = 4 * 2 * k * b.most()
	p.bytes[bufFlags] = 8 * 2 * k
	p.bytes[bufExchange] = uint64(unsafe.Sizeof(exchange{}))
}

// link tells the device where the others' memory is, its own included.
func (b *backend) link(all []*backend, stop driver.Ptr) error {
	x := &exchange{devices: uint32(b.share.devices), self: uint32(b.share.self), room: b.most(), stop: stop}
	for q, other := range all {
		x.ids[q], x.flags[q] = other.plan.ptr[bufInbox], other.plan.ptr[bufFlags]
		if other == b {
			continue
		}
		if err := b.ctx.EnablePeer(other.ctx); err != nil {
			return err
		}
	}
	if err := b.stream.Fill(b.plan.ptr[bufSync]+exchangingAt, 0, 8); err != nil {
		return err
	}
	if err := b.stream.Upload(b.plan.ptr[bufExchange], unsafe.Pointer(x), uint64(unsafe.Sizeof(*x))); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(x)
	return err
}

// tellNewest puts the newest fire queue, of all devices, where a launch looks for what they have told.
func (b *backend) tellNewest(queue []uint32) error {
	k, room, half := uint64(b.share.devices), b.most(), (b.number+1)%2
	ids, flags := make([]uint32, k*room), make([]uint64, 2*k) // the other half's become such as nobody waits for
	newest := flags[half*k:][:k]
	for _, n := range queue {
		q := uint64(n / connectome.Slice % uint32(k))
		ids[q*room+newest[q]] = n
		newest[q]++
	}
	for q := range newest {
		newest[q] |= uint64(uint32(b.number)) << 32
	}
	p := &b.plan.ptr
	if err := b.stream.Upload(p[bufInbox]+driver.Ptr(4*half*k*room), data(ids), size(ids)); err != nil {
		return err
	}
	if err := b.stream.Upload(p[bufFlags], data(flags), size(flags)); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(ids)
	runtime.KeepAlive(flags)
	return err
}

// Exchanging is how long each device has been telling the others who fired and waiting for them, since Open; where they are
// not equally busy, the shortest is what the exchange itself takes.
func (g *group) Exchanging() ([]time.Duration, error) {
	list := make([]time.Duration, len(g.parts))
	err := g.each(func(b *backend) error {
		took := new(uint64)
		if err := b.stream.Download(unsafe.Pointer(took), b.plan.ptr[bufSync]+exchangingAt, 8); err != nil {
			return err
		}
		err := b.stream.Synchronize()
		list[b.share.self] = time.Duration(*took)
		return err
	})
	return list, err
}
