package feagi

import (
	"fmt"
	"math"
	"slices"

	"burst/genome"
)

// Numbered is a genome whose neurons have the numbers that a running FEAGI has given them, which it does anew at every start and by which
// excitability draws: first has that of each area's first neuron, MaxUint32 where FEAGI gives none, as to memory. The areas change their order, and sources that never fire stand where
// FEAGI has neurons of its own. at is the new place of each area. The text of the genome stays that of g.
func Numbered(g *genome.Genome, first []uint32) (made *genome.Genome, at []int, err error) {
	order := make([]int, len(g.Areas))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(int64(first[i]) - int64(first[j])) })
	n := *g
	n.Areas, n.Projections, n.Stimuli, n.Record = nil, slices.Clone(g.Projections), slices.Clone(g.Stimuli), genome.Record{FCL: g.Record.FCL}
	at = make([]int, len(g.Areas))
	next := uint64(0)
	for _, i := range order {
		a := &g.Areas[i]
		gap := uint64(first[i]) - next
		if first[i] == math.MaxUint32 {
			gap = 0
		}
		if a.Neurons() > 0 && gap > math.MaxUint32 {
			return nil, nil, fmt.Errorf("area %s has neurons from %d on, which another one has up to %d", a.Name, first[i], next-1)
		} else if a.Neurons() > 0 && gap > 0 {
			n.Areas = append(n.Areas, genome.Area{
				Name: fmt.Sprintf("ids %d to %d", next, first[i]-1), Size: [3]uint64{gap, 1, 1}, PerVoxel: 1,
				Model: genome.ModelNamed("spike_list"), Params: map[string]float64{},
			})
			next += gap
		}
		at[i] = len(n.Areas)
		n.Areas = append(n.Areas, *a)
		next += a.Neurons()
	}
	for i := range n.Areas {
		upstream := slices.Clone(n.Areas[i].Upstream)
		for k := range upstream {
			upstream[k] = at[upstream[k]]
		}
		slices.Sort(upstream)
		n.Areas[i].Upstream = upstream
	}
	for i := range n.Projections {
		p := &n.Projections[i]
		p.From, p.To = at[p.From], at[p.To]
	}
	for i := range n.Stimuli {
		n.Stimuli[i].Area = at[n.Stimuli[i].Area]
	}
	return &n, at, nil
}
