package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"burst/connectome"
	"burst/genome"
	"burst/internal/formula"
)

// Formulas are the texts of a model that a genome defines.
type Formulas = formula.Source

// Custom is an area of n neurons of the model that s describes, with the same parameters for all: those that params names,
// 0 for others, a time step of 1 ms, and refractory for the given number of bursts.
func Custom(n uint32, s *Formulas, params map[string]float64, refractory uint16) (connectome.Area, error) {
	d, faults := formula.Define(s)
	for _, f := range faults {
		return connectome.Area{}, fmt.Errorf("part %d, text %d: %s", f.Part, f.Index, f.Message)
	}
	load := func(names []string) (out []connectome.Param) {
		for _, x := range d.Values(names, func(name string) float64 { return params[name] }, 1) {
			out = append(out, connectome.Param{Const: float32(x)})
		}
		return out
	}
	c := &connectome.Custom{Program: d.Program, Refractory: connectome.Silence{Const: refractory}, Start: d.Start(make([]bool, len(d.State)))}
	if c.Start != nil {
		c.StartParams = load(c.Start.Params)
	}
	m := &genome.Model{Name: "custom", Number: genome.CustomNumber, Custom: &genome.Custom{Definition: func() *genome.Definition { return d }}}
	for _, name := range s.Ports {
		m.Ports = append(m.Ports, genome.Port{Name: name})
	}
	for _, name := range d.State {
		m.State = append(m.State, genome.Variable{Name: name})
	}
	return connectome.Area{Model: m, Neurons: connectome.Span{Count: n}, Constants: load(d.Program.Params), Custom: c}, nil
}

// define takes a line "model PART TEXT" of a case: ports, params, or a line of state, constants, update, threshold or reset.
func (c *textCase) define(words []string) error {
	text, s := strings.Join(words[1:], " "), &c.model
	line := func() formula.Line {
		name, rest, _ := strings.Cut(text, "=")
		return formula.Line{Name: strings.TrimSpace(name), Text: strings.TrimSpace(rest)}
	}
	switch words[0] {
	case "ports":
		*s = formula.Source{Ports: words[1:]} // begins a model
	case "params":
		s.Params = words[1:]
	case "constant":
		s.Constants = append(s.Constants, line())
	case "state":
		s.State = append(s.State, line())
	case "update":
		s.Update = append(s.Update, text)
	case "threshold":
		s.Threshold = text
	case "reset":
		s.Reset = append(s.Reset, text)
	default:
		return fmt.Errorf("a model has no part %q", words[0])
	}
	return nil
}

// customArea adds "custom COUNT key=value…" of the model defined last.
func (c *textCase) customArea(n uint32, words []string) error {
	params := map[string]float64{}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		x, err := strconv.ParseFloat(value, 64)
		if err != nil {
			return err
		}
		params[key] = x
	}
	a, err := Custom(n, &c.model, params, uint16(params[formula.Quiet]))
	c.net.Areas = append(c.net.Areas, a)
	return err
}

// randomCustom makes an area of a model with one port or two whose expressions are random. Every variable is kept within ±100, and max
// puts −100 in the place of what is no number, so that formulas may divide by zero.
func randomCustom(r *rand.Rand, n uint32) connectome.Area {
	return randomFormulas(r, n, func() []string { return []string{"in", "ih"}[:1+r.IntN(2)] })
}

// randomWide is the same with 3 to 16 ports, each of which V depends on in its own way.
func randomWide(r *rand.Rand, n uint32) connectome.Area {
	return randomFormulas(r, n, func() (ports []string) {
		for k := range 3 + r.IntN(formula.MaxInputs-2) {
			ports = append(ports, fmt.Sprintf("in%d", k))
		}
		return ports
	})
}

