package manifest

import (
	"fmt"
	"slices"
	"sort"

	"burst/connectome"
)

// Span is the neurons First ≤ id < First+Neurons.
type Span struct {
	First   uint32 `json:"first"`
	Neurons uint32 `json:"neurons"`
}

// Kept are neurons of an area whose spikes are recorded.
type Kept struct {
	spans  []Span   // ascending and apart
	before []uint32 // of each span: neurons in earlier ones
}

func newKept(spans []Span) Kept {
	k := Kept{spans: spans}
	n := uint32(0)
	for _, s := range spans {
		k.before = append(k.before, n)
		n += s.Neurons
	}
	return k
}

// Kept are the area's neurons whose spikes are recorded.
func (a *Area) Kept() Kept {
	if a.RecordedSpans != nil {
		return newKept(a.RecordedSpans)
	}
	return newKept([]Span{{a.First, a.Recorded}})
}

// keep notes which of the area's neurons the spans hold; these ascend and are apart.
func (a *Area) keep(spans []connectome.Span) {
	a.Recorded, a.RecordedSpans = 0, nil
	for _, s := range spans {
		if from, until := max(s.First, a.First), min(s.End(), a.First+a.Neurons); from < until {
			a.Recorded += until - from
			a.RecordedSpans = append(a.RecordedSpans, Span{from, until - from})
		}
	}
	if len(a.RecordedSpans) == 1 && a.RecordedSpans[0].First == a.First {
		a.RecordedSpans = nil
	}
}

// Keep notes what is recorded of every area.
func (m *Manifest) Keep(spans []connectome.Span) {
	m.Areas = slices.Clone(m.Areas)
	for i := range m.Areas {
		m.Areas[i].keep(spans)
	}
}

// flaw says what is wrong with the area's positions and recorded neurons; empty: nothing.
func (a *Area) flaw() string {
	if a.Space != nil && a.Space.Each != nil && len(a.Space.Each) != int(a.Neurons) {
		return fmt.Sprintf("has %d neurons and the positions of %d, want one for each", a.Neurons, len(a.Space.Each))
	}
	next, end, n := uint64(a.First), uint64(a.First)+uint64(a.Neurons), uint64(0)
	for _, s := range a.RecordedSpans {
		from, until := uint64(s.First), uint64(s.First)+uint64(s.Neurons)
		if from < next || from >= until || until > end {
			return fmt.Sprintf("has recorded neurons %d to %d, want some of %d to %d", from, until, next, end)
		}
		next, n = until, n+uint64(s.Neurons)
	}
	if a.Recorded > a.Neurons || a.RecordedSpans != nil && n != uint64(a.Recorded) {
		return fmt.Sprintf("has %d neurons and %d recorded ones, %d in spans", a.Neurons, a.Recorded, n)
	}
	return ""
}

// Rank is the number of recorded neurons before a neuron; false if that is not recorded itself.
func (k *Kept) Rank(id uint32) (uint32, bool) {
	rank, _, kept := k.Place(id)
	return rank, kept
}

// Place is Rank with how many neurons in a row from the next one on are recorded too.
func (k *Kept) Place(id uint32) (rank, follow uint32, kept bool) {
	i := len(k.spans) - 1
	if i > 0 { // mostly there is one
		i = sort.Search(len(k.spans), func(i int) bool { return k.spans[i].First > id }) - 1
	}
	if i < 0 || id-k.spans[i].First >= k.spans[i].Neurons {
		return 0, 0, false
	}
	at := id - k.spans[i].First
	return k.before[i] + at, k.spans[i].Neurons - at - 1, true
}

// Shared are the neurons that both have.
func (k *Kept) Shared(o Kept) Kept {
	var both []Span
	for i, j := 0, 0; i < len(k.spans) && j < len(o.spans); {
		x, y := k.spans[i], o.spans[j]
		endX, endY := x.First+x.Neurons, y.First+y.Neurons
		if from, until := max(x.First, y.First), min(endX, endY); from < until {
			both = append(both, Span{from, until - from})
		}
		if endX <= endY {
			i++
		} else {
			j++
		}
	}
	return newKept(both)
}
