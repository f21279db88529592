package genome

import (
	"math"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// drives reads drive: one mapping or a list of them.
func (p *parser) drives(f *fields, a *Area) {
	n, at, _ := f.get("drive")
	switch {
	case n == nil || a.Model.Ports == 0:
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
	kinds := []struct {
		name string
		read func(*fields, *Area, *Drive)
	}{{"constant", p.constant}, {"poisson", p.poisson}, {"normal", p.noise}}
	first := ""
	for _, k := range kinds {
		switch {
		case !f.has(k.name):
		case first != "":
			f.faultKey(k.name, "", "both %s and %s found, one drive a mapping wanted", first, k.name)
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
		p.fault(n, at, "", "neither constant nor poisson nor normal found, one of them wanted")
	}
}

func (p *parser) constant(f *fields, a *Area, d *Drive) {
	n, at, _ := f.get("constant")
	d.Kind = Constant
	x, dim, ok := p.amount(n, at, a.Model.Drive)
	if !ok {
		return
	}
	d.Value, d.Unit = x, dim
	if dim == Plain || a.Model.Custom != nil {
		p.quanta(n, at, x)
	}
}

func (p *parser) poisson(f *fields, a *Area, d *Drive) {
	n, at, k := f.get("poisson")
	d.Kind = Poisson
	d.Unit = a.Model.Input
	e, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	const most = 500 // events a burst, the longest table of thresholds
	if e.number("rate", &d.Rate) && p.timestep > 0 {
		if mean := float64(d.Rate*p.timestep) / 1000; mean > most {
			e.fault("rate", "expects at most %d events a burst, found %g a burst of %g ms", most, mean, p.timestep)
		}
	}
	d.Weight, _ = p.input(e, "weight", a)
}

// noise reads the drive that is written normal.
func (p *parser) noise(f *fields, a *Area, d *Drive) {
	n, at, k := f.get("normal")
	d.Kind = Noise
	d.Unit = a.Model.Input
	e, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	d.Mean, _ = p.input(e, "mean", a)
	if d.SD, ok = p.input(e, "sd", a); ok && d.SD < 0 {
		e.fault("sd", "expects a standard deviation of at least 0, found %g", d.SD)
	}
}

// input reads an amount in the unit of the area's input, 0 when it is absent.
func (p *parser) input(f *fields, name string, a *Area) (float64, bool) {
	n, at, _ := f.get(name)
	if n == nil {
		return 0, false
	}
	x, _, ok := p.amount(n, at, []Dimension{a.Model.Input})
	if ok {
		p.quanta(n, at, x)
	}
	return x, ok
}

// amount reads a constant of one of the dimensions.
func (p *parser) amount(n *yaml.Node, at *path, dims []Dimension) (float64, Dimension, bool) {
	var ways []string
	for _, d := range dims {
		ways = append(ways, d.article()+" such as "+d.example())
	}
	wanted := strings.Join(ways, " or ")
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

// quanta checks that an amount becomes a count of quanta that is neither lost nor beyond 32 bits.
func (p *parser) quanta(n *yaml.Node, at *path, x float64) {
	if p.scale <= 0 || x == 0 {
		return
	}
	size := math.Abs(x)
	q := float64(size * float64(p.scale))
	switch {
	case math.Floor(q+0.5) < 1:
		if need := math.Ceil(0.5 / size); need <= maxScale {
			p.fault(n, at, "", "%g found, which is 0 quanta at scale %d: a scale of at least %.0f wanted", x, p.scale, need)
		} else {
			p.fault(n, at, "", "%g found, which is 0 quanta even at the largest scale, %d", x, maxScale)
		}
	case math.Floor(q+0.5) > math.MaxInt32:
		if most := math.Floor((math.MaxInt32 + 0.49) / size); most >= 1 {
			p.fault(n, at, "", "%g found, which 32 bits cannot hold at scale %d: a scale of at most %.0f wanted", x, p.scale, most)
		} else {
			p.fault(n, at, "", "%g found, which 32 bits cannot hold even at scale 1", x)
		}
	}
}
