package cuda

import (
	"math/bits"
	"runtime"
	"unsafe"

	"burst/backend/cuda/driver"
	"burst/connectome"
	"burst/engine"
)

// together is TOGETHER of kernels/candidates.cuh.
const together = 32

// listing is the struct of that name in kernels/candidates.cuh, field for field.
type listing struct {
	lists  driver.Ptr
	bytes  uint64
	sumsAt uint64
	inputs driver.Ptr
	counts driver.Ptr
	sets   uint32
}

// listShape is how a burst's list lies in memory; without bytes there are no lists.
type listShape struct {
	blocks, own, sets uint64
	sumsAt, bytes     uint64
}

func makeListShape(c *connectome.Connectome, blocks, own uint64) listShape {
	s := listShape{blocks: blocks, own: own, sets: 1}
	for i := range c.Areas {
		s.sets = max(s.sets, uint64(c.Areas[i].PortsEach()))
	}
	const sector = 4 * together
	s.sumsAt = divUp(s.sets*blocks*own/8, sector) * sector
	s.bytes = s.sumsAt + 4*s.sets*blocks*own
	return s
}

// used is how much of a list has to be copied where no block has more than most candidates.
func (s *listShape) used(most uint64) uint64 {
	return s.sumsAt + divUp(most, together)*4*together*s.blocks
}

// listed reports whether launches of many bursts list candidates.
func (b *backend) listed() bool {
	some, _ := customs(b.c)
	return b.want.FCL && !b.tune.plain && b.share.devices < 2 && !some && b.c.Part.Whole() && len(b.want.Potentials) == 0
}

// lister brings the fire candidate lists of launches of many bursts to the host. A list is copied on a stream of its own, by
// turns into one of two places, while later bursts run and the list before it is put together.
type lister struct {
	shape  listShape
	stream *driver.Stream
	places [2]landing
	counts []uint32 // in mapped memory: for each burst of two launches, block and set of ports
	spans  []listSpan
	list   []engine.Candidate
	newest *landing
	crew   *crew  // while bursts run, where the machine has processors for it
	least  uint64 // candidates that are worth the crew's while
}

// landing is page-locked memory for a list.
type landing struct {
	host    *driver.HostMemory
	arrived *driver.Event
	copied  bool // there is a list to wait for
	counts  []uint32
	bits    []uint32
	sums    []int32
}

// listSpan is a run of neighbouring ports whose neurons one block has.
type listSpan struct {
	block, set   uint32
	from, until  uint32 // the block's neurons
	whole        bool   // no other neurons of the block have ports of the set
	port, neuron uint32 // of from

	first, rank, count uint32 // in the newest list: place in it, place among the block's candidates, length
}

// makeListSpans lists all ports, ascending.
func makeListSpans(c *connectome.Connectome, s *listShape) []listSpan {
	var list []listSpan
	for i := range c.Areas {
		a := &c.Areas[i]
		first, end := uint64(a.Neurons.First), uint64(a.Neurons.End())
		for set := range a.PortsEach() {
			for n := first; n < end; {
				block := n / s.own
				begin, until := block*s.own, min((block+1)*s.own, end)
				list = append(list, listSpan{
					block: uint32(block), set: set, from: uint32(n - begin), until: uint32(until - begin),
					whole: n == begin && (until == begin+s.own || until == uint64(c.Neurons)),
					port:  a.Ports.First + set*a.Neurons.Count + uint32(n-first), neuron: uint32(n),
				})
				n = until
			}
		}
	}
	return list
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
		if p.host, err = b.ctx.AllocHost(int(l.shape.bytes), false); err != nil {
			p.host = nil
			return err
		}
		if p.arrived, err = b.ctx.Event(); err != nil {
			p.arrived = nil
			return err
		}
		m := unsafe.Pointer(unsafe.SliceData(p.host.Bytes()))
		p.bits = unsafe.Slice((*uint32)(m), l.shape.sets*l.shape.blocks*l.shape.own/32)
		p.sums = unsafe.Slice((*int32)(unsafe.Add(m, l.shape.sumsAt)), l.shape.sets*l.shape.blocks*l.shape.own)
	}
	l.spans = makeListSpans(b.c, &l.shape)
	return nil
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

