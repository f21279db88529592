package cpu

import "burst/connectome"

// moving has the drives of an area as they are in the burst in progress. Workers only read it.
type moving struct {
	area   *connectome.Area
	drives []connectome.Drive
	events []events  // one a drive
	before []float64 // one a drive: what its terms were multiplied by in the burst before
	moves  bool
	factor float64 // of the rate of a source area
}

func makeMoving(c *connectome.Connectome) []moving {
	all := make([]moving, len(c.Areas))
	for i := range all {
		a, m := &c.Areas[i], &all[i]
		m.area, m.moves, m.factor = a, a.Moves(), 1
		m.drives = append(m.drives, a.Drives...)
		m.before = make([]float64, len(a.Drives))
		for k := range a.Drives {
			m.events = append(m.events, newEvents(a.Drives[k].Counts))
		}
	}
	return all
}

// move makes the drives those of burst t.
func (m *moving) move(t uint64) {
	if !m.moves {
		return
	}
	if m.area.Factor != nil {
		m.factor = m.area.Factor.In(t)
	}
	for k := range m.area.Drives {
		d := &m.area.Drives[k]
		if d.Moving == nil || !d.Active(t) {
			continue
		}
		m.before[k] = m.drives[k].Times()
		m.drives[k] = d.In(t)
		if d.Kind == connectome.Poisson {
			m.events[k] = newEvents(m.drives[k].Counts)
		}
	}
}
