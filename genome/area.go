package genome

import (
	"math"
	"math/bits"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// area reads one area. A value with a fault keeps its zero or default value.
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
	p.space(f, &a)
	p.columns(f, &a)
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

// astray lists keys for the parameters of the area's model that belong under params. The area itself accepts them, so that the
// fault can say where they belong.
func (p *parser) astray(n *yaml.Node) (keys []key) {
	m := p.modelNamed(valueOf(n, "model").Value)
	if m == nil {
		return nil
	}
	for k := range m.Params {
		name := m.Params[k].Name
		if !slices.ContainsFunc(areaKeys(), func(k key) bool { return k.Name == name }) {
			keys = append(keys, key{Name: name, Of: []string{}})
		}
	}
	return keys
}

// model is the model that an area names; without a name the first one of Models. It is nil after a fault.
func (f *fields) model() *Model {
	n, at, _ := f.get("model")
	if n == nil {
		return Models()[0]
	}
	if _, ok := f.p.choice(n, at, f.p.modelNames()); ok {
		return f.p.modelNamed(n.Value)
	}
	return nil
}

// shape reads size or neurons; the product is checked to fit 63 bits.
func (p *parser) shape(f *fields, a *Area) {
	a.PerVoxel = 1
	f.whole("neurons_per_voxel", &a.PerVoxel)
	switch {
	case f.has("size") && f.has("neurons"):
		f.faultKey("neurons", "", "expects either size or neurons, found both")
		return
	case f.has("neurons"):
		if f.has("neurons_per_voxel") {
			f.faultKey("neurons_per_voxel", "", "expects neurons_per_voxel beside size, found it beside neurons")
		}
		size := [3]uint64{0, 1, 1}
		switch ok := f.whole("neurons", &size[0]); {
		case ok && size[0] == 0 && a.Group != "memory":
			f.fault("neurons", "expects a whole number of at least 1, found 0; only areas of group memory may have no neurons")
		case ok:
			a.Size = size
		}
		return
	case f.lacks("size", "neurons"):
		p.fault(f.node, f.at, "", "expects size or neurons, found neither")
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
			p.fault(n, at, "", "expects at most 2^63-1 neurons, found an area of %d by %d by %d voxels with %d neurons each", size[0], size[1], size[2], a.PerVoxel)
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
	if _, varied := a.Varied["threshold"]; varied && m.Has("threshold_gradient") && f.has("threshold_gradient") {
		f.faultKey("threshold_gradient", "", "found a gradient beside a column of thresholds; want one of them")
	}
	p.pspMax(f, a)
	p.initial(f, a)
	p.drives(f, a)
	f.span(&a.From, &a.Until)
	if a.Model.Has("factor") {
		a.RateOver = f.rising(f.factor())
	}
	p.spikes(f, a)
	f.list("upstream") // read when all areas have names
	p.sensible(f, a)
}

// pspMax reads the bound of a psp that follows the potential.
func (p *parser) pspMax(f *fields, a *Area) {
	threshold := a.Params["threshold"]
	if v, varied := a.Varied["threshold"]; varied && len(v.Each) > 0 {
		threshold = slices.Min(v.Each)
	}
	switch set := f.number("psp_max", &a.PSPMax); {
	case !set || !a.Model.Has("psp_max"):
	case a.PSP != nil:
		f.fault("psp_max", "expects either psp or psp_max, found both; with psp_max the psp of a spike is the potential at which it was fired")
	case a.PSPMax < threshold:
		f.fault("psp_max", "expects at least the threshold %g, from which neurons fire, found %g", threshold, a.PSPMax)
	}
}

// needed refuses an area without params whose model has a parameter without a default.
func (p *parser) needed(f *fields, m *Model) {
	for i := range m.Params {
		if name := m.Params[i].Name; m.Params[i].Needed && f.lacks("params", name) {
			p.fault(f.node, f.at, "", "key %q is missing; it must set %s", "params", name)
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
			f.faultKey("params", "", "found params, but the parameters of the model %s stand in the area itself", m.Name)
		case !m.AreaLevel && m.param(k.Name) != nil:
			f.faultKey(k.Name, "params: {"+k.Name+": …}", "expects this parameter of %s under params, found it in the area itself", m.Name)
		default:
			f.faultKey(k.Name, "", "found a key of the model %s, which the model %s does not have", strings.Join(k.Of, ", "), m.Name)
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

// param reads one parameter. It takes the default if f is nil or lacks the parameter.
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
	case a.Model.varies(param):
		if n, at, k := f.get(param.Name); n != nil {
			delete(a.Varied, param.Name)
			p.perNeuron(n, at, k, a, &x)
		}
	case param.Choices != nil:
		place := int(x)
		f.choice(param.Name, &place)
		x = float64(place)
	case param.Dim == Flag:
		if on := false; f.flag(param.Name, &on) {
			x = 0
			if on {
				x = 1
			}
		}
	case param.Whole:
		if n, at, k := f.get(param.Name); n != nil {
			if y, ok := p.steps(n, at, k); ok {
				x = y
			}
		}
	default:
		f.number(param.Name, &x)
	}
	a.Params[param.Name] = x
}

// vary notes that a parameter differs from neuron to neuron.
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
		n, name := e.value[i], e.keys[i].Name
		switch {
		case n == nil:
		case isColumn(n):
			each, _, _ := p.fromColumn(n, at.key(name), a.Neurons(), e.keys[i].Dims[:1], func(float64) string { return "" })
			a.Init[name] = columnOf(n, each)
		default:
			a.Init[name], _ = p.value(n, at.key(name), e.keys[i].Dims[0])
		}
	}
}

// sensible refuses parameters that fit their ranges but not each other.
func (p *parser) sensible(f *fields, a *Area) {
	a.sumFits(p, f)
	if a.Model.Has("upstream") && a.Empty() {
		f.fault("neurons", "expects at least 1 neuron in an area of the model %s: one for each pattern that it can keep", a.Model.Name)
	}
	if x := a.Params["leak"]; a.Model == &feagiModel && x > 1 && a.Params["rectify"] == 0 {
		f.fault("leak", "expects a leak of at most 1 unless rectify is true, found %g; to lose a fixed amount, use leak_amount", x)
	}
	for i := range a.Model.Params {
		param := &a.Model.Params[i]
		x := a.Params[param.Name]
		switch {
		case param.Name == formula.Quiet:
			p.defaultSilence(f, a)
		case param.Below != "":
			p.below(f, a, param)
		case param.Once && p.timestep > 0 && float64(x*p.timestep) > 1000:
			f.fault("params", "expects a %s of at most one spike per burst of %g ms, which is %g Hz, found %g Hz", param.Name, p.timestep, 1000/p.timestep, x)
		}
	}
}

// below refuses a parameter that is not below another one. If one of them varies, the build checks it.
func (p *parser) below(f *fields, a *Area, low *Param) {
	_, variesA := a.Varied[low.Name]
	_, variesB := a.Varied[low.Below]
	if x, most := a.Params[low.Name], a.Params[low.Below]; x >= most && !variesA && !variesB {
		f.fault("params", "expects %s below %s, found %s %g mV and %s %g mV (default values count too)", low.Name, low.Below, low.Name, x, low.Below, most)
	}
}

// defaultSilence refuses a default refractory time that is not a whole number of bursts.
func (p *parser) defaultSilence(f *fields, a *Area) {
	param := a.Model.param("refractory")
	if _, varied := a.Varied["refractory"]; varied || p.timestep == 0 || param.Dim == Bursts || a.Params["refractory"] != param.Default {
		return
	}
	b := float64(a.Params["refractory"] / p.timestep)
	if _, m := wholeBursts(b, p.timestep); m != nil {
		f.fault("params", "the default refractory time of %g ms of the model %s: %s", a.Params["refractory"], a.Model.Name, m.message)
	} else if b > maxQuiet {
		f.fault("params", "expects a refractory time of at most %d bursts, found %g", maxQuiet, b)
	}
}

// sumFits checks that the thresholds of a gradient, up to its far corner, fit float32.
func (a *Area) sumFits(p *parser, f *fields) {
	sum := a.Params["threshold"]
	for i, g := range a.Gradient {
		sum += float64(g * float64(max(a.Size[i], 1)-1))
		if math.Abs(sum) > math.MaxFloat32 {
			f.fault("threshold_gradient", "expects thresholds within ±3.4e38 (float32), found %g at the far corner of the area", sum)
			return
		}
	}
}
