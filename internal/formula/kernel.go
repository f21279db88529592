package formula

import (
	"slices"
	"strings"
)

// Kernel is a formula of a pair: d, the distance, and dx, dy, dz, the target's coordinates less the source's, all in um, and columns
// of the source and the target. It is worked out in float64; every operation rounds once, and exp, log and so on are those of internal/exact.
type Kernel struct {
	Text      string
	Dim       Dim  // of the result
	Condition bool // the result is 1 where it is true, else 0
	steps     []step
	reads     [Variables]bool
}

// Places of what a kernel may read: d, dx, dy, dz, then the source's columns and the target's.
const (
	MaxColumns = 8 // of an area
	OfSource   = 4
	OfTarget   = OfSource + MaxColumns
	Variables  = OfTarget + MaxColumns
)

// Column is a number of each neuron that a kernel may read, as source_NAME or target_NAME.
type Column struct {
	Name string
	Dim  Dim
}

// step works out one number from earlier ones.
type step struct {
	what string // operator or function; "" for a number
	x    float64
	args [3]int // places among the variables and the results of steps

	f     func(float64) float64 // of one number; nil: it is no such function
	truth bool                  // it makes a condition
	leave bool                  // its operand may leave what it is defined for
	turns bool                  // Over looks where sin and cos turn round
}

// newStep is a step with what follows from its operator.
func newStep(what string, x float64, args [3]int) step {
	s := step{what: what, x: x, args: args, f: functionOf(what)}
	switch what {
	case "<", "<=", ">", ">=", "==", "!=", "and", "or", "not":
		s.truth = true
	case "sqrt", "log", "log1p", "sin", "cos":
		s.leave = true
	}
	return s
}

// ofPlace are the names of the first places.
var ofPlace = [OfSource]string{"d", "dx", "dy", "dz"}

const (
	maxSteps = 60
	places   = Variables + maxSteps
)

const sourcePrefix, targetPrefix = "source_", "target_"

// IsKernel reports whether a text is a formula of a pair: it names d, dx, dy or dz, or a column of an end.
func IsKernel(text string) bool {
	tokens, m := scan(text)
	return m == nil && slices.ContainsFunc(tokens, func(t token) bool {
		return t.kind == aName && (slices.Contains(ofPlace[:], t.text) || strings.HasPrefix(t.text, sourcePrefix) || strings.HasPrefix(t.text, targetPrefix))
	})
}

// readable is what a kernel may read.
type readable struct {
	names []string
	at    []int
	dims  []Dim
	units map[string]Unit // that may stand behind numbers, but not alone
}

func newReadable(source, target []Column) *readable {
	r := &readable{}
	add := func(name string, at int, dim Dim) {
		r.names, r.at, r.dims = append(r.names, name), append(r.at, at), append(r.dims, dim)
	}
	for i, name := range ofPlace {
		add(name, i, Dim{1})
	}
	for i, c := range source {
		add(sourcePrefix+c.Name, OfSource+i, c.Dim)
	}
	for i, c := range target {
		add(targetPrefix+c.Name, OfTarget+i, c.Dim)
	}
	return r
}

// NewKernel reads a formula of pairs whose ends have columns, at most MaxColumns each. Numbers may have units. Sums and comparisons need
// both sides in one dimension, exp and so on plain numbers.
func NewKernel(text string, units map[string]Unit, source, target []Column) (*Kernel, *Mistake) {
	tokens, m := scan(text)
	if m != nil {
		return nil, m
	}
	r := &reader{part: InConstants, tokens: tokens, units: units}
	n, m := r.all()
	if m != nil {
		return nil, m
	}
	k := &Kernel{Text: text}
	known := newReadable(source, target)
	known.units = units
	of, m := k.compile(n, known)
	if m != nil {
		return nil, m
	}
	if of.place < Variables { // the result is that of the last step
		k.steps = append(k.steps, newStep("max", 0, [3]int{of.place, of.place, 0}))
	}
	k.Dim, k.Condition = of.dim, of.flag
	for i := range k.steps {
		k.steps[i].turns = k.ReadsColumns()
	}
	return k, nil
}

// Reads reports whether the kernel reads what lies at one of the places.
func (k *Kernel) Reads(place int) bool { return k.reads[place] }

// ReadsPlace reports whether the kernel reads d, dx, dy or dz.
func (k *Kernel) ReadsPlace() bool { return slices.Contains(k.reads[:OfSource], true) }

// ReadsColumns reports whether the kernel reads a column of an end.
func (k *Kernel) ReadsColumns() bool { return slices.Contains(k.reads[OfSource:], true) }

// operand is what an expression makes and where.
type operand struct {
	place int
	dim   Dim
	flag  bool
	zero  bool // the number 0, which fits every dimension
}

// compile adds the steps of an expression.
func (k *Kernel) compile(n *node, known *readable) (operand, *Mistake) {
	if n.name != "" {
		i := slices.Index(known.names, n.name)
		if i < 0 {
			m := wrong(n.at, "unknown name %q, wanted one of %s", cut(n.name), strings.Join(known.names, ", "))
			m.Word, m.Known = n.name, known.names
			if _, is := known.units[n.name]; is {
				m = wrong(n.at, "found the unit %s alone, want it behind a number, as in 1 %s", n.name, n.name)
			}
			return operand{}, m
		}
		k.reads[known.at[i]] = true
		return operand{place: known.at[i], dim: known.dims[i]}, nil
	}
	var args [3]operand
	for i, a := range n.args {
		var m *Mistake
		if args[i], m = k.compile(a, known); m != nil {
			return operand{}, m
		}
	}
	out, m := k.result(n, args)
	if m != nil {
		return operand{}, m
	}
	if len(k.steps) == maxSteps {
		return operand{}, wrong(n.at, "expects a formula of at most %d operations and numbers, found a longer one", maxSteps)
	}
	out.place = Variables + len(k.steps)
	k.steps = append(k.steps, newStep(n.what, n.x, [3]int{args[0].place, args[1].place, args[2].place}))
	return out, nil
}

