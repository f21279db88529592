package cuda

import (
	"fmt"
	"iter"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"burst/connectome"
	"burst/internal/cuda/driver"
	"burst/internal/weights"
)

// mostClustered is how many blocks a cluster may have: MOST_BLOCKS of kernels/teams.cuh.
const mostClustered = 4

// places is the struct of that name in kernels/places.cuh, field for field.
type places struct {
	count, size, neurons, ports uint32
	unitsLog, piecesLog         uint32
	drawn, delay                uint32
	outside, apart, rounds      uint32
	slot, more                  driver.Ptr
}

// mostLabels is how many different weights rows may have, each a label less than full.
const mostLabels = 256

// unit is UNIT of kernels/places.cuh, the number of 16-bit words in a unit; nobody and full are special words.
const (
	unit      = 8
	unitBytes = 2 * unit
	nobody    = 0xffff
	full      = 0x8000
)

// A warp's threads load a unit each, so rows whose slots would have more than 2^warpLog units have up to 2^mostPiecesLog pieces.
const warpLog, mostPiecesLog = 5, 2

// spare is SPARE of kernels/teams.cuh: sums that nobody reads.
const spare = 32

// clusterShape is how neurons are dealt to clusters of blocks, and how rows of places lie; without a count there are none.
type clusterShape struct {
	count, size uint64          // teams, each of which is a cluster's neurons of one round, and blocks of each
	own, each   uint64          // neurons of a block, and ports of a neuron
	units       uint64          // of a slot, a power of two
	piecesLog   uint64          // a row has 2^piecesLog pieces, each with a slot for each cluster
	shared      uint64          // bytes of a block's memory
	drawn       uint64          // how many ports of a neuron drives reach at most, if any drive is drawn in each burst
	outside     bool            // whether their state stays in global memory
	rounds      uint64          // in which a block sums and updates its neurons; if they are several, clusters have one block
	part        connectome.Part // whose neurons they are
}

// blocks are those of a launch.
func (s *clusterShape) blocks() uint64 { return s.count / s.rounds * s.size }

// neurons are those of a team.
func (s *clusterShape) neurons() uint64 { return s.size * s.own / s.rounds }

// slot is the place of a team's slot among those of a row: first_of of kernels/places.cuh.
func (s *clusterShape) slot(team uint64) uint64 {
	return team%s.rounds*(s.count/s.rounds) + team/s.rounds
}

// ports are those of its neurons.
func (s *clusterShape) ports() uint64 { return s.each * s.neurons() }

// countClusters asks the device once how many clusters of the kernel for c it runs at a time, if blocks have the most shared memory.
// Clusters of several blocks need compute capability 9.0, and the memory of a multiprocessor for each block.
func (b *backend) countClusters(c *connectome.Connectome) error {
	if b.clusterCode != nil {
		return nil
	}
	name := pathClusters.kernel(c)
	var err error
	if b.clusterCode, err = b.loadOnly([]string{name, "catch_up", "queue_rows"}, nil); err != nil {
		return err
	}
	f, err := b.clusterCode.Function(name)
	if err != nil || f.AllowShared(uint32(b.room)) != nil {
		return err
	}
	each, err := f.BlocksPerSM(b.tune.batchThreads, uint32(b.room))
	if err != nil {
		return err
	}
	b.clusters[1] = uint64(each * b.sms)
	for size := uint64(2); size <= mostClustered && b.image.Capability >= 90 && b.room == mostShared; size *= 2 {
		if n, err := f.MostClusters(b.tune.batchThreads, uint32(b.room), uint32(size)); err == nil {
			b.clusters[size] = uint64(n / max(1, b.tune.parts))
		}
	}
	return nil
}

