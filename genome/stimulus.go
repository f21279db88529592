package genome

import (
	"math"
	"slices"
	"strconv"

	"gopkg.in/yaml.v3"
)

// stimulus reads one stimulus.
func (p *parser) stimulus(n *yaml.Node, at *path) {
	if p.full() {
		return
	}
	f, ok := p.fields(n, at, stimulusKeys())
	if !ok {
		return
	}
	s := Stimulus{Pos: pos(n), Area: f.inputArea("area")}
	f.when(&s)
	amount := f.strength(s.Area)
	name := "neurons"
	if f.has("voxels") {
		name = "voxels"
	}
	switch list, image := f.has(name), f.has("image"); {
	case list && image:
		f.faultKey("image", "", "both %s and image found, one of them wanted", name)
	case image:
		p.image(f, &s, amount)
	case list:
		if f.lacks("amount") {
			p.fault(n, at, "", "key %q is missing, which %s needs", "amount", name)
		}
		s.Neurons = f.addressed(s.Area)
		s.Amounts = slices.Repeat([]float64{amount}, len(s.Neurons))
	case f.lacks("neurons", "voxels", "image"):
		p.fault(n, at, "", "neither neurons, voxels nor image found, one of them wanted")
	}
	p.g.Stimuli = append(p.g.Stimuli, s)
}

// when reads the bursts in which a stimulus acts.
func (f *fields) when(s *Stimulus) {
	f.span(&s.From, &s.Until)
	f.bursts("at", &s.At)
	f.bursts("every", &s.Every)
	switch {
	case f.has("at") && f.has("every"):
		f.faultKey("every", "", "both at and every found, one of them wanted")
	case f.lacks("at", "every"):
		f.p.fault(f.node, f.at, "", "neither at nor every found, one of them wanted")
	case f.has("at") && (f.has("from") || f.has("until")):
		name := "from"
		if !f.has(name) {
			name = "until"
		}
		f.faultKey(name, "", "%s beside at found, every beside it wanted", name)
	}
}

// strength reads amount, 1 unless given.
func (f *fields) strength(area int) float64 {
	n, at, _ := f.get("amount")
	if n == nil || area < 0 || f.p.g.Areas[area].Model == nil {
		return 1
	}
	x, _, ok := f.p.amount(n, at, []Dimension{f.p.g.Areas[area].Model.Input})
	if ok {
		f.p.quanta(n, at, x)
	}
	return x
}

// neurons reads a list of neurons of an area, which is −1 when it is at fault.
func (f *fields) neurons(area int) []uint32 {
	if area < 0 {
		return f.neuronsOf("neurons", &Area{})
	}
	return f.neuronsOf("neurons", &f.p.g.Areas[area])
}

// neuronsOf reads a list of neurons of an area, sorted; each may stand in it once.
func (f *fields) neuronsOf(name string, a *Area) []uint32 {
	_, at, _ := f.get(name)
	list := f.list(name)
	high := uint64(math.MaxUint32)
	if n := a.Neurons(); n > 0 {
		high = min(high, n-1)
	}
	places := make([]spot, 0, len(list))
	for i, n := range list {
		if x, ok := f.p.whole(n, at.item(i), 0, high); ok {
			places = append(places, spot{uint32(x), i})
		}
	}
	return f.sorted("neurons", places)
}

// spot is a neuron, the first of a voxel perhaps, and which element of a list names it.
type spot struct {
	id uint32
	at int
}

// sorted gives the ids of places, ascending; each may stand in the list once.
func (f *fields) sorted(name string, places []spot) []uint32 {
	n, at, _ := f.get(name)
	slices.SortStableFunc(places, func(a, b spot) int { return int(int64(a.id) - int64(b.id)) })
	ids := make([]uint32, len(places))
	for i, e := range places {
		if ids[i] = e.id; i > 0 && ids[i-1] == e.id {
			what := "voxel"
			if name == "neurons" {
				what = "neuron " + strconv.Itoa(int(e.id))
			}
			f.p.fault(n.Content[e.at], at.item(e.at), "", "%s found again in the list", what)
		}
	}
	return ids
}
