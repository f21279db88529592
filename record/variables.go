package record

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// Series is a state variable or an input of a neuron that the table of variables keeps.
type Series struct {
	Neuron uint32
	Name   uint32 // place in Plan.Names
	Every  uint64 // bursts: kept are those whose number is a multiple
	Value  int    // place in Plan.Values; −1: the sum at Port
	Port   uint32
}

// mostSeries bounds what a row for each takes in memory in a burst.
const mostSeries = 1 << 22

// variableRequest reads what --record says behind variables=: all, none, or AREA.NAME and AREA[FROM..TO].NAME, and then every and an
// interval.
func variableRequest(g *genome.Genome, c *connectome.Connectome, text string) ([]genome.Variables, error) {
	what, every, timed := strings.Cut(text, " every ")
	n := uint64(1)
	if timed {
		var err error
		if n, err = interval(strings.TrimSpace(every), c.Timestep); err != nil {
			return nil, err
		}
	}
	var list []genome.Variables
	switch what {
	case "none":
		return nil, nil
	case "all":
		for i := range g.Areas {
			v := genome.Variables{Area: i, Every: n}
			for _, x := range g.Areas[i].Model.State {
				v.Names = append(v.Names, x.Name)
			}
			list = append(list, v)
		}
		return list, nil
	}
	for _, part := range strings.Split(what, ",") {
		at := strings.LastIndexByte(part, '.')
		if at < strings.LastIndexByte(part, ']') || at < 0 {
			return nil, fmt.Errorf("%q, want all, none, or areas with a state variable or an input of their neurons, such as L4E.V or L4E[0..9].V, then perhaps every and bursts", part)
		}
		area, neurons, err := neuronsOf(g, c, part[:at])
		if err != nil {
			return nil, err
		}
		a := &g.Areas[area]
		if a.Source() {
			return nil, fmt.Errorf("area %q has no variables, its model %s is a source; only its spikes can be recorded: spikes=%s", a.Name, a.Model.Name, part[:at])
		}
		if _, err := a.Model.FindRecordable(part[at+1:]); err != nil {
			return nil, err
		}
		list = append(list, genome.Variables{Area: area, Neurons: neurons, Names: []string{part[at+1:]}, Every: n})
	}
	return list, nil
}

// series adds the table of variables to the plan, and that of potentials of these neurons, ascending.
func (p *Plan) series(g *genome.Genome, c *connectome.Connectome, wanted []genome.Variables, potentials []uint32) error {
	var probes []engine.Probe // of Variables; those of inputs stay empty
	p.Names = variableNames(g, wanted)
	for i := range wanted {
		w := &wanted[i]
		a := &c.Areas[w.Area]
		each := uint64(len(w.Neurons))
		if w.Neurons == nil {
			each = uint64(a.Neurons.Count)
		}
		if total := uint64(len(p.Variables)) + each*uint64(len(w.Names)); total > mostSeries {
			return fmt.Errorf("%d of %s and others chosen, want at most %d, such as %s[0..999].%s", total, a.Name, mostSeries, a.Name, w.Names[0])
		}
		for _, name := range w.Names {
			k, err := a.Model.FindRecordable(name)
			if err != nil {
				return err
			}
			s := Series{Name: uint32(slices.Index(p.Names, name)), Every: w.Every}
			for j := range uint32(each) {
				n := j
				if w.Neurons != nil {
					n = w.Neurons[j]
				}
				s.Neuron, s.Value = a.Neurons.First+n, k
				if port := k - len(a.Model.State); port >= 0 {
					s.Value, s.Port = -1, a.Ports.First+uint32(port)*a.Neurons.Count+n
				}
				p.Variables = append(p.Variables, s)
			}
		}
	}
	slices.SortFunc(p.Variables, func(a, b Series) int { return cmp.Or(cmp.Compare(a.Neuron, b.Neuron), cmp.Compare(a.Name, b.Name)) })
	for i := 1; i < len(p.Variables); i++ {
		if a, b := &p.Variables[i-1], &p.Variables[i]; a.Neuron == b.Neuron && a.Name == b.Name && a.Every != b.Every {
			area := &c.Areas[c.AreaOf(a.Neuron)]
			return fmt.Errorf("%s of neuron %d of area %q is chosen every %d bursts and every %d, want one interval", p.Names[a.Name], a.Neuron-area.Neurons.First, area.Name, a.Every, b.Every)
		}
	}
	p.Variables = slices.Compact(p.Variables)
	for i := range p.Variables {
		s := &p.Variables[i]
		if s.Value >= 0 {
			probes = append(probes, engine.Probe{Neuron: s.Neuron, Variable: uint32(s.Value)})
		}
	}
	for _, n := range potentials {
		probes = append(probes, engine.Probe{Neuron: n})
	}
	slices.SortFunc(probes, engine.Probe.Compare)
	p.Values = slices.Compact(probes)
	for _, v := range p.Values {
		rest := float32(0)
		if v.Variable == 0 {
			rest = float32(c.Areas[c.AreaOf(v.Neuron)].V0.Rest)
		}
		p.Rest = append(p.Rest, rest)
	}
	for i := range p.Variables {
		if s := &p.Variables[i]; s.Value >= 0 {
			s.Value, _ = slices.BinarySearchFunc(p.Values, engine.Probe{Neuron: s.Neuron, Variable: uint32(s.Value)}, engine.Probe.Compare)
		}
	}
	for _, n := range potentials {
		k, _ := slices.BinarySearchFunc(p.Values, engine.Probe{Neuron: n}, engine.Probe.Compare)
		p.Potentials = append(p.Potentials, k)
	}
	return nil
}

// variableNames are the names that are wanted, in the order of areas and of what each model has.
func variableNames(g *genome.Genome, wanted []genome.Variables) (names []string) {
	for i := range g.Areas {
		for _, name := range g.Areas[i].Model.Recordable() {
			isWanted := func(w genome.Variables) bool { return slices.Contains(w.Names, name) }
			if !slices.Contains(names, name) && slices.ContainsFunc(wanted, isWanted) {
				names = append(names, name)
			}
		}
	}
	return names
}

// variables adds those of the run's plan that are due.
func (t *track) variables(b *engine.Burst, r *Run) error {
	if !slices.ContainsFunc(r.every, func(n uint64) bool { return b.Number%n == 0 }) {
		return t.added(b.Number)
	}
	c, p := &t.filled.Rows, &r.plan
	for i := range p.Variables {
		s := &p.Variables[i]
		if b.Number%s.Every != 0 {
			continue
		}
		x := float32(0)
		if s.Value >= 0 {
			x = b.Values[s.Value] + p.Rest[s.Value]
		} else if k, found := slices.BinarySearchFunc(b.Candidates, s.Port, func(c engine.Candidate, port uint32) int { return cmp.Compare(c.Port, port) }); found {
			x = float32(float64(b.Candidates[k].Sum) / float64(r.m.Scale))
		}
		c.Neuron, c.Variable, c.Value = append(c.Neuron, s.Neuron), append(c.Variable, s.Name), append(c.Value, x)
	}
	return t.added(b.Number)
}
