package genome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// perNeuron reads a parameter that may differ from neuron to neuron. It stores a number in x, and anything else in Varied.
// Numbers drawn from a distribution are checked against the parameter's range when they are drawn.
func (p *parser) perNeuron(n *yaml.Node, at *path, k *key, a *Area, x *float64) {
	drawn := n.Kind == yaml.ScalarNode && strings.Contains(n.Value, "(")
	switch {
	case drawn && isColumn(n):
		if each, _, ok := p.fromColumn(n, at, a.Neurons(), k.Dims[:1], func(x float64) string { return p.outside(k, x) }); ok {
			a.vary(k.Name, columnOf(n, each))
		}
		return
	case drawn && k.Form != formNumber:
		p.distributed(n, at, k, a)
		return
	}
	read := p.number
	if k.Form == formBursts {
		read = p.steps
	}
	if y, ok := read(n, at, k); ok {
		*x = y
	}
}

// outside is what is wrong with a number of a column for the parameter k; "" if nothing is.
func (p *parser) outside(k *key, x float64) string {
	if x < k.Min || x > k.Max || k.MinOpen && x == k.Min {
		return fmt.Sprintf("%g, want %s %s", x, k.Dims[0].article(), k.span())
	}
	if k.Form != formBursts || p.timestep == 0 {
		return ""
	}
	if k.Dims[0] == Time {
		x /= p.timestep
	}
	if _, m := wholeBursts(x, p.timestep); m != nil {
		return m.message
	}
	if x > float64(k.High) {
		return fmt.Sprintf("%g bursts, want at most %d", x, k.High)
	}
	return ""
}

// steps reads whole bursts, or a time, as a number in the key's dimension.
func (p *parser) steps(n *yaml.Node, at *path, k *key) (float64, bool) {
	b, ok := p.bursts(n, at, k.Low, k.High)
	x := float64(b)
	if k.Dims[0] == Time {
		x = float64(x * p.timestep)
	}
	return x, ok
}

// distributed reads a parameter as a distribution.
func (p *parser) distributed(n *yaml.Node, at *path, k *key, a *Area) {
	text, ok := p.scalar(n, at, k.Dims[0].article()+" or a distribution")
	if !ok {
		return
	}
	v, m := parseParam(text, k.Dims[0], cmp.Or(p.timestep, 1))
	v.Pos = pos(n)
	if m != nil {
		p.mistake(n, at, m)
		return
	}
	for _, y := range [...]float64{v.A, v.B} {
		if !p.fits(n, at, y) {
			return
		}
	}
	a.vary(k.Name, v)
}

// columnOf is the value of numbers of a column.
func columnOf(n *yaml.Node, each []float64) Value {
	return Value{Pos: pos(n), Kind: Column, Each: each, Lo: -inf, Hi: inf}
}

// parseParam reads a distribution, or lin(a, b, u) or sq(a, b, u), which are a + b·u and a + b·u² with a number u, uniform
// in 0…1, that all parameters of the area which name it share.
func parseParam(text string, dim Dimension, timestep float64) (Value, *mistake) {
	e := &expression{text: text, dim: dim, timestep: timestep}
	kinds := map[string]ValueKind{"lin": Linear, "sq": Square}
	kind, tied := kinds[e.word()]
	if !tied {
		v, m := parseValue(text, dim, timestep)
		if m != nil && m.suggestion == "" && strings.Contains(m.message, "unknown distribution") {
			m.suggestion = Nearest(e.word(), []string{"lin", "sq"})
		}
		return v, m
	}
	v := Value{Kind: kind, Lo: -inf, Hi: inf}
	e.at += len(e.word())
	m := first(
		func() *mistake { return e.want("(") },
		func() *mistake { return e.quantity(&v.A) },
		func() *mistake { return e.want(",") },
		func() *mistake { return e.quantity(&v.B) },
		func() *mistake { return e.want(",") },
		func() *mistake { return e.name(&v.Shared) },
		func() *mistake { return e.want(")") },
	)
	if e.blanks(); m == nil && e.at < len(text) {
		m = wrong(e.at, "", "expects the end of the value, found %q", short(text[e.at:]))
	}
	return v, m
}

// name reads the name of a shared number.
func (e *expression) name(into *string) *mistake {
	if *into = e.word(); *into == "" {
		return wrong(e.at, "", "expects the name of a shared uniform number such as u, found %q", short(e.text[e.at:]))
	}
	e.at += len(*into)
	return nil
}

// spikes reads the list of a spike_list area. A neuron may fire at most once per burst.
func (p *parser) spikes(f *fields, a *Area) {
	if !a.Model.Has("spikes") {
		return
	}
	if a.SpikeFile, a.SpikePos = p.listFile(f, "a list of spikes"); a.SpikeFile != "" && f.has("spikes") {
		f.faultKey("file", "", "found a list of spikes in a file beside spikes; want one of them")
	}
	_, at, k := f.get("spikes")
	type entry struct {
		Spike
		node *yaml.Node
		at   *path
	}
	var all []entry
	for i, n := range f.list("spikes") {
		e, ok := p.fields(n, at.item(i), k.Item.Keys)
		if !ok || p.full() {
			continue
		}
		neurons := e.neurons(a)
		_, whenAt, when := e.get("at")
		for j, b := range e.list("at") {
			t, ok := p.bursts(b, whenAt.item(j), when.Item.Low, when.Item.High)
			for _, id := range neurons {
				if ok {
					all = append(all, entry{Spike{t, id}, b, whenAt.item(j)})
				}
			}
		}
	}
	slices.SortStableFunc(all, func(x, y entry) int { return x.Compare(y.Spike) })
	for i, e := range all {
		if i > 0 && all[i-1].Spike == e.Spike {
			p.fault(e.node, e.at, "", "expects each neuron at most once per burst, found neuron %d again in burst %d", e.Neuron, e.Burst)
			continue
		}
		a.Spikes = append(a.Spikes, e.Spike)
	}
}

// Compare orders spikes by burst, then neuron.
func (s Spike) Compare(o Spike) int {
	return cmp.Or(cmp.Compare(s.Burst, o.Burst), cmp.Compare(s.Neuron, o.Neuron))
}
