package cuda

import (
	"math/bits"
	"slices"
	"unsafe"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
)

// instants and instant are the structs of those names in kernels/network.cuh, field for field.
type instants struct {
	first        driver.Ptr
	mask, stride uint32
}

type instant struct {
	factor  float64
	entries uint32
	amount  int32
}

const instantBytes = uint64(unsafe.Sizeof(instant{}))

// mover is a drive or a source area with a factor. The host works out what it has in each burst of a launch, before the launch.
type mover struct {
	drive  *connectome.Drive // or
	factor *genome.Factor    // of the rate of a source area
	table  moverTable
	entry  int    // of the table
	at     uint64 // where its instant lies among those of a burst
}

// hasInstants reports whether a drive or a source has a factor, or neurons have numbers of their own of a drive.
func hasInstants(c *connectome.Connectome) bool {
	return slices.ContainsFunc(c.Areas, func(a connectome.Area) bool {
		return a.Factor != nil || slices.ContainsFunc(a.Drives, func(d connectome.Drive) bool { return d.Moving != nil || d.Own != nil })
	})
}

// moverTable says in which table a mover is.
type moverTable uint8

const (
	amongAreas moverTable = iota
	amongTerms
	amongDrives
)

// instantsOf is where the tables say where a mover's instants are.
func (t *tables) instantsOf(m *mover) *instants {
	switch m.table {
	case amongAreas:
		return &t.areas[m.entry].moving
	case amongTerms:
		return &t.terms[m.entry].moving
	}
	return &t.drives[m.entry].moving
}

// addMover gives a mover its place among the instants of a burst.
func (t *tables) addMover(m mover) {
	m.at = t.stride
	bytes := instantBytes
	if m.drive != nil && m.drive.Kind == connectome.Poisson {
		bytes += 4 * uint64(m.drive.Moving.Most)
	}
	if m.drive != nil && m.drive.Kind == connectome.Noise {
		bytes += 4 * uint64(len(m.drive.At(0).Table))
	}
	t.stride += divUp(bytes, instantBytes) * instantBytes
	t.movers = append(t.movers, m)
	t.instantsOf(&m).stride = uint32(instantBytes) // until all are known
}

// fill works out what the mover has in burst t; to is the place of its instant.
func (m *mover) fill(t uint64, to unsafe.Pointer) {
	x := (*instant)(to)
	if m.drive == nil {
		x.factor = m.factor.In(t)
		return
	}
	if !m.drive.Active(t) {
		return
	}
	now := m.drive.In(t)
	after := unsafe.Add(to, instantBytes)
	switch x.factor, x.amount = now.Times(), now.Amount; now.Kind {
	case connectome.Poisson:
		x.entries = uint32(len(now.Counts))
		copy(unsafe.Slice((*uint32)(after), len(now.Counts)), now.Counts)
	case connectome.Noise:
		copy(unsafe.Slice((*int32)(after), len(now.Table)), now.Table)
	}
}

// moving brings the device what movers have in the bursts of the next launch.
type moving struct {
	movers []mover
	stride uint64 // bytes of a burst
	slots  uint64 // bursts that there is room for, a power of two
	host   *driver.HostMemory
}

// instantRoom bounds the instants of two launches, in bytes, by fewer bursts a launch.
const instantRoom = 32 << 20

// instantSlots is the room for the bursts of two launches, of which one is prepared while the other runs, and for the burst after them.
func (b *backend) instantSlots() uint64 {
	switch {
	case b.plan.instants == 0:
		return 0
	case !b.many():
		return 1
	}
	return 1 << bits.Len64(2*b.ringShape().most)
}

// startMoving takes the page-locked memory and tells the tables where the device's lies.
func (b *backend) startMoving(t *tables) error {
	b.moving = moving{movers: t.movers, stride: t.stride, slots: b.instantSlots()}
	m := &b.moving
	t.placeOwn(b.plan.ptr[bufOwn])
	if m.stride == 0 {
		return nil
	}
	if !hasInstants(b.c) {
		panic("BUG: a network that moves has kernels that do not see it")
	}
	for i := range m.movers {
		one := &m.movers[i]
		*t.instantsOf(one) = instants{first: b.plan.ptr[bufInstants] + driver.Ptr(one.at), mask: uint32(m.slots - 1), stride: uint32(m.stride)}
	}
	var err error
	if m.host, err = b.ctx.AllocHost(int(m.slots*m.stride), false); err != nil {
		m.host = nil
	}
	return err
}

// bring queues the upload of what movers have in so many bursts. Those before the last two launches are done with the memory.
func (m *moving) bring(b *backend, first, bursts uint64) error {
	if m.stride == 0 {
		return nil
	}
	base := unsafe.Pointer(unsafe.SliceData(m.host.Bytes()))
	for t := first; t < first+bursts; {
		slot := t & (m.slots - 1)
		n := min(first+bursts-t, m.slots-slot)
		from := unsafe.Add(base, slot*m.stride)
		for k := range n {
			for i := range m.movers {
				m.movers[i].fill(t+k, unsafe.Add(from, k*m.stride+m.movers[i].at))
			}
		}
		if err := b.stream.Upload(b.plan.ptr[bufInstants]+driver.Ptr(slot*m.stride), from, n*m.stride); err != nil {
			return err
		}
		t += n
	}
	return nil
}
