package connectome

import (
	"runtime"

	"burst/genome"
	"burst/internal/exact"
)

// Initial says how a state variable starts: a value drawn per neuron, minus Rest (0 for models that hold V absolute).
type Initial struct {
	Value genome.Value
	Rest  float64
}

// InitialV fills dst, one entry a neuron, with the potentials before burst 0 as the models hold them.
func (c *Connectome) InitialV(dst []float32) {
	for i := range c.Areas {
		a := &c.Areas[i]
		s := newSampler(a.V0.Value, c.Seed, exact.InitialV, i)
		part := dst[a.Neurons.First:a.Neurons.End()]
		spans(runtime.GOMAXPROCS(0), uint64(len(part)), 1<<14, func(_ int, lo, hi uint64) {
			for n := lo; n < hi; n++ {
				v, ok := s.at(uint64(a.Neurons.First) + n)
				if !ok {
					panic("BUG: no initial value within bounds that the build has probed")
				}
				part[n] = float32(v - a.V0.Rest)
			}
		})
	}
}
