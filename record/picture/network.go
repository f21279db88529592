package picture

import (
	"burst/connectome"
	"burst/genome"
)

// matrix draws how many synapses lead from area to area.
func matrix(title string, g *genome.Genome) (*Picture, error) {
	s, err := connectome.Measure(g, connectome.Options{})
	if err != nil {
		return nil, err
	}
	h := heat{title: title, x: "from area", y: "to area", key: "synapses", x1: 1, log: true, cells: len(g.Areas) <= 12, empty: "no synapses", columns: []string{}}
	for i := range g.Areas {
		h.rows, h.columns = append(h.rows, g.Areas[i].Name), append(h.columns, g.Areas[i].Name)
		h.values = append(h.values, make([]float64, len(g.Areas)))
	}
	for _, p := range s.Pairs {
		h.values[p.To][p.From] += float64(p.Synapses)
	}
	return h.picture("matrix", "Synapses from the areas at the bottom to the areas at the left.")
}
