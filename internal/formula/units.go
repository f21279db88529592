package formula

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Dim is a dimension: the exponents of the base units of baseUnits.
type Dim [5]int8

var baseUnits = [len(Dim{})]string{"um", "ms", "mV", "pA", "nS"}

// String is the dimension as a unit, such as um/ms; "a plain number" where it has none.
func (d Dim) String() string {
	var over, under []string
	for i, e := range d {
		name := baseUnits[i]
		if e > 1 || e < -1 {
			name = fmt.Sprintf("%s^%d", name, max(e, -e))
		}
		switch {
		case e > 0:
			over = append(over, name)
		case e < 0:
			under = append(under, name)
		}
	}
	switch {
	case len(over)+len(under) == 0:
		return "a plain number"
	case len(under) == 0:
		return strings.Join(over, " ")
	case len(over) == 0:
		over = []string{"1"}
	}
	return strings.Join(over, " ") + "/" + strings.Join(under, "/")
}

// times is the dimension of a product of powers, one of d and one of o.
func (d Dim) times(o Dim, power int8) Dim {
	for i := range d {
		d[i] += o[i] * power
	}
	return d
}

// Unit is a unit of measure: a number in it, times Mul and then divided by Div, is in base units.
type Unit struct {
	Mul, Div float64
	Dim      Dim
}

// quantity reads a number with the unit behind it, if there is one: 150 um, or 0.3 m/s.
func (r *reader) quantity(number token) (*node, *Mistake) {
	n := &node{at: number.at, x: number.x}
	if r.next().kind != aName || binds(r.next()) != loosest {
		return n, nil
	}
	if len(r.units) == 0 {
		return nil, wrong(r.next().at, "expects an operator, found %v; numbers in formulas have no units (times are in ms, the rest in mV, pA, Hz, pF and nS), "+
			"and products need \"*\"", r.next())
	}
	u, known := r.units[r.next().text]
	if !known {
		names := slices.Sorted(maps.Keys(r.units))
		m := wrong(r.next().at, "unknown unit %v, wanted one of %s, or an operator", r.next(), strings.Join(names, ", "))
		m.Word, m.Known = r.next().text, names
		return nil, m
	}
	r.take()
	n.x, n.dim = float64(n.x*u.Mul)/u.Div, u.Dim
	if r.next().text != "/" {
		return n, nil
	}
	if u, known = r.units[r.tokens[1].text]; known && r.tokens[1].kind == aName {
		r.take()
		r.take()
		n.x, n.dim = float64(n.x*u.Div)/u.Mul, n.dim.times(u.Dim, -1)
	}
	return n, nil
}
