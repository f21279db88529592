package reference

import "burst/connectome"

// Memory is how many bytes Open takes on the host for c, beside the connectome itself, which it keeps: state and sums. What a
// burst's spikes take is not in it.
func Memory(c *connectome.Connectome) uint64 {
	return uint64(c.Neurons)*uint64(4+2+2+4*c.Variables()) + 4*uint64(c.Ports)
}
