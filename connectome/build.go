package connectome

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"burst/genome"
)

// Options tunes Build; the zero value works.
type Options struct {
	Threads  int                      // goroutines that build; 0: all processors. The result is the same for any number.
	MaxBytes uint64                   // refuse a genome that needs more memory; 0: what this machine has available
	Progress func(done, total uint64) // told now and then, from one goroutine at a time; nil: not told
	Part     Part                     // build the synapses onto this part's neurons only; the zero value: all

	// Gather hands every part what each part gives, in the order of the parts; it is called once, by all parts, while
	// they build, also by one that fails. Without it a part knows nothing of the others: MaxDelay and Bound are then those
	// of its own synapses.
	Gather func(own []uint32) (all [][]uint32, err error)
}

// ErrElsewhere says that another part could not be built; that part's Build says why.
var ErrElsewhere = errors.New("another part of the network could not be built")

// Build makes the network that g describes. Errors point into the genome's text: a LimitError when it is too big, and
// genome.Faults where a rule, a distribution or the proof against overflow fails.
func Build(g *genome.Genome, o Options) (*Connectome, error) {
	met, gather := false, o.Gather
	if gather != nil {
		o.Gather = func(own []uint32) ([][]uint32, error) {
			met = true
			return gather(own)
		}
	}
	c, err := buildNetwork(g, o)
	if err != nil && gather != nil && !met {
		_, _ = gather(nil) // the others learn that this part has failed
	}
	return c, err
}

func buildNetwork(g *genome.Genome, o Options) (*Connectome, error) {
	p, c, err := begin(g, o)
	if err != nil {
		return nil, err
	}
	sums, progress := make([]uint64, p.inputs), &meter{tell: o.Progress}
	if err := p.wire(c, sums, progress); err != nil {
		return nil, err
	}
	if err := p.agree(c, sums); err != nil {
		return nil, err
	}
	if err := p.prove(c, sums); err != nil {
		return nil, err
	}
	p.sortRows(c, progress)
	return c, nil
}

// begin plans a network and makes all of it but synapses and bounds.
func begin(g *genome.Genome, o Options) (*plan, *Connectome, error) {
	p, err := newPlan(g, o)
	if err != nil {
		return nil, nil, err
	}
	p.chooseScale()
	c := &Connectome{
		Name: g.Name, Seed: g.Seed, RunSeed: g.RunSeed, Timestep: g.Timestep, Scale: int32(p.scale),
		Neurons: uint32(p.neurons), Ports: uint32(p.inputs), MaxDelay: 1, Part: p.part,
	}
	if c.Areas, err = p.makeAreas(); err != nil {
		return nil, nil, err
	}
	if c.Stimuli, err = p.makeStimuli(); err != nil {
		return nil, nil, err
	}
	if err := p.checkWeights(); err != nil {
		return nil, nil, err
	}
	p.makeStrips()
	return p, c, nil
}

// wire makes the projections: it counts every row and places every synapse in its row, in no order yet.
func (p *plan) wire(c *Connectome, sums []uint64, progress *meter) error {
	for i := range p.wirings {
		progress.total += 3 * p.wirings[i].synapses
	}
	c.Row = make([]uint64, p.neurons+1)
	if p.inOrder() {
		return p.wireInOrder(c, p.likely(), sums, progress)
	}
	if err := p.countRows(c.Row, progress); err != nil {
		return err
	}
	c.ByRule = p.byRule()
	progress.total = 2*c.ByRule + p.synapses() // what was estimated is known now
	room := p.room(c.Row[p.neurons])
	c.Target, c.Weight, c.Delay = room.target, room.weight, room.delay
	return p.place(c, nil, sums, progress)
}

// room is memory for synapses: that of the part before where it suffices.
func (p *plan) room(synapses uint64) row {
	delays := p.hasDelays()
	if old := p.spare; old.target != nil && uint64(cap(old.target)) >= synapses && (!delays || uint64(cap(old.delay)) >= synapses) {
		if !delays {
			old.delay = nil
		}
		return old.between(0, synapses)
	}
	if p.spare.target != nil {
		p.spare = row{}
		debug.FreeOSMemory()
	}
	return newRows(synapses, delays)
}

// countRows turns row into the offsets of the rows and refuses what does not fit, now that sizes are exact.
func (p *plan) countRows(row []uint64, progress *meter) error {
	p.tallyRows(row, single, p.part, progress)
	p.countGroups(row, progress)
	start := uint64(0)
	for n, length := range row {
		row[n] = start
		start += length
	}
	return p.checkMemory()
}

// tallyRows adds the synapses onto a part that the projections wanted make to those of their sources; where that is the part
// to build it makes their numbers exact.
func (p *plan) tallyRows(row []uint64, wanted func(*wiring) bool, part Part, progress *meter) {
	for i := range p.wirings {
		w := &p.wirings[i]
		r, ok := w.known(part)
		if !ok || !wanted(w) {
			continue
		}
		out := row[w.from.First:w.from.End()]
		spans(p.workers, uint64(len(out)), 1<<16, func(_ int, lo, hi uint64) {
			for s := lo; s < hi; s++ {
				out[s] += r.outgoing(s)
			}
		})
		progress.add(w.synapses)
	}
	sinks, totals := make([]sink, p.workers), make([]atomic.Uint64, len(p.wirings))
	for i := range sinks {
		sinks[i] = &rowCounter{row: row, totals: totals, progress: progress}
	}
	walked := func(w *wiring) bool { _, ok := w.known(part); return !ok && wanted(w) }
	p.sweep(sinks, walked, part)
	for i := range p.wirings {
		if w := &p.wirings[i]; part == p.part && walked(w) {
			w.settle(totals[i].Load())
		}
	}
}

// settle sets the number of synapses that were made.
func (w *wiring) settle(n uint64) {
	if w.counted && n != w.synapses {
		panic(fmt.Sprintf("BUG: projections[%d] made %d synapses, not %d", w.index, n, w.synapses))
	}
	w.synapses, w.counted = n, true
}

// rowCounter counts the synapses of each source and projection.
type rowCounter struct {
	row      []uint64
	totals   []atomic.Uint64
	progress *meter
}

func (r *rowCounter) take(w *wiring, b *batch) {
	for lo, hi := 0, 0; lo < b.n; lo = hi {
		hi = run(b, lo)
		atomic.AddUint64(&r.row[w.from.First+b.source[lo]], uint64(hi-lo))
	}
	r.totals[w.index].Add(uint64(b.n))
	r.progress.add(uint64(b.n))
}

// run is the end of the run of synapses from lo on that have the same source.
func run(b *batch, lo int) int {
	hi := lo + 1
	for hi < b.n && b.source[hi] == b.source[lo] {
		hi++
	}
	return hi
}
