package genome

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
	"burst/internal/quanta"
)

// learner is the plasticity of a projection that is being read.
type learner struct {
	p    *parser
	pr   *Projection
	l    *Learning
	rule Plasticity // the rule with the values of this projection
	node *yaml.Node // of the key plasticity
	at   *path
	f    *fields // nil: only the rule's name is given
	to   *Area
}

// learning reads plasticity and back.
func (p *parser) learning(f *fields, pr *Projection) {
	n, at, _ := f.get("plasticity")
	if n == nil {
		if f.has("back") {
			f.faultKey("back", "", "expects back only beside plasticity, found no plasticity")
		}
		return
	}
	if pr.Rule == Edges && f.lacks("from", "to") {
		f.faultKey("plasticity", "", "expects plasticity only in projections between two areas, found it with a list of the whole network")
		return
	}
	if pr.From < 0 || pr.To < 0 || p.g.Areas[pr.To].Model == nil {
		return
	}
	if a := &p.g.Areas[pr.To]; pr.Port == 0 && !a.Model.BySign() {
		f.fault("to", "expects a port beside the area where weights change, as in to: {area: %s, port: %s}", a.Name, a.Model.Ports[0].Name)
		return
	}
	k := &learner{p: p, pr: pr, l: &Learning{Pos: pos(n)}, node: n, at: at, to: &p.g.Areas[pr.To]}
	before := len(p.faults)
	if k.chosen() && k.params() && k.starts() && k.resolve() && k.bounds() && k.overflow() {
		k.weight(f)
	}
	k.back(f)
	k.beside(f)
	if len(p.faults) == before {
		k.l.Rule, pr.Learning = &k.rule, k.l
	}
}

// fault reports a fault at the key plasticity.
func (k *learner) fault(format string, args ...any) bool {
	k.p.fault(k.node, k.at, "", format, args...)
	return false
}

// chosen finds the rule. It returns false if there is none, or if the rule has a fault.
func (k *learner) chosen() bool {
	name, at := k.node, k.at
	if k.node.Kind == yaml.MappingNode {
		if !hasKey(k.node, "rule") {
			return k.fault("key %q is missing", "rule")
		}
		name, at = valueOf(k.node, "rule"), k.at.key("rule")
	}
	i, ok := k.p.choice(name, at, k.p.plasticityNames())
	if !ok {
		return false
	}
	k.rule = *slices.Concat(k.p.g.Plasticity, k.p.learned)[i]
	if k.rule.Window == WindowNone && k.rule.Definition == nil {
		return false
	}
	k.rule.Modulators = slices.Clone(k.rule.Modulators)
	if k.node.Kind != yaml.MappingNode {
		return true
	}
	keys := learningKeys()
	for i := range k.rule.Params {
		keys = append(keys, key{Name: k.rule.Params[i].Name})
	}
	for i := range k.rule.Modulators {
		keys = append(keys, key{Name: k.rule.Modulators[i].Name})
	}
	for i := range k.rule.Synapse {
		keys = append(keys, key{Name: k.rule.Synapse[i].Name})
	}
	k.f, ok = k.p.fields(k.node, k.at, keys)
	return ok
}

// get is the node of a key in the projection's plasticity; nil if it is absent.
func (k *learner) get(name string) (*yaml.Node, *path) {
	if k.f == nil {
		return nil, nil
	}
	n, at, _ := k.f.get(name)
	return n, at
}

// input is the unit of the projection's weights, for which the unit weight stands.
func (k *learner) input() []Dimension { return []Dimension{k.to.Model.Unit(k.pr.Port), Weight} }

// params fills in the parameters.
func (k *learner) params() (ok bool) {
	k.l.Params = map[string]float64{}
	ok = true
	for i := range k.rule.Params {
		param := &k.rule.Params[i]
		x := param.Default
		if n, at := k.get(param.Name); n != nil {
			given, fine := k.param(n, at, param)
			x, ok = given, ok && fine
		}
		k.l.Params[param.Name] = x
	}
	return ok
}

