package connectome

import (
	"cmp"
	"slices"

	"burst/genome"
)

// strip is an area whose rows are each made whole and sorted while they are at hand, because all rules go source by source.
type strip struct {
	from    Span
	wirings []*wiring
	longest uint64 // synapses that a row has at most
	even    bool   // a row is in order when the targets of each wiring are
}

// makeStrips finds the areas that are strips, once weights are fixed.
func (p *plan) makeStrips() {
	for i := range p.areas {
		s := strip{from: p.areas[i], even: true}
		fits := true
		for k := range p.wirings {
			w := &p.wirings[k]
			if w.whole == nil && w.p.From != i || w.keep == 0 {
				continue
			}
			r, ok := w.rule.(bySource)
			if fits = ok && !w.merged && w.whole == nil; !fits {
				break
			}
			s.wirings, s.longest = append(s.wirings, w), add(s.longest, r.longest())
		}
		if !fits || s.longest > longestSorted {
			p.loose = append(p.loose, s.from)
			continue
		}
		s.order()
		for _, w := range s.wirings {
			w.striped = true
		}
		p.strips = append(p.strips, s)
	}
}

// order brings the wirings into the order of their synapses in a row, where there is one.
func (s *strip) order() {
	for _, w := range s.wirings {
		s.even = s.even && w.isEven()
	}
	if !s.even {
		return
	}
	slices.SortStableFunc(s.wirings, func(a, b *wiring) int {
		return cmp.Or(cmp.Compare(a.steps, b.steps), cmp.Compare(a.lowest(), b.lowest()))
	})
	for i := 1; i < len(s.wirings); i++ {
		a, b := s.wirings[i-1], s.wirings[i]
		s.even = s.even && (a.steps < b.steps || a.lowest()+a.to.Count <= b.lowest())
	}
}

// isEven says that all synapses of a source have one weight and one delay.
func (w *wiring) isEven() bool {
	return w.weights == nil && w.delays == nil && w.weight.Kind == genome.Const && w.delay.Kind == genome.Const
}

// lowest is the lowest port that the synapses of an even wiring reach.
func (w *wiring) lowest() uint32 {
	if float64(w.weight.A*w.factor) < 0 {
		return w.ports.First + w.split
	}
	return w.ports.First
}
