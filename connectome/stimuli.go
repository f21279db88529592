package connectome

import (
	"fmt"
	"math"
)

// makeStimuli turns the genome's stimuli into quanta and ports.
func (p *plan) makeStimuli() ([]Stimulus, error) {
	out := make([]Stimulus, len(p.g.Stimuli))
	for i := range out {
		s := &p.g.Stimuli[i]
		out[i] = Stimulus{
			At: s.At, Every: s.Every, From: s.From, Until: s.Until,
			Ports: make([]uint32, len(s.Neurons)), Amounts: make([]int32, len(s.Neurons)),
		}
		for k, n := range s.Neurons {
			if wrong := p.tooSmall(s.Amounts[k]); wrong != "" {
				return nil, p.g.Fault(s.Pos, fmt.Sprintf("stimuli[%d].amount", i), "%s", wrong)
			}
			out[i].Ports[k] = p.port(s.Area, n, s.Amounts[k])
			out[i].Amounts[k] = clamp(quanta(s.Amounts[k], p.scale))
		}
	}
	return out, nil
}

// port is the port of an area's n-th neuron that an amount goes to; −0, what a dark pixel makes of a negative amount, goes
// with the negative ones, so that ports ascend.
func (p *plan) port(area int, n uint32, amount float64) uint32 {
	if math.Signbit(amount) && p.ports[area].Count > p.areas[area].Count {
		n += p.areas[area].Count
	}
	return p.ports[area].First + n
}
