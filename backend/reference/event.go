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
	*v, *age = float32(*v*a.DecayOver(*age))+b.input(a, i, 0), 0 // 4c
	if *v >= threshold {                                         // 4d
		*v = reset
		*r = refractory
		return true
	}
	return false
}
