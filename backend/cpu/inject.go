package cpu

import (
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
)

// inject is step 2.
func (p *part) inject() {
	for i := range p.groups {
		g := &p.groups[i]
		g.driven = false
		if g.lo == g.hi {
			continue
		}
		p.stimuli(g)
		for place := range g.area.Drives {
			d := &g.area.Drives[place]
			if d.Kind == connectome.Term || !d.Active(p.b.number) {
				continue
			}
			g.driven = true
			switch d.Kind {
			case connectome.Inject:
				p.constant(g, d.Amount)
			case connectome.Poisson, connectome.Noise:
				p.drawn(g, place, d)
			}
		}
	}
}

// stimuli adds those of the group's ports.
func (p *part) stimuli(g *group) {
	byPort := func(s engine.Stimulus, port uint32) int { return int(int64(s.Port) - int64(port)) }
	for port := range g.area.PortsEach() {
		lo, hi := p.b.ports(g, port)
		first, _ := slices.BinarySearchFunc(p.b.in, lo, byPort)
		for _, s := range p.b.in[first:] {
			if s.Port >= hi {
				break
			}
			if n := s.Port - g.portsAhead(port); p.b.own.Owns(n) {
				p.add(g.slot+port*g.run+p.b.own.Count(n)-g.lo, s.Amount)
			}
		}
	}
}

// sums are those of the group's ports for amounts of a sign.
func (p *part) sums(g *group, negative bool) []int32 {
	at := g.slot
	if negative {
		at += g.split
	}
	return p.acc[at : at+g.hi-g.lo]
}

// constant adds amount to every neuron.
func (p *part) constant(g *group, amount int32) {
	acc := p.sums(g, amount < 0)
	for i := range acc {
		acc[i] += amount
	}
}

const (
	drawn       = 512 // neurons whose draws are made together
	fewCounts   = 48  // thresholds up to which comparing with all of them is faster than a search
	wordsOfDraw = 4
)

// philox calls take for runs of the group's neurons, ascending, with a draw for each: index and burst make four words, one
// for each of four neighbouring neurons. place is the index's upper half.
func (p *part) philox(g *group, purpose exact.Purpose, place uint32, take func(lo uint32, draws []uint32)) {
	t := p.b.number
	p.draws += uint64(g.hi - g.lo)
	p.dice.Counter = [3]uint32{place, uint32(t), uint32(purpose)<<24 | uint32(t>>32)&0xffffff}
	for lo := g.lo; lo < g.hi; {
		skip := lo % wordsOfDraw
		hi := min(g.hi, lo-skip+drawn)
		if !p.b.own.Whole() {
			hi = min(g.hi, lo/connectome.Slice*connectome.Slice+connectome.Slice) // where numbers follow each other
		}
		words := p.draw[:(hi-lo+skip+31)&^31]
		p.b.kernels.Draws(p.dice, p.b.own.Neuron(lo)/wordsOfDraw, words)
		take(lo, words[skip:skip+hi-lo])
		lo = hi
	}
}

// drawn adds what each neuron draws.
func (p *part) drawn(g *group, place int, d *connectome.Drive) {
	purpose, table := exact.PoissonDrive, g.drives[place]
	if d.Kind == connectome.Noise {
		purpose = exact.NoiseDrive
	}
	p.philox(g, purpose, uint32(place), func(lo uint32, draws []uint32) {
		from, to := lo-g.lo, lo-g.lo+uint32(len(draws))
		switch up, down := p.sums(g, false)[from:to], p.sums(g, true)[from:to]; {
		case d.Kind == connectome.Noise:
			for i, x := range draws {
				if amount := d.Table[table.count(x)]; amount > 0 {
					up[i] += amount
				} else {
					down[i] += amount
				}
			}
		case d.Amount < 0:
			p.count(down, draws, table, d.Amount)
		default:
			p.count(up, draws, table, d.Amount)
		}
	})
}

// count adds amount for every event that a neuron draws.
func (p *part) count(acc []int32, draws []uint32, table events, amount int32) {
	if len(table.counts) <= fewCounts {
		p.b.kernels.AddCounts(acc, draws, table.counts, amount)
		return
	}
	for i, x := range draws {
		acc[i] += table.count(x) * amount
	}
}

// events is a drive's table of thresholds with, for each leading byte of a draw, where its search begins.
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

// count is the number of thresholds that are ≤ x.
func (e events) count(x uint32) int32 {
	k := e.begin[x>>24]
	for int(k) < len(e.counts) && e.counts[k] <= x {
		k++
	}
	return k
}
