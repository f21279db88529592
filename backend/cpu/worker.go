package cpu

import (
	"sync"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/internal/pages"
)

// worker is one thread's share of every area. A slot is the index of a port in the worker's array of sums. The slots are
// in the order of the areas, and in each area all first ports come before all second ones, and so on. So slots ascend as ports do.
// The ports of each kind begin at a multiple of 64 slots.
type worker struct {
	b        *backend
	memory   arena
	index    int
	now      uint64            // the burst in progress
	ran      int               // bursts since the worker began a course, see StepN; 0 in Step
	in       []engine.Stimulus // of the burst in progress
	begun    bool              // whether that has begun
	probes   []probe           // of the worker's neurons
	groups   []group           // one an area
	slots    uint32            // of them all
	coming   []int32           // sums by slot, of rows.sums() bursts, in turn
	place    int               // of the burst in progress among them
	acc      []int32           // its sums
	rows     rows
	due      [][]vector.Flight // by the burst, modulo MaxDelay, of their next run; only with several delays
	shares   []*share          // of plastic projections
	driven   walker            // through driven rows
	gathered                   // scratch of shares
	read     uint64            // units of rows delivered in this burst,
	draws    uint64            // draws made,
	learnt   uint64            // and nanoseconds that plastic synapses took, by estimate

	spans []vector.Span // to deliver in this burst
	heads []vector.Span // scratch of launch
	ids   []uint32      // in place of spans, of rows in rooms
	early early
	named []uint32 // scratch of markAll

	marks
	hits         []hit    // scratch of found
	bits         []uint64 // scratch of found
	draw         []uint32 // scratch of draws
	dice         *vector.Philox
	lifConstants vector.LIF // arguments of kernels live here, or every call would allocate
	pscConstants vector.PSCExp
	currents     vector.Currents

	eventConstants vector.Event

	feagiConstants vector.FEAGI
}

// group is a worker's share of an area: the neurons with local indices lo ≤ n < hi.
type group struct {
	area       *connectome.Area
	index      int // of the area
	law        law
	lo, hi     uint32
	slot       uint32             // of neuron lo's first port, a multiple of 64
	run        uint32             // slots of one port, hi − lo rounded up to a multiple of 64
	split      uint32             // slots from the port for amounts ≥ 0 to that for others, where their sign chooses; 0 where it is the same
	drives     []connectome.Drive // as they are in this burst, shared by all workers
	events     []events           // one a drive, likewise
	driven     bool               // whether a drive added to the sums in this burst
	*trains                       // of a spike_list area
	*feagi                        // of a feagi area
	*evaluator                    // of an area whose model the genome defines
	event      eventful           // of an area of a model with Event; nil for others
	state
	constants
	blocks

	fired []uint32 // by the worker's groups so far in the burst in progress
}

// ports is how many slots the group has.
func (g *group) ports() uint32 { return g.run * g.area.PortsEach() }

// portsAhead is the difference between the number of a neuron's port and the number of the neuron.
func (g *group) portsAhead(port uint32) uint32 {
	return g.area.Ports.First + port*g.area.Neurons.Count - g.area.Neurons.First
}

// cutAlign neurons are updated at a time: of a large area nobody but the last worker has some left over.
const cutAlign = 16

// makeWorkers divides every area's neurons among the workers and gives each the synapses that end at its neurons.
func makeWorkers(b *backend, workers int, rowsOf func([]*worker) []rows) []*worker {
	list := make([]*worker, max(1, workers))
	for i := range list {
		list[i] = &worker{b: b, index: i}
		list[i].share(i, len(list))
	}
	var wg sync.WaitGroup
	made := rowsOf(list)
	for i, w := range list {
		wg.Go(func() { w.setRows(made[i]) })
		if b.c.Driven != nil {
			w.driven = newWalker(drivenRows(b.c), w.portSpans())
		}
	}
	wg.Wait()
	return list
}

// share takes the i-th of n shares of every area.
func (w *worker) share(i, n int) {
	w.deal(i, n)
	w.makeOwn()
	for k := range w.groups {
		g := &w.groups[k]
		if g.law.prepare != nil {
			g.law.prepare(w, g)
		}
	}
	w.marks = newMarks(w.groups, w.slots, &w.b.kernels)
}

