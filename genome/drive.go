package genome

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"burst/internal/quanta"

	"gopkg.in/yaml.v3"
)

// drives reads drive: one mapping or a list of them.
func (p *parser) drives(f *fields, a *Area) {
	n, at, _ := f.get("drive")
	switch {
	case n == nil || a.Source():
	case n.Kind == yaml.SequenceNode:
		for i, e := range n.Content {
			p.drive(e, at.item(i), a)
		}
	default:
		p.drive(n, at, a)
	}
}

// drive reads one drive and adds it to the area.
func (p *parser) drive(n *yaml.Node, at *path, a *Area) {
	f, ok := p.fields(n, at, driveKeys())
	if !ok {
		return
	}
	d := Drive{Pos: pos(n)}
	f.span(&d.From, &d.Until)
	if d.Factor = f.factor(); f.has("poisson") {
		d.Factor = f.rising(d.Factor)
	}
	if d.Port, ok = f.ownPort(a); !ok {
		return
	}
	kinds := []struct {
		name string
		read func(*fields, *Area, *Drive)
	}{{"constant", p.constant}, {"poisson", p.poisson}, {"normal", p.noise}}
	first := ""
	for _, k := range kinds {
		switch {
		case !f.has(k.name):
		case first != "":
			f.faultKey(k.name, "", "expects one kind of drive in a mapping, found both %s and %s", first, k.name)
			return
		default:
			first = k.name
		}
	}
	for _, k := range kinds {
		if k.name == first {
			k.read(f, a, &d)
			a.Drives = append(a.Drives, d)
			return
		}
	}
	if f.lacks("constant", "poisson", "normal") {
		p.fault(n, at, "", "expects constant, poisson or normal, found none of them")
	}
}

func (p *parser) constant(f *fields, a *Area, d *Drive) {
	n, at, _ := f.get("constant")
	d.Kind = Constant
	dims := a.Model.Drive
	switch {
	case a.Model.Term == nil:
		dims = []Dimension{a.Model.Unit(d.Port)}
	case f.has("to"):
		f.faultKey("to", "", "found a port, but a constant drive of the model %s acts on the potential itself; want one of poisson or normal", a.Model.Name)
		return
	}
	differs := differing(n)
	if a.Model.Event != "" && !p.steady(f, a.Model, differs) {
		return
	}
	if differs != "" && d.Factor != nil && a.Model.Term == nil {
		f.fault("factor", "found a factor beside a %s, which a constant drive of the model %s cannot have; want one of them, "+
			"or a model of your own with a parameter for the %[1]s, times a port that a drive with the factor feeds", differs, a.Model.Name)
		return
	}
	if differs == "distribution" {
		p.drawnDrive(n, at, dims, a, d)
		return
	}
	if isColumn(n) {
		d.Each, d.Unit, _ = p.fromColumn(n, at, a.Neurons(), dims, func(x float64) string {
			if p.scale > 0 && a.Model.Term == nil {
				return cmp.Or(quanta.TooSmall(x, float64(p.scale)), quanta.TooLarge(x, float64(p.scale)))
			}
			return ""
		})
		return
	}
	if p.elsewhere(n, at, dims, a.Model) {
		return
	}
	x, dim, ok := p.amount(n, at, dims)
	if !ok {
		return
	}
	d.Value, d.Unit = x, dim
	if dim == Plain || a.Model.Custom != nil {
		p.quanta(n, at, x)
	}
}

// isDistribution reports whether a value is written as a distribution, such as normal(…).
func isDistribution(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && (&expression{text: n.Value}).word() != "" && strings.Contains(n.Value, "(") && !isColumn(n)
}

// differing says how numbers are written that differ from one neuron or synapse to the next: as a column or as a distribution. It is ""
// for one number.
func differing(n *yaml.Node) string {
	switch {
	case isColumn(n):
		return "column"
	case isDistribution(n):
		return "distribution"
	}
	return ""
}

// drawnDrive reads a constant drive of which each neuron draws its own amount, in a unit of one of the dimensions.
func (p *parser) drawnDrive(n *yaml.Node, at *path, dims []Dimension, a *Area, d *Drive) {
	if a.Neurons() > maxRows {
		p.fault(n, at, "", "expects an area of at most %d neurons for a distribution, found %d", maxRows, a.Neurons())
		return
	}
	dim := dims[0]
	for _, other := range dims {
		if _, m := parseValue(n.Value, other, cmp.Or(p.timestep, 1)); m == nil {
			dim = other
		}
	}
	if v, ok := p.value(n, at, dim); ok {
		d.Drawn, d.Unit = &v, dim
	}
}

// elsewhere refuses, as a constant drive, a current of a model that takes it as I_e.
func (p *parser) elsewhere(n *yaml.Node, at *path, dims []Dimension, model *Model) bool {
	_, dim, m := quantity(n.Value, anyDimension()...)
	current := slices.ContainsFunc(model.Params, func(x Param) bool { return x.Name == "I_e" })
	if m != nil || dim != Current || !current || slices.Contains(dims, Current) {
		return false
	}
	p.fault(n, at, "", "expects %s such as %s, found %s; the parameter I_e of the area's model takes a current", dims[0].article(), dims[0].example(), short(n.Value))
	return true
}

// steady checks that a constant drive of a model that changes at inputs alone is the same in every burst and neuron. differs is what gives
// neurons amounts of their own, "" if nothing does.
func (p *parser) steady(f *fields, m *Model, differs string) bool {
	for _, key := range []string{"from", "until", "factor"} {
		if f.has(key) {
			f.faultKey(key, "", "found %s, but neurons of the model %s change at inputs alone, so that their constant drive acts in every burst; "+
				"want it without %s, or the model %s", key, m.Name, key, m.Event)
			return false
		}
	}
	if differs != "" {
		f.fault("constant", "found a %s, but a constant drive of the model %s is one for all neurons of the area; want one amount, or the model %s", differs, m.Name, m.Event)
	}
	return differs == ""
}

