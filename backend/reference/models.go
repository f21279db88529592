package reference

import (
	"math"

	"burst/connectome"
	"burst/internal/exact"
)

// feagi is the model's step 4 for the i-th neuron of a, a candidate; it says whether the neuron fires.
func (b *backend) feagi(a *connectome.Area, i uint32, input float32, t uint64) bool {
	p, n := &a.FEAGI, a.Neurons.First+i
	v, r, count := &b.state.V[n], &b.state.Refractory[n], &b.state.Count[n]
	blocked := func() bool { return p.FireLimit != 0 && *count >= p.FireLimit }

	if *r > 0 { // 4a
		*r--
		if *r == 0 && blocked() {
			*count = 0
		}
		return false
	}

	if p.Accumulate { // 4b
		*v += input
	} else {
		*v = input
	}

	if p.Threshold.At(i) <= *v && *v <= p.ThresholdLimit { // 4c
		if blocked() {
			*count = 0
			if !p.Accumulate {
				*v = 0
			}
			return false
		}
		if excited(p, b.c.RunSeed, n, t) {
			*v = 0
			*count = uint16(min(uint32(*count)+1, math.MaxUint16))
			*r = p.Refractory
			if blocked() {
				*r = uint16(min(uint32(p.Refractory)+uint32(p.Snooze), math.MaxUint16))
			}
			return true
		}
	}

	if p.FireLimit != 0 { // 4d
		*count = 0
	}
	*v = float32(*v * p.Keep)
	if p.LeakAmount > 0 && *v > 0 {
		*v = max(*v-p.LeakAmount, 0)
	}
	if !p.Accumulate {
		*v = 0
	}
	return false
}

// excited is the excitability's draw.
func excited(p *connectome.FEAGI, seed uint64, n uint32, t uint64) bool {
	if !p.FEAGIDraw {
		x := exact.Draw(seed, exact.Excitability, uint64(n), t)[0]
		return uint64(x) < p.ExciteBelow
	}
	return p.Excitability >= 0.999 || float32(exact.FEAGIHash(n, uint32(t)+1))/(1<<32) < p.Excitability
}

// lif is the model's step 4 for the i-th neuron of a; it says whether the neuron fires.
func (b *backend) lif(a *connectome.Area, i uint32, input, drive float32) bool {
	p, n := a.LIFOf(i), a.Neurons.First+i
	v, r := &b.state.V[n], &b.state.Refractory[n]
	if *r > 0 { // 4a
		*r--
		return false
	}
	*v = *v + (float32(p.EM1**v) + drive) + input // 4b
	if *v >= p.Threshold {                        // 4c
		*v = p.Reset
		*r = p.Refractory
		return true
	}
	return false
}

// pscExp is lif_psc_exp's step 4 for the i-th neuron of a.
func (b *backend) pscExp(a *connectome.Area, i uint32, inputEx, inputIn, drive float32) bool {
	p, n := a.PSCExpOf(i), a.Neurons.First+i
	v, ex, in, r := &b.state.V[n], &b.state.More[0][n], &b.state.More[1][n], &b.state.Refractory[n]
	if *r > 0 { // 4a
		*r--
	} else { // 4b
		*v = *v + float32(p.EM1**v) + float32(p.P21Ex**ex) + float32(p.P21In**in) + drive
	}
	*ex = float32(p.P11Ex**ex) + inputEx // 4c
	*in = float32(p.P11In**in) + inputIn
	if *v >= p.Threshold { // 4d
		*v = p.Reset
		*r = p.Refractory
		return true
	}
	return false
}

// izhikevich is the model's step 4 for the i-th neuron of a.
func (b *backend) izhikevich(a *connectome.Area, i uint32, input, drive float32) bool {
	p, n := a.IzhikevichOf(i), a.Neurons.First+i
	v, u := &b.state.V[n], &b.state.More[0][n]
	current := input + drive // 4a
	for range 2 {            // 4b
		slope := float32(float32(0.04**v)**v) + float32(5**v) + 140 - *u + current
		*v = *v + float32(p.Half*slope)
	}
	*u = *u + float32(p.ADt*(float32(p.B**v)-*u)) // 4c
	if *v >= p.Threshold {                        // 4d
		*v = p.C
		*u = *u + p.D
		return true
	}
	return false
}
