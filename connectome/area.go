package connectome

import (
	"fmt"
	"math"

	"burst/genome"
	"burst/internal/exact"
)

// makeAreas works out the constants that backends use.
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
		Name: from.Name, Neurons: p.areas[i], Ports: p.areas[i], PerVoxel: uint32(from.PerVoxel),
		Group: from.Group, Devices: from.Devices,
		Size: [3]uint32{uint32(from.Size[0]), uint32(from.Size[1]), uint32(from.Size[2])},
	}
	rest := 0.0
	switch from.Model.Name {
	case "feagi":
		a.Model, a.FEAGI = FEAGIModel, newFEAGI(from)
		a.FEAGI.Threshold.Each = thresholds(from)
	case "lif":
		rest = from.Params["rest"]
		a.Model, a.LIF = LIFModel, newLIF(from, p.g.Timestep)
	default:
		panic(fmt.Sprintf("BUG: model %q", from.Model.Name))
	}
	v, named := from.Init["V"]
	if !named {
		v = genome.Value{A: rest, Lo: math.Inf(-1), Hi: math.Inf(1)}
	}
	a.V0 = Initial{Value: v, Rest: rest}
	s := newSampler(v, p.g.Seed, exact.InitialV, i)
	if wrong := s.probe(); wrong != "" {
		return p.g.Fault(v.Pos, areaKey(i, "init.V"), "%s", wrong)
	}
	if err := p.makeDrives(i, a); err != nil {
		return err
	}
	if what, wrong := a.unbounded(&s); wrong {
		return p.g.Fault(from.Pos, areaKey(i, what), "%s lies beyond ±3.4e38, the range of potentials", what)
	}
	return nil
}

// unbounded names a potential of the area that float32 cannot hold; v draws the initial one.
func (a *Area) unbounded(v *sampler) (what string, wrong bool) {
	lo, hi := v.extent()
	terms := 0.0
	for i := range a.Drives {
		terms += math.Abs(a.Drives[i].Term)
	}
	checks := []struct {
		what string
		x    float64
	}{
		{"init.V", lo - a.V0.Rest}, {"init.V", hi - a.V0.Rest}, {"drive", terms},
		{"threshold", float64(a.LIF.Threshold)}, {"reset", float64(a.LIF.Reset)}, {"threshold", float64(a.FEAGI.Threshold.Const)},
	}
	for _, c := range checks {
		if !(math.Abs(c.x) <= math.MaxFloat32) {
			return c.what, true
		}
	}
	for _, x := range a.FEAGI.Threshold.Each {
		if !(math.Abs(float64(x)) <= math.MaxFloat32) {
			return "threshold_gradient", true
		}
	}
	return "", false
}

func newFEAGI(a *genome.Area) FEAGI {
	f := FEAGI{
		Threshold:      Param{Const: float32(a.Params["threshold"])},
		ThresholdLimit: float32(a.Params["threshold_limit"]),
		Leak:           float32(a.Params["leak"]),
		LeakAmount:     float32(a.Params["leak_amount"]),
		Refractory:     uint16(a.Params["refractory"]),
		FireLimit:      uint16(a.Params["fire_limit"]),
		Snooze:         uint16(a.Params["snooze"]),
		Accumulate:     a.Params["accumulate"] != 0,
		FEAGIDraw:      a.FEAGIDraw,
		Excitability:   float32(a.Params["excitability"]),
		ExciteBelow:    uint64(nearest(float64(a.Params["excitability"] * (1 << 32)))),
	}
	if f.ThresholdLimit == 0 {
		f.ThresholdLimit = float32(math.Inf(1))
	}
	f.Keep = float32(1) - f.Leak
	return f
}

// thresholds is the threshold of each neuron where the area has a gradient, else nil.
func thresholds(a *genome.Area) []float32 {
	if a.Gradient == [3]float64{} {
		return nil
	}
	each := make([]float32, 0, a.Neurons())
	for x := range a.Size[0] {
		for y := range a.Size[1] {
			for z := range a.Size[2] {
				t := a.Params["threshold"]
				for i, c := range [3]uint64{x, y, z} {
					t += float64(a.Gradient[i] * float64(c))
				}
				for range a.PerVoxel {
					each = append(each, float32(t))
				}
			}
		}
	}
	return each
}

func newLIF(a *genome.Area, timestep float64) LIF {
	rest := a.Params["rest"]
	return LIF{
		EM1:        float32(decay(a, timestep)),
		Threshold:  float32(a.Params["threshold"] - rest),
		Reset:      float32(a.Params["reset"] - rest),
		Refractory: uint16(nearest(a.Params["refractory"] / timestep)),
	}
}

// decay is em1 = expm1(−dt/tau), the share of the potential lost in a burst, negative.
func decay(a *genome.Area, timestep float64) float64 {
	return exact.Expm1(-timestep / a.Params["tau"])
}

func (p *plan) makeDrives(i int, a *Area) error {
	from := &p.g.Areas[i]
	for k := range from.Drives {
		d := &from.Drives[k]
		key := areaKey(i, fmt.Sprintf("drive[%d]", k))
		if d.Kind == genome.Poisson {
			if mean := poissonMean(d.Rate, p.g.Timestep); !(mean <= mostMean) {
				return p.g.Fault(d.Pos, key+".poisson.rate", "%v Hz makes %v events a burst, want at most %d (%v Hz); share the events among fewer, larger ones",
					d.Rate, mean, mostMean, float64(mostMean*1000)/p.g.Timestep)
			}
		}
		amount := d.Weight
		if d.Kind == genome.Constant {
			amount = d.Value
		}
		made := makeDrive(a.Model, from, d, p.g.Timestep, p.scale)
		if made.Kind != Term {
			if wrong := p.tooSmall(amount); wrong != "" {
				return p.g.Fault(d.Pos, key, "%s", wrong)
			}
		}
		a.Drives = append(a.Drives, made)
	}
	return nil
}

// makeDrive turns a drive into what backends use. An amount that int32 cannot hold is cut; the proof refuses it.
func makeDrive(m Model, a *genome.Area, d *genome.Drive, timestep, scale float64) Drive {
	out := Drive{From: d.From, Until: d.Until}
	switch {
	case d.Kind == genome.Poisson:
		out.Kind, out.Amount = Poisson, clamp(quanta(d.Weight, scale))
		out.Counts = poissonCounts(poissonMean(d.Rate, timestep))
	case m == FEAGIModel:
		out.Kind, out.Amount = Inject, clamp(quanta(d.Value, scale))
	default:
		reach := d.Value // mV that the drive would settle at
		if d.Unit == genome.Current {
			reach = float64(a.Params["tau"] / a.Params["C"] * d.Value) // ms/pF is GΩ, and pA·GΩ is mV
		}
		out.Kind, out.Term = Term, float64(-decay(a, timestep)*reach)
	}
	return out
}

func clamp(q int64) int32 { return int32(max(-math.MaxInt32, min(q, math.MaxInt32))) }

// tooSmall says so when a non-zero amount becomes no quantum at all.
func (p *plan) tooSmall(amount float64) string {
	if amount == 0 || quanta(amount, p.scale) != 0 {
		return ""
	}
	need := math.Ceil(0.5 / math.Abs(amount))
	if need > maxScale {
		return fmt.Sprintf("%v becomes 0 quanta even at the largest scale, %d; use a smaller unit for the whole network", amount, maxScale)
	}
	return fmt.Sprintf("%v becomes 0 quanta at scale %v; write scale: %v or more", amount, p.scale, need)
}
