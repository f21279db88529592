package cpu

import (
	"sync"

	"burst/connectome"
	"burst/engine"
)

// part is one thread's share of every area. A slot is the place of a port in the part: its groups follow each other in the
// areas' order, the first ports of a group before its second ones, so that slots ascend as ports do.
type part struct {
	b       *backend
	index   int
	groups  []group // one an area
	acc     []int32 // by slot
	rows    rows
	flights [][]flight // by burst modulo MaxDelay; only with several delays
	marks   bool       // whether sums are marked: only feagi areas need it
	marked  []uint64   // a bit a slot: something was added to its sum
	summary []uint64   // a bit a word of marked
	touched uint32     // keeps touch's reads
}

// group is a part's share of an area, neurons lo ≤ n < hi.
type group struct {
	area   *connectome.Area
	lo, hi uint32
	slot   uint32   // of neuron lo's first port
	split  uint32   // slots from a neuron's first to its second port; 0 where there is one
	drives []events // one a drive
	list   []listed // of a spike_list area

	fired         []uint32
	first, second []engine.Candidate // those of first and second ports
}

// ports is how many slots the group has.
func (g *group) ports() uint32 { return (g.hi - g.lo) * g.area.Model.Ports() }

// cutAlign keeps parts of large areas from sharing cache lines of the state.
const cutAlign = 64

// makeParts deals every area's neurons to the parts and copies each part's synapses.
func makeParts(b *backend, parts int) []*part {
	list := make([]*part, max(1, parts))
	var wg sync.WaitGroup
	packed := newPacking(b.c, len(list))
	delays := delays(b.c)
	for i := range list {
		p := &part{b: b, index: i}
		list[i] = p
		p.share(i, len(list))
		wg.Go(func() { p.rows = makeRows(b.c, p, packed, delays) })
	}
	wg.Wait()
	return list
}

// share takes the i-th of parts shares of every area.
func (p *part) share(i, parts int) {
	slots := uint32(0)
	for k := range p.b.c.Areas {
		a := &p.b.c.Areas[k]
		cut := func(i int) uint32 {
			n := a.Neurons.First + uint32(uint64(a.Neurons.Count)*uint64(i)/uint64(parts))
			if i < parts && a.Neurons.Count >= uint32(4*parts*cutAlign) {
				n = max(a.Neurons.First, n/cutAlign*cutAlign)
			}
			return n
		}
		g := group{area: a, lo: cut(i), hi: cut(i + 1), slot: slots}
		if a.Model.Ports() == 2 {
			g.split = g.hi - g.lo
		}
		slots += g.ports()
		for d := range a.Drives {
			g.drives = append(g.drives, newEvents(a.Drives[d].Counts))
		}
		if a.Model == connectome.SpikeListModel {
			g.list = listSpikes(a, g.lo, g.hi)
		}
		p.marks = p.marks || a.Model == connectome.FEAGIModel
		p.groups = append(p.groups, g)
	}
	p.acc = make([]int32, slots)
	if words := (slots + 63) / 64; p.marks {
		p.marked, p.summary = make([]uint64, words), make([]uint64, (words+63)/64)
	}
}

// step does the part's share of a burst.
func (p *part) step() {
	for i := range p.groups {
		g := &p.groups[i]
		g.fired, g.first, g.second = g.fired[:0], g.first[:0], g.second[:0]
	}
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
		case connectome.LIFModel:
			p.updateLIF(g)
		case connectome.PSCExpModel:
			p.updatePSCExp(g)
		case connectome.IzhikevichModel:
			p.updateIzhikevich(g)
		case connectome.PoissonModel:
			p.updatePoisson(g)
		case connectome.SpikeListModel:
			p.updateSpikeList(g)
		}
	}
}

// list adds the group's candidates to the FCL.
func (p *part) list(g *group) {
	n := g.hi - g.lo
	for port := range g.area.Model.Ports() {
		to := &g.first
		if port == 1 {
			to = &g.second
		}
		at := g.area.Ports.First + port*g.area.Neurons.Count + (g.lo - g.area.Neurons.First)
		add := func(i uint32, sum int32) {
			*to = append(*to, engine.Candidate{Port: at + i, Neuron: g.lo + i, Sum: sum})
		}
		if g.area.Model == connectome.FEAGIModel {
			p.candidates(g, false, add)
			continue
		}
		for i, sum := range p.acc[g.slot+port*n : g.slot+(port+1)*n] {
			if sum != 0 {
				add(uint32(i), sum)
			}
		}
	}
}
