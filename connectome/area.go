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
		Name: from.Name, Neurons: p.areas[i], Ports: p.ports[i], PerVoxel: uint32(from.PerVoxel), Model: modelOf(from.Model.Kind()),
		Group: from.Group, Devices: from.Devices,
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
	v := Initial{Value: genome.Value{Lo: math.Inf(-1), Hi: math.Inf(1)}}
	switch a.Model {
	case LIFModel, PSCExpModel:
		v.Rest, v.Value.A = from.Params["rest"], from.Params["rest"]
	case IzhikevichModel:
		v.Value.A = -65
	}
	for k, s := range from.Model.State {
		x, named := from.Init[s.Name]
		if a.Model == CustomModel && !named {
			x, named = from.Model.Custom.Starts[k], true
		}
		switch {
		case k == 0:
			if named {
				v.Value = x
			}
			a.V0 = v
		case named:
			a.More0 = append(a.More0, &Initial{Value: x})
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
		rest := 0.0
		if k == 0 {
			rest = v.Rest
		}
		if lo, hi := draw.extent(); !(math.Abs(lo-rest) <= math.MaxFloat32 && math.Abs(hi-rest) <= math.MaxFloat32) {
			return p.g.Fault(from.Pos, areaKey(i, "init."+s.Name), "%s lies beyond ±3.4e38, the range of potentials", s.Name)
		}
	}
	return nil
}

// unbounded names a constant of the area that float32 cannot hold, or is empty.
func (a *Area) unbounded() string {
	terms := 0.0
	for i := range a.Drives {
		d := &a.Drives[i]
		most := math.Abs(d.Term)
		for _, x := range d.Each {
			most = max(most, math.Abs(x))
		}
		terms += most
	}
	if !(terms <= math.MaxFloat32) {
		return "drive"
	}
	if !finite(a.FEAGI.Threshold.Const) {
		return "threshold"
	}
	for _, x := range a.FEAGI.Threshold.Each {
		if !finite(x) {
			return "threshold_gradient"
		}
	}
	if a.Custom != nil {
		return a.Custom.unbounded()
	}
	for i := range max(1, len(a.LIFEach), len(a.PSCExpEach), len(a.IzhikevichEach)) {
		for k, x := range a.words(uint32(i)) {
			if !finite(x) {
				return a.Model.wordNames()[k]
			}
		}
	}
	return ""
}

// words are the constants of the i-th neuron where its model has Words.
func (a *Area) words(i uint32) []float32 {
	switch a.Model {
	case LIFModel:
		return a.LIFOf(i).Words()
	case PSCExpModel:
		return a.PSCExpOf(i).Words()
	case IzhikevichModel:
		return a.IzhikevichOf(i).Words()
	}
	return nil
}

// wordNames are the parameters that Words come from.
func (m Model) wordNames() []string {
	switch m {
	case LIFModel:
		return []string{"tau", "threshold", "reset", "refractory"}
	case PSCExpModel:
		return []string{"tau", "tau_syn_ex", "tau_syn_in", "tau_syn_ex", "tau_syn_in", "threshold", "reset", "refractory"}
	}
	return []string{"timestep", "a", "b", "c", "d", "threshold"}
}

func finite(x float32) bool { return math.Abs(float64(x)) <= math.MaxFloat32 }

func (p *plan) makeDrives(i int, a *Area) error {
	from := &p.g.Areas[i]
	for k := range from.Drives {
		d := &from.Drives[k]
		key := areaKey(i, fmt.Sprintf("drive[%d]", k))
		var amounts []float64
		switch d.Kind {
		case genome.Poisson:
			amounts = []float64{d.Weight}
			if mean := poissonMean(d.Rate, p.g.Timestep); !(mean <= mostMean) {
				return p.g.Fault(d.Pos, key+".poisson.rate", "%v Hz makes %v events a burst, want at most %d (%v Hz); share the events among fewer, larger ones",
					d.Rate, mean, mostMean, float64(mostMean*1000)/p.g.Timestep)
			}
		case genome.Noise:
			amounts = []float64{d.Mean, d.SD}
		default:
			amounts = []float64{d.Value}
		}
		made := p.makeDrive(i, a.Model, d)
		for _, amount := range amounts {
			if wrong := p.tooSmall(amount); wrong != "" && made.Kind != Term {
				return p.g.Fault(d.Pos, key, "%s", wrong)
			}
		}
		a.Drives = append(a.Drives, made)
	}
	return nil
}

// makeDrive turns a drive into what backends use. An amount that int32 cannot hold is cut; the proof refuses it.
func (p *plan) makeDrive(i int, m Model, d *genome.Drive) Drive {
	out := Drive{From: d.From, Until: d.Until}
	switch {
	case d.Kind == genome.Poisson:
		out.Kind, out.Amount = Poisson, clamp(quanta(d.Weight, p.scale))
		out.Counts = poissonCounts(poissonMean(d.Rate, p.g.Timestep))
	case d.Kind == genome.Noise:
		out.Kind, out.Counts, out.Table = Noise, p.noise(), noiseTable(d.Mean, d.SD, p.scale)
	case m == FEAGIModel || m == CustomModel:
		out.Kind, out.Amount = Inject, clamp(quanta(d.Value, p.scale))
	case m == IzhikevichModel:
		out.Kind, out.Term = Term, d.Value
	default:
		out.Kind = Term
		values := p.values(i)
		out.Term = term(values.of(0), d, p.g.Timestep)
		if values.vary("tau", "C") {
			out.Each = make([]float64, p.areas[i].Count)
			spans(p.workers, uint64(len(out.Each)), 1<<12, func(_ int, lo, hi uint64) {
				for n := lo; n < hi; n++ {
					out.Each[n] = term(values.of(n), d, p.g.Timestep)
				}
			})
		}
	}
	return out
}

// term is what a constant drive adds to V in a burst: −expm1(−dt/tau)·R·I, with R = tau/C, ms/pF being GΩ and pA·GΩ mV.
func term(get func(string) float64, d *genome.Drive, timestep float64) float64 {
	reach := d.Value // mV that the drive would settle at
	if d.Unit == genome.Current {
		reach = float64(get("tau") / get("C") * d.Value)
	}
	return float64(-decay(get("tau"), timestep) * reach)
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
	return fmt.Sprintf("%v becomes 0 quanta at scale %.0f; write scale: %.0f or more", amount, p.scale, need)
}

// tooLarge says so when an amount alone is more quanta than int32 holds.
func (p *plan) tooLarge(amount float64) string {
	if magnitude(quanta(amount, p.scale)) < overflow {
		return ""
	}
	fits := math.Floor(math.MaxInt32 / math.Abs(amount))
	if magnitude(quanta(amount, fits+1)) < overflow { // up to half a quantum more is rounded down
		fits++
	}
	advice := "not even scale: 1 holds it; use a larger unit for the whole network"
	if fits > 0 {
		advice = fmt.Sprintf("the largest scale that holds it is %.0f", fits)
	}
	return fmt.Sprintf("%v becomes more than %d quanta at scale %.0f; %s", amount, math.MaxInt32, p.scale, advice)
}
