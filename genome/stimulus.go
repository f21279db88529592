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
	s := Stimulus{Pos: pos(n)}
	s.Area, s.Port = f.receiver()
	f.when(&s)
	amount := f.strength(&s)
	name := "neurons"
	if f.has("voxels") {
		name = "voxels"
	}
	switch list, image := f.has(name), f.has("image"); {
	case list && image:
		f.faultKey("image", "", "expects either %s or image, found both", name)
	case image:
		p.image(f, &s, amount)
	case list:
		if f.lacks("amount") {
			p.fault(n, at, "", "key %q is missing; %s needs it", "amount", name)
		}
		s.Neurons = f.addressed(s.Area)
		s.Amounts = slices.Repeat([]float64{amount}, len(s.Neurons))
	case f.lacks("neurons", "voxels", "image"):
		p.fault(n, at, "", "expects neurons, voxels or image, found none of them")
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
		f.faultKey("every", "", "expects either at or every, found both")
	case f.lacks("at", "every"):
		f.p.fault(f.node, f.at, "", "expects at or every, found neither")
	case f.has("at") && (f.has("from") || f.has("until")):
		name := "from"
		if !f.has(name) {
			name = "until"
		}
		f.faultKey(name, "", "expects %s beside every, found it beside at", name)
	}
}

// strength reads amount, 1 unless given.
func (f *fields) strength(s *Stimulus) float64 {
	n, at, _ := f.get("amount")
	if n == nil || s.Area < 0 || f.p.g.Areas[s.Area].Model == nil {
		return 1
	}
	x, _, ok := f.p.amount(n, at, []Dimension{f.p.g.Areas[s.Area].Model.Unit(s.Port)})
	if ok {
		f.p.quanta(n, at, x)
	}
	return x
}

// neurons reads a list of neurons of an area, or the word all. area is −1 if it has a fault.
func (f *fields) neurons(area int) []uint32 {
	a := &Area{}
	if area >= 0 {
		a = &f.p.g.Areas[area]
	}
	n, at, k := f.get("neurons")
	switch {
	case n == nil || !k.All || n.Kind != yaml.ScalarNode:
		return f.neuronsOf("neurons", a)
	case n.Value != "all":
		f.p.fault(n, at, Nearest(n.Value, []string{"all"}), "expects a list of neurons or all, found %s", found(n))
		return nil
	case a.Neurons() > maxLit:
		f.p.fault(n, at, "", "expects an area of at most %d neurons for all, found %d", maxLit, a.Neurons())
		return nil
	}
	ids := make([]uint32, a.Neurons())
	for i := range ids {
		ids[i] = uint32(i)
	}
	return ids
}

// neuronsOf reads a list of neurons of an area and sorts it. No neuron may be in it twice.
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
	return f.sorted(name, places)
}

// spot is a neuron, or the first one of a voxel, and its index in the list.
type spot struct {
	id uint32
	at int
}

// sorted returns the ids of places, ascending. None may be in the list twice.
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
