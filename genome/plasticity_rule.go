package genome

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// maxRuleNames is the largest number of a rule's traces, of its variables and of its modulators.
const maxRuleNames = 16

// ruleDraft is a plasticity rule that is being read.
type ruleDraft struct {
	*draft
	r      *Plasticity
	source *formula.RuleSource
}

// plasticity reads the rules that the genome defines.
func (p *parser) plasticity(f *fields) {
	_, at, _ := f.get("plasticity")
	for i, n := range f.list("plasticity") {
		if p.full() {
			return
		}
		if r := p.plasticRule(n, at.item(i), plasticityKeys()); r != nil {
			p.g.Plasticity = append(p.g.Plasticity, r)
		}
	}
}

// plasticityNames are the names of all rules a projection may have.
func (p *parser) plasticityNames() (names []string) {
	for _, r := range slices.Concat(p.g.Plasticity, p.learned) {
		names = append(names, r.Name)
	}
	return names
}

// plasticRule reads one rule; nil if it has no name. A rule with a fault has no definition.
func (p *parser) plasticRule(n *yaml.Node, at *path, keys []key) *Plasticity {
	f, ok := p.fields(n, at, keys)
	if !ok {
		return nil
	}
	before := len(p.faults)
	d := &ruleDraft{newDraft(p, f, formula.ReservedInRules()), &Plasticity{Pos: pos(n)}, &formula.RuleSource{}}
	r := d.r
	if !f.name("name", &r.Name) {
		return nil
	}
	if !p.shipped && slices.Contains(p.plasticityNames(), r.Name) {
		f.fault("name", "expects a name that no other rule has, found %s", r.Name)
	}
	d.params()
	d.named("constants", "a constant", formula.MaxParams/2, func(name string, n *yaml.Node, at *path) {
		if line, ok := d.expression(formula.InConstants, n, at); ok {
			d.source.Constants = append(d.source.Constants, formula.Line{Name: name, Text: line})
		}
	})
	d.traces("pre", "a trace of the source", &r.Pre, &d.source.Pre)
	d.post()
	d.variables("source", "a variable of the source", &r.Source, &d.source.Source)
	d.variables("synapse", "a variable of the synapse", &r.Synapse, &d.source.Synapse)
	d.target()
	d.modulators()
	r.Bounds = d.bounds(f)
	d.statements()
	if p.shipped {
		d.described()
	}
	if r.Window == WindowNone && len(p.faults) == before {
		r.Definition, r.source = compiling(d.draft, r.Name, d.source, formula.DefineRule), d.source
	}
	r.Equations = d.equations()
	return r
}

// isKey refuses a name that a projection's plasticity has as a key, for what a projection may give a value.
func (d *ruleDraft) isKey(name, what string, n *yaml.Node, at *path) bool {
	keys := learningKeys()
	is := slices.ContainsFunc(keys, func(k key) bool { return k.Name == name })
	if is {
		d.p.fault(n, at, "", "expects another name for %s, found %s, which a projection's plasticity has as a key", what, name)
	}
	return is
}

// params reads parameters with their defaults; their dimension is the default's.
func (d *ruleDraft) params() {
	d.named("params", "a parameter", formula.MaxParams/2, func(name string, n *yaml.Node, at *path) {
		if d.isKey(name, "a parameter", n, at) {
			return
		}
		param := Param{Name: name, Min: -inf, Max: inf, Doc: "parameter of " + d.r.Name}
		ok := false
		if d.p.shipped {
			ok = d.p.specified(n, at, &param)
		} else if d.p.alike(n, at) {
			param.Default, param.Dim, ok = d.p.amount(n, at, ruleDimensions())
		}
		if ok {
			d.r.Params = append(d.r.Params, param)
			d.source.Params = append(d.source.Params, name)
		}
	})
}

// wanted describes the values of the given dimensions, for messages.
func wanted(dims []Dimension) string {
	var ways []string
	for _, d := range dims {
		if d == Bursts {
			ways = append(ways, "whole bursts such as 2 or a time such as 2 ms")
		} else {
			ways = append(ways, d.article()+" such as "+d.example())
		}
	}
	return strings.Join(ways, " or ") + ", or the name of a parameter or constant"
}

// value reads a number of one of the dimensions, or the name of a parameter or constant.
func (d *ruleDraft) value(n *yaml.Node, at *path, dims []Dimension) (RuleValue, bool) {
	if !d.p.alike(n, at) {
		return RuleValue{}, false
	}
	text, ok := d.p.scalar(n, at, wanted(dims))
	if !ok {
		return RuleValue{}, false
	}
	if !formula.ValidName(text) {
		return d.p.ruleNumber(n, at, dims)
	}
	for i := range d.r.Params {
		param := &d.r.Params[i]
		if param.Name != text {
			continue
		}
		if !slices.Contains(dims, param.Dim) && !(slices.Contains(dims, Bursts) && (param.Dim == Plain || param.Dim == Time)) {
			d.p.fault(n, at, "", "expects %s, found %s, a parameter that is %s", wanted(dims), text, param.Dim.article())
			return RuleValue{}, false
		}
		return RuleValue{Name: text, Dim: param.Dim}, true
	}
	known := slices.Clone(d.source.Params)
	for _, c := range d.source.Constants {
		if c.Name == text {
			return RuleValue{Name: text, Dim: dims[0]}, true
		}
		known = append(known, c.Name)
	}
	d.p.fault(n, at, Nearest(text, known), "expects %s, found %q, which is not one of them", wanted(dims), short(text))
	return RuleValue{}, false
}

