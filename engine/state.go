package engine

import (
	"slices"

	"burst/connectome"
)

// State is all that a run carries from one burst to the next. Slices have one entry a neuron.
type State struct {
	Number     uint64        // the next burst
	V          []float32     // potential; lif and lif_psc_exp: relative to rest; lif_event, lif_psc_exp_event: after the last input, relative to rest and constant drives
	More       [][]float32   // further variables, connectome.Variables of them; 0 where a neuron's model has fewer
	Refractory []uint16      // bursts of silence left
	Count      []uint16      // feagi: consecutive fires; lif_event, lif_psc_exp_event: bursts since the last input; 0 elsewhere
	Queues     [][]uint32    // Queues[d-1] is the fire queue of burst Number−d, d = 1…Queues() of the connectome; ascending, empty before burst 0
	Amplitudes [][]Amplitude // for each of the first AmplitudeLists queues the amplitudes of its neurons that have one, ascending; nil if no synapse is driven
	Plastic    []Plastic     // one for each of connectome.Plastic
	Memory     []Memory      // one for each of connectome.Memories
	Digest     uint64        // running digest of the fire queues, see doc.go
}

// NewState is the state before burst 0.
func NewState(c *connectome.Connectome) *State {
	s := &State{}
	s.Resize(c)
	c.InitialState(s.V, s.More)
	for i := range s.Plastic {
		s.Plastic[i].start(&c.Plastic[i], c.Scale, c.Seed)
	}
	for i := range s.Memory {
		s.Memory[i].start()
	}
	return s
}

// Resize gives the slices the lengths that c needs; their content is undefined. Memory is reused where it is large enough.
func (s *State) Resize(c *connectome.Connectome) {
	n := int(c.Neurons)
	s.V, s.Refractory, s.Count = resized(s.V, n), resized(s.Refractory, n), resized(s.Count, n)
	s.More, s.Queues = resized(s.More, c.Variables()), resized(s.Queues, c.Queues())
	for k := range s.More {
		s.More[k] = resized(s.More[k], n)
	}
	s.Amplitudes = nil
	if c.Driven != nil {
		s.Amplitudes = make([][]Amplitude, c.AmplitudeLists())
	}
	s.Plastic = resized(s.Plastic, len(c.Plastic))
	for i := range s.Plastic {
		s.Plastic[i].resize(&c.Plastic[i])
	}
	memories := c.Memories()
	s.Memory = resized(s.Memory, len(memories))
	for i, a := range memories {
		s.Memory[i].resize(int(a.Neurons.Count))
	}
}

// Copy makes s equal to from except for the digest, which is the engine's. Memory is reused where it is large enough.
func (s *State) Copy(from *State) {
	s.Number = from.Number
	s.V, s.Refractory, s.Count = append(s.V[:0], from.V...), append(s.Refractory[:0], from.Refractory...), append(s.Count[:0], from.Count...)
	s.More, s.Queues = resized(s.More, len(from.More)), resized(s.Queues, len(from.Queues))
	for k, more := range from.More {
		s.More[k] = append(s.More[k][:0], more...)
	}
	for d, q := range from.Queues {
		s.Queues[d] = append(s.Queues[d][:0], q...)
	}
	s.Amplitudes = resized(s.Amplitudes, len(from.Amplitudes))
	for d, list := range from.Amplitudes {
		s.Amplitudes[d] = append(s.Amplitudes[d][:0], list...)
	}
	s.Plastic = resized(s.Plastic, len(from.Plastic))
	for i := range from.Plastic {
		s.Plastic[i].copy(&from.Plastic[i])
	}
	s.Memory = resized(s.Memory, len(from.Memory))
	for i := range from.Memory {
		s.Memory[i].Copy(&from.Memory[i])
	}
}

// Clone is a copy with memory of its own, digest included.
func (s *State) Clone() *State {
	c := &State{Digest: s.Digest}
	c.Copy(s)
	return c
}

// resized is a slice of n entries, in the same memory where that is large enough.
func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }
