package connectome

import (
	"math"
	"runtime/debug"
	"slices"
	"time"

	"burst/genome"
)

// Parts builds a network part by part, for devices that share it. Every part is made by its own draws, so that the whole is
// never there, and after the one before has gone, so that no two of them are. What all must agree on is known when the last
// is made: Whole.
type Parts struct {
	plan *plan // nil once all is known
	head *Connectome
	of   int
	made int
	sums []uint64 // |weight| per port, of the parts made
	tell func(done, total uint64)
	took time.Duration
}

// NewParts plans a network in so many parts. o.MaxBytes is for the largest of them; o.Part and o.Gather are not used. The
// errors are Build's.
func NewParts(g *genome.Genome, of int, o Options) (*Parts, error) {
	start := time.Now()
	o.Part, o.Gather = Part{0, of}, nil
	p, head, err := begin(g, o)
	if err != nil {
		return nil, err
	}
	head.Part, head.MaxDelay = Part{}, p.leastDelay()
	s := &Parts{plan: p, head: head, sums: make([]uint64, p.inputs), tell: o.Progress, took: time.Since(start)}
	if err := s.Into(of); err != nil {
		return nil, err
	}
	return s, nil
}

// Into plans for another number of parts, before the first is made. What surely does not fit is refused.
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

// Head is what is known of the network before its parts are made: no synapses, no bounds, and of the longest delay only that
// it is not less than MaxDelay.
func (s *Parts) Head() *Connectome {
	head := *s.head
	return &head
}

// Least is how many synapses a part surely has: their number, or eight standard deviations below its mean where draws
// decide. The zero value is all parts together. It is to be asked before Whole.
func (s *Parts) Least(part Part) uint64 {
	sum := uint64(0)
	for i := range s.plan.wirings {
		if w := &s.plan.wirings[i]; !w.merged {
			n, _ := w.total(part)
			sum = add(sum, n)
		}
	}
	return sum
}

// Next makes the next part, as Build does, but for the bounds. The one before must not be used any more: its memory is
// that of the next.
func (s *Parts) Next() (*Connectome, error) {
	defer s.clock(time.Now())
	debug.FreeOSMemory() // what planning left, or who took the part before
	p, c := s.plan, s.Head()
	if err := p.turnTo(Part{s.made, s.of}); err != nil {
		return nil, err
	}
	c.Part, c.MaxDelay, c.hash = p.part, 1, 0
	progress := &meter{tell: s.progress()}
	if err := p.wire(c, s.sums, progress); err != nil {
		return nil, err
	}
	if worst(s.sums) > math.MaxInt32 {
		return nil, s.overflow()
	}
	p.sortRows(c, progress)
	p.spare = row{c.Target, c.Weight, c.Delay}
	s.made++
	c.total = c.Synapses()
	s.head.total += c.total
	s.head.ByRule += c.ByRule
	s.head.MaxDelay = max(s.head.MaxDelay, c.MaxDelay)
	s.head.hash += c.Hash()
	return c, nil
}

// Whole is the network that the parts make, without its synapses: with its longest delay, its bounds, and what Total and Hash
// tell. It is refused where Build refuses it, with the same words.
func (s *Parts) Whole() (*Connectome, error) {
	defer s.clock(time.Now())
	if s.plan == nil {
		return s.head, nil
	}
	if s.made < s.of {
		panic("BUG: the whole of a network of which parts are missing")
	}
	s.plan.spare = row{}
	debug.FreeOSMemory() // that of the last part
	if err := s.plan.prove(s.head, s.sums); err != nil {
		return nil, err
	}
	s.plan, s.sums = nil, nil
	return s.head, nil
}

// Took is how long planning and building have taken so far.
func (s *Parts) Took() time.Duration { return s.took }

func (s *Parts) clock(start time.Time) { s.took += time.Since(start) }

// progress tells of all parts what is told of the next one.
func (s *Parts) progress() func(done, total uint64) {
	if s.tell == nil {
		return nil
	}
	made, of := uint64(s.made), uint64(s.of)
	return func(done, total uint64) { s.tell(made*total+done, of*total) }
}

// overflow is the refusal where synapses alone exceed a bound: of the network's first port, as the whole is refused.
func (s *Parts) overflow() error {
	s.plan.spare = row{}
	sums := s.plan.sums(s.plan.scale)
	port := slices.IndexFunc(sums, func(sum uint64) bool { return sum > math.MaxInt32 })
	return s.plan.overflows(s.head, uint32(port), sums[port])
}

// turnTo makes another part the one to build, with what is known of it beforehand.
func (p *plan) turnTo(part Part) error {
	p.part = part
	for i := range p.wirings {
		w := &p.wirings[i]
		w.synapses, w.counted = w.total(part)
	}
	for i := range p.groups {
		p.groups[i].synapses = p.groups[i].least()
	}
	return p.checkMemory()
}

// leastDelay is a delay that the network's longest is surely not less than.
func (p *plan) leastDelay() int {
	least := 1
	for i := range p.wirings {
		w := &p.wirings[i]
		n, _ := w.total(Part{})
		if n > 0 && w.keep == 100 && (w.delays != nil || w.delay.Kind == genome.Const) {
			least = max(least, w.longest())
		}
	}
	return least
}
