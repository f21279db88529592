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
	aRead // input of a handler
	unset // out before it is assigned
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
	draws  uint16           // calls of random and normal so far, in the order of the text
	rule   *handlerCompiler // of a handler of a rule of plasticity; nil: of a model
}

func (c *compiler) fault(part Part, index int, m *Mistake) {
	c.faults = append(c.faults, Fault{part, index, m})
}

// bindValues makes parameters, constants and dt known.
func (c *compiler) bindValues(params []string, constants []constant) {
	c.names = append(slices.Clone(params), timeStep)
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
	c.unused(locals, used)
	reset := c.states()
	for k := range reset {
		if reset[k] != updated[k] {
			reset[k] = c.b.apply(Select, fired, reset[k], updated[k])
		}
	}
	if c.b.full {
		c.fault(InUpdate, 0, wrong(0, "expects a model of at most %d operations, found a larger one", maxCode))
	}
	if len(c.faults) > 0 {
		return nil
	}
	return c.b.finish(reset, fired, c.names, len(c.source.Ports))
}

// unused refuses names of the source's own that nothing reads.
func (c *compiler) unused(locals map[string]Fault, used map[string]bool) {
	for name, where := range locals {
		if !used[name] && !c.b.full {
			m := wrong(0, "found %q, which is not a %s and is never used; the %ss are %s", name, c.variable(), c.variable(), strings.Join(c.stateNames(), ", "))
			if len(name) > 1 {
				m.Word, m.Known = name, c.stateNames()
			}
			c.faults = append(c.faults, Fault{where.Part, where.Index, m})
		}
	}
}

// variable is what messages call a name that statements may assign.
func (c *compiler) variable() string {
	if c.rule != nil {
		return "variable"
	}
	return "state variable"
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

// assignments compiles statements in order; each sees the results of those before it. It returns the places of new names.
func (c *compiler) assignments(part Part, texts []string, used map[string]bool) map[string]Fault {
	locals := map[string]Fault{}
	for i, text := range texts {
		if c.b.full {
			break // the one fault to come says so
		}
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
	case !known && c.rule != nil && c.rule.elsewhere[name.text] != "":
		return wrong(name.at, "found %v, %s", name, c.rule.elsewhere[name.text])
	case !known && (slices.Contains(Reserved(), name.text) || !ValidName(name.text)):
		return wrong(name.at, "expects the name of a %s or a new name of at most 40 letters, digits and \"_\", found %v", c.variable(), name)
	case known && to.role != aState && to.role != aLocal && to.role != unset:
		return wrong(name.at, "expects a %s (%s) or a new name, found %v, %s and does not change", c.variable(), strings.Join(c.stateNames(), ", "), name, to.role)
	}
	v, m := c.compile(n)
	switch {
	case m != nil:
		return m
	case v.flag && (to.role == aState || to.role == unset):
		return wrong(n.at, "expects a number, found a condition; select(condition, 1, 0) makes a number of it")
	case known && to.role == aLocal && v.flag != to.flag:
		return wrong(name.at, "found %v as a number in one place and as a condition in another; use two names", name)
	case to.role == unset:
		to.role = aState
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
	return [...]string{
		"which is a parameter or constant", "which is a state variable", "which is an input", "which the update sets", "which says that the neuron is refractory",
		"which is given", "which is given",
	}[r]
}

// condition compiles the threshold.
func (c *compiler) condition(used map[string]bool) value {
	return c.conditionOf(InThreshold, c.source.Threshold, used)
}

func (c *compiler) conditionOf(part Part, text string, used map[string]bool) value {
	n, m := parse(text, part)
	var v value
	if m == nil {
		n.each(func(n *node) { used[n.name] = true })
		v, m = c.compile(n)
	}
	if m == nil && !v.flag {
		m = wrong(0, "expects a condition such as v >= 1, found a number")
	}
	if m != nil {
		c.fault(part, 0, m)
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
		return 0, wrong(n.at, "expects a number, found a condition; select(condition, 1, 0) makes a number of it")
	case !v.flag && flag:
		return 0, wrong(n.at, "expects a condition such as v >= 1, found a number")
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
		return value{}, wrong(n.at, "found the function %q, which may stand only under constants, where it is computed once", n.what)
	case n.what == Decay:
		return c.rule.decay(c, n)
	case n.what == "random" || n.what == "normal":
		return value{ref: c.draw(n.what)}, nil
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
	if c.rule != nil {
		c.rule.roots(n)
		if power, ok := c.rule.power(c, n, refs); ok {
			return value{ref: power}, nil
		}
	}
	switch m := (maths{c.b}); n.what {
	case "exp":
		return value{ref: m.exp(refs[0])}, nil
	case "log":
		return value{ref: m.log(refs[0])}, nil
	case "pow":
		return value{ref: m.pow(refs[0], refs[1])}, nil
	case "tanh":
		return value{ref: m.tanh(refs[0])}, nil
	case "floor":
		return value{ref: m.floor(refs[0])}, nil
	case "sin", "cos":
		return value{ref: m.angle(refs[0], n.what == "cos")}, nil
	}
	v := value{ref: c.b.apply(op, refs...), flag: op.Flag()}
	if n.what == "!=" {
		v.ref = c.b.apply(Not, v.ref)
	}
	return v, nil
}

// draw makes a draw of its own for every call in the text.
func (c *compiler) draw(what string) Ref {
	k := int(c.draws)
	c.draws++
	if what == "random" {
		return c.b.load(Random, k)
	}
	return maths{c.b}.normal(c.b.load(Tail, k))
}

// operation is the instruction of an operator or function, and whether its arguments change places.
func operation(what string) (op Op, turned bool) {
	switch what {
	case ">":
		return Less, true
	case ">=":
		return LessEqual, true
	}
	return operations[what], false
}

var operations = map[string]Op{
	"+": Add, "-": Sub, "*": Mul, "/": Div, "<": Less, "<=": LessEqual, "==": Equal, "!=": Equal, "and": And, "or": Or,
	"not": Not, "neg": Neg, "abs": Abs, "sqrt": Sqrt, "min": Min, "max": Max, "select": Select,
}

// lookup is the value of a name.
func (c *compiler) lookup(n *node) (value, *Mistake) {
	b, ok := c.scope[n.name]
	switch {
	case ok && b.role == unset:
		return value{}, wrong(n.at, "found %q, which has no value before it is assigned", n.name)
	case ok:
		return b.value, nil
	case c.rule != nil && c.rule.elsewhere[n.name] != "":
		return value{}, wrong(n.at, "found %q, %s", n.name, c.rule.elsewhere[n.name])
	}
	known := slices.Sorted(maps.Keys(c.scope))
	return value{}, unknown(n, known)
}

func unknown(n *node, known []string) *Mistake {
	m := wrong(n.at, "unknown name %q, wanted one of %s", n.name, strings.Join(known, ", "))
	better := instead[n.name]
	if count, function := functions[n.name]; function {
		better = n.name + map[bool]string{true: "()", false: "(…)"}[count == 0]
	}
	if better != "" {
		m.Message = wrong(n.at, "unknown name %q; write %s", n.name, better).Message
	}
	if len(n.name) > 1 {
		m.Word, m.Known = n.name, known
	}
	return m
}
