package cpu

import (
	"bytes"
	"fmt"
	"math"
	"math/bits"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/genome"
)

// law is the code of step 4 for a model. A model has update, or else run, one or both.
type law struct {
	// prepare makes what a group stores for the model; it may be nil.
	prepare func(w *worker, g *group)
	// update updates the whole group.
	update func(w *worker, g *group)
	// run updates blocks b ≤ i < end. If there is also one, run is used only for neurons with equal constants.
	run func(w *worker, g *group, b, end uint32)
	// one updates the i-th neuron of the group. Its first port's sum is at slot, its constants are k, its constant input
	// is term. changed says whether any bit of its state changed.
	one func(w *worker, g *group, i, slot uint32, k []float32, term float32) (fired, changed bool)
}

// lawOf returns the law of a model.
func lawOf(m *genome.Model) law {
	switch m.Kind() {
	case "feagi":
		return law{prepare: prepareFEAGI, update: (*worker).updateFEAGI}
	case "lif":
		return law{run: (*worker).updateLIF, one: (*worker).lif}
	case "lif_psc_exp":
		return law{run: (*worker).updatePSCExp, one: (*worker).pscExp}
	case "izhikevich":
		return law{one: (*worker).izhikevich}
	case "lif_event":
		return law{prepare: prepareEvent, update: (*worker).updateEvent}
	case "lif_psc_exp_event":
		return law{prepare: prepareEventCurrents, update: (*worker).updateEventCurrents}
	case "poisson":
		return law{update: (*worker).updatePoisson}
	case "spike_list":
		return law{prepare: prepareSpikes, update: (*worker).updateSpikeList}
	case "memory":
		return law{update: (*worker).updateMemory}
	case "custom":
		return law{prepare: prepareCustom, run: (*worker).updateCustom}
	}
	panic(fmt.Sprintf("BUG: model %s without a law", m.Name))
}

// constants are the constants of a group's neurons, in the order of the model's descriptor.
type constants struct {
	k      []float32 // those of the neuron being updated
	each   []each    // those that depend on the neuron
	differ bool      // constants or constant drives depend on the neuron
}

// each has the values of a constant for every neuron of the area.
type each struct {
	values []float32
	index  int // of the constant in k
}

func newConstants(a *connectome.Area) constants {
	c := constants{k: make([]float32, len(a.Constants)), differ: a.Differ() || a.TermsDiffer()}
	for i := range a.Constants {
		c.k[i] = a.Constants[i].Const
		if a.Constants[i].Each != nil {
			c.each = append(c.each, each{a.Constants[i].Each, i})
		}
	}
	return c
}

// load makes k the constants of the area's neuron of an index.
func (c *constants) load(index uint32) {
	for j := range c.each {
		e := &c.each[j]
		c.k[e.index] = e.values[index]
	}
}

// updateBlocks is step 4 of the models that update every neuron. With marking it updates only the blocks that are live or
// got input.
func (w *worker) updateBlocks(g *group) {
	t := w.now
	for i := range g.drives {
		if d := &g.drives[i]; d.Kind == connectome.Term && (t == d.From || t == d.Until || d.Moving != nil && d.Active(t) && d.Times() != w.b.moving[g.index].before[i]) {
			g.wake() // the constant input changes in this burst
		}
	}
	all := uint32(len(g.live))
	if w.marking {
		for port := range g.area.PortsEach() {
			w.hits = w.words(w.hits[:0], g.slot+port*g.run, g.run, true)
			for _, h := range w.hits {
				g.live[h.block] = 1
			}
		}
	}
	if w.looks(g) {
		w.updateRun(g, 0, all)
		w.updated += 64 * uint32(bytes.Count(g.live, []byte{1}))
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
		w.updateRun(g, b, end)
		w.updated += 64 * (end - b)
		b = end
	}
}

// updateRun updates the neurons of blocks b ≤ i < end and lists those that fired.
func (w *worker) updateRun(g *group, b, end uint32) {
	if g.law.one == nil || g.law.run != nil && !g.differ {
		g.law.run(w, g, b, end)
	} else {
		w.oneByOne(g, b, end)
	}
	for i := b; i < end; i++ {
		for m := g.spikes[i]; m != 0; m &= m - 1 {
			g.fired = append(g.fired, w.b.own.Neuron(g.lo+64*i+uint32(bits.TrailingZeros64(m))))
		}
		g.spikes[i] = 0
	}
}

// span is the range of neurons in blocks b ≤ i < end, counted from the group's first neuron.
func (g *group) span(b, end uint32) (lo, hi uint32) { return 64 * b, min(64*end, g.hi-g.lo) }

// updateLIF is step 4 of lif for neurons with equal constants.
func (w *worker) updateLIF(g *group, b, end uint32) {
	lo, hi := g.span(b, end)
	k := g.k
	w.lifConstants = vector.LIF{
		EM1: k[0], Term: connectome.TermAt(g.drives, w.now, 0), Scale: float32(w.b.c.Scale), Threshold: k[1], Reset: k[2], Refractory: uint32(k[3]),
	}
	w.b.kernels.LIF(&w.lifConstants, w.acc[g.slot+lo:g.slot+hi], g.v[lo:hi], g.r[lo:hi], g.spikes[b:end], g.live[b:end])
}

