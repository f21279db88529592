package connectome

import (
	"errors"

	"burst/genome"
)

// Options are the options of Build. The zero value works.
type Options struct {
	Threads  int                      // goroutines that build, not negative; 0: all processors. The result is the same for any number.
	MaxBytes uint64                   // largest memory, in bytes; 0: the memory that this machine has available
	Progress func(done, total uint64) // called now and then, by one goroutine at a time, first with zeros when a network that is built whole is planned; may be nil
	Planned  func(*Connectome) error  // called with the network before it has synapses; an error ends Build, which returns it. May be nil
	Part     Part                     // build the synapses onto this part's neurons only; the zero value: all

	// Allgather returns the words that each part gives, in the order of the parts. Each part calls it once during Build, even
	// if it fails. If it is nil, MaxDelay and Bound are those of the part's own synapses.
	Allgather func(own []uint32) (all [][]uint32, err error)

	Maker Maker // makes the synapses; nil: goroutines of Build. A projection that it does not make is refused
	keeps bool  // the Maker may keep them
}

// ErrElsewhere means that another part could not be built. Build of that part returns the reason.
var ErrElsewhere = errors.New("another part of the network could not be built")

// Build makes the network that g describes. Its errors name a position in the genome's text. A network that is too big gives a
// LimitError. A bad rule or distribution, or sums that could overflow, give genome.Faults.
func Build(g *genome.Genome, o Options) (*Connectome, error) {
	met, allgather := false, o.Allgather
	if allgather != nil {
		o.Allgather = func(own []uint32) ([][]uint32, error) {
			met = true
			return allgather(own)
		}
	}
	c, err := buildNetwork(g, o)
	if err != nil && allgather != nil && !met {
		_, _ = allgather(nil) // the others learn that this part has failed
	}
	return c, err
}

func buildNetwork(g *genome.Genome, o Options) (*Connectome, error) {
	p, c, err := begin(g, o)
	if err != nil {
		return nil, err
	}
	if o.Planned != nil {
		if err := o.Planned(c); err != nil {
			return nil, err
		}
	}
	sums, progress := make([]uint64, p.inputs), &meter{tell: o.Progress}
	progress.add(0)
	if err := p.static().wire(c, sums, progress); err != nil {
		return nil, err
	}
	if err := p.makePlastic(c, sums, progress); err != nil {
		return nil, err
	}
	if err := p.makeDriven(c, sums, progress); err != nil {
		return nil, err
	}
	if err := p.agree(c, sums); err != nil {
		return nil, err
	}
	if err := p.prove(c, sums); err != nil {
		return nil, err
	}
	return c, nil
}

// begin plans a network and makes everything except synapses and bounds.
func begin(g *genome.Genome, o Options) (*plan, *Connectome, error) {
	p, err := newPlan(g, o)
	if err != nil {
		return nil, nil, err
	}
	p.chooseScale()
	p.settleBounds()
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
	p.planRows()
	return p, c, nil
}
