package formula

import (
	"math"

	"burst/internal/exact"
)

// constantChecker finds what a constant may not hold: names that are not known, conditions where numbers belong. Its program is for no one.
type constantChecker struct{ c compiler }

func newConstantChecker(params []string) *constantChecker {
	k := &constantChecker{compiler{b: newBuilder(), scope: map[string]binding{}}}
	k.c.bindValues(params, nil)
	return k
}

func (k *constantChecker) check(n *node) *Mistake {
	_, m := k.c.number(plain(n))
	return m
}

// add makes a constant known to those after it.
func (k *constantChecker) add(name string) {
	k.c.scope[name] = binding{value{ref: k.c.b.constant(0)}, aValue}
}

// plain is an expression with the functions of constants alone replaced by one of all expressions, for checks.
func plain(n *node) *node {
	out := *n
	if constantsOnly[n.what] {
		out.what = "abs"
	}
	out.args = nil
	for _, a := range n.args {
		out.args = append(out.args, plain(a))
	}
	return &out
}

// Values works out the values of names, which are parameters of the genome, constants or dt, for one neuron: in float64,
// every operation rounded on its own, exp and log by internal/exact. They are rounded to float32 once, by the caller.
func (d *Definition) Values(names []string, param func(string) float64, dt float64) []float64 {
	return values(d.params, d.constants, names, param, dt)
}

// Values is the same for the names of a rule.
func (r *Rule) Values(names []string, param func(string) float64, dt float64) []float64 {
	return values(r.params, r.constants, names, param, dt)
}

func values(params []string, constants []constant, names []string, param func(string) float64, dt float64) []float64 {
	known := map[string]float64{timeStep: dt}
	for _, p := range params {
		known[p] = param(p)
	}
	for i := range constants {
		known[constants[i].name] = constants[i].of.value(known)
	}
	out := make([]float64, len(names))
	for i, name := range names {
		out[i] = known[name]
	}
	return out
}

// value is a constant expression's number; a condition is 1 or 0.
func (n *node) value(known map[string]float64) float64 {
	if n.name != "" {
		return known[n.name]
	}
	if n.what == "" {
		return n.x
	}
	var v [3]float64
	for i, a := range n.args {
		v[i] = a.value(known)
	}
	return apply(n.what, v[0], v[1], v[2])
}

// apply is an operator's or a function's number; a condition is 1 or 0.
func apply(what string, a, b, c float64) float64 {
	switch what {
	case "neg":
		return -a
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return float64(a * b)
	case "/":
		return a / b
	case "select":
		if a != 0 {
			return b
		}
		return c
	}
	if f := functionOf(what); f != nil {
		return f(a)
	}
	if what == "pow" {
		return powerOf(a, b)
	}
	return choose(what, a, b)
}

// powerOf is a to the power of b: as C's pow has it, but for infinities.
func powerOf(a, b float64) float64 {
	switch {
	case b == 0 || a == 1:
		return 1
	case a == 0 && b < 0:
		return math.Inf(1)
	case a == 0:
		return 0
	}
	p := exact.Exp(b * exact.Log(math.Abs(a)))
	if a > 0 {
		return p
	}
	whole := math.Trunc(b) == b
	switch {
	case !whole:
		return math.NaN()
	case math.Trunc(b/2)*2 != b:
		return -p
	}
	return p
}

// choose is an operator that compares: of the two numbers that it gives one, or 1 for true and 0 for false.
func choose(what string, a, b float64) float64 {
	truth := false
	switch what {
	case "min":
		if a < b {
			return a
		}
		return b
	case "max":
		if b < a {
			return a
		}
		return b
	case "<":
		truth = a < b
	case "<=":
		truth = a <= b
	case ">":
		truth = a > b
	case ">=":
		truth = a >= b
	case "==":
		truth = a == b
	case "!=":
		truth = a != b
	case "and":
		truth = a != 0 && b != 0
	case "or":
		truth = a != 0 || b != 0
	case "not":
		truth = a == 0
	}
	if truth {
		return 1
	}
	return 0
}

// functionOf is a function of one number.
func functionOf(what string) func(float64) float64 {
	switch what {
	case "abs":
		return math.Abs
	case "sqrt":
		return math.Sqrt
	case "exp":
		return exact.Exp
	case "expm1":
		return exact.Expm1
	case "log":
		return exact.Log
	case "log1p":
		return exact.Log1p
	case "tanh":
		return exact.Tanh
	case "floor":
		return math.Floor
	case "sin":
		return exact.Sin
	case "cos":
		return exact.Cos
	}
	return nil
}
