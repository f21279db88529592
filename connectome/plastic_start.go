package connectome

import (
	"fmt"
	"runtime"

	"burst/genome"
	"burst/internal/exact"
)

// takeStarts fills in what the variables of the synapses start from.
func (p *plan) takeStarts(l *genome.Learning, m *Plastic) error {
	m.Drawn = make([]*genome.Value, len(m.Rule.Synapse))
	for k, v := range m.Rule.Synapse {
		given, is := l.Starts[v.Name]
		switch {
		case !is:
			m.Synapse = append(m.Synapse, float32(l.Value(v.Start, p.g.Timestep)))
		case given.Kind == genome.Const:
			m.Synapse = append(m.Synapse, float32(given.A))
		default:
			m.Synapse, m.Drawn[k] = append(m.Synapse, 0), &given
			s := m.start(k, p.g.Seed)
			wrong := s.probe()
			if lo, hi := s.extent(); wrong == "" && !(finite(float32(lo)) && finite(float32(hi))) {
				wrong = fmt.Sprintf("draws reach from %g to %g, want them within ±3.4e38 (float32)", lo, hi)
			}
			if wrong != "" {
				return p.g.Fault(given.Pos, projectionKey(m.Projection, "plasticity."+v.Name), "%s", wrong)
			}
		}
	}
	return nil
}

// StartWeights fills list, the weights of a state, with those that the synapses start from. In a part of a network the weights of others'
// synapses are 0.
func (p *Plastic) StartWeights(scale int32, list []float32) {
	if p.Weight == nil && p.In == nil {
		same := p.Initial(0, scale)
		spans(runtime.GOMAXPROCS(0), uint64(len(list)), 1<<14, func(_ int, lo, hi uint64) { fill(list[lo:hi], same) })
		return
	}
	if p.In != nil {
		clear(list)
	}
	p.stretches(func(lo, hi uint64, next []uint64) {
		for k := lo; k < hi; k++ {
			at := &next[p.Target[k]-p.Ports.First]
			list[*at] = p.Initial(k, scale)
			*at++
		}
	})
}

// Start fills list, the array of a state of the k-th variable of the synapses, with what the variable starts from. In a part of a network
// what is drawn or listed for others' synapses is 0.
func (p *Plastic) Start(k int, seed uint64, list []float32) {
	if k < len(p.Listed) && p.Listed[k] != nil {
		if p.In != nil {
			clear(list)
		}
		p.ToState(p.Listed[k], list)
		return
	}
	if k >= len(p.Drawn) || p.Drawn[k] == nil {
		fill(list, p.Synapse[k])
		return
	}
	s := p.start(k, seed)
	if p.In != nil {
		clear(list)
		p.stretches(func(lo, hi uint64, next []uint64) {
			for _, port := range p.Target[lo:hi] {
				at := &next[port-p.Ports.First]
				x, _ := s.at(*at) // the bounds have been probed
				list[*at] = float32(x)
				*at++
			}
		})
		return
	}
	spans(runtime.GOMAXPROCS(0), uint64(len(list)), 1<<14, func(_ int, lo, hi uint64) { s.fill(lo, list[lo:hi], 0) })
}

// start draws what the k-th variable of the synapses starts from, by their places in the order of the state.
func (p *Plastic) start(k int, seed uint64) sampler {
	return newSampler(*p.Drawn[k], seed, exact.SynapseDraw, p.Projection|k<<variableShift)
}

// variableShift is where a draw of a synapse's variable has the number of the variable, above that of the projection.
const variableShift = 28
