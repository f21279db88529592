package connectome

import (
	"math"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"burst/genome"
)

// Parts builds a network part by part, for devices that share it. Only one part is in memory at a time. Values that depend on
// all parts, such as the longest delay, are known when the last part is made: see Whole.
type Parts struct {
	plan *plan // nil once all is known
	head *Connectome
	of   int
	made int
	sums []uint64 // |weight| per port, of the parts made
	kept int      // those whose synapses the Maker has kept
	tell func(done, total uint64)
	took time.Duration
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

// Next makes the next part, as Build does, but without bounds. The previous part must no longer be used, because the next one
// takes its memory. Of synapses that Options.Maker keeps it has Row alone.
func (s *Parts) Next() (*Connectome, error) {
	defer s.clock(time.Now())
	if s.plan.maker == nil || s.made > 0 {
		debug.FreeOSMemory() // what planning left, or who took the part before
	}
	p, c := s.plan, s.Head()
	if err := p.turnTo(Part{s.made, s.of}); err != nil {
		return nil, err
	}
	c.Part, c.MaxDelay, c.hash = p.part, 1, 0
	var neurons uint64
	var beside sync.WaitGroup
	if p.maker != nil { // which leaves the processors idle
		beside.Go(func() { neurons = c.hashOfNeurons() })
		defer beside.Wait()
	}
	still, progress := p.static(), &meter{tell: s.progress()}
	still.spare = p.spare
	if err := still.wire(c, s.sums, progress); err != nil {
		return nil, err
	}
	if err := p.makeDriven(c, s.sums, progress); err != nil {
		return nil, err
	}
	if worst(s.sums) > math.MaxInt32 {
		return nil, s.overflow()
	}
	p.spare = row{c.Target, c.Weight, c.Delay}
	s.made++
	if c.kept {
		s.kept++
	}
	c.total = c.Synapses() + c.apartHere()
	s.head.total += c.total
	s.head.ByRule += c.ByRule
	s.head.MaxDelay = max(s.head.MaxDelay, c.MaxDelay)
	if beside.Wait(); p.maker == nil {
		neurons = c.hashOfNeurons()
	}
	s.head.hash += neurons + c.hashOfSynapses()
	return c, nil
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
	s.plan.spare = row{}
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

// progress converts the progress of the next part to that of all parts.
func (s *Parts) progress() func(done, total uint64) {
	if s.tell == nil {
		return nil
	}
	made, of := uint64(s.made), uint64(s.of)
	return func(done, total uint64) { s.tell(made*total+done, of*total) }
}

// overflow is the error if synapses alone exceed a bound. It names the network's first such port, as for the whole network.
func (s *Parts) overflow() error {
	s.plan.spare = row{}
	sums := s.plan.sums(s.plan.scale)
	port := slices.IndexFunc(sums, func(sum uint64) bool { return sum > math.MaxInt32 })
	return s.plan.overflows(s.head, uint32(port), sums[port])
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
