package formula

import (
	"maps"
	"slices"
	"strings"
)

// node is an expression: a number, a name, or an operator or function with its arguments.
type node struct {
	at   int    // bytes into the text
	what string // operator or function, "" for numbers and names
	name string
	x    float64
	dim  Dim // of a number with a unit
	args []*node
}

// How strongly operators bind. A comparison takes no other beside it.
const (
	loosest = iota
	orBinds
	andBinds
	notBinds
	compareBinds
	sumBinds
	productBinds
	signBinds
)

func binds(t token) int {
	switch t.text {
	case "or":
		return orBinds
	case "and":
		return andBinds
	case "<", "<=", ">", ">=", "==", "!=":
		return compareBinds
	case "+", "-":
		return sumBinds
	case "*", "/":
		return productBinds
	}
	return loosest
}

// functions gives the number of arguments of every function; those of constantsOnly stand under constants alone, those without arguments
// draw anew in each burst.
var functions = map[string]int{
	"min": 2, "max": 2, "abs": 1, "sqrt": 1, "select": 3, "exp": 1, "log": 1, "pow": 2, "tanh": 1,
	"floor": 1, "sin": 1, "cos": 1, "expm1": 1, "log1p": 1, "random": 0, "normal": 0,
}

var constantsOnly = map[string]bool{"expm1": true, "log1p": true}

// functionNames are the functions that may stand in a part, in the order of the alphabet.
func functionNames(part Part) []string {
	names := slices.Sorted(maps.Keys(functions))
	if part == InOnSource {
		names = slices.Insert(names, slices.Index(names, "exp"), Decay)
	}
	return slices.DeleteFunc(names, func(name string) bool {
		count, known := functions[name]
		return constantsOnly[name] && part != InConstants || known && count == 0 && !part.draws()
	})
}

// draws reports whether texts of the part may take random draws: those that every burst computes for each neuron.
func (p Part) draws() bool { return p == InUpdate || p == InThreshold || p == InReset }

// noDraw says why a function may not draw in a part.
func (p Part) noDraw(name token) *Mistake {
	better := map[Part]string{
		InConstants: "; params: {tau: normal(20 ms, 2 ms)} draws a parameter for each neuron",
		InState:     "; a distribution, such as uniform(-70 mV, -50 mV), draws an initial value",
	}[p]
	return wrong(name.at, "found the function %v, which draws anew in each burst and may stand only in update, threshold and reset of a model%s", name, better)
}

// instead says what to write in place of an operator or function of other languages.
var instead = map[string]string{
	"**": "pow(x, y)", "^": "pow(x, y)", "%": "another formula", "&&": "and", "||": "or", "!": "not", "=": "==",
	"if": "select(condition, then, else)", "where": "select(condition, then, else)", "int": "select(condition, 1, 0)", "clip": "min(max(x, low), high)", "ln": "log",
	"rand": "random()", "uniform": "low + (high - low)*random()", "randn": "normal()", "gauss": "mean + sd*normal()",
}

// maxDepth bounds brackets in brackets.
const maxDepth = 64

// reader reads an expression, the strongest operator first (Pratt 1973).
type reader struct {
	part   Part
	tokens []token
	depth  int
	units  map[string]Unit // that may stand behind numbers; nil: none
}

// parse reads a whole text of a part as an expression.
func parse(text string, part Part) (*node, *Mistake) {
	tokens, m := scan(text)
	if m != nil {
		return nil, m
	}
	r := &reader{part: part, tokens: tokens}
	return r.all()
}

// all reads what is left as one expression.
func (r *reader) all() (*node, *Mistake) {
	n, m := r.read(loosest)
	if m == nil && r.next().kind != atEnd {
		m = unexpected(r.next(), "an operator or the end")
	}
	return n, m
}

func (r *reader) next() token { return r.tokens[0] }

func (r *reader) take() token {
	t := r.tokens[0]
	if t.kind != atEnd {
		r.tokens = r.tokens[1:]
	}
	return t
}

// unexpected says what was found in place of what is wanted.
func unexpected(t token, wanted string) *Mistake {
	if better := instead[t.text]; better != "" {
		return wrong(t.at, "expects %s, found %v", better, t)
	}
	return wrong(t.at, "expects %s, found %v", wanted, t)
}

