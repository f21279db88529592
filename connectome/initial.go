package connectome

import "burst/genome"

// Initial says how a state variable starts: a value drawn per neuron, minus Rest (0 for models that hold V absolute).
type Initial struct {
	Value genome.Value
	Rest  float64
}