func (k *learner) param(n *yaml.Node, at *path, param *Param) (float64, bool) {
	dims := []Dimension{param.Dim}
	if param.Dim == Weight {
		dims = k.input()
	}
	if !k.p.alike(n, at) {
		return 0, false
	}
	x, _, ok := k.p.amount(n, at, dims)
	switch {
	case !ok:
		return 0, false
	case x < param.Min || x > param.Max || param.MinOpen && x == param.Min:
		limit := key{Dims: []Dimension{param.Dim}, Min: param.Min, Max: param.Max, MinOpen: param.MinOpen}
		k.p.fault(n, at, "", "expects %s %s, found %s", param.Dim.article(), limit.span(), short(n.Value))
		return 0, false
	case param.Whole && x != math.Floor(x):
		k.p.fault(n, at, "", "expects a whole number, found %s", short(n.Value))
		return 0, false
	}
	return x, true
}

// starts reads what variables of the synapse start from: numbers, distributions or columns of the projection's list.
func (k *learner) starts() bool {
	before := len(k.p.faults)
	for i := range k.rule.Synapse {
		v := &k.rule.Synapse[i]
		n, at := k.get(v.Name)
		if n == nil {
			continue
		}
		dim := v.Start.Dim
		if dim == Weight {
			dim = k.input()[0]
		}
		limit := key{Dims: []Dimension{dim}, Min: v.Limit.Min, Max: v.Limit.Max, MinOpen: v.Limit.MinOpen}
		if isColumn(n) {
			k.listed(n, at, i, &limit)
			continue
		}
		x, ok := k.p.value(n, at, dim)
		if !ok {
			continue
		}
		if lo, hi := x.extent(); lo < v.Limit.Min || hi > v.Limit.Max || v.Limit.MinOpen && lo == v.Limit.Min && !x.LoOpen {
			k.p.fault(n, at, "", "expects %s %s in every draw, found %s; bounds such as > and < behind a distribution, or clip(…), keep draws there", dim.article(), limit.span(), short(n.Value))
			continue
		}
		if k.l.Starts == nil {
			k.l.Starts = map[string]Value{}
		}
		k.l.Starts[v.Name] = x
	}
	return len(k.p.faults) == before
}

// listed reads column(FILE, NAME) or column(FILE, NAME, UNIT) as the start of a variable; FILE is the projection's edge list, which is read
// when the network is built.
func (k *learner) listed(n *yaml.Node, at *path, variable int, limit *key) {
	file, name, by, _, ok := k.p.columnText(n, at, limit.Dims)
	switch {
	case !ok:
		return
	case k.pr.Rule != Edges:
		k.p.fault(n, at, "", "expects a number or a distribution for a variable of the synapses, found the column %s; columns want the rule edges", short(n.Value))
		return
	case file != k.pr.File:
		k.p.fault(n, at, Nearest(file, []string{k.pr.File}), "expects a column of the projection's list %s, found the file %q", short(k.pr.File), short(file))
		return
	}
	k.l.Listed = append(k.l.Listed, ListedStart{Pos: pos(n), Variable: variable, Column: name, Take: func(x float64) (float64, string) {
		x, wrong := by.float32(x)
		if wrong == "" && (x < limit.Min || x > limit.Max || limit.MinOpen && x == limit.Min) {
			wrong = fmt.Sprintf("%g, want %s %s", x, limit.Dims[0].article(), limit.span())
		}
		return x, wrong
	}})
}

// of is the node for faults of a value: that of the parameter if the projection gives it, else that of plasticity.
func (k *learner) of(v RuleValue) (*yaml.Node, *path) {
	if _, is := k.l.Params[v.Name]; is {
		if n, at := k.get(v.Name); n != nil {
			return n, at
		}
	}
	return k.node, k.at
}

// value computes a value. A value that float32 cannot hold is a fault.
func (k *learner) value(v RuleValue, what string) (float64, bool) {
	x := k.l.Value(v, k.p.g.Timestep)
	if y := float64(float32(x)); math.IsNaN(y) || math.IsInf(y, 0) {
		n, at := k.of(v)
		k.p.fault(n, at, "", "expects a finite %s, found %s of the rule %s, which is %g here", what, v.text(), k.rule.Name, x)
		return 0, false
	}
	return x, true
}

