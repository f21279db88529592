package cpu

import (
	"sync"

	"burst/backend/cpu/vector"
	"burst/connectome"
	"burst/engine"
	"burst/internal/pages"
)

// part is one thread's share of every area. A slot is the place of a port in the part: its groups follow each other in the
// areas' order, the first ports of a group before its second ones, so that slots ascend as ports do. Each run of ports
// begins at a multiple of 64 slots.
type part struct {
	b      *backend
	index  int
	groups []group // one an area
	acc    []int32 // by slot
	rows   rows
	due    [][]flight // by the burst, modulo MaxDelay, of their next segment; only with several delays
	read   uint64     // units of rows delivered in this burst,
	draws  uint64     // and draws made

	spans []vector.Span // to deliver in this burst
	slots []uint32      // scratch of deliver

	marks
	hits         []hit    // scratch of found
	bits         []uint64 // scratch of found
	draw         []uint32 // scratch of draws
	dice         *vector.Philox
	lifConstants vector.LIF // arguments of kernels live here, or every call would allocate
	pscConstants vector.PSCExp
	currents     vector.Currents

	feagiConstants vector.FEAGI
}

// group is a thread's share of an area, the neurons of places lo ≤ n < hi.
type group struct {
	area       *connectome.Area
	lo, hi     uint32
	slot       uint32   // of neuron lo's first port, a multiple of 64
	run        uint32   // slots of one port, hi − lo rounded up to a multiple of 64
	split      uint32   // slots from a neuron's first to its second port; 0 where there is one
	drives     []events // one a drive
	driven     bool     // whether a drive added to the sums in this burst
	list       []listed // of a spike_list area
	*evaluator          // of an area whose model the genome defines
	blocks

	fired         []uint32
	first, second []engine.Candidate // those of first and second ports
}

// ports is how many slots the group has.
func (g *group) ports() uint32 { return g.run * g.area.PortsEach() }

// portsAhead is a neuron's port less the neuron's number.
func (g *group) portsAhead(port uint32) uint32 {
	return g.area.Ports.First + port*g.area.Neurons.Count - g.area.Neurons.First
}

// cutAlign keeps parts of large areas from sharing cache lines of the state.
const cutAlign = 64

// makeParts deals every area's neurons to the parts and copies each part's synapses.
func makeParts(b *backend, parts int) []*part {
	list := make([]*part, max(1, parts))
	for i := range list {
		list[i] = &part{b: b, index: i, dice: vector.NewPhilox(b.c.RunSeed)}
		list[i].share(i, len(list))
	}
	delays := delays(b.c)
	var wg sync.WaitGroup
	for _, p := range list {
		wg.Go(func() { p.rows = makeRows(b.c, p, delays) })
	}
	wg.Wait()
	return list
}

// share takes the i-th of parts shares of every area.
func (p *part) share(i, parts int) {
	slots, longest := p.deal(i, parts), uint32(0)
	for k := range p.groups {
		g := &p.groups[k]
		longest = max(longest, g.run)
		g.blocks = newBlocks(g)
		if g.area.Model == connectome.CustomModel {
			g.evaluator = newEvaluator(g.area, p.b.c.Scale)
		}
	}
	p.acc = pages.Slice[int32](uint64(slots))
	p.marks = newMarks(p.groups, slots)
	p.bits, p.hits = make([]uint64, longest/64), make([]hit, 0, longest/64)
	p.draw = make([]uint32, drawn+64)
}

// deal makes the part's groups and says how many slots they have.
func (p *part) deal(i, parts int) (slots uint32) {
	for k := range p.b.c.Areas {
		a := &p.b.c.Areas[k]
		own := p.b.span(a.Neurons)
		g := group{area: a, lo: cut(own, i, parts), hi: cut(own, i+1, parts), slot: slots}
		g.run = (g.hi - g.lo + 63) &^ 63
		if a.PortsEach() == 2 {
			g.split = g.run
		}
		slots += g.ports()
		for d := range a.Drives {
			g.drives = append(g.drives, newEvents(a.Drives[d].Counts))
		}
		if a.Model == connectome.SpikeListModel {
			g.list = p.b.listSpikes(a, g.lo, g.hi)
		}
		p.groups = append(p.groups, g)
	}
	return slots
}

// cut is the first place of the i-th share of an area's.
func cut(area connectome.Span, i, parts int) uint32 {
	n := area.First + uint32(uint64(area.Count)*uint64(i)/uint64(parts))
	if i < parts && area.Count >= uint32(4*parts*cutAlign) {
		n = max(area.First, n/cutAlign*cutAlign)
	}
	return n
}

// span is the places of an area's neurons.
func (b *backend) span(neurons connectome.Span) connectome.Span {
	first := b.own.Count(neurons.First)
	return connectome.Span{First: first, Count: b.own.Count(neurons.End()) - first}
}

// index is the number in its area of the neuron at a place.
func (b *backend) index(a *connectome.Area, place uint32) uint32 {
	return b.own.Neuron(place) - a.Neurons.First
}

// step does the part's share of a burst.
func (p *part) step() {
	for i := range p.groups {
		g := &p.groups[i]
		g.fired, g.first, g.second = g.fired[:0], g.first[:0], g.second[:0]
	}
	p.decide()
	p.propagate()
	p.inject()
	for i := range p.groups {
		g := &p.groups[i]
		if g.lo == g.hi {
			continue
		}
		if p.b.want.FCL {
			p.list(g)
		}
		switch g.area.Model {
		case connectome.FEAGIModel:
			p.updateFEAGI(g)
		case connectome.LIFModel, connectome.PSCExpModel, connectome.IzhikevichModel, connectome.CustomModel:
			p.updateBlocks(g)
		case connectome.PoissonModel:
			p.updatePoisson(g)
		case connectome.SpikeListModel:
			p.updateSpikeList(g)
		}
	}
}

// list adds the group's candidates to the FCL.
func (p *part) list(g *group) {
	for port := range g.area.PortsEach() {
		to := &g.first
		if port == 1 {
			to = &g.second
		}
		from := g.portsAhead(port)
		for _, h := range p.found(g, port, false) {
			for i := range h.each {
				sum, n := p.acc[g.slot+port*g.run+i], p.b.own.Neuron(g.lo+i)
				*to = append(*to, engine.Candidate{Port: from + n, Neuron: n, Sum: sum})
			}
		}
	}
}