// deal makes the groups of the i-th of n workers.
func (w *worker) deal(i, n int) {
	cuts := w.b.cuts(n)
	for k := range w.b.c.Areas {
		a := &w.b.c.Areas[k]
		g := group{area: a, index: k, law: lawOf(a.Model), constants: newConstants(a), lo: cuts[k][i], hi: cuts[k][i+1], slot: w.slots}
		g.run = (g.hi - g.lo + 63) &^ 63
		if a.PortsEach() == 2 {
			g.split = g.run
		}
		w.slots += g.ports()
		g.drives, g.events = w.b.moving[k].drives, w.b.moving[k].events
		w.groups = append(w.groups, g)
	}
}

// cuts deals each area's neurons to n workers: the i-th has those with local indices cuts[area][i] ≤ k < cuts[area][i+1]. Over all areas
// each has as many as the others, give or take some.
func (b *backend) cuts(n int) [][]uint32 {
	list, given, all := make([][]uint32, len(b.c.Areas)), make([]uint64, n), uint64(0) // given to the workers before
	for k := range list {
		own := b.span(b.c.Areas[k].Neurons)
		all += uint64(own.Count)
		cuts, last := []uint32{own.First}, uint64(0)
		for i := 1; i < n; i++ {
			x := all*uint64(i)/uint64(n) - min(given[i], all*uint64(i)/uint64(n))
			if own.Count >= uint32(4*n*cutAlign) {
				x = (x + cutAlign/2) / cutAlign * cutAlign
			}
			last = min(max(x, last), uint64(own.Count))
			given[i] += last
			cuts = append(cuts, own.First+uint32(last))
		}
		list[k] = append(cuts, own.First+own.Count)
	}
	return list
}

// span is the range of the local indices of an area's neurons.
func (b *backend) span(neurons connectome.Span) connectome.Span {
	first := b.own.Count(neurons.First)
	return connectome.Span{First: first, Count: b.own.Count(neurons.End()) - first}
}

// index turns a local index into the neuron's number within its area.
func (b *backend) index(a *connectome.Area, local uint32) uint32 {
	return b.own.Neuron(local) - a.Neurons.First
}

// setRows takes the rows and makes the sums that they add to.
func (w *worker) setRows(r rows) {
	w.rows, w.coming = r, pages.Slice[int32](uint64(w.slots)*uint64(r.sums())+vector.SpareSlots)
	w.goTo(0)
}

// goTo makes the sums at a place those of the burst in progress.
func (w *worker) goTo(place int) {
	w.place, w.acc = place, w.coming[place*int(w.slots):][:w.slots]
}

// goOn moves on to the next burst's sums. Those of the burst before are zero by now.
func (w *worker) goOn() {
	if sums := w.rows.sums(); sums > 1 {
		w.goTo((w.place + 1) % sums)
	}
}

// begin does what needs no spikes of the burst before t, so many bursts after the first one of a course: a sum does not depend on the
// order in which it is added up.
func (w *worker) begin(t uint64, ran int, in []engine.Stimulus) {
	w.now, w.ran, w.in, w.begun = t, ran, in, true
	w.recount()
	w.inject()
	if w.flies() {
		w.decide(0)
		w.fly(t % uint64(len(w.due)))
	}
}

// step does the rest of the worker's share of the burst begun, and leaves the outcome in a box.
func (w *worker) step() {
	to := &w.b.boxesOf(w.ran)[w.index]
	to.fired, to.ends = to.fired[:0], to.ends[:0]
	w.propagate()
	if w.b.c.Driven != nil {
		w.propagateDriven()
	}
	for _, s := range w.shares {
		s.propagate(w.now)
	}
	for i := range w.groups {
		g := &w.groups[i]
		g.fired = to.fired
		if g.lo < g.hi {
			if w.b.want.FCL {
				w.list(g, to.candidates[i])
			}
			if g.law.update != nil {
				g.law.update(w, g)
			} else {
				w.updateBlocks(g)
			}
		}
		to.fired = g.fired
		to.ends = append(to.ends, len(to.fired))
	}
	for _, s := range w.shares {
		s.finish(w.now)
	}
	to.values = to.values[:0]
	for _, p := range w.probes {
		to.values = append(to.values, p.value(w.now))
	}
	w.begun = false
	w.goOn()
}

// list makes the lists of the group's candidates, one for each of a neuron's ports.
func (w *worker) list(g *group, lists [][]engine.Candidate) {
	for port := range g.area.PortsEach() {
		to, from := &lists[port], g.portsAhead(port)
		*to = (*to)[:0]
		for _, h := range w.found(g, port, false) {
			for i := range h.each {
				sum, n := w.acc[g.slot+port*g.run+i], w.b.own.Neuron(g.lo+i)
				*to = append(*to, engine.Candidate{Port: from + n, Neuron: n, Sum: sum})
			}
		}
	}
}
