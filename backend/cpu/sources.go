package cpu

import (
	"math"
	"unsafe"

	"burst/connectome"
	"burst/internal/exact"
)

// updatePoisson is step 4 of poisson.
func (w *worker) updatePoisson(g *group) {
	t, factor := w.now, w.b.moving[g.index].factor
	if t < g.area.From || t >= g.area.Until {
		return
	}
	w.philox(g, exact.PoissonSource, 0, func(lo uint32, draws []uint32) {
		for i, x := range draws {
			n := w.b.own.Neuron(lo + uint32(i))
			a := g.area
			below := a.Chance.At(n - a.Neurons.First)
			if a.Factor != nil {
				below = connectome.Over(below, factor)
			}
			if uint64(x) < below {
				g.fired = append(g.fired, n)
			}
		}
	})
}

// trains finds the spikes of a spike_list area in a window of bursts at a time, so that its list is in memory but once. In each burst of
// a window it looks through a share of the neurons for the next one.
type trains struct {
	until uint64 // no neuron has a spike in this burst or later
	begun bool
	from  uint64 // the window's first burst
	ahead uint32 // neurons that were looked through for the next one
	now   [][]uint32
	next  [][]uint32
}

func prepareSpikes(_ *worker, g *group) {
	first, until := spikesWithin(&g.area.Spikes)
	n := windowOf(&g.area.Spikes, g.hi-g.lo, first, until)
	g.trains = &trains{until: until, now: make([][]uint32, n), next: make([][]uint32, n)}
}

// spikesWithin are the burst of the first spike and the one after the last; until is 0 where there are none.
func spikesWithin(s *connectome.SpikeList) (first, until uint64) {
	first = math.MaxUint64
	for i := range s.Row[1:] {
		if k, end := s.Row[i], s.Row[i+1]; k < end {
			first, until = min(first, s.At(k)), max(until, s.At(end-1)+1)
		}
	}
	return first, until
}

// windowOf is the length of the windows in bursts: a neuron has about four spikes in one, so that a look at it is worth its while, but
// few neurons have short ones.
func windowOf(s *connectome.SpikeList, own uint32, first, until uint64) uint64 {
	if until == 0 {
		return 1
	}
	apart := (until - 1 - first) / (uint64(len(s.Low))/uint64(len(s.Row)-1) + 1)
	return max(16, min(4*apart, uint64(own), 1<<14))
}

// updateSpikeList is step 4 of spike_list.
func (w *worker) updateSpikeList(g *group) {
	l, t, own := g.trains, w.now, g.hi-g.lo
	if t >= l.until {
		return
	}
	window := uint64(len(l.now))
	if !l.begun || t-l.from >= window {
		if l.begun && l.ahead == own && t-l.from == window {
			l.now, l.next = l.next, l.now
		} else {
			w.look(g, l.now, t, 0, own)
		}
		l.begun, l.from, l.ahead = true, t, 0
	}
	if share := uint32((uint64(t-l.from+1)*uint64(own) + window - 1) / window); share > l.ahead && l.from+window < l.until {
		w.look(g, l.next, l.from+window, l.ahead, share)
		l.ahead = share
	}
	g.fired = append(g.fired, l.now[t-l.from]...)
}

// look adds the spikes of the group's neurons lo ≤ i < hi to a window that begins in burst from. It empties it where lo is 0.
func (w *worker) look(g *group, into [][]uint32, from uint64, lo, hi uint32) {
	if lo == 0 {
		for k := range into {
			into[k] = into[k][:0]
		}
	}
	spikes := &g.area.Spikes
	for local := g.lo + lo; local < g.lo+hi; local++ {
		n := w.b.own.Neuron(local)
		i := n - g.area.Neurons.First
		for k := spikes.From(i, from); k < spikes.Row[i+1]; k++ {
			t := spikes.At(k) - from
			if t >= uint64(len(into)) {
				break
			}
			into[t] = append(into[t], n)
		}
	}
}

// bytes is the memory of the windows; those that grow later are small beside the list.
func (l *trains) bytes() (n uint64) {
	if l == nil {
		return 0
	}
	for k := range l.now {
		n += 4*uint64(cap(l.now[k])+cap(l.next[k])) + 48
	}
	return n + uint64(unsafe.Sizeof(*l))
}
