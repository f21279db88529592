package connectome

import "runtime/debug"

// builder holds the synapses of a part that is being built.
type builder struct {
	*plan
	c        *Connectome
	sums     []uint64 // |weight| per port; those of earlier parts may be there
	progress *meter
	values   []valuer // one a goroutine
	binned   []binned // by area
	bins     []bin
	evens    []even // by area
}

func (p *plan) newBuilder(c *Connectome, sums []uint64, progress *meter) *builder {
	b := &builder{plan: p, c: c, sums: sums, progress: progress, values: make([]valuer, p.workers)}
	for i := range b.values {
		b.values[i] = valuer{sums: sums, scale: p.scale, longest: 1, histograms: p.newHistograms(p.part)}
	}
	return b
}

// wire makes all synapses of the part: it counts, scans, places and sorts them, and adds their |weight| to the sums.
func (p *plan) wire(c *Connectome, sums []uint64, progress *meter) error {
	if p.maker != nil {
		return p.wireBy(c, sums, progress)
	}
	p.claim()
	b := p.newBuilder(c, sums, progress)
	c.Row = make([]uint64, p.neurons+1)
	if p.chains() {
		return b.chainRows(p.most())
	}
	for i := range p.wirings {
		progress.total += 3 * p.wirings[i].synapses
	}
	b.makeBins()
	b.countRows()
	b.scan()
	if err := p.checkMemory(); err != nil { // now that sizes are exact
		return err
	}
	c.ByRule = p.byRule()
	progress.total = 2*c.ByRule + p.synapses()
	room := p.room(c.Row[p.neurons])
	c.Target, c.Weight, c.Delay = room.target, room.weight, room.delay
	b.placeRows()
	b.scatter()
	b.finishBins()
	b.placeEvens()
	copy(c.Row[1:], c.Row[:p.neurons]) // a row's cursor has come to the next row's start
	c.Row[0] = 0
	return b.finish()
}

// claim waits for the host's memory.
func (p *plan) claim() {
	if p.hold != nil {
		p.spare = p.hold()
	}
}

// only is the plan with some of the projections. The scale is that of the plan with all.
func (p *plan) only(wirings ...*wiring) *plan {
	q := *p
	q.wirings, q.merging, q.spare = make([]wiring, len(wirings)), nil, row{}
	for i, w := range wirings {
		q.wirings[i] = *w
		q.wirings[i].slot, q.wirings[i].merged = i, false
	}
	q.planMerging()
	q.planRows()
	return &q
}

// finish adds up the results of all goroutines, and returns the first bad value as an error.
func (b *builder) finish() error {
	b.addHistograms(b.sums, b.values, b.part, b.scale)
	var first badValue
	for i := range b.values {
		b.c.MaxDelay = max(b.c.MaxDelay, int(b.values[i].longest))
		first = first.earlier(b.values[i].bad)
	}
	b.c.Delay = b.c.Delay.narrow(b.c.MaxDelay)
	if first.w != nil && !b.part.Whole() && b.allgather == nil {
		first = b.firstBadValue(Part{}) // parts that are built one after the other are refused with the words of the whole
	}
	return b.report(first)
}

// room is memory for synapses. It uses that of the previous part if it is large enough.
func (p *plan) room(synapses uint64) row {
	longest := p.longestDelay()
	if old := p.spare; old.target != nil && uint64(cap(old.target)) >= synapses && (longest == 1 || old.delay.wide() == (longest > mostShort) && old.delay.room() >= synapses) {
		if longest == 1 {
			old.delay = Delays{}
		}
		return old.between(0, synapses)
	}
	if p.spare.target != nil {
		p.spare = row{}
		debug.FreeOSMemory()
	}
	return newRows(synapses, longest)
}
