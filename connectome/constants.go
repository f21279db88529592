package connectome

import (
	"fmt"
	"math"
	"sync"

	"burst/genome"
	"burst/internal/exact"
)

// makeConstants converts the parameters of an area, once and in float64, into what its model's law uses.
func (p *plan) makeConstants(i int, a *Area) error {
	from, dt := &p.g.Areas[i], p.g.Timestep
	values := p.values(i)
	if err := p.inRange(i, values); err != nil {
		return err
	}
	switch a.Model {
	case FEAGIModel:
		a.FEAGI = newFEAGI(from)
		a.FEAGI.Threshold.Each = thresholds(from)
	case LIFModel:
		a.LIF, a.LIFEach = constants(p, i, values, func(get func(string) float64) LIF { return newLIF(get, dt) })
	case PSCExpModel:
		a.PSCExp, a.PSCExpEach = constants(p, i, values, func(get func(string) float64) PSCExp { return newPSCExp(get, dt) })
	case IzhikevichModel:
		a.Izhikevich, a.IzhikevichEach = constants(p, i, values, func(get func(string) float64) Izhikevich { return newIzhikevich(get, dt) })
	case PoissonModel:
		a.Poisson, a.PoissonEach = constants(p, i, values, func(get func(string) float64) PoissonSource {
			return PoissonSource{Below: uint64(nearest(float64(float64(get("rate")*dt) / 1000 * (1 << 32)))), From: from.From, Until: from.Until}
		})
	case CustomModel:
		a.Custom = p.newCustom(i, values)
	case SpikeListModel:
		a.Spikes = newSpikeList(from)
	}
	return nil
}

// constants makes those of an area, and one a neuron where parameters vary.
func constants[T any](p *plan, i int, values *values, make1 func(get func(string) float64) T) (one T, each []T) {
	if values.vary() {
		each = make([]T, p.areas[i].Count)
		spans(p.workers, uint64(len(each)), 1<<12, func(_ int, lo, hi uint64) {
			for n := lo; n < hi; n++ {
				each[n] = make1(values.of(n))
			}
		})
	}
	return make1(values.of(0)), each
}

// values gives the parameters of an area's neurons.
type values struct {
	a        *genome.Area
	seed     uint64
	area     uint64
	first    uint64 // neuron
	samplers map[string]*sampler
	shared   map[string]uint64 // numbers of the shared uniform numbers
}

// firstShared is the first number of shared uniform numbers; below it are the places of parameters in their model.
const firstShared = 1 << 16

func (p *plan) values(i int) *values {
	a := &p.g.Areas[i]
	v := &values{a: a, seed: p.g.Seed, area: uint64(i), first: uint64(p.areas[i].First), samplers: map[string]*sampler{}, shared: map[string]uint64{}}
	for k := range a.Model.Params {
		name := a.Model.Params[k].Name
		value, varied := a.Varied[name]
		if !varied {
			continue
		}
		s := newSampler(value, p.g.Seed, exact.ParameterDraw, i)
		v.samplers[name] = &s
		if _, known := v.shared[value.Shared]; value.Shared != "" && !known {
			v.shared[value.Shared] = firstShared + uint64(len(v.shared))
		}
	}
	return v
}

// vary reports whether any of the parameters named, or of all, differs from neuron to neuron.
func (v *values) vary(names ...string) bool {
	for _, name := range names {
		if v.samplers[name] != nil {
			return true
		}
	}
	return len(names) == 0 && len(v.samplers) > 0
}

// of gives the parameters of the n-th neuron of the area.
func (v *values) of(n uint64) func(string) float64 {
	return func(name string) float64 {
		s := v.samplers[name]
		if s == nil {
			return v.a.Params[name]
		}
		x, _ := v.at(n, name, s)
		return x
	}
}

// at is a varied parameter of the n-th neuron; false when its distribution gave nothing within its bounds.
func (v *values) at(n uint64, name string, s *sampler) (float64, bool) {
	switch s.Kind {
	case genome.Column:
		return v.a.Columns[name][n], true
	case genome.Linear, genome.Square:
		x, _ := exact.Words(v.seed, exact.ParameterDraw, v.first+n|v.shared[s.Shared]<<32, v.area)
		u := exact.Uniform(x)
		if s.Kind == genome.Square {
			u = float64(u * u)
		}
		return s.A + float64(s.B*u), true
	}
	place := uint64(0)
	for k := range v.a.Model.Params {
		if v.a.Model.Params[k].Name == name {
			place = uint64(k)
		}
	}
	return s.at(v.first + n | place<<32)
}

// inRange checks every varied parameter of every neuron against its range, and resets against thresholds.
func (p *plan) inRange(i int, v *values) error {
	if !v.vary() {
		return nil
	}
	for k := range v.a.Model.Params {
		name := v.a.Model.Params[k].Name
		if s, drawn := v.samplers[name]; drawn && s.Kind <= genome.LogNormal {
			if wrong := s.probe(); wrong != "" {
				return p.g.Fault(s.Pos, areaKey(i, "params."+name), "%s", wrong)
			}
		}
	}
	var mu sync.Mutex
	first, message, at := uint64(math.MaxUint64), "", genome.Pos{}
	count := uint64(p.areas[i].Count)
	spans(p.workers, count, 1<<12, func(_ int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			if pos, wrong := v.wrong(n, p.g.Timestep); wrong != "" {
				mu.Lock()
				if n < first {
					first, message, at = n, wrong, pos
				}
				mu.Unlock()
				return
			}
		}
	})
	if message != "" {
		return p.g.Fault(at, areaKey(i, "params"), "neuron %d: %s", first, message)
	}
	return nil
}

