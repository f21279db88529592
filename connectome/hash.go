package connectome

import (
	"math"
	"runtime"
)

// Hash names the network: the sum modulo 2^64 of one number a neuron and one a synapse, so that threads, devices and
// parts of a network can add it up in any order. With mix the finaliser of SplitMix64 and fold(h, x) = mix(h·φ + x),
// φ = 0x9e3779b97f4a7c15:
//
//	synapse  fold(fold(1, source·2^32 + port), weight·2^8 + delay), weight as an unsigned 32-bit number
//	neuron   fold(fold(fold(A, neuron), bits of its threshold), bits of its initial V), bits as of a float32
//	A        fold, from 2 on, over scale, model, parameters in the order of FEAGI and LIF, and drives in the order of
//	         Drive: float32, float64 and flags by their bits, a list by its length and entries
func (c *Connectome) Hash() uint64 {
	workers := runtime.GOMAXPROCS(0)
	sums := make([]uint64, workers)
	v := make([]float32, c.Neurons)
	c.InitialV(v)
	for i := range c.Areas {
		a := &c.Areas[i]
		head := areaHash(c.Scale, a)
		spans(workers, uint64(a.Neurons.Count), 1<<12, func(worker int, lo, hi uint64) {
			for k := uint32(lo); k < uint32(hi); k++ {
				n := a.Neurons.First + k
				h := fold(fold(head, uint64(n)), uint64(math.Float32bits(a.threshold(k))))
				sums[worker] += fold(h, uint64(math.Float32bits(v[n]))) + c.rowHash(n)
			}
		})
	}
	total := uint64(0)
	for _, s := range sums {
		total += s
	}
	return total
}

// threshold is that of the k-th neuron of the area.
func (a *Area) threshold(k uint32) float32 {
	if a.Model == FEAGIModel {
		return a.FEAGI.Threshold.At(k)
	}
	return a.LIF.Threshold
}

func (c *Connectome) rowHash(n uint32) uint64 {
	sum := uint64(0)
	for k := c.Row[n]; k < c.Row[n+1]; k++ {
		h := fold(1, uint64(n)<<32|uint64(c.Target[k]))
		sum += fold(h, uint64(uint32(c.Weight[k]))<<8|uint64(c.DelayOf(k)))
	}
	return sum
}

func fold(h, x uint64) uint64 { return mix(h*0x9e3779b97f4a7c15 + x) }

func areaHash(scale int32, a *Area) uint64 {
	h := fold(fold(2, uint64(scale)), uint64(a.Model))
	single := func(x float32) { h = fold(h, uint64(math.Float32bits(x))) }
	whole := func(x uint64) { h = fold(h, x) }
	switch a.Model {
	case FEAGIModel:
		f := &a.FEAGI
		single(f.ThresholdLimit)
		single(f.Leak)
		single(f.LeakAmount)
		single(f.Keep)
		whole(uint64(f.Refractory))
		whole(uint64(f.FireLimit))
		whole(uint64(f.Snooze))
		whole(bit(f.Accumulate))
		whole(bit(f.FEAGIDraw))
		single(f.Excitability)
		whole(f.ExciteBelow)
	case LIFModel:
		single(a.LIF.EM1)
		single(a.LIF.Reset)
		whole(uint64(a.LIF.Refractory))
	}
	for i := range a.Drives {
		d := &a.Drives[i]
		whole(uint64(d.Kind))
		whole(d.From)
		whole(d.Until)
		whole(uint64(uint32(d.Amount)))
		whole(math.Float64bits(d.Term))
		whole(uint64(len(d.Counts)))
		for _, count := range d.Counts {
			whole(uint64(count))
		}
	}
	return h
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
