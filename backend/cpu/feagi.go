package cpu

import (
	"math"
	"math/bits"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
)

// feagi are the constants of a feagi area.
type feagi struct {
	threshold                     connectome.Param
	limit, leakAmount, keep       float32
	refractory, fireLimit, snooze uint16
	accumulate, asFEAGI           bool
	excitability                  float32
	below                         uint64 // as connectome.Chance
	rectify                       int64  // what amounts are lifted by; 0: not
	recovers                      bool
	drives                        bool               // potentials drive what spikes deliver:
	amplitudes                    []engine.Amplitude // those of the burst in progress
	wrong                         error              // of the first beyond its bound
}

func prepareFEAGI(w *worker, g *group) {
	k := g.k
	g.feagi = &feagi{
		threshold: g.area.Constants[0], limit: k[1], leakAmount: k[3], keep: k[4], refractory: uint16(k[5]), fireLimit: uint16(k[6]), snooze: uint16(k[7]),
		accumulate: k[8] != 0, asFEAGI: k[9] != 0, excitability: k[10], below: g.area.Chance.Const,
		rectify: int64(k[11]), recovers: k[12] != 0 && k[5]+k[7] > 0,
		drives: w.b.c.Driven != nil && g.area.PSPMax > 0,
	}
}

// updateFEAGI is step 4 of feagi for the group's candidates.
func (w *worker) updateFEAGI(g *group) {
	f := g.feagi
	if f.recovers {
		w.recover(g)
	}
	plain := f.rectify == 0 && !f.recovers && f.fireLimit == 0 && !f.asFEAGI && f.below == 1<<32 && f.threshold.Each == nil
	switch {
	case f.drives:
		w.updateDrivenFEAGI(g)
	case !plain:
		w.updateEachFEAGI(g)
	case w.looks(g):
		w.updatePlainFEAGI(g)
	default:
		w.updateFewFEAGI(g)
	}
}

// updateEachFEAGI is step 4 for candidates with any parameters.
func (w *worker) updateEachFEAGI(g *group) {
	f, scale := g.feagi, float32(w.b.c.Scale)
	for _, h := range w.found(g, 0, true) {
		for m := h.mask; m != 0; m &= m - 1 {
			i := h.block*64 + uint32(bits.TrailingZeros64(m))
			sum := w.acc[g.slot+i]
			if sum == 0 { // 4a, in recover
				continue
			}
			w.acc[g.slot+i] = 0 // 7
			if sum = connectome.Unlift(sum, f.rectify); sum < 0 && f.rectify != 0 && f.accumulate {
				sum = 0
			}
			if n := w.b.own.Neuron(g.lo + i); w.candidate(g, n, i, float32(sum)/scale) {
				g.fired = append(g.fired, n)
			}
		}
	}
}

// recover is 4a where it is for every neuron. Who is refractory loses its input here.
func (w *worker) recover(g *group) {
	f := g.feagi
	acc, count := w.acc[g.slot:g.slot+g.run], g.count
	for i, r := range g.r {
		if r == 0 {
			continue
		}
		g.r[i] = r - 1
		if r == 1 && f.fireLimit != 0 && count[i] >= f.fireLimit {
			count[i] = 0
		}
		acc[i] = 0 // 7
	}
}

// updateFewFEAGI is step 4 for neurons with equal parameters, without fire_limit and with excitability 1, if few of them are
// candidates. It makes no calls in its loop: candidates lie far apart, and the processor can then load the next ones early.
func (w *worker) updateFewFEAGI(g *group) {
	f, scale := g.feagi, float32(w.b.c.Scale)
	threshold, limit, keep, leak := f.threshold.Const, f.limit, f.keep, f.leakAmount
	acc, v, r := w.acc[g.slot:g.slot+g.run], g.v, g.r
	hits := w.words(w.hits[:0], g.slot, g.run, true)
	w.hits = hits
	for _, h := range hits {
		for m := h.mask; m != 0; m &= m - 1 {
			i := h.block*64 + uint32(bits.TrailingZeros64(m))
			sum := acc[i]
			if sum == 0 {
				continue
			}
			acc[i] = 0    // 7
			if r[i] > 0 { // 4a
				r[i]--
				continue
			}
			x := float32(sum) / scale // 4b
			if f.accumulate {
				x += v[i]
			}
			if threshold <= x && x <= limit { // 4c
				g.fire(i)
				g.fired = append(g.fired, w.b.own.Neuron(g.lo+i))
				continue
			}
			x = float32(x * keep) // 4d
			if leak > 0 && x > 0 {
				x = max(x-leak, 0)
			}
			v[i] = kept(f, x)
		}
	}
}