// wrong says what is wrong with the parameters of the n-th neuron, or nothing.
func (v *values) wrong(n uint64, timestep float64) (genome.Pos, string) {
	for k := range v.a.Model.Params {
		q := &v.a.Model.Params[k]
		s := v.samplers[q.Name]
		if s == nil {
			continue
		}
		x, ok := v.at(n, q.Name, s)
		switch {
		case !ok:
			return s.Pos, fmt.Sprintf("%d draws of %s fell outside its bounds; widen them", attempts, q.Name)
		case x < q.Min || x > q.Max || q.MinOpen && x == q.Min:
			return s.Pos, fmt.Sprintf("%s is %v, want %s", q.Name, x, span(q))
		case q.Name == "rate" && float64(x*timestep) > 1000:
			return s.Pos, fmt.Sprintf("rate is %v Hz, want at most one spike a burst of %v ms, %v Hz", x, timestep, 1000/timestep)
		}
	}
	get := v.of(n)
	low := map[string]string{"lif": "reset", "lif_psc_exp": "reset", "izhikevich": "c"}[v.a.Model.Name]
	if low != "" && get(low) >= get("threshold") {
		return v.a.Pos, fmt.Sprintf("%s is %v mV and threshold %v mV, want %s below threshold", low, get(low), get("threshold"), low)
	}
	return genome.Pos{}, ""
}

// span is a parameter's range in words.
func span(q *genome.Param) string {
	switch {
	case q.MinOpen:
		return fmt.Sprintf("more than %v", q.Min)
	case math.IsInf(q.Max, 1):
		return fmt.Sprintf("at least %v", q.Min)
	}
	return fmt.Sprintf("%v…%v", q.Min, q.Max)
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

func newLIF(get func(string) float64, dt float64) LIF {
	rest := get("rest")
	return LIF{
		EM1:        float32(decay(get("tau"), dt)),
		Threshold:  float32(get("threshold") - rest),
		Reset:      float32(get("reset") - rest),
		Refractory: uint16(nearest(get("refractory") / dt)),
	}
}

// decay is em1 = expm1(−dt/tau), the share of the potential lost in a burst, negative.
func decay(tau, dt float64) float64 { return exact.Expm1(-dt / tau) }

func newPSCExp(get func(string) float64, dt float64) PSCExp {
	rest, tau, c := get("rest"), get("tau"), get("C")
	ex, in := get("tau_syn_ex"), get("tau_syn_in")
	return PSCExp{
		EM1:        float32(decay(tau, dt)),
		P21Ex:      float32(propagator(tau, ex, c, dt)),
		P21In:      float32(propagator(tau, in, c, dt)),
		P11Ex:      float32(exact.Exp(-dt / ex)),
		P11In:      float32(exact.Exp(-dt / in)),
		Threshold:  float32(get("threshold") - rest),
		Reset:      float32(get("reset") - rest),
		Refractory: uint16(nearest(get("refractory") / dt)),
	}
}

// propagator is P21 of Rotter and Diesmann (1999), the potential in mV that a current of 1 pA at the beginning of a step has
// made at its end: β/C·(exp(−dt/tau) − exp(−dt/s)) with β = tau·s/(tau − s), written with expm1 because the difference
// loses digits where tau and s are close; dt/C·exp(−dt/tau) where they are equal. Where expm1 would be infinite, exp(−dt/tau) is
// taken out in place of exp(−dt/s).
func propagator(tau, s, c, dt float64) float64 {
	gap := tau - s
	if math.Abs(gap) < float64(1e-9*tau) {
		return float64(dt / c * exact.Exp(-dt/tau))
	}
	beta := float64(tau*s) / gap
	if dt/beta > 700 {
		return float64(float64(-beta/c*exact.Exp(-dt/tau)) * exact.Expm1(-dt/beta))
	}
	return float64(float64(beta/c*exact.Exp(-dt/s)) * exact.Expm1(dt/beta))
}

func newIzhikevich(get func(string) float64, dt float64) Izhikevich {
	return Izhikevich{
		Half:      float32(dt / 2),
		ADt:       float32(float64(get("a") * dt)),
		B:         float32(get("b")),
		C:         float32(get("c")),
		D:         float32(get("d")),
		Threshold: float32(get("threshold")),
	}
}

// newSpikeList sorts the spikes by neuron.
func newSpikeList(a *genome.Area) SpikeList {
	l := SpikeList{Row: make([]uint32, a.Neurons()+1), At: make([]uint64, len(a.Spikes))}
	for _, s := range a.Spikes {
		l.Row[s.Neuron+1]++
	}
	for i := range a.Neurons() {
		l.Row[i+1] += l.Row[i]
	}
	next := append([]uint32(nil), l.Row...)
	for _, s := range a.Spikes { // ascending by burst
		l.At[next[s.Neuron]] = s.Burst
		next[s.Neuron]++
	}
	return l
}
