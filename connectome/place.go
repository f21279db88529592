package connectome

import (
	"sync/atomic"

	"burst/genome"
)

// place puts every synapse somewhere in its row and adds up |weight| per port. It leaves c.Row as it was, or where all rows
// go into out, as it has then become.
func (p *plan) place(c *Connectome, out *store, sums []uint64, progress *meter) error {
	workers := make([]placer, p.workers)
	sinks, counted := make([]sink, p.workers), make([][]counts, p.workers)
	for i := range workers {
		counted[i] = p.newCounts(p.part)
		workers[i] = placer{valuer: valuer{sums: sums, scale: p.scale, longest: 1, counted: counted[i]}, c: c, progress: progress, made: make([]uint64, len(p.wirings))}
		sinks[i] = &workers[i]
	}
	p.sweep(sinks, func(w *wiring) bool { return single(w) && !w.striped }, p.part)
	p.placeStrips(workers, out)
	p.placeGroups(workers)
	p.addCounts(sums, counted, p.part, p.scale)
	copy(c.Row[1:], c.Row[:p.neurons]) // a row's cursor has come to the next row's start
	c.Row[0] = 0
	if out != nil {
		p.settleAll(workers)
		made := out.row.between(0, out.at)
		c.Target, c.Weight, c.Delay = made.target, made.weight, made.delay
	}
	var first mishap
	for i := range workers {
		c.MaxDelay = max(c.MaxDelay, int(workers[i].longest))
		first = first.earlier(workers[i].bad)
	}
	if c.MaxDelay == 1 {
		c.Delay = nil
	}
	if first.w != nil && !p.part.Whole() && p.gather == nil {
		first = p.firstMishap()
	}
	return p.report(first)
}

// firstMishap is the earliest of the whole network, so that parts that are built one after the other are refused with its
// words.
func (p *plan) firstMishap() (first mishap) {
	workers, sinks := make([]judge, p.workers), make([]sink, p.workers)
	sums := make([]uint64, p.inputs)
	for i := range workers {
		workers[i].valuer = valuer{sums: sums, scale: p.scale, counted: make([]counts, len(p.wirings))}
		sinks[i] = &workers[i]
	}
	p.sweep(sinks, all, Part{})
	for i := range workers {
		first = first.earlier(workers[i].bad)
	}
	return first
}

// judge works out values and keeps none.
type judge struct{ valuer }

func (j *judge) take(w *wiring, b *batch) {
	j.weigh(w, b)
	j.time(w, b)
}

// placer is one goroutine's share of place.
type placer struct {
	valuer
	c        *Connectome
	progress *meter
	made     []uint64 // synapses of strips, by wiring
	at       [batchSize]uint64
}

// valuer works out the weights and delays of a batch.
type valuer struct {
	sums    []uint64 // |weight| per port
	scale   float64
	counted []counts // by wiring; what is not counted first is added to sums at once
	longest uint8
	bad     mishap
	value   [batchSize]int32
	delay   [batchSize]uint8
}

func (p *placer) take(w *wiring, b *batch) {
	p.weigh(w, b)
	if p.c.Delay != nil {
		p.time(w, b)
	}
	p.reserve(w, b)
	// Atomic additions wait for pending stores, so that all places are reserved before the first is written.
	for i, at := range p.at[:b.n] {
		p.c.Target[at], p.c.Weight[at] = w.port(b.target[i], int64(p.value[i])), p.value[i]
	}
	if p.c.Delay != nil {
		for i, at := range p.at[:b.n] {
			p.c.Delay[at] = p.delay[i]
		}
	}
	p.progress.add(uint64(b.n))
}

// reserve finds a place for each synapse and moves the cursors of the rows.
func (p *placer) reserve(w *wiring, b *batch) {
	for lo, hi := 0, 0; lo < b.n; lo = hi {
		hi = run(b, lo)
		n := uint64(hi - lo)
		first := atomic.AddUint64(&p.c.Row[w.from.First+b.source[lo]], n) - n
		for i := lo; i < hi; i++ {
			p.at[i] = first + uint64(i-lo)
		}
	}
}

// weigh fills value and adds to the sums.
func (p *valuer) weigh(w *wiring, b *batch) {
	if !w.varies() {
		fill(p.value[:b.n], clamp(w.fixed))
		p.count(w, b.target[:b.n], w.fixed)
		return
	}
	for i, t := range b.target[:b.n] {
		q, ok := w.quanta(b.source[i], b.ordinal[i], p.scale)
		if !ok {
			p.bad = p.bad.earlier(mishap{w, b.ordinal[i], 0, true})
		}
		p.value[i] = clamp(q)
		atomic.AddUint64(&p.sums[w.port(t, q)], magnitude(q))
	}
}

// count adds synapses whose weights are all the same to the sums.
func (p *valuer) count(w *wiring, targets []uint32, weight int64) {
	if counted := &p.counted[w.index]; counted.list != nil {
		counted.add(targets, p.sums[w.port(0, weight):], magnitude(weight))
		return
	}
	for _, t := range targets {
		atomic.AddUint64(&p.sums[w.port(t, weight)], magnitude(weight))
	}
}

func fill[T any](list []T, x T) {
	for i := range list {
		list[i] = x
	}
}

func magnitude(q int64) uint64 { return uint64(max(q, -q)) }

// time fills delay.
func (p *valuer) time(w *wiring, b *batch) {
	if w.delays == nil && w.delay.Kind == genome.Const {
		fill(p.delay[:b.n], w.steps)
		p.longest = max(p.longest, w.steps)
		return
	}
	for i, ordinal := range b.ordinal[:b.n] {
		var d float64
		if w.delays != nil {
			d = float64(w.delays[ordinal])
		} else {
			x, ok := w.delay.at(ordinal)
			if d = nearest(x); !ok || !(1 <= d && d <= 255) {
				p.bad = p.bad.earlier(mishap{w, ordinal, d, !ok})
				d = 1
			}
		}
		p.delay[i] = uint8(d)
		p.longest = max(p.longest, uint8(d))
	}
}

// mishap is a value that could not be used; the earliest is reported, so that threads do not change the message.
type mishap struct {
	w       *wiring
	ordinal uint64
	delay   float64 // bursts
	drained bool    // no attempt fell inside the bounds
}

func (m mishap) earlier(o mishap) mishap {
	switch {
	case o.w == nil:
		return m
	case m.w == nil || o.w.index < m.w.index || o.w == m.w && o.ordinal < m.ordinal:
		return o
	}
	return m
}

func (p *plan) report(m mishap) error {
	switch {
	case m.w == nil:
		return nil
	case m.drained:
		return p.g.Fault(m.w.p.Pos, projectionKey(m.w.index, "weight"), "%d draws for synapse %d fell outside the bounds of weight or delay; widen them", attempts, m.ordinal)
	}
	return p.g.Fault(m.w.delay.Pos, projectionKey(m.w.index, "delay"), "synapse %d: %s", m.ordinal, delayMessage(m.delay, p.g.Timestep))
}
