package connectome

import (
	"fmt"
	"math"

	"burst/genome"
	"burst/internal/quanta"
)

// makeStimuli converts the genome's stimuli to quanta and ports.
func (p *plan) makeStimuli() ([]Stimulus, error) {
	out := make([]Stimulus, len(p.g.Stimuli))
	for i := range out {
		s := &p.g.Stimuli[i]
		out[i] = Stimulus{
			At: s.At, Every: s.Every, From: s.From, Until: s.Until,
			Ports: make([]uint32, len(s.Neurons)), Amounts: make([]int32, len(s.Neurons)),
		}
		for k, n := range s.Neurons {
			if wrong := quanta.TooSmall(s.Amounts[k], p.scale); wrong != "" {
				return nil, p.g.Fault(s.Pos, fmt.Sprintf("stimuli[%d].amount", i), "%s", wrong)
			}
			out[i].Ports[k] = p.port(s, n, s.Amounts[k])
			out[i].Amounts[k] = quanta.Clamp(lift(quanta.Of(s.Amounts[k], p.scale), p.lifts[s.Area]))
		}
	}
	return out, nil
}

// port is the port of the n-th neuron of a stimulus's area that an amount goes to; −0, what a dark pixel makes of a negative amount, goes
// with the negative ones, so that ports ascend.
func (p *plan) port(s *genome.Stimulus, n uint32, amount float64) uint32 {
	return portOf(p.areas[s.Area], p.ports[s.Area], n, s.Port, math.Signbit(amount))
}
