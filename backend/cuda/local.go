package cuda

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"burst/connectome"
	"burst/internal/cuda/driver"
)

// locals is the struct local of kernels/local_bursts.cu, field for field; carry, heldRows and stillSynapse are carry, held and still_synapse.
type locals struct {
	images         driver.Ptr
	bytes          uint64
	base           driver.Ptr
	fixed          uint64
	carries        uint32
	held           uint32
	ports          driver.Ptr
	stillRows      uint32
	still          uint32
	sums, ownPorts uint32
	drawn          uint32
	mail, slots    uint32
}

type carry struct {
	outside, index, inside driver.Ptr
	words, back            uint32
}

type heldRows struct {
	rows, onto, order                      uint32
	target, weight, more, heard, events    uint32
	nearPre, closePre, nearPost, closePost uint32
	every                                  uint32
}

type stillSynapse struct {
	word   uint32
	weight int32
}

// Of kernels/local_bursts.cu: what addresses of a block's memory begin with; how many words a warp carries at most; the places for a target's
// events there; and the threads of a block that compute nothing.
const (
	insideBlock = 0xb10c << 48
	carryWords  = 512
	localEvents = 8
	tellers     = 32
)

// localNear is how much of a block's memory the first entries of traces' tables may take.
const localNear = 4 << 10

// localRoom is the memory of a block, as it is laid out.
type localRoom struct {
	image   []byte
	there   map[driver.Ptr]driver.Ptr // where arrays are that have been brought, by where they lie for other kernels
	carries []carry
	first   bool       // whether the block takes back what all blocks have
	far     driver.Ptr // where there is room for it in global memory
}

// take is room for so many bytes.
func (r *localRoom) take(bytes uint64) uint64 {
	place := uint64(len(r.image))
	r.image = append(r.image, make([]byte, divUp(bytes, 16)*16)...)
	return place
}

// putInside is room for a list that does not change.
func putInside[T any](r *localRoom, list []T) uint64 {
	place := r.take(size(list))
	if len(list) > 0 {
		copy(r.image[place:], unsafe.Slice((*byte)(data(list)), size(list)))
	}
	return place
}

// pointer is the address of a place.
func pointer(place uint64) driver.Ptr { return driver.Ptr(insideBlock + place) }

// carry has words brought in from an address, or from those of its words that index has, and taken back.
func (r *localRoom) carry(inside, outside, index driver.Ptr, words uint64, back bool) {
	for done := uint64(0); done < words; done += carryWords {
		c := carry{outside: outside, index: index, inside: inside + driver.Ptr(4*done), words: uint32(min(carryWords, words-done)), back: flag(back)}
		if index == 0 {
			c.outside += driver.Ptr(4 * done)
		} else {
			c.index += driver.Ptr(4 * done)
		}
		r.carries = append(r.carries, c)
	}
}

// bring is room for an array of so many bytes, which carries brings there, unless it is there already; *at becomes its address in the block's
// memory.
func (r *localRoom) bring(at *driver.Ptr, bytes uint64, carries func(to, from driver.Ptr)) {
	if bytes == 0 || *at == 0 {
		return
	}
	to, there := r.there[*at]
	if !there {
		to = pointer(r.take(bytes))
		r.there[*at] = to
		carries(to, *at)
	}
	*at = to
}

// scratch is one that a launch begins without.
func (r *localRoom) scratch(at *driver.Ptr, bytes uint64) {
	r.bring(at, bytes, func(_, _ driver.Ptr) {})
}

// share is one of words that all blocks have, and that the first one takes back.
func (r *localRoom) share(at *driver.Ptr, words uint64) {
	r.bring(at, 4*words, func(to, from driver.Ptr) { r.carry(to, from, 0, words, r.first) })
}

// leave is share for an array that stays in global memory, where each block has its own.
func (r *localRoom) leave(at *driver.Ptr, words uint64) {
	if words == 0 {
		return
	}
	to, there := r.there[*at]
	if !there {
		to = r.far
		r.far += driver.Ptr(divUp(4*words, 16) * 16)
		r.there[*at] = to
		r.carry(to, *at, 0, words, r.first)
	}
	*at = to
}