// read reads an expression whose operators bind more strongly than above.
func (r *reader) read(above int) (*node, *Mistake) {
	if r.depth++; r.depth > maxDepth {
		return nil, wrong(r.next().at, "expects brackets and signs nested at most %d deep, found deeper ones", maxDepth)
	}
	defer func() { r.depth-- }()
	left, m := r.first()
	for m == nil {
		t := r.next()
		strength := binds(t)
		if strength <= above {
			return left, nil
		}
		r.take()
		var right *node
		if right, m = r.read(strength); m != nil {
			break
		}
		left = &node{at: t.at, what: t.text, args: []*node{left, right}}
		if again := r.next(); strength == compareBinds && binds(again) == compareBinds {
			return nil, wrong(again.at, "expects \"and\" between two comparisons, as in a < b and b < c, found %v", again)
		}
	}
	return nil, m
}

// first reads what an expression may begin with.
func (r *reader) first() (*node, *Mistake) {
	switch t := r.take(); {
	case t.kind == aNumber:
		return r.quantity(t)
	case t.text == "-" || t.text == "not":
		strength, what := signBinds, "neg"
		if t.text == "not" {
			strength, what = notBinds, "not"
		}
		n, m := r.read(strength)
		return &node{at: t.at, what: what, args: []*node{n}}, m
	case t.text == "(":
		n, m := r.read(loosest)
		if m == nil {
			m = r.want(")")
		}
		return n, m
	case t.kind == aName && t.text != "and" && t.text != "or":
		if r.next().text == "(" {
			return r.call(t)
		}
		return &node{at: t.at, name: t.text}, nil
	default:
		return nil, unexpected(t, "a number, a name, a function, \"-\", \"not\" or \"(\"")
	}
}

func (r *reader) want(mark string) *Mistake {
	if t := r.take(); t.text != mark {
		return unexpected(t, "an operator or \""+mark+"\"")
	}
	return nil
}

// call reads the arguments of a function.
func (r *reader) call(name token) (*node, *Mistake) {
	count, known := functions[name.text]
	if name.text == Decay && InOnPost <= r.part {
		if r.part != InOnSource {
			return nil, wrong(name.at, "found the function %v, which may stand only in %v", name, InOnSource)
		}
		count, known = 1, true
	}
	if !known {
		allowed := functionNames(r.part)
		if better := instead[name.text]; better != "" && (!constantsOnly[better] || r.part == InConstants) {
			return nil, wrong(name.at, "found the function %v; write %s", name, better)
		}
		m := wrong(name.at, "unknown function %v, wanted one of %s", name, strings.Join(allowed, ", "))
		m.Word, m.Known = name.text, allowed
		return nil, m
	}
	n := &node{at: name.at, what: name.text}
	r.take()
	if count == 0 {
		if !r.part.draws() {
			return nil, r.part.noDraw(name)
		}
		if t := r.take(); t.text != ")" {
			return nil, wrong(t.at, "expects %s() without arguments, as in %s, found %v", name.text, map[string]string{"random": "low + (high - low)*random()", "normal": "mean + sd*normal()"}[name.text], t)
		}
		return n, nil
	}
	for {
		arg, m := r.read(loosest)
		if m != nil {
			return nil, m
		}
		n.args = append(n.args, arg)
		t := r.take()
		switch {
		case t.text == ")" && len(n.args) == count:
			return n, nil
		case t.text == "," && len(n.args) < count:
		case t.text == ")" || t.text == ",":
			return nil, wrong(t.at, "expects %d arguments for %s, found %v after %d", count, name.text, t, len(n.args))
		default:
			return nil, unexpected(t, `an operator, "," or ")"`)
		}
	}
}

// assignment reads "name = expression" of a part.
func assignment(text string, part Part) (name token, n *node, m *Mistake) {
	tokens, m := scan(text)
	if m != nil {
		return token{}, nil, m
	}
	r := &reader{part: part, tokens: tokens}
	if name = r.take(); name.kind != aName {
		return name, nil, wrong(name.at, "expects an assignment such as v = v + 1, found %v", name)
	}
	if t := r.take(); t.text != "=" {
		return name, nil, wrong(t.at, "expects \"=\", as in %s = …, found %v", name.text, t)
	}
	n, m = r.all()
	return name, n, m
}
