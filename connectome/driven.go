package connectome

import (
	"math"
	"slices"

	"burst/internal/quanta"
)

// Driven are the synapses whose source's area has a psp_max: what a spike delivers follows from the potential at which it was fired,
// its amplitude. They have rows of their own, sorted like those of the Connectome, and are not in those. In a part of a network they
// are those of the part.
type Driven struct {
	Row    []uint64 // Neurons+1 entries; synapses of neuron n are Row[n] ≤ k < Row[n+1]; nil if the synapses are not here (see Parts)
	Target []uint32 // port
	Weight []int32  // factor of the amplitude, in quanta, not lifted
	Delay  []uint8  // bursts, 1…255; nil if all are 1
	Divide []int32  // per neuron, what its spikes divide by; 0: nothing. nil: no area divides
}

// Synapses is the number of the driven synapses of the part; of none it is 0.
func (d *Driven) Synapses() uint64 {
	if d == nil {
		return 0
	}
	return uint64(len(d.Target))
}

// DelayOf is the delay of synapse k in bursts.
func (d *Driven) DelayOf(k uint64) uint32 {
	if d.Delay == nil {
		return 1
	}
	return uint32(d.Delay[k])
}

// AmplitudeLists is for how many of the newest fire queues a state has the amplitudes: as many as delays of driven synapses may have bursts.
func (c *Connectome) AmplitudeLists() int {
	if c.Driven == nil {
		return 0
	}
	return min(c.MaxDelay, quanta.MaxApart)
}

// Amplitude is a potential in quanta, to nearest, ties away from zero; where the potential is above 0 at least 1, where it is below 0.
// It is false if the amplitude is beyond most.
func Amplitude(v float32, scale, most int32) (quanta int32, ok bool) {
	if v <= 0 {
		return 0, true
	}
	x := float64(float64(v) * float64(scale))
	whole := math.Floor(x)
	if x-whole >= 0.5 || whole == 0 {
		whole++
	}
	if !(whole <= float64(most)) {
		return 0, false
	}
	return int32(whole), true
}

// Delivers is what a synapse of a factor delivers of an amplitude, both in quanta, before it is lifted: factor·amplitude/scale to
// nearest, ties away from zero, but not to 0 unless the product is 0; divided by by > 0 it is rounded up in size, as weights that
// stay are.
func Delivers(factor, amplitude, scale, by int32) int64 {
	product := int64(factor) * int64(amplitude)
	size := quanta.Magnitude(product)
	if by > 0 {
		among := uint64(scale) * uint64(by)
		size = (size + among - 1) / among
	} else if size > 0 {
		size = max(1, (size+uint64(scale)/2)/uint64(scale))
	}
	if product < 0 {
		return -int64(size)
	}
	return int64(size)
}

// DivideOf is what the spikes of a neuron divide by; 0: nothing.
func (d *Driven) DivideOf(n uint32) int32 {
	if d.Divide == nil {
		return 0
	}
	return d.Divide[n]
}

// pspMax is the largest amplitude of an area's spikes in quanta; 0: they have none.
func (p *plan) pspMax(area int) int32 {
	if p.g.Areas[area].PSPMax == 0 {
		return 0
	}
	return max(1, quanta.Clamp(quanta.Of(p.g.Areas[area].PSPMax, p.scale)))
}

// drivenBound is the most that a synapse can deliver in size, lifted.
func (w *wiring) drivenBound(source uint32, q int64, scale float64) uint64 {
	most := quanta.Of(w.drives, scale)
	if quanta.Magnitude(q) >= quanta.Overflow || most >= quanta.Overflow {
		return quanta.Overflow
	}
	by := int32(1) // rounded up: of merged synapses the sum is rounded, not each
	if w.out != nil {
		by = int32(max(1, w.out[source]))
	}
	d := Delivers(int32(q), int32(most), int32(scale), by)
	if d = max(d, -d); d >= quanta.Overflow {
		return quanta.Overflow
	}
	return quanta.Magnitude(lift(-d, w.lifting))
}

