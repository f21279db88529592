package cuda

import (
	"math"

	"burst/connectome"
	"burst/internal/formula"
)

// ownModel is the code of a model that the genome defines. Areas share it if their programs are the same and the same parameters differ
// from neuron to neuron.
type ownModel struct {
	program *formula.Program
	place   []place // of each parameter
	quiet   *place  // of bursts of silence after firing, as bits of a whole number; nil: the area's own
}

// place is where the code finds a parameter: at k among those that an area's neurons share, or at k among those that differ from neuron to
// neuron (each).
type place struct {
	each bool
	k    int
}

// mostWords is how many shared parameters the area's own table holds; more of them lie before those of neurons.
const mostWords = 8

// words is how many floats lie before those of neurons.
func (m *ownModel) words() int {
	shared := 0
	for _, p := range m.place {
		if !p.each {
			shared++
		}
	}
	if shared <= mostWords {
		return 0
	}
	return shared
}

// addCustom adds the constants of an area whose model the genome defines: first those that its neurons share, then an array for
// each of those that differ from neuron to neuron, the refractory time last.
func (t *tables) addCustom(a *connectome.Area, e *area) {
	m := ownModel{program: a.Custom.Program}
	var shared, each []float32
	counts := map[bool]int{}
	for _, p := range a.Constants {
		own := p.Each != nil
		m.place = append(m.place, place{own, counts[own]})
		counts[own]++
		if own {
			each = append(each, p.Each...)
		} else {
			shared = append(shared, p.Const)
		}
	}
	if quiet := a.Custom.Refractory.Each; quiet != nil {
		m.quiet = &place{true, counts[true]}
		for _, bursts := range quiet {
			each = append(each, math.Float32frombits(uint32(bursts)))
		}
	}
	e.each, e.refractory = uint64(len(t.constants)), uint32(a.Custom.Refractory.Const)
	copy(e.k[:], shared)
	t.constants = append(append(t.constants, shared[:m.words()]...), each...)
	e.program = t.numberOf(m)
}

// numberOf is the number of a model among the network's, which are told apart by their code.
func (t *tables) numberOf(m ownModel) uint32 {
	code := m.code(operands{})
	number, ok := t.modelNumber[code]
	if !ok {
		number = uint32(len(t.models))
		t.models = append(t.models, m)
		t.modelNumber[code] = number
	}
	return number
}
