package feagi

import (
	"fmt"
	"slices"
	"strconv"

	"burst/genome"
)

// feed says in the report where no more than power can fire, and what would feed another area.
func (r *Report) feed(g *genome.Genome) {
	fed := make([]bool, len(g.Areas)) // areas that input reaches, over any number of projections
	var reached []int
	reach := func(area int) {
		if !fed[area] {
			fed[area] = true
			reached = append(reached, area)
		}
	}
	for i := range g.Areas {
		if len(g.Areas[i].Drives) > 0 {
			reach(i)
		}
	}
	for i := range g.Stimuli {
		reach(g.Stimuli[i].Area)
	}
	sources := len(reached)
	for next := 0; next < len(reached); next++ {
		for i := range g.Projections {
			p := &g.Projections[i]
			if p.From == reached[next] && p.Weight.A != 0 && g.Areas[p.From].Factor() != 0 {
				reach(p.To)
			}
		}
	}
	switch {
	case len(reached) > sources:
		return
	case sources == 0:
		r.Quiet = "nothing can fire, for the file has no power area"
	default:
		r.Quiet = "nothing but power can fire, for no mapping leads from it to another area"
	}
	best := slices.MaxFunc(indices(g.Areas), func(i, j int) int { return worth(g, i) - worth(g, j) })
	if a := &g.Areas[best]; worth(g, best) > 0 {
		name := a.Name
		if len(a.Aliases) > 0 {
			name = a.Aliases[0]
		}
		if name = quoted(name); cleanName(name) != name && name[0] != '"' {
			name = strconv.Quote(name) // a coded id
		}
		r.Feed = fmt.Sprintf("stimuli.%d={area: %s, every: 10, neurons: [0], amount: %s}", len(g.Stimuli), name, number(max(1, a.Params["threshold"])))
	}
}

func indices(areas []genome.Area) []int {
	list := make([]int, len(areas))
	for i := range list {
		list[i] = i
	}
	return list
}

// worth ranks areas as ones to stimulate: an input with mappings before others with mappings, then inputs, then the rest;
// 0 for those that cannot be or belong to FEAGI's core.
func worth(g *genome.Genome, area int) int {
	a := &g.Areas[area]
	if a.Empty() || a.Group == "core" || len(a.Drives) > 0 {
		return 0
	}
	rank := 1
	if a.Group == "ipu" {
		rank++
	}
	if slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.From == area && p.To != area }) {
		rank += 2
	}
	return rank
}
