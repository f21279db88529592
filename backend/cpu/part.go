package cpu

import (
	"math/bits"
	"slices"
	"sort"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
)

// part is one thread's range of neurons, lo ≤ n < hi. Its arrays are indexed by n − lo.
type part struct {
	b       *backend
	lo, hi  uint32
	acc     []int32
	marks   bool     // whether candidates are marked: only feagi areas need it
	marked  []uint64 // a bit a neuron: something was added to its acc
	summary []uint64 // a bit a word of marked
	drives  [][]events
	fired   []uint32
	fcl     []engine.Candidate

	first, end []uint32   // where the part's synapses begin and end in each row; nil: at the row's, or to be searched for
	block      [8]segment // of propagate
	touched    uint32     // keeps touch's reads
}

func newPart(b *backend, lo, hi uint32) *part {
	words := (hi - lo + 63) / 64
	p := &part{b: b, lo: lo, hi: hi, acc: make([]int32, hi-lo), marked: make([]uint64, words), summary: make([]uint64, (words+63)/64)}
	for i := range b.c.Areas {
		a := &b.c.Areas[i]
		p.marks = p.marks || a.Model == connectome.FEAGIModel
		var tables []events
		for k := range a.Drives {
			tables = append(tables, newEvents(a.Drives[k].Counts))
		}
		p.drives = append(p.drives, tables)
	}
	return p
}

// step does the part's share of a burst.
func (p *part) step() {
	p.fired, p.fcl = p.fired[:0], p.fcl[:0]
	p.propagate()
	p.inject()
	for i := range p.b.c.Areas {
		a := &p.b.c.Areas[i]
		lo, hi := max(p.lo, a.Neurons.First), min(p.hi, a.Neurons.End())
		if lo >= hi {
			continue
		}
		switch a.Model {
		case connectome.FEAGIModel:
			p.updateFEAGI(a, lo, hi)
		case connectome.LIFModel:
			if p.b.want.FCL {
				p.listAll(lo, hi)
			}
			p.updateLIF(a, lo, hi)
		}
	}
}

// propagate is step 1. Rows are taken in blocks whose memory is touched first, so that its waits overlap.
func (p *part) propagate() {
	for _, d := range p.b.delays {
		for queue := p.b.queues[d-1]; len(queue) > 0; {
			rows := p.block[:min(len(p.block), len(queue))]
			for i := range rows {
				rows[i] = p.segment(queue[i], d)
			}
			queue = queue[len(rows):]
			p.touch(rows)
			for _, r := range rows {
				p.deliver(r)
			}
		}
	}
}

// segment is a run of synapses, from ≤ k < to.
type segment struct{ from, to uint64 }

// segment is the part of neuron n's synapses with delay d that end in this part's range.
func (p *part) segment(n uint32, d int) segment {
	c := p.b.c
	from, to := c.Row[n], c.Row[n+1]
	if p.first != nil || p.end != nil {
		s := segment{from, to}
		if p.first != nil {
			s.from = from + uint64(p.first[n])
		}
		if p.end != nil {
			s.to = from + uint64(p.end[n])
		}
		return s
	}
	if len(p.b.delays) > 1 {
		row := c.Delay[from:to]
		to = from + uint64(sort.Search(len(row), func(i int) bool { return int(row[i]) > d }))
		from += uint64(sort.Search(int(to-from), func(i int) bool { return int(row[i]) >= d }))
	}
	if p.lo > 0 { // targets ascend within one delay
		from += below(c.Target[from:to], p.lo)
	}
	if p.hi < c.Neurons {
		to = from + below(c.Target[from:to], p.hi)
	}
	return segment{from, to}
}

// below is how many of the ascending targets are less than n.
func below(targets []uint32, n uint32) uint64 {
	i, _ := slices.BinarySearch(targets, n)
	return uint64(i)
}

// touch reads a word of each cache line that the rows begin with.
func (p *part) touch(rows []segment) {
	const line, most = 16, 256 // synapses; further ones the processor fetches ahead by itself
	c, sum := p.b.c, uint32(0)
	for _, r := range rows {
		for k := r.from; k < min(r.to, r.from+most); k += line {
			sum += c.Target[k] + uint32(c.Weight[k])
		}
	}
	p.touched = sum
}

// deliver adds the weights of one row's segment.
func (p *part) deliver(r segment) {
	targets, weights := p.b.c.Target[r.from:r.to], p.b.c.Weight[r.from:r.to]
	weights = weights[:len(targets)]
	if p.marks {
		for k, t := range targets {
			p.add(t-p.lo, weights[k])
		}
		return
	}
	acc, lo := p.acc, p.lo
	for k, t := range targets {
		acc[t-lo] += weights[k]
	}
}