// slice is room for a part of some arrays of count items of words each: those of a span of items.
func (r *localRoom) slice(at *driver.Ptr, arrays, count, words uint64, own connectome.Span) {
	n := words * uint64(own.Count)
	r.bring(at, 4*arrays*n, func(to, from driver.Ptr) {
		for k := range arrays {
			r.carry(to+driver.Ptr(4*k*n), from+driver.Ptr(4*words*(k*count+uint64(own.First))), 0, n, true)
		}
	})
}

// local is a network as blocks of local_bursts hold it.
type local struct {
	blocks, own uint64
	outside     bool   // whether what sources were before spikes that are on their way is in global memory
	far         uint64 // bytes that it takes there
	images      [][]byte
	arg         locals
	ports       []uint32
	indices     []uint32
}

// farBytes is what a block has of what sources were before spikes that are on their way.
func (l *learning) farBytes() (bytes uint64) {
	for i := range l.list {
		if x := &l.list[i].arg; l.list[i].ownSources {
			n := uint64(x.slots) * uint64(x.sources)
			bytes += aligned(4*n*uint64(x.preCount), 4*n*uint64(x.sourceVariables), 8*n)
		}
	}
	return bytes
}

// localGrid is how many blocks such a launch has, and how many neurons each owns.
func (b *backend) localGrid() (blocks, own uint64) { return deal(b.c, min(b.sms, b.tune.localBlocks)) }

// portsOfBlocks gives of each port its block and, in the lower 16 bits, its number there: first ports of its neurons, then second ones.
func portsOfBlocks(c *connectome.Connectome, own uint32) []uint32 {
	list := make([]uint32, c.Ports)
	for i := range c.Areas {
		a := &c.Areas[i]
		for port := range a.PortsEach() {
			for k := range a.Neurons.Count {
				n := a.Neurons.First + k
				list[a.Ports.First+port*a.Neurons.Count+k] = n/own<<16 | (port*own + n%own)
			}
		}
	}
	return list
}

// layLocal lays the network out; learnt is where that of single bursts lies, and base where what is not in the blocks' memory will. With
// outside, what sources were before spikes that are on their way is not.
func (b *backend) layLocal(learnt, base driver.Ptr, outside bool) *local {
	l, a := b.layLearning(learnt, localNear)
	c, x, far := b.c, &local{outside: outside}, base
	if x.blocks, x.own = b.localGrid(); outside {
		x.far = x.blocks * l.farBytes()
		base += driver.Ptr(x.far)
	}
	x.ports = portsOfBlocks(c, uint32(x.own))
	fixed := make([]byte, divUp(l.all.fixedBytes, 16)*16)
	for _, f := range a.copies {
		if at := uint64(f.to - l.all.list); at < l.all.fixedBytes {
			copy(fixed[at:], unsafe.Slice((*byte)(f.from), f.bytes))
		}
	}
	queues := uint64(bits.Len64(uint64(c.Queues()) + 3))
	x.arg = locals{base: l.all.list, fixed: l.all.fixedBytes, ownPorts: uint32(uint64(mostPorts(c)) * x.own), slots: uint32(max(8, 1<<queues))}
	slots, _ := b.sumSlots()
	plastic := make([][]localRows, len(l.list))
	for i := range l.list {
		plastic[i] = rowsOfBlocks(l.list[i].p, x)
	}
	for block := range x.blocks {
		r, y := &localRoom{image: slices.Clone(fixed), there: map[driver.Ptr]driver.Ptr{}, first: block == 0, far: far}, &x.arg
		y.carries = uint32(r.take(8))
		y.held = uint32(r.take(uint64(unsafe.Sizeof(heldRows{})) * uint64(len(l.list))))
		y.mail = uint32(r.take(8 * uint64(y.slots) * x.blocks * x.own / 32))
		y.drawn = uint32(r.take(2 * 4 * uint64(y.ownPorts)))
		y.sums = uint32(r.take(4 * uint64(y.ownPorts) * slots))
		b.carrySums(r, x, block, slots)
		rows, still := b.stillOfBlock(x.ports, block)
		y.stillRows = uint32(putInside(r, rows))
		y.still = uint32(putInside(r, still))
		for i := range l.list {
			one := l.list[i].one()
			rows := &plastic[i][block]
			h := x.layLearner(r, &one, rows, base+driver.Ptr(4*len(x.indices)), connectome.Span{First: uint32(block * x.own), Count: uint32(x.own)})
			if one.l.pairs = flag(localPairs(l.list[i].p)); one.l.pairs != 0 {
				h.nearPre, h.closePre = y.nearOf(fixed, one.l.pre)
				h.nearPost, h.closePost = y.nearOf(fixed, one.l.post)
				h.every = flag(changesAlike(l.list[i].p))
			}
			x.indices = append(x.indices, rows.index...)
			copy(r.image[uint64(y.held)+uint64(i)*uint64(unsafe.Sizeof(h)):], bytesOf(&h))
			copy(r.image[uint64(i)*uint64(unsafe.Sizeof(one)):], bytesOf(&one))
		}
		carries := [2]uint32{uint32(len(r.carries)), uint32(putInside(r, r.carries))}
		copy(r.image[y.carries:], bytesOf(&carries))
		x.images = append(x.images, r.image)
		far = r.far
	}
	for _, image := range x.images {
		x.arg.bytes = max(x.arg.bytes, uint64(len(image)))
	}
	return x
}

