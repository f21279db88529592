package cpu

import (
	"math"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
)

// updateLIF is step 4 of lif for lo ≤ n < hi.
func (p *part) updateLIF(a *connectome.Area, lo, hi uint32) {
	var (
		em1, threshold, reset = a.LIF.EM1, a.LIF.Threshold, a.LIF.Reset
		refractory            = a.LIF.Refractory
		term                  = a.Term(p.b.number)
		scale                 = float32(p.b.c.Scale)
		acc                   = p.acc[lo-p.lo : hi-p.lo]
		v                     = p.b.v[lo:hi][:len(acc)]
		r                     = p.b.r[lo:hi][:len(acc)]
	)
	// Who is refractory cannot be predicted, so both outcomes are computed and a mask selects one: a branch took 1.5 times
	// as long.
	for i, sum := range acc {
		acc[i] = 0 // 7
		old, left := v[i], r[i]
		silent := uint32(-int32(left) >> 31)                      // all ones or zero
		x := old + (float32(em1*old) + term) + float32(sum)/scale // 4b
		if x >= threshold && silent == 0 {                        // 4c
			v[i], r[i] = reset, refractory
			p.fired = append(p.fired, lo+uint32(i))
			continue
		}
		bits, held := math.Float32bits(x), math.Float32bits(old)
		v[i], r[i] = math.Float32frombits(bits^(bits^held)&silent), left-uint16(silent&1) // 4a
	}
	if p.marks {
		p.unmark(lo, hi)
	}
}

// unmark forgets the marks of lif neurons in a network that has feagi areas too.
func (p *part) unmark(lo, hi uint32) {
	p.candidates(lo, hi, func(uint32, int32) { panic("BUG: a sum is left after the update") })
}

// updateFEAGI is step 4 of feagi for the candidates in lo ≤ n < hi.
func (p *part) updateFEAGI(a *connectome.Area, lo, hi uint32) {
	f, scale := &a.FEAGI, float32(p.b.c.Scale)
	p.candidates(lo, hi, func(n uint32, sum int32) {
		if p.b.want.FCL {
			p.fcl = append(p.fcl, engine.Candidate{Port: n, Neuron: n, Sum: sum})
		}
		if p.feagi(f, n, n-a.Neurons.First, float32(sum)/scale) {
			p.fired = append(p.fired, n)
		}
	})
}

// feagi is step 4 for candidate n, the i-th neuron of its area.
func (p *part) feagi(f *connectome.FEAGI, n, i uint32, input float32) bool {
	b := p.b
	if r := b.r[n]; r > 0 { // 4a
		b.r[n] = r - 1
		if r == 1 && f.FireLimit != 0 && b.count[n] >= f.FireLimit {
			b.count[n] = 0
		}
		return false
	}
	v := input // 4b
	if f.Accumulate {
		v = b.v[n] + input
	}
	if f.Threshold.At(i) <= v && v <= f.ThresholdLimit { // 4c
		if f.FireLimit != 0 && b.count[n] >= f.FireLimit {
			b.count[n] = 0
			b.v[n] = kept(f, v)
			return false
		}
		if f.ExciteBelow == 1<<32 && !f.FEAGIDraw || excited(f, b.c.RunSeed, n, b.number) {
			b.fire(f, n)
			return true
		}
	}
	if f.FireLimit != 0 { // 4d
		b.count[n] = 0
	}
	v = float32(v * f.Keep)
	if f.LeakAmount > 0 && v > 0 {
		v = max(v-f.LeakAmount, 0)
	}
	b.v[n] = kept(f, v)
	return false
}

// kept is what stays of a potential between bursts.
func kept(f *connectome.FEAGI, v float32) float32 {
	if f.Accumulate {
		return v
	}
	return 0
}

// fire is the reset of a feagi neuron.
func (b *backend) fire(f *connectome.FEAGI, n uint32) {
	b.v[n] = 0
	if b.count[n] < math.MaxUint16 {
		b.count[n]++
	}
	b.r[n] = f.Refractory
	if f.FireLimit != 0 && b.count[n] >= f.FireLimit {
		b.r[n] = uint16(min(uint32(f.Refractory)+uint32(f.Snooze), math.MaxUint16))
	}
}

// excited is the excitability's draw in burst t.
func excited(f *connectome.FEAGI, seed uint64, n uint32, t uint64) bool {
	if !f.FEAGIDraw {
		return uint64(exact.Draw(seed, exact.Excitability, uint64(n), t)[0]) < f.ExciteBelow
	}
	switch {
	case f.Excitability >= 0.999:
		return true
	case f.Excitability <= 0:
		return false
	}
	return float32(exact.FEAGIHash(n, uint32(t)+1))/(1<<32) < f.Excitability
}
