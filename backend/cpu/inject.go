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
		if g.lo == g.hi {
			continue
		}
		p.stimuli(g)
		for place := range g.area.Drives {
			d := &g.area.Drives[place]
			switch {
			case !d.Active(p.b.number):
			case d.Kind == connectome.Inject:
				p.constant(g, d.Amount)
			case d.Kind == connectome.Poisson, d.Kind == connectome.Noise:
				p.drawn(g, place, d)
			}
		}
	}
}

// stimuli adds those of the group's ports.
func (p *part) stimuli(g *group) {
	byPort := func(s engine.Stimulus, port uint32) int { return int(int64(s.Port) - int64(port)) }
	n := g.hi - g.lo
	for port := range g.area.Model.Ports() {
		lo := g.area.Ports.First + port*g.area.Neurons.Count + g.lo - g.area.Neurons.First
		first, _ := slices.BinarySearchFunc(p.b.in, lo, byPort)
		for _, s := range p.b.in[first:] {
			if s.Port-lo >= n {
				break
			}
			p.add(g.slot+port*n+s.Port-lo, s.Amount)
		}
	}
}

// constant adds amount to every neuron.
func (p *part) constant(g *group, amount int32) {
	at := g.slot
	if amount < 0 {
		at += g.split
	}
	for i := range g.hi - g.lo {
		p.add(at+i, amount)
	}
}

// drawn adds what each neuron draws; one Philox call serves four neighbouring neurons.
func (p *part) drawn(g *group, place int, d *connectome.Drive) {
	purpose, table := exact.PoissonDrive, g.drives[place]
	if d.Kind == connectome.Noise {
		purpose = exact.NoiseDrive
	}
	var draws [4]uint32
	for n := g.lo; n < g.hi; n++ {
		if n%4 == 0 || n == g.lo {
			draws = exact.Draw(p.b.c.RunSeed, purpose, uint64(place)<<32|uint64(n/4), p.b.number)
		}
		k := table.count(draws[n%4])
		amount := k * d.Amount
		if d.Kind == connectome.Noise {
			amount = d.Table[k]
		}
		switch {
		case amount > 0:
			p.add(g.slot+n-g.lo, amount)
		case amount < 0:
			p.add(g.slot+g.split+n-g.lo, amount)
		}
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
