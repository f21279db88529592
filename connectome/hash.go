package connectome

import (
	"math"
	"runtime"
)

// Hash names the network: the sum modulo 2^64 of one number a neuron and one a synapse, so that threads, devices and
// parts of a network can add it up in any order; a part's is over its own neurons and synapses. With mix the finaliser of SplitMix64 and fold(h, x) = mix(h·φ + x),
// φ = 0x9e3779b97f4a7c15:
//
//	synapse  fold(fold(1, source·2^32 + port), weight·2^8 + delay), weight as an unsigned 32-bit number
//	neuron   fold, from A on, over neuron, its constants (feagi: threshold; else those of Words, of PoissonSource or of
//	         Custom, or the bursts of its spike list) and its initial V and further variables
//	A        fold, from 2 on, over scale, model, parameters in the order of FEAGI (custom: refractory and Program.Words), and
//	         drives in the order of Drive
//
// Numbers are folded as they are, float32, float64 and flags by their bits, lists by their length and entries.
func (c *Connectome) Hash() uint64 {
	if c.Row == nil {
		return c.hash
	}
	workers := runtime.GOMAXPROCS(0)
	sums := make([]uint64, workers)
	v, more := make([]float32, c.Neurons), make([][]float32, c.Variables())
	for k := range more {
		more[k] = make([]float32, c.Neurons)
	}
	c.InitialState(v, more)
	for i := range c.Areas {
		a := &c.Areas[i]
		head := areaHash(c.Scale, a)
		spans(workers, uint64(a.Neurons.Count), 1<<12, func(worker int, lo, hi uint64) {
			for k := uint32(lo); k < uint32(hi); k++ {
				n := a.Neurons.First + k
				sums[worker] += c.rowHash(n)
				if !c.Part.Owns(n) {
					continue
				}
				h := foldBits(a.foldConstants(fold(head, uint64(n)), k), v[n])
				for j := range a.Variables() {
					h = foldBits(h, more[j][n])
				}
				sums[worker] += h
			}
		})
	}
	total := uint64(0)
	for _, s := range sums {
		total += s
	}
	return total
}

// foldConstants folds what only the k-th neuron of the area has.
func (a *Area) foldConstants(h uint64, k uint32) uint64 {
	switch a.Model {
	case FEAGIModel:
		return foldBits(h, a.FEAGI.Threshold.At(k))
	case PoissonModel:
		s := a.PoissonOf(k)
		return fold(fold(fold(h, s.Below), s.From), s.Until)
	case CustomModel:
		for _, x := range a.Custom.Params {
			h = foldBits(h, x.At(k))
		}
		return h
	case SpikeListModel:
		at := a.Spikes.At[a.Spikes.Row[k]:a.Spikes.Row[k+1]]
		h = fold(h, uint64(len(at)))
		for _, t := range at {
			h = fold(h, t)
		}
		return h
	}
	for _, x := range a.words(k) {
		h = foldBits(h, x)
	}
	return h
}

func foldBits(h uint64, x float32) uint64 { return fold(h, uint64(math.Float32bits(x))) }

func (c *Connectome) rowHash(n uint32) uint64 {
	sum, r := uint64(0), rowBetween(c, c.Row[n], c.Row[n+1])
	weight, delay := r.weight[:len(r.target)], r.delay
	if delay == nil {
		for k, target := range r.target {
			sum += synapseHash(n, target, weight[k], 1)
		}
		return sum
	}
	delay = delay[:len(r.target)]
	for k, target := range r.target {
		sum += synapseHash(n, target, weight[k], delay[k])
	}
	return sum
}

func synapseHash(source, port uint32, weight int32, delay uint8) uint64 {
	return fold(fold(1, uint64(source)<<32|uint64(port)), uint64(uint32(weight))<<8|uint64(delay))
}

func fold(h, x uint64) uint64 { return mix(h*0x9e3779b97f4a7c15 + x) }

func areaHash(scale int32, a *Area) uint64 {
	h := fold(fold(2, uint64(scale)), uint64(a.Model))
	single := func(x float32) { h = foldBits(h, x) }
	whole := func(x uint64) { h = fold(h, x) }
	if a.Model == FEAGIModel {
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
	}
	if a.Model == CustomModel {
		whole(uint64(a.Custom.Refractory))
		for _, x := range a.Custom.Program.Words() {
			whole(x)
		}
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
		whole(uint64(len(d.Table)))
		for _, amount := range d.Table {
			whole(uint64(uint32(amount)))
		}
		whole(uint64(len(d.Each)))
		for _, x := range d.Each {
			whole(math.Float64bits(x))
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