// placeRows makes r rows of places, in the best shape that fits.
func (q *question) placeRows() (lacks string, err error) {
	c, r := q.c, *q.r
	shapes, lacks, err := q.shapes()
	if lacks != "" || err != nil {
		return lacks, err
	}
	if r.table = rowWeights(c); r.table == nil {
		return "weights differ within a row, or rows have too many", nil
	}
	for _, s := range shapes {
		lengths := s.lengths(c)
		if r.cut(c, s, q.mostPlaces(), func(yield func(uint64, uint64) bool) {
			for i := range lengths {
				lengths[i].each(yield)
			}
		}) {
			*q.r = r
			return "", nil
		}
	}
	return q.tooLong(), nil
}

// shapes are those that rows of places can have, the best first.
func (q *question) shapes() (list []clusterShape, lacks string, err error) {
	b, c := q.b, q.c
	if b.module != nil { // else it is only planned, for a usual device
		if err := b.countClusters(c); err != nil {
			return nil, "", err
		}
	}
	short := b.isShort(uint64(q.r.mean))
	if b.share.devices > 1 {
		short = b.share.short
	}
	sizes := b.clusterSizes(c, short)
	if q.sumsBeside() {
		sizes = []uint64{1}
	}
	for _, rounds := range b.roundsOf(c) {
		for _, size := range sizes {
			if s := b.clusterShape(c, q.t, size, rounds); s.count > 0 {
				list = append(list, s)
			}
		}
	}
	switch {
	case len(list) > 0:
		return list, "", nil
	case b.clusters == [mostClustered + 1]uint64{}:
		return nil, "the device does not run a block with so much shared memory", nil
	}
	return nil, "sums do not fit the shared memory of its clusters", nil
}

// mostPlaces is how many bytes rows of places may take, tooLong what they lack if they take more.
func (q *question) mostPlaces() uint64 { return q.mostBytes() * q.r.synapses }
func (q *question) tooLong() string {
	return fmt.Sprintf("slots would take more than %d bytes a synapse", q.mostBytes())
}

// mostBytes are those of a synapse.
func (q *question) mostBytes() uint64 {
	if q.devices() > 1 {
		return 2 * q.b.tune.slotBytes // each has a part of every row, and other kernels look up where that is
	}
	return q.b.tune.slotBytes
}

// cut makes r rows of places of a shape, of whose stretches' lengths it is told how many there are of each, if they take no more than most bytes.
func (r *rows) cut(c *connectome.Connectome, s clusterShape, most uint64, lengths iter.Seq2[uint64, uint64]) bool {
	more := s.cutRows(uint64(c.Neurons), most, lengths)
	slots := uint64(c.Neurons) << s.piecesLog * s.count * s.units
	if s.units == 0 || max(slots, more) >= math.MaxUint32 {
		return false
	}
	r.delays, r.delay, r.shape, r.slots, r.more = 0, uint32(c.MaxDelay), s, slots, more
	return true
}

// isShort reports whether rows of that many synapses are delivered best by clusters of four: a pair of blocks would have fewer
// than five of a row on average.
func (b *backend) isShort(row uint64) bool { return row < 5*b.clusters[2] }

// clusterSizes are the sizes of clusters to try, the best one first. A block alone reads no sums of other blocks and waits for none, but it
// looks at the most slots, which take longer the more neurons there are. If parts of rows are short, clusters of four look at the fewest.
func (b *backend) clusterSizes(c *connectome.Connectome, short bool) []uint64 {
	switch {
	case b.tune.clusterSize > 0:
		return []uint64{b.tune.clusterSize}
	case short:
		return []uint64{4, 2, 1}
	case c.Neurons < b.tune.clusterPairs || c.Areas[0].PortsEach() > 1: // which have twice as many sums
		return []uint64{1, 2}
	default:
		return []uint64{2, 1}
	}
}

// mostRounds is in how many rounds blocks may sum and update their neurons, whose state is outside then.
const mostRounds = 2

// roundsOf lists in how many rounds blocks may do so, the best first; 0 stands for one with the state in their memory. The unit outside.cu is
// for lif without factors, and for GPUs of capability 9.0.
func (b *backend) roundsOf(c *connectome.Connectome) []uint64 {
	switch {
	case modelSuffix(c) != "_lif" || hasInstants(c) || b.module != nil && b.image.Capability < 90:
		return []uint64{0}
	case b.tune.outside > 0:
		return []uint64{b.tune.outside}
	}
	return []uint64{0, 1, mostRounds}
}

