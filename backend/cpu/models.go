package cpu

import "math"

// updateLIF is step 4 of lif.
func (p *part) updateLIF(g *group) {
	if g.area.LIFEach != nil || g.area.TermsDiffer() {
		p.updateEachLIF(g)
		p.unmark(g)
		return
	}
	var (
		k                     = &g.area.LIF
		em1, threshold, reset = k.EM1, k.Threshold, k.Reset
		refractory            = k.Refractory
		term                  = g.area.Term(p.b.number)
		scale                 = float32(p.b.c.Scale)
		acc                   = p.acc[g.slot:][:g.hi-g.lo]
		v                     = p.b.v[g.lo:g.hi][:len(acc)]
		r                     = p.b.r[g.lo:g.hi][:len(acc)]
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
			g.fired = append(g.fired, g.lo+uint32(i))
			continue
		}
		bits, held := math.Float32bits(x), math.Float32bits(old)
		v[i], r[i] = math.Float32frombits(bits^(bits^held)&silent), left-uint16(silent&1) // 4a
	}
	p.unmark(g)
}

// updateEachLIF is updateLIF for neurons that differ.
func (p *part) updateEachLIF(g *group) {
	scale, t := float32(p.b.c.Scale), p.b.number
	for n := g.lo; n < g.hi; n++ {
		slot, i := g.slot+n-g.lo, n-g.area.Neurons.First
		sum := p.acc[slot]
		p.acc[slot] = 0
		if p.b.r[n] > 0 { // 4a
			p.b.r[n]--
			continue
		}
		k, v := g.area.LIFOf(i), p.b.v[n]
		v = v + (float32(k.EM1*v) + g.area.TermOf(t, i)) + float32(sum)/scale // 4b
		if v >= k.Threshold {                                                 // 4c
			v = k.Reset
			p.b.r[n] = k.Refractory
			g.fired = append(g.fired, n)
		}
		p.b.v[n] = v
	}
}

// updatePSCExp is step 4 of lif_psc_exp.
func (p *part) updatePSCExp(g *group) {
	var (
		count  = g.hi - g.lo
		k      = g.area.PSCExp
		each   = g.area.PSCExpEach
		scale  = float32(p.b.c.Scale)
		term   = g.area.Term(p.b.number)
		differ = g.area.TermsDiffer()
		accEx  = p.acc[g.slot:][:count]
		accIn  = p.acc[g.slot+count:][:count]
		v      = p.b.v[g.lo:g.hi][:count]
		ex     = p.b.more[0][g.lo:g.hi][:count]
		in     = p.b.more[1][g.lo:g.hi][:count]
		r      = p.b.r[g.lo:g.hi][:count]
	)
	for i := range accEx {
		if each != nil {
			k = each[g.lo-g.area.Neurons.First+uint32(i)]
		}
		if differ {
			term = g.area.TermOf(p.b.number, g.lo-g.area.Neurons.First+uint32(i))
		}
		x := v[i]
		if r[i] > 0 { // 4a
			r[i]--
		} else { // 4b
			x = x + float32(k.EM1*x) + float32(k.P21Ex*ex[i]) + float32(k.P21In*in[i]) + term
		}
		ex[i] = float32(k.P11Ex*ex[i]) + float32(accEx[i])/scale // 4c
		in[i] = float32(k.P11In*in[i]) + float32(accIn[i])/scale
		accEx[i], accIn[i] = 0, 0 // 7
		if x >= k.Threshold {     // 4d
			x = k.Reset
			r[i] = k.Refractory
			g.fired = append(g.fired, g.lo+uint32(i))
		}
		v[i] = x
	}
	p.unmark(g)
}

// updateIzhikevich is step 4 of izhikevich.
func (p *part) updateIzhikevich(g *group) {
	scale, t := float32(p.b.c.Scale), p.b.number
	term, differ := g.area.Term(t), g.area.TermsDiffer()
	for n := g.lo; n < g.hi; n++ {
		slot, i := g.slot+n-g.lo, n-g.area.Neurons.First
		k, v, u := g.area.IzhikevichOf(i), p.b.v[n], p.b.more[0][n]
		if differ {
			term = g.area.TermOf(t, i)
		}
		current := float32(p.acc[slot])/scale + term // 4a
		p.acc[slot] = 0                              // 7
		for range 2 {                                // 4b
			slope := float32(float32(0.04*v)*v) + float32(5*v) + 140 - u + current
			v = v + float32(k.Half*slope)
		}
		u = u + float32(k.ADt*(float32(k.B*v)-u)) // 4c
		if v >= k.Threshold {                     // 4d
			v = k.C
			u = u + k.D
			g.fired = append(g.fired, n)
		}
		p.b.v[n], p.b.more[0][n] = v, u
	}
	p.unmark(g)
}
