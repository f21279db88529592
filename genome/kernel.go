package genome

import (
	"math"
	"slices"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// Kernel is a formula of the place of a target as seen from a source, and of columns of both.
type Kernel = formula.Kernel

// kernelUnits are the units that may stand in a kernel.
func kernelUnits() map[string]formula.Unit {
	dims := kernelDims()
	out := map[string]formula.Unit{}
	for _, u := range units() {
		if dim, ok := dims[u.dim]; ok {
			out[u.name] = formula.Unit{Mul: u.mul, Div: u.div, Dim: dim}
		}
	}
	return out
}

// formula reads a formula of a projection's pairs; nil after a fault.
func (p *parser) formula(n *yaml.Node, at *path, pr *Projection, wanted string) *Kernel {
	text, ok := p.scalar(n, at, wanted)
	if !ok {
		return nil
	}
	ends := p.columnsOf(pr)
	k, m := formula.NewKernel(text, kernelUnits(), ends[0], ends[1])
	if m != nil && (pr.From < 0 || pr.To < 0) && formula.IsKernel(m.Word) {
		if pr.Rule == Edges {
			p.fault(n, at, "", "expects a projection from one area to another, found a list of the whole network, which has no columns")
		}
		return nil // an area's name is at fault already
	}
	if m != nil {
		p.mistake(n, at, &mistake{m.Message, Nearest(m.Word, m.Known), m.Offset})
		return nil
	}
	return k
}

// kernel reads the key that says how likely a pair is, and mask.
func (p *parser) kernel(f *fields, pr *Projection, name string) {
	p.chance(f, pr, name)
	p.mask(f, pr)
	if f.has(name) && pr.Kernel == nil || f.has("mask") && pr.Mask == nil {
		return // at fault already
	}
	place, columns := false, false
	for _, k := range []*Kernel{pr.Kernel, pr.Mask} {
		place, columns = place || k != nil && k.ReadsPlace(), columns || k != nil && k.ReadsColumns()
	}
	for _, key := range []string{name, "mask"} {
		if f.has(key) && (place || !columns) {
			p.places(f, pr, key)
			return
		}
	}
}

// chance reads the key name: how likely a pair is, a number or a formula.
func (p *parser) chance(f *fields, pr *Projection, name string) {
	if n, at, k := f.get(name); n != nil {
		pr.Kernel = p.formula(n, at, pr, "a number or a formula of "+p.readable(pr))
		switch {
		case pr.Kernel == nil:
		case pr.Kernel.Condition:
			p.fault(n, at, "", "expects a number, found a condition; a condition is a mask")
		case pr.Kernel.Dim != formula.Dim{}:
			p.fault(n, at, "", "expects a plain number, found one in %v", pr.Kernel.Dim)
		case !formula.IsKernel(n.Value):
			if x := pr.Kernel.At(&[formula.Variables]float64{}); x < 0 || x > k.Max {
				p.fault(n, at, "", "expects a plain number %s or a formula of %s, found %g", k.span(), p.readable(pr), x)
			}
		}
	}
}

// mask reads the condition that a pair has to meet.
func (p *parser) mask(f *fields, pr *Projection) {
	if n, at, _ := f.get("mask"); n != nil {
		if pr.Mask = p.formula(n, at, pr, "a condition such as d < 200 um"); pr.Mask != nil && !pr.Mask.Condition {
			p.fault(n, at, "", "expects a condition such as d < 200 um, found a number")
		}
	}
}

// places refuses a key that reads positions where an area has none, or where nobody knows which way round is shorter.
func (p *parser) places(f *fields, pr *Projection, key string) {
	if pr.From < 0 || pr.To < 0 {
		if pr.Rule == Edges && f.lacks("from") {
			f.fault(key, "expects a projection from one area to another, found a list of the whole network, whose neurons need not have positions")
		}
		return
	}
	for _, i := range slices.Compact([]int{pr.From, pr.To}) {
		if a := &p.g.Areas[i]; !a.Placed() {
			f.fault(key, "expects areas whose neurons have positions, found %s without: give it extent beside size, or positions", a.Name)
			return
		}
	}
	if _, ok := Period(&p.g.Areas[pr.From], &p.g.Areas[pr.To]); !ok {
		f.fault(key, "expects two areas that are not periodic, or two that are with the same extent, found %s and %s", p.g.Areas[pr.From].Name, p.g.Areas[pr.To].Name)
	}
}

// distance reads the rule distance.
func (p *parser) distance(f *fields, pr *Projection) {
	f.must("p", "distance")
	p.kernel(f, pr, "p")
	f.symmetric(pr)
}

// symmetric reads whether pairs are connected both ways.
func (f *fields) symmetric(pr *Projection) {
	if f.flag("symmetric", &pr.Symmetric); pr.Symmetric && pr.From != pr.To {
		f.fault("symmetric", "expects an area connected to itself, found two areas")
	}
}

// pairwisePoisson reads the rule pairwise_poisson.
func (p *parser) pairwisePoisson(f *fields, pr *Projection) {
	f.must("average", "pairwise_poisson")
	f.number("average", &pr.Average)
}

// placed reads the value of a weight or a delay: a number, a distribution, or a formula of the pair.
func (p *parser) placed(n *yaml.Node, at *path, dim Dimension, pr *Projection) (Value, bool) {
	if n.Kind != yaml.ScalarNode || !formula.IsKernel(n.Value) {
		return p.value(n, at, dim)
	}
	v := Value{Pos: pos(n), Kind: Distance, Per: 1, Lo: -inf, Hi: inf}
	if v.Of = p.formula(n, at, pr, dim.article()+", a distribution or a formula of "+p.readable(pr)); v.Of == nil {
		return v, false
	}
	wanted := map[Dimension]formula.Dim{Bursts: {0, 1}, Voltage: {0, 0, 1}, Current: {0, 0, 0, 1}, Conductance: {0, 0, 0, 0, 1}}[dim]
	switch {
	case v.Of.Condition:
		p.fault(n, at, "", "expects a number, found a condition; select(condition, 1, 0) makes a number of it")
		return v, false
	case dim == Bursts && v.Of.Dim == wanted:
		v.Per = p.timestep
	case dim == Bursts && v.Of.Dim == formula.Dim{}:
	case v.Of.Dim != wanted:
		p.fault(n, at, "", "expects a formula in %v, found one in %v", wanted, v.Of.Dim)
		return v, false
	}
	if v.A = v.Of.At(&[formula.Variables]float64{}) / v.Per; !(math.Abs(v.A) < inf) {
		v.A = 0
	}
	return v, true
}