// clusterShape deals the neurons to as many clusters as the device runs, if they fit.
func (b *backend) clusterShape(c *connectome.Connectome, t *tables, blocks, rounds uint64) clusterShape {
	n, all := uint64(c.Neurons), b.clusters[blocks]
	if all == 0 || rounds > 1 && blocks > 1 {
		return clusterShape{}
	}
	s := clusterShape{size: blocks, each: uint64(c.Areas[0].PortsEach()), outside: rounds > 0, rounds: max(1, rounds), part: c.Part, drawn: t.drawn()}
	if c.Part.Whole() {
		s.own = divUp(divUp(n, all*blocks), 32*s.rounds) * 32 * s.rounds
		s.count = divUp(n, s.own*blocks) * s.rounds
	} else { // as other kernels would deal them, which other devices may run
		var grid uint64
		grid, s.own = deal(c, b.sms)
		if s.count = grid / blocks * s.rounds; s.blocks() != grid || grid/blocks > all || s.own%(32*s.rounds) > 0 {
			return clusterShape{}
		}
	}
	s.shared = aligned(4*(s.ports()+spare), 4*mostLabels, 4*uint64(b.tune.batchThreads-32)) + t.clusterBytes(c, s.own, s.outside)
	if s.shared > b.room || s.ports()+spare > nobody || s.own > math.MaxUint16 { // kernels count a block's spikes in 16 bits
		return clusterShape{}
	}
	return s
}

// lengths are those of stretches: how many have each of the usual ones, and those of longer ones.
type lengths struct {
	usual [usualLengths]uint64
	long  []uint64
}

// A stretch whose length is not usual does not fit a slot.
const usualLengths = unit<<(warpLog+mostPiecesLog) - 1

// each tells the lengths that there are, and how many stretches have each.
func (l *lengths) each(tell func(length, n uint64) bool) {
	for length, n := range l.usual {
		if n > 0 && !tell(uint64(length), n) {
			return
		}
	}
	for _, length := range l.long {
		if !tell(length, 1) {
			return
		}
	}
}

// lengths finds the stretches of all rows of c.
func (s *clusterShape) lengths(c *connectome.Connectome) []lengths {
	parts := make([]lengths, runtime.GOMAXPROCS(0))
	inParts(c, 0, c.Neurons, func(part int, low, high uint32) {
		f := &parts[part]
		var buf []uint32
		for n := low; n < high; n++ {
			for row := s.order(c, n, &buf); len(row) > 0; {
				_, length := s.stretch(row)
				if length < usualLengths {
					f.usual[length]++
				} else {
					f.long = append(f.long, uint64(length))
				}
				row = row[length:]
			}
		}
	})
	return parts
}

// cutRows finds the number of units of a slot, and of pieces of a row, with which the rows of so many neurons take the least memory, and the
// number of further units for synapses that do not fit into slots. There are no units if all of this takes more than the given number of bytes.
func (s *clusterShape) cutRows(neurons, most uint64, lengths iter.Seq2[uint64, uint64]) (more uint64) {
	const dear = 3 // as many units of slots cost what a further one does: it is looked for elsewhere
	slots, least := neurons*s.count, uint64(math.MaxUint64)
	s.units, s.piecesLog = 0, 0
	for log := uint64(0); log <= warpLog+mostPiecesLog; log++ { // of the units of all pieces
		piecesLog, further := max(log, warpLog)-warpLog, uint64(0)
		each := uint64(1) << (log - piecesLog)
		for length, n := range lengths {
			for piece := range uint64(1) << piecesLog {
				further += n * moreUnits(pieceEnd(length, piece, piecesLog)-pieceEnd(length, piece-1, piecesLog), each)
			}
		}
		if cost := slots<<log + dear*further; cost < least && unitBytes*(slots<<log+further) <= most {
			s.units, s.piecesLog, more, least = each, piecesLog, further, cost
		}
	}
	return more
}