// resolve computes all values that depend on parameters, and checks the target area and the network.
func (k *learner) resolve() bool {
	before := len(k.p.faults)
	k.l.Rule = &k.rule
	for _, list := range [][]Trace{k.rule.Pre, k.rule.Post} {
		for i := range list {
			k.tau(list[i].Tau, "trace "+list[i].Name)
			k.value(list[i].Amount, "amount of the trace "+list[i].Name)
		}
	}
	for i := range k.rule.Modulators {
		k.modulator(&k.rule.Modulators[i])
	}
	for _, list := range [][]RuleVariable{k.rule.Source, k.rule.Synapse} {
		for _, v := range list {
			k.value(v.Start, "start of "+v.Name)
		}
	}
	if v := k.rule.every; v.Name != "" {
		n, at := k.of(v)
		limit, x := key{Low: 1, High: maxRun}, k.l.Value(v, k.p.g.Timestep)
		k.rule.Every = uint64(k.p.wholeOf(n, at, "sweep", x, v.Dim, &limit))
	}
	var state []string
	for _, v := range k.to.Model.State {
		state = append(state, v.Name)
	}
	if k.to.Model.Event != "" && len(k.rule.Target) > 0 {
		k.fault("reads %s of a target, but neurons of the model %s (area %s) change at inputs alone; want a target of the model %s, or a rule that reads spikes alone",
			strings.Join(k.rule.Target, ", "), k.to.Model.Name, k.to.Name, k.to.Model.Event)
		return false
	}
	for _, name := range k.rule.Target {
		if !slices.Contains(state, name) {
			k.fault("expects a target whose model has the state variables %s, found %s, whose model %s has %s and no %s",
				strings.Join(k.rule.Target, ", "), k.to.Name, k.to.Model.Name, strings.Join(state, ", "), name)
			break
		}
	}
	if len(k.p.faults) > before || k.rule.Window != WindowNone {
		return len(k.p.faults) == before
	}
	k.exponents()
	k.constants()
	return len(k.p.faults) == before
}

func (k *learner) tau(v RuleValue, what string) {
	if x, ok := k.value(v, "time constant of the "+what); ok && x <= 0 {
		n, at := k.of(v)
		k.p.fault(n, at, "", "expects a time constant above 0 ms for the %s, found %s, which is %g ms here", what, v.text(), x)
	}
}

// modulator finds a modulator's area and computes its delay.
func (k *learner) modulator(m *Modulator) {
	k.tau(m.Tau, "modulator "+m.Name)
	k.value(m.Amount, "amount of the modulator "+m.Name)
	n, at := k.of(m.delay)
	limit := key{Low: 1, High: quanta.MaxDelay}
	m.Delay = k.p.wholeOf(n, at, "delay", k.l.Value(m.delay, k.p.g.Timestep), m.delay.Dim, &limit)
	switch n, at := k.get(m.Name); {
	case n != nil && k.p.areaAt(n, at) >= 0:
		m.From = n.Value
	case n == nil && m.From == "":
		k.fault("expects the area whose spikes raise the modulator %s of the rule %s, as in {rule: %s, %s: AREA}", m.Name, k.rule.Name, k.rule.Name, m.Name)
	}
}

// exponents compiles the programs again, without pow where an exponent is 0, 1 or 2.
func (k *learner) exponents() {
	known := map[string]float64{}
	for _, name := range k.rule.Definition().Exponents() {
		if x, is := k.l.Params[name]; is {
			known[name] = x
		}
	}
	if len(known) == 0 {
		return
	}
	name := k.rule.Name + fmt.Sprint(known)
	if k.p.known[name] == nil {
		source := *k.rule.source
		source.Known = known
		made, faults := formula.DefineRule(&source)
		if faults != nil {
			panic("BUG: " + faults[0].Message)
		}
		if k.p.known == nil {
			k.p.known = map[string]*formula.Rule{}
		}
		k.p.known[name] = made
	}
	made := k.p.known[name]
	k.rule.Definition = func() *Handlers { return made }
}

