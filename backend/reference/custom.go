package reference

import (
	"burst/connectome"
	"burst/internal/formula"
)

// custom is step 4 for the i-th neuron of a, whose model the genome defines.
func (b *backend) custom(a *connectome.Area, i uint32) bool {
	n, r := a.Neurons.First+i, &b.state.Refractory[a.Neurons.First+i]
	more := b.state.More[:a.Variables()]
	in := formula.Neuron{
		State: []float32{b.state.V[n]}, Params: make([]float32, len(a.Custom.Params)), Refractory: *r > 0,
	}
	for k := range more {
		in.State = append(in.State, more[k][n])
	}
	for k := range a.PortsEach() {
		in.Inputs = append(in.Inputs, b.input(a, i, k))
	}
	a.Custom.Load(a.Custom.Params, i, in.Params)
	fired := b.run[a].Run(&in, in.State) // 4b, 4c
	b.state.V[n] = in.State[0]
	for k := range more {
		more[k][n] = in.State[1+k]
	}
	switch {
	case fired:
		*r = a.Custom.Refractory
	case *r > 0: // 4a
		*r--
	}
	return fired
}
