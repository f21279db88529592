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

// asked is what requests say, and in their place the genome of weights and variables.
type asked struct {
	neurons   map[string][]connectome.Span // by table; empty: none; nil: nothing is said
	weights   wanted
	variables []genome.Variables
}

// Check refuses requests that NewPlan would refuse, before c, a network that is planned, has synapses. NewPlan alone sees whether
// too much is asked for.
func Check(g *genome.Genome, c *connectome.Connectome, requests []string) error {
	_, err := readRequests(g, c, requests)
	return err
}

// readRequests reads what a user wants recorded.
func readRequests(g *genome.Genome, c *connectome.Connectome, requests []string) (a asked, err error) {
	a.neurons = map[string][]connectome.Span{}
	a.weights = wanted{every: g.Record.Every, synapses: g.Record.Weights, histograms: !g.Record.NoHistograms}
	a.variables = g.Record.Variables
	weights, variables := false, false // requests name some
	for _, r := range requests {
		table, text, found := strings.Cut(r, "=")
		if !found || !slices.Contains(tables.Names(), table) || text == "" {
			return a, fmt.Errorf("%q, want %s=, then all, none, or areas such as L4E,L4I or L4E[0..9]%s", r, strings.Join(tables.Names(), "= or "), didYouMean(table, tables.Names()))
		}
		switch table {
		case tables.Weights:
			if !weights {
				a.weights.synapses, weights = nil, true
			}
			err = weightRequest(g, c, text, &a.weights)
		case tables.Variables:
			if !variables {
				a.variables, variables = nil, true
			}
			var more []genome.Variables
			more, err = variableRequest(g, c, text)
			a.variables = append(a.variables, more...)
		case tables.Histograms:
			if a.weights.histograms = text == "all"; !a.weights.histograms && text != "none" {
				err = fmt.Errorf("%q, want all or none%s", text, didYouMean(text, []string{"all", "none"}))
			}
		default:
			var spans []connectome.Span
			spans, err = choose(g, c, table, text)
			a.neurons[table] = append(a.neurons[table], spans...)
			if a.neurons[table] == nil {
				a.neurons[table] = []connectome.Span{}
			}
		}
		if err != nil {
			return a, fmt.Errorf("%s: %w", table, err)
		}
	}
	learns := func(p genome.Projection) bool { return p.Learning != nil }
	if len(a.weights.synapses) > 0 && !slices.ContainsFunc(g.Projections, learns) {
		return a, errors.New("weights: no projection of this network learns, and so no weight changes; want a genome with plasticity")
	}
	return a, nil
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

func didYouMean(word string, names []string) string {
	if near := genome.Nearest(word, names); near != "" && near != word {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}
