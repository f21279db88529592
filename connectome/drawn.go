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
	given := p.g
	for i := range given.Areas {
		for k := range given.Areas[i].Drives {
			d := &given.Areas[i].Drives[k]
			if d.Drawn == nil {
				continue
			}
			count := uint64(p.areas[i].Count)
			key := areaKey(i, fmt.Sprintf("drive[%d].constant", k))
			if need := mul(count, 8); need > p.limit {
				return p.refuse(d.Drawn.Pos, key, "bytes", need, p.limit, need)
			}
			s := newSampler(*d.Drawn, p.g.Seed, exact.ParameterDraw, i)
			if wrong := s.probe(); wrong != "" {
				return p.g.Fault(d.Drawn.Pos, key, "%s", wrong)
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
			if p.g == given {
				own := *given
				own.Areas = slices.Clone(given.Areas)
				p.g = &own
			}
			if area := &p.g.Areas[i]; &area.Drives[0] == &given.Areas[i].Drives[0] {
				area.Drives = slices.Clone(area.Drives)
			}
			p.g.Areas[i].Drives[k].Each = each
		}
	}
	return nil
}
