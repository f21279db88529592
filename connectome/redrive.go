package connectome

import (
	"math"

	"burst/genome"
)

// Redriven is the network with other drives and stimuli: those of g, which is the genome before but for these. Neurons and synapses are
// shared. Errors are those of Build: amounts that round to nothing, and sums that could leave int32.
func (c *Connectome) Redriven(before, g *genome.Genome, threads int) (*Connectome, error) {
	old, err := c.replan(before, threads)
	if err != nil {
		return nil, err
	}
	p, err := c.replan(g, threads)
	if err != nil {
		return nil, err
	}
	if len(p.stimuli) != len(c.Stimuli) {
		return nil, g.Fault(genome.Pos{}, "stimuli", "%d stimuli and drives of columns, want the %d that there are", len(p.stimuli), len(c.Stimuli))
	}
	made := *c
	made.Areas = append([]Area(nil), c.Areas...)
	for i := range made.Areas {
		a := &made.Areas[i]
		if now, was := level(&g.Areas[i], g.Timestep), level(&before.Areas[i], g.Timestep); now != was {
			return nil, g.Fault(g.Areas[i].Pos, areaKey(i, "drive"), "constant drives of a %s area are part of its rest, which a run cannot change: found %v mV, want %v mV as before; "+
				"poisson and normal drives may change", a.Model.Name, now, was)
		}
		a.Drives = nil
		if err := p.makeDrives(i, a); err != nil {
			return nil, err
		}
		if what := a.unbounded(); what != "" {
			return nil, g.Fault(g.Areas[i].Pos, areaKey(i, what), "%s lies beyond ±3.4e38, the range of potentials", what)
		}
	}
	if made.Stimuli, err = p.makeStimuli(); err != nil {
		return nil, err
	}
	return &made, made.rebound(old, p)
}

// replan plans the network's genome, or one with other drives and stimuli, at its scale.
func (c *Connectome) replan(g *genome.Genome, threads int) (*plan, error) {
	own := *g
	own.Scale, own.Seed = c.Scale, c.Seed // whatever its text says
	p, err := newPlan(&own, Options{Threads: threads, MaxBytes: math.MaxUint64})
	if err != nil {
		return nil, err
	}
	p.chooseScale()
	for i := range c.Areas {
		lifts := c.Areas[i].lifts()
		if p.lifts[i] > lifts {
			return nil, g.Fault(g.Areas[i].Pos, areaKey(i, "drive"), "more events than the rectifying area %q was built for; want a lower rate", c.Areas[i].Name)
		}
		p.lifts[i] = lifts
	}
	return p, nil
}

// rebound proves anew that no sum leaves int32, with the drives of one plan in place of another's.
func (c *Connectome) rebound(old, now *plan) error {
	less, more := make([]uint64, c.Ports), make([]uint64, c.Ports)
	old.addDrives(less, old.scale)
	now.addDrives(more, now.scale)
	bound := make([]uint32, c.Ports)
	for port := range more {
		more[port] += uint64(c.Bound[port]) - less[port]
		bound[port] = uint32(min(more[port], math.MaxUint32))
	}
	c.Bound = bound
	now.addStimuli(more, now.scale)
	for port, sum := range more {
		if sum > math.MaxInt32 {
			i := c.AreaOfPort(uint32(port))
			n, _ := c.Areas[i].Input(uint32(port))
			return now.g.Fault(now.g.Areas[i].Pos, areaKey(i, "drive"), "neuron %d of area %q could receive %d quanta in one burst%s, more than %d; want smaller drives or stimuli",
				n, c.Areas[i].Name, sum, c.Areas[i].PortName(uint32(port)), math.MaxInt32)
		}
	}
	return nil
}
