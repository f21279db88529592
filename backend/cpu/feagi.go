package cpu

import (
	"math"
	"math/bits"

	"burst/backend/cpu/vector"
	"burst/connectome"
	"burst/internal/exact"
)

// updateFEAGI is step 4 of feagi for the group's candidates.
func (p *part) updateFEAGI(g *group) {
	f, scale := &g.area.FEAGI, float32(p.b.c.Scale)
	if p.looks(g) && f.FireLimit == 0 && !f.FEAGIDraw && f.ExciteBelow == 1<<32 && f.Threshold.Each == nil {
		p.updatePlainFEAGI(g)
		return
	}
	first := g.lo - g.area.Neurons.First
	for _, h := range p.found(g, 0, true) {
		for m := h.mask; m != 0; m &= m - 1 {
			i := h.block*64 + uint32(bits.TrailingZeros64(m))
			sum := p.acc[g.slot+i]
			p.acc[g.slot+i] = 0 // 7
			if p.feagi(f, g.lo+i, first+i, float32(sum)/scale) {
				g.fired = append(g.fired, g.lo+i)
			}
		}
	}
}

// updatePlainFEAGI is step 4 for neurons that do not differ and fire whenever they may, all looked at.
func (p *part) updatePlainFEAGI(g *group) {
	f := &g.area.FEAGI
	p.forget(g, 0)
	p.feagiConstants = vector.FEAGI{
		Threshold: f.Threshold.Const, Limit: f.ThresholdLimit, Keep: f.Keep, LeakAmount: f.LeakAmount, Scale: float32(p.b.c.Scale),
		Refractory: uint32(f.Refractory), Accumulate: ones(f.Accumulate), Leaks: ones(f.LeakAmount > 0),
	}
	words := p.bits[:g.run/64]
	p.b.kernels.FEAGI(&p.feagiConstants, p.acc[g.slot:g.slot+g.hi-g.lo], p.b.v[g.lo:g.hi], p.b.r[g.lo:g.hi], words)
	for b, m := range words {
		for ; m != 0; m &= m - 1 {
			n := g.lo + uint32(64*b+bits.TrailingZeros64(m))
			if p.b.count[n] < math.MaxUint16 {
				p.b.count[n]++
			}
			g.fired = append(g.fired, n)
		}
	}
}

func ones(is bool) uint32 {
	if is {
		return math.MaxUint32
	}
	return 0
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
