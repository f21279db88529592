package genome

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// Custom has the further data of a model that the genome defines.
type Custom struct {
	Definition func() *Definition // that of a model of Written is compiled by the first call
	Starts     []Value            // one per state variable: its initial value, unless the definition computes it
}

// Definition is a model's formulas after checking: its state variables, its program and the values of its constants.
type Definition = formula.Definition

// Kind is the model's name, or custom for one that the genome defines.
func (m *Model) Kind() string {
	if m.Custom != nil {
		return custom
	}
	return m.Name
}

const custom = "custom"

// CustomNumber is the Number of all models that genomes define.
const CustomNumber = 6

// maxLines is the largest number of statements in one part of a model.
const maxLines = 256

// draft is a model that is being read.
type draft struct {
	p      *parser
	m      *Model
	f      *fields
	source formula.Source
	taken  map[string]string // what names stand for
	kept   []string          // reserved names
	texts  map[formula.Part][]text
}

func newDraft(p *parser, f *fields, kept []string) *draft {
	return &draft{p: p, f: f, taken: map[string]string{}, kept: kept, texts: map[formula.Part][]text{}}
}

// text is a text of a model and its place.
type text struct {
	node *yaml.Node
	at   *path
}

// ownModels reads the models that the genome defines.
func (p *parser) ownModels(f *fields) {
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

// customModel reads one model; nil if it has no name. A model with a fault has no definition; no area uses it then, because
// the genome is refused.
func (p *parser) customModel(n *yaml.Node, at *path) *Model {
	keys := modelKeys()
	if p.shipped {
		keys = neuronKeys()
	}
	f, ok := p.fields(n, at, keys)
	if !ok {
		return nil
	}
	before := len(p.faults)
	d := newDraft(p, f, formula.Reserved())
	d.m = &Model{Number: CustomNumber, Custom: &Custom{}}
	if !f.name("name", &d.m.Name) {
		return nil
	}
	if slices.ContainsFunc(slices.Concat(Models(), p.g.Models), func(m *Model) bool { return m.Name == d.m.Name }) {
		f.fault("name", "expects a name that no other model has, found %s", d.m.Name)
	}
	d.ports()
	d.params()
	d.constants()
	d.state()
	d.lines()
	if p.shipped {
		d.described()
	}
	if len(p.faults) == before {
		d.define()
	}
	return d.m
}

// ports reads the names of the inputs and their units.
func (d *draft) ports() {
	unit := 0
	d.f.choice("input", &unit)
	n, at, k := d.f.get("ports")
	switch {
	case n == nil:
		d.taken["input"] = "an input"
		d.m.Ports = []Port{{"input", inputs()[unit]}}
	case n.Kind == yaml.MappingNode:
		if d.f.has("input") {
			d.f.faultKey("input", "", "expects either input or a unit for each of ports, found both")
		}
		if len(n.Content) == 0 {
			d.p.fault(n, at, "", "expects at least one input, found none")
		}
		d.namedIn(n, at, "an input", formula.MaxInputs, func(name string, n *yaml.Node, at *path) {
			if unit, ok := d.p.choice(n, at, k.Choices); ok {
				d.m.Ports = append(d.m.Ports, Port{name, inputs()[unit]})
			}
		})
	default:
		list := d.f.list("ports")
		if len(list) > formula.MaxInputs {
			d.p.fault(n, at, "", "expects at most %d inputs, found %d", formula.MaxInputs, len(list))
			return
		}
		for i, e := range list {
			if name, ok := d.p.scalar(e, at.item(i), "a name"); ok && d.take(e, at.item(i), name, "an input") {
				d.m.Ports = append(d.m.Ports, Port{name, inputs()[unit]})
			}
		}
	}
	if len(d.m.Ports) == 0 { // after a fault
		d.m.Ports = []Port{{"input", Plain}}
	}
	for _, port := range d.m.Ports {
		d.source.Ports = append(d.source.Ports, port.Name)
	}
}

// take reserves a name for something of the model.
func (d *draft) take(n *yaml.Node, at *path, name, what string) bool {
	before, twice := d.taken[name]
	switch {
	case !formula.ValidName(name):
		d.p.fault(n, at, "", "expects a name of at most 40 letters, digits and \"_\", found %q", short(name))
	case slices.Contains(d.kept, name) && !(name == formula.Quiet && what == "a parameter"):
		d.p.fault(n, at, "", "expects a name that is not reserved in expressions, found %s", name)
	case twice:
		d.p.fault(n, at, "", "found %s, which already stands for %s", name, before)
	default:
		d.taken[name] = what
		return true
	}
	return false
}

// named reads a mapping of names to values, in order.
func (d *draft) named(key, what string, most int, take func(name string, n *yaml.Node, at *path)) {
	if n, at, _ := d.f.get(key); n != nil {
		d.namedIn(n, at, what, most, take)
	}
}

func (d *draft) namedIn(n *yaml.Node, at *path, what string, most int, take func(name string, n *yaml.Node, at *path)) {
	switch {
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

// anyDimension lists the dimensions that a parameter or state variable may have.
func anyDimension() []Dimension {
	return []Dimension{Plain, Time, Voltage, Current, Frequency, Capacitance, Conductance}
}

// params reads parameters with their defaults; their dimension is the default's.
func (d *draft) params() {
	d.named("params", "a parameter", formula.MaxParams/2, func(name string, n *yaml.Node, at *path) {
		param := Param{Name: name, Min: -inf, Max: inf, Doc: "parameter of " + d.m.Name}
		ok := false
		if d.p.shipped {
			ok = d.p.specified(n, at, &param)
		} else {
			param.Default, param.Dim, ok = d.p.amount(n, at, anyDimension())
		}
		if !ok {
			return
		}
		if name == formula.Quiet {
			d.refractory(&param, n, at)
		} else {
			d.source.Params = append(d.source.Params, name)
		}
		d.m.Params = append(d.m.Params, param)
	})
}

// refractory reads the parameter refractory, the time of silence after a spike.
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

// constants reads the constants, which are computed once.
func (d *draft) constants() {
	d.named("constants", "a constant", formula.MaxParams/2, func(name string, n *yaml.Node, at *path) {
		if line, ok := d.expression(formula.InConstants, n, at); ok {
			d.source.Constants = append(d.source.Constants, formula.Line{Name: name, Text: line})
		}
	})
}

// expression reads a text of the part and keeps its place for faults.
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
		variable, start := Variable{Name: name, Doc: "state variable of " + d.m.Name}, Value{Pos: pos(n), Lo: -inf, Hi: inf}
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

// start reads a quantity or distribution of any dimension. It takes the dimension in which the text has no fault.
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

// firstDimension is the dimension of the first unit in a text, even a misspelt one; Plain if there is no unit.
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

// define checks the expressions. It is called only if names and values have no fault.
func (d *draft) define() {
	d.m.Custom.Definition = compiling(d, d.m.Name, &d.source, formula.Define)
}

// compiling gives the compiled form of a source. One with faults, which it reports, has none. Sources that come with burst are compiled
// by the first call, since most runs use none or one of them; the tests call all.
func compiling[S, D any](d *draft, name string, source *S, define func(*S) (*D, []formula.Fault)) func() *D {
	if d.p.shipped {
		return sync.OnceValue(func() *D {
			made, faults := define(source)
			if faults != nil {
				panic("BUG: " + name + ": " + faults[0].Message)
			}
			return made
		})
	}
	made, faults := define(source)
	d.report(faults)
	if faults != nil {
		return nil
	}
	return func() *D { return made }
}

// report adds the faults of expressions, each at its place.
func (d *draft) report(faults []formula.Fault) {
	for _, f := range faults {
		where := text{d.f.node, d.f.at}
		if list := d.texts[f.Part]; f.Index < len(list) {
			where = list[f.Index]
		}
		d.p.mistake(where.node, where.at, &mistake{f.Message, Nearest(f.Word, f.Known), f.Offset})
	}
}
