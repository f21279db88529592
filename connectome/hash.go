package connectome

import (
	"math"
	"runtime"
	"slices"

	"burst/internal/exact"
)

// Hash identifies the network. It is the sum modulo 2^64 of one number per neuron and one per synapse, so that threads,
// devices and parts of a network can add it up in any order. The hash of a part is over its own neurons and synapses. mix is
// the finaliser of SplitMix64, fold(h, x) = mix(h·φ + x), and φ = 0x9e3779b97f4a7c15:
//
//	synapse  fold(fold(1, source·2^32 + port), ⌊delay/2^8⌋·2^40 + weight·2^8 + delay mod 2^8), weight as an unsigned 32-bit number
//	neuron   fold, from A on, over neuron, those of its constants that may differ (feagi: threshold; poisson: Chance, From and
//	         Until; spike_list: the bursts of its list; custom: refractory, where neurons differ in it) and its initial V and further variables
//	plastic  see plasticHash
//	driven   fold(fold(4, divisor·2^32 + PSPMax), synapse), the number of such a synapse of a neuron; divisor is 0 if nothing is divided
//	A        fold, from 2 on, over scale, the model's number, constants that all neurons share and Chance of feagi (memory:
//	         the indices of Upstream; custom: refractory and Program.Words), and drives in the order of Drive, Port only where it is
//	         not 0, as Kind + 256·Port, each followed by what each neuron has for itself, if any (Own: amount and
//	         thresholds, or mean and sd), and by what it is worked out from if it moves; then Factor of the area, if any
//
// Numbers are folded as they are, float32, float64 and flags by their bits, lists by their length and entries.
func (c *Connectome) Hash() uint64 {
	if c.Row == nil {
		return c.hash
	}
	return c.hashOfNeurons() + c.hashOfSynapses()
}

// hashOfNeurons is what Hash adds up of neurons. It reads nothing that is known of synapses alone.
func (c *Connectome) hashOfNeurons() uint64 {
	sums := make([]uint64, runtime.GOMAXPROCS(0))
	c.neuronHash(sums, func(a *Area) uint64 { return areaHash(c.Scale, a) })
	return total(sums)
}

// hashOfSynapses is what it adds up of all others.
func (c *Connectome) hashOfSynapses() uint64 {
	sums := make([]uint64, runtime.GOMAXPROCS(0))
	if c.kept {
		sums[0] += c.hash
	} else {
		spans(len(sums), uint64(c.Neurons), 1<<8, func(worker int, lo, hi uint64) {
			for n := uint32(lo); n < uint32(hi); n++ {
				sums[worker] += c.rowHash(n)
			}
		})
	}
	c.plasticHash(sums)
	c.drivenHash(sums)
	return total(sums)
}

func total(sums []uint64) (total uint64) {
	for _, s := range sums {
		total += s
	}
	return total
}

// neuronHash adds to the workers' sums the numbers of the part's neurons, A being what of gives for their area.
func (c *Connectome) neuronHash(sums []uint64, of func(a *Area) uint64) {
	for i := range c.Areas {
		a := &c.Areas[i]
		head := of(a)
		spans(len(sums), uint64(a.Neurons.Count), drawnAtOnce, func(worker int, lo, hi uint64) {
			state := a.initialOf(c.Seed, i, uint32(lo), uint32(hi))
			for k := uint32(lo); k < uint32(hi); k++ {
				n := a.Neurons.First + k
				if !c.Part.Owns(n) {
					continue
				}
				h := a.foldConstants(fold(head, uint64(n)), k)
				for _, values := range state {
					h = foldBits(h, values[k-uint32(lo)])
				}
				sums[worker] += h
			}
		})
	}
}

