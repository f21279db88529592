package genome

import (
	"math"
	"math/bits"

	"gopkg.in/yaml.v3"
)

// projection reads one projection.
func (p *parser) projection(n *yaml.Node, at *path) {
	if p.full() {
		return
	}
	f, ok := p.fields(n, at, projectionKeys())
	if !ok {
		return
	}
	pr := Projection{Pos: pos(n), From: f.areaOf("from"), To: f.inputArea("to")}
	rule := -1
	if f.choice("rule", &rule) {
		pr.Rule = Rule(rule)
		f.only("rule", pr.Rule.String())
		p.rule(f, &pr)
	}
	made := uint64(100)
	f.whole("attractivity", &made)
	pr.LeaveOut = 100 - made
	f.flag("merge", &pr.Merge)
	if pr.Merge && pr.To >= 0 && p.g.Areas[pr.To].Model != nil && p.g.Areas[pr.To].Model.Ports != 1 {
		f.fault("merge", "expects a target area with one input a neuron, found %s, whose model %s keeps weights of either sign apart",
			p.g.Areas[pr.To].Name, p.g.Areas[pr.To].Model.Name)
	}
	p.ends(f, &pr)
	p.weight(f, &pr)
	p.delay(f, &pr)
	p.g.Projections = append(p.g.Projections, pr)
}

func (p *parser) weight(f *fields, pr *Projection) {
	n, at, _ := f.get("weight")
	if n == nil || pr.To < 0 || p.g.Areas[pr.To].Model == nil {
		return
	}
	v, ok := p.value(n, at, p.g.Areas[pr.To].Model.Input)
	pr.Weight = v
	if !ok || pr.From < 0 {
		return
	}
	from := &p.g.Areas[pr.From]
	switch w := float64(v.Mean() * from.Factor()); {
	case from.DividePSP && v.Kind != Const:
		p.fault(n, at, "", "expects one number from an area with divide_psp, found a distribution")
	case !p.fits(n, at, w) || from.DividePSP: // what is divided is rounded up, never to 0
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
	v, ok := p.value(n, at, Bursts)
	if pr.Delay = v; !ok || p.timestep == 0 {
		return
	}
	switch v.Kind {
	case Const:
		b, m := wholeBursts(v.A, p.timestep)
		if m != nil {
			p.mistake(n, at, m)
			return
		}
		if pr.Delay.A = b; b < 1 || b > maxDelay {
			p.fault(n, at, "", "expects a delay of 1…%d bursts of %g ms, found %g", maxDelay, p.timestep, b)
		}
	case Uniform:
		low, high := max(v.A, v.Lo), min(v.B, v.Hi)
		if v.Clip {
			low, high = min(low, v.Hi), max(high, v.Lo)
		}
		if math.Round(low) < 1 || math.Round(high) > maxDelay {
			p.fault(n, at, "", "expects delays of 1…%d bursts of %g ms, found %g…%g", maxDelay, p.timestep, low, high)
		}
	}
}

// rule reads the keys of the projection's rule and checks them against its areas.
func (p *parser) rule(f *fields, pr *Projection) {
	autapses, multapses := true, true
	f.flag("autapses", &autapses)
	f.flag("multapses", &multapses)
	pr.NoAutapses, pr.NoMultapses = !autapses, !multapses
	switch pr.Rule {
	case OneToOne:
		p.equal(f, pr)
	case FixedIndegree:
		f.must("indegree", "fixed_indegree")
		f.whole("indegree", &pr.Indegree)
		p.enough(f, pr, "indegree", pr.Indegree, pr.From)
	case FixedOutdegree:
		f.must("outdegree", "fixed_outdegree")
		f.whole("outdegree", &pr.Outdegree)
		p.enough(f, pr, "outdegree", pr.Outdegree, pr.To)
	case FixedTotalNumber:
		f.must("count", "fixed_total_number")
		f.whole("count", &pr.Count)
		p.enoughPairs(f, pr)
	case PairwiseBernoulli:
		f.must("p", "pairwise_bernoulli")
		f.number("p", &pr.P)
	case Composite:
		p.composite(f, pr)
	case Edges:
		f.must("file", "edges")
		p.edges(f, pr)
	default:
		p.voxelRule(f, Mapper{Rule: pr.Rule}).onto(pr)
	}
}

// must demands a key that the rule needs.
func (f *fields) must(name, rule string) {
	if f.lacks(name) {
		f.p.fault(f.node, f.at, "", "key %q is missing, which the rule %s needs", name, rule)
	}
}

// sizes are the neurons of both areas, 0 while an area is at fault.
func (p *parser) sizes(pr *Projection) (from, to uint64) {
	if pr.From >= 0 && pr.To >= 0 {
		from, to = p.g.Areas[pr.From].Neurons(), p.g.Areas[pr.To].Neurons()
	}
	return from, to
}

func (p *parser) equal(f *fields, pr *Projection) {
	if from, to := p.sizes(pr); from != to && from > 0 && to > 0 {
		f.fault("rule", "expects areas of equal size for one_to_one, found %d neurons in %s and %d in %s",
			from, p.g.Areas[pr.From].Name, to, p.g.Areas[pr.To].Name)
	}
}

// enough checks that a neuron finds as many partners in an area as the degree asks for.
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
		f.fault(name, "expects at most %d without multapses, the neurons%s of %s, found %d", partners, but, p.g.Areas[area].Name, degree)
	}
}

// enoughPairs checks fixed_total_number likewise.
func (p *parser) enoughPairs(f *fields, pr *Projection) {
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
		f.fault("count", "expects at most %d without multapses, the pairs of neurons, found %d", pairs, pr.Count)
	}
}