// constants checks that constants are finite and that no decay has a time below 0.
func (k *learner) constants() {
	for _, c := range k.rule.source.Constants {
		k.value(RuleValue{Name: c.Name}, "constant "+c.Name)
	}
	if h := k.rule.Definition().OnSource; h != nil {
		for _, name := range h.Decays {
			v := RuleValue{Name: name}
			if x, ok := k.value(v, "time"); ok && x < 0 {
				n, at := k.of(v)
				k.p.fault(n, at, "", "expects a time of at least 0 ms, found decay(%s), which is %g ms here", name, x)
			}
		}
	}
}

// bounds computes the least and largest weight.
func (k *learner) bounds() bool {
	b, n, at := k.rule.Bounds, k.node, k.at
	if given, where := k.get("bounds"); given != nil {
		d := &ruleDraft{&draft{p: k.p, f: k.f}, &k.rule, &formula.RuleSource{}}
		for i := range k.rule.Params {
			d.source.Params = append(d.source.Params, k.rule.Params[i].Name)
		}
		if k.rule.source != nil {
			d.source.Constants = k.rule.source.Constants
		}
		if b, n, at = d.bounds(k.f), given, where; b == nil {
			return false
		}
	}
	if b == nil {
		return k.fault("key %q is missing: the rule %s has no least and largest weight of its own", "bounds", k.rule.Name)
	}
	unit := k.to.Model.Unit(k.pr.Port)
	for i, into := range []*float64{&k.l.Lo, &k.l.Hi} {
		v := b[i]
		if v.Dim != Weight && v.Dim != unit && (v.Name != "" || v.Number != 0) && !k.constant(v) {
			k.p.fault(n, at, "", "expects bounds in the unit of the weights onto %s, %s such as %s, found %s, which is %s", k.to.Name, unit.article(), unit.example(), v.text(), v.Dim.article())
			return false
		}
		x, ok := k.value(v, "bound")
		if !ok {
			return false
		}
		*into = x
	}
	lo, hi := k.l.Lo, k.l.Hi
	switch root := ""; {
	case lo > hi:
		k.p.fault(n, at, "", "expects the lower bound first, found %g and %g", lo, hi)
	case k.pr.Port == 0 && len(k.to.Model.Ports) > 1 && lo < 0 && hi > 0:
		k.p.fault(n, at, "", "expects bounds on one side of 0, or a port beside the area, found %g and %g: the model %s of %s has one input for weights ≥ 0 and another for weights < 0", lo, hi, k.to.Model.Name, k.to.Name)
	default:
		if k.rule.Definition != nil {
			root = k.rule.Definition().NoNegative()
		}
		if lo >= 0 || root == "" {
			return true
		}
		k.p.fault(n, at, "", "expects a lower bound of at least 0 for the rule %s, which takes %s of w, found %g; abs(w) or max(w, 0) instead of w allows weights below 0", k.rule.Name, root, lo)
	}
	return false
}

// constant reports whether a value is a constant of the rule, which has no unit.
func (k *learner) constant(v RuleValue) bool {
	return k.rule.source != nil && slices.ContainsFunc(k.rule.source.Constants, func(c formula.Line) bool { return c.Name == v.Name })
}

// overflow reads what becomes of bounds that do not fit. Other rules are held within theirs in many places, so that FEAGI's alone may fail.
func (k *learner) overflow() bool {
	choice := 0
	if n, at := k.get("overflow"); n != nil {
		var ok bool
		if choice, ok = k.p.choice(n, at, overflows()); !ok {
			return false
		}
		if k.l.Fail = choice > 0; k.l.Fail && k.rule.Window == WindowNone {
			k.p.fault(n, at, "", "expects overflow: fail only with one of FEAGI's rules, found it with the rule %s", k.rule.Name)
			return false
		}
	}
	return true
}

