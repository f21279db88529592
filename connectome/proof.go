package connectome

import (
	"fmt"
	"math"
	"slices"

	"burst/genome"
	"burst/internal/quanta"
)

// Limits of scale, and what it must leave free when it is chosen automatically.
const (
	autoScale     = 20      // exponent of the largest automatic scale
	autoBound     = 1 << 30 // largest bound at an automatic scale
	leastScale    = 1 << 10 // down to which an automatic scale is halved for weights without a ceiling
	refusedAlways = "not even scale: 1 fits; make weights or the number of synapses onto a neuron smaller"
)

// chooseScale takes the genome's scale, or finds the largest power of two ≤ 2^20 that keeps every bound ≤ 2^30; where an
// area divides its weights, the largest up to the one at which rounding them up adds at most 0.1 per cent. A smaller one where weights
// that learn cannot start from their quanta at that.
func (p *plan) chooseScale() {
	if p.g.Scale != 0 {
		p.scale = float64(p.g.Scale)
		return
	}
	top, exact := p.topScale(), float64(p.exactScale())
	for top > 0 && float64(exact*pow2(top)) > pow2(p.topScale()) {
		top--
	}
	if exact > pow2(p.topScale()) {
		top, exact = p.topScale(), 1
	}
	best := p.largestFit(exact, top)
	if best == 0 && exact > 1 && worst(p.sums(exact)) > autoBound {
		exact, best = 1, p.largestFit(1, p.topScale())
	}
	p.scale = p.startScale(exact, best)
	for p.mayFail() && p.scale >= float64(2*leastScale) && p.halves() {
		p.scale /= 2
	}
}

// largestFit is the largest k ≤ top with which every sum at the scale unit·2^k is at most autoBound, 0 if there is none. Sums never
// shrink when the scale grows (rounding is monotone). Forecasts mostly settle it. Where they do not, the synapses onto areas in doubt are
// drawn, first those of the one that receives most. One pass at the scales where a guess has the largest that fits and at its neighbours
// is mostly enough.
func (p *plan) largestFit(unit float64, top int) int {
	guess := p.guess(unit, top)
	seen := make([]outlooks, top+1)
	at := func(k int) *outlooks {
		if seen[k].areas == nil {
			seen[k] = p.forecasts(float64(unit * pow2(k)))
		}
		return &seen[k]
	}
	hi := firstFrom(min(guess, top)+1, top, func(k int) bool { return at(k).whole.low > autoBound })
	lo := 0
	if !at(min(guess, top)).blind() {
		lo = firstFrom(hi, hi-1, func(k int) bool { return at(k).whole.high > autoBound }) - 1
	}
	for k := lo + 1; k < hi && hi-lo < 5 && !at(k).blind(); k++ {
		if few := p.fewOnto(at(k).areas); few != nil && worst(p.sumsAt(few, float64(unit*pow2(k)))[0]) > autoBound {
			hi = k
		}
	}
	for hi-lo > 1 {
		first, last := max(lo+1, min(guess-1, hi-1)), min(hi-1, max(guess+1, lo+1))
		if guess > top {
			first = min(top, hi-1)
		}
		if !p.roomToTry() {
			first, last = min(max(guess, first), last), min(max(guess, first), last)
		}
		var scales []float64
		for k := first; k <= last; k++ {
			scales = append(scales, float64(unit*pow2(k)))
		}
		guess = hi - 1
		doubtful := func(w *wiring) bool { return w.whole != nil || at(last).areas[w.p.To].high > autoBound }
		for i, sums := range p.sumsAt(doubtful, scales...) {
			found := worst(sums)
			if found <= autoBound {
				lo = first + i
				continue
			}
			hi = first + i
			for guess = hi - 1; guess > lo+1 && found/2 > autoBound; guess-- {
				found /= 2
			}
			break
		}
	}
	return lo
}

// fewOnto are the synapses onto the area that receives most, if they are few of those onto all areas in doubt; else nil.
func (p *plan) fewOnto(areas []forecast) func(w *wiring) bool {
	most, onto, sum := 0, make([]uint64, len(areas)), uint64(0)
	for i := range p.wirings {
		if w := &p.wirings[i]; areas[w.p.To].high > autoBound {
			onto[w.p.To] += w.synapses
			sum += w.synapses
		}
	}
	for i := range areas {
		if areas[i].low > areas[most].low {
			most = i
		}
	}
	if onto[most] > sum/4 {
		return nil
	}
	return func(w *wiring) bool { return w.p.To == most }
}

// firstFrom is the least k, 1 ≤ k ≤ last, from which on something holds, and last+1 if it never does. It looks near start first.
func firstFrom(start, last int, holds func(k int) bool) int {
	k := start
	for k > 1 && holds(k-1) {
		k--
	}
	for k <= last && !holds(k) {
		k++
	}
	return k
}

