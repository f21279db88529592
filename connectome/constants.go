package connectome

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"burst/genome"
	"burst/internal/exact"
	"burst/internal/quanta"
)

// makeConstants computes the constants of an area's model, once and in float64.
func (p *plan) makeConstants(i int, a *Area) error {
	values := p.values(i)
	if err := p.inRange(i, values); err != nil {
		return err
	}
	from := &p.g.Areas[i]
	a.Constants = p.constants(i, values, from.Model.ConstantNames())
	if p.lifts[i] != 0 {
		a.Constant("rectify").Const = float32(p.lifts[i])
	}
	if from.Model.Chance != nil {
		a.Chance = p.chance(i, values)
	}
	a.From, a.Until, a.Upstream = from.From, from.Until, from.Upstream
	if a.Factor = from.RateOver; a.Factor != nil {
		if err := p.oncePerBurst(i, a); err != nil {
			return err
		}
	}
	if from.Model.Has("spikes") {
		a.Spikes = p.trains[i]
	}
	if from.Model.Custom != nil {
		a.Custom = p.newCustom(i, values)
	}
	if from.Model.Event != "" {
		return p.makeEvent(i, a)
	}
	return nil
}

// constants computes the named constants, each once for the area unless it depends on a parameter that varies.
func (p *plan) constants(i int, values *values, names []string) []Param {
	m, dt := p.g.Areas[i].Model, p.g.Timestep
	list := make([]Param, len(names))
	var varied []int
	var variedNames []string
	for k, x := range m.Work(names, values.of(0), dt) {
		list[k].Const = float32(x)
		if vary(values.a, m.Depends(names[k])) {
			list[k].Each = make([]float32, p.areas[i].Count)
			varied, variedNames = append(varied, k), append(variedNames, names[k])
		}
	}
	if varied == nil {
		return list
	}
	spans(p.workers, uint64(p.areas[i].Count), 1<<12, func(_ int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			for j, x := range m.Work(variedNames, values.of(n), dt) {
				list[varied[j]].Each[n] = float32(x)
			}
		}
	})
	return list
}

// chance returns the firing chance of the area's model.
func (p *plan) chance(i int, values *values) Chance {
	m, dt := p.g.Areas[i].Model, p.g.Timestep
	below := func(n uint64) uint64 { return uint64(quanta.Nearest(float64(m.Chance(values.of(n), dt) * (1 << 32)))) }
	c := Chance{Const: below(0)}
	if vary(values.a, chanceOn(m)) {
		c.Each = make([]uint64, p.areas[i].Count)
		spans(p.workers, uint64(len(c.Each)), 1<<12, func(_ int, lo, hi uint64) {
			for n := lo; n < hi; n++ {
				c.Each[n] = below(n)
			}
		})
	}
	return c
}

// oncePerBurst refuses sources whose rate would be more than one spike a burst at the largest factor.
func (p *plan) oncePerBurst(i int, a *Area) error {
	for n := range max(1, uint32(len(a.Chance.Each))) {
		if most := float64(float64(a.Chance.At(n))*a.Factor.Hi) / (1 << 32); most > 1 {
			return p.g.Fault(a.Factor.Pos, areaKey(i, "factor"), "neuron %d would fire %g times a burst at the largest factor, %g; want at most 1", n, most, a.Factor.Hi)
		}
	}
	return nil
}

// chanceOn are the parameters that a model's chance depends on.
func chanceOn(m *genome.Model) []string {
	return genome.Asked(func(p genome.Values) { m.Chance(p, 1) })
}

// vary reports whether one of the named parameters differs from neuron to neuron.
func vary(a *genome.Area, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, varied := a.Varied[name]
		return varied || name == risen && a.Gradient != [3]float64{}
	})
}

// mostSilence is the longest refractory time, in bursts.
const mostSilence = math.MaxUint16

// risen is the parameter to which threshold_gradient is added.
const risen = "threshold"

// values computes the parameters of an area's neurons.
type values struct {
	a        *genome.Area
	seed     uint64
	area     uint64
	first    uint64 // neuron
	samplers map[string]*sampler
	shared   map[string]uint64 // numbers of the shared uniform numbers
	level    float64           // mV that constant drives add to rest, of models with Event
}

// firstShared is the first number of shared uniform numbers; below it are the places of parameters in their model.
const firstShared = 1 << 16

func (p *plan) values(i int) *values {
	a := &p.g.Areas[i]
	v := &values{a: a, seed: p.g.Seed, area: uint64(i), first: uint64(p.areas[i].First), samplers: map[string]*sampler{}, shared: map[string]uint64{}}
	v.level = level(a, p.g.Timestep)
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

// of returns the parameters of the n-th neuron of the area.
func (v *values) of(n uint64) genome.Values {
	return func(name string) float64 {
		if s := v.samplers[name]; s != nil {
			x, _ := v.at(n, name, s)
			return x
		}
		x := v.a.Params[name]
		if name == "rest" {
			x += v.level
		}
		if name == risen && v.a.Gradient != [3]float64{} {
			voxel := n / v.a.PerVoxel
			z, y := voxel%v.a.Size[2], voxel/v.a.Size[2]
			for k, at := range [3]uint64{y / v.a.Size[1], y % v.a.Size[1], z} {
				x += float64(v.a.Gradient[k] * float64(at))
			}
		}
		return x
	}
}

// at is a varied parameter of the n-th neuron; false if no draw fell within the bounds.
func (v *values) at(n uint64, name string, s *sampler) (float64, bool) {
	switch s.Kind {
	case genome.Column:
		return s.Each[n], true
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
	if len(v.samplers) == 0 {
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

// wrong describes what is wrong with the parameters of the n-th neuron; empty if nothing is.
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
		case q.Whole && q.Dim == genome.Time && !(x/timestep < mostSilence+0.5), q.Whole && q.Dim == genome.Bursts && !(x < mostSilence+0.5):
			return s.Pos, fmt.Sprintf("%s is %v, want at most %d bursts", q.Name, x, mostSilence)
		case q.Once && float64(x*timestep) > 1000:
			return s.Pos, fmt.Sprintf("%s is %v Hz, want at most one spike a burst of %v ms, %v Hz", q.Name, x, timestep, 1000/timestep)
		}
	}
	get := v.of(n)
	for k := range v.a.Model.Params {
		if q := &v.a.Model.Params[k]; q.Below != "" && get(q.Name) >= get(q.Below) {
			return v.a.Pos, fmt.Sprintf("%s is %v mV and %s %v mV, want %s below %s", q.Name, get(q.Name), q.Below, get(q.Below), q.Name, q.Below)
		}
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
