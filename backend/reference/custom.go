package reference

import (
	"burst/connectome"
	"burst/internal/formula"
)

// custom is step 4 of models that genomes define.
func custom(b *backend, a *connectome.Area, i uint32, k []float32, t uint64) bool {
	n, r := a.Neurons.First+i, &b.state.Refractory[a.Neurons.First+i]
	more := b.state.More[:a.Variables()]
	in := formula.Neuron{
		State: []float32{b.state.V[n]}, Params: k, Refractory: *r > 0, Seed: b.c.RunSeed, Burst: t, Number: n,
	}
	for j := range more {
		in.State = append(in.State, more[j][n])
	}
	for port := range a.PortsEach() {
		in.Inputs = append(in.Inputs, b.input(a, i, port))
	}
	fired := b.run[a].Run(&in, in.State) // 4b, 4c
	b.state.V[n] = in.State[0]
	for j := range more {
		more[j][n] = in.State[1+j]
	}
	switch {
	case fired:
		*r = a.Custom.Refractory.At(i)
	case *r > 0: // 4a
		*r--
	}
	return fired
}
