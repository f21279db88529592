package record

import (
	"fmt"
	"slices"

	"burst/connectome"
	"burst/genome"
	"burst/record/internal/tables"
)

// unasked is the number of neurons whose spikes are recorded if the user has not chosen any.
const unasked = 100_000

// NewPlan says what to keep of a run of g: what the requests name, else what the genome's record block names, else the
// spikes of all neurons, in a network of more than 100,000 neurons of the first of each area; note says so then. Of
// projections that learn it keeps histograms, unless they are refused.
// A request is TABLE=all, TABLE=none, or TABLE=AREA[FROM..TO],AREA,…; the tables are spikes, potentials and fcl. Of variables it
// is variables=AREA[FROM..TO].NAME,… every N. Of weights it is weights=SYNAPSES every N with SYNAPSES as in all, none, 5% or AREA[FROM..TO]:AREA 5%,…, N bursts or a time;
// histograms=all or none.
func NewPlan(g *genome.Genome, c *connectome.Connectome, requests []string) (p Plan, note string, err error) {
	a, err := readRequests(g, c, requests)
	if err != nil {
		return p, "", err
	}
	if p.Weights, err = sampling(g, c, &a.weights); err != nil {
		return p, "", err
	}
	chosen := a.neurons
	fromGenome(g, c, chosen)
	if chosen[tables.Spikes] == nil {
		chosen[tables.Spikes], note = firstOfEach(c)
	}
	p.Spikes = joined(chosen[tables.Spikes])
	p.FCL = joined(chosen[tables.FCL])
	var potentials []uint32
	for _, s := range joined(chosen[tables.Potentials]) {
		for n := s.First; n < s.End(); n++ {
			if !g.Areas[c.AreaOf(n)].Source() { // of all neurons those that have a potential
				potentials = append(potentials, n)
			}
		}
	}
	if err := p.series(g, c, a.variables, potentials); err != nil {
		return p, "", fmt.Errorf("variables: %w", err)
	}
	return p, note, nil
}

// fromGenome fills in the tables that no request has named.
func fromGenome(g *genome.Genome, c *connectome.Connectome, chosen map[string][]connectome.Span) {
	if _, said := chosen[tables.Spikes]; !said && g.Record.Spikes != nil {
		chosen[tables.Spikes] = []connectome.Span{}
		for _, a := range g.Record.Spikes {
			chosen[tables.Spikes] = append(chosen[tables.Spikes], c.Areas[a].Neurons)
		}
	}
	if _, said := chosen[tables.Potentials]; !said {
		for _, p := range g.Record.Potentials {
			for _, n := range p.Neurons {
				chosen[tables.Potentials] = append(chosen[tables.Potentials], connectome.Span{First: c.Areas[p.Area].Neurons.First + n, Count: 1})
			}
		}
	}
	if _, said := chosen[tables.FCL]; !said && g.Record.FCL {
		chosen[tables.FCL] = []connectome.Span{{Count: c.Neurons}}
	}
}

// firstOfEach is every neuron, or of each area a share that makes unasked neurons in all, at least one.
func firstOfEach(c *connectome.Connectome) ([]connectome.Span, string) {
	if c.Neurons <= unasked {
		return []connectome.Span{{Count: c.Neurons}}, ""
	}
	var spans []connectome.Span
	for i := range c.Areas {
		s := c.Areas[i].Neurons
		if s.Count > 0 {
			s.Count = uint32(max(1, uint64(s.Count)*unasked/uint64(c.Neurons)))
			spans = append(spans, s)
		}
	}
	return spans, fmt.Sprintf("record: spikes of the first %.2g %% of each area's neurons; --record spikes=all keeps those of all %d", 100*unasked/float64(c.Neurons), c.Neurons)
}

// joined sorts spans and joins those that touch; nil stays nil.
func joined(spans []connectome.Span) []connectome.Span {
	if len(spans) == 0 {
		return nil
	}
	spans = slices.Clone(spans)
	slices.SortFunc(spans, func(a, b connectome.Span) int { return int(int64(a.First) - int64(b.First)) })
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.First > last.End() {
			out = append(out, s)
		} else if s.End() > last.End() {
			last.Count = s.End() - last.First
		}
	}
	return out
}
