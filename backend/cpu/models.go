package cpu

import (
	"bytes"
	"math"
	"math/bits"

	"burst/backend/cpu/vector"
	"burst/connectome"
)

// updateBlocks is step 4 of the models that update every neuron: of the blocks that are live or got input, and of all
// while sums are not marked.
func (p *part) updateBlocks(g *group) {
	t := p.b.number
	for i := range g.area.Drives {
		if d := &g.area.Drives[i]; d.Kind == connectome.Term && (t == d.From || t == d.Until) {
			g.wake() // the formula is another from now on
		}
	}
	all := uint32(len(g.live))
	if p.marking {
		for port := range g.area.PortsEach() {
			p.hits = p.words(p.hits[:0], g.slot+port*g.run, g.run, true)
			for _, h := range p.hits {
				g.live[h.block] = 1
			}
		}
	}
	if p.looks(g) {
		p.updateRun(g, 0, all)
		p.updated += 64 * uint32(bytes.Count(g.live, []byte{1}))
		return
	}
	for b := uint32(0); b < all; {
		skip := bytes.IndexByte(g.live[b:], 1)
		if skip < 0 {
			return
		}
		b += uint32(skip)
		end := all
		if n := bytes.IndexByte(g.live[b:], 0); n >= 0 {
			end = b + uint32(n)
		}
		p.updateRun(g, b, end)
		p.updated += 64 * (end - b)
		b = end
	}
}

// updateRun updates the neurons of blocks b ≤ i < end and lists who fired.
func (p *part) updateRun(g *group, b, end uint32) {
	switch a := g.area; {
	case a.Model == connectome.CustomModel:
		p.updateCustom(g, b, end)
	case a.Model == connectome.LIFModel && a.LIFEach == nil && !a.TermsDiffer():
		p.updateLIF(g, b, end)
	case a.Model == connectome.LIFModel:
		p.oneByOne(g, b, end, p.lif)
	case a.Model == connectome.PSCExpModel && a.PSCExpEach == nil && !a.TermsDiffer():
		p.updatePSCExp(g, b, end)
	case a.Model == connectome.PSCExpModel:
		p.oneByOne(g, b, end, p.pscExp)
	default:
		p.oneByOne(g, b, end, p.izhikevich)
	}
	for i := b; i < end; i++ {
		for m := g.spikes[i]; m != 0; m &= m - 1 {
			g.fired = append(g.fired, p.b.own.Neuron(g.lo+64*i+uint32(bits.TrailingZeros64(m))))
		}
		g.spikes[i] = 0
	}
}

// span is the neurons of blocks b ≤ i < end, counted from the group's first.
func (g *group) span(b, end uint32) (lo, hi uint32) { return 64 * b, min(64*end, g.hi-g.lo) }

// updateLIF is step 4 of lif for neurons that do not differ.
func (p *part) updateLIF(g *group, b, end uint32) {
	lo, hi := g.span(b, end)
	k := &g.area.LIF
	p.lifConstants = vector.LIF{
		EM1: k.EM1, Term: g.area.Term(p.b.number), Scale: float32(p.b.c.Scale), Threshold: k.Threshold, Reset: k.Reset, Refractory: uint32(k.Refractory),
	}
	p.b.kernels.LIF(&p.lifConstants, p.acc[g.slot+lo:g.slot+hi], p.b.v[g.lo+lo:g.lo+hi], p.b.r[g.lo+lo:g.lo+hi], g.spikes[b:end], g.live[b:end])
}

// updatePSCExp is step 4 of lif_psc_exp for neurons that do not differ.
func (p *part) updatePSCExp(g *group, b, end uint32) {
	lo, hi := g.span(b, end)
	k := &g.area.PSCExp
	p.pscConstants = vector.PSCExp{
		EM1: k.EM1, P21Ex: k.P21Ex, P21In: k.P21In, P11Ex: k.P11Ex, P11In: k.P11In, Term: g.area.Term(p.b.number), Scale: float32(p.b.c.Scale),
		Threshold: k.Threshold, Reset: k.Reset, Refractory: uint32(k.Refractory),
	}
	from, to := g.lo+lo, g.lo+hi
	p.currents = vector.Currents{
		AccEx: p.acc[g.slot+lo : g.slot+hi], AccIn: p.acc[g.slot+g.split+lo : g.slot+g.split+hi],
		V: p.b.v[from:to], Ex: p.b.more[0][from:to], In: p.b.more[1][from:to], R: p.b.r[from:to],
	}
	p.b.kernels.PSCExp(&p.pscConstants, &p.currents, g.spikes[b:end], g.live[b:end])
}

