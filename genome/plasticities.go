package genome

import (
	"sync"

	"gopkg.in/yaml.v3"
)

// Plasticities lists the built-in plasticity rules, in the order in which they are documented.
func Plasticities() []*Plasticity { return shipped() }

// shipped are the rules of plasticity.yaml, read by the parser of genomes.
var shipped = sync.OnceValue(func() (list []*Plasticity) {
	readShipped("plasticity.yaml", plasticityTree, func(p *parser, n *yaml.Node, at *path) {
		list = append(list, p.plasticRule(n, at, shippedKeys()))
	})
	return list
})

// shippedKeys are the keys of a built-in rule: those of a genome's rule, keys for its documentation, and window.
var shippedKeys = sync.OnceValue(func() []key {
	keys := append([]key{
		{Name: "doc", Required: true},
		{Name: "origin", Required: true},
		{Name: "window", Form: formChoice, Choices: []string{"release", "february", "python"}},
	}, plasticityKeys()...)
	keys[index(keys, "bounds")].Required = false
	return keys
})

// paramSpecKeys are the keys of a parameter of a rule or model that comes with burst.
var paramSpecKeys = sync.OnceValue(func() []key {
	return []key{
		{Name: "default", Form: formAmount, Dims: ruleDimensions(), Required: true},
		{Name: "min", Form: formAmount, Dims: ruleDimensions()},
		{Name: "above", Form: formAmount, Dims: ruleDimensions()},
		{Name: "max", Form: formAmount, Dims: ruleDimensions()},
		{Name: "whole", Form: formFlag},
		{Name: "symbol"},
		{Name: "doc", Required: true},
	}
})

// specified reads a parameter of a rule or model that comes with burst.
func (p *parser) specified(n *yaml.Node, at *path, param *Param) bool {
	f, ok := p.fields(n, at, paramSpecKeys())
	if !ok {
		return false
	}
	read := func(name string, into *float64) {
		if n, at, k := f.get(name); n != nil {
			*into, param.Dim, _ = p.amount(n, at, k.Dims)
		}
	}
	read("min", &param.Min)
	read("above", &param.Min)
	read("max", &param.Max)
	read("default", &param.Default)
	param.MinOpen = f.has("above")
	f.flag("whole", &param.Whole)
	for name, into := range map[string]*string{"doc": &param.Doc, "symbol": &param.Symbol} {
		if n, at, _ := f.get(name); n != nil {
			*into, ok = p.scalar(n, at, "a text")
		}
	}
	return ok
}

// described reads the documentation of a built-in rule.
func (d *ruleDraft) described() {
	for name, into := range map[string]*string{"doc": &d.r.Doc, "origin": &d.r.Origin} {
		n, at, _ := d.f.get(name)
		*into, _ = d.p.scalar(n, at, "a text")
	}
	if window := 0; d.f.choice("window", &window) {
		d.r.Window = Window(window + 1)
	}
}
