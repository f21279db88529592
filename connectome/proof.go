package connectome

import (
	"fmt"
	"math"
	"sync/atomic"

	"burst/genome"
)

// Limits of scale, and what it must leave free when it is chosen automatically.
const (
	maxScale      = 1 << 24
	autoScale     = 20      // exponent of the largest automatic scale
	autoBound     = 1 << 30 // largest bound at an automatic scale
	refusedAlways = "not even scale: 1 fits; make weights or the number of synapses onto a neuron smaller"
)

// chooseScale takes the genome's scale, or finds the largest power of two ≤ 2^20 that keeps every bound ≤ 2^30.
// Bounds never shrink when the scale grows (rounding is monotone), so that
// the search need not try every exponent.
func (p *plan) chooseScale() {
	if p.g.Scale != 0 {
		p.scale = float64(p.g.Scale)
		return
	}
	lo, hi, guess := 0, autoScale+1, autoScale
	for hi-lo > 1 {
		found := worst(p.sums(pow2(guess)))
		if found <= autoBound {
			lo, guess = guess, guess+1
			continue
		}
		hi = guess
		for guess = hi - 1; guess > lo+1 && found/2 > autoBound; guess-- {
			found /= 2
		}
	}
	p.scale = pow2(lo)
}

func pow2(k int) float64 { return float64(uint64(1) << k) }

// checkWeights fixes constant weights and refuses those that round to nothing.
func (p *plan) checkWeights() error {
	for i := range p.wirings {
		w := &p.wirings[i]
		if wrong := p.tooSmall(w.weight.Mean()); wrong != "" {
			return p.g.Fault(w.weight.Pos, projectionKey(i, "weight"), "%s", wrong)
		}
		w.fixed = quanta(w.weight.A, p.scale)
		if err := p.checkRows(w); err != nil {
			return err
		}
	}
	return nil
}

// sums are the bounds of all ports at a scale, stimuli included, found without storing synapses.
func (p *plan) sums(scale float64) []uint64 {
	sums := make([]uint64, p.neurons)
	sinks := make([]sink, p.workers)
	for i := range sinks {
		sinks[i] = &weigher{sums: sums, scale: scale}
	}
	p.sweep(sinks, all)
	p.addDrives(sums, scale)
	p.addStimuli(sums, scale)
	return sums
}

// weigher adds |weight| to the sum of its port.
type weigher struct {
	sums  []uint64
	scale float64
}

func (a *weigher) take(w *wiring, b *batch) {
	q := quanta(w.weight.A, a.scale)
	for i, t := range b.target[:b.n] {
		if w.weights != nil {
			q = quanta(w.weights[b.ordinal[i]], a.scale)
		} else if w.weight.Kind != genome.Const {
			x, _ := w.weight.at(b.ordinal[i])
			q = quanta(x, a.scale)
		}
		atomic.AddUint64(&a.sums[w.to.First+t], magnitude(q))
	}
}

// addDrives adds the bounds of every area's drives, all taken to act at once.
func (p *plan) addDrives(sums []uint64, scale float64) {
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		bound := uint64(0)
		for k := range a.Drives {
			switch d := &a.Drives[k]; {
			case d.Kind == genome.Poisson:
				events := uint64(len(poissonCounts(min(mostMean, poissonMean(d.Rate, p.g.Timestep)))))
				bound += events * magnitude(quanta(d.Weight, scale))
			case a.Model.Name == "feagi":
				bound += magnitude(quanta(d.Value, scale))
			}
		}
		for n := p.areas[i].First; n < p.areas[i].End(); n++ {
			sums[n] += bound
		}
	}
}

// addStimuli adds the amounts of the genome's stimuli, all taken to act at once.
func (p *plan) addStimuli(sums []uint64, scale float64) {
	for i := range p.g.Stimuli {
		s := &p.g.Stimuli[i]
		for k, n := range s.Neurons {
			sums[p.areas[s.Area].First+n] += magnitude(quanta(s.Amounts[k], scale))
		}
	}
}

// worst is the largest sum, 0 when there is none.
func worst(sums []uint64) uint64 {
	largest := uint64(0)
	for _, s := range sums {
		largest = max(largest, s)
	}
	return largest
}

// prove fills c.Bound from the sums of |weight| and refuses the genome if any acc could leave int32.
func (p *plan) prove(c *Connectome, sums []uint64) error {
	p.addDrives(sums, p.scale)
	c.Bound = make([]uint32, len(sums))
	for port, s := range sums {
		c.Bound[port] = uint32(min(s, math.MaxUint32))
	}
	p.addStimuli(sums, p.scale)
	for port, s := range sums {
		if s > math.MaxInt32 {
			c.Target, c.Weight, c.Delay = nil, nil, nil // the search below needs the memory
			return p.overflows(c, uint32(port), s)
		}
	}
	return nil
}

// overflows is the refusal for a port whose inputs could sum to more than int32 holds.
func (p *plan) overflows(c *Connectome, port uint32, sum uint64) error {
	n := c.NeuronOf(port)
	i := c.AreaOf(n)
	advice := refusedAlways
	if fits := p.largestScale(sum); fits > 0 {
		advice = fmt.Sprintf("the largest scale that fits is %d", fits)
	}
	return p.g.Fault(p.g.Areas[i].Pos, fmt.Sprintf("areas[%d]", i),
		"neuron %d of area %q could receive %d quanta in one burst, more than %d, at scale %v; %s",
		n-c.Areas[i].Neurons.First, c.Areas[i].Name, sum, math.MaxInt32, p.scale, advice)
}

// largestScale is the largest scale below the present one at which every bound fits int32, 0 when none does. sum is the
// bound that did not; bounds are nearly proportional to the scale, so that a few guesses close in.
func (p *plan) largestScale(sum uint64) uint64 {
	lo, hi := uint64(0), uint64(p.scale)
	guess := proportional(hi, sum)
	for tries := 0; hi-lo > 1; tries++ {
		if tries > 6 {
			guess = lo + (hi-lo)/2
		}
		guess = min(max(guess, lo+1), hi-1)
		found := worst(p.sums(float64(guess)))
		near := proportional(guess, found)
		if found <= math.MaxInt32 {
			lo, guess = guess, max(near, guess+1)
		} else {
			hi, guess = guess, min(near, guess-1)
		}
	}
	return lo
}

// proportional is the scale at which a sum found at a scale would reach the limit.
func proportional(scale, sum uint64) uint64 {
	return uint64(float64(scale) / float64(max(sum, 1)) * math.MaxInt32)
}
