package connectome

import "fmt"

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
			out[i].Ports[k] = p.areas[s.Area].First + n
			out[i].Amounts[k] = clamp(quanta(s.Amounts[k], p.scale))
		}
	}
	return out, nil
}
