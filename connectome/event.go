package connectome

import (
	"math"

	"burst/genome"
)

// MostAge is the age of a neuron's last input from which on it is no longer counted, in bursts.
const MostAge = math.MaxUint16

// mostEventTau is the longest time constant of a model with Event, in bursts: exp(−MostAge/mostEventTau) is below float32's last bit.
const mostEventTau = 4096

// Places in a row of Decay: the factor of V and, in areas with currents, what each current adds to V, in mV per pA, and its own factor.
const (
	FactorV = iota
	FromEx
	FromIn
	FactorEx
	FactorIn
	mostFactors
)

// DecayOver is the row of Decay for so many bursts.
func (a *Area) DecayOver(bursts uint16) []float32 {
	n := a.decayRow()
	return a.Decay[n*min(int(bursts), len(a.Decay)/n-1):][:n]
}

// decayRow is the length of a row of Decay.
func (a *Area) decayRow() int {
	if a.Variables() == 0 {
		return 1
	}
	return mostFactors
}

// Kept is what a state holds of a neuron of an area with Decay.
type Kept struct {
	V, Ex, In         float32 // the latter only where there are currents
	Refractory, Count uint16
}

// Reads is what the k-th variable of such a neuron reads after the burst before.
func (a *Area) Reads(k uint32, x Kept) float32 {
	row := a.DecayOver(x.Count)
	switch {
	case k == 0 && a.Variables() == 0:
		return float32(x.V * row[FactorV])
	case k == 0:
		return VAfter(x.V, x.Ex, x.In, row)
	case k == 1:
		return current(x.Ex, row[FactorEx], a.DecayOver(x.Refractory)[FactorEx])
	}
	return current(x.In, row[FactorIn], a.DecayOver(x.Refractory)[FactorIn])
}

// VAfter is V after so many bursts without input, whose row of Decay is given.
func VAfter(v, ex, in float32, row []float32) float32 {
	return float32(v*row[FactorV]) + (float32(ex*row[FromEx]) + float32(in*row[FromIn]))
}

// current is what a current reads: it is kept as it will be at the end of the silence, over which it fades by ahead.
func current(i, since, ahead float32) float32 {
	if ahead == 0 {
		return 0
	}
	return float32(i*since) / ahead
}

// MakeDecay makes Decay of the constants of an area of a model with Event.
func (a *Area) MakeDecay() {
	tau := float64(a.Constant("tau").Const)
	if a.decayRow() == 1 {
		a.Decay = append(fading(tau), 0)
		return
	}
	var lists [mostFactors][]float32
	lists[FactorV] = fading(tau)
	longest := len(lists[FactorV])
	for k, name := range []string{"tau_syn_ex", "tau_syn_in"} {
		lists[FactorEx+k] = fading(float64(a.Constant(name).Const))
		longest = max(longest, len(lists[FactorEx+k]))
	}
	for k, name := range []string{"tau_syn_ex", "tau_syn_in"} {
		s, capacity := float64(a.Constant(name).Const), float64(a.Constant("capacity").Const)
		for age := range longest {
			lists[FromEx+k] = append(lists[FromEx+k], float32(genome.Propagator(s, tau, capacity, float64(age))))
		}
	}
	a.Decay = make([]float32, mostFactors*(longest+1))
	for k, list := range lists {
		for age, x := range list {
			a.Decay[mostFactors*age+k] = x
		}
	}
}

// fading is exp(−age/tau) for ages 0, 1, … up to where float32 is 0, but below MostAge; tau is in bursts.
func fading(tau float64) []float32 {
	low := NewTable(min(tau, mostEventTau)).Low
	n := min(len(low), MostAge)
	return low[:n:n]
}

// level is by how much constant drives raise rest, mV, in an area of a model with Event.
func level(a *genome.Area, timestep float64) float64 {
	sum := 0.0
	if a.Model.Event != "" {
		for k := range a.Drives {
			if d := &a.Drives[k]; d.Kind == genome.Constant {
				sum += a.Model.Term(func(name string) float64 { return a.Params[name] }, d, timestep)
			}
		}
	}
	return sum
}

// makeEvent makes the table of an area of a model with Event. It refuses neurons of lif_event that would fire without an input.
func (p *plan) makeEvent(i int, a *Area) error {
	from := &p.g.Areas[i]
	for _, name := range []string{"tau", "tau_syn_ex", "tau_syn_in"} {
		if bursts := from.Params[name] / p.g.Timestep; bursts > mostEventTau {
			return p.g.Fault(from.Pos, areaKey(i, "params."+name), "%s is %v ms, %.0f bursts of %v ms, want at most %d bursts (%v ms) for the model %s; take a longer timestep, or the model %s",
				name, from.Params[name], bursts, p.g.Timestep, mostEventTau, mostEventTau*p.g.Timestep, a.Model.Name, a.Model.Event)
		}
	}
	a.MakeDecay()
	if a.Variables() > 0 {
		return nil // they may fire between inputs
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
				"fires at inputs alone; want a drive below %.6g mV, or the model %s", n, rest+raised, rest, raised, rest+raised+float64(above), a.Model.Name, raised+float64(above), a.Model.Event)
		}
	}
	return nil
}
