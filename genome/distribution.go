package genome

import (
	"math"
	"strings"
)

// expression reads a Value's text, left to right.
type expression struct {
	text     string
	at       int
	dim      Dimension
	timestep float64
}

// parseValue reads a number or a distribution: uniform(a, b), normal(m, s), lognormal(m, s), each with bounds
// "> x", ">= x", "< x", "<= x" behind it that draw again, or inside clip(…, lo, hi) that moves a draw to the bound.
func parseValue(text string, dim Dimension, timestep float64) (Value, *mistake) {
	e := &expression{text: text, dim: dim, timestep: timestep}
	v := Value{Lo: -inf, Hi: inf}
	var m *mistake
	if e.word() == "" {
		v.A, m = within(strings.TrimSpace(text), dim, timestep)
		return v, m
	}
	if e.word() == "clip" {
		m = e.clip(&v)
	} else if m = e.distribution(&v); m == nil {
		m = e.bounds(&v)
	}
	if e.blanks(); m == nil && e.at < len(text) {
		m = wrong(e.at, "", "expects the end of the value, found %q", short(text[e.at:]))
	}
	if m == nil {
		m = v.sound()
	}
	return v, m
}

// word reads the next name, such as normal.
func (e *expression) word() string {
	e.blanks()
	end := e.at
	for end < len(e.text) && (e.text[end]|0x20 >= 'a' && e.text[end]|0x20 <= 'z' || e.text[end] == '_') {
		end++
	}
	return e.text[e.at:end]
}

func (e *expression) blanks() {
	for e.at < len(e.text) && (e.text[e.at] == ' ' || e.text[e.at] == '\n' || e.text[e.at] == '\t') {
		e.at++
	}
}

// take skips a mark if it is next, and reports whether it was.
func (e *expression) take(mark string) bool {
	e.blanks()
	if !strings.HasPrefix(e.text[e.at:], mark) {
		return false
	}
	e.at += len(mark)
	return true
}

func (e *expression) want(mark string) *mistake {
	if e.take(mark) {
		return nil
	}
	if e.at == len(e.text) {
		return wrong(e.at, "", "expects %q, found the end of the value", mark)
	}
	return wrong(e.at, "", "expects %q, found %q", mark, short(e.text[e.at:]))
}

// clip reads clip(distribution, lo, hi).
func (e *expression) clip(v *Value) *mistake {
	e.at += len("clip")
	v.Clip = true
	return first(
		func() *mistake { return e.want("(") },
		func() *mistake { return e.distribution(v) },
		func() *mistake { return e.want(",") },
		func() *mistake { return e.quantity(&v.Lo) },
		func() *mistake { return e.want(",") },
		func() *mistake { return e.quantity(&v.Hi) },
		func() *mistake { return e.want(")") },
	)
}

// first runs steps up to the first mistake.
func first(steps ...func() *mistake) *mistake {
	for _, step := range steps {
		if m := step(); m != nil {
			return m
		}
	}
	return nil
}

// distribution reads name(a, b).
func (e *expression) distribution(v *Value) *mistake {
	word := e.word()
	switch word {
	case "uniform":
		v.Kind = Uniform
	case "normal":
		v.Kind = Normal
	case "lognormal":
		v.Kind = LogNormal
	default:
		return wrong(e.at, Nearest(word, []string{"uniform", "normal", "lognormal", "clip"}),
			"unknown distribution %q; write a number, uniform(a, b), normal(m, s), lognormal(m, s) or clip(…, lo, hi)",
			short(e.text[e.at:]))
	}
	e.at += len(word)
	return first(
		func() *mistake { return e.want("(") },
		func() *mistake { return e.quantity(&v.A) },
		func() *mistake { return e.want(",") },
		func() *mistake { return e.quantity(&v.B) },
		func() *mistake { return e.want(")") },
	)
}

