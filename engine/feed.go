package engine

import (
	"fmt"
	"slices"

	"burst/connectome"
)

// Feed gathers what a burst injects: the genome's own stimuli and the caller's sources, merged, ascending and checked.
type Feed struct {
	c        *connectome.Connectome
	sources  []Source
	gathered []Stimulus // of all sources, any order
	merged   []Stimulus // one a port, ascending
}

// NewFeed makes a feed of c's scheduled stimuli and the given sources.
func NewFeed(c *connectome.Connectome, sources []Source) *Feed {
	return &Feed{c: c, sources: append([]Source{scheduled(c.Stimuli)}, sources...)}
}

// Next is what Step is to be given for burst t; it is valid until the next call. It refuses ports that do not exist and
// sums that could leave int32 on top of the burst's synapses and drives.
func (f *Feed) Next(t uint64) ([]Stimulus, error) {
	f.gathered, f.merged = f.gathered[:0], f.merged[:0]
	for _, s := range f.sources {
		var err error
		if f.gathered, err = s.Stimuli(t, f.gathered); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(f.gathered, func(a, b Stimulus) int { return int(int64(a.Port) - int64(b.Port)) })
	for i := 0; i < len(f.gathered); {
		port, sum := f.gathered[i].Port, int64(0)
		if port >= f.c.Ports {
			return nil, fmt.Errorf("stimulus for port %d, want less than %d", port, f.c.Ports)
		}
		for ; i < len(f.gathered) && f.gathered[i].Port == port; i++ {
			sum += int64(f.gathered[i].Amount)
		}
		if room := f.c.Headroom(port); max(sum, -sum) > room {
			n := f.c.NeuronOf(port)
			a := &f.c.Areas[f.c.AreaOf(n)]
			return nil, fmt.Errorf("stimuli of %d quanta for neuron %d of area %q, which has room for %d before its sum could "+
				"leave int32; lower the amounts or the genome's scale", sum, n-a.Neurons.First, a.Name, room)
		}
		if sum != 0 {
			f.merged = append(f.merged, Stimulus{Port: port, Amount: int32(sum)})
		}
	}
	return f.merged, nil
}

// scheduled is the Source of the stimuli that the genome lists.
type scheduled []connectome.Stimulus

// Stimuli appends those of burst t.
func (s scheduled) Stimuli(t uint64, in []Stimulus) ([]Stimulus, error) {
	for i := range s {
		if !s[i].Active(t) {
			continue
		}
		for k, p := range s[i].Ports {
			in = append(in, Stimulus{Port: p, Amount: s[i].Amounts[k]})
		}
	}
	return in, nil
}
