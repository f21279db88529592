package record

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	chosen := map[string][]connectome.Span{}
	w := wanted{every: g.Record.Every, synapses: g.Record.Weights, histograms: !g.Record.NoHistograms}
	variables := g.Record.Variables
	asked, named := false, false // weights, and variables, by requests
	for _, r := range requests {
		table, text, found := strings.Cut(r, "=")
		if !found || !slices.Contains(tables.Names(), table) || text == "" {
			return p, "", fmt.Errorf("%q, want %s=, then all, none, or areas such as L4E,L4I or L4E[0..9]%s", r, strings.Join(tables.Names(), "= or "), didYouMean(table, tables.Names()))
		}
		switch table {
		case tables.Weights:
			if !asked {
				w.synapses, asked = nil, true
			}
			err = weightRequest(g, c, text, &w)
		case tables.Variables:
			if !named {
				variables, named = nil, true
			}
			var more []genome.Variables
			more, err = variableRequest(g, c, text)
			variables = append(variables, more...)
		case tables.Histograms:
			if w.histograms = text == "all"; !w.histograms && text != "none" {
				err = fmt.Errorf("%q, want all or none%s", text, didYouMean(text, []string{"all", "none"}))
			}
		default:
			var spans []connectome.Span
			spans, err = choose(g, c, table, text)
			chosen[table] = append(chosen[table], spans...)
			if chosen[table] == nil {
				chosen[table] = []connectome.Span{} // none, which is not the same as nothing said
			}
		}
		if err != nil {
			return p, "", fmt.Errorf("%s: %w", table, err)
		}
	}
	if len(w.synapses) > 0 && len(c.Plastic) == 0 {
		return p, "", errors.New("weights: no projection of this network learns, and so no weight changes; want a genome with plasticity")
	}
	if p.Weights, err = sampling(g, c, &w); err != nil {
		return p, "", err
	}
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
	if err := p.series(g, c, variables, potentials); err != nil {
		return p, "", fmt.Errorf("variables: %w", err)
	}
	return p, note, nil
}

func didYouMean(word string, names []string) string {
	if near := genome.Nearest(word, names); near != "" && near != word {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
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

// lacks says why a table has no rows of a source area.
var lacks = map[string]string{tables.Potentials: "has no potential", tables.FCL: "takes no input"}

// choose reads the neurons that a request names for a table.
func choose(g *genome.Genome, c *connectome.Connectome, table, text string) ([]connectome.Span, error) {
	switch text {
	case "none":
		return nil, nil
	case "all":
		return []connectome.Span{{Count: c.Neurons}}, nil
	}
	var spans []connectome.Span
	for _, part := range strings.Split(text, ",") {
		name, rest, ranged := strings.Cut(part, "[")
		i, err := g.FindArea(name)
		if err != nil {
			return nil, err
		}
		if lack := lacks[table]; lack != "" && g.Areas[i].Source() {
			return nil, fmt.Errorf("area %q %s, its model %s is a source; only its spikes can be recorded: spikes=%s", name, lack, g.Areas[i].Model.Name, part)
		}
		s := c.Areas[i].Neurons
		if ranged {
			if s, err = within(s, part, rest); err != nil {
				return nil, err
			}
		}
		spans = append(spans, s)
	}
	return spans, nil
}

// within reads "3]" or "0..9]", both ends included.
func within(s connectome.Span, part, text string) (connectome.Span, error) {
	first, last, isRange := strings.Cut(strings.TrimSuffix(text, "]"), "..")
	if !isRange {
		last = first
	}
	a, errA := strconv.ParseUint(first, 10, 32)
	b, errB := strconv.ParseUint(last, 10, 32)
	if errA != nil || errB != nil || !strings.HasSuffix(text, "]") || a > b || b >= uint64(s.Count) {
		return s, fmt.Errorf("%q, want neurons such as [0..9] or [3], numbers below %d", part, s.Count)
	}
	return connectome.Span{First: s.First + uint32(a), Count: uint32(b - a + 1)}, nil
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