// unliftHash takes out of the workers' sums, of a Hash, what lifting makes of areas that rectify: by how much it lifts depends on how many
// stimuli there are.
func (c *Connectome) unliftHash(sums []uint64) {
	if !slices.ContainsFunc(c.Areas, func(a Area) bool { return a.Lifted() }) {
		return
	}
	plain := func(a *Area) uint64 {
		if !a.Lifted() {
			return areaHash(c.Scale, a)
		}
		b := *a
		b.Constants = slices.Clone(a.Constants)
		b.Constant("rectify").Const = 1
		b.Drives = slices.Clone(a.Drives)
		for i := range b.Drives {
			d := &b.Drives[i]
			d.Amount, d.Table, d.Own = a.sum(d.Amount), slices.Clone(d.Table), d.Own.unlifted(a)
			for k, amount := range d.Table {
				d.Table[k] = a.sum(amount)
			}
		}
		return areaHash(c.Scale, &b)
	}
	lifted := make([]uint64, len(sums))
	c.neuronHash(lifted, func(a *Area) uint64 { return areaHash(c.Scale, a) })
	c.neuronHash(sums, plain)
	spans(len(sums), uint64(c.Neurons), 1<<12, func(worker int, lo, hi uint64) {
		for n := uint32(lo); n < uint32(hi); n++ {
			lifted[worker] += c.rowHash(n)
			for k := c.Row[n]; k < c.Row[n+1]; k++ {
				to := &c.Areas[c.AreaOfPort(c.Target[k])]
				sums[worker] += synapseHash(n, c.Target[k], to.sum(c.Weight[k]), c.DelayOf(k))
			}
		}
	})
	for i := range sums {
		sums[i] -= lifted[i]
	}
}

// foldConstants folds the values of the area's k-th neuron.
func (a *Area) foldConstants(h uint64, k uint32) uint64 {
	for c := range a.Constants[:a.Model.Own()] {
		h = foldBits(h, a.Constants[c].At(k))
	}
	if a.Model.Chance != nil && !a.Model.AreaLevel {
		h = fold(h, a.Chance.At(k))
	}
	if a.Model.Has("until") {
		h = fold(fold(h, a.From), a.Until)
	}
	if a.Custom != nil && a.Custom.Refractory.Each != nil {
		h = fold(h, uint64(a.Custom.Refractory.Each[k]))
	}
	if a.Model.Has("spikes") {
		first, end := a.Spikes.Row[k], a.Spikes.Row[k+1]
		h = fold(h, uint64(end-first))
		for ; first < end; first++ {
			h = fold(h, a.Spikes.At(first))
		}
	}
	return h
}

func foldBits(h uint64, x float32) uint64 { return fold(h, uint64(math.Float32bits(x))) }

func (c *Connectome) rowHash(n uint32) uint64 {
	sum, r := uint64(0), rowBetween(c, c.Row[n], c.Row[n+1])
	weight := r.weight[:len(r.target)]
	if r.delay.None() {
		for k, target := range r.target {
			sum += synapseHash(n, target, weight[k], 1)
		}
		return sum
	}
	for k, target := range r.target {
		sum += synapseHash(n, target, weight[k], r.delay.At(uint64(k)))
	}
	return sum
}

func synapseHash(source, port uint32, weight int32, delay uint32) uint64 {
	return fold(fold(1, uint64(source)<<32|uint64(port)), uint64(delay>>8)<<40|uint64(uint32(weight))<<8|uint64(delay&0xff))
}

func fold(h, x uint64) uint64 { return exact.Mix(h*0x9e3779b97f4a7c15 + x) }

func areaHash(scale int32, a *Area) uint64 {
	h := fold(fold(2, uint64(scale)), uint64(a.Model.Number))
	whole := func(x uint64) { h = fold(h, x) }
	for c := a.Model.Own(); c < len(a.Constants); c++ {
		x := a.Constants[c].Const
		switch {
		case a.Model.Constants[c].Later && x == 0:
			// keeps the hash of networks from before this constant existed
		case a.Model.Constants[c].Later:
			whole(uint64(c))
			whole(uint64(x))
		case a.Model.Constants[c].Whole:
			whole(uint64(x))
		default:
			h = foldBits(h, x)
		}
	}
	if a.Model.Chance != nil && a.Model.AreaLevel {
		whole(a.Chance.Const)
	}
	if a.Model.Has("upstream") {
		whole(uint64(len(a.Upstream)))
		for _, area := range a.Upstream {
			whole(uint64(area))
		}
	}
	if a.Custom != nil {
		whole(uint64(a.Custom.Refractory.Const))
		for _, x := range a.Custom.Program.Words() {
			whole(x)
		}
	}
	for i := range a.Drives {
		d := &a.Drives[i]
		whole(uint64(d.Kind) + uint64(d.Port)<<8)
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
		if d.Own != nil {
			h = d.Own.fold(h)
		}
		if d.Moving != nil {
			h = d.Moving.fold(h)
		}
	}
	if a.Factor != nil {
		h = foldFactor(h, a.Factor)
	}
	return h
}
