package formula

import (
	"maps"
	"slices"
)

// Source is a model as the genome has it: names in the order in which they are written, and texts.
type Source struct {
	Ports     []string
	Params    []string
	Constants []Line   // name and expression
	State     []Line   // name and the expression that it starts from; an empty one where a value is drawn instead
	Update    []string // assignments
	Threshold string
	Reset     []string
}

// Line is a name and its text.
type Line struct{ Name, Text string }

// Part is a part of a Source.
type Part uint8

// The parts that hold texts.
const (
	InConstants Part = iota
	InState
	InUpdate
	InThreshold
	InReset
	InOnPost // from here on of a RuleSource
	InOnPre
	InEvery
	InOnSource
	InWhen
)

// String is what a genome calls the part.
func (p Part) String() string {
	return [...]string{"constants", "state", "update", "threshold", "reset", "on_post", "on_pre", "every", "on_source", "when"}[p]
}

// Fault is a mistake in one text of a Source.
type Fault struct {
	Part  Part
	Index int // of the text in its part
	*Mistake
}

// Definition is a model whose texts have been checked.
type Definition struct {
	Program   *Program // of step 4
	State     []string
	params    []string // of the genome
	constants []constant
	starts    []*node // per state variable; nil: drawn
}

// constant is worked out once, in float64.
type constant struct {
	name string
	of   *node
}

// timeStep is the name of the time step in ms, and Quiet that of the flag of step 4 that says a neuron is refractory.
const (
	timeStep = "dt"
	Quiet    = "refractory"
)

// Reserved lists the names that stand for something already.
func Reserved() []string {
	return append([]string{timeStep, Quiet, "and", "or", "not"}, slices.Sorted(maps.Keys(functions))...)
}

// ValidName reports whether a text can be a name in expressions: letters, digits and "_", no digit at first, at most 40.
func ValidName(s string) bool {
	if s == "" || len(s) > 40 || digit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !letter(s[i]) && !digit(s[i]) {
			return false
		}
	}
	return true
}

// Define checks a source and makes its program. Its names are valid, none is reserved or used twice.
func Define(s *Source) (*Definition, []Fault) {
	c := &compiler{source: s, b: newBuilder(), scope: map[string]binding{}}
	d := &Definition{params: s.Params}
	for _, l := range s.State {
		d.State = append(d.State, l.Name)
	}
	d.constants = c.constants()
	d.starts = c.starts()
	d.Program = c.program()
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	return d, nil
}

// Start makes the program that turns drawn initial values into those before burst 0: State k loads what was drawn. It is
// nil where nothing is left to work out. given says which variables start from a drawn value whatever the definition says.
func (d *Definition) Start(given []bool) *Program {
	c := &compiler{b: newBuilder(), scope: map[string]binding{}}
	c.bindValues(d.params, d.constants)
	next := make([]Ref, len(d.State))
	works := false
	for k, n := range d.starts {
		if next[k] = c.b.load(State, k); n != nil && !given[k] {
			v, m := c.compile(n)
			if m != nil {
				panic("BUG: " + m.Message)
			}
			next[k], works = v.ref, true
		}
		c.scope[d.State[k]] = binding{value{ref: next[k]}, aState}
	}
	if !works {
		return nil
	}
	return c.b.finish(next, c.b.load(Refractory, 0), c.names, 0)
}

// Depends lists the genome's parameters that one of Program.Params is made of.
func (d *Definition) Depends(name string) []string {
	seen := map[string]bool{name: true}
	for i := len(d.constants) - 1; i >= 0; i-- {
		if c := &d.constants[i]; seen[c.name] {
			c.of.each(func(n *node) { seen[n.name] = true })
		}
	}
	var out []string
	for _, p := range d.params {
		if seen[p] {
			out = append(out, p)
		}
	}
	return out
}

// each visits the node and all below it.
func (n *node) each(visit func(*node)) {
	visit(n)
	for _, a := range n.args {
		a.each(visit)
	}
}

// constants reads them in order; each may use parameters, those before it, and dt.
func (c *compiler) constants() (out []constant) {
	checker := newConstantChecker(c.source.Params)
	for i, l := range c.source.Constants {
		n, m := parse(l.Text, InConstants)
		if m == nil {
			m = checker.check(n)
		}
		if m != nil {
			c.fault(InConstants, i, m)
			n = &node{}
		}
		out = append(out, constant{l.Name, n})
		checker.add(l.Name)
	}
	c.bindValues(c.source.Params, out)
	return out
}

// starts reads the expressions that state variables start from; each may use parameters, constants and variables before it.
func (c *compiler) starts() (out []*node) {
	for k, l := range c.source.State {
		var n *node
		if l.Text != "" {
			var m *Mistake
			n, m = parse(l.Text, InState)
			if m == nil {
				_, m = c.number(n)
			}
			if m != nil {
				c.fault(InState, k, m)
			}
		}
		out = append(out, n)
		c.scope[l.Name] = binding{value{ref: c.b.load(State, k)}, aState}
	}
	return out
}
