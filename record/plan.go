package record

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"burst/connectome"
	"burst/genome"
)

// unasked is how many neurons' spikes are kept when nobody has said whose.
const unasked = 100_000

// NewPlan says what to keep of a run of g: what the requests name, else what the genome's record block names, else the
// spikes of all neurons, in a network of more than 100,000 neurons of the first of each area; note says so then.
// A request is TABLE=all, TABLE=none, or TABLE=AREA[FROM..TO],AREA,…; the tables are spikes, potentials and fcl.
func NewPlan(g *genome.Genome, c *connectome.Connectome, requests []string) (p Plan, note string, err error) {
	chosen := map[string][]connectome.Span{}
	for _, r := range requests {
		table, text, found := strings.Cut(r, "=")
		if !found || !slices.Contains(Tables(), table) || text == "" {
			return p, "", fmt.Errorf("%q, want %s=, then all, none, or areas such as L4E,L4I or L4E[0..9]%s", r, strings.Join(Tables(), "= or "), didYouMean(table, Tables()))
		}
		spans, err := choose(g, c, table, text)
		if err != nil {
			return p, "", fmt.Errorf("%s: %w", table, err)
		}
		chosen[table] = append(chosen[table], spans...)
		if chosen[table] == nil {
			chosen[table] = []connectome.Span{} // none, which is not the same as nothing said
		}
	}
	fromGenome(g, c, chosen)
	if chosen[spikesTable] == nil {
		chosen[spikesTable], note = firstOfEach(c)
	}
	p.Spikes = joined(chosen[spikesTable])
	p.FCL = joined(chosen[fclTable])
	for _, s := range joined(chosen[potentialsTable]) {
		for n := s.First; n < s.End(); n++ {
			a := areaOf(c, n)
			if g.Areas[a].Source() {
				continue // of all neurons those that have a potential
			}
			p.Potentials = append(p.Potentials, n)
			p.Rest = append(p.Rest, float32(c.Areas[a].V0.Rest))
		}
	}
	return p, note, nil
}

// Tables names the tables that there can be.
func Tables() []string { return []string{spikesTable, potentialsTable, fclTable} }

func didYouMean(word string, names []string) string {
	if near := genome.Nearest(word, names); near != "" && near != word {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// fromGenome fills in the tables that no request has named.
func fromGenome(g *genome.Genome, c *connectome.Connectome, chosen map[string][]connectome.Span) {
	if _, said := chosen[spikesTable]; !said && g.Record.Spikes != nil {
		chosen[spikesTable] = []connectome.Span{}
		for _, a := range g.Record.Spikes {
			chosen[spikesTable] = append(chosen[spikesTable], c.Areas[a].Neurons)
		}
	}
	if _, said := chosen[potentialsTable]; !said {
		for _, p := range g.Record.Potentials {
			for _, n := range p.Neurons {
				chosen[potentialsTable] = append(chosen[potentialsTable], connectome.Span{First: c.Areas[p.Area].Neurons.First + n, Count: 1})
			}
		}
	}
	if _, said := chosen[fclTable]; !said && g.Record.FCL {
		chosen[fclTable] = []connectome.Span{{Count: c.Neurons}}
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

// lacks says why a table holds nothing of a source.
var lacks = map[string]string{potentialsTable: "has no potential", fclTable: "takes no input"}

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
		i := slices.IndexFunc(g.Areas, func(a genome.Area) bool { return a.Called(name) })
		if i < 0 {
			var names []string
			for i := range g.Areas {
				names = append(append(names, g.Areas[i].Name), g.Areas[i].Aliases...)
			}
			return nil, fmt.Errorf("no area %q%s", name, didYouMean(name, names))
		}
		if lack := lacks[table]; lack != "" && g.Areas[i].Source() {
			return nil, fmt.Errorf("area %q %s, its model %s is a source; of it spikes alone can be recorded: spikes=%s", name, lack, g.Areas[i].Model.Name, part)
		}
		s := c.Areas[i].Neurons
		if ranged {
			var err error
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

// areaOf is the area of a neuron.
func areaOf(c *connectome.Connectome, n uint32) int {
	return slices.IndexFunc(c.Areas, func(a connectome.Area) bool { return a.Neurons.Has(n) })
}

// Areas describes the areas of a run for its manifest.
func Areas(g *genome.Genome, c *connectome.Connectome) []Area {
	var areas []Area
	for i := range c.Areas {
		a := &c.Areas[i]
		areas = append(areas, Area{Name: a.Name, Aliases: g.Areas[i].Aliases, First: a.Neurons.First, Neurons: a.Neurons.Count, Model: g.Areas[i].Model.Name, Size: a.Size, PerVoxel: a.PerVoxel})
	}
	return areas
}