func randomFormulas(r *rand.Rand, n uint32, ports func() []string) connectome.Area {
	w := &formulaWriter{r: r, state: []string{"v", "w", "x", "y", "z"}[:1+r.IntN(5)], ports: ports(), params: []string{"p", "q", "k"}}
	s := &formula.Source{Ports: w.ports, Params: []string{"p", "q"}, Constants: []formula.Line{{Name: "k", Text: "expm1(-dt/(2 + abs(p))) - log(3.7)/q"}}}
	for i, name := range w.state {
		s.State = append(s.State, formula.Line{Name: name})
		if i > 0 && r.IntN(2) == 0 {
			s.State[i].Text = fmt.Sprintf("min(max(%s*p - %s/q, -9), 9)", w.state[i-1], w.state[i-1])
		}
	}
	known := w.names()
	w.known = known
	for i := range 1 + r.IntN(7) {
		if r.IntN(3) == 0 {
			local := fmt.Sprintf("t%d", i)
			s.Update = append(s.Update, local+" = "+w.number(3), w.bounded(local+"*0.5"))
			w.known = append(w.known, local)
			continue
		}
		s.Update = append(s.Update, w.bounded(w.number(4)))
	}
	if r.IntN(4) == 0 {
		s.Update = append(s.Update, w.bounded(among(r, "log(v)", "pow(v, p)", "pow(abs(q), "+w.ports[0]+") - log(abs(v))", "tanh(v)*sin(min(max(q, -9), 9))", "cos(min(max(v, -65536), 65536)) - floor(v)")))
	}
	if r.IntN(3) == 0 {
		s.Update = append(s.Update, w.bounded(among(r, "random()", "normal()", "v + p*normal()", "select(random() < 0.1, random() - random(), 2*normal())")))
	}
	if len(w.ports) > 2 {
		sum := "v*0.9"
		for k, name := range w.ports {
			sum += fmt.Sprintf(" + %g*%s", float64(k+1)/8, name)
		}
		s.Update = append(s.Update, fmt.Sprintf("v = min(max(%s, -100), 100)", sum))
	}
	s.Threshold = among(r, "v >= 1", "v > p and not refractory", "random() < 0.1*v", w.flag(3)+" or v > 3")
	for range r.IntN(3) {
		s.Reset = append(s.Reset, w.bounded(w.number(2)))
	}
	a, err := Custom(n, s, map[string]float64{"p": among(r, 0.7, -1.3, 4*r.Float64()), "q": among(r, 0.9, 17, -2)}, among[uint16](r, 0, 1, 2, 20, 65535))
	if err != nil {
		panic(fmt.Sprintf("BUG: %v\n%+v", err, s))
	}
	for k := range a.Constants {
		if r.IntN(3) == 0 {
			for range n {
				a.Constants[k].Each = append(a.Constants[k].Each, float32(among(r, 0, -1, r.NormFloat64())))
			}
		}
	}
	a.V0.Value.A = among(r, 0, -1e-41, r.NormFloat64())
	other := rand.New(rand.NewPCG(uint64(n), uint64(len(a.Constants)))) // the other draws stay
	if other.IntN(3) == 0 {
		for range n {
			a.Custom.Refractory.Each = append(a.Custom.Refractory.Each, among[uint16](other, 0, 1, 2, 20, 65535))
		}
	}
	return a
}

// formulaWriter writes random expressions.
type formulaWriter struct {
	r                           *rand.Rand
	state, ports, params, known []string
}

func (w *formulaWriter) names() []string {
	return slices.Concat(w.state, w.ports, w.params, []string{"dt"})
}

// bounded gives a variable a value that is a number.
func (w *formulaWriter) bounded(text string) string {
	return fmt.Sprintf("%s = min(max(%s, -100), 100)", w.state[w.r.IntN(len(w.state))], text)
}

// number is an expression of at most so many levels.
func (w *formulaWriter) number(depth int) string {
	if depth == 0 || w.r.IntN(5) == 0 {
		if w.r.IntN(4) == 0 {
			return among(w.r, "0", "1", "0.3", "2.5e-3", "1e-40", "7", "140")
		}
		return w.known[w.r.IntN(len(w.known))]
	}
	a, b := w.number(depth-1), w.number(depth-1)
	switch w.r.IntN(12) {
	case 0:
		return "-(" + a + ")"
	case 1:
		return "abs(" + a + ")"
	case 2:
		return "sqrt(" + a + ")"
	case 3:
		return fmt.Sprintf("min(%s, %s)", a, b)
	case 4:
		return fmt.Sprintf("max(%s, %s)", a, b)
	case 5, 6:
		return fmt.Sprintf("select(%s, %s, %s)", w.flag(depth-1), a, b)
	}
	return fmt.Sprintf("(%s %s %s)", a, among(w.r, "+", "-", "*", "*", "/"), b)
}

// flag is a condition likewise.
func (w *formulaWriter) flag(depth int) string {
	if depth == 0 || w.r.IntN(2) == 0 {
		return fmt.Sprintf("(%s %s %s)", w.number(0), among(w.r, "<", "<=", ">", ">=", "==", "!="), w.number(0))
	}
	switch w.r.IntN(4) {
	case 0:
		return "refractory"
	case 1:
		return "(not " + w.flag(depth-1) + ")"
	}
	return fmt.Sprintf("(%s %s %s)", w.flag(depth-1), among(w.r, "and", "or"), w.flag(depth-1))
}
