package connectome

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// Synapses of rules that do not go by source are made in no order. Written to their rows at once, each would touch memory of its own.
// So the rows are cut into bins, each of a few consecutive sources of an area, and a goroutine gathers what it makes for a bin
// until it is worth a copy. The word of a port carries above it the place of the source in its bin. When all are made, each bin
// lies in cache while it is put in the order of its rows.

// bin is where the synapses of some rows begin, and where the next one of those that are made in no order goes.
type bin struct {
	rowBlock
	begin, next uint64
}

// binned says which bin of an area a source belongs to: first + source>>shift.
type binned struct {
	first uint64
	shift int
}

const (
	synapsesABin = 1 << 15 // about; they, and what sorts them, fit a processor's cache
	mostABin     = 3 << 16 // likewise, where a network has many; fewer than longestSorted, also where rows are longer than the mean
	manyBins     = 1 << 10 // then bins have more synapses, so that more are gathered for each
	mostShift    = 11
	stageBytes   = 1 << 19 // of a goroutine, for what it gathers
	mostStaged   = 32      // synapses that are gathered for a bin
	bytesStaged  = 8 + 2   // word and weight, delay
)

// portBits are the bits of a word that a port takes.
func (p *plan) portBits() int { return bits.Len64(max(1, p.inputs) - 1) }

// cut says for each area how its rows are cut into bins, and how many bins there are: where a row has many synapses a bin has fewer rows, and no
// more than a word has room for. Areas from which only rules by source lead have none, nor have even ones.
func (p *plan) cut(evens []even) (areas []binned, count uint64) {
	areas = make([]binned, len(p.areas))
	scattered, synapses, anywhere := make([]bool, len(p.areas)), make([]uint64, len(p.areas)), false
	for i := range p.wirings {
		w := &p.wirings[i]
		switch {
		case w.rule == nil || w.merged || w.units() == 0:
		case w.whole != nil:
			anywhere = true
			for k, from := range p.areas {
				synapses[k] = add(synapses[k], w.synapses/uint64(len(p.areas))/uint64(max(1, from.Count))*uint64(from.Count))
			}
		case w.rule.unit() != bySource:
			scattered[w.p.From] = true
			synapses[w.p.From] = add(synapses[w.p.From], w.synapses)
		}
	}
	all := uint64(0)
	for _, n := range synapses {
		all = add(all, n)
	}
	size := min(max(synapsesABin, all/manyBins), mostABin)
	for i, from := range p.areas {
		if from.Count == 0 || evens[i].synapses > 0 || !scattered[i] && !anywhere {
			continue
		}
		mean := synapses[i]/uint64(from.Count) + 1
		shift := min(32-p.portBits(), mostShift, max(0, bits.Len64(size/mean)-1))
		areas[i] = binned{count, shift}
		count += uint64(from.Count-1)>>shift + 1
	}
	return areas, count
}

// staged is how many synapses a goroutine gathers for each of so many bins.
func staged(bins uint64) uint64 {
	n := uint64(mostStaged)
	for n > 1 && bins*n*bytesStaged > stageBytes {
		n /= 2
	}
	return n
}

// bytesOfBins is the memory of bins, and that of each goroutine.
func (p *plan) bytesOfBins() (all, each uint64) {
	evens := p.evens()
	all, each = bytesOfEvens(evens)
	_, count := p.cut(evens)
	if count == 0 {
		return all, each
	}
	const places = 2 * 8 << mostShift
	return add(all, mul(count, uint64(unsafe.Sizeof(bin{})))), max(each, add(mul(count, 8+4+bytesStaged*staged(count)), uint64(unsafe.Sizeof(scatterer{}))+places))
}

// makeBins makes empty bins.
func (b *builder) makeBins() {
	b.evens = b.plan.evens()
	b.binned, _ = b.cut(b.evens)
	for _, block := range b.blocks(func(r *rows) uint64 {
		if r.complete || b.evens[r.area].synapses > 0 {
			return 0
		}
		return 1 << b.binned[r.area].shift
	}) {
		b.bins = append(b.bins, bin{rowBlock: block})
	}
}

// binOf is the bin of a source of a wiring, and the source's place in it.
func (b *builder) binOf(w *wiring, source uint32) (k uint64, place uint32) {
	area := w.p.From
	if w.whole != nil {
		area = w.whole.areaOf(source)
		source -= w.whole.areas[area].First
	}
	of := b.binned[area]
	return of.first + uint64(source>>of.shift), source & (1<<of.shift - 1)
}

