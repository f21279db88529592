package genome

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Reached reports for each area whether its neurons can fire with the genome's own input. These are sources, areas with drives
// or stimuli, and all areas that projections connect to them, directly or through other areas.
func (g *Genome) Reached() []bool {
	reached := make([]bool, len(g.Areas))
	var list []int
	reach := func(area int) {
		if !reached[area] {
			reached[area] = true
			list = append(list, area)
		}
	}
	for i := range g.Areas {
		if g.Areas[i].Source() && g.Areas[i].Upstream == nil || len(g.Areas[i].Drives) > 0 {
			reach(i)
		}
	}
	for i := range g.Stimuli {
		reach(g.Stimuli[i].Area)
	}
	from := make([][]int, len(g.Areas)) // projections by the area that they may start in
	for i := range g.Projections {
		if p := &g.Projections[i]; p.From >= 0 {
			from[p.From] = append(from[p.From], i)
			continue
		}
		for area := range from {
			from[area] = append(from[area], i)
		}
	}
	for next := 0; next < len(list); next++ {
		for i := range g.Areas {
			if slices.Contains(g.Areas[i].Upstream, list[next]) {
				reach(i)
			}
		}
		for _, i := range from[list[next]] {
			p := &g.Projections[i]
			switch {
			case p.From < 0: // an edge list of the whole network
				for area := range g.Areas {
					reach(area)
				}
			case g.Areas[p.From].Factor() != 0 && (p.Rule == Edges || p.Weight.Kind != Const || p.Weight.A != 0):
				reach(p.To)
			}
		}
	}
	return reached
}

// Sensors are the areas for input from outside: those of group ipu that take input, in the order of the genome.
func (g *Genome) Sensors() []int {
	var list []int
	for i := range g.Areas {
		if a := &g.Areas[i]; a.Group == "ipu" && !a.Empty() && !a.Source() {
			list = append(list, i)
		}
	}
	return list
}

// Call is the area's name for a command line: its first alias, such as FEAGI's id, or else its name.
func (a *Area) Call() string {
	if len(a.Aliases) > 0 {
		return a.Aliases[0]
	}
	return a.Name
}

// FindArea returns the index of the area with that name or alias.
func (g *Genome) FindArea(name string) (int, error) {
	return FindArea(func(yield func(string, []string) bool) {
		for i := range g.Areas {
			if !yield(g.Areas[i].Name, g.Areas[i].Aliases) {
				return
			}
		}
	}, name)
}

// FindArea returns the index of the area with that name or alias among areas, which are given by their names and aliases. The
// error lists names of areas, and suggests a similar name or alias.
func FindArea(areas iter.Seq2[string, []string], name string) (int, error) {
	i := 0
	for own, aliases := range areas {
		if own == name || slices.Contains(aliases, name) {
			return i, nil
		}
		i++
	}
	const most = 12
	var listed, all []string
	for own, aliases := range areas {
		listed, all = append(listed, own), append(append(all, own), aliases...)
	}
	some := strings.Join(listed[:min(len(listed), most)], ", ")
	if len(listed) > most {
		some += fmt.Sprintf(" and %d more", len(listed)-most)
	}
	near := Nearest(name, all)
	if near != "" {
		near = fmt.Sprintf("; did you mean %q?", near)
	}
	return -1, fmt.Errorf("no area %q, want one of %s%s", short(name), some, near)
}