// alike refuses what differs from synapse to synapse where all of a projection have one number.
func (p *parser) alike(n *yaml.Node, at *path) bool {
	differs := differing(n)
	if differs == "" {
		return true
	}
	p.fault(n, at, "", "expects one number, which all synapses of a projection share, found the %s %s; numbers that differ from synapse to "+
		"synapse are variables of the rule's key synapse, for which a projection gives a distribution, and those that differ from target to "+
		"target state variables of its model, which the rule reads by its key target", differs, short(n.Value))
	return false
}

// ruleNumber reads the number of a value.
func (p *parser) ruleNumber(n *yaml.Node, at *path, dims []Dimension) (RuleValue, bool) {
	if dims[0] == Bursts {
		dims = []Dimension{Plain, Time}
	}
	x, dim, ok := p.amount(n, at, dims)
	return RuleValue{Number: x, Dim: dim}, ok
}

// traces reads the traces of a key.
func (d *ruleDraft) traces(key, what string, into *[]Trace, names *[]string) {
	if n, at, _ := d.f.get(key); n != nil {
		d.tracesIn(n, at, what, into, names)
	}
}

func (d *ruleDraft) tracesIn(n *yaml.Node, at *path, what string, into *[]Trace, names *[]string) {
	d.namedIn(n, at, what, maxRuleNames, func(name string, n *yaml.Node, at *path) {
		f, ok := d.p.fields(n, at, traceKeys())
		if !ok {
			return
		}
		t := Trace{Name: name, Set: f.has("set")}
		switch {
		case f.has("set") && f.has("add"):
			f.faultKey("set", "", "expects either add or set, found both")
		case f.lacks("add", "set"):
			d.p.fault(n, at, "", "expects add or set, found neither")
		case t.Set:
			d.of(f, "set", &t.Amount)
		default:
			d.of(f, "add", &t.Amount)
		}
		d.tau(f, &t.Tau)
		*into, *names = append(*into, t), append(*names, name)
	})
}

// of reads the value of a key into a RuleValue.
func (d *ruleDraft) of(f *fields, name string, into *RuleValue) bool {
	n, at, k := f.get(name)
	if n == nil {
		return false
	}
	v, ok := d.value(n, at, k.Dims)
	if ok {
		*into = v
	}
	return ok
}

// tau reads a time constant.
func (d *ruleDraft) tau(f *fields, into *RuleValue) {
	if d.of(f, "tau", into) && into.Name == "" && into.Number <= 0 {
		f.fault("tau", "expects a time above 0 ms, found %g ms", into.Number)
	}
}

// post reads the traces of the target and the condition when.
func (d *ruleDraft) post() {
	n, at, _ := d.f.get("post")
	if n == nil {
		return
	}
	traces := *n
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		if n.Content[i].Value != "when" {
			continue
		}
		traces.Content = slices.Concat(n.Content[:i], n.Content[i+2:])
		d.source.When, d.r.When = d.expression(formula.InWhen, n.Content[i+1], at.key("when"))
		break
	}
	d.tracesIn(&traces, at, "a trace of the target", &d.r.Post, &d.source.Post)
}

// variables reads variables and their initial values.
func (d *ruleDraft) variables(key, what string, into *[]RuleVariable, names *[]string) {
	d.named(key, what, maxRuleNames-1, func(name string, n *yaml.Node, at *path) {
		if key == "synapse" && d.isKey(name, "a variable", n, at) {
			return
		}
		v := RuleVariable{Name: name, Limit: Param{Name: name, Min: -inf, Max: inf}}
		ok := false
		if d.p.shipped && n.Kind == yaml.MappingNode {
			ok = d.p.specified(n, at, &v.Limit)
			v.Start = RuleValue{Number: v.Limit.Default, Dim: v.Limit.Dim}
		} else {
			v.Start, ok = d.value(n, at, ruleDimensions())
		}
		if ok {
			*into, *names = append(*into, v), append(*names, name)
		}
	})
}

// target reads the names of state variables of the target's model.
func (d *ruleDraft) target() {
	_, at, _ := d.f.get("target")
	for i, n := range d.f.list("target") {
		if name, ok := d.p.scalar(n, at.item(i), "a name"); ok && d.take(n, at.item(i), name, "a variable of the target") {
			d.r.Target, d.source.Target = append(d.r.Target, name), append(d.source.Target, name)
		}
	}
}

