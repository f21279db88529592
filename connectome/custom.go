package connectome

import (
	"slices"

	"burst/genome"
	"burst/internal/formula"
)

// newCustom works out the parameters that a model of the genome's own loads.
func (p *plan) newCustom(i int, values *values) *Custom {
	from := &p.g.Areas[i]
	d := from.Model.Custom.Definition
	c := &Custom{Program: d.Program, Params: p.customParams(i, values, d.Program.Params), Refractory: p.silence(from), State: d.State}
	if c.Start = d.Start(given(from)); c.Start != nil {
		c.StartParams = p.customParams(i, values, c.Start.Params)
	}
	return c
}

// given says for each state variable of an area whose model the genome defines whether its initial value stands there.
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
			return uint16(nearest(a.Params[q.Name] / p.g.Timestep))
		default:
			return uint16(a.Params[q.Name])
		}
	}
	return 0
}

// customParams are the values of names, each once for the area unless it depends on a parameter that varies.
func (p *plan) customParams(i int, values *values, names []string) []Param {
	d, dt := p.g.Areas[i].Model.Custom.Definition, p.g.Timestep
	params := make([]Param, len(names))
	for k, x := range d.Values(names, values.of(0), dt) {
		params[k].Const = float32(x)
		if on := d.Depends(names[k]); len(on) > 0 && values.vary(on...) {
			params[k].Each = make([]float32, p.areas[i].Count)
		}
	}
	if !slices.ContainsFunc(params, func(x Param) bool { return x.Each != nil }) {
		return params
	}
	spans(p.workers, uint64(p.areas[i].Count), 1<<12, func(_ int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			for k, x := range d.Values(names, values.of(n), dt) {
				if params[k].Each != nil {
					params[k].Each[n] = float32(x)
				}
			}
		}
	})
	return params
}

// unbounded names a parameter that float32 cannot hold, or is empty.
func (c *Custom) unbounded() string {
	for _, of := range []struct {
		names  []string
		params []Param
	}{{c.Program.Params, c.Params}, {c.startNames(), c.StartParams}} {
		for k, x := range of.params {
			if !finite(x.Const) || slices.ContainsFunc(x.Each, func(x float32) bool { return !finite(x) }) {
				return of.names[k]
			}
		}
	}
	return ""
}

func (c *Custom) startNames() []string {
	if c.Start == nil {
		return nil
	}
	return c.Start.Params
}

// start turns the drawn initial values of neurons, from the first-th of the area on, into those before burst 0.
func (a *Area) start(first uint32, state [][]float32) {
	run, own := formula.NewRunner(a.Custom.Start), make([]float32, len(state))
	n := formula.Neuron{State: own, Params: make([]float32, len(a.Custom.StartParams))}
	for i := range state[0] {
		a.Custom.Load(a.Custom.StartParams, first+uint32(i), n.Params)
		for k := range state {
			own[k] = state[k][i]
		}
		run.Run(&n, own)
		for k := range state {
			state[k][i] = own[k]
		}
	}
}
