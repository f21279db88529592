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
	touched []uint64 // a bit a neuron: something was added to its acc
	summary []uint64 // a bit a word of touched
	drives  [][]events
	fired   []uint32
	fcl     []engine.Candidate
}

func newPart(b *backend, lo, hi uint32) *part {
	words := (hi - lo + 63) / 64
	p := &part{b: b, lo: lo, hi: hi, acc: make([]int32, hi-lo), touched: make([]uint64, words), summary: make([]uint64, (words+63)/64)}
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

// propagate is step 1.
func (p *part) propagate() {
	c := p.b.c
	for _, d := range p.b.delays {
		for _, n := range p.b.queues[d-1] {
			from, to := c.Row[n], c.Row[n+1]
			if len(p.b.delays) > 1 {
				row := c.Delay[from:to]
				to = from + uint64(sort.Search(len(row), func(i int) bool { return int(row[i]) > d }))
				from += uint64(sort.Search(int(to-from), func(i int) bool { return int(row[i]) >= d }))
			}
			targets := c.Target[from:to]
			if p.lo > 0 { // targets ascend within one delay
				first, _ := slices.BinarySearch(targets, p.lo)
				from += uint64(first)
				targets = targets[first:]
			}
			if p.hi < c.Neurons {
				end, _ := slices.BinarySearch(targets, p.hi)
				targets = targets[:end]
			}
			p.deliver(targets, c.Weight[from:from+uint64(len(targets))])
		}
	}
}

// deliver adds one row's weights.
func (p *part) deliver(targets []uint32, weights []int32) {
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
	if p.touched[w] == 0 {
		p.summary[w/64] |= 1 << (w % 64)
	}
	p.touched[w] |= 1 << (i % 64)
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
			marked := p.touched[w] & mask
			if p.touched[w] &^= mask; p.touched[w] == 0 {
				p.summary[s] &^= 1 << (w % 64)
			}
			for ; marked != 0; marked &= marked - 1 {
				i := w*64 + uint32(bits.TrailingZeros64(marked))
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
