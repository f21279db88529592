package connectome

import (
	"math"
	"runtime"
	"slices"
	"sync"

	"burst/genome"
	"burst/internal/exact"
)

// Initial is the initial value of a state variable: a value drawn for each neuron, minus Rest (0 if the model holds V absolute).
type Initial struct {
	Value genome.Value
	Rest  float64
}

// drawnAtOnce is of how many neurons a goroutine draws the initial state: few, so that areas of some thousand keep all processors busy.
const drawnAtOnce = 1 << 11

// InitialState sets v and more to the state before burst 0, as the models hold it. more has Variables slices. Each slice has
// one entry per neuron.
func (c *Connectome) InitialState(v []float32, more [][]float32) {
	for i := range c.Areas {
		a := &c.Areas[i]
		spans(runtime.GOMAXPROCS(0), uint64(a.Neurons.Count), drawnAtOnce, func(_ int, lo, hi uint64) {
			first, end := uint64(a.Neurons.First)+lo, uint64(a.Neurons.First)+hi
			state := [][]float32{v[first:end]}
			for k := range a.Variables() {
				state = append(state, more[k][first:end])
			}
			a.initial(c.Seed, i, uint32(lo), state)
		})
	}
}

// initialOf is the state before burst 0 of the area's neurons from lo to hi−1, by variable; the area is the i-th.
func (a *Area) initialOf(seed uint64, i int, lo, hi uint32) [][]float32 {
	state := make([][]float32, 1+a.Variables())
	for k := range state {
		state[k] = make([]float32, hi-lo)
	}
	a.initial(seed, i, lo, state)
	return state
}

// initial fills the state before burst 0 of the neurons of the area from its first-th on; the area is the i-th.
func (a *Area) initial(seed uint64, i int, first uint32, state [][]float32) {
	a.draw(seed, i, 0, first, &a.V0, state[0])
	for k, part := range state[1:] {
		from := a.Model.State[k+1].From
		switch {
		case a.More0 != nil && a.More0[k] != nil:
			a.draw(seed, i, k+1, first, a.More0[k], part)
		case from != nil:
			constants := make([]float32, len(a.Constants))
			for n := range part {
				a.Load(first+uint32(n), constants)
				part[n] = from(constants, state[0][n])
			}
		default:
			clear(part)
		}
	}
	if a.Custom != nil && a.Custom.Start != nil {
		a.start(first, state)
	}
}

// draw fills a variable of the neurons from the first-th on.
func (a *Area) draw(seed uint64, area, variable int, first uint32, from *Initial, part []float32) {
	if from.Value.Kind == genome.Column {
		for n := range part {
			part[n] = float32(from.Value.Each[first+uint32(n)] - from.Rest)
		}
		return
	}
	s := newSampler(from.Value, seed, exact.InitialV, area)
	s.fill(uint64(a.Neurons.First+first)|uint64(variable)<<32, part, from.Rest)
}

// workedOut reports whether formulas compute some of the initial state.
func (a *Area) workedOut() bool {
	for k, m := range a.More0 {
		if m == nil && a.Model.State[k+1].From != nil {
			return true
		}
	}
	return a.Custom != nil && a.Custom.Start != nil
}

// checkInitial refuses an area if formulas give it an initial value that is NaN or infinite.
func (p *plan) checkInitial(i int, a *Area) error {
	if !a.workedOut() {
		return nil
	}
	var mu sync.Mutex
	first, variable, value := uint64(math.MaxUint64), 0, float32(0)
	spans(p.workers, uint64(a.Neurons.Count), drawnAtOnce, func(_ int, lo, hi uint64) {
		state := a.initialOf(p.g.Seed, i, uint32(lo), uint32(hi))
		for k, part := range state {
			n := slices.IndexFunc(part, func(x float32) bool { return !finite(x) })
			if n < 0 {
				continue
			}
			mu.Lock()
			if lo+uint64(n) < first {
				first, variable, value = lo+uint64(n), k, part[n]
			}
			mu.Unlock()
		}
	})
	if first == math.MaxUint64 {
		return nil
	}
	pos, name := p.g.Areas[i].Pos, a.Variable(variable)
	if own := p.g.Areas[i].Model.Custom; own != nil {
		pos = own.Starts[variable].Pos
	}
	return p.g.Fault(pos, areaKey(i, "init."+name), "%s of neuron %d is computed as %v, want a finite number; change the values in its formula, or give it in init",
		name, first, value)
}
