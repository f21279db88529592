package connectome

import (
	"math"

	"burst/genome"
)

// MostAge is the age of a neuron's last input from which on it is no longer counted, in bursts.
const MostAge = math.MaxUint16

// mostEventTau is the longest time constant of a model with Event, in bursts: exp(−MostAge/mostEventTau) is below float32's last bit.
const mostEventTau = 4096

// DecayOver is the factor by which V has decayed so many bursts after an input, in areas of models with Event.
func (a *Area) DecayOver(age uint16) float32 {
	return a.Decay[min(int(age), len(a.Decay)-1)]
}

// Potential is V of the area's i-th neuron as the burst before left it, of its state.
func (a *Area) Potential(v float32, count uint16) float32 {
	if a.Decay == nil {
		return v
	}
	return float32(v * a.DecayOver(count))
}

// NewDecay is the table of Decay of a time constant in bursts: exp(−age/tau) for ages 0, 1, …, and 0 at the end.
func NewDecay(tau float32) []float32 {
	low := NewTable(min(float64(tau), mostEventTau)).Low
	return append(low[:min(len(low), MostAge):min(len(low), MostAge)], 0)
}

// level is by how much constant drives raise rest, mV, in an area of a model with Event.
func level(a *genome.Area, timestep float64) float64 {
	sum := 0.0
	if a.Model.Event {
		for k := range a.Drives {
			if d := &a.Drives[k]; d.Kind == genome.Constant {
				sum += a.Model.Term(func(name string) float64 { return a.Params[name] }, d, timestep)
			}
		}
	}
	return sum
}

// makeEvent makes the table of an area of a model with Event. It refuses neurons that would fire without an input.
func (p *plan) makeEvent(i int, a *Area) error {
	from := &p.g.Areas[i]
	if bursts := from.Params["tau"] / p.g.Timestep; bursts > mostEventTau {
		return p.g.Fault(from.Pos, areaKey(i, "params.tau"), "tau is %v ms, %.0f bursts of %v ms, want at most %d bursts (%v ms) for the model %s; take a longer timestep, or the model lif",
			from.Params["tau"], bursts, p.g.Timestep, mostEventTau, mostEventTau*p.g.Timestep, a.Model.Name)
	}
	threshold, rest := a.Constant("threshold"), from.Params["rest"]
	for n := range max(1, uint32(len(threshold.Each))) {
		if above := threshold.At(n); !(above > 0) {
			raised := level(from, p.g.Timestep)
			pos := from.Pos
			for k := range from.Drives {
				if from.Drives[k].Kind == genome.Constant {
					pos = from.Drives[k].Pos
				}
			}
			return p.g.Fault(pos, areaKey(i, "drive"), "rest and constant drives hold neuron %d at %.6g mV (%.6g + %.6g), want less than its threshold of %.6g mV: a neuron of the model %s "+
				"fires at inputs alone; want a drive below %.6g mV, or the model lif", n, rest+raised, rest, raised, rest+raised+float64(above), a.Model.Name, raised+float64(above))
		}
	}
	a.Decay = NewDecay(a.Constant("tau").Const)
	return nil
}
