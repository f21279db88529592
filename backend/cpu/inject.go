package cpu

import (
	"iter"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
)

// inject is step 2.
func (w *worker) inject() {
	for i := range w.groups {
		g := &w.groups[i]
		g.driven = false
		if g.lo == g.hi {
			continue
		}
		for slot, amount := range w.stimuli(g) {
			w.acc[slot] += amount
		}
		for place := range g.drives {
			d := &g.drives[place]
			if d.Kind == connectome.Term || !d.Active(w.now) {
				continue
			}
			g.driven = true
			switch d.Kind {
			case connectome.Inject:
				w.constant(g, d)
			case connectome.Poisson, connectome.Noise:
				w.drawn(g, place, d)
			}
		}
	}
}

// stimuli yields the slots and amounts of the stimuli for the group's ports.
func (w *worker) stimuli(g *group) iter.Seq2[uint32, int32] {
	byPort := func(s engine.Stimulus, port uint32) int { return int(int64(s.Port) - int64(port)) }
	return func(yield func(uint32, int32) bool) {
		for port := range g.area.PortsEach() {
			lo, hi := w.b.ports(g, port)
			first, _ := slices.BinarySearchFunc(w.in, lo, byPort)
			for _, s := range w.in[first:] {
				if s.Port >= hi {
					break
				}
				if n := s.Port - g.portsAhead(port); w.b.own.Owns(n) && !yield(g.slot+port*g.run+w.b.own.Count(n)-g.lo, s.Amount) {
					return
				}
			}
		}
	}
}

// sums returns the sums that a drive's positive or negative amounts are added to.
func (w *worker) sums(g *group, d *connectome.Drive, negative bool) []int32 {
	at := g.slot
	switch {
	case d.Port > 0:
		at += uint32(d.Port-1) * g.run
	case negative:
		at += g.split
	}
	return w.acc[at : at+g.hi-g.lo]
}

// constant adds the drive's amount to every neuron.
func (w *worker) constant(g *group, d *connectome.Drive) {
	acc := w.sums(g, d, d.Amount < 0)
	for i := range acc {
		acc[i] += d.Amount
	}
}

const (
	drawn       = 512 // neurons per call of the random generator
	fewCounts   = 48  // up to so many thresholds, comparing with all of them is faster than a search
	wordsOfDraw = 4   // words per call of Philox
)

// philox calls take for runs of the group's neurons, ascending, with one 32-bit draw per neuron. Each index of Philox gives
// the draws of four neighbouring neurons; place is the upper half of the index.
func (w *worker) philox(g *group, purpose exact.Purpose, place uint32, take func(lo uint32, draws []uint32)) {
	w.throw(purpose, place, g.lo, g.hi, take)
}

// throw does so for neurons lo ≤ n < end of an area.
func (w *worker) throw(purpose exact.Purpose, place, lo, end uint32, take func(lo uint32, draws []uint32)) {
	t := w.now
	w.draws += uint64(end - lo)
	w.dice.Counter = [3]uint32{place, uint32(t), uint32(purpose)<<24 | uint32(t>>32)&0xffffff}
	for lo < end {
		skip := lo % wordsOfDraw
		hi := min(end, lo-skip+drawn)
		if !w.b.own.Whole() {
			hi = min(end, lo/connectome.Slice*connectome.Slice+connectome.Slice) // the neurons of a slice have consecutive numbers
		}
		words := w.draw[:(hi-lo+skip+31)&^31]
		w.b.kernels.Draws(w.dice, w.b.own.Neuron(lo)/wordsOfDraw, words)
		take(lo, words[skip:skip+hi-lo])
		lo = hi
	}
}

// drawn adds what each neuron draws.
func (w *worker) drawn(g *group, place int, d *connectome.Drive) {
	purpose, table := exact.PoissonDrive, g.events[place]
	if d.Kind == connectome.Noise {
		purpose = exact.NoiseDrive
	}
	w.philox(g, purpose, uint32(place), func(lo uint32, draws []uint32) {
		from, to := lo-g.lo, lo-g.lo+uint32(len(draws))
		switch up, down := w.sums(g, d, false)[from:to], w.sums(g, d, true)[from:to]; {
		case d.Own != nil:
			first := w.b.own.Neuron(lo) - g.area.Neurons.First
			for i, x := range draws {
				if amount := own(d, table, first+uint32(i), x); amount > 0 {
					up[i] += amount
				} else {
					down[i] += amount
				}
			}
		case d.Kind == connectome.Noise:
			for i, x := range draws {
				if amount := d.Table[table.count(x)]; amount > 0 {
					up[i] += amount
				} else {
					down[i] += amount
				}
			}
		case d.Amount < 0:
			w.count(down, draws, table, d.Amount)
		default:
			w.count(up, draws, table, d.Amount)
		}
	})
}

// own is what the i-th neuron of the area draws of a drive of which it has its own numbers.
func own(d *connectome.Drive, table events, i, x uint32) int32 {
	if d.Kind == connectome.Noise {
		return d.Own.Step(i, table.count(x))
	}
	k, counts := int32(0), d.Own.Row(i)
	if len(counts) > fewCounts {
		at, _ := slices.BinarySearch(counts, x)
		k = int32(at)
	}
	for int(k) < len(counts) && counts[k] <= x {
		k++
	}
	return k * d.Own.Amounts[i]
}

// count adds amount times the number of events that each neuron draws.
func (w *worker) count(acc []int32, draws []uint32, table events, amount int32) {
	if len(table.counts) <= fewCounts {
		w.b.kernels.AddCounts(acc, draws, table.counts, amount)
		return
	}
	for i, x := range draws {
		acc[i] += table.count(x) * amount
	}
}

// events is a drive's ascending table of thresholds. begin says where the search starts, by the leading byte of the draw.
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

// count returns the number of thresholds that are ≤ x.
func (e events) count(x uint32) int32 {
	k := e.begin[x>>24]
	for int(k) < len(e.counts) && e.counts[k] <= x {
		k++
	}
	return k
}
