package genome

import (
	"fmt"
	"slices"
	"strings"
)

// record reads what a run is to record.
func (p *parser) record(f *fields) {
	n, at, k := f.get("record")
	if n == nil {
		return
	}
	r, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	said, spikes, _ := r.get("spikes")
	if said != nil {
		p.g.Record.Spikes = []int{}
	}
	for i, n := range r.list("spikes") {
		if a := p.areaAt(n, spikes.item(i)); a >= 0 {
			p.g.Record.Spikes = append(p.g.Record.Spikes, a)
		}
	}
	_, potentials, pk := r.get("potentials")
	for i, n := range r.list("potentials") {
		if e, ok := p.fields(n, potentials.item(i), pk.Item.Keys); ok {
			a := e.areaOf("area")
			if a >= 0 && p.g.Areas[a].Source() {
				e.fault("area", "expects an area whose neurons have a potential, found %s, whose model %s is a source: only its spikes can be recorded", p.g.Areas[a].Name, p.g.Areas[a].Model.Name)
			}
			if e.lacks("neurons", "voxels") {
				p.fault(n, potentials.item(i), "", "expects neurons or voxels, found neither")
			}
			p.g.Record.Potentials = append(p.g.Record.Potentials, Potentials{Area: a, Neurons: e.addressed(a)})
		}
	}
	p.recordVariables(r)
	r.flag("fcl", &p.g.Record.FCL)
	p.recordWeights(r)
}

// recordVariables reads which state variables and inputs are kept.
func (p *parser) recordVariables(r *fields) {
	_, list, k := r.get("variables")
	for i, n := range r.list("variables") {
		e, ok := p.fields(n, list.item(i), k.Item.Keys)
		if !ok {
			continue
		}
		a := e.areaOf("area")
		if a >= 0 && p.g.Areas[a].Source() {
			e.fault("area", "expects an area whose neurons have variables, found %s, whose model %s is a source: only its spikes can be recorded", p.g.Areas[a].Name, p.g.Areas[a].Model.Name)
			continue
		}
		if e.lacks("neurons", "voxels") {
			p.fault(n, list.item(i), "", "expects neurons or voxels, found neither")
		}
		v := Variables{Area: a, Neurons: e.addressed(a), Every: 1}
		e.bursts("every", &v.Every)
		_, at, _ := e.get("names")
		for i, n := range e.list("names") {
			name, ok := p.name(n, at.item(i))
			if !ok || a < 0 || p.g.Areas[a].Model == nil {
				continue
			}
			m := p.g.Areas[a].Model
			if names := m.Recordable(); !slices.Contains(names, name) {
				p.fault(n, at.item(i), Nearest(name, names), "expects a state variable or an input of the model %s (%s), found %s", m.Name, strings.Join(names, ", "), found(n))
			}
			v.Names = append(v.Names, name)
		}
		p.g.Record.Variables = append(p.g.Record.Variables, v)
	}
}

// recordWeights reads which weights are kept.
func (p *parser) recordWeights(r *fields) {
	keep := true
	if r.flag("histograms", &keep) {
		p.g.Record.NoHistograms = !keep
	}
	n, at, k := r.get("weights")
	if n == nil {
		return
	}
	w, ok := p.fields(n, at, k.Keys)
	if !ok {
		return
	}
	w.bursts("every", &p.g.Record.Every)
	_, synapses, k := w.get("synapses")
	for i, n := range w.list("synapses") {
		e, ok := p.fields(n, synapses.item(i), k.Item.Keys)
		if !ok {
			continue
		}
		s := Synapses{From: e.areaOf("from"), To: e.areaOf("to"), Share: 1}
		e.number("share", &s.Share)
		if s.From < 0 || s.To < 0 {
			continue
		}
		if e.has("sources") {
			s.Sources = e.neuronsOf("sources", &p.g.Areas[s.From])
		}
		if e.has("targets") {
			s.Targets = e.neuronsOf("targets", &p.g.Areas[s.To])
		}
		if why := p.g.Learns(s.From, s.To); why != "" && len(p.faults) == 0 { // a projection at fault may be one that learns
			p.fault(n, synapses.item(i), "", "expects areas between which a projection learns, %s", why)
		}
		p.g.Record.Weights = append(p.g.Record.Weights, s)
	}
}

// Learns says, where no projection between two areas learns, which do; empty: one does.
func (g *Genome) Learns(from, to int) string {
	var pairs []string
	for i := range g.Projections {
		p := &g.Projections[i]
		switch {
		case p.Learning == nil:
		case p.From == from && p.To == to:
			return ""
		default:
			if pair := g.Areas[p.From].Name + " to " + g.Areas[p.To].Name; !slices.Contains(pairs, pair) && len(pairs) < mostPairs {
				pairs = append(pairs, pair)
			}
		}
	}
	if pairs == nil {
		return fmt.Sprintf("found %s to %s in a genome where none does", g.Areas[from].Name, g.Areas[to].Name)
	}
	return fmt.Sprintf("such as %s, found %s to %s", strings.Join(pairs, ", "), g.Areas[from].Name, g.Areas[to].Name)
}

// mostPairs is how many pairs of areas an error names.
const mostPairs = 12
