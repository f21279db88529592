package cpu

import (
	"cmp"
	"slices"

	"burst/connectome"
	"burst/internal/exact"
)

// updatePoisson is step 4 of poisson.
func (w *worker) updatePoisson(g *group) {
	t, factor := w.b.number, w.b.moving[g.index].factor
	w.philox(g, exact.PoissonSource, 0, func(lo uint32, draws []uint32) {
		for i, x := range draws {
			n := w.b.own.Neuron(lo + uint32(i))
			a := g.area
			below := a.Chance.At(n - a.Neurons.First)
			if a.Factor != nil {
				below = connectome.Over(below, factor)
			}
			if a.From <= t && t < a.Until && uint64(x) < below {
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

func prepareSpikes(w *worker, g *group) { g.list = w.b.listSpikes(g.area, g.lo, g.hi) }

// listSpikes lists the spikes of the neurons with local indices lo ≤ n < hi, by burst, then by neuron.
func (b *backend) listSpikes(a *connectome.Area, lo, hi uint32) []listed {
	var list []listed
	for local := lo; local < hi; local++ {
		n := b.own.Neuron(local)
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
func (w *worker) updateSpikeList(g *group) {
	first, _ := slices.BinarySearchFunc(g.list, w.b.number, func(l listed, t uint64) int { return cmp.Compare(l.burst, t) })
	for _, l := range g.list[first:] {
		if l.burst != w.b.number {
			return
		}
		g.fired = append(g.fired, l.neuron)
	}
}
