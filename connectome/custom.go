package connectome

import (
	"burst/genome"
	"burst/internal/formula"
	"burst/internal/quanta"
)

// newCustom makes the further data of an area whose model the genome defines.
func (p *plan) newCustom(i int, values *values) *Custom {
	from := &p.g.Areas[i]
	d := from.Model.Custom.Definition
	c := &Custom{Program: d.Program, Refractory: p.silence(from)}
	if c.Start = d.Start(given(from)); c.Start != nil {
		c.StartParams = p.constants(i, values, c.Start.Params)
	}
	return c
}

// given reports, for each state variable of a model that the genome defines, whether the area gives its initial value.
func given(a *genome.Area) []bool {
	list := make([]bool, len(a.Model.Custom.Definition.State))
	for k, name := range a.Model.Custom.Definition.State {
		_, list[k] = a.Init[name]
	}
	return list
}

// silence is the refractory time of an area whose model the genome defines, in bursts.
func (p *plan) silence(a *genome.Area) uint16 {
	for k := range a.Model.Params {
		switch q := &a.Model.Params[k]; {
		case q.Name != formula.Quiet:
		case q.Dim == genome.Time:
			return uint16(quanta.Nearest(a.Params[q.Name] / p.g.Timestep))
		default:
			return uint16(a.Params[q.Name])
		}
	}
	return 0
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
