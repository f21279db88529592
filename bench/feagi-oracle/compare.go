package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// network is the genome as burst builds it, with the stimulated areas firing as FEAGI recorded them.
func network(g *genome.Genome, rec *recording) (*connectome.Connectome, error) {
	played := *g
	played.Areas = slices.Clone(g.Areas)
	for _, i := range rec.stimulated {
		a := &played.Areas[i]
		if a.PSPMax > 0 {
			return nil, fmt.Errorf("area %s was stimulated and has mp_driven_psp; FEAGI does not say at which potential such a neuron fires", a.Name)
		}
		a.Model, a.Params, a.Varied, a.Init = genome.ModelNamed("spike_list"), map[string]float64{}, nil, nil
		a.Gradient = [3]float64{}
		for b, fired := range rec.areas[i].fired {
			for _, n := range fired {
				a.Spikes = append(a.Spikes, genome.Spike{Burst: uint64(b), Neuron: n})
			}
		}
	}
	return connectome.Build(&played, connectome.Options{})
}

// played is a run of burst.
type played struct {
	c      *connectome.Connectome
	fired  [][][]uint32 // by area and burst, by place in the area
	bursts int          // that count
	note   string       // what was done so that weights have room; empty: nothing
}

// leastScale is the coarsest scale that a network of which the weights need room is run with.
const leastScale = 8

// play runs burst for n bursts. Where a weight leaves the room that the proof against overflow gives it, it tries coarser scales; where
// none is coarse enough, only the bursts count that came before.
func play(g *genome.Genome, rec *recording, n int) (*played, error) {
	for note := ""; ; {
		c, err := network(g, rec)
		if err != nil {
			return nil, err
		}
		fired, err := run(c, n)
		var left *engine.NumberError
		switch passed := errors.As(err, &left) && left.Passed; {
		case err == nil:
			return &played{c, fired, n, note}, nil
		case !passed:
			return nil, err
		case coarser(c.Scale) < leastScale:
			until := int(left.After) + 1 // a weight that leaves is delivered in the next burst
			return &played{c, fired, until, fmt.Sprintf("%d bursts compared, as FEAGI has no ceiling: %v", until, left)}, nil
		default:
			again := *g
			again.Scale = coarser(c.Scale)
			g, note = &again, fmt.Sprintf("scale %d, as weights learnt need room", again.Scale)
		}
	}
}

// coarser is the next scale to try; where it can be, one of which decimal weights are whole quanta.
func coarser(scale int32) int32 {
	if scale%10 == 0 {
		return scale / 10
	}
	return scale / 2
}

// run runs a network for n bursts and gives what each area fired.
func run(c *connectome.Connectome, n int) (fired [][][]uint32, err error) {
	b, err := backend.Open("cpu", c, backend.Options{})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	t := &taker{c: c, fired: make([][][]uint32, len(c.Areas))}
	e := engine.New(c, b, engine.Options{Recorders: []engine.Recorder{t}})
	if err := e.Run(context.Background(), uint64(n)); err != nil {
		return t.fired, err
	}
	return t.fired, e.State(&engine.State{}) // looks for weights that left after the last look
}

// taker keeps what fires by area.
type taker struct {
	c     *connectome.Connectome
	fired [][][]uint32
}

func (t *taker) Record(b *engine.Burst) error {
	for i := range t.fired {
		t.fired[i] = append(t.fired[i], nil)
	}
	for _, n := range b.Fired {
		i := t.c.AreaOf(n)
		at, a := b.Number, &t.c.Areas[i]
		first := (n - a.Neurons.First) / a.PerVoxel * a.PerVoxel
		if list := t.fired[i][at]; len(list) == 0 || list[len(list)-1] != first {
			t.fired[i][at] = append(list, first)
		}
	}
	return nil
}

// pair is a synapse's ends, by area and place in it.
type pair struct{ from, to uint64 }

// pairs are the pairs of neurons that FEAGI and burst connect, and the number of FEAGI's synapses, ends outside of the genome's areas left out.
func pairs(c *connectome.Connectome, rec *recording) (theirs, ours map[pair]bool, synapses int) {
	theirs, ours = map[pair]bool{}, map[pair]bool{}
	where := map[uint32]uint64{}
	for i := range rec.areas {
		for k, id := range rec.areas[i].ids {
			where[id] = uint64(i)<<32 | uint64(k)
		}
	}
	for i := range rec.areas {
		for _, x := range rec.areas[i].synapses {
			from, ok := where[x.Source]
			to, ok2 := where[x.Target]
			if ok && ok2 {
				theirs[pair{from, to}] = true
				synapses++
			}
		}
	}
	place := func(n uint32) uint64 {
		i := c.AreaOf(n)
		return uint64(i)<<32 | uint64(n-c.Areas[i].Neurons.First)
	}
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			ours[pair{place(n), place(c.NeuronOf(c.Target[k]))}] = true
		}
	}
	for n := uint32(0); c.Driven != nil && n < c.Neurons; n++ {
		for k := c.Driven.Row[n]; k < c.Driven.Row[n+1]; k++ {
			ours[pair{place(n), place(c.NeuronOf(c.Driven.Target[k]))}] = true
		}
	}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		for s := range p.From.Count {
			for k := p.Row[s]; k < p.Row[s+1]; k++ {
				ours[pair{place(p.From.First + s), place(c.NeuronOf(p.Target[k]))}] = true
			}
		}
	}
	return theirs, ours, synapses
}

// without counts the entries of a that b lacks.
func without(a, b map[pair]bool) int {
	n := 0
	for p := range a {
		if !b[p] {
			n++
		}
	}
	return n
}

// differences counts spikes on one side only, and finds the first burst with one.
type differences struct {
	theirs, ours, differ int
	first                int    // burst, from 1; 0 when there is none
	area                 string // of the first
}

// compareSpikes compares two runs: for each area and burst the neurons that fired, ascending. Memory areas are left out, whose neurons
// FEAGI fires in a thread of their own.
func compareSpikes(theirs, ours [][][]uint32, g *genome.Genome) differences {
	var d differences
	for i := range theirs {
		if g.Areas[i].Upstream != nil {
			continue
		}
		for b := range theirs[i] {
			n := odd(theirs[i][b], ours[i][b])
			d.theirs, d.ours, d.differ = d.theirs+len(theirs[i][b]), d.ours+len(ours[i][b]), d.differ+n
			if n > 0 && (d.first == 0 || b+1 < d.first) {
				d.first, d.area = b+1, g.Areas[i].Name
			}
		}
	}
	return d
}

// odd counts what only one of two ascending lists has.
func odd(a, b []uint32) int {
	n := 0
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0] == b[0]:
			a, b = a[1:], b[1:]
		case a[0] < b[0]:
			a, n = a[1:], n+1
		default:
			b, n = b[1:], n+1
		}
	}
	return n + len(a) + len(b)
}
