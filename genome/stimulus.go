package genome

import (
	"math"
	"slices"
	"strconv"
	"strings"

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

// neurons reads a list of neurons of an area, or the word all. An area that has a fault has no neurons.
func (f *fields) neurons(a *Area) []uint32 {
	n, at, k := f.get("neurons")
	switch {
	case n == nil || !k.All || n.Kind != yaml.ScalarNode:
		return f.neuronsOf("neurons", a)
	case strings.Contains(n.Value, ".."):
		f.p.fault(n, at, "["+n.Value+"]", "expects a list of neurons or all, found %s", found(n))
		return nil
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
		first, last, ok := f.p.neuronRange(n, at.item(i), high)
		if room := maxLit - len(places); ok && last-first >= uint64(room) {
			f.p.fault(n, at.item(i), "", "expects at most %d neurons, found more", maxLit)
			break
		}
		for x := first; ok && x <= last; x++ {
			places = append(places, spot{uint32(x), i})
		}
	}
	return f.sorted(name, places)
}

// neuronRange reads the number of a neuron, or a range such as 0..9.
func (p *parser) neuronRange(n *yaml.Node, at *path, high uint64) (first, last uint64, ok bool) {
	low, end, is := strings.Cut(n.Value, "..")
	if n.Kind != yaml.ScalarNode || !is {
		first, ok = p.whole(n, at, 0, high)
		return first, first, ok
	}
	first, wrong := strconv.ParseUint(low, 10, 32)
	last, err := strconv.ParseUint(end, 10, 32)
	if wrong != nil || err != nil || last < first || last > high {
		p.fault(n, at, "", "expects a range of neurons within 0..%d such as 0..%d, found %s", high, min(high, 9), found(n))
		return 0, 0, false
	}
	return first, last, true
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