// pieceEnd is how many of a stretch's synapses are in its pieces up to one.
func pieceEnd(length, piece, piecesLog uint64) uint64 { return length * (piece + 1) >> piecesLog }

// clusterBytes is a block's shared memory for own neurons, as divide_cluster of kernels/cluster_bursts.cu divides it, without sums, weights
// and lists of further units.
func (t *tables) clusterBytes(c *connectome.Connectome, own uint64, outside bool) uint64 {
	bytes := aligned(own/32*4, own/32*2, own/32*2, 4*own*t.drawn()) + t.copied()
	if outside {
		return bytes
	}
	feagi := own
	if suffix := modelSuffix(c); suffix == "_lif" || suffix == "_psc_exp" {
		feagi = 0
	}
	return bytes + aligned(4*own, 4*own*uint64(c.Variables()), 2*own, 2*feagi)
}

// drawn is how many ports of a neuron drives reach at most, if any drive is drawn in each burst.
func (t *tables) drawn() uint64 {
	if !slices.ContainsFunc(t.drives, func(d drive) bool { return d.kind != kindInject }) {
		return 0
	}
	if slices.ContainsFunc(t.drives, func(d drive) bool {
		return d.seconds&1 > 0 || d.split > 0 && (d.kind == kindNoise || d.differ > 0 || d.amount < 0 || d.kind == kindInject && d.moving.stride > 0)
	}) {
		return 2
	}
	return 1
}

// places is what kernels take.
func (b *backend) places() places {
	s, p := &b.rows.shape, &b.plan.ptr
	if s.count == 0 {
		return places{}
	}
	return places{
		count: uint32(s.count), size: uint32(s.size), neurons: uint32(s.neurons()), ports: uint32(s.ports()),
		unitsLog: uint32(bits.TrailingZeros64(s.units)), piecesLog: uint32(s.piecesLog), drawn: uint32(s.drawn), delay: uint32(b.rows.lag()), outside: flag(s.outside), apart: b.clustersApart(), rounds: uint32(s.rounds), slot: p[bufTarget], more: p[bufMorePlaces],
	}
}

// clustersApart is how many bursts blocks of path clusters are apart at most: 0 where a cluster has several, which read each other's sums, and
// where there are stimuli, which reach other blocks' neurons.
func (b *backend) clustersApart() uint32 {
	if b.share.devices > 1 || !b.c.Part.Whole() || b.rows.lag() < 2 || b.rows.shape.size > 1 || len(b.c.Stimuli) > 0 {
		return 0
	}
	return b.tune.clustersApart
}

// inParts does something with stretches of the rows low ≤ n < high that have about equally many synapses, side by side.
func inParts(c *connectome.Connectome, low, high uint32, do func(part int, low, high uint32)) {
	parts := runtime.GOMAXPROCS(0)
	var all sync.WaitGroup
	at, each := low, (c.Row[high]-c.Row[low])/uint64(parts)+1
	for i := range parts {
		first := at
		for at < high && (c.Row[at+1]-c.Row[low] <= uint64(i+1)*each || i == parts-1) {
			at++
		}
		end := at
		all.Go(func() { do(i, first, end) })
	}
	all.Wait()
}

// oneDelay reports whether all synapses of c have the longest delay.
func oneDelay(c *connectome.Connectome) bool {
	if c.Delay.None() {
		return c.MaxDelay == 1
	}
	several := make([]bool, runtime.GOMAXPROCS(0))
	inParts(c, 0, c.Neurons, func(part int, low, high uint32) {
		several[part] = differs(c.Delay.Between(c.Row[low], c.Row[high]), c.Row[high]-c.Row[low], c.MaxDelay)
	})
	return !slices.Contains(several, true)
}

// differs reports whether one of n delays is not so many bursts.
func differs(d connectome.Delays, n uint64, bursts int) bool {
	return n > 0 && (int(d.At(0)) != bursts || uint64(d.Same()) != n)
}