// result is the dimension of what an operator or function makes.
func (k *Kernel) result(n *node, args [3]operand) (operand, *Mistake) {
	a, b := args[0], args[1]
	switch n.what {
	case "":
		return operand{dim: n.dim, zero: n.x == 0 && n.dim == Dim{}}, nil
	case "and", "or", "not":
		for i, arg := range n.args {
			if !args[i].flag {
				return a, wrong(arg.at, "expects a condition beside %s, found a number", n.what)
			}
		}
		return operand{flag: true}, nil
	case "select":
		if !a.flag {
			return a, wrong(n.args[0].at, "expects a condition such as d < 100 um as the first argument of select, found a number")
		}
		return alike(n, n.args[1:], b, args[2])
	}
	for i, arg := range n.args {
		if args[i].flag {
			return a, wrong(arg.at, "expects a number, found a condition; select(condition, 1, 0) makes a number of it")
		}
	}
	switch n.what {
	case "neg", "abs", "floor":
		if n.what == "floor" && a.dim != (Dim{}) {
			return a, notPlain(n, a)
		}
		return operand{dim: a.dim, zero: a.zero}, nil
	case "+", "-", "min", "max":
		return alike(n, n.args, a, b)
	case "*":
		return operand{dim: a.dim.times(b.dim, 1)}, nil
	case "/":
		return operand{dim: a.dim.times(b.dim, -1)}, nil
	case "sqrt":
		for i, e := range a.dim {
			if e%2 != 0 {
				return a, wrong(n.at, "expects the square of a unit under sqrt, found %v", a.dim)
			}
			a.dim[i] /= 2
		}
		return operand{dim: a.dim}, nil
	case "<", "<=", ">", ">=", "==", "!=":
		out, m := alike(n, n.args, a, b)
		out.flag, out.dim = true, Dim{}
		return out, m
	}
	for i := range n.args {
		if args[i].dim != (Dim{}) {
			return a, notPlain(n, args[i])
		}
	}
	return operand{}, nil
}

func notPlain(n *node, a operand) *Mistake {
	like := "exp(-d/(150 um))"
	if n.what == "pow" {
		like = "exp(-pow(d/(150 um), 2)/2)"
	}
	return wrong(n.at, "expects a plain number under %s, as in %s, found one in %v", n.what, like, a.dim)
}

// alike is the dimension of two operands that must have the same.
func alike(n *node, args []*node, a, b operand) (operand, *Mistake) {
	switch {
	case a.flag != b.flag:
		return a, wrong(n.at, "expects two numbers or two conditions beside %s, found one of each", n.what)
	case a.flag || a.dim == b.dim || b.zero:
		return operand{dim: a.dim, flag: a.flag, zero: a.zero && b.zero}, nil
	case a.zero:
		return operand{dim: b.dim}, nil
	}
	return a, wrong(args[1].at, "expects the same dimension on both sides of %s, found %v and %v", n.what, a.dim, b.dim)
}

// At is the kernel's number where what it may read is v.
func (k *Kernel) At(v *[Variables]float64) float64 {
	var r [places]float64
	copy(r[:], v[:])
	at := Variables
	for i := range k.steps {
		s := &k.steps[i]
		if r[at] = s.x; s.what != "" {
			r[at] = apply(s.what, r[s.args[0]], r[s.args[1]], r[s.args[2]])
		}
		at++
	}
	return r[at-1]
}

// Room is how many numbers Run needs for n places.
func (k *Kernel) Room(n int) int { return len(k.steps) * n }

// Run is At of n pairs: v has what the kernel reads of each. The result lies in room, which has Room numbers.
func (k *Kernel) Run(n int, v *[Variables][]float64, room []float64) []float64 {
	at := func(place int) []float64 {
		if place < Variables {
			return v[place]
		}
		return room[(place-Variables)*n:][:n]
	}
	for i := range k.steps {
		s := &k.steps[i]
		s.run(at(Variables+i), at(s.args[0]), at(s.args[1]), at(s.args[2]))
	}
	return at(Variables + len(k.steps) - 1)
}

// run is the step for many places; the commonest operators have loops of their own.
func (s *step) run(out, a, b, c []float64) {
	switch s.what {
	case "":
		for i := range out {
			out[i] = s.x
		}
	case "neg":
		for i := range out {
			out[i] = -a[i]
		}
	case "+":
		for i := range out {
			out[i] = a[i] + b[i]
		}
	case "-":
		for i := range out {
			out[i] = a[i] - b[i]
		}
	case "*":
		for i := range out {
			out[i] = float64(a[i] * b[i])
		}
	case "/":
		for i := range out {
			out[i] = a[i] / b[i]
		}
	default:
		if f := s.f; f != nil {
			for i := range out {
				out[i] = f(a[i])
			}
			return
		}
		for i := range out {
			out[i] = apply(s.what, a[i], b[i], c[i])
		}
	}
}

// Interval is all numbers from Lo to Hi.
type Interval struct{ Lo, Hi float64 }