// updatePSCExp is step 4 of lif_psc_exp for neurons with equal constants.
func (w *worker) updatePSCExp(g *group, b, end uint32) {
	lo, hi := g.span(b, end)
	k := g.k
	w.pscConstants = vector.PSCExp{
		EM1: k[0], P21Ex: k[1], P21In: k[2], P11Ex: k[3], P11In: k[4], Term: connectome.TermAt(g.drives, w.now, 0), Scale: float32(w.b.c.Scale),
		Threshold: k[5], Reset: k[6], Refractory: uint32(k[7]),
	}
	w.currents = vector.Currents{
		AccEx: w.acc[g.slot+lo : g.slot+hi], AccIn: w.acc[g.slot+g.split+lo : g.slot+g.split+hi],
		V: g.v[lo:hi], Ex: g.more[0][lo:hi], In: g.more[1][lo:hi], R: g.r[lo:hi],
	}
	w.b.kernels.PSCExp(&w.pscConstants, &w.currents, g.spikes[b:end], g.live[b:end])
}

// oneByOne updates neurons whose constants differ, or whose model has no run.
func (w *worker) oneByOne(g *group, b, end uint32) {
	term, differ, k, one := connectome.TermAt(g.drives, w.now, 0), g.area.TermsDiffer(), g.k, g.law.one
	for ; b < end; b++ {
		live := uint8(0)
		lo, hi := g.span(b, b+1)
		for i := lo; i < hi; i++ {
			slot := g.slot + i
			if g.differ {
				index := w.b.index(g.area, g.lo+i)
				g.load(index)
				if differ {
					term = connectome.TermAt(g.drives, w.now, index)
				}
			}
			if w.acc[slot]|w.acc[slot+g.split] != 0 {
				live = 1
			}
			fired, changed := one(w, g, i, slot, k, term)
			w.acc[slot], w.acc[slot+g.split] = 0, 0 // 7
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

// lif is step 4 of lif for the i-th neuron of a group.
func (w *worker) lif(g *group, i, slot uint32, k []float32, term float32) (fired, changed bool) {
	em1, threshold, reset, refractory := k[0], k[1], k[2], uint16(k[3])
	v, r := &g.v[i], &g.r[i]
	if *r > 0 { // 4a
		*r--
		return false, true
	}
	old := *v
	*v = old + (float32(em1*old) + term) + float32(w.acc[slot])/float32(w.b.c.Scale) // 4b
	if *v >= threshold {                                                             // 4c
		*v, *r = reset, refractory
		return true, true
	}
	return false, !same(*v, old)
}

// pscExp is step 4 of lif_psc_exp for the i-th neuron of a group.
func (w *worker) pscExp(g *group, i, slot uint32, k []float32, term float32) (fired, changed bool) {
	em1, p21ex, p21in, p11ex, p11in, threshold, reset, refractory := k[0], k[1], k[2], k[3], k[4], k[5], k[6], uint16(k[7])
	scale := float32(w.b.c.Scale)
	v, ex, in, r := &g.v[i], &g.more[0][i], &g.more[1][i], &g.r[i]
	old, oldEx, oldIn := *v, *ex, *in
	changed = *r > 0
	if *r > 0 { // 4a
		*r--
	} else { // 4b
		*v = old + float32(em1*old) + float32(p21ex*oldEx) + float32(p21in*oldIn) + term
	}
	*ex = float32(p11ex*oldEx) + float32(w.acc[slot])/scale // 4c
	*in = float32(p11in*oldIn) + float32(w.acc[slot+g.split])/scale
	if *v >= threshold { // 4d
		*v, *r = reset, refractory
		return true, true
	}
	return false, changed || !same(*v, old) || !same(*ex, oldEx) || !same(*in, oldIn)
}

// izhikevich is step 4 of izhikevich for the i-th neuron of a group.
func (w *worker) izhikevich(g *group, i, slot uint32, k []float32, term float32) (fired, changed bool) {
	k = k[:6]
	half, adt, b, c, d, threshold := k[0], k[1], k[2], k[3], k[4], k[5]
	v, u := g.v[i], g.more[0][i]
	oldV, oldU := v, u
	current := float32(w.acc[slot])/float32(w.b.c.Scale) + term // 4a
	for range 2 {                                               // 4b
		slope := float32(float32(0.04*v)*v) + float32(5*v) + 140 - u + current
		v = v + float32(half*slope)
	}
	u = u + float32(adt*(float32(b*v)-u)) // 4c
	if fired = v >= threshold; fired {    // 4d
		v = c
		u = u + d
	}
	g.v[i], g.more[0][i] = v, u
	return fired, !same(v, oldV) || !same(u, oldU)
}
