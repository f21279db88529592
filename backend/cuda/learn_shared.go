package cuda

import (
	"fmt"
	"math"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/internal/formula"
)

// Projections onto one area share one record of each target if they keep its events in the same way. Projections from one area share one
// record of each source if their traces are the same. The first of these projections owns the record and writes it; all read it.

// owner is the first of the projections so far whose targets, or sources, are kept like those of p; nil: p owns them.
func (l *learning) owner(p *connectome.Plastic, keptAlike func(a, b *connectome.Plastic) bool) *learner {
	i := slices.IndexFunc(l.list, func(x learner) bool { return keptAlike(x.p, p) })
	if i < 0 {
		return nil
	}
	return &l.list[i]
}

// hearAlike reports whether all that is kept of the targets' events is the same for both. Sweeps come at the same time then.
func hearAlike(a, b *connectome.Plastic) bool {
	other := func(r reading) bool {
		return r.kind != uint32(formula.ReadPost) && r.kind != uint32(formula.ReadAgePost)
	}
	return a.To == b.To && a.Port == b.Port && a.Lag == b.Lag && sweepsAt(a) == sweepsAt(b) && a.When == nil && b.When == nil && !windowed(a) && !windowed(b) &&
		tracesAlike(a.Post, b.Post) && slices.Equal(noted(a), noted(b)) && !slices.ContainsFunc(noted(a), other)
}

// sendAlike reports whether all that is kept of the sources is the same for both.
func sendAlike(a, b *connectome.Plastic) bool {
	return a.From == b.From && a.Least() == b.Least() && a.Longest == b.Longest && !windowed(a) && !windowed(b) &&
		len(a.Source)+len(b.Source) == 0 && a.OnSource == nil && b.OnSource == nil && tracesAlike(a.Pre, b.Pre)
}

// sweepsAt is after how many bursts a rule has all events applied, or 0.
func sweepsAt(p *connectome.Plastic) uint64 {
	if p.Every == nil {
		return 0
	}
	return p.Rule.Every
}

// noted is what is noted with an event of a target.
func noted(p *connectome.Plastic) []reading {
	if p.OnPost == nil {
		return nil
	}
	_, list := newHandlerCode(p, p.OnPost, true)
	return list
}

func tracesAlike(a, b []connectome.Trace) bool {
	return slices.EqualFunc(a, b, func(a, b connectome.Trace) bool {
		s, t := &a.Table, &b.Table
		return a.Set == b.Set && math.Float32bits(a.Amount) == math.Float32bits(b.Amount) &&
			s.Until == t.Until && slices.Equal(s.Low, t.Low) && slices.Equal(s.High, t.High)
	})
}

// checkShared refuses a state in which what projections share differs, which no run can reach.
func (b *backend) checkShared(s *engine.State) error {
	for i := range b.learning.list {
		for k := range i {
			x, y := &b.learning.list[i], &b.learning.list[k]
			p, q := &s.Plastic[i], &s.Plastic[k]
			targets := x.arg.heard == y.arg.heard && !sameTraces(p.Post, p.PostLast, q.Post, q.PostLast)
			if sources := x.arg.live == y.arg.live && !sameTraces(p.Pre, p.PreLast, q.Pre, q.PreLast); targets || sources {
				return fmt.Errorf("state: traces of the plastic projections %d and %d differ, though they follow from the same spikes", k, i)
			}
		}
	}
	return nil
}

func sameTraces(a [][]float32, aLast []uint64, b [][]float32, bLast []uint64) bool {
	return slices.Equal(aLast, bLast) && slices.EqualFunc(a, b, func(a, b []float32) bool {
		return slices.EqualFunc(a, b, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
	})
}
