package connectome

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
)

// Slice is the number of consecutive neurons in the same part. It is 64, so that words of spikes, blocks of potentials and
// warps of a GPU have neurons of one part only.
const Slice = 64

// Part is one of the Of parts of a split network. Neurons keep their numbers in the whole network. Slices of them, n/Slice, go to
// the parts in turn, so that every part has about the same share of each large area. A part has all synapses onto its neurons
// and updates only its neurons. The zero value is the whole network.
type Part struct{ Index, Of int }

// Whole reports whether p is the whole network.
func (p Part) Whole() bool { return p.Of <= 1 }

// Owns reports whether neuron n belongs to the part.
func (p Part) Owns(n uint32) bool { return p.Owner(n) == p.Index }

// Owner is the index of the part to which neuron n belongs; 0 for a whole network.
func (p Part) Owner(n uint32) int {
	if p.Of <= 1 {
		return 0
	}
	return int(n / Slice % uint32(p.Of))
}

// Count is the number of neurons 0…n−1 that belong to the part. For a neuron n of the part it is its index in the part.
func (p Part) Count(n uint32) uint32 {
	if p.Of <= 1 {
		return n
	}
	slices, rest := n/Slice, n%Slice
	rounds, turn := slices/uint32(p.Of), slices%uint32(p.Of)
	switch {
	case turn > uint32(p.Index):
		return (rounds + 1) * Slice
	case turn == uint32(p.Index):
		return rounds*Slice + rest
	}
	return rounds * Slice
}

// Neuron is the i-th neuron of the part: Count of it is i.
func (p Part) Neuron(i uint32) uint32 {
	if p.Of <= 1 {
		return i
	}
	return (i/Slice*uint32(p.Of)+uint32(p.Index))*Slice + i%Slice
}

// Next is the first neuron ≥ n that belongs to the part. It may be larger than the network's last neuron.
func (p Part) Next(n uint64) uint64 {
	if p.Of <= 1 {
		return n
	}
	of, slice := uint64(p.Of), n/Slice
	ahead := (uint64(p.Index) + of - slice%of) % of
	if ahead == 0 {
		return n
	}
	return (slice + ahead) * Slice
}

// dealer quickly computes whether a neuron belongs to a part (Lemire, Kaser and Kurz, "Faster remainder by direct computation",
// 2019: the remainder is the upper half of a product).
type dealer struct{ inverse, of, index uint64 }

func (p Part) dealer() dealer {
	of := uint64(max(1, p.Of))
	return dealer{inverse: math.MaxUint64/of + 1, of: of, index: uint64(p.Index)}
}

// owns is 1 if the part has neuron n, else 0.
func (d *dealer) owns(n uint32) int {
	owner, _ := bits.Mul64(d.inverse*uint64(n/Slice), d.of)
	return int(((owner ^ d.index) - 1) >> 63)
}

// place is Count of a neuron of the part.
func (d *dealer) place(n uint32) uint32 {
	if d.of == 1 {
		return n
	}
	rounds, _ := bits.Mul64(d.inverse, uint64(n/Slice))
	return uint32(rounds)*Slice + n%Slice
}

// check refuses a part that does not exist.
func (p Part) check() error {
	if p == (Part{}) || 0 <= p.Index && p.Index < p.Of {
		return nil
	}
	return fmt.Errorf("part %d of %d, want 0…%d", p.Index, p.Of, p.Of-1)
}

// Cut returns part p of a whole network. It equals the part that Build makes with Options.Allgather.
func (c *Connectome) Cut(p Part) *Connectome {
	const rows = 1 << 12
	cut := *c
	cut.Part, cut.total = p, c.Total()
	cut.Row = make([]uint64, c.Neurons+1)
	workers := threads(0)
	longest := make([]uint32, workers)
	spans(workers, uint64(c.Neurons), rows, func(worker int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			for k := c.Row[n]; k < c.Row[n+1]; k++ {
				if p.Owns(c.NeuronOf(c.Target[k])) {
					cut.Row[n+1]++
					longest[worker] = max(longest[worker], c.DelayOf(k))
				}
			}
		}
	})
	for n := range c.Neurons {
		cut.Row[n+1] += cut.Row[n]
	}
	cut.Target, cut.Weight, cut.Delay = make([]uint32, cut.Synapses()), make([]int32, cut.Synapses()), newDelays(cut.Synapses(), int(slices.Max(longest)))
	spans(workers, uint64(c.Neurons), rows, func(_ int, lo, hi uint64) {
		to := cut.Row[lo]
		for k := c.Row[lo]; k < c.Row[hi]; k++ {
			if !p.Owns(c.NeuronOf(c.Target[k])) {
				continue
			}
			cut.Target[to], cut.Weight[to] = c.Target[k], c.Weight[k]
			cut.Delay.set(to, uint64(c.DelayOf(k)))
			to++
		}
	})
	cut.Plastic = nil
	for i := range c.Plastic {
		cut.Plastic = append(cut.Plastic, c.Plastic[i].cut(c, p))
	}
	cut.Driven = c.Driven.cut(c, p)
	return &cut
}
