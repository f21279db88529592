package formula

import (
	"maps"
	"slices"
	"strings"
)

// value is what an expression makes.
type value struct {
	ref  Ref
	flag bool
}

// role is what a name stands for.
type role uint8

const (
	aValue role = iota // parameter, constant or dt
	aState
	anInput
	aLocal
	aFlag // refractory
)

type binding struct {
	value
	role role
}

// compiler makes a program of the texts of a source.
type compiler struct {
	source *Source
	b      *builder
	scope  map[string]binding
	names  []string // of parameters, by number
	faults []Fault
}

func (c *compiler) fault(part Part, index int, m *Mistake) {
	c.faults = append(c.faults, Fault{part, index, m})
}

// bindValues makes parameters, constants and dt known.
func (c *compiler) bindValues(params []string, constants []constant) {
	c.names = append(slices.Clone(params), TimeStep)
	for i := range constants {
		c.names = append(c.names, constants[i].name)
	}
	for k, name := range c.names {
		c.scope[name] = binding{value{ref: c.b.load(Param, k)}, aValue}
	}
}

// program compiles update, threshold and reset.
func (c *compiler) program() *Program {
	for k, name := range c.source.Ports {
		c.scope[name] = binding{value{ref: c.b.load(Input, k)}, anInput}
	}
	quiet := value{ref: c.b.load(Refractory, 0), flag: true}
	c.scope[Quiet] = binding{quiet, aFlag}
	used := map[string]bool{}
	locals := c.assignments(InUpdate, c.source.Update, used)
	over := c.condition(used)
	updated := c.states()
	fired := c.b.apply(And, over.ref, c.b.apply(Not, quiet.ref))
	maps.Copy(locals, c.assignments(InReset, c.source.Reset, used))
	for name, where := range locals {
		if !used[name] {
			m := wrong(0, "%q found, which is no state variable and used nowhere; state variables are %s", name, strings.Join(c.stateNames(), ", "))
			if len(name) > 1 {
				m.Word, m.Known = name, c.stateNames()
			}
			c.faults = append(c.faults, Fault{where.Part, where.Index, m})
		}
	}
	reset := c.states()
	for k := range reset {
		if reset[k] != updated[k] {
			reset[k] = c.b.apply(Select, fired, reset[k], updated[k])
		}
	}
	if c.b.full {
		c.fault(InUpdate, 0, wrong(0, "a model of more than %d operations found, a smaller one wanted", MaxCode))
	}
	if len(c.faults) > 0 {
		return nil
	}
	return c.b.finish(reset, fired, c.names, len(c.source.Ports))
}

// states are the values that state variables have now.
func (c *compiler) states() (out []Ref) {
	for _, l := range c.source.State {
		out = append(out, c.scope[l.Name].ref)
	}
	return out
}

func (c *compiler) stateNames() (out []string) {
	for _, l := range c.source.State {
		out = append(out, l.Name)
	}
	return out
}

// assignments compiles statements in order, each of which sees those before it; it gives the places of new names.
func (c *compiler) assignments(part Part, texts []string, used map[string]bool) map[string]Fault {
	locals := map[string]Fault{}
	for i, text := range texts {
		name, n, m := assignment(text, part)
		if m == nil {
			n.each(func(n *node) { used[n.name] = true })
			m = c.assign(name, n, func() { locals[name.text] = Fault{Part: part, Index: i} })
		}
		if m != nil {
			c.fault(part, i, m)
			if _, known := c.scope[name.text]; !known && name.kind == aName {
				c.scope[name.text] = binding{role: aLocal} // one fault is enough
				used[name.text] = true
			}
		}
	}
	return locals
}

// assign gives a state variable, or a name of the model's own, a value.
func (c *compiler) assign(name token, n *node, isNew func()) *Mistake {
	to, known := c.scope[name.text]
	switch {
	case !known && (slices.Contains(Reserved(), name.text) || !ValidName(name.text)):
		return wrong(name.at, "%v found, the name of a state variable or a new name of at most 40 letters, digits and \"_\" wanted", name)
	case known && to.role != aState && to.role != aLocal:
		return wrong(name.at, "%v found, %s and does not change; wanted a state variable (%s) or a new name", name, to.role, strings.Join(c.stateNames(), ", "))
	}
	v, m := c.compile(n)
	switch {
	case m != nil:
		return m
	case v.flag && to.role == aState:
		return wrong(n.at, "a condition found, a number wanted: select(condition, 1, 0) makes one")
	case known && to.role == aLocal && v.flag != to.flag:
		return wrong(name.at, "%v is a number in one place and a condition in another; two names wanted", name)
	case !known:
		to.role = aLocal
		isNew()
	}
	to.value = v
	c.scope[name.text] = to
	return nil
}

