package genome

import (
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// Custom is what a model that the genome defines has beside what all models have.
type Custom struct {
	Definition *formula.Definition
	Starts     []Value // per state variable: what is drawn before burst 0, where the definition does not work it out
}

// Kind is the model's name, or custom for one that the genome defines.
func (m *Model) Kind() string {
	if m.Custom != nil {
		return custom
	}
	return m.Name
}

const custom = "custom"

// maxLines bounds the texts of a part of a model.
const maxLines = 256

// draft is a model that is being read.
type draft struct {
	p      *parser
	m      *Model
	f      *fields
	source formula.Source
	taken  map[string]string // what names stand for
	texts  map[formula.Part][]text
}

// text is a text of a model and its place.
type text struct {
	node *yaml.Node
	at   *path
}

// models reads the models that the genome defines.
func (p *parser) models(f *fields) {
	_, at, _ := f.get("models")
	for i, n := range f.list("models") {
		if p.full() {
			return
		}
		if m := p.customModel(n, at.item(i)); m != nil {
			p.g.Models = append(p.g.Models, m)
		}
	}
}

// modelNames are the names of all models an area may have.
func (p *parser) modelNames() []string {
	var names []string
	for _, m := range slices.Concat(Models(), p.g.Models) {
		names = append(names, m.Name)
	}
	return names
}

// customModel reads one model; nil when it has no name to be known by. One at fault has no definition, which areas never
// see: the genome is refused.
func (p *parser) customModel(n *yaml.Node, at *path) *Model {
	f, ok := p.fields(n, at, modelKeys())
	if !ok {
		return nil
	}
	before := len(p.faults)
	d := &draft{p: p, f: f, m: &Model{Custom: &Custom{}}, taken: map[string]string{}, texts: map[formula.Part][]text{}}
	if !f.name("name", &d.m.Name) {
		return nil
	}
	if slices.Contains(p.modelNames(), d.m.Name) {
		f.fault("name", "expects a name that no other model has, found %s", d.m.Name)
	}
	unit := 0
	f.choice("input", &unit)
	d.m.Input = [...]Dimension{Plain, Voltage, Current}[unit]
	d.m.Drive = []Dimension{d.m.Input}
	d.ports()
	d.params()
	d.constants()
	d.state()
	d.lines()
	if len(p.faults) == before {
		d.define()
	}
	return d.m
}

// ports reads the names of the inputs.
func (d *draft) ports() {
	d.source.Ports = []string{"input"}
	n, at, _ := d.f.get("ports")
	if n == nil {
		d.taken["input"] = "an input"
	} else {
		list := d.f.list("ports")
		if len(list) > formula.MaxInputs {
			d.p.fault(n, at, "", "expects one input, or two for weights ≥ 0 and < 0, found %d", len(list))
			list = nil
		}
		d.source.Ports = nil
		for i, e := range list {
			if name, ok := d.p.scalar(e, at.item(i), "a name"); ok && d.take(e, at.item(i), name, "an input") {
				d.source.Ports = append(d.source.Ports, name)
			}
		}
	}
	d.m.Ports = max(1, len(d.source.Ports))
}

// take makes a name stand for something of the model.
func (d *draft) take(n *yaml.Node, at *path, name, what string) bool {
	before, twice := d.taken[name]
	switch {
	case !formula.ValidName(name):
		d.p.fault(n, at, "", "expects a name of at most 40 letters, digits and \"_\", found %q", short(name))
	case slices.Contains(formula.Reserved(), name) && !(name == formula.Quiet && what == "a parameter"):
		d.p.fault(n, at, "", "expects a name that means nothing in expressions, found %s", name)
	case twice:
		d.p.fault(n, at, "", "%s found, which stands for %s already", name, before)
	default:
		d.taken[name] = what
		return true
	}
	return false
}

// named reads a mapping of names to values, in order.
func (d *draft) named(key, what string, most int, take func(name string, n *yaml.Node, at *path)) {
	n, at, _ := d.f.get(key)
	switch {
	case n == nil:
		return
	case n.Kind != yaml.MappingNode:
		d.p.fault(n, at, "", "expects a mapping of names, found %s", found(n))
		return
	case len(n.Content) > 2*most:
		d.p.fault(n, at, "", "expects at most %d entries, found %d", most, len(n.Content)/2)
		return
	}
	for i := 0; i+1 < len(n.Content) && !d.p.full(); i += 2 {
		name := n.Content[i]
		if d.take(name, at, name.Value, what) {
			take(name.Value, n.Content[i+1], at.key(name.Value))
		}
	}
}

// anyDimension are those that a parameter or state variable may have.
func anyDimension() []Dimension {
	return []Dimension{Plain, Time, Voltage, Current, Frequency, Capacitance}
}

// params reads parameters with their defaults; their dimension is the default's.
func (d *draft) params() {
	d.named("params", "a parameter", formula.MaxParams/2, func(name string, n *yaml.Node, at *path) {
		x, dim, ok := d.p.amount(n, at, anyDimension())
		if !ok {
			return
		}
		param := Param{Name: name, Dim: dim, Default: x, Min: -inf, Max: inf, Doc: "parameter of " + d.m.Name}
		if name == formula.Quiet {
			d.refractory(&param, n, at)
		} else {
			d.source.Params = append(d.source.Params, name)
		}
		d.m.Params = append(d.m.Params, param)
	})
}

// refractory makes the parameter of that name the time of silence after a spike.
func (d *draft) refractory(param *Param, n *yaml.Node, at *path) {
	param.Whole, param.Min = true, 0
	switch param.Dim {
	case Plain:
		param.Dim = Bursts
		d.p.bursts(n, at, 0, maxQuiet)
	case Time:
		if param.Default < 0 {
			d.p.fault(n, at, "", "expects a time of at least 0 ms, found %s", short(n.Value))
		}
	default:
		d.p.fault(n, at, "", "expects whole bursts such as 2 or a time such as 2 ms, found %s", short(n.Value))
	}
}

// constants reads what is worked out once.
func (d *draft) constants() {
	d.named("constants", "a constant", formula.MaxParams/2, func(name string, n *yaml.Node, at *path) {
		if line, ok := d.expression(formula.InConstants, n, at); ok {
			d.source.Constants = append(d.source.Constants, formula.Line{Name: name, Text: line})
		}
	})
}

// expression reads a text of the part; where it stands is kept for faults.
func (d *draft) expression(part formula.Part, n *yaml.Node, at *path) (string, bool) {
	line, ok := d.p.scalar(n, at, "an expression")
	if ok {
		d.texts[part] = append(d.texts[part], text{n, at})
	}
	return line, ok
}

// state reads state variables and what they start from: a quantity or a distribution, or an expression.
func (d *draft) state() {
	d.named("state", "a state variable", formula.MaxState, func(name string, n *yaml.Node, at *path) {
		line, ok := d.expression(formula.InState, n, at)
		if !ok {
			return
		}
		variable, start := Param{Name: name, Min: -inf, Max: inf, Doc: "state variable of " + d.m.Name}, Value{Pos: pos(n), Lo: -inf, Hi: inf}
		if drawn(line) {
			start, variable.Dim, ok = d.start(n, at)
			line = ""
		} else if p := d.m.param(line); p != nil {
			variable.Dim = p.Dim
		}
		if !ok {
			line = "0" // one fault is enough
		}
		d.source.State = append(d.source.State, formula.Line{Name: name, Text: line})
		d.m.State = append(d.m.State, variable)
		d.m.Custom.Starts = append(d.m.Custom.Starts, start)
	})
	if n, at, _ := d.f.get("state"); n != nil && n.Kind == yaml.MappingNode && len(n.Content) == 0 {
		d.p.fault(n, at, "", "expects at least one state variable, found none")
	}
}

// drawn tells a quantity or distribution from an expression.
func drawn(line string) bool {
	if slices.Contains([]string{"uniform", "normal", "lognormal", "clip"}, (&expression{text: line}).word()) {
		return true
	}
	n := numeric(line)
	rest := strings.TrimLeft(line[n:], " ")
	return n > 0 && (rest == "" || rest[0]|0x20 >= 'a' && rest[0]|0x20 <= 'z' || rest[0] > 0x7e)
}

// start reads a quantity or distribution of any one dimension: the one in which it has no fault.
func (d *draft) start(n *yaml.Node, at *path) (Value, Dimension, bool) {
	for _, dim := range anyDimension() {
		if _, m := parseValue(n.Value, dim, 1); m == nil {
			v, ok := d.p.value(n, at, dim)
			return v, dim, ok
		}
	}
	dim := firstDimension(n.Value)
	v, ok := d.p.value(n, at, dim)
	return v, dim, ok
}

// firstDimension is that of the first unit in a text, misspelt perhaps; Plain where there is none.
func firstDimension(text string) Dimension {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		name := word
		if all := unitNames(anyDimension()); !slices.Contains(all, word) {
			name = nearestUnit(word, all)
		}
		for _, u := range units() {
			if u.name == name {
				return u.dim
			}
		}
	}
	return Plain
}

// lines reads update, threshold and reset.
func (d *draft) lines() {
	if n, at, _ := d.f.get("threshold"); n != nil {
		d.source.Threshold, _ = d.expression(formula.InThreshold, n, at)
	}
	d.source.Update = d.list("update", formula.InUpdate)
	d.source.Reset = d.list("reset", formula.InReset)
}

func (d *draft) list(key string, part formula.Part) (lines []string) {
	n, at, _ := d.f.get(key)
	list := d.f.list(key)
	if len(list) > maxLines {
		d.p.fault(n, at, "", "expects at most %d statements, found %d", maxLines, len(list))
		return nil
	}
	for i, e := range list {
		if line, ok := d.expression(part, e, at.item(i)); ok {
			lines = append(lines, line)
		}
	}
	return lines
}

// define checks the expressions; what they stand on has no fault.
func (d *draft) define() {
	made, faults := formula.Define(&d.source)
	for _, f := range faults {
		where := text{d.f.node, d.f.at}
		if list := d.texts[f.Part]; f.Index < len(list) {
			where = list[f.Index]
		}
		d.p.mistake(where.node, where.at, &mistake{f.Message, Nearest(f.Word, f.Known), f.Offset})
	}
	d.m.Custom.Definition = made
}