// rowWeights lists the rows' weights, nil if a row has several, or there are more than a label can tell.
func rowWeights(c *connectome.Connectome) *weights.Table {
	first, one := make([]int32, c.Neurons), make([]bool, runtime.GOMAXPROCS(0))
	inParts(c, 0, c.Neurons, func(part int, low, high uint32) {
		known := c.Weight[0] // an empty row has any weight
		for n := low; n < high; n++ {
			row := c.Weight[c.Row[n]:c.Row[n+1]]
			if len(row) > 0 {
				known = row[0]
			}
			for _, w := range row {
				if w != known {
					return
				}
			}
			first[n] = known
		}
		one[part] = true
	})
	for _, yes := range one {
		if !yes {
			return nil
		}
	}
	return weights.Collect(first, mostLabels, len(one))
}

// order is the n-th row, ascending by neuron. Each port becomes its neuron's number times the ports of a neuron, plus the port's place
// among them. It may use buf.
func (s *clusterShape) order(c *connectome.Connectome, n uint32, buf *[]uint32) []uint32 {
	row := c.Target[c.Row[n]:c.Row[n+1]]
	if s.each == 1 {
		return row // ports are neurons
	}
	made := (*buf)[:0]
	var a *connectome.Area
	for _, port := range row {
		if a == nil || port >= a.Ports.End() {
			a = &c.Areas[c.AreaOfPort(port)]
		}
		i, which := a.Input(port)
		made = append(made, 2*(a.Neurons.First+i)+which)
	}
	if !slices.IsSorted(made) { // it has first and second ports
		slices.Sort(made)
	}
	*buf = made
	return made
}

// place is where a target, as order has it, lies in a cluster whose first neuron is the part's first-th.
func (s *clusterShape) place(target, first uint32) uint16 {
	second := s.each - 1
	return uint16(s.part.Count(target>>second) - first + target&uint32(second)*uint32(s.neurons()))
}

// stretch is how many of a row's targets, as order has them, belong to the team of the first of them.
func (s *clusterShape) stretch(row []uint32) (team uint64, length int) {
	second := s.each - 1
	team = uint64(s.part.Count(row[0]>>second)) / s.neurons()
	end := s.part.Neuron(uint32((team+1)*s.neurons())) << second
	for length < len(row) && row[length] < end {
		length++
	}
	return team, length
}

// moreUnits is how many further units a stretch takes, with slots of so many.
func moreUnits(length, units uint64) uint64 {
	const linked = unit - 3 // places of a unit that says where synapses go on
	if length < units*unit {
		return 0
	}
	length -= units*unit - 3
	if length < unit {
		return 1
	}
	return 1 + divUp(length-(unit-1), linked)
}

// coded are some rows as the device has them: the slots of all teams, and for each part of the rows the synapses that do not fit into
// slots, in units that count from the part's first.
type coded struct {
	slots []uint16
	parts []further
}

// further holds units, and where numbers of units lie: at a place of the slots, or at place −1−k of its own words.
type further struct {
	words []uint16
	links []int
}

// code is the rows low ≤ n < high of places, whose weights are in a table; to has their slots.
func (s *clusterShape) code(c *connectome.Connectome, table *weights.Table, low, high uint32, to *coded) {
	each, pieces := int(s.units)*unit, 1<<s.piecesLog
	all := pieces * int(s.count) // slots of a row
	inParts(c, low, high, func(part int, from, until uint32) {
		more := &to.parts[part]
		more.words, more.links = more.words[:0], more.links[:0]
		own := to.slots[int(from-low)*all*each : int(until-low)*all*each]
		for i := range own {
			own[i] = nobody
		}
		var buf []uint32
		for n := from; n < until; n++ {
			row, label := s.order(c, n, &buf), uint16(0)
			if len(row) > 0 {
				label = uint16(table.Place(c.Weight[c.Row[n]]))
			}
			for slot := range all {
				to.slots[(int(n-low)*all+slot)*each] = label
			}
			for len(row) > 0 {
				team, length := s.stretch(row)
				for piece := range pieces {
					at := (int(n-low)*all + piece*int(s.count) + int(s.slot(team))) * each
					begin, end := pieceEnd(uint64(length), uint64(piece)-1, s.piecesLog), pieceEnd(uint64(length), uint64(piece), s.piecesLog)
					more.fill(to.slots[at:at+each], s, row[begin:end], label, uint32(team*s.neurons()), at)
				}
				row = row[length:]
			}
		}
	})
}