// updatePlainFEAGI is step 4 for the same neurons as updateFewFEAGI; it goes through all of them.
func (w *worker) updatePlainFEAGI(g *group) {
	f := g.feagi
	w.forget(g, 0)
	w.feagiConstants = vector.FEAGI{
		Threshold: f.threshold.Const, Limit: f.limit, Keep: f.keep, LeakAmount: f.leakAmount, Scale: float32(w.b.c.Scale),
		Refractory: uint32(f.refractory), Accumulate: ones(f.accumulate), Leaks: ones(f.leakAmount > 0),
	}
	words := w.bits[:g.run/64]
	w.b.kernels.FEAGI(&w.feagiConstants, w.acc[g.slot:g.slot+g.hi-g.lo], g.v, g.r, words)
	for b, m := range words {
		for ; m != 0; m &= m - 1 {
			i := uint32(64*b + bits.TrailingZeros64(m))
			if g.count[i] < math.MaxUint16 {
				g.count[i]++
			}
			g.fired = append(g.fired, w.b.own.Neuron(g.lo+i))
		}
	}
}

func ones(is bool) uint32 {
	if is {
		return math.MaxUint32
	}
	return 0
}

// candidate is step 4 for candidate n, which is the i-th of the group. It reports whether the neuron fires.
func (w *worker) candidate(g *group, n, i uint32, input float32) bool {
	f := g.feagi
	if r := g.r[i]; r > 0 { // 4a
		g.r[i] = r - 1
		if r == 1 && f.fireLimit != 0 && g.count[i] >= f.fireLimit {
			g.count[i] = 0
		}
		return false
	}
	v := input // 4b
	if f.accumulate {
		v = g.v[i] + input
	}
	if f.threshold.At(n-g.area.Neurons.First) <= v && v <= f.limit { // 4c
		if f.fireLimit != 0 && g.count[i] >= f.fireLimit {
			g.count[i] = 0
			g.v[i] = kept(f, v)
			return false
		}
		if f.below == 1<<32 && !f.asFEAGI || excited(f, w.b.c.RunSeed, n, w.now) {
			g.fire(i)
			return true
		}
	}
	if f.fireLimit != 0 { // 4d
		g.count[i] = 0
	}
	v = float32(v * f.keep)
	if v > 0 {
		v = max(v-f.leakAmount, 0)
	}
	g.v[i] = kept(f, v)
	return false
}

// kept is what the leak leaves of a potential.
func kept(f *feagi, v float32) float32 {
	if f.accumulate {
		return v
	}
	return 0
}

// fire resets the i-th feagi neuron after it fired.
func (g *group) fire(i uint32) {
	f := g.feagi
	g.v[i] = 0
	if g.count[i] < math.MaxUint16 {
		g.count[i]++
	}
	g.r[i] = f.refractory
	if f.fireLimit != 0 && g.count[i] >= f.fireLimit {
		g.r[i] = uint16(min(uint32(f.refractory)+uint32(f.snooze), math.MaxUint16))
	}
}

// excited draws whether the excitability lets neuron n fire in burst t.
func excited(f *feagi, seed uint64, n uint32, t uint64) bool {
	if !f.asFEAGI {
		return uint64(exact.Draw(seed, exact.Excitability, uint64(n), t)[0]) < f.below
	}
	switch {
	case f.excitability >= 0.999:
		return true
	case f.excitability <= 0:
		return false
	}
	return float32(exact.FEAGIHash(n, uint32(t)+1))/(1<<32) < f.excitability
}
