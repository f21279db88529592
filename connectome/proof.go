package connectome

import (
	"fmt"
	"math"
	"slices"
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

// chooseScale takes the genome's scale, or finds the largest power of two ≤ 2^20 that keeps every bound ≤ 2^30; where an
// area divides its weights, the largest up to the one at which rounding them up adds at most 0.1 per cent.
// Bounds never shrink when the scale grows (rounding is monotone), so that
// the search need not try every exponent.
func (p *plan) chooseScale() {
	if p.g.Scale != 0 {
		p.scale = float64(p.g.Scale)
		return
	}
	top := p.topScale()
	lo, hi, guess := 0, top+1, top
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

// topScale is the exponent of the largest scale to try: the least with 2^k ≥ 1000·K for the largest divisor K, if any.
func (p *plan) topScale() int {
	if p.out == nil {
		return autoScale
	}
	k := 0
	for pow2(k) < float64(1000*float64(max(1, slices.Max(p.out)))) && pow2(k) < maxScale {
		k++
	}
	return k
}

func pow2(k int) float64 { return float64(uint64(1) << k) }

// checkWeights fixes constant weights and refuses those that round to nothing.
func (p *plan) checkWeights() error {
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.out != nil {
			continue // what is divided is rounded up
		}
		mean := float64(w.weight.Mean() * w.factor)
		if wrong := p.tooSmall(mean); wrong != "" {
			return p.g.Fault(w.weight.Pos, projectionKey(i, "weight"), "%s", wrong)
		}
		w.fixed = w.alike(p.scale)
		if err := p.checkRows(w); err != nil {
			return err
		}
	}
	return nil
}

// sums are the bounds of all ports at a scale, stimuli included, found without storing synapses; for a part those of the
// whole network, so that every part chooses one scale.
func (p *plan) sums(scale float64) []uint64 {
	sums := make([]uint64, p.inputs)
	sinks, counted := make([]sink, p.workers), make([][]counts, p.workers)
	for i := range sinks {
		counted[i] = p.newCounts(Part{})
		sinks[i] = &weigher{valuer{sums: sums, scale: scale, counted: counted[i]}}
	}
	p.sweep(sinks, all, Part{})
	p.addCounts(sums, counted, Part{}, scale)
	p.addDrives(sums, scale)
	p.addStimuli(sums, scale)
	return sums
}

// weigher adds |weight| to the sum of its port.
type weigher struct{ valuer }

func (a *weigher) take(w *wiring, b *batch) {
	if !w.varies() {
		a.count(w, b.target[:b.n], w.alike(a.scale))
		return
	}
	for i, t := range b.target[:b.n] {
		q, _ := w.quanta(b.source[i], b.ordinal[i], a.scale)
		atomic.AddUint64(&a.sums[w.port(t, q)], magnitude(q))
	}
}

// addDrives adds the bounds of every area's drives, all taken to act at once.
func (p *plan) addDrives(sums []uint64, scale float64) {
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		var up, down, either uint64 // what drives can add to ports for inputs ≥ 0, for those < 0, and for both
		for k := range a.Drives {
			more, less := p.driveBounds(a, &a.Drives[k], scale)
			up, down, either = up+more, down+less, either+max(more, less)
		}
		ports, neurons := p.ports[i], p.areas[i].Count
		for n := range ports.Count {
			switch bound := &sums[ports.First+n]; {
			case ports.Count == neurons:
				*bound += either
			case n < neurons:
				*bound += up
			default:
				*bound += down
			}
		}
	}
}

// driveBounds are the largest inputs of either sign that a drive makes in one burst.
func (p *plan) driveBounds(a *genome.Area, d *genome.Drive, scale float64) (up, down uint64) {
	var most int64
	switch {
	case d.Kind == genome.Poisson:
		events := len(poissonCounts(min(mostMean, poissonMean(d.Rate, p.g.Timestep))))
		most = int64(events) * quanta(d.Weight, scale)
	case d.Kind == genome.Noise:
		least := quanta(noiseAmount(d.Mean, d.SD, 0), scale)
		most = quanta(noiseAmount(d.Mean, d.SD, 2*noiseReach), scale)
		return uint64(max(0, most)), uint64(max(0, -least))
	case a.Model.Name == "feagi" || a.Model.Custom != nil:
		most = quanta(d.Value, scale)
	}
	return uint64(max(0, most)), uint64(max(0, -most))
}

// addStimuli adds the amounts of the genome's stimuli, all taken to act at once.
func (p *plan) addStimuli(sums []uint64, scale float64) {
	for i := range p.g.Stimuli {
		s := &p.g.Stimuli[i]
		for k, n := range s.Neurons {
			sums[p.port(s.Area, n, s.Amounts[k])] += magnitude(quanta(s.Amounts[k], scale))
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
		"neuron %d of area %q could receive %d quanta in one burst, more than %d, at scale %.0f; %s",
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
