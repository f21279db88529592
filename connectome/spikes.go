package connectome

import (
	"errors"
	"slices"

	"burst/genome"
	"burst/internal/edgelist"
	"burst/internal/tabular"
)

// bytesASpike is the memory of a spike of a list while it is read and sorted: its row, as genome.Spike and its burst.
const bytesASpike = 18 + 16 + 8

// readSpikes reads the lists of spikes that are in files, if they fit into memory.
func (p *plan) readSpikes() error {
	p.listed = make([][]genome.Spike, len(p.g.Areas))
	for i := range p.g.Areas {
		a := &p.g.Areas[i]
		if a.SpikeFile == "" {
			continue
		}
		taken := p.fixedBytes()
		o := edgelist.Options{
			Spikes: true, Source: edgelist.Side{Count: a.Neurons(), Of: a.Name}, Timestep: p.g.Timestep,
			MaxRows: min((p.limit-min(p.limit, taken))/bytesASpike, mostNumbers), Threads: p.workers,
		}
		t, err := p.readEdges(a.SpikeFile, o)
		key := areaKey(i, "file")
		var many *edgelist.TooManyError
		var rows tabular.Faults
		switch {
		case errors.As(err, &many):
			need := add(taken, mul(many.Rows, bytesASpike))
			return p.refuse(a.SpikePos, key, "bytes", need, p.limit, need)
		case errors.As(err, &rows):
			return p.rowsOf(a.SpikePos, key, a.SpikeFile, rows)
		case err != nil:
			return p.g.Fault(a.SpikePos, key, "%s: %s", a.SpikeFile, err)
		}
		spikes := make([]genome.Spike, len(t.Source))
		for k := range spikes {
			spikes[k] = genome.Spike{Burst: t.Burst[k], Neuron: t.Source[k]}
		}
		slices.SortFunc(spikes, genome.Spike.Compare)
		for k := 1; k < len(spikes); k++ {
			if s := spikes[k]; s == spikes[k-1] {
				return p.g.Fault(a.SpikePos, key, "%s: expects each neuron at most once per burst, found neuron %d twice in burst %d", a.SpikeFile, s.Neuron, s.Burst)
			}
		}
		p.listed[i] = spikes
	}
	return nil
}

// spikes are those of a spike_list area, ascending by burst, then neuron.
func (p *plan) spikes(area int) []genome.Spike {
	if found := p.listed[area]; found != nil {
		return found
	}
	return p.g.Areas[area].Spikes
}

// newSpikeList sorts spikes, ascending by burst, by neuron.
func newSpikeList(neurons uint64, spikes []genome.Spike) SpikeList {
	l := SpikeList{Row: make([]uint32, neurons+1), At: make([]uint64, len(spikes))}
	for _, s := range spikes {
		l.Row[s.Neuron+1]++
	}
	for i := range neurons {
		l.Row[i+1] += l.Row[i]
	}
	next := slices.Clone(l.Row)
	for _, s := range spikes {
		l.At[next[s.Neuron]] = s.Burst
		next[s.Neuron]++
	}
	return l
}
