package genome

import (
	"math/bits"
	"slices"

	"burst/internal/quanta"

	"gopkg.in/yaml.v3"

	"burst/internal/formula"
)

// projections reads all projections: a list, or a table alone.
func (p *parser) projections(f *fields) {
	n, at, _ := f.get("projections")
	if n != nil && n.Kind == yaml.MappingNode {
		p.table(n, at)
		return
	}
	for i, n := range f.list("projections") {
		if isTable(n) {
			p.table(n, at.item(i))
		} else {
			p.eachPair(n, at.item(i))
		}
	}
}

// maxPairs bounds the projections of lists of areas, which no short text may unfold into many.
const maxPairs = 1 << 16

// eachPair reads an entry of the list of projections: one for each pair of areas, where from or to are lists of them.
func (p *parser) eachPair(n *yaml.Node, at *path) {
	from, to := areasOf(n, "from"), areasOf(n, "to")
	if from == nil && to == nil {
		p.projection(n, at)
		return
	}
	if from == nil {
		from = []*yaml.Node{valueOf(n, "from")}
	}
	if to == nil {
		to = []*yaml.Node{valueOf(n, "to")}
	}
	if p.pairs += len(from) * len(to); p.pairs > maxPairs {
		p.fault(n, at, "", "expects at most %d pairs of areas in all lists, found %d up to here; a table of projections has room for more", maxPairs, p.pairs)
		return
	}
	before := len(p.faults)
	for _, source := range from {
		for _, target := range to {
			pair, start := *n, len(p.faults)
			pair.Content = slices.Clone(n.Content)
			for key, area := range map[string]*yaml.Node{"from": source, "to": target} {
				if area != n { // else the key is missing
					setKey(&pair, key, area)
				}
			}
			p.projection(&pair, at)
			for i := start; i < len(p.faults); { // what is wrong with all pairs is said once
				if slices.Contains(p.faults[before:start], p.faults[i]) {
					p.faults = slices.Delete(p.faults, i, i+1)
				} else {
					i++
				}
			}
		}
	}
}

// areasOf are the values that a list of areas stands for, which may stand beside a port; nil where there is no list.
func areasOf(n *yaml.Node, key string) (all []*yaml.Node) {
	v := valueOf(n, key)
	if v.Kind == yaml.SequenceNode && len(v.Content) > 0 {
		return v.Content
	}
	list := valueOf(v, "area")
	if v == n || list.Kind != yaml.SequenceNode {
		return nil
	}
	for _, area := range list.Content {
		one := *v
		one.Content = slices.Clone(v.Content)
		setKey(&one, "area", area)
		all = append(all, &one)
	}
	return all
}

// projection reads one projection, of a pair of areas in the text or of a table's row.
func (p *parser) projection(n *yaml.Node, at *path) {
	if p.full() {
		return
	}
	f, ok := p.fields(n, at, projectionKeys())
	if !ok {
		return
	}
	pr := Projection{Pos: pos(n), place: at.index, From: f.areaOf("from")}
	rule := -1
	chosen := f.choice("rule", &rule)
	pr.To, pr.Port = f.target("to", rule == int(Edges))
	if chosen {
		pr.Rule = Rule(rule)
		f.only("rule", pr.Rule.String())
		p.rule(f, &pr)
	}
	made := uint64(100)
	f.whole("attractivity", &made)
	pr.LeaveOut = 100 - made
	f.flag("last_of_voxel", &pr.LastOnly)
	if f.flag("first_of_voxel", &pr.Foremost); pr.Foremost && pr.LastOnly {
		f.fault("first_of_voxel", "found it beside last_of_voxel, want one of them: the first neuron of a voxel or the last")
	}
	f.flag("merge", &pr.Merge)
	if pr.Merge && pr.Port == 0 && pr.To >= 0 && p.g.Areas[pr.To].Model != nil && len(p.g.Areas[pr.To].Model.Ports) != 1 {
		f.fault("merge", "expects a target area with one input per neuron, or a port beside the area, found %s, whose model %s has one input for weights ≥ 0 and another for weights < 0",
			p.g.Areas[pr.To].Name, p.g.Areas[pr.To].Model.Name)
	}
	p.ends(f, &pr)
	p.weight(f, &pr)
	p.delay(f, &pr)
	p.learning(f, &pr)
	if p.row != nil {
		pr.Table, pr.Row = p.row.table.file, p.row.number+1
	}
	p.g.Projections = append(p.g.Projections, pr)
}

func (p *parser) weight(f *fields, pr *Projection) {
	n, at, _ := f.get("weight")
	if n == nil || pr.To < 0 || p.g.Areas[pr.To].Model == nil {
		return
	}
	v, ok := p.placed(n, at, p.g.Areas[pr.To].Model.Unit(pr.Port), pr)
	pr.Weight = v
	if v.Of != nil && v.Of.ReadsPlace() {
		p.places(f, pr, "weight")
	}
	if !ok || pr.From < 0 {
		return
	}
	from := &p.g.Areas[pr.From]
	switch w := float64(v.Mean() * from.Factor()); {
	case from.DividePSP && v.Kind != Const:
		p.fault(n, at, "", "expects one number from an area with divide_psp, found a distribution")
	case v.Kind == Distance:
	case !p.fits(n, at, w) || from.DividePSP: // divided weights never round to 0
	default:
		p.quanta(n, at, w)
	}
}

