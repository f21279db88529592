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

// InitialState fills v and more, one entry a neuron in each, with the state before burst 0 as the models hold it. more has
// Variables slices.
func (c *Connectome) InitialState(v []float32, more [][]float32) {
	for i := range c.Areas {
		a := &c.Areas[i]
		own := v[a.Neurons.First:a.Neurons.End()]
		c.draw(i, 0, &a.V0, own)
		for k := range a.Variables() {
			part := more[k][a.Neurons.First:a.Neurons.End()]
			switch {
			case a.More0 != nil && a.More0[k] != nil:
				c.draw(i, k+1, a.More0[k], part)
			case a.Model == IzhikevichModel:
				for n := range part {
					part[n] = float32(a.IzhikevichOf(uint32(n)).B * own[n])
				}
			default:
				clear(part)
			}
		}
		if a.Model == CustomModel && a.Custom.Start != nil {
			a.start(v, more)
		}
	}
}

// draw fills the variable-th variable of an area.
func (c *Connectome) draw(area, variable int, from *Initial, part []float32) {
	s := newSampler(from.Value, c.Seed, exact.InitialV, area)
	first := uint64(c.Areas[area].Neurons.First) | uint64(variable)<<32
	spans(runtime.GOMAXPROCS(0), uint64(len(part)), 1<<14, func(_ int, lo, hi uint64) {
		for n := lo; n < hi; n++ {
			x, ok := s.at(first + n)
			if !ok {
				panic("BUG: no initial value within bounds that the build has probed")
			}
			part[n] = float32(x - from.Rest)
		}
	})
}
