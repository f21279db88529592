package genome

import (
	"fmt"
	"slices"
)

// Warnings has a line for each model whose timestep is longer than the longest one for which it was compared with other programs. The
// genome is valid all the same.
func (g *Genome) Warnings() (lines []string) {
	var told []*Model
	for i := range g.Areas {
		m := g.Areas[i].Model
		if m.Longest == 0 || g.Timestep <= m.Longest || slices.Contains(told, m) {
			continue
		}
		told = append(told, m)
		lines = append(lines, fmt.Sprintf("the model %s of area %s is compared with other programs up to a timestep of %v ms; at %v ms its rates may be wrong: write timestep: %v ms",
			m.Name, g.Areas[i].Name, m.Longest, g.Timestep, m.Longest))
	}
	return lines
}
