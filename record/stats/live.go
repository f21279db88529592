package stats

import (
	"burst/connectome"
	"burst/engine"
	"burst/record/manifest"
)

// Live gathers the figures of Compute while a run goes on, of all its neurons, whatever is recorded of them. It is an engine.Recorder. Its
// memory is about 72 bytes a neuron. Correlation is not computed.
type Live struct {
	c     *connectome.Connectome
	p     pass
	ends  []uint32 // the neuron after each area's last
	areas []*tally
}

// NewLive is for bursts From ≤ t < Until, bins of bin ms (0: 5 ms).
func NewLive(c *connectome.Connectome, from, until uint64, bin float64) *Live {
	from = min(from, until)
	l := &Live{c: c, p: pass{from: from, until: until, width: binWidth(bin, c.Timestep, until-from)}}
	l.p.bins = int((until - from) / l.p.width)
	for i := range c.Areas {
		n := c.Areas[i].Neurons
		l.ends = append(l.ends, n.End())
		l.areas = append(l.areas, newTally(manifest.Area{Recorded: n.Count}, l.p.bins))
	}
	return l
}

// Record counts a burst.
func (l *Live) Record(b *engine.Burst) error {
	if b.Number < l.p.from || b.Number >= l.p.until {
		return nil
	}
	i, first, bin := 0, uint32(0), (b.Number-l.p.from)/l.p.width
	for _, n := range b.Fired {
		for n >= l.ends[i] {
			first = l.ends[i]
			i++
		}
		l.areas[i].add(n-first, b.Number, bin)
	}
	return nil
}

// Summary is the figures so far.
func (l *Live) Summary() *Summary {
	s := &Summary{From: l.p.from, Until: l.p.until, Timestep: l.c.Timestep, Bin: float64(l.p.width) * l.c.Timestep}
	for i := range l.c.Areas {
		a := &l.c.Areas[i]
		s.Areas = append(s.Areas, l.areas[i].area(&manifest.Area{Name: a.Name, Neurons: a.Neurons.Count, Recorded: a.Neurons.Count}, s, l.p.bins))
	}
	return s
}

var _ engine.Recorder = (*Live)(nil)
