package connectome

import "burst/edgelist"

// exportRows is how many synapses are handed on at a time.
const exportRows = 1 << 16

// Export writes every synapse in the order of its row, neurons numbered through the network and weights in the unit of
// the target's input. A weight is quanta/Scale in float64: with |quanta| < 2^31 and Scale ≤ 2^24 its error times Scale is
// far below half a quantum, so that the rule edges gives back the same quanta.
func (c *Connectome) Export(w edgelist.Writer) error {
	var b edgelist.Block
	scale := float64(c.Scale)
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			target, port := c.inputOf(c.Target[k])
			b.Add(n, target, float64(c.Weight[k])/scale, c.DelayOf(k), port)
			if len(b.Source) == exportRows {
				if err := w.Write(&b); err != nil {
					return err
				}
				b.Reset()
			}
		}
	}
	if len(b.Source) > 0 {
		if err := w.Write(&b); err != nil {
			return err
		}
	}
	return w.Close()
}

// inputOf is the neuron that a port belongs to and which of the neuron's ports it is.
func (c *Connectome) inputOf(port uint32) (neuron uint32, which uint8) {
	neuron = c.NeuronOf(port)
	a := &c.Areas[c.AreaOf(neuron)]
	return neuron, uint8((port - a.Ports.First) / a.Neurons.Count)
}
