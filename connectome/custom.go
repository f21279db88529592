package connectome

import (
	"slices"

	"burst/genome"
	"burst/internal/formula"
	"burst/internal/quanta"
)

// newCustom makes the further data of an area whose model the genome defines.
func (p *plan) newCustom(i int, values *values) *Custom {
	from := &p.g.Areas[i]
	d := from.Model.Custom.Definition()
	c := &Custom{Program: d.Program, Refractory: p.silence(i, values)}
	if c.Start = d.Start(given(from)); c.Start != nil {
		c.StartParams = p.constants(i, values, c.Start.Params)
	}
	return c
}

// given reports, for each state variable of a model that the genome defines, whether the area gives its initial value.
func given(a *genome.Area) []bool {
	list := make([]bool, len(a.Model.Custom.Definition().State))
	for k, name := range a.Model.Custom.Definition().State {
		_, list[k] = a.Init[name]
	}
	return list
}

// silence is the refractory time of an area whose model the genome defines, in bursts.
func (p *plan) silence(i int, values *values) (s Silence) {
	m := values.a.Model
	k := slices.IndexFunc(m.Params, func(q genome.Param) bool { return q.Name == formula.Quiet })
	if k < 0 {
		return s
	}
	bursts := func(n uint64) uint16 {
		x := values.of(n)(formula.Quiet)
		if m.Params[k].Dim == genome.Time {
			x /= p.g.Timestep
		}
		return uint16(quanta.Nearest(x))
	}
	if !vary(values.a, []string{formula.Quiet}) {
		s.Const = bursts(0)
		return s
	}
	s.Each = make([]uint16, p.areas[i].Count)
	spans(p.workers, uint64(len(s.Each)), 1<<12, func(_ int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			s.Each[n] = bursts(n)
		}
	})
	return s
}

// start computes initial values from drawn ones, for the area's neurons from the first-th on.
func (a *Area) start(first uint32, state [][]float32) {
	run, own := formula.NewRunner(a.Custom.Start), make([]float32, len(state))
	n := formula.Neuron{State: own, Params: make([]float32, len(a.Custom.StartParams))}
	for i := range state[0] {
		loadParams(a.Custom.StartParams, first+uint32(i), n.Params)
		for k := range state {
			own[k] = state[k][i]
		}
		run.Run(&n, own)
		for k := range state {
			state[k][i] = own[k]
		}
	}
}
