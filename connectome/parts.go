package connectome

import (
	"runtime/debug"
	"sync"
	"time"

	"burst/genome"
)

// Parts builds a network part by part, for devices that share it. Only one part's synapses are in memory at a time. Values that depend on
// all parts, such as the longest delay, are known when all parts are made: see Whole.
type Parts struct {
	plan  *plan // nil once all is known
	head  *Connectome
	of    int
	tell  func(done, total uint64)
	took  time.Duration
	host  sync.Mutex // held by the part whose synapses are in the host's memory
	spare row        // memory of the one before
	sums  []uint64   // |weight| per port, of the parts made: each has ports of its own

	mu   sync.Mutex // guards what follows, and head while parts are made
	made int
	kept int         // those whose synapses the Maker has kept
	done [][2]uint64 // by part, of how many pieces of work
}

// NewParts plans a network in so many parts. o.MaxBytes is the limit for the largest part; o.Part and o.Allgather are not used. The
// errors are those of Build.
func NewParts(g *genome.Genome, of int, o Options) (*Parts, error) {
	for i := range g.Projections {
		if l := g.Projections[i].Learning; l != nil && o.Maker == nil { // else there is another reason
			return nil, g.Fault(l.Pos, projectionKey(i, "plasticity"), "a network with plastic weights cannot be built in parts (for several GPUs or a measurement); build the whole network, for one GPU, or the cpu or reference backend")
		}
	}
	start := time.Now()
	o.Part, o.Allgather, o.keeps = Part{0, of}, nil, o.Maker != nil
	p, head, err := begin(g, o)
	if err != nil {
		return nil, err
	}
	head.Part, head.MaxDelay, head.Driven = Part{}, p.leastDelay(), p.divisors()
	s := &Parts{plan: p, head: head, sums: make([]uint64, p.inputs), tell: o.Progress, took: time.Since(start)}
	if err := s.Into(of); err != nil {
		return nil, err
	}
	return s, nil
}

// Into plans for another number of parts. It must be called before the first part is made. It refuses parts that cannot fit.
func (s *Parts) Into(of int) error {
	s.of = of
	for i := range of {
		if err := s.plan.turnTo(Part{i, of}); err != nil {
			return err
		}
	}
	return nil
}

// Of is the number of parts.
func (s *Parts) Of() int { return s.of }

// Head is the network as known before its parts are made. It has no synapses and no bounds, and its MaxDelay is a lower bound.
func (s *Parts) Head() *Connectome {
	head := *s.head
	return &head
}

// Least is a lower bound of the number of synapses of a part: the exact number, or eight standard deviations below the mean
// if it is random. The zero Part means all parts. Call it before Whole.
func (s *Parts) Least(part Part) uint64 {
	return s.plan.least(part)
}

func (p *plan) least(part Part) (sum uint64) {
	for i := range p.wirings {
		if w := &p.wirings[i]; !w.merged {
			n, _ := w.estimate(part)
			sum = add(sum, n)
		}
	}
	return sum
}

