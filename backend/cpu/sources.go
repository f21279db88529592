package cpu

import (
	"cmp"
	"slices"

	"burst/connectome"
	"burst/internal/exact"
)

// updatePoisson is step 4 of poisson.
func (p *part) updatePoisson(g *group) {
	t := p.b.number
	p.philox(g, exact.PoissonSource, 0, func(lo uint32, draws []uint32) {
		for i, x := range draws {
			n := p.b.own.Neuron(lo + uint32(i))
			s := g.area.PoissonOf(n - g.area.Neurons.First)
			if s.From <= t && t < s.Until && uint64(x) < s.Below {
				g.fired = append(g.fired, n)
			}
		}
	})
}

// listed is one entry of a spike list.
type listed struct {
	burst  uint64
	neuron uint32
}

// listSpikes lists the spikes of the neurons at places lo ≤ n < hi by burst, then neuron.
func (b *backend) listSpikes(a *connectome.Area, lo, hi uint32) []listed {
	var list []listed
	for place := lo; place < hi; place++ {
		n := b.own.Neuron(place)
		i := n - a.Neurons.First
		for _, t := range a.Spikes.At[a.Spikes.Row[i]:a.Spikes.Row[i+1]] {
			list = append(list, listed{t, n})
		}
	}
	slices.SortFunc(list, func(x, y listed) int {
		return cmp.Or(cmp.Compare(x.burst, y.burst), cmp.Compare(x.neuron, y.neuron))
	})
	return list
}

// updateSpikeList is step 4 of spike_list.
func (p *part) updateSpikeList(g *group) {
	first, _ := slices.BinarySearchFunc(g.list, p.b.number, func(l listed, t uint64) int { return cmp.Compare(l.burst, t) })
	for _, l := range g.list[first:] {
		if l.burst != p.b.number {
			return
		}
		g.fired = append(g.fired, l.neuron)
	}
}
