package connectome

import (
	"fmt"
	"slices"

	"burst/internal/exact"
)

// firstDrive is the number of an area's first drive among the places of its draws: below it are parameters and shared numbers.
const firstDrive = 2 * firstShared

// drawDrives draws the amounts of constant drives that are distributions, as if they came from columns. The genome that was given stays as
// it is.
func (p *plan) drawDrives() error {
	own := *p.g
	own.Areas = slices.Clone(own.Areas)
	for i := range own.Areas {
		a := &own.Areas[i]
		a.Drives = slices.Clone(a.Drives)
		for k := range a.Drives {
			if a.Drives[k].Drawn == nil {
				continue
			}
			each, err := p.drawDrive(i, k)
			if err != nil {
				return err
			}
			a.Drives[k].Each, p.g = each, &own
		}
	}
	return nil
}

// drawDrive draws an amount for each neuron of area i by its drive k.
func (p *plan) drawDrive(i, k int) ([]float64, error) {
	v, count, key := p.g.Areas[i].Drives[k].Drawn, uint64(p.areas[i].Count), areaKey(i, fmt.Sprintf("drive[%d].constant", k))
	if need := mul(count, 8); need > p.limit {
		return nil, p.refuse(v.Pos, key, "bytes", need, p.limit, need)
	}
	s := newSampler(*v, p.g.Seed, exact.ParameterDraw, i)
	if wrong := s.probe(); wrong != "" {
		return nil, p.g.Fault(v.Pos, key, "%s", wrong)
	}
	each, index := make([]float64, count), uint64(p.areas[i].First)|(firstDrive+uint64(k))<<32
	spans(p.workers, count, 1<<12, func(_ int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			x, ok := s.at(index + n)
			if !ok {
				panic("BUG: no amount within bounds that the build has probed")
			}
			each[n] = x
		}
	})
	return each, nil
}