func (p *parser) delay(f *fields, pr *Projection) {
	n, at, _ := f.get("delay")
	if n == nil {
		pr.Delay = Value{Pos: pr.Pos, A: 1, Lo: -inf, Hi: inf}
		return
	}
	v, ok := p.placed(n, at, Bursts, pr)
	if pr.Delay = v; !ok || p.timestep == 0 {
		return
	}
	switch v.Kind {
	case Distance:
		if v.Of.ReadsPlace() {
			p.places(f, pr, "delay")
		}
	case Const:
		b, m := wholeBursts(v.A, p.timestep)
		if m != nil {
			p.mistake(n, at, m)
			return
		}
		pr.Delay.A = b
	}
	if pr.From >= 0 && p.g.Areas[pr.From].PSPMax > 0 {
		p.delaysUpTo(f, pr.Delay, quanta.MaxApart, ", which is the most from an area with psp_max")
	} else {
		p.delaysUpTo(f, pr.Delay, quanta.MaxDelay, "")
	}
}

// delaysUpTo checks that delays are 1 burst to so many, as far as is known before they are drawn.
func (p *parser) delaysUpTo(f *fields, v Value, most int, of string) {
	n, at, _ := f.get("delay")
	if n == nil || p.timestep == 0 {
		return
	}
	switch v.Kind {
	case Const:
		if _, ok := quanta.Delay(v.A, most); !ok {
			p.fault(n, at, "", "expects a delay of 1…%d bursts of %g ms%s, found %g", most, p.timestep, of, v.A)
		}
	case Uniform:
		low, high := max(v.A, v.Lo), min(v.B, v.Hi)
		if v.Clip {
			low, high = min(low, v.Hi), max(high, v.Lo)
		}
		_, lowest := quanta.Delay(low, most)
		if _, longest := quanta.Delay(high, most); !lowest || !longest {
			p.fault(n, at, "", "expects delays of 1…%d bursts of %g ms%s, found %g…%g", most, p.timestep, of, low, high)
		}
	}
}

// rule reads the keys of the projection's rule and checks them against its areas.
func (p *parser) rule(f *fields, pr *Projection) {
	autapses, multapses := true, true
	f.flag("autapses", &autapses)
	f.flag("multapses", &multapses)
	pr.NoAutapses, pr.NoMultapses = !autapses, !multapses
	switch r := &p.rules[pr.Rule]; {
	case r.voxels != nil:
		m := Mapper{Rule: pr.Rule}
		r.voxels(p, f, &m)
		m.onto(pr)
	default:
		r.read(p, f, pr)
	}
}

func (p *parser) indegree(f *fields, pr *Projection) {
	f.must("indegree", "fixed_indegree")
	f.whole("indegree", &pr.Indegree)
	p.enough(f, pr, "indegree", pr.Indegree, pr.From)
	p.kernel(f, pr, "kernel")
}

func (p *parser) outdegree(f *fields, pr *Projection) {
	f.must("outdegree", "fixed_outdegree")
	f.whole("outdegree", &pr.Outdegree)
	p.enough(f, pr, "outdegree", pr.Outdegree, pr.To)
	p.kernel(f, pr, "kernel")
}

func (p *parser) bernoulli(f *fields, pr *Projection) {
	f.must("p", "pairwise_bernoulli")
	if n, at, _ := f.get("p"); n != nil && n.Kind == yaml.ScalarNode && formula.IsKernel(n.Value) {
		p.fault(n, at, "", "expects a number for pairwise_bernoulli, found a formula of pairs; the rule distance takes one")
	} else {
		f.number("p", &pr.P)
	}
	f.symmetric(pr)
}

// must reports a missing key that the rule needs.
func (f *fields) must(name, rule string) {
	if f.lacks(name) {
		f.p.fault(f.node, f.at, "", "key %q is missing; the rule %s needs it", name, rule)
	}
}

// sizes are the numbers of neurons of both areas; 0 if an area has a fault.
func (p *parser) sizes(pr *Projection) (from, to uint64) {
	if pr.From >= 0 && pr.To >= 0 {
		from, to = p.g.Areas[pr.From].Neurons(), p.g.Areas[pr.To].Neurons()
	}
	return from, to
}

// oneToOne checks that both areas have as many neurons.
func (p *parser) oneToOne(f *fields, pr *Projection) {
	if from, to := p.sizes(pr); from != to && from > 0 && to > 0 {
		f.fault("rule", "expects areas of equal size for one_to_one, found %d neurons in %s and %d in %s",
			from, p.g.Areas[pr.From].Name, to, p.g.Areas[pr.To].Name)
	}
}

// enough checks that an area has as many partners for a neuron as the degree needs.
func (p *parser) enough(f *fields, pr *Projection, name string, degree uint64, area int) {
	from, to := p.sizes(pr)
	if from == 0 || to == 0 || degree == 0 {
		return
	}
	partners, but := p.g.Areas[area].Neurons(), ""
	if pr.NoAutapses && pr.From == pr.To {
		partners, but = partners-1, " besides itself"
	}
	switch {
	case partners == 0:
		f.fault(name, "expects a partner for every neuron, found none%s in %s", but, p.g.Areas[area].Name)
	case pr.NoMultapses && degree > partners:
		f.fault(name, "expects at most %d without multapses, the number of neurons%s in %s, found %d", partners, but, p.g.Areas[area].Name, degree)
	}
}

// totalNumber reads fixed_total_number, and checks that there are enough pairs.
func (p *parser) totalNumber(f *fields, pr *Projection) {
	f.must("count", "fixed_total_number")
	f.whole("count", &pr.Count)
	from, to := p.sizes(pr)
	if from == 0 || to == 0 || pr.Count == 0 {
		return
	}
	if pr.NoAutapses && pr.From == pr.To {
		to--
	}
	high, pairs := bits.Mul64(from, to)
	switch {
	case high == 0 && pairs == 0:
		f.fault("count", "expects a pair of neurons to connect, found none without autapses")
	case high == 0 && pr.NoMultapses && pr.Count > pairs:
		f.fault("count", "expects at most %d without multapses, the number of pairs of neurons, found %d", pairs, pr.Count)
	}
}