// fill writes the targets of a stretch into the slot at a place of the slots. Targets that do not fit go into further units, with the
// slot's label.
func (f *further) fill(slot []uint16, s *clusterShape, targets []uint32, label uint16, first uint32, place int) {
	if s.units >= spreadUnits && len(targets) < len(slot) {
		s.spread(slot, targets, first)
		return
	}
	for len(targets) >= len(slot) {
		number := len(f.words) / unit
		slot[0], slot[1], slot[2] = slot[0]|full, uint16(number), uint16(number>>16)
		f.links = append(f.links, place)
		for i, t := range targets[:len(slot)-3] {
			slot[3+i] = s.place(t, first)
		}
		targets = targets[len(slot)-3:]
		place = -1 - len(f.words)
		f.words = append(f.words, label, nobody, nobody, nobody, nobody, nobody, nobody, nobody)
		slot = f.words[len(f.words)-unit:]
	}
	for i, t := range targets {
		slot[1+i] = s.place(t, first)
	}
}

// spreadUnits is SPREAD of kernels/coded_rows.cuh: how many units a slot has from which a warp's lanes add a stretch of one row at a time, or of few.
const spreadUnits = 8

// spread writes the targets of a stretch into a slot, so that all units have about equally many, in their first words, and words of the same
// number hardly ever have two places of the same bank of shared memory.
func (s *clusterShape) spread(slot []uint16, targets []uint32, first uint32) {
	const banks = 32
	var ends [banks + 1]int
	for _, t := range targets {
		ends[s.place(t, first)%banks+1]++
	}
	for b := range banks {
		ends[b+1] += ends[b]
	}
	units := len(slot) / unit
	words := len(targets)/units + 1
	for _, t := range targets {
		p := s.place(t, first)
		i := ends[p%banks]
		ends[p%banks]++
		// The i-th by banks has word i mod words, of the units in turn; where word 0 is the label, the last place takes its turn.
		if i == 0 {
			i = len(targets)
		}
		slot[i/words%units*unit+i%words] = p
	}
}

// shift makes the numbers of further units count from another unit on.
func (f *further) shift(slots []uint16, by uint32) {
	for _, place := range f.links {
		words := slots
		if place < 0 {
			words, place = f.words, -1-place
		}
		number := uint32(words[place+1]) | uint32(words[place+2])<<16
		number += by
		words[place+1], words[place+2] = uint16(number), uint16(number>>16)
	}
}

// uploadPlaces copies rows of places to the device, some at a time: these are on their way while the next are coded.
func (b *backend) uploadPlaces(c *connectome.Connectome, by *staging) error {
	s, p := &b.rows.shape, &b.plan.ptr
	if err := by.upload(p[bufValues], data(b.rows.table.List), b.plan.bytes[bufValues]); err != nil {
		return err
	}
	to := coded{parts: make([]further, runtime.GOMAXPROCS(0))}
	defer runtime.KeepAlive(&to)
	more, each := uint64(0), s.count*s.units*unitBytes<<s.piecesLog
	return by.fill(p[bufTarget], uint64(c.Neurons), each, func(first, end uint64, room []byte) error {
		to.slots = unsafe.Slice((*uint16)(data(room)), len(room)/2)
		s.code(c, b.rows.table, uint32(first), uint32(end), &to)
		for i := range to.parts {
			f := &to.parts[i]
			f.shift(to.slots, uint32(more))
			if len(f.words) > 0 {
				if err := b.stream.Upload(p[bufMorePlaces]+driver.Ptr(more*unitBytes), data(f.words), size(f.words)); err != nil {
					return err
				}
			}
			more += uint64(len(f.words)) / unit
		}
		return nil
	})
}
