package engine

import "burst/connectome"

// State is all that a run carries from one burst to the next. Slices have one entry a neuron.
type State struct {
	Number     uint64      // the next burst
	V          []float32   // potential; lif and lif_psc_exp: relative to rest
	More       [][]float32 // further variables, connectome.Variables of them; 0 where a neuron's model has fewer
	Refractory []uint16    // bursts of silence left
	Count      []uint16    // feagi: consecutive fires; 0 elsewhere
	Queues     [][]uint32  // Queues[d-1] is the fire queue of burst Number−d, d = 1…MaxDelay; ascending, empty before burst 0
	Digest     uint64      // running digest of the fire queues, see doc.go
}

// NewState is the state before burst 0.
func NewState(c *connectome.Connectome) *State {
	s := &State{
		V:          make([]float32, c.Neurons),
		Refractory: make([]uint16, c.Neurons),
		Count:      make([]uint16, c.Neurons),
		Queues:     make([][]uint32, c.MaxDelay),
	}
	for range c.Variables() {
		s.More = append(s.More, make([]float32, c.Neurons))
	}
	c.InitialState(s.V, s.More)
	return s
}