// weight checks that initial weights lie within the bounds, as far as they are known before the network is built.
func (k *learner) weight(f *fields) {
	n, at, _ := f.get("weight")
	v, factor := k.pr.Weight, k.p.g.Areas[k.pr.From].Factor()
	if n == nil || v.Kind != Const && (v.Kind != Uniform || v.Clip) {
		return
	}
	low, high := v.A, v.A
	if v.Kind == Uniform {
		low, high = max(v.A, v.Lo), min(v.B, v.Hi)
	}
	low, high = float64(low*factor), float64(high*factor)
	if factor < 0 {
		low, high = high, low
	}
	if low >= k.l.Lo && high <= k.l.Hi {
		return
	}
	with := ""
	if factor != 1 {
		with = ", with the psp of " + k.p.g.Areas[k.pr.From].Name
	}
	if low == high {
		k.p.fault(n, at, "", "expects a weight within the bounds %g…%g of its plasticity, found %g%s", k.l.Lo, k.l.Hi, low, with)
	} else {
		k.p.fault(n, at, "", "expects weights within the bounds %g…%g of their plasticity, found %g…%g%s", k.l.Lo, k.l.Hi, low, high, with)
	}
}

// back reads the dendritic share of the delay.
func (k *learner) back(f *fields) {
	back := uint64(0)
	if !f.bursts("back", &back) || back == 0 {
		return
	}
	k.l.Back = float64(back)
	switch d := k.pr.Delay; {
	case d.Kind != Const || k.pr.Rule == Edges:
		f.fault("back", "expects 0 where delays differ from synapse to synapse, found %d", back)
	case k.l.Back > d.A:
		f.fault("back", "expects at most the delay, %g bursts, found %d", d.A, back)
	case k.rule.When:
		f.fault("back", "expects 0 for the rule %s, whose post events are set by a condition, found %d", k.rule.Name, back)
	case k.rule.Window != WindowNone:
		f.fault("back", "expects 0 for the rule %s, which takes spikes at the time when they are fired, found %d", k.rule.Name, back)
	}
}

// beside refuses keys that exclude plasticity.
func (k *learner) beside(f *fields) {
	if k.pr.Merge {
		f.faultKey("merge", "", "expects either merge or plasticity, found both: a merged synapse has weights of several projections")
	}
	if k.rule.Name == "" {
		return // it is refused
	}
	switch from := &k.p.g.Areas[k.pr.From]; {
	case k.rule.Window != WindowNone:
		if from.PSPMax == 0 { // else they have been checked
			k.p.delaysUpTo(f, k.pr.Delay, quanta.MaxApart, ", which is the most for the rule "+k.rule.Name)
		}
	case from.PSPMax > 0:
		k.fault("expects one of FEAGI's rules, or a source area without psp_max, found the rule %s and %s, whose potentials multiply weights", k.rule.Name, from.Name)
	case from.DividePSP:
		k.fault("expects one of FEAGI's rules, or a source area without divide_psp, found the rule %s and %s, whose divide_psp divides weights", k.rule.Name, from.Name)
	}
}

// Frozen is the genome with the rule off in place of the rule of every projection that learns, with the bounds that it had:
// weights stay as they are. FEAGI's rules, which also divide and have no ceiling, stay with the constant 0. Like With it wants a genome
// that has a text.
func (g *Genome) Frozen() (*Genome, error) {
	var settings []string
	for i := range g.Projections {
		l := g.Projections[i].Learning
		if l == nil || i > 0 && g.Projections[i-1].Learning != nil && g.Projections[i-1].place == g.Projections[i].place {
			continue // an entry of the list is set once
		}
		text := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) + " weight" }
		rule := "off"
		if l.Rule.Window != WindowNone {
			rule = fmt.Sprintf("%s, window: %g, constant: 0", l.Rule.Name, l.Params["window"])
		}
		if l.Fail {
			rule += ", overflow: fail"
		}
		settings = append(settings, fmt.Sprintf("projections.%d.plasticity={rule: %s, bounds: [%s, %s]}", g.Projections[i].place, rule, text(l.Lo), text(l.Hi)))
	}
	if settings == nil {
		return g, nil
	}
	return g.With(settings)
}