// Each makes all parts, as Build does, but without bounds, and calls use with each, which may use it until it returns. An Options.Maker
// makes all parts at the same time, so that goroutines call use; but of the parts whose synapses it does not keep, one after the other. Of
// those that it keeps a part has Row alone. The error is that of the first part that has one.
func (s *Parts) Each(use func(c *Connectome) error) error {
	s.done = make([][2]uint64, s.of)
	if s.plan.maker == nil {
		for i := range s.of {
			if err := s.make(i, s.took, use); err != nil {
				return err
			}
		}
		return nil
	}
	s.plan.recipe() // places of neurons that all parts read are made once
	before, errs := s.took, make([]error, s.of)
	parallel(s.of, uint64(s.of), func(_ int, i uint64) { errs[i] = s.make(int(i), before, use) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// make makes a part, before which so much time was taken, and calls use.
func (s *Parts) make(i int, before time.Duration, use func(c *Connectome) error) error {
	start, held := time.Now(), false
	defer func() {
		if held {
			s.host.Unlock()
		}
	}()
	p, err := s.plan.partOf(Part{i, s.of}, func() row {
		if held {
			return row{}
		}
		s.host.Lock()
		held = true
		if s.plan.maker == nil || s.spare.target != nil {
			debug.FreeOSMemory() // what planning left, or who took the part before
		}
		return s.spare
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	c := s.Head()
	s.mu.Unlock()
	c.Part, c.MaxDelay, c.hash = p.part, 1, 0
	var neurons uint64
	var beside sync.WaitGroup
	if p.maker != nil { // which leaves the processors idle
		beside.Go(func() { neurons = c.hashOfNeurons() })
		defer beside.Wait()
	}
	progress := &meter{tell: s.progress(i)}
	if err := p.static().wire(c, s.sums, progress); err != nil {
		return err
	}
	if err := p.makeDriven(c, s.sums, progress); err != nil {
		return err
	}
	c.total = c.Synapses() + c.apartHere()
	if beside.Wait(); p.maker == nil {
		neurons = c.hashOfNeurons()
	}
	s.add(c, neurons+c.hashOfSynapses(), before+time.Since(start))
	if held {
		s.spare = row{c.Target, c.Weight, c.Delay}
	}
	return use(c)
}

// add adds what is to be known of a part, when so much time was taken.
func (s *Parts) add(c *Connectome, hash uint64, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	if c.kept {
		s.kept++
	}
	s.head.total += c.total
	s.head.ByRule += c.ByRule
	s.head.MaxDelay = max(s.head.MaxDelay, c.MaxDelay)
	s.head.hash += hash
	s.took = max(s.took, took)
}

// Whole is the whole network without its synapses. It has the longest delay, the bounds, and the values of Total and Hash. Its
// errors are those of Build.
func (s *Parts) Whole() (*Connectome, error) {
	defer s.clock(time.Now())
	if s.plan == nil {
		return s.head, nil
	}
	if s.made < s.of {
		panic("BUG: the whole of a network of which parts are missing")
	}
	s.spare = row{}
	if !s.Kept() {
		debug.FreeOSMemory() // that of the last part
	}
	if err := s.plan.prove(s.head, s.sums); err != nil {
		return nil, err
	}
	s.plan, s.sums = nil, nil
	return s.head, nil
}

// Kept reports whether Options.Maker has kept the synapses of all parts.
func (s *Parts) Kept() bool { return s.kept == s.of }

// Took is the time that planning and building have taken so far.
func (s *Parts) Took() time.Duration { return s.took }

func (s *Parts) clock(start time.Time) { s.took += time.Since(start) }

// progress converts the progress of a part to that of all parts. Those that have not begun count as much as this one.
func (s *Parts) progress(part int) func(done, total uint64) {
	if s.tell == nil {
		return nil
	}
	return func(done, total uint64) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done[part] = [2]uint64{done, total}
		var all [2]uint64
		for _, d := range s.done {
			if d[1] == 0 {
				d[1] = total
			}
			all[0], all[1] = all[0]+d[0], all[1]+d[1]
		}
		s.tell(all[0], all[1])
	}
}

// partOf is the plan of a part. It calls hold before rows come into the host's memory, which gives memory for them.
func (p *plan) partOf(part Part, hold func() row) (*plan, error) {
	wirings := make([]*wiring, len(p.wirings))
	for i := range wirings {
		wirings[i] = &p.wirings[i]
	}
	q := p.only(wirings...)
	q.hold = hold
	return q, q.turnTo(part)
}

// turnTo makes another part the one to build.
func (p *plan) turnTo(part Part) error {
	p.part = part
	for i := range p.wirings {
		w := &p.wirings[i]
		w.size(part)
	}
	for i := range p.merging {
		p.merging[i].synapses = p.merging[i].least()
	}
	return p.checkMemory()
}

// leastDelay is a lower bound of the network's longest delay.
func (p *plan) leastDelay() int {
	least := 1
	for i := range p.wirings {
		w := &p.wirings[i]
		n, _ := w.estimate(Part{})
		if n > 0 && w.keep == 100 && (w.delays != nil || w.delay.Kind == genome.Const) {
			least = max(least, w.longest)
		}
	}
	return least
}
