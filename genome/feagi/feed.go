package feagi

import (
	"fmt"
	"slices"
	"strings"

	"burst/genome"
)

// Sensor is an area that waits for a world outside.
type Sensor struct {
	ID       string    `json:"id"`   // FEAGI's, as flags take it
	Name     string    `json:"name"` // in the genome
	Size     [3]uint64 `json:"size"` // voxels
	PerVoxel uint64    `json:"neurons_per_voxel"`
	Stimulus string    `json:"stimulus"` // what --stimulate takes, to make all of it fire now and then
}

// voxels is the size in words.
func (s *Sensor) voxels() string {
	text := fmt.Sprintf("%d × %d × %d voxels", s.Size[0], s.Size[1], s.Size[2])
	if s.PerVoxel != 1 {
		text += fmt.Sprintf(" of %d neurons", s.PerVoxel)
	}
	return text
}

// stimulus is what --stimulate takes to make an area fire.
func stimulus(a *genome.Area) string { return a.Call() + "=all every 10" }

// feed says in the report what fires without stimuli, and what would make more fire.
func (r *Report) feed(g *genome.Genome) {
	for _, i := range g.Sensors() {
		a := &g.Areas[i]
		r.Sensors = append(r.Sensors, Sensor{a.Call(), a.Name, a.Size, a.PerVoxel, stimulus(a)})
	}
	sources := 0
	for i, is := range g.Reached() {
		if is {
			r.Reached = append(r.Reached, g.Areas[i].Name)
		}
		if a := &g.Areas[i]; len(a.Drives) > 0 || slices.ContainsFunc(g.Stimuli, func(s genome.Stimulus) bool { return s.Area == i }) {
			sources++
		}
	}
	switch {
	case len(r.Reached) > sources:
		return
	case sources == 0:
		r.Quiet = "nothing can fire, for the file has no power area"
	default:
		r.Quiet = "nothing but power can fire, for no mapping leads from it to another area"
	}
	best := slices.MaxFunc(indices(g.Areas), func(i, j int) int { return worth(g, i) - worth(g, j) })
	if worth(g, best) > 0 {
		r.Feed = stimulus(&g.Areas[best])
	}
}

// firing says what fires without stimuli.
func (r *Report) firing() string {
	if r.Quiet != "" {
		return r.Quiet
	}
	const most = 6
	names := strings.Join(r.Reached[:min(most, len(r.Reached))], ", ")
	if more := len(r.Reached) - most; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("without stimuli, input reaches %d of %d areas: %s", len(r.Reached), len(r.Areas), names)
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
	if a.Empty() || a.Source() || a.Group == "core" || len(a.Drives) > 0 {
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