// roomToTry says that sums at three scales take less than the synapses will.
func (p *plan) roomToTry() bool { return p.synapses() >= 4*p.inputs }

// guess is about the largest k with which no sum at the scale unit·2^k is above autoBound, from the mean number of synapses and their
// mean weight; more than top where even half of that is left.
func (p *plan) guess(unit float64, top int) int {
	scale := float64(unit * pow2(top))
	drives := make([]uint64, p.inputs)
	p.addDrives(drives, scale)
	p.addStimuli(drives, scale)
	rest := float64(worst(drives))
	into := make(map[uint32]float64) // by the first port that takes the weights
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.units() == 0 {
			continue
		}
		x := math.Abs(float64(w.weight.Mean() * w.factor))
		if w.weights != nil {
			x = 0
			for _, weight := range w.weights {
				x += math.Abs(weight) / float64(len(w.weights))
			}
		}
		if w.learns != nil && !w.learns.Fail {
			x = max(x, math.Abs(float64(w.low)), math.Abs(float64(w.high)))
		}
		if w.drives > 0 {
			x *= w.drives
		}
		each := float64(w.synapses) / float64(max(1, w.to.Count)) * float64(max(1, w.lift))
		into[w.port(0, int64(math.Copysign(1, w.weight.Mean())), 0)] += float64(x*scale) * each
	}
	most := rest
	for _, sum := range into {
		most = max(most, sum+rest)
	}
	k := top + 1
	for ; k > 1 && most > autoBound/2; k-- {
		most /= 2
	}
	return k
}

// topScale is the exponent of the largest scale to try: the least with 2^k ≥ 1000·K for the largest divisor K, if any.
func (p *plan) topScale() int {
	if p.out == nil {
		return autoScale
	}
	k := 0
	for pow2(k) < float64(1000*float64(max(1, slices.Max(p.out)))) && pow2(k) < quanta.MaxScale {
		k++
	}
	return k
}

func pow2(k int) float64 { return float64(uint64(1) << k) }

// checkWeights fixes constant weights and refuses those that round to nothing.
func (p *plan) checkWeights() error {
	for i := range p.wirings {
		w := &p.wirings[i]
		if w.out != nil || w.weight.Kind == genome.Distance {
			continue // divided weights are rounded up; a formula's may be 0 here and there
		}
		mean := float64(w.weight.Mean() * w.factor)
		if wrong := quanta.TooSmall(mean, p.scale); wrong != "" {
			return p.g.ProjectionFault(i, w.weight.Pos, "weight", "%s", wrong)
		}
		w.fixed = w.constant(p.scale)
		if err := p.checkRows(w); err != nil {
			return err
		}
	}
	return nil
}

// sums are the bounds of all ports at a scale, stimuli included, found without storing synapses; for a part those of the
// whole network, so that every part chooses one scale.
func (p *plan) sums(scale float64) []uint64 { return p.sumsAt(all, scale)[0] }

// sumsAt is sums at each of some scales, for which synapses are drawn once; unwanted ones are left out, unless they need not be drawn.
func (p *plan) sumsAt(wanted func(*wiring) bool, scales ...float64) [][]uint64 {
	sums, sinks, values := make([][]uint64, len(scales)), make([]sink, p.workers), make([][]valuer, len(scales))
	for k := range sums {
		sums[k], values[k] = make([]uint64, p.inputs), make([]valuer, p.workers)
		for i := range values[k] {
			values[k][i] = valuer{sums: sums[k], scale: scales[k], histograms: p.newHistograms(Part{})}
		}
	}
	for i := range sinks {
		a := &weigher{}
		for k := range values {
			a.at = append(a.at, &values[k][i])
		}
		sinks[i] = a
	}
	p.draw(sinks, func(w *wiring) bool { _, known := w.onto(); return !known && wanted(w) }, Part{})
	for k, scale := range scales {
		p.addHistograms(sums[k], values[k], Part{}, scale)
		p.addDrives(sums[k], scale)
		p.addStimuli(sums[k], scale)
	}
	return sums
}

// weigher adds |weight| to the sum of its port, at each scale.
type weigher struct{ at []*valuer }

func (a *weigher) take(w *wiring, b *batch) {
	if !w.varies() {
		for _, v := range a.at {
			v.count(w, b.target[:b.n], w.constant(v.scale))
		}
		return
	}
	amounts := a.at[0].amounts(w, b)
	for _, v := range a.at {
		v.weighAll(w, b, amounts)
	}
}