func (p *parser) poisson(f *fields, a *Area, d *Drive) {
	n, at, k := f.get("poisson")
	d.Kind = Poisson
	d.Unit = a.Model.Unit(d.Port)
	e, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	if n, at, k := e.get("rate"); n != nil && isColumn(n) {
		d.Rates, _, _ = p.fromColumn(n, at, a.Neurons(), k.Dims, func(x float64) string {
			if wrong := p.outside(k, x); wrong != "" {
				return wrong
			}
			return p.tooMany(x)
		})
	} else if e.number("rate", &d.Rate) {
		top := d.Rate
		if d.Factor != nil {
			top = float64(d.Rate * d.Factor.Hi)
		}
		if wrong := p.tooMany(top); wrong != "" {
			e.fault("rate", "%s", wrong)
		}
	}
	d.Weight, d.Weights, _ = p.input(e, a, "weight", d.Unit)
	p.unmoved(f, d)
}

// tooMany is what is wrong with a rate in Hz of events; "" if nothing is.
func (p *parser) tooMany(rate float64) string {
	const most = 500 // events a burst, the longest table of thresholds
	if mean := float64(rate*p.timestep) / 1000; mean > most {
		return fmt.Sprintf("expects at most %d events per burst, found %g in a burst of %g ms", most, mean, p.timestep)
	}
	return ""
}

// unmoved refuses a factor beside columns.
func (p *parser) unmoved(f *fields, d *Drive) {
	if d.Factor != nil && d.Differs() {
		f.fault("factor", "found a factor beside a column, which a drive cannot have; want one of them, or an area of the model poisson, which takes both, connected one_to_one")
	}
}

// noise reads the drive that is written normal.
func (p *parser) noise(f *fields, a *Area, d *Drive) {
	n, at, k := f.get("normal")
	d.Kind = Noise
	d.Unit = a.Model.Unit(d.Port)
	e, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	d.Mean, d.Means, _ = p.input(e, a, "mean", d.Unit)
	if d.SD, d.SDs, ok = p.input(e, a, "sd", d.Unit); ok && d.SD < 0 {
		e.fault("sd", "expects a standard deviation of at least 0, found %g", d.SD)
	}
	p.unmoved(f, d)
}

// input reads an amount in the unit of a port, 0 when it is absent, or one for each neuron of the area.
func (p *parser) input(f *fields, a *Area, name string, unit Dimension) (x float64, each []float64, ok bool) {
	n, at, _ := f.get(name)
	switch {
	case n == nil:
		return 0, nil, false
	case isColumn(n):
		each, _, ok = p.fromColumn(n, at, a.Neurons(), []Dimension{unit}, func(x float64) string {
			switch {
			case name == "sd" && x < 0:
				return fmt.Sprintf("%g, want a standard deviation of at least 0", x)
			case p.scale <= 0:
				return ""
			}
			return cmp.Or(quanta.TooSmall(x, float64(p.scale)), quanta.TooLarge(x, float64(p.scale)))
		})
		return 0, each, ok
	}
	if x, _, ok = p.amount(n, at, []Dimension{unit}); ok {
		p.quanta(n, at, x)
	}
	return x, nil, ok
}

// amount reads a constant of one of the dimensions.
func (p *parser) amount(n *yaml.Node, at *path, dims []Dimension) (float64, Dimension, bool) {
	wanted := ways(dims)
	read := p.scalar
	if slices.Equal(dims, []Dimension{Plain}) {
		read = p.bare
	}
	text, ok := read(n, at, wanted)
	if !ok {
		return 0, Plain, false
	}
	x, dim, m := quantity(text, dims...)
	switch {
	case m == nil && !slices.Contains(dims, dim) && dim == Plain:
		m = wrong(0, "", "expects %s, found %s without a unit", wanted, short(text))
	case m == nil && !slices.Contains(dims, dim):
		m = wrong(0, "", "expects %s, found %s", wanted, short(text))
	}
	if m != nil {
		p.mistake(n, at, m)
		return 0, Plain, false
	}
	return x, dim, p.fits(n, at, x)
}

// value reads a number or a distribution of a dimension.
func (p *parser) value(n *yaml.Node, at *path, dim Dimension) (Value, bool) {
	text, ok := p.scalar(n, at, dim.article()+" such as "+dim.example()+" or a distribution")
	if !ok {
		return Value{}, false
	}
	if n.Style == 0 && strings.HasPrefix(text, ">") {
		text = " " + text
	}
	timestep := p.timestep
	if timestep == 0 {
		timestep = 1
	}
	v, m := parseValue(text, dim, timestep)
	v.Pos = pos(n)
	if m == nil && quoted(n) && v.Kind == Const && dim == Plain {
		p.fault(n, at, text, "expects %s without quotes, found %s", dim.article(), found(n))
		return v, false
	}
	if m != nil {
		p.mistake(n, at, m)
		return v, false
	}
	for _, x := range [...]float64{v.A, v.B} {
		if !p.fits(n, at, x) {
			return v, false
		}
	}
	return v, true
}

// quanta checks that an amount becomes a number of quanta other than 0 that 32 bits hold.
func (p *parser) quanta(n *yaml.Node, at *path, x float64) {
	if p.scale <= 0 {
		return
	}
	if wrong := cmp.Or(quanta.TooSmall(x, float64(p.scale)), quanta.TooLarge(x, float64(p.scale))); wrong != "" {
		p.fault(n, at, "", "%s", wrong)
	}
}
