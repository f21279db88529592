package connectome

import (
	"math"
	"slices"
	"sync/atomic"

	"burst/genome"
	"burst/internal/formula"
	"burst/internal/quanta"
)

// valuer computes the weights and delays of a batch.
type valuer struct {
	sums       []uint64 // |weight| per port
	scale      float64
	histograms []histogram // by wiring; what has none is added to sums at once
	longest    uint16      // delay
	bad        badValue
	value      [batchSize]int32
	delay      [batchSize]uint16
	amount     [batchSize]float64
	word       [batchSize]uint64
	pairs      *pairScratch // made at its first use
}

// pairScratch is scratch memory of formulas.
type pairScratch struct {
	v    [formula.Variables][crowd]float64
	room []float64
}

// draw is the values of a batch; NaN where no draw fell within the bounds.
func (p *valuer) draw(s *sampler, b *batch) []float64 {
	list := p.amount[:b.n]
	if s.Kind == genome.Distance {
		p.work(s, b, list)
		return list
	}
	if s.first != nil {
		var drawn bool
		if b.consecutive() { // then it takes a little less
			drawn = s.many(b.ordinal[0], list, p.word[:b.n])
		} else {
			drawn = s.some(b.ordinal[:b.n], list, p.word[:b.n])
		}
		if drawn {
			return list
		}
	}
	for i, ordinal := range b.ordinal[:b.n] {
		x, ok := s.at(ordinal)
		if !ok {
			x = math.NaN()
		}
		list[i] = x
	}
	return list
}

// work sets list to what a formula makes of the pairs of a batch.
func (p *valuer) work(s *sampler, b *batch, list []float64) {
	if p.pairs == nil {
		p.pairs = &pairScratch{}
	}
	p.pairs.room = sized(p.pairs.room, uint64(s.Of.Room(crowd)))
	for lo := 0; lo < len(list); lo += crowd {
		n := min(crowd, len(list)-lo)
		var v [formula.Variables][]float64
		for i := range v {
			v[i] = p.pairs.v[i][:n]
		}
		s.metric.many(s.Of, b.source[lo:lo+n], b.target[lo:lo+n], &v)
		for i, x := range s.Of.Run(n, &v, p.pairs.room) {
			list[lo+i] = x / s.Per
		}
	}
}

// consecutive reports whether the ordinals follow each other.
func (b *batch) consecutive() bool {
	for i, ordinal := range b.ordinal[:b.n] {
		if ordinal != b.ordinal[0]+uint64(i) {
			return false
		}
	}
	return true
}

// amounts is the weights of a batch in the genome's units. Where no draw fell within the bounds it is 0, and p.bad says so.
func (p *valuer) amounts(w *wiring, b *batch) []float64 {
	if w.weights != nil {
		list := p.amount[:b.n]
		for i, ordinal := range b.ordinal[:b.n] {
			list[i] = w.weights[ordinal]
		}
		return list
	}
	list := p.draw(&w.weight, b)
	for i, x := range list {
		if math.IsNaN(x) {
			p.bad = p.bad.earlier(badValue{w, b.ordinal[i], 0, true})
			x = 0
		}
		list[i] = float64(x * w.factor)
	}
	return list
}

// weigh computes the weights of a batch and adds them to the sums of their ports.
func (p *valuer) weigh(w *wiring, b *batch) {
	if !w.varies() {
		fill(p.value[:b.n], quanta.Clamp(w.fixed))
		p.count(w, b.target[:b.n], w.fixed)
		return
	}
	p.weighAll(w, b, p.amounts(w, b))
}

// weighAll is weigh where weights vary, by their amounts.
func (p *valuer) weighAll(w *wiring, b *batch, amounts []float64) {
	if h := &p.histograms[w.slot]; h.drawn != nil && h.dealer.of == 1 && w.whole == nil && w.learns == nil && w.out == nil && w.drives == 0 && w.lift == 0 {
		p.weighDrawn(w, b, amounts, h.drawn)
		return
	}
	for i, x := range amounts {
		p.value[i] = quanta.Clamp(p.add(w, b, i, x))
	}
}

// weighDrawn is weighAll where a weight is its amount in quanta, and the sum of its port in list where it fits.
func (p *valuer) weighDrawn(w *wiring, b *batch, amounts []float64, list []uint32) {
	up, down := w.usualPort() == w.port(0, 1, 0), w.usualPort() == w.port(0, -1, 0)
	targets := b.target[:len(amounts)]
	for i, x := range amounts {
		product := float64(x * p.scale)
		q, at := quanta.Small(product), &list[targets[i]]
		sum := uint64(*at) + quanta.Magnitude(q)
		if !(math.Abs(product) < math.MaxInt32) || sum > math.MaxUint32 || q < 0 && !down || q >= 0 && !up {
			p.value[i] = quanta.Clamp(p.add(w, b, i, x))
			continue
		}
		p.value[i], *at = int32(q), uint32(sum)
	}
}