// nearOf is where in the block's memory the first entries of a trace's table lie, and how many; the trace is among what is fixed.
func (y *locals) nearOf(fixed []byte, at driver.Ptr) (near, count uint32) {
	t := (*trace)(unsafe.Pointer(&fixed[at-y.base]))
	if t.table.close == 0 {
		return 0, 0
	}
	return uint32(t.table.near - y.base), uint32(t.table.close)
}

// bytesOf are those of a struct.
func bytesOf[T any](x *T) []byte { return unsafe.Slice((*byte)(unsafe.Pointer(x)), unsafe.Sizeof(*x)) }

// carrySums has the sums of bursts to come carried.
func (b *backend) carrySums(r *localRoom, x *local, block, slots uint64) {
	own, y := uint32(x.own), &x.arg
	for i := range b.c.Areas {
		a := &b.c.Areas[i]
		n := overlap(a.Neurons, connectome.Span{First: uint32(block) * own, Count: own})
		for port := range a.PortsEach() {
			if n.Count == 0 {
				break
			}
			from := a.Ports.First + port*a.Neurons.Count + n.First - a.Neurons.First
			place := uint64(y.sums) + 4*uint64(x.ports[from]&0xffff)
			for slot := range slots {
				r.carry(pointer(place+4*slot*uint64(y.ownPorts)), b.plan.ptr[bufRing]+driver.Ptr(4*(slot*uint64(b.c.Ports)+uint64(from))), 0, uint64(n.Count), true)
			}
		}
	}
}

// overlap is what two spans have in common.
func overlap(a, b connectome.Span) connectome.Span {
	first, end := max(a.First, b.First), min(a.End(), b.End())
	return connectome.Span{First: first, Count: max(end, first) - first}
}

// stillOfBlock is where the synapses of each neuron onto a block's neurons begin that do not learn, and these.
func (b *backend) stillOfBlock(ports []uint32, block uint64) (rows []uint32, still []stillSynapse) {
	c := b.c
	for n := range c.Neurons {
		rows = append(rows, uint32(len(still)))
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			if port := ports[c.Target[k]]; uint64(port>>16) == block {
				delay := uint32(1)
				if !c.Delay.None() {
					delay = c.Delay.At(k)
				}
				still = append(still, stillSynapse{delay<<16 | port&0xffff, c.Weight[k]})
			}
		}
	}
	return append(rows, uint32(len(still))), still
}