// fetch asks for the list of a burst that is complete, which is the at-th of two launches. How much of it there is to copy the
// kernel has said.
func (l *lister) fetch(lists driver.Ptr, at uint64) error {
	p := &l.places[at%2]
	blocks := l.shape.blocks * l.shape.sets
	p.counts = l.counts[at*blocks:][:blocks]
	most, sets := uint64(0), int(l.shape.sets)
	for i := 0; i < len(p.counts); i += sets {
		sum := uint64(p.counts[i])
		if sets > 1 {
			sum += uint64(p.counts[i+1])
		}
		most = max(most, sum)
	}
	if p.copied = most > 0; !p.copied {
		return nil
	}
	from := lists + driver.Ptr(at*l.shape.bytes)
	if err := l.stream.Download(unsafe.Pointer(&p.bits[0]), from, l.shape.used(most)); err != nil {
		return err
	}
	return l.stream.Record(p.arrived)
}

// take waits for the list that was asked for and puts it together. It holds until the next one is taken.
func (l *lister) take(at uint64) ([]engine.Candidate, error) {
	p := &l.places[at%2]
	if !p.copied {
		return nil, nil
	}
	if err := p.arrived.Synchronize(); err != nil {
		return nil, err
	}
	l.put(p)
	return l.list, nil
}

// put puts the list together that has landed.
func (l *lister) put(p *landing) {
	total := uint32(0)
	for i := range l.spans {
		s := &l.spans[i]
		s.measure(p, &l.shape)
		s.first = total
		total += s.count
	}
	l.list, l.newest = resize(l.list, int(total)), p
	if l.crew != nil && uint64(total) >= l.least {
		l.crew.round()
		return
	}
	l.expand(l.spans)
}

// expand writes the candidates of some spans to the list.
func (l *lister) expand(spans []listSpan) {
	for i := range spans {
		s := &spans[i]
		s.expand(l.list[s.first:][:s.count], l.newest, &l.shape)
	}
}

// begin calls for help with putting lists together: goroutines for as many candidates as there can be.
func (l *lister) begin(ports uint32) {
	const most = 12
	hands := min(runtime.GOMAXPROCS(0)-1, most, int(uint64(ports)/l.least))
	if hands <= 0 {
		return
	}
	pieces := min(2*(hands+1), len(l.spans)) // one each, and some for who is faster
	l.crew = startCrew(hands, pieces, func(i int) {
		l.expand(l.spans[i*len(l.spans)/pieces : (i+1)*len(l.spans)/pieces])
	})
}

// end sends the help away.
func (l *lister) end() {
	if l.crew != nil {
		l.crew.end()
		l.crew = nil
	}
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

// measure finds how many candidates the span has, and how many the block has before them.
func (s *listSpan) measure(p *landing, shape *listShape) {
	counts := p.counts[uint64(s.block)*shape.sets:]
	s.rank = 0
	if s.set > 0 {
		s.rank = counts[0]
	}
	if s.whole {
		s.count = counts[s.set]
		return
	}
	words := s.words(p, shape)
	s.rank += ones(words, 0, s.from)
	s.count = ones(words, s.from, s.until)
}

// words are the block's bits of the span's set.
func (s *listSpan) words(p *landing, shape *listShape) []uint32 {
	each := shape.own / 32
	return p.bits[(uint64(s.set)*shape.blocks+uint64(s.block))*each:][:each]
}

// ones counts the bits of from ≤ i < until.
func ones(words []uint32, from, until uint32) uint32 {
	n := 0
	for w := from / 32; w*32 < until; w++ {
		n += bits.OnesCount32(words[w] & within(w, from, until))
	}
	return uint32(n)
}

// within has the bits of word w that are of from ≤ i < until.
func within(w, from, until uint32) uint32 {
	mask := ^uint32(0)
	if from > w*32 {
		mask <<= from - w*32
	}
	if until < w*32+32 {
		mask &= 1<<(until-w*32) - 1
	}
	return mask
}

// expand writes the span's candidates to list, which has room for just these: as many at a time as sums lie side by side.
func (s *listSpan) expand(list []engine.Candidate, p *landing, shape *listShape) {
	words := s.words(p, shape)
	at := uint64(s.rank)/together*shape.blocks*together + uint64(s.block)*together
	skip := s.rank % together
	w := s.from / 32
	rest := words[w] & within(w, s.from, s.until)
	port, neuron := s.port-s.from, s.neuron-s.from // of the block's first neuron
	for len(list) > 0 {
		sums := p.sums[at:][skip:together]
		n := min(len(list), len(sums))
		now := list[:n]
		sums = sums[:len(now)]
		for k := range now {
			for rest == 0 {
				w++
				rest = words[w] & within(w, s.from, s.until)
			}
			i := w*32 + uint32(bits.TrailingZeros32(rest))
			rest &= rest - 1
			c := &now[k]
			c.Port, c.Neuron, c.Sum = port+i, neuron+i, sums[k]
		}
		list, at, skip = list[n:], at+shape.blocks*together, 0
	}
}