// String says what a name of the role is.
func (r role) String() string {
	return [...]string{"which is a parameter or constant", "which is a state variable", "which is an input", "which the update sets", "which says that the neuron is refractory"}[r]
}

// condition compiles the threshold.
func (c *compiler) condition(used map[string]bool) value {
	n, m := parse(c.source.Threshold, InThreshold)
	var v value
	if m == nil {
		n.each(func(n *node) { used[n.name] = true })
		v, m = c.compile(n)
	}
	if m == nil && !v.flag {
		m = wrong(0, "a number found, a condition such as v >= 1 wanted")
	}
	if m != nil {
		c.fault(InThreshold, 0, m)
		return value{ref: c.b.load(Refractory, 0), flag: true}
	}
	return v
}

// number compiles an expression that must make a number.
func (c *compiler) number(n *node) (Ref, *Mistake) { return c.want(n, false) }

// want compiles an expression that must make a flag, or a number.
func (c *compiler) want(n *node, flag bool) (Ref, *Mistake) {
	v, m := c.compile(n)
	switch {
	case m != nil:
		return 0, m
	case v.flag && !flag:
		return 0, wrong(n.at, "a condition found, a number wanted: select(condition, 1, 0) makes one")
	case !v.flag && flag:
		return 0, wrong(n.at, "a number found, a condition such as v >= 1 wanted")
	}
	return v.ref, nil
}

// compile makes the instructions of an expression.
func (c *compiler) compile(n *node) (value, *Mistake) {
	switch {
	case n.name != "":
		return c.lookup(n)
	case n.what == "":
		return value{ref: c.b.constant(float32(n.x))}, nil
	case constantsOnly[n.what]:
		return value{}, wrong(n.at, "function %q found, which stands under constants alone, where it is worked out once", n.what)
	}
	op, turned := operation(n.what)
	refs := make([]Ref, len(n.args))
	for i, a := range n.args {
		r, m := c.want(a, op.takes(i))
		if m != nil {
			return value{}, m
		}
		refs[i] = r
	}
	if turned {
		slices.Reverse(refs)
	}
	if n.what == "exp" {
		return value{ref: c.exp(refs[0])}, nil
	}
	v := value{ref: c.b.apply(op, refs...), flag: op.Flag()}
	if n.what == "!=" {
		v.ref = c.b.apply(Not, v.ref)
	}
	return v, nil
}

// operation is the instruction of an operator or function, and whether its arguments change places.
func operation(what string) (op Op, turned bool) {
	switch what {
	case ">":
		return Less, true
	case ">=":
		return LessEqual, true
	}
	return map[string]Op{
		"+": Add, "-": Sub, "*": Mul, "/": Div, "<": Less, "<=": LessEqual, "==": Equal, "!=": Equal, "and": And, "or": Or,
		"not": Not, "neg": Neg, "abs": Abs, "sqrt": Sqrt, "min": Min, "max": Max, "select": Select,
	}[what], false
}

// lookup is the value of a name.
func (c *compiler) lookup(n *node) (value, *Mistake) {
	if b, ok := c.scope[n.name]; ok {
		return b.value, nil
	}
	known := slices.Sorted(maps.Keys(c.scope))
	return value{}, unknown(n, known)
}

func unknown(n *node, known []string) *Mistake {
	m := wrong(n.at, "unknown name %q found, wanted one of %s", n.name, strings.Join(known, ", "))
	if better := instead[n.name]; better != "" {
		m.Message = wrong(n.at, "unknown name %q found, %s wanted", n.name, better).Message
	}
	if len(n.name) > 1 {
		m.Word, m.Known = n.name, known
	}
	return m
}