// localRows are a block's synapses of a projection.
type localRows struct {
	rows  []uint32 // where those of each source begin
	index []uint32 // among all of the projection
	ports []uint32 // in the block
	short []uint8
	long  []uint16
}

// byTarget is where the synapses onto each of some targets begin, of which the first has a port, and which they are, with their sources in the
// upper 16 bits.
func (r *localRows) byTarget(port, targets uint32) (onto, order []uint32) {
	onto, order = make([]uint32, targets+1), make([]uint32, len(r.ports))
	for _, p := range r.ports {
		onto[p-port+1]++
	}
	for j := range targets {
		onto[j+1] += onto[j]
	}
	next := slices.Clone(onto)
	for source, first := range r.rows[:len(r.rows)-1] {
		for k := first; k < r.rows[source+1]; k++ {
			p := r.ports[k]
			order[next[p-port]] = uint32(source)<<16 | k
			next[p-port]++
		}
	}
	return onto, order
}

// rowsOfBlocks deals the synapses of a projection to the blocks of their targets.
func rowsOfBlocks(p *connectome.Plastic, x *local) []localRows {
	list := make([]localRows, x.blocks)
	for i := range p.From.Count {
		for b := range list {
			list[b].rows = append(list[b].rows, uint32(len(list[b].index)))
		}
		for k := p.Row[i]; k < p.Row[i+1]; k++ {
			port := x.ports[p.Target[k]]
			r := &list[port>>16]
			r.index, r.ports = append(r.index, uint32(k)), append(r.ports, port&0xffff)
			if p.Delay.Short != nil {
				r.short = append(r.short, p.Delay.Short[k])
			}
			if p.Delay.Long != nil {
				r.long = append(r.long, p.Delay.Long[k])
			}
		}
	}
	for b := range list {
		list[b].rows = append(list[b].rows, uint32(len(list[b].index)))
	}
	return list
}

// layLocalLearner lays out a projection for a block that has some neurons; index is where the numbers of its synapses will lie.
func (x *local) layLearner(r *localRoom, one *oneLearner, rows *localRows, index driver.Ptr, block connectome.Span) heldRows {
	l := &one.l
	own := overlap(connectome.Span{First: l.to, Count: l.targets}, block)
	sources, targets, heardWords := uint64(l.sources), uint64(l.targets), uint64(l.heardBytes)/4
	part := connectome.Span{First: own.First - l.to, Count: own.Count}
	before := r.share
	if x.outside {
		before = r.leave
	}
	for _, s := range []struct {
		*senders
		slots uint64
		bring func(at *driver.Ptr, words uint64)
	}{{&l.live, 1, r.share}, {&l.before, uint64(l.slots), before}, {&one.settled, 1, r.share}} {
		s.bring(&s.traces, s.slots*uint64(l.preCount)*sources)
		s.bring(&s.variables, s.slots*uint64(l.sourceVariables)*sources)
		s.bring(&s.last, 2*s.slots*sources)
	}
	for _, t := range []*receivers{&l.told, &one.settledHeard} {
		r.slice(&t.traces, uint64(l.postCount), targets, 1, part)
		r.slice(&t.last, 1, targets, 2, part)
	}
	r.slice(&l.heard, 1, targets, heardWords, part)
	r.share(&l.swept, uint64(unsafe.Sizeof(sweeps{}))/4)
	l.ring.places = min(l.ring.places, localEvents)
	r.scratch(&l.ring.at, 8*uint64(l.ring.places)*uint64(own.Count))
	r.scratch(&l.ring.note, 4*uint64(l.ring.places*l.ring.notes)*uint64(own.Count))
	r.scratch(&l.total, 8*uint64(own.Count))
	modulators := uint64(l.modulators)
	r.scratch(&l.now, 8*modulators)
	r.scratch(&l.after, 4*modulators)
	for _, m := range []*levels{{l.level, l.levelLast}, &one.settledLevels} {
		r.share(&m.level, modulators)
		r.share(&m.last, 2*modulators)
		if m != &one.settledLevels {
			l.level, l.levelLast = m.level, m.last
		}
	}
	n, all := uint64(len(rows.index)), l.synapses
	weight, more := pointer(r.take(4*n)), pointer(r.take(4*n*uint64(l.values-1)))
	r.carry(weight, l.weight, index, n, true)
	for k := range uint64(l.values - 1) {
		r.carry(more+driver.Ptr(4*k*n), l.more+driver.Ptr(4*k*all), index, n, true)
	}
	l.weight, l.more, l.synapses, l.row = weight, more, n, 0
	l.target = pointer(putInside(r, rows.ports))
	if l.delay != 0 {
		l.delay = pointer(putInside(r, rows.short))
	}
	if l.late != 0 {
		l.late = pointer(putInside(r, rows.long))
	}
	if own.Count > 0 {
		l.port = x.ports[l.port+part.First] & 0xffff
	}
	l.to, l.targets = own.First, own.Count
	onto, order := rows.byTarget(l.port, own.Count)
	place := func(at driver.Ptr) uint32 { return uint32(at - insideBlock) }
	return heldRows{
		rows: uint32(putInside(r, rows.rows)), onto: uint32(putInside(r, onto)), order: uint32(putInside(r, order)),
		target: place(l.target), weight: place(l.weight), more: place(l.more), heard: place(l.heard), events: place(l.ring.at),
	}
}

