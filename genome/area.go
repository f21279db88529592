package genome

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// area reads one area. A part at fault keeps its zero or default value.
func (p *parser) area(n *yaml.Node, at *path) Area {
	a := Area{Pos: pos(n)}
	f, ok := p.fields(n, at, slices.Concat(areaKeys(), p.astray(n)))
	if !ok {
		return a
	}
	f.name("name", &a.Name)
	_, aliases, _ := f.get("aliases")
	for i, e := range f.list("aliases") {
		if alias, ok := p.alias(e, aliases.item(i)); ok {
			a.Aliases = append(a.Aliases, alias)
		}
	}
	f.name("group", &a.Group)
	p.shape(f, &a)
	f.numbers3("position", &a.Position)
	f.whole("devices", &a.Devices)
	if psp := 1.0; f.number("psp", &psp) {
		a.PSP = &psp
	}
	f.flag("divide_psp", &a.DividePSP)
	if a.Model = f.model(); a.Model != nil {
		p.model(f, &a)
	}
	return a
}

// astray are keys of the parameters that stand under params where the area's model has them, known so as to be told of there.
func (p *parser) astray(n *yaml.Node) (keys []key) {
	i := slices.Index(p.modelNames(), valueOf(n, "model").Value)
	if i < 0 {
		return nil
	}
	m := slices.Concat(Models(), p.g.Models)[i]
	for k := range m.Params {
		name := m.Params[k].Name
		if !slices.ContainsFunc(areaKeys(), func(k key) bool { return k.Name == name }) {
			keys = append(keys, key{Name: name, Of: []string{}})
		}
	}
	return keys
}

// model is the model that an area names, the first of all unless it names one; nil after a fault.
func (f *fields) model() *Model {
	n, at, _ := f.get("model")
	if n == nil {
		return Models()[0]
	}
	if i, ok := f.p.choice(n, at, f.p.modelNames()); ok {
		return slices.Concat(Models(), f.p.g.Models)[i]
	}
	return nil
}

// shape reads size or neurons; the product is checked to fit 63 bits.
func (p *parser) shape(f *fields, a *Area) {
	a.PerVoxel = 1
	f.whole("neurons_per_voxel", &a.PerVoxel)
	switch {
	case f.has("size") && f.has("neurons"):
		f.faultKey("neurons", "", "both size and neurons found, one of them wanted")
		return
	case f.has("neurons"):
		if f.has("neurons_per_voxel") {
			f.faultKey("neurons_per_voxel", "", "neurons_per_voxel beside neurons found, size beside it wanted")
		}
		size := [3]uint64{0, 1, 1}
		switch ok := f.whole("neurons", &size[0]); {
		case ok && size[0] == 0 && a.Group != "memory":
			f.fault("neurons", "expects a whole number of at least 1, found 0, which only areas of group memory may have")
		case ok:
			a.Size = size
		}
		return
	case f.lacks("size", "neurons"):
		p.fault(f.node, f.at, "", "neither size nor neurons found, one of them wanted")
		return
	case !f.has("size"):
		return
	}
	n, at, k := f.get("size")
	var size [3]uint64
	total, fine := a.PerVoxel, true
	for i, e := range f.list("size") {
		x, ok := p.whole(e, at.item(i), k.Item.Low, k.Item.High)
		fine = fine && ok
		size[i] = x
	}
	for _, x := range size {
		high, low := bits.Mul64(total, x)
		if total = low; high != 0 || total > maxSize {
			p.fault(n, at, "", "expects at most 2^63-1 neurons, found an area of %d by %d by %d voxels of %d", size[0], size[1], size[2], a.PerVoxel)
			return
		}
	}
	if fine {
		a.Size = size
	}
}

// model reads all that depends on the area's model.
func (p *parser) model(f *fields, a *Area) {
	m := a.Model
	p.belongs(f, m)
	a.Params = make(map[string]float64, len(m.Params))
	values := f
	if n, at, _ := f.get("params"); !m.AreaLevel {
		values = nil
		if n != nil {
			values, _ = p.fields(n, at, paramKeys(m, m.Params))
		} else {
			p.needed(f, m)
		}
	}
	for i := range m.Params {
		p.param(values, a, &m.Params[i])
	}
	f.numbers3("threshold_gradient", &a.Gradient)
	draw := 0
	f.choice("draw", &draw)
	a.FEAGIDraw = draw == 1
	p.initial(f, a)
	p.drives(f, a)
	f.span(&a.From, &a.Until)
	p.spikes(f, a)
	p.sensible(f, a)
}

// needed refuses an area without params whose model has a parameter without a default.
func (p *parser) needed(f *fields, m *Model) {
	for i := range m.Params {
		if name := m.Params[i].Name; m.Params[i].Needed && f.lacks("params", name) {
			p.fault(f.node, f.at, "", "key %q is missing, with %s", "params", name)
		}
	}
}