// oneByOne updates neurons that differ; update tells whether a neuron fired and whether a bit of its state changed.
func (p *part) oneByOne(g *group, b, end uint32, update func(g *group, n, slot uint32, term float32) (fired, changed bool)) {
	t := p.b.number
	term, differ := g.area.Term(t), g.area.TermsDiffer()
	for ; b < end; b++ {
		live := uint8(0)
		lo, hi := g.span(b, b+1)
		for i := lo; i < hi; i++ {
			n, slot := g.lo+i, g.slot+i
			if differ {
				term = g.area.TermOf(t, p.b.index(g.area, n))
			}
			if p.acc[slot]|p.acc[slot+g.split] != 0 {
				live = 1
			}
			fired, changed := update(g, n, slot, term)
			p.acc[slot], p.acc[slot+g.split] = 0, 0 // 7
			if fired {
				g.spikes[b] |= 1 << (i % 64)
			}
			if fired || changed {
				live = 1
			}
		}
		g.live[b] = live
	}
}

func same(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// lif is step 4 of lif for the neuron at place n.
func (p *part) lif(g *group, n, slot uint32, term float32) (fired, changed bool) {
	k, v, r := g.area.LIFOf(p.b.index(g.area, n)), &p.b.v[n], &p.b.r[n]
	if *r > 0 { // 4a
		*r--
		return false, true
	}
	old := *v
	*v = old + (float32(k.EM1*old) + term) + float32(p.acc[slot])/float32(p.b.c.Scale) // 4b
	if *v >= k.Threshold {                                                             // 4c
		*v, *r = k.Reset, k.Refractory
		return true, true
	}
	return false, !same(*v, old)
}

// pscExp is step 4 of lif_psc_exp for the neuron at place n.
func (p *part) pscExp(g *group, n, slot uint32, term float32) (fired, changed bool) {
	k, scale := g.area.PSCExpOf(p.b.index(g.area, n)), float32(p.b.c.Scale)
	v, ex, in, r := &p.b.v[n], &p.b.more[0][n], &p.b.more[1][n], &p.b.r[n]
	old, oldEx, oldIn := *v, *ex, *in
	changed = *r > 0
	if *r > 0 { // 4a
		*r--
	} else { // 4b
		*v = old + float32(k.EM1*old) + float32(k.P21Ex*oldEx) + float32(k.P21In*oldIn) + term
	}
	*ex = float32(k.P11Ex*oldEx) + float32(p.acc[slot])/scale // 4c
	*in = float32(k.P11In*oldIn) + float32(p.acc[slot+g.split])/scale
	if *v >= k.Threshold { // 4d
		*v, *r = k.Reset, k.Refractory
		return true, true
	}
	return false, changed || !same(*v, old) || !same(*ex, oldEx) || !same(*in, oldIn)
}

// izhikevich is step 4 of izhikevich for the neuron at place n.
func (p *part) izhikevich(g *group, n, slot uint32, term float32) (fired, changed bool) {
	k, v, u := g.area.IzhikevichOf(p.b.index(g.area, n)), p.b.v[n], p.b.more[0][n]
	oldV, oldU := v, u
	current := float32(p.acc[slot])/float32(p.b.c.Scale) + term // 4a
	for range 2 {                                               // 4b
		slope := float32(float32(0.04*v)*v) + float32(5*v) + 140 - u + current
		v = v + float32(k.Half*slope)
	}
	u = u + float32(k.ADt*(float32(k.B*v)-u)) // 4c
	if fired = v >= k.Threshold; fired {      // 4d
		v = k.C
		u = u + k.D
	}
	p.b.v[n], p.b.more[0][n] = v, u
	return fired, !same(v, oldV) || !same(u, oldU)
}