// place lays the lists out that a device is to have, from the base on for which they have been made.
func (x *local) place(base driver.Ptr) *arena {
	a := &arena{base: base, bytes: x.far}
	put(a, x.indices)
	images := make([]byte, x.arg.bytes*x.blocks)
	for block, image := range x.images {
		copy(images[uint64(block)*x.arg.bytes:], image)
	}
	x.arg.images, x.arg.ports = put(a, images), put(a, x.ports)
	return a
}

// localFits: the network is small, and its blocks have room for all that their neurons need.
func localFits(q *question) string {
	b, c := q.b, q.c
	switch {
	case b.tune.localBlocks == 0:
		return "it is turned off"
	case !b.cluster:
		return "the device has no clusters of blocks"
	case q.devices() > 1 || b.tune.parts > 1:
		return "others share the network or the device"
	case len(b.want.Values) > 0:
		return "state variables are wanted of every burst"
	case slices.ContainsFunc(c.Plastic, func(p connectome.Plastic) bool { return windowed(&p) }):
		return "a rule looks at all synapses in every burst"
	case mostPorts(c) > 2:
		return "neurons have more than two ports"
	case c.Neurons > b.tune.localNeurons:
		return fmt.Sprintf("%d neurons, want at most %d", c.Neurons, b.tune.localNeurons)
	case !b.few(math.MaxUint16):
		return fmt.Sprintf("more than %d synapses", b.tune.fewSynapses)
	case uint64(len(c.Target)) < c.Synapses():
		return "its rows are not on the host"
	}
	var lacks string
	for _, far := range []bool{false, true} {
		x := b.layLocal(0, 0, far)
		q.own, q.answer.far = x.own, far
		q.answer.cached, q.answer.tabled, q.answer.learnt, q.answer.near, q.answer.local = true, true, x.arg.bytes, localNear, x.place(0).bytes
		_, _, state := q.t.sharedBytes(c, x.own)
		if lacks = q.fits(x.arg.bytes + state); lacks == "" {
			break
		}
	}
	return lacks
}

// startLocal brings the device what local_bursts needs.
func (b *backend) startLocal() error {
	if b.choice.path != pathLocal {
		return nil
	}
	x := b.layLocal(b.plan.ptr[bufLearnt], b.plan.ptr[bufLocal], b.choice.far)
	a := x.place(b.plan.ptr[bufLocal])
	b.batch.args.locals = x.arg
	return b.fill(a)
}