// add adds to the i-th neuron's acc and, where candidates are marked, notes it.
func (p *part) add(i uint32, amount int32) {
	p.acc[i] += amount
	if !p.marks {
		return
	}
	w := i / 64
	if p.marked[w] == 0 {
		p.summary[w/64] |= 1 << (w % 64)
	}
	p.marked[w] |= 1 << (i % 64)
}

// inject is step 2.
func (p *part) inject() {
	in := p.b.in
	byPort := func(s engine.Stimulus, port uint32) int { return int(int64(s.Port) - int64(port)) }
	first, _ := slices.BinarySearchFunc(in, p.lo, byPort)
	for _, s := range in[first:] {
		if s.Port >= p.hi {
			break
		}
		p.add(s.Port-p.lo, s.Amount)
	}
	for i := range p.b.c.Areas {
		a := &p.b.c.Areas[i]
		lo, hi := max(p.lo, a.Neurons.First), min(p.hi, a.Neurons.End())
		if lo >= hi {
			continue
		}
		for place := range a.Drives {
			d := &a.Drives[place]
			switch {
			case !d.Active(p.b.number):
			case d.Kind == connectome.Inject:
				p.constant(lo, hi, d.Amount)
			case d.Kind == connectome.Poisson:
				p.poisson(lo, hi, place, d.Amount, p.drives[i][place])
			}
		}
	}
}

// constant adds amount to every neuron.
func (p *part) constant(lo, hi uint32, amount int32) {
	for i := lo - p.lo; i < hi-p.lo; i++ {
		p.add(i, amount)
	}
}

// poisson adds amount for each of the events drawn; one Philox call serves four neighbouring neurons.
func (p *part) poisson(lo, hi uint32, place int, amount int32, table events) {
	var draws [4]uint32
	for n := lo; n < hi; n++ {
		if n%4 == 0 || n == lo {
			draws = exact.Draw(p.b.c.RunSeed, exact.PoissonDrive, uint64(place)<<32|uint64(n/4), p.b.number)
		}
		if k := table.count(draws[n%4]); k != 0 {
			p.add(n-p.lo, k*amount)
		}
	}
}

// events is a drive's table of Poisson thresholds with, for each leading byte of a draw, where its search begins.
type events struct {
	counts []uint32
	begin  *[256]int32
}

func newEvents(counts []uint32) events {
	e := events{counts: counts, begin: new([256]int32)}
	for top := range e.begin {
		i, _ := slices.BinarySearch(counts, uint32(top)<<24)
		e.begin[top] = int32(i)
	}
	return e
}

// count is the number of events that draw x stands for: the thresholds that are ≤ x.
func (e events) count(x uint32) int32 {
	k := e.begin[x>>24]
	for int(k) < len(e.counts) && e.counts[k] <= x {
		k++
	}
	return k
}

// candidates calls update for every marked neuron in lo ≤ n < hi with its sum if that is not zero, ascending, and makes
// marks and sums zero again.
func (p *part) candidates(lo, hi uint32, update func(n uint32, sum int32)) {
	first, last := (lo-p.lo)/64, (hi-1-p.lo)/64
	for s := first / 64; s <= last/64; s++ {
		for words := p.summary[s]; words != 0; words &= words - 1 {
			w := s*64 + uint32(bits.TrailingZeros64(words))
			if w < first || w > last {
				continue
			}
			// Neighbouring areas may share a word.
			mask := ^uint64(0)
			if w == first {
				mask &= ^uint64(0) << ((lo - p.lo) % 64)
			}
			if w == last {
				mask &= ^uint64(0) >> (63 - (hi-1-p.lo)%64)
			}
			list := p.marked[w] & mask
			if p.marked[w] &^= mask; p.marked[w] == 0 {
				p.summary[s] &^= 1 << (w % 64)
			}
			for ; list != 0; list &= list - 1 {
				i := w*64 + uint32(bits.TrailingZeros64(list))
				if sum := p.acc[i]; sum != 0 {
					p.acc[i] = 0
					update(p.lo+i, sum)
				}
			}
		}
	}
}

// listAll adds the candidates of an area whose neurons are all updated to the FCL.
func (p *part) listAll(lo, hi uint32) {
	for i, sum := range p.acc[lo-p.lo : hi-p.lo] {
		if sum != 0 {
			n := lo + uint32(i)
			p.fcl = append(p.fcl, engine.Candidate{Port: n, Neuron: n, Sum: sum})
		}
	}
}