// bounds reads up to one lower and one upper bound.
func (e *expression) bounds(v *Value) *mistake {
	for {
		if e.blanks(); e.at == len(e.text) || e.text[e.at] != '<' && e.text[e.at] != '>' {
			return nil
		}
		start, lower := e.at, e.text[e.at] == '>'
		e.at++
		open := e.at == len(e.text) || e.text[e.at] != '='
		if !open {
			e.at++
		}
		bound, isOpen := &v.Hi, &v.HiOpen
		if lower {
			bound, isOpen = &v.Lo, &v.LoOpen
		}
		if !math.IsInf(*bound, 0) {
			return wrong(start, "", "expects at most one lower and one upper bound, found a second bound on the same side")
		}
		*isOpen = open
		if m := e.quantity(bound); m != nil {
			return m
		}
	}
}

// quantity reads a number with its unit, up to the next mark.
func (e *expression) quantity(into *float64) *mistake {
	e.blanks()
	end := strings.IndexAny(e.text[e.at:], ",()<>\n")
	if end < 0 {
		end = len(e.text) - e.at
	}
	piece := strings.TrimSpace(e.text[e.at : e.at+end])
	if piece == "" {
		return wrong(e.at, "", "expects %s such as %s, found nothing", e.dim.article(), e.dim.example())
	}
	if piece == "0" { // the same in every unit
		e.at += end
		*into = 0
		return nil
	}
	x, m := within(piece, e.dim, e.timestep)
	if m != nil {
		m.offset += e.at
		return m
	}
	e.at += end
	*into = x
	return nil
}

// sound checks that the distribution exists and that its bounds leave something to draw.
func (v *Value) sound() *mistake {
	switch {
	case v.Kind == Uniform && v.B < v.A:
		return wrong(0, "", "expects the smaller end of uniform first, found %g and %g", v.A, v.B)
	case v.Kind == Uniform && math.IsInf(v.B-v.A, 0):
		return wrong(0, "", "expects a range whose width is a finite number, found a wider one")
	case v.Kind != Uniform && v.B < 0:
		return wrong(0, "", "expects a standard deviation of at least 0, found %g", v.B)
	case v.Kind == LogNormal && v.A == 0:
		return wrong(0, "", "expects a mean other than 0 for lognormal, found 0")
	case v.Lo > v.Hi || v.Lo == v.Hi && (v.LoOpen || v.HiOpen):
		return wrong(0, "", "expects a lower bound below the upper one, found %g and %g", v.Lo, v.Hi)
	case !v.Clip && !v.reachable():
		return wrong(0, "", "expects wider bounds, found bounds that almost no draw lies within")
	}
	return nil
}

// reachable reports whether draws fall within the bounds often enough to repeat a draw until one does: for a normal
// distribution about once in ten million draws (five standard deviations from its mean).
func (v *Value) reachable() bool {
	const far = 5
	switch {
	case v.B == 0 && v.Kind != Uniform || v.Kind == Uniform && v.A == v.B:
		return (v.A > v.Lo || v.A == v.Lo && !v.LoOpen) && (v.A < v.Hi || v.A == v.Hi && !v.HiOpen)
	case v.Kind == Uniform:
		return min(v.Hi, v.B)-max(v.Lo, v.A) > 1e-6*(v.B-v.A)
	case v.Kind == LogNormal && (v.A > 0 && v.Hi <= 0 || v.A < 0 && v.Lo >= 0):
		return false
	case v.Kind == LogNormal:
		return true
	}
	return v.Lo < v.A+far*v.B && v.Hi > v.A-far*v.B && v.Hi-v.Lo > 1e-6*v.B
}

// extent is the smallest interval that is sure to hold every number or draw; draws of a normal distribution have no ends but its bounds.
func (v *Value) extent() (lo, hi float64) {
	switch {
	case v.Kind == Const:
		return v.A, v.A
	case v.Kind == Uniform:
		lo, hi = v.A, v.B
	case v.Kind == LogNormal && v.A > 0:
		lo, hi = 0, inf
	case v.Kind == LogNormal:
		lo, hi = -inf, 0
	default:
		lo, hi = -inf, inf
	}
	return min(max(lo, v.Lo), v.Hi), max(min(hi, v.Hi), v.Lo)
}