// addDrives adds the bounds of every area's drives, as if all acted in the same burst.
func (p *plan) addDrives(sums []uint64, scale float64) {
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		most := make([]uint64, len(a.Model.Ports)) // what drives can add to each of a neuron's ports
		for k := range a.Drives {
			if injectsEach(a.Model, &a.Drives[k]) {
				continue // see addStimuli
			}
			up, down := p.driveBounds(i, &a.Drives[k], scale)
			switch port := a.Drives[k].Port; {
			case len(most) == 0:
			case port > 0:
				most[port-1] += max(up, down)
			case len(most) == 1:
				most[0] += max(up, down)
			default:
				most[0], most[1] = most[0]+up, most[1]+down
			}
		}
		ports, neurons := p.ports[i], p.areas[i].Count
		spans(p.workers, uint64(ports.Count), 1<<16, func(_ int, lo, hi uint64) {
			for n := uint32(lo); n < uint32(hi); n++ {
				sums[ports.First+n] += most[n/neurons]
			}
		})
	}
}

// driveBounds are the largest inputs of either sign that a drive makes in one burst, of neurons that differ with the largest rate of any.
func (p *plan) driveBounds(i int, d *genome.Drive, scale float64) (up, down uint64) {
	lifted := func(x float64) int64 { return lift(quanta.Of(x, scale), p.lifts[i]) }
	events := int64(1)
	if d.Kind == genome.Poisson {
		events = int64(p.mostEvents(d))
	}
	for n := range p.differing(i, d) {
		one := d.Of(n)
		for _, f := range extremes(d) {
			var least, most int64
			switch {
			case d.Kind == genome.Poisson:
				most = events * lifted(one.Weight)
				least = most
			case d.Kind == genome.Noise:
				mean, sd := float64(one.Mean*f), float64(one.SD*f)
				for _, step := range [...]int{0, 2 * noiseReach} {
					x := lifted(noiseAmount(mean, sd, step))
					least, most = min(least, x), max(most, x)
				}
			case p.g.Areas[i].Model.Term == nil:
				most = lifted(float64(d.Value * f))
				least = most
			}
			up, down = max(up, uint64(max(0, most))), max(down, uint64(max(0, -least)))
		}
	}
	return up, down
}

// mostEvents is the largest number of events that a Poisson drive makes in one burst.
func (p *plan) mostEvents(d *genome.Drive) int {
	mean := poissonMean(mostRate(d), p.g.Timestep)
	if d.Factor != nil {
		mean = float64(mean * max(d.Factor.Hi, 0))
	}
	return len(poissonCounts(min(mostMean, mean)))
}

// mostRate is the largest rate of any neuron's Poisson drive, in Hz, without its factor.
func mostRate(d *genome.Drive) float64 {
	if d.Rates != nil {
		return slices.Max(d.Rates)
	}
	return d.Rate
}

// addStimuli adds the amounts of the genome's stimuli, as if all acted in the same burst.
func (p *plan) addStimuli(sums []uint64, scale float64) {
	for i := range p.stimuli {
		s := &p.stimuli[i]
		for k, n := range s.Neurons {
			sums[p.port(s, n, s.Amounts[k])] += quanta.Magnitude(lift(quanta.Of(s.Amounts[k], scale), p.lifts[s.Area]))
		}
	}
}

// worst is the largest sum; 0 if there is none.
func worst(sums []uint64) uint64 {
	largest := uint64(0)
	for _, s := range sums {
		largest = max(largest, s)
	}
	return largest
}

// prove sets c.Bound from the sums of |weight|, and refuses the genome if any acc could exceed int32.
func (p *plan) prove(c *Connectome, sums []uint64) error {
	p.addDrives(sums, p.scale)
	c.Bound = make([]uint32, len(sums))
	spans(p.workers, uint64(len(sums)), 1<<16, func(_ int, lo, hi uint64) {
		for port := lo; port < hi; port++ {
			c.Bound[port] = uint32(min(sums[port], math.MaxUint32))
		}
	})
	p.addStimuli(sums, p.scale)
	if worst(sums) <= math.MaxInt32 {
		return nil
	}
	port := slices.IndexFunc(sums, func(s uint64) bool { return s > math.MaxInt32 })
	c.Target, c.Weight, c.Delay = nil, nil, Delays{} // the search needs the memory
	return p.overflows(c, uint32(port), sums[port])
}

// overflows is the error for a port whose inputs could sum to more than int32 holds.
func (p *plan) overflows(c *Connectome, port uint32, sum uint64) error {
	i := c.AreaOfPort(port)
	n, _ := c.Areas[i].Input(port)
	advice := refusedAlways
	if fits := p.largestScale(sum); fits > 0 {
		advice = fmt.Sprintf("the largest scale that fits is %d", fits)
	}
	if slices.ContainsFunc(p.wirings, func(w wiring) bool { return w.drives > 0 }) {
		advice += ", or a smaller psp_max"
	}
	return p.g.Fault(p.g.Areas[i].Pos, fmt.Sprintf("areas[%d]", i),
		"neuron %d of area %q could receive %d quanta in one burst%s, more than %d, at scale %.0f; %s",
		n, c.Areas[i].Name, sum, c.Areas[i].PortName(port), math.MaxInt32, p.scale, advice)
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
