package serve

import (
	"net/http"

	"burst/connectome"
	"burst/engine"
)

// Inputs are the synapses that a neuron receives through.
type Inputs struct {
	Burst uint64        `json:"burst"` // of the weights that learn
	Total uint64        `json:"total"`
	Rows  []SynapseFrom `json:"synapses"` // the first 10,000 of them
}

// SynapseFrom is one, or several of the same source and delay whose weights were added.
type SynapseFrom struct {
	Source     uint32  `json:"source"`
	Weight     float64 `json:"weight"` // as that of Synapse
	Delay      uint32  `json:"delay_bursts"`
	Projection int     `json:"projection"` // where it learns; else -1
}

// inputsOf lists those of a neuron. It looks at every synapse.
func inputsOf(s *Server, _ http.ResponseWriter, q *http.Request) (any, error) {
	id, _, err := s.neuron(q)
	if err != nil {
		return nil, err
	}
	c := s.facts.Connectome
	if c.Row == nil {
		return nil, errNoSynapses
	}
	x := Inputs{Burst: s.nextBurst(), Rows: []SynapseFrom{}}
	var state *engine.State
	if len(c.Plastic) > 0 {
		if state, err = s.state(q); err != nil {
			return nil, err
		}
		x.Burst = state.Number
	}
	eachInput(c, state, id, func(r SynapseFrom) {
		if x.Total++; len(x.Rows) < mostSynapses {
			x.Rows = append(x.Rows, r)
		}
	})
	return x, nil
}

// eachInput gives the synapses onto a neuron, with the weights of a state where they learn.
func eachInput(c *connectome.Connectome, state *engine.State, id uint32, take func(SynapseFrom)) {
	rows := func(row []uint64, target []uint32, weight []int32, delay func(uint64) uint32) {
		source := uint32(0)
		for k, port := range target {
			if c.NeuronOf(port) != id {
				continue
			}
			for row[source+1] <= uint64(k) {
				source++
			}
			take(SynapseFrom{source, float64(weight[k]) / float64(c.Scale), delay(uint64(k)), -1})
		}
	}
	rows(c.Row, c.Target, c.Weight, c.DelayOf)
	if d := c.Driven; d != nil {
		rows(d.Row, d.Target, d.Weight, d.DelayOf)
	}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		source := uint32(0)
		p.EachPlace(func(k, place uint64) {
			if c.NeuronOf(p.Target[k]) != id {
				return
			}
			for p.Row[source+1] <= k {
				source++
			}
			take(SynapseFrom{p.From.First + source, float64(state.Plastic[i].Weight[place]), p.DelayOf(k), p.Projection})
		})
	}
}
