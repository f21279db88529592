package connectome

import (
	"fmt"
	"math"
	"slices"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/quanta"
)

// makeAreas computes the constants that backends use.
func (p *plan) makeAreas() ([]Area, error) {
	areas := make([]Area, len(p.g.Areas))
	for i := range areas {
		if err := p.makeArea(i, &areas[i]); err != nil {
			return nil, err
		}
	}
	return areas, nil
}

func (p *plan) makeArea(i int, a *Area) error {
	from := &p.g.Areas[i]
	*a = Area{
		Name: from.Name, Neurons: p.areas[i], Ports: p.ports[i], PerVoxel: uint32(from.PerVoxel), Model: from.Model,
		Group: from.Group, Devices: from.Devices, PSPMax: p.pspMax(i),
		Size: [3]uint32{uint32(from.Size[0]), uint32(from.Size[1]), uint32(from.Size[2])},
	}
	if err := p.makeConstants(i, a); err != nil {
		return err
	}
	if err := p.makeInitial(i, a); err != nil {
		return err
	}
	if err := p.makeDrives(i, a); err != nil {
		return err
	}
	if what := a.unbounded(); what != "" {
		return p.g.Fault(from.Pos, areaKey(i, what), "%s lies beyond ±3.4e38, the range of potentials", what)
	}
	return p.checkInitial(i, a)
}

// makeInitial prepares the draws of the state before burst 0.
func (p *plan) makeInitial(i int, a *Area) error {
	from := &p.g.Areas[i]
	for k, s := range from.Model.State {
		v := Initial{Value: genome.Value{A: s.Start, Lo: math.Inf(-1), Hi: math.Inf(1)}}
		if s.Rest != "" {
			v.Rest, v.Value.A = from.Params[s.Rest]+level(from, p.g.Timestep), from.Params[s.Rest]
		}
		x, named := from.Init[s.Name]
		if from.Model.Custom != nil && !named {
			x, named = from.Model.Custom.Starts[k], true
		}
		if named {
			v.Value = x
		}
		switch {
		case k == 0:
			a.V0 = v
		case named || s.From == nil && (s.Start != 0 || s.Rest != ""):
			a.More0 = append(a.More0, &v)
		default:
			a.More0 = append(a.More0, nil)
		}
		if !named {
			continue
		}
		draw := newSampler(x, p.g.Seed, exact.InitialV, i)
		if wrong := draw.probe(); wrong != "" {
			return p.g.Fault(x.Pos, areaKey(i, "init."+s.Name), "%s", wrong)
		}
		if lo, hi := draw.extent(); !(math.Abs(lo-v.Rest) <= math.MaxFloat32 && math.Abs(hi-v.Rest) <= math.MaxFloat32) {
			return p.g.Fault(from.Pos, areaKey(i, "init."+s.Name), "%s lies beyond ±3.4e38, the range of potentials", s.Name)
		}
	}
	return nil
}

// unbounded names a constant of the area that float32 cannot hold; empty: there is none.
func (a *Area) unbounded() string {
	terms := 0.0
	for i := range a.Drives {
		d := &a.Drives[i]
		most := math.Abs(d.Term)
		for _, x := range d.Each {
			most = max(most, math.Abs(x))
		}
		if d.Moving != nil {
			most *= max(math.Abs(d.Moving.Factor.Lo), math.Abs(d.Moving.Factor.Hi))
		}
		terms += most
	}
	if !(terms <= math.MaxFloat32) {
		return "drive"
	}
	for k, name := range a.Model.ConstantNames() {
		if c := &a.Constants[k]; a.Model.Custom == nil && a.Model.Constants[k].Infinite {
			continue
		} else if what := unbounded(c, a.Model, name); what != "" {
			return what
		}
	}
	if a.Custom != nil && a.Custom.Start != nil {
		for k, name := range a.Custom.Start.Params {
			if what := unbounded(&a.Custom.StartParams[k], a.Model, name); what != "" {
				return what
			}
		}
	}
	return ""
}

// unbounded names what makes a constant too large for float32: the constant itself in a model that the genome defines, else
// the parameter or key that matters most. It is empty if the constant fits.
func unbounded(p *Param, m *genome.Model, name string) string {
	from := append(m.Depends(name), "timestep")[0]
	switch {
	case finite(p.Const) && !slices.ContainsFunc(p.Each, func(x float32) bool { return !finite(x) }):
		return ""
	case m.Custom != nil:
		return name
	case finite(p.Const) && from == risen && m.Has("threshold_gradient"):
		return "threshold_gradient"
	}
	return from
}