// leastThreshold is a lower bound of an area's thresholds.
func (p *plan) leastThreshold(area int) float64 {
	a := &p.g.Areas[area]
	least := a.Params["threshold"]
	if v, varied := a.Varied["threshold"]; varied {
		least = slices.Min(v.Each)
	}
	for i, by := range a.Gradient {
		least += math.Min(0, float64(by*float64(max(a.Size[i], 1)-1)))
	}
	return least
}

// makeDriven makes the synapses of all driven projections that do not learn; where all do, there are rows without synapses. Those that
// merge do it among themselves: they lead from the same area.
func (p *plan) makeDriven(c *Connectome, sums []uint64, progress *meter) error {
	if c.Driven = p.divisors(); c.Driven == nil {
		return nil
	}
	driven := slices.DeleteFunc(p.driven(), func(w *wiring) bool { return w.learns != nil })
	if len(driven) == 0 {
		c.Driven.Row = make([]uint64, c.Neurons+1)
		return nil
	}
	rows := &Connectome{Neurons: c.Neurons, MaxDelay: 1, Part: c.Part}
	if err := p.only(driven...).wire(rows, sums, progress); err != nil {
		return err
	}
	c.ByRule += rows.ByRule
	c.MaxDelay = max(c.MaxDelay, rows.MaxDelay)
	c.Driven.Row, c.Driven.Target, c.Driven.Weight, c.Driven.Delay = rows.Row, rows.Target, rows.Weight, rows.Delay.Short
	return nil
}

// driven are the projections from areas with a psp_max.
func (p *plan) driven() (list []*wiring) {
	for i := range p.wirings {
		if w := &p.wirings[i]; w.drives > 0 {
			list = append(list, w)
		}
	}
	return list
}

// divisors are their Driven without synapses; nil if there are no such projections.
func (p *plan) divisors() *Driven {
	driven := p.driven()
	if len(driven) == 0 {
		return nil
	}
	d := &Driven{}
	for _, w := range driven {
		if w.out != nil && d.Divide == nil {
			d.Divide = make([]int32, p.neurons)
		}
		for i, n := range w.out {
			d.Divide[w.from.First+uint32(i)] = int32(max(1, n))
		}
	}
	return d
}

// drivenHash adds to the workers' sums the share of driven synapses in Hash.
func (c *Connectome) drivenHash(sums []uint64) {
	d := c.Driven
	if d == nil {
		return
	}
	spans(len(sums), uint64(c.Neurons), 1<<12, func(worker int, lo, hi uint64) {
		for n := uint32(lo); n < uint32(hi); n++ {
			if d.Row[n] == d.Row[n+1] {
				continue
			}
			head := fold(4, uint64(d.DivideOf(n))<<32|uint64(c.Areas[c.AreaOf(n)].PSPMax))
			for k := d.Row[n]; k < d.Row[n+1]; k++ {
				sums[worker] += fold(head, synapseHash(n, d.Target[k], d.Weight[k], d.DelayOf(k)))
			}
		}
	})
}

// cut returns the driven synapses of a part.
func (d *Driven) cut(c *Connectome, part Part) *Driven {
	if d == nil {
		return nil
	}
	cut := &Driven{Row: make([]uint64, len(d.Row)), Target: []uint32{}, Weight: []int32{}, Divide: d.Divide}
	longest := uint32(1)
	for n := range c.Neurons {
		for k := d.Row[n]; k < d.Row[n+1]; k++ {
			if part.Owns(c.NeuronOf(d.Target[k])) {
				cut.Target, cut.Weight, cut.Delay = append(cut.Target, d.Target[k]), append(cut.Weight, d.Weight[k]), append(cut.Delay, uint8(d.DelayOf(k)))
				longest = max(longest, d.DelayOf(k))
			}
		}
		cut.Row[n+1] = uint64(len(cut.Target))
	}
	if longest == 1 {
		cut.Delay = nil
	}
	return cut
}