// belongs refuses keys of other models, and says where a parameter of this model stands.
func (p *parser) belongs(f *fields, m *Model) {
	for i, k := range f.keys {
		if f.value[i] == nil || k.Of == nil || slices.Contains(k.Of, m.Kind()) {
			continue
		}
		switch {
		case k.Name == "params":
			f.faultKey("params", "", "params found, which the model %s does not have: its parameters stand in the area itself", m.Name)
		case !m.AreaLevel && m.param(k.Name) != nil:
			f.faultKey(k.Name, "params: {"+k.Name+": …}", "a parameter of %s found in the area itself, wanted under params", m.Name)
		default:
			f.faultKey(k.Name, "", "a key of the model %s found, which the model %s does not have", strings.Join(k.Of, ", "), m.Name)
		}
	}
}

// param gives the parameter with that name, or nil.
func (m *Model) param(name string) *Param {
	for i := range m.Params {
		if m.Params[i].Name == name {
			return &m.Params[i]
		}
	}
	return nil
}

// param reads one parameter, its default when f is nil or lacks it.
func (p *parser) param(f *fields, a *Area, param *Param) {
	x := param.Default
	if param.Like != "" {
		x = a.Params[param.Like]
		if v, ok := a.Varied[param.Like]; ok {
			a.vary(param.Name, v)
		}
	}
	if f == nil {
		a.Params[param.Name] = x
		return
	}
	switch {
	case param.varies() && !a.Model.AreaLevel:
		if n, at, k := f.get(param.Name); n != nil {
			delete(a.Varied, param.Name)
			p.perNeuron(n, at, k, a, &x)
		}
	case param.Dim == Flag:
		if on := false; f.flag(param.Name, &on) {
			x = 0
			if on {
				x = 1
			}
		}
	case param.Whole:
		if b := uint64(0); f.bursts(param.Name, &b) {
			if x = float64(b); param.Dim == Time {
				x = float64(x * p.timestep)
			}
		}
	default:
		f.number(param.Name, &x)
	}
	a.Params[param.Name] = x
}

// vary makes a parameter one that differs from neuron to neuron.
func (a *Area) vary(name string, v Value) {
	if a.Varied == nil {
		a.Varied = make(map[string]Value)
	}
	a.Varied[name] = v
}

// initial reads init.
func (p *parser) initial(f *fields, a *Area) {
	n, at, _ := f.get("init")
	if n == nil {
		return
	}
	e, ok := p.fields(n, at, stateKeys(a.Model))
	if !ok {
		return
	}
	a.Init = make(map[string]Value)
	for i := range e.keys {
		if n := e.value[i]; n != nil {
			a.Init[e.keys[i].Name], _ = p.value(n, at.key(e.keys[i].Name), e.keys[i].Dims[0])
		}
	}
}

// sensible refuses parameters that fit their ranges but not each other.
func (p *parser) sensible(f *fields, a *Area) {
	a.sumFits(p, f)
	switch a.Model.Kind() {
	case custom:
		if a.Model.param(formula.Quiet) != nil {
			p.defaultSilence(f, a)
		}
	case "lif", "lif_psc_exp":
		p.reset(f, a, "reset")
		p.defaultSilence(f, a)
	case "izhikevich":
		p.reset(f, a, "c")
	case "poisson":
		if rate := a.Params["rate"]; p.timestep > 0 && float64(rate*p.timestep) > 1000 {
			f.fault("params", "expects a rate of at most one spike a burst of %g ms, which is %g Hz, found %g Hz", p.timestep, 1000/p.timestep, rate)
		}
	}
}

// reset refuses a neuron that would fire again at once; what varies, the build checks.
func (p *parser) reset(f *fields, a *Area, name string) {
	_, variesA := a.Varied[name]
	_, variesB := a.Varied["threshold"]
	if reset, threshold := a.Params[name], a.Params["threshold"]; reset >= threshold && !variesA && !variesB {
		f.fault("params", "expects %s below threshold, found %s %g mV and threshold %g mV (defaults count)", name, name, reset, threshold)
	}
}

// defaultSilence wants a default refractory time that is no whole number of bursts to be said otherwise.
func (p *parser) defaultSilence(f *fields, a *Area) {
	param := a.Model.param("refractory")
	if p.timestep == 0 || param.Dim == Bursts || a.Params["refractory"] != param.Default {
		return
	}
	b := float64(a.Params["refractory"] / p.timestep)
	if _, m := wholeBursts(b, p.timestep); m != nil {
		f.fault("params", "the refractory time of %g ms that %s has unless told otherwise: %s", a.Params["refractory"], a.Model.Name, m.message)
	} else if b > maxQuiet {
		f.fault("params", "expects a refractory time of at most %d bursts, found %g", maxQuiet, b)
	}
}

// sumFits checks the thresholds of the far corner of a gradient.
func (a *Area) sumFits(p *parser, f *fields) {
	sum := a.Params["threshold"]
	for i, g := range a.Gradient {
		sum += float64(g * float64(max(a.Size[i], 1)-1))
		if math.Abs(sum) > math.MaxFloat32 {
			f.fault("threshold_gradient", "expects thresholds within ±3.4e38 (float32), found %g in the far corner", sum)
			return
		}
	}
}