// countBins counts the synapses of each bin that are made in no order.
func (b *builder) countBins() {
	sinks, made := make([]sink, b.workers), b.newTotals()
	for i := range sinks {
		sinks[i] = &binCounter{b: b, count: make([]uint64, len(b.bins)), made: made[i]}
	}
	b.draw(sinks, b.inNoOrder, b.part)
	b.setExact(made, b.inNoOrder)
	for _, s := range sinks {
		for k, n := range s.(*binCounter).count {
			b.bins[k].next += n
		}
	}
}

// scattered says that the synapses are made in no order.
func (w *wiring) scattered() bool { return !w.merged && w.rule.unit() != bySource }

// inNoOrder says that they also come by way of bins, and are drawn twice.
func (b *builder) inNoOrder(w *wiring) bool {
	return w.scattered() && (w.whole != nil || b.evens[w.p.From].synapses == 0)
}

type binCounter struct {
	b     *builder
	count []uint64 // by bin
	made  []uint64 // by wiring
}

func (c *binCounter) take(w *wiring, b *batch) {
	if w.whole != nil {
		for _, s := range b.source[:b.n] {
			k, _ := c.b.binOf(w, s)
			c.count[k]++
		}
	} else {
		of := c.b.binned[w.p.From]
		count := c.count[of.first:]
		for _, s := range b.source[:b.n] {
			count[s>>of.shift]++
		}
	}
	c.made[w.slot] += uint64(b.n)
	c.b.progress.add(uint64(b.n))
}

// scatter brings the synapses that are made in no order into their bins.
func (b *builder) scatter() {
	sinks, count := make([]sink, b.workers), uint64(len(b.bins))
	n := staged(count)
	for i := range sinks {
		s := &scatterer{valuer: &b.values[i], b: b, bits: bits.TrailingZeros64(n), held: make([]uint32, count), words: make([]uint64, count*n)}
		if !b.c.Delay.None() {
			s.delays = make([]uint16, count*n)
		}
		sinks[i] = s
	}
	b.draw(sinks, b.inNoOrder, b.part)
	parallel(b.workers, uint64(len(sinks)), func(_ int, i uint64) {
		s := sinks[i].(*scatterer)
		for k, n := range s.held {
			s.put(uint64(k), uint64(n))
		}
	})
}

// scatterer is one goroutine's share of scatter.
type scatterer struct {
	*valuer
	b      *builder
	bits   int      // 1<<bits synapses are gathered for a bin
	held   []uint32 // how many are, by bin
	words  []uint64 // of these: weight above word
	delays []uint16 // where there are any
	bin    [batchSize]uint64
	word   [batchSize]uint32
}

func (p *scatterer) take(w *wiring, b *batch) {
	p.weigh(w, b)
	if p.delays != nil {
		p.time(w, b)
	}
	p.address(w, b)
	full := uint32(1) << p.bits
	for i, k := range p.bin[:b.n] {
		n := p.held[k]
		at := k<<p.bits + uint64(n)
		p.words[at] = uint64(uint32(p.value[i]))<<32 | uint64(p.word[i])
		if p.delays != nil {
			p.delays[at] = p.delay[i]
		}
		if n++; n == full {
			p.put(k, uint64(n))
			n = 0
		}
		p.held[k] = n
	}
	p.b.progress.add(uint64(b.n))
}

// address finds the bins and the words of a batch.
func (p *scatterer) address(w *wiring, b *batch) {
	width := p.b.portBits()
	if w.whole != nil || w.chosen != nil {
		for i, s := range b.source[:b.n] {
			k, place := p.b.binOf(w, s)
			p.bin[i], p.word[i] = k, uint32(uint64(place)<<width)|w.port(b.target[i], int64(p.value[i]), b.ordinal[i])
		}
		return
	}
	of, first := p.b.binned[w.p.From], w.port(0, 1, 0)
	split := w.port(0, -1, 0) - first // of weights < 0
	mask := uint32(1)<<of.shift - 1
	targets, values := b.target[:b.n], p.value[:b.n]
	for i, s := range b.source[:len(targets)] {
		port := first + targets[i] + split&uint32(values[i]>>31)
		p.bin[i], p.word[i] = of.first+uint64(s>>of.shift), uint32(uint64(s&mask)<<width)|port
	}
}

