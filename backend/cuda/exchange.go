package cuda

import (
	"math/bits"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// mostDevices is MOST_DEVICES of kernels/exchange.cuh.
const mostDevices = 8

// share is a device's part in a network that several devices of this process hold.
type share struct {
	devices, self int    // 0 devices: alone
	short         bool   // all devices have the grid of clusters of four blocks
	lag           uint64 // the longest of all devices' rows
}

// exchange is the struct of that name in kernels/exchange.cuh, field for field.
type exchange struct {
	devices, self    uint32
	idMask, toldMask uint32
	room             uint64
	stop             driver.Ptr
	ids              [mostDevices]driver.Ptr
	told             [mostDevices]driver.Ptr
	own              driver.Ptr
}

// exchanges reports whether the device's blocks tell each other who fired by kernels/exchange.cuh, alone or with other devices.
func (b *backend) exchanges() bool { return b.share.devices > 1 || b.rows.placed() }

// most is how many ids a device may store in one burst. If it is the device of one of several processes these are all neurons, because it
// also gets those of other processes. Else it is the number of neurons of the largest device.
func (b *backend) most() uint64 {
	if b.share.devices <= 1 {
		return uint64(b.c.Neurons)
	}
	return uint64(connectome.Part{Of: b.c.Part.Of}.Count(b.c.Neurons))
}

// powerOfTwo is the least one that is not below n, which is not 0.
func powerOfTwo(n uint64) uint64 { return 1 << bits.Len64(n-1) }

// exchangeRings is for how many bursts ids, and words that announce them, are kept. Both are powers of two (kernels/exchange.cuh) and the
// same on all devices, whose rows may be delivered one burst or several bursts late.
func (b *backend) exchangeRings() (ids, told uint64) {
	lag := max(b.rows.lag(), b.share.lag)
	if b.share.devices > 1 {
		return powerOfTwo(2 * lag), powerOfTwo(max(lag+2, 2*lag))
	}
	if b.choice.path == pathSums {
		apart := uint64(b.apartBySums())
		return powerOfTwo(lag + apart), powerOfTwo(lag + 2*apart)
	}
	apart := uint64(b.clustersApart())
	return powerOfTwo(lag + 1 + apart), powerOfTwo(lag + 2 + 2*apart)
}

// planExchange adds the memory that all devices write their fire queues to, for so many blocks each.
func (p *plan) planExchange(b *backend, blocks uint64) {
	k := uint64(max(1, b.share.devices))
	ids, told := b.exchangeRings()
	p.bytes[bufInbox] = 4 * ids * k * b.most()
	p.bytes[bufTold] = 8 * (told + told*k*blocks) // own words first
	p.bytes[bufExchange] = uint64(unsafe.Sizeof(exchange{}))
	p.bytes[bufWaited] = 8 * blocks
}

// link tells the device where the others' memory is, its own included.
func (b *backend) link(all []*backend, stop driver.Ptr) error {
	ids, told := b.exchangeRings()
	x := &exchange{devices: uint32(len(all)), self: uint32(b.share.self), idMask: uint32(ids - 1), toldMask: uint32(told - 1), room: b.most(), stop: stop, own: b.plan.ptr[bufTold]}
	for q, other := range all {
		x.ids[q], x.told[q] = other.plan.ptr[bufInbox], other.plan.ptr[bufTold]+driver.Ptr(8*told)
		if other == b {
			continue
		}
		if err := b.ctx.EnablePeer(other.ctx); err != nil {
			return err
		}
	}
	if err := b.stream.Fill(b.plan.ptr[bufWaited], 0, b.plan.bytes[bufWaited]); err != nil {
		return err
	}
	if err := b.stream.Upload(b.plan.ptr[bufExchange], unsafe.Pointer(x), uint64(unsafe.Sizeof(*x))); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(x)
	return err
}

// tellQueues puts the newest fire queues, of all devices, where a launch looks for what they have told: as many as are not delivered yet.
func (b *backend) tellQueues(newest [][]uint32) error {
	k, room := uint64(max(1, b.share.devices)), b.most()
	ids, words := b.exchangeRings()
	blocks := uint64(b.batch.blocks)
	told := make([]uint64, words+words*k*blocks)
	own, others := told[:words], told[words:]
	var uploaded [][]uint32 // until all are
	for i := range others { // not told yet: the tag of a burst that never has this place
		others[i] = (uint64(i)/(k*blocks) + 1) << 32
	}
	for i, queue := range newest[:b.rows.lag()] {
		number, lists := b.number-1-uint64(i), make([][]uint32, k)
		for _, n := range queue {
			q := uint64(n/connectome.Slice) % k
			lists[q] = append(lists[q], n)
		}
		for q, list := range lists {
			count := uint64(len(list))
			if q == b.share.self {
				own[number%words] = blocks<<32 | count
			}
			for i := range blocks { // the first block's entry has the count of all
				others[(number%words*k+uint64(q))*blocks+i], count = number<<32|count, 0
			}
			to := b.plan.ptr[bufInbox] + driver.Ptr(4*room*(number%ids*k+uint64(q)))
			if len(list) == 0 {
				continue
			}
			if err := b.stream.Upload(to, data(list), size(list)); err != nil {
				return err
			}
			uploaded = append(uploaded, list)
		}
	}
	if err := b.stream.Upload(b.plan.ptr[bufTold], data(told), size(told)); err != nil {
		return err
	}
	err := b.stream.Synchronize()
	runtime.KeepAlive(told)
	runtime.KeepAlive(uploaded)
	return err
}

// Exchanging is, for each device, how long its warps have stored ids and waited for those of other devices, since Open. It is the time of
// the block that waited least; other blocks arrive earlier and also wait for that one.
func (g *group) Exchanging() ([]time.Duration, error) {
	list := make([]time.Duration, len(g.parts))
	if !g.CanStepN() {
		return list, nil
	}
	err := g.each(func(b *backend) error {
		waited := make([]uint64, b.batch.blocks)
		if err := b.stream.Download(data(waited), b.plan.ptr[bufWaited], size(waited)); err != nil {
			return err
		}
		err := b.stream.Synchronize()
		list[b.share.self] = time.Duration(slices.Min(waited))
		return err
	})
	return list, err
}
