package exact

// FEAGIHash is the 32-bit hash that feagi-core's excitability draws from (NN/src/utils.rs): a PCG output function over
// the neuron and the burst, which FEAGI counts from 1.
func FEAGIHash(neuron, burst uint32) uint32 {
	s := (neuron*2654435761+burst*1597334677)*747796405 + 2891336453
	w := ((s >> ((s >> 28) + 4)) ^ s) * 277803737
	return (w >> 22) ^ w
}