func finite(x float32) bool { return math.Abs(float64(x)) <= math.MaxFloat32 }

func (p *plan) makeDrives(i int, a *Area) error {
	from := &p.g.Areas[i]
	for k := range from.Drives {
		d := &from.Drives[k]
		if injectsEach(from.Model, d) {
			continue // see withDriven
		}
		if from.Model.Event != "" && d.Kind == genome.Constant {
			continue // part of rest
		}
		key := areaKey(i, fmt.Sprintf("drive[%d]", k))
		if d.Kind == genome.Poisson {
			rate := mostRate(d)
			if d.Factor != nil {
				rate = float64(rate * max(d.Factor.Hi, 0))
			}
			if mean := poissonMean(rate, p.g.Timestep); !(mean <= mostMean) {
				return p.g.Fault(d.Pos, key+".poisson.rate", "%v Hz makes %v events a burst, want at most %d (%v Hz); share the events among fewer, larger ones",
					rate, mean, mostMean, float64(mostMean*1000)/p.g.Timestep)
			}
		}
		made := p.makeDrive(i, d)
		if made.Kind != Term {
			if err := p.checkAmounts(i, k); err != nil {
				return err
			}
		}
		a.Drives = append(a.Drives, made)
	}
	return nil
}

// makeDrive converts a drive for backends. It limits an amount to the range of int32; the check of bounds refuses it later.
func (p *plan) makeDrive(i int, d *genome.Drive) Drive {
	m, out := p.g.Areas[i].Model, Drive{Port: d.Port, From: d.From, Until: d.Until}
	moving := &Moving{Factor: d.Factor, Scale: p.scale, Lift: p.lifts[i]}
	switch {
	case d.Kind == genome.Poisson:
		out.Kind = Poisson
		if d.Differs() {
			out.Own = p.makeOwn(i, d)
			break
		}
		out.Amount = quanta.Clamp(lift(quanta.Of(d.Weight, p.scale), p.lifts[i]))
		moving.Amount, moving.Most = poissonMean(d.Rate, p.g.Timestep), p.mostEvents(d)
		if d.Factor == nil {
			out.Counts = poissonCounts(moving.Amount)
		}
	case d.Kind == genome.Noise:
		out.Kind, out.Counts = Noise, p.noise()
		if d.Differs() {
			out.Own = p.makeOwn(i, d)
			break
		}
		moving.Amount, moving.SD = d.Mean, d.SD
		if d.Factor == nil {
			out.Table = noiseTable(d.Mean, d.SD, p.scale, p.lifts[i])
		}
	case m.Term == nil:
		out.Kind, moving.Amount = Inject, d.Value
		if d.Factor == nil {
			out.Amount = quanta.Clamp(lift(quanta.Of(d.Value, p.scale), p.lifts[i]))
		}
	default:
		p.makeTerm(i, d, &out)
	}
	if d.Factor != nil {
		out.Moving = moving
	}
	if m.BySign() && out.Kind != Noise && (d.Factor == nil || out.Kind != Inject) && d.Port == soleSign(&out) {
		out.Port = 0 // the sign chooses the same: no other network than without the name
	}
	return out
}

// makeTerm makes a drive that is a term of the model's formula.
func (p *plan) makeTerm(i int, d *genome.Drive, out *Drive) {
	m, values := p.g.Areas[i].Model, p.values(i)
	out.Kind = Term
	term := func(n uint64) float64 {
		own := *d
		if d.Each != nil {
			own.Value = d.Each[n]
		}
		return m.Term(values.of(n), &own, p.g.Timestep)
	}
	out.Term = term(0)
	if d.Each != nil || vary(values.a, termOn(m, d)) {
		out.Each = make([]float64, p.areas[i].Count)
		spans(p.workers, uint64(len(out.Each)), 1<<12, func(_ int, lo, hi uint64) {
			for n := lo; n < hi; n++ {
				out.Each[n] = term(n)
			}
		})
	}
}

// termOn are the parameters that the term of a constant drive depends on.
func termOn(m *genome.Model, d *genome.Drive) []string {
	return genome.Asked(func(p genome.Values) { m.Term(p, d, 1) })
}
