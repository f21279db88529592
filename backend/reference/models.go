package reference

import (
	"fmt"
	"math"

	"burst/connectome"
	"burst/genome"
	"burst/internal/exact"
)

// law is step 4 of a model. It updates the i-th neuron of a, which has constants k in the order of the model's descriptor,
// and reports whether the neuron fires.
type law func(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool

// lawOf is that of a model.
func lawOf(m *genome.Model) law {
	switch m.Kind() {
	case "feagi":
		return feagi
	case "lif":
		return lif
	case "lif_psc_exp":
		return pscExp
	case "izhikevich":
		return izhikevich
	case "lif_event":
		return lifEvent
	case "lif_psc_exp_event":
		return pscExpEvent
	case "poisson":
		return poisson
	case "spike_list":
		return spikeList
	case "memory":
		return memory
	case "custom":
		return custom
	}
	panic(fmt.Sprintf("BUG: model %s without a law", m.Name))
}

func feagi(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool {
	candidate, recovers := b.acc[a.Ports.First+i] != 0, k[12] != 0
	if !candidate && !recovers {
		return false
	}
	threshold, limit, leakAmount, keep := k[0], k[1], k[3], k[4]
	refractory, fireLimit, snooze, accumulate := uint16(k[5]), uint16(k[6]), uint16(k[7]), k[8] != 0
	input, n := float32(connectome.Unlift(b.acc[a.Ports.First+i], int64(k[11])))/float32(b.c.Scale), a.Neurons.First+i
	v, r, count := &b.state.V[n], &b.state.Refractory[n], &b.state.Count[n]
	blocked := func() bool { return fireLimit != 0 && *count >= fireLimit }

	if *r > 0 { // 4a
		*r--
		if *r == 0 && blocked() {
			*count = 0
		}
		return false
	}
	if !candidate {
		return false
	}

	if rectify := k[11] != 0; accumulate && rectify && input < 0 { // 4b
		input = 0
	}
	if accumulate {
		*v += input
	} else {
		*v = input
	}

	if threshold <= *v && *v <= limit { // 4c
		if blocked() {
			*count = 0
			if !accumulate {
				*v = 0
			}
			return false
		}
		if excited(b, a, k, n, t) {
			b.amplitude(a, n, *v)
			*v = 0
			*count = uint16(min(uint32(*count)+1, math.MaxUint16))
			*r = refractory
			if blocked() {
				*r = uint16(min(uint32(refractory)+uint32(snooze), math.MaxUint16))
			}
			return true
		}
	}

	if fireLimit != 0 { // 4d
		*count = 0
	}
	*v = float32(*v * keep)
	if leakAmount > 0 && *v > 0 {
		*v = max(*v-leakAmount, 0)
	}
	if !accumulate {
		*v = 0
	}
	return false
}

// excited draws whether the excitability lets neuron n fire.
func excited(b *backend, a *connectome.Area, k []float32, n uint32, t uint64) bool {
	asFEAGI, excitability := k[9] != 0, k[10]
	if !asFEAGI {
		x := exact.Draw(b.c.RunSeed, exact.Excitability, uint64(n), t)[0]
		return uint64(x) < a.Chance.Const
	}
	return excitability >= 0.999 || float32(exact.FEAGIHash(n, uint32(t)+1))/(1<<32) < excitability
}

func lif(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool {
	em1, threshold, reset, refractory := k[0], k[1], k[2], uint16(k[3])
	input, drive, n := b.input(a, i, 0), a.TermOf(t, i), a.Neurons.First+i
	v, r := &b.state.V[n], &b.state.Refractory[n]
	if *r > 0 { // 4a
		*r--
		return false
	}
	*v = *v + (float32(em1**v) + drive) + input // 4b
	if *v >= threshold {                        // 4c
		*v = reset
		*r = refractory
		return true
	}
	return false
}

// pscExp is lif_psc_exp.
func pscExp(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool {
	em1, p21ex, p21in, p11ex, p11in, threshold, reset, refractory := k[0], k[1], k[2], k[3], k[4], k[5], k[6], uint16(k[7])
	drive, n := a.TermOf(t, i), a.Neurons.First+i
	v, ex, in, r := &b.state.V[n], &b.state.More[0][n], &b.state.More[1][n], &b.state.Refractory[n]
	if *r > 0 { // 4a
		*r--
	} else { // 4b
		*v = *v + float32(em1**v) + float32(p21ex**ex) + float32(p21in**in) + drive
	}
	*ex = float32(p11ex**ex) + b.input(a, i, 0) // 4c
	*in = float32(p11in**in) + b.input(a, i, 1)
	if *v >= threshold { // 4d
		*v = reset
		*r = refractory
		return true
	}
	return false
}

func izhikevich(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool {
	half, adt, bv, c, d, threshold := k[0], k[1], k[2], k[3], k[4], k[5]
	n := a.Neurons.First + i
	v, u := &b.state.V[n], &b.state.More[0][n]
	current := b.input(a, i, 0) + a.TermOf(t, i) // 4a
	for range 2 {                                // 4b
		slope := float32(float32(0.04**v)**v) + float32(5**v) + 140 - *u + current
		*v = *v + float32(half*slope)
	}
	*u = *u + float32(adt*(float32(bv**v)-*u)) // 4c
	if *v >= threshold {                       // 4d
		*v = c
		*u = *u + d
		return true
	}
	return false
}

func poisson(b *backend, a *connectome.Area, i uint32, _ []float32, t uint64) bool {
	n := a.Neurons.First + i
	x := exact.Draw(b.c.RunSeed, exact.PoissonSource, uint64(n/4), t)[n%4]
	return a.From <= t && t < a.Until && uint64(x) < a.Below(i, t)
}

func spikeList(_ *backend, a *connectome.Area, i uint32, _ []float32, t uint64) bool {
	return a.Spikes.Fires(i, t)
}