func (d *ruleDraft) modulators() {
	d.named("modulators", "a modulator", maxRuleNames, func(name string, n *yaml.Node, at *path) {
		if d.isKey(name, "a modulator", n, at) {
			return
		}
		f, ok := d.p.fields(n, at, modulatorKeys())
		if !ok {
			return
		}
		m := Modulator{Name: name, delay: RuleValue{Number: 1}}
		if from, _, _ := f.get("from"); from != nil && f.areaOf("from") >= 0 {
			m.From = from.Value
		}
		d.tau(f, &m.Tau)
		d.of(f, "add", &m.Amount)
		if d.of(f, "delay", &m.delay) && m.delay.Name == "" {
			n, at, k := f.get("delay")
			d.p.wholeOf(n, at, "delay", m.delay.Number, m.delay.Dim, k)
		}
		d.r.Modulators, d.source.Modulators = append(d.r.Modulators, m), append(d.source.Modulators, name)
	})
}

// bounds reads the least and the largest weight of a rule or of a projection; nil after a fault or without them.
func (d *ruleDraft) bounds(f *fields) *[2]RuleValue {
	_, at, k := f.get("bounds")
	list := f.list("bounds")
	if len(list) != 2 {
		return nil
	}
	var b [2]RuleValue
	for i, n := range list {
		v, ok := d.value(n, at.item(i), k.Item.Dims)
		if !ok {
			return nil
		}
		b[i] = v
	}
	return &b
}

// statements reads the statements of all handlers.
func (d *ruleDraft) statements() {
	s, f := d.source, d.f
	s.OnPre = d.list("on_pre", formula.InOnPre)
	s.OnPost = d.list("on_post", formula.InOnPost)
	s.OnSource = d.list("on_source", formula.InOnSource)
	if n, at, k := f.get("every"); n != nil {
		if e, ok := d.p.fields(n, at, k.Keys); ok {
			if d.of(e, "bursts", &d.r.every) && d.r.every.Name == "" {
				n, at, k := e.get("bursts")
				d.r.Every = uint64(d.p.wholeOf(n, at, "sweep", d.r.every.Number, d.r.every.Dim, k))
			}
			in := *d.draft
			in.f = e
			s.Every = in.list("do", formula.InEvery)
		}
	}
	switch {
	case !(d.p.shipped && f.has("window")) && f.lacks("on_pre", "on_post", "on_source", "every"):
		d.p.fault(f.node, f.at, "", "expects at least one of on_pre, on_post, on_source and every, found none")
	case f.has("on_source") && f.lacks("source"):
		f.faultKey("on_source", "", "expects source, with the variables that on_source assigns, found on_source alone")
	case f.has("source") && f.lacks("on_source"):
		f.faultKey("source", "", "expects on_source, with assignments to the variables of source, found source alone")
	}
}

// wholeOf turns a number of bursts, or a time, into bursts within the key's range; 0 after a fault.
func (p *parser) wholeOf(n *yaml.Node, at *path, what string, x float64, dim Dimension, k *key) float64 {
	if dim == Time {
		if p.timestep == 0 {
			return 0
		}
		x = float64(x / p.timestep)
	}
	b, m := wholeBursts(x, max(p.timestep, 1e-30))
	switch {
	case m != nil && dim == Time:
		p.mistake(n, at, m)
		return 0
	case m != nil:
		p.fault(n, at, "", "expects whole bursts for the %s, found %g", what, x)
		return 0
	case b < float64(k.Low) || b > float64(k.High):
		p.fault(n, at, "", "expects bursts %s for the %s, found %g", wholeRange(k.Low, k.High), what, b)
		return 0
	}
	return b
}

// equations are the rule's traces and statements as text.
func (d *ruleDraft) equations() (lines []string) {
	traces := func(where string, list []Trace) {
		for i := range list {
			t, how := &list[i], "adds"
			if t.Set {
				how = "sets it to"
			}
			lines = append(lines, where+" trace "+t.Name+": an event "+how+" "+t.Amount.text()+", decays with "+t.Tau.text())
		}
	}
	traces("pre", d.r.Pre)
	traces("post", d.r.Post)
	for i := range d.r.Modulators {
		m := &d.r.Modulators[i]
		lines = append(lines, "modulator "+m.Name+": a spike adds "+m.Amount.text()+", decays with "+m.Tau.text())
	}
	for _, list := range [][]RuleVariable{d.r.Source, d.r.Synapse} {
		for _, v := range list {
			lines = append(lines, v.Name+" starts from "+v.Start.text())
		}
	}
	for _, c := range d.source.Constants {
		lines = append(lines, "constant "+c.Name+" = "+c.Text)
	}
	s := d.source
	if s.When != "" {
		lines = append(lines, "post event when "+s.When)
	}
	for _, part := range []struct {
		name  string
		texts []string
	}{{"on_source", s.OnSource}, {"on_post", s.OnPost}, {"on_pre", s.OnPre}, {"every " + d.r.every.text(), s.Every}} {
		for _, text := range part.texts {
			lines = append(lines, part.name+": "+text)
		}
	}
	if b := d.r.Bounds; b != nil {
		lines = append(lines, b[0].text()+" ≤ w ≤ "+b[1].text())
	}
	return lines
}

// text is the value as a genome would write it.
func (v RuleValue) text() string {
	if v.Name != "" {
		return v.Name
	}
	return (&Param{Default: v.Number, Dim: v.Dim}).defaultText()
}
