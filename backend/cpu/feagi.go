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
	f := &g.area.FEAGI
	plain := f.FireLimit == 0 && !f.FEAGIDraw && f.ExciteBelow == 1<<32 && f.Threshold.Each == nil
	switch {
	case !plain:
		p.updateEachFEAGI(g)
	case p.looks(g):
		p.updatePlainFEAGI(g)
	default:
		p.updateFewFEAGI(g)
	}
}

// updateEachFEAGI is step 4 for neurons of any parameters.
func (p *part) updateEachFEAGI(g *group) {
	scale := float32(p.b.c.Scale)
	for _, h := range p.found(g, 0, true) {
		for m := h.mask; m != 0; m &= m - 1 {
			i := h.block*64 + uint32(bits.TrailingZeros64(m))
			sum := p.acc[g.slot+i]
			p.acc[g.slot+i] = 0 // 7
			if n := p.b.own.Neuron(g.lo + i); p.feagi(g.area, n, g.lo+i, float32(sum)/scale) {
				g.fired = append(g.fired, n)
			}
		}
	}
}

// updateFewFEAGI is step 4 for neurons that do not differ and fire whenever they may, few of them candidates. What it spares
// are calls: candidates lie far apart, and the processor must see the next ones' memory before this one's has come.
func (p *part) updateFewFEAGI(g *group) {
	f, scale := &g.area.FEAGI, float32(p.b.c.Scale)
	threshold, limit, keep, leak := f.Threshold.Const, f.ThresholdLimit, f.Keep, f.LeakAmount
	acc, v, r := p.acc[g.slot:g.slot+g.run], p.b.v[g.lo:g.hi], p.b.r[g.lo:g.hi]
	hits := p.words(p.hits[:0], g.slot, g.run, true)
	p.hits = hits
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
			if f.Accumulate {
				x += v[i]
			}
			if threshold <= x && x <= limit { // 4c
				p.b.fire(f, g.lo+i)
				g.fired = append(g.fired, p.b.own.Neuron(g.lo+i))
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
			g.fired = append(g.fired, p.b.own.Neuron(n))
		}
	}
}

func ones(is bool) uint32 {
	if is {
		return math.MaxUint32
	}
	return 0
}

// feagi is step 4 for candidate n of an area, at place i.
func (p *part) feagi(a *connectome.Area, n, i uint32, input float32) bool {
	b, f := p.b, &a.FEAGI
	if r := b.r[i]; r > 0 { // 4a
		b.r[i] = r - 1
		if r == 1 && f.FireLimit != 0 && b.count[i] >= f.FireLimit {
			b.count[i] = 0
		}
		return false
	}
	v := input // 4b
	if f.Accumulate {
		v = b.v[i] + input
	}
	if f.Threshold.At(n-a.Neurons.First) <= v && v <= f.ThresholdLimit { // 4c
		if f.FireLimit != 0 && b.count[i] >= f.FireLimit {
			b.count[i] = 0
			b.v[i] = kept(f, v)
			return false
		}
		if f.ExciteBelow == 1<<32 && !f.FEAGIDraw || excited(f, b.c.RunSeed, n, b.number) {
			b.fire(f, i)
			return true
		}
	}
	if f.FireLimit != 0 { // 4d
		b.count[i] = 0
	}
	v = float32(v * f.Keep)
	if v > 0 {
		v = max(v-f.LeakAmount, 0)
	}
	b.v[i] = kept(f, v)
	return false
}

// kept is what stays of a potential between bursts.
func kept(f *connectome.FEAGI, v float32) float32 {
	if f.Accumulate {
		return v
	}
	return 0
}

// fire is the reset of a feagi neuron at place i.
func (b *backend) fire(f *connectome.FEAGI, i uint32) {
	b.v[i] = 0
	if b.count[i] < math.MaxUint16 {
		b.count[i]++
	}
	b.r[i] = f.Refractory
	if f.FireLimit != 0 && b.count[i] >= f.FireLimit {
		b.r[i] = uint16(min(uint32(f.Refractory)+uint32(f.Snooze), math.MaxUint16))
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
