package reference

import "burst/connectome"

// lifEvent is lif_event. It looks at every neuron in every burst, to count the bursts since its last input.
func lifEvent(b *backend, a *connectome.Area, i uint32, k []float32, _ uint64) bool {
	threshold, reset, refractory := k[0], k[1], uint16(k[2])
	n := a.Neurons.First + i
	v, r, age := &b.state.V[n], &b.state.Refractory[n], &b.state.Count[n]
	if *r > 0 { // 4a
		*r--
		*age = 0
		return false
	}
	*age = uint16(min(uint32(*age)+1, connectome.MostAge)) // 4b
	if b.acc[a.Ports.First+i] == 0 {
		return false
	}
	*v, *age = float32(*v*a.DecayOver(*age)[connectome.FactorV])+b.input(a, i, 0), 0 // 4c
	if *v >= threshold {                                                             // 4d
		*v = reset
		*r = refractory
		return true
	}
	return false
}

// pscExpEvent is lif_psc_exp_event. It looks at every neuron in every burst.
func pscExpEvent(b *backend, a *connectome.Area, i uint32, k []float32, _ uint64) bool {
	threshold, reset, refractory := k[0], k[1], uint16(k[2])
	n, p := a.Neurons.First+i, a.Ports.First+i
	v, ex, in, r, age := &b.state.V[n], &b.state.More[0][n], &b.state.More[1][n], &b.state.Refractory[n], &b.state.Count[n]
	candidate := b.acc[p] != 0 || b.acc[p+a.Neurons.Count] != 0
	if *r > 0 { // 4a
		*r--
		*age = 0
		if ahead := a.DecayOver(*r); candidate {
			*ex += float32(b.input(a, i, 0) * ahead[connectome.FactorEx])
			*in += float32(b.input(a, i, 1) * ahead[connectome.FactorIn])
		}
		return false
	}
	*age = uint16(min(uint32(*age)+1, connectome.MostAge)) // 4b
	row := a.DecayOver(*age)
	x := connectome.VAfter(*v, *ex, *in, row)
	fires := x >= threshold
	if candidate || fires { // 4c
		*v, *age = x, 0
		*ex = float32(*ex*row[connectome.FactorEx]) + b.input(a, i, 0)
		*in = float32(*in*row[connectome.FactorIn]) + b.input(a, i, 1)
	}
	if fires { // 4d
		ahead := a.DecayOver(refractory)
		*v, *r = reset, refractory
		*ex, *in = float32(*ex*ahead[connectome.FactorEx]), float32(*in*ahead[connectome.FactorIn])
	}
	return fires
}