// put copies what is gathered for a bin to where it goes.
func (p *scatterer) put(k, n uint64) {
	if n == 0 {
		return
	}
	c := p.b.c
	at := atomic.AddUint64(&p.b.bins[k].next, n) - n
	from := k << p.bits
	target, weight := c.Target[at:at+n], c.Weight[at:at+n]
	for i, word := range p.words[from : from+n] {
		target[i], weight[i] = uint32(word), int32(word>>32)
	}
	if p.delays != nil {
		c.Delay.Between(at, at+n).putBursts(p.delays[from : from+n])
	}
}

// finishBins puts all bins in the order of their rows, makes the synapses of rules by source that lead from there, and sorts the rows.
func (b *builder) finishBins() {
	makers, places := make([]rowMaker, b.workers), make([][]uint64, b.workers)
	for i := range makers {
		makers[i] = b.newRowMaker(i)
		makers[i].to = row{b.c.Target, b.c.Weight, b.c.Delay}
		places[i] = make([]uint64, 2<<mostShift)
	}
	parallel(b.workers, uint64(len(b.bins)), func(worker int, k uint64) {
		m, q := &makers[worker], &b.bins[k]
		rows := b.c.Row[uint64(q.rows.from.First)+q.lo:][:q.hi-q.lo]
		next, end := places[worker][:len(rows)], places[worker][1<<mostShift:][:len(rows)]
		b.rowsOf(q, next, end)
		before := m.drawn
		m.turnTo(q.rowBlock)
		if len(q.rows.groups) == 0 && m.sorter.bin(m.to.between(q.begin, q.next), b.portBits(), q.begin, next, end) {
			copy(rows, end)
		} else {
			b.partition(q, next, end)
			m.completeRows(q, rows, end)
		}
		b.progress.add(m.drawn - before + rows[len(rows)-1] - q.begin)
	})
}

// rowsOf sets where each row of a bin begins and ends when those that are made lie one after the other.
func (b *builder) rowsOf(q *bin, next, end []uint64) {
	clear(end)
	if len(end) == 1 { // also where a port takes all bits
		next[0], end[0] = q.begin, q.next
		return
	}
	width := b.portBits()
	for _, word := range b.c.Target[q.begin:q.next] {
		end[word>>width]++
	}
	at := q.begin
	for s, n := range end {
		next[s] = at
		at += n
		end[s] = at
	}
}

// leavePorts takes the places out of words.
func (b *builder) leavePorts(words []uint32) {
	mask := uint32(uint64(1)<<b.portBits() - 1)
	for i := range words {
		words[i] &= mask
	}
}

// partition brings the synapses of a bin into the order of their rows, one after the other where they are.
func (b *builder) partition(q *bin, next, end []uint64) {
	target, weight, delay := b.c.Target, b.c.Weight, b.c.Delay
	if len(next) == 1 {
		return
	}
	width := b.portBits()
	for s := range next {
		for k := next[s]; k < end[s]; k++ {
			word, w, d := target[k], weight[k], delay.At(k)
			for place := word >> width; place != uint32(s); place = word >> width {
				j := next[place]
				next[place]++
				word, target[j] = target[j], word
				w, weight[j] = weight[j], w
				other := delay.At(j)
				delay.set(j, uint64(d))
				d = other
			}
			target[k], weight[k] = word, w
			delay.set(k, uint64(d))
		}
	}
	b.leavePorts(target[q.begin:q.next])
}

// completeRows makes room in the rows of a bin for the synapses that are still to be made, as many as rows says, makes these and sorts
// the rows; rows are then where each ends, as end was before.
func (m *rowMaker) completeRows(q *bin, rows, end []uint64) {
	start := q.next
	for _, n := range rows {
		start += n
	}
	for s := len(rows) - 1; s >= 0; s-- { // towards the end, so that no row is overwritten
		from := q.begin
		if s > 0 {
			from = end[s-1]
		}
		made := m.to.between(from, end[s])
		start -= uint64(made.Len()) + rows[s]
		m.to.between(start, start+uint64(made.Len())).set(made)
		end[s], rows[s] = start+uint64(made.Len()), start
	}
	for s := range rows {
		m.at = end[s]
		m.makeRow(q.rows, q.lo+uint64(s))
		m.sorter.sort(m.to.between(rows[s], m.at))
		rows[s] = m.at
	}
}
