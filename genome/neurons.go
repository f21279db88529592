package genome

import (
	"math"
	"slices"
	"sync"

	"gopkg.in/yaml.v3"
)

// Written lists the models that are written as formulas, in the order in which they are documented. Areas choose them by name, as
// those of Models; backends run them as models of a genome's own.
func Written() []*Model { return neurons() }

// neurons are the models of neurons.yaml, read by the parser of genomes.
var neurons = sync.OnceValue(func() (list []*Model) {
	readShipped("neurons.yaml", neuronsTree, func(p *parser, n *yaml.Node, at *path) {
		if m := p.customModel(n, at); m != nil {
			list = append(list, m)
		}
	})
	return list
})

// neuronKeys are the keys of such a model: those of a genome's own, and keys for its documentation.
var neuronKeys = sync.OnceValue(func() []key {
	return append([]key{
		{Name: "aliases", Form: formList, Empty: true, Item: &key{Form: formAlias}},
		{Name: "doc", Required: true},
		{Name: "source", Required: true},
		{Name: "longest", Form: formNumber, Dims: []Dimension{Time}, MinOpen: true, Max: math.MaxFloat32},
		{Name: "equations", Form: formList, Required: true},
		{Name: "meaning", Form: formMap, Required: true},
	}, modelKeys()...)
})

// described reads the documentation of a model of neurons.yaml.
func (d *draft) described() {
	text := func(n *yaml.Node, at *path) string {
		s, _ := d.p.scalar(n, at, "a text")
		return s
	}
	for name, into := range map[string]*string{"doc": &d.m.Doc, "source": &d.m.Source} {
		n, at, _ := d.f.get(name)
		*into = text(n, at)
	}
	for name, into := range map[string]*[]string{"aliases": &d.m.Aliases, "equations": &d.m.Equations} {
		_, at, _ := d.f.get(name)
		for i, n := range d.f.list(name) {
			*into = append(*into, text(n, at.item(i)))
		}
	}
	d.f.number("longest", &d.m.Longest)
	n, at, _ := d.f.get("meaning")
	for k := range d.m.State {
		v := &d.m.State[k]
		v.Doc = text(valueOf(n, v.Name), at.key(v.Name))
	}
}

// models lists the models that an area may have: built-in ones, the genome's own, and those that are written as formulas, which a
// genome's own of the same name hides.
func (p *parser) models() []*Model { return slices.Concat(Models(), p.g.Models, p.written) }

// modelNames are the names of all models an area may have, aliases too.
func (p *parser) modelNames() (names []string) {
	for _, m := range p.models() {
		names = append(append(names, m.Name), m.Aliases...)
	}
	return names
}

// modelNamed is the known model of that name or alias; nil if there is none.
func (p *parser) modelNamed(name string) *Model {
	list := p.models()
	i := slices.IndexFunc(list, func(m *Model) bool { return m.Name == name || slices.Contains(m.Aliases, name) })
	if i < 0 {
		return nil
	}
	return list[i]
}