// add adds the i-th synapse of a batch to the sum of its port, by its amount, and returns its weight.
func (p *valuer) add(w *wiring, b *batch, i int, amount float64) (q int64) {
	t := b.target[i]
	q = w.lifted(t, w.round(amount, b.source[i], p.scale))
	port, bound := w.port(t, q, b.ordinal[i]), w.bound(b.source[i], q, p.scale)
	if h := &p.histograms[w.slot]; h.drawn != nil && port == h.port+t {
		h.put(t, bound, p.sums)
	} else {
		atomic.AddUint64(&p.sums[port], bound)
	}
	return q
}

// count adds synapses of equal weight to the sums.
func (p *valuer) count(w *wiring, targets []uint32, weight int64) {
	if _, known := w.onto(); known {
		return // addHistograms has it
	}
	if h := &p.histograms[w.slot]; h.list != nil {
		h.add(targets, p.sums[w.port(0, weight, 0):], w.bound(0, weight, p.scale))
		return
	}
	for _, t := range targets {
		atomic.AddUint64(&p.sums[w.port(t, weight, 0)], w.bound(0, weight, p.scale))
	}
}

func fill[T any](list []T, x T) {
	for i := range list {
		list[i] = x
	}
}

// time computes the delays of a batch.
func (p *valuer) time(w *wiring, b *batch) {
	if w.delays == nil && w.delay.Kind == genome.Const {
		fill(p.delay[:b.n], w.steps)
		p.longest = max(p.longest, w.steps)
		return
	}
	if w.delays != nil {
		for i, ordinal := range b.ordinal[:b.n] {
			p.delay[i] = uint16(w.delays[ordinal])
		}
	} else {
		most := float64(w.mostDelay())
		for i, x := range p.draw(&w.delay, b) {
			if 0.5 <= x && x <= most {
				p.delay[i] = uint16(quanta.Small(x))
				continue
			}
			d, fits := quanta.Delay(x, w.mostDelay())
			if !fits { // as NaN does not
				p.bad = p.bad.earlier(badValue{w, b.ordinal[i], d, math.IsNaN(x)})
				d = 1
			}
			p.delay[i] = uint16(d)
		}
	}
	p.longest = max(p.longest, slices.Max(p.delay[:b.n]))
}

// badValue is a value that could not be used; the earliest is reported, so that threads do not change the message.
type badValue struct {
	w       *wiring
	ordinal uint64
	delay   float64 // bursts
	drained bool    // no attempt fell inside the bounds
}

func (m badValue) earlier(o badValue) badValue {
	switch {
	case o.w == nil:
		return m
	case m.w == nil || o.w.index < m.w.index || o.w == m.w && o.ordinal < m.ordinal:
		return o
	}
	return m
}

// firstBadValue is the earliest bad value of the synapses onto a part.
func (p *plan) firstBadValue(part Part) (first badValue) {
	workers, sinks := make([]checker, p.workers), make([]sink, p.workers)
	sums := make([]uint64, p.inputs)
	for i := range workers {
		workers[i].valuer = valuer{sums: sums, scale: p.scale, histograms: make([]histogram, len(p.wirings))}
		sinks[i] = &workers[i]
	}
	p.draw(sinks, all, part)
	for i := range workers {
		first = first.earlier(workers[i].bad)
	}
	return first
}

// checker computes values without storing them.
type checker struct{ valuer }

func (c *checker) take(w *wiring, b *batch) {
	c.weigh(w, b)
	c.time(w, b)
}

func (p *plan) report(m badValue) error {
	switch {
	case m.w == nil:
		return nil
	case m.drained && (m.w.weight.Kind == genome.Distance || m.w.delay.Kind == genome.Distance):
		return p.g.Fault(m.w.p.Pos, projectionKey(m.w.index, "weight"), "the formula of weight or delay gives no number for synapse %d", m.ordinal)
	case m.drained:
		return p.g.ProjectionFault(m.w.index, m.w.p.Pos, "weight", "%d draws for synapse %d fell outside the bounds of weight or delay; widen them", attempts, m.ordinal)
	}
	return p.g.ProjectionFault(m.w.index, m.w.delay.Pos, "delay", "synapse %d: %s", m.ordinal, m.w.delayMessage(m.delay, p.g.Timestep))
}
