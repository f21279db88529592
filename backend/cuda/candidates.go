package cuda

import (
	"unsafe"

	"burst/connectome"
	"burst/engine"
	"burst/internal/cuda/driver"
)

// listing is the struct of that name in kernels/candidates.cuh, field for field.
type listing struct {
	lists     driver.Ptr
	room      uint64
	notes     driver.Ptr
	noteBytes uint64
	spans     driver.Ptr
	first     driver.Ptr
	counts    driver.Ptr
	totals    driver.Ptr
	spanCount uint32
	sets      uint32
}

// listSpan is span of kernels/candidates.cuh, field for field.
type listSpan struct {
	place, set, from, until, port, neuron uint32
}

// listShape is how a burst's list and what blocks note for it lie in memory; without room there are no lists.
type listShape struct {
	room      uint64 // of a list, candidates
	noteBytes uint64 // of a block and set of ports
	notes     uint64 // bytes of all
	sets      uint64
	spans     []listSpan
	first     []uint32 // first[b] ≤ i < first[b+1] are block b's spans
}

func makeListShape(c *connectome.Connectome, blocks, own uint64) listShape {
	const sector = 128
	s := listShape{room: divUp(uint64(c.Ports)+1, sector/4) * (sector / 4), sets: uint64(max(1, mostPorts(c)))}
	s.noteBytes = divUp(5*own+4*(2*(own/32)+1), sector) * sector
	s.notes = 2 * blocks * s.sets * s.noteBytes
	s.spans, s.first = makeListSpans(c, blocks, own)
	return s
}

// bytes is the size of a list.
func (s *listShape) bytes() uint64 { return listedBytes * s.room }

// makeListSpans finds all spans, a block's after the one's before it.
func makeListSpans(c *connectome.Connectome, blocks, own uint64) ([]listSpan, []uint32) {
	of, place := make([][]listSpan, blocks), uint32(0)
	for i := range c.Areas {
		a := &c.Areas[i]
		first, end := uint64(a.Neurons.First), uint64(a.Neurons.End())
		for set := range a.PortsEach() {
			for n := first; n < end; place++ {
				block := n / own
				begin, until := block*own, min((block+1)*own, end)
				of[block] = append(of[block], listSpan{
					place: place, set: set, from: uint32(n - begin), until: uint32(until - begin),
					port: a.Ports.First + set*a.Neurons.Count + uint32(n-first), neuron: uint32(n),
				})
				n = until
			}
		}
	}
	spans, firsts := make([]listSpan, 0, place), []uint32{0}
	for _, some := range of {
		spans = append(spans, some...)
		firsts = append(firsts, uint32(len(spans)))
	}
	return spans, firsts
}

// listed reports whether launches of many bursts list candidates.
func (b *backend) listed() bool {
	return b.want.FCL && len(b.c.Plastic) == 0 && !b.tune.plain && b.share.devices < 2 && b.c.Part.Whole()
}

// lister copies the fire candidate lists of launches of many bursts to the host, as the device has written them. Each list is copied on a
// stream of its own, while later bursts run, into one of two places in turn.
type lister struct {
	shape  listShape
	stream *driver.Stream
	places [2]landing
	totals []uint32 // in mapped memory: for each burst of two launches
}

// landing is page-locked memory for a list.
type landing struct {
	host    *driver.HostMemory
	arrived *driver.Event
	list    []engine.Candidate // all there is room for
	count   uint32
}

// allocate takes what lists need beside the mapped memory.
func (l *lister) allocate(b *backend) error {
	var err error
	if l.stream, err = b.ctx.Stream(); err != nil {
		l.stream = nil
		return err
	}
	for i := range l.places {
		p := &l.places[i]
		if p.host, err = b.ctx.AllocHost(int(l.shape.bytes()), false); err != nil {
			p.host = nil
			return err
		}
		if p.arrived, err = b.ctx.Event(); err != nil {
			p.arrived = nil
			return err
		}
		p.list = unsafe.Slice((*engine.Candidate)(unsafe.Pointer(unsafe.SliceData(p.host.Bytes()))), l.shape.room)
	}
	return l.upload(b)
}

// upload brings the spans to the device.
func (l *lister) upload(b *backend) error {
	s, p := &l.shape, &b.plan.ptr
	if len(s.spans) > 0 {
		if err := b.stream.Upload(p[bufSpans], data(s.spans), size(s.spans)); err != nil {
			return err
		}
	}
	if err := b.stream.Upload(p[bufSpans]+driver.Ptr(size(s.spans)), data(s.first), size(s.first)); err != nil {
		return err
	}
	return b.stream.Synchronize()
}

// free gives back what allocate took; copies must have ended.
func (l *lister) free() error {
	var first error
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	if l.stream != nil {
		keep(l.stream.Synchronize())
	}
	for i := range l.places {
		p := &l.places[i]
		keep(freeHost(&p.host))
		if p.arrived != nil {
			keep(p.arrived.Destroy())
			p.arrived = nil
		}
	}
	if l.stream != nil {
		keep(l.stream.Destroy())
		l.stream = nil
	}
	return first
}

// listing is what stays the same in all launches.
func (l *lister) listing(p *[slotCount]driver.Ptr) listing {
	s := &l.shape
	return listing{
		room: s.room, notes: p[bufNotes], noteBytes: s.noteBytes, spans: p[bufSpans], first: p[bufSpans] + driver.Ptr(size(s.spans)),
		counts: p[bufSpanCounts], spanCount: uint32(len(s.spans)), sets: uint32(s.sets),
	}
}

// fetch asks for the list of a burst that is complete, which is the at-th of two launches. Its length the kernel has said.
func (l *lister) fetch(lists driver.Ptr, at uint64) error {
	p := &l.places[at%2]
	if p.count = l.totals[at]; p.count == 0 {
		return nil
	}
	if err := l.stream.Download(unsafe.Pointer(&p.list[0]), lists+driver.Ptr(at*l.shape.bytes()), listedBytes*uint64(p.count)); err != nil {
		return err
	}
	return l.stream.Record(p.arrived)
}

// take waits for the list that was asked for. It holds until the next but one is asked for.
func (l *lister) take(at uint64) ([]engine.Candidate, error) {
	p := &l.places[at%2]
	if p.count == 0 {
		return nil, nil
	}
	if err := p.arrived.Synchronize(); err != nil {
		return nil, err
	}
	return p.list[:p.count:p.count], nil
}

// deliverLists delivers the bursts of a launch, from place at on, with their lists: each once the next one's list is being copied.
func (b *backend) deliverLists(at, bursts uint64, each func(*engine.Burst)) error {
	x, first := &b.batch, b.number
	for k := range bursts + 1 {
		if k < bursts {
			if err := b.poll(&x.done[at+k], first+k); err != nil {
				return err
			}
			if err := x.lister.fetch(b.plan.ptr[bufLists], at+k); err != nil {
				return err
			}
		}
		if k == 0 {
			continue
		}
		x.take(b, at+k-1)
		var err error
		if x.burst.Candidates, err = x.lister.take(at + k - 1); err != nil {
			return err
		}
		each(&x.burst)
	}
	return nil
}
