package connectome

import (
	"fmt"
	"math"
	"sort"

	"burst/genome"
	"burst/internal/quanta"
)

// addDriven sets the stimuli: the genome's and, behind them, constant drives that have an amount for each neuron. Each is a stimulus of
// every burst in which it acts.
func (p *plan) addDriven() {
	p.stimuli = p.g.Stimuli
	for i := range p.g.Areas {
		for k := range p.g.Areas[i].Drives {
			d := &p.g.Areas[i].Drives[k]
			if !injectsEach(p.g.Areas[i].Model, d) {
				continue
			}
			s := genome.Stimulus{Pos: d.Pos, Area: i, Port: d.Port, Every: 1, From: d.From, Until: d.Until, Amounts: d.Each, Neurons: make([]uint32, len(d.Each))}
			for n := range s.Neurons {
				s.Neurons[n] = uint32(n)
			}
			p.stimuli = append(p.stimuli[:len(p.stimuli):len(p.stimuli)], s)
			p.injected = append(p.injected, d)
		}
	}
}

// injectsEach reports whether a drive adds an amount of its own to the input of each neuron.
func injectsEach(m *genome.Model, d *genome.Drive) bool { return d.Each != nil && m.Term == nil }

// makeStimuli converts the stimuli to quanta and ports.
func (p *plan) makeStimuli() ([]Stimulus, error) {
	out := make([]Stimulus, len(p.stimuli))
	for i := range out {
		s := &p.stimuli[i]
		out[i] = Stimulus{
			At: s.At, Every: s.Every, From: s.From, Until: s.Until,
			Ports: make([]uint32, len(s.Neurons)), Amounts: make([]int32, len(s.Neurons)),
		}
		for k, n := range s.Neurons {
			wrong, key := quanta.TooSmall(s.Amounts[k], p.scale), fmt.Sprintf("stimuli[%d].amount", i)
			if at := i - len(p.g.Stimuli); at >= 0 && wrong != "" {
				key, wrong = areaKey(s.Area, "drive"), fmt.Sprintf("neuron %d: %s", n, wrong)
				if p.injected[at].Drawn != nil {
					wrong = "" // as drawn weights, it may round to nothing
				}
			}
			if wrong != "" {
				return nil, p.g.Fault(s.Pos, key, "%s", wrong)
			}
			out[i].Ports[k] = p.port(s, n, s.Amounts[k])
			out[i].Amounts[k] = quanta.Clamp(lift(quanta.Of(s.Amounts[k], p.scale), p.lifts[s.Area]))
		}
		sort.Stable(byPort{&out[i]})
	}
	return out, nil
}

// byPort sorts a stimulus, whose amounts may go to two ports by their sign.
type byPort struct{ *Stimulus }

func (s byPort) Len() int           { return len(s.Ports) }
func (s byPort) Less(i, j int) bool { return s.Ports[i] < s.Ports[j] }
func (s byPort) Swap(i, j int) {
	s.Ports[i], s.Ports[j] = s.Ports[j], s.Ports[i]
	s.Amounts[i], s.Amounts[j] = s.Amounts[j], s.Amounts[i]
}

// port is the port of the n-th neuron of a stimulus's area that an amount goes to; −0, what a dark pixel makes of a negative amount, goes
// with the negative ones, so that ports ascend.
func (p *plan) port(s *genome.Stimulus, n uint32, amount float64) uint32 {
	return portOf(p.areas[s.Area], p.ports[s.Area], n, s.Port, math.Signbit(amount))
}
