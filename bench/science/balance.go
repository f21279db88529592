package main

import (
	"math"
	"slices"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// balanced is the network of Vogels and others (2011): what rate inhibition brings E to, how irregular it is, and which rate the rule sees.
func balanced(o options) ([]Check, error) {
	const seconds, from, step, neurons, tau, rho = 20, 10, 1e-4, 8000, 20e-3, 3
	text, err := example("vogels-inhibitory")
	if err != nil {
		return nil, err
	}
	g, err := genome.Parse("vogels-inhibitory.yaml", []byte(text), nil)
	if err != nil {
		return nil, err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return nil, err
	}
	first, rates, trains, seen := 0.0, 0.0, make([]train, neurons), newPotentiation(c, 0, tau/step)
	_, err = learned(o, text, seconds/step, recorder(func(b *engine.Burst) error {
		at, _ := slices.BinarySearch(b.Fired, neurons)
		if b.Number < 0.1/step {
			first += float64(at)
		}
		if b.Number < from/step {
			return nil
		}
		rates += float64(at)
		for _, n := range b.Fired[:at] {
			trains[n].add(b.Number)
		}
		return seen.Record(b)
	}))
	if err != nil {
		return nil, err
	}
	const name = "Vogels 2011, vogels-inhibitory"
	return []Check{
		{Case: name, Quantity: "rate of E, first 0.1 s (Hz)", Computed: "89.0 (Brian2)", Ours: first / neurons / 0.1, Low: 80, High: 98, Digits: 1},
		{Case: name, Quantity: "rate of E, 10 s to 20 s (Hz)", Computed: "4.13, 4.16 (Brian2)", Ours: rates / neurons / (seconds - from), Low: 3.72, High: 4.54, Digits: 2},
		{Case: name, Quantity: "CV of its intervals", Computed: "0.95, 0.94 (Brian2)", Ours: meanCV(trains), Low: 0.85, High: 1.05, Digits: 2},
		{Case: name, Quantity: "rate of E that the rule sees (Hz)", Computed: "3 (rho)", Ours: seen.mean() / (2 * tau), Low: 0.9 * rho, High: 1.1 * rho, Digits: 2},
	}, nil
}

// potentiation adds up what the pairs of spikes of a projection bring by the rule vogels, per spike of a source and in units of eta: spikes
// of both ends count exp(−distance/tau), those in one burst nothing.
type potentiation struct {
	c      *connectome.Connectome
	p      *connectome.Plastic
	onto   [][]uint32 // the sources of each target
	tau    float64    // bursts
	traces []trace    // of each neuron
	sum    float64
	spikes float64 // of sources, once for each of their synapses
}

// trace is a sum of exponentials.
type trace struct {
	value float64
	burst uint64
}

func newPotentiation(c *connectome.Connectome, plastic int, tau float64) *potentiation {
	m := &potentiation{c: c, p: &c.Plastic[plastic], onto: make([][]uint32, c.Neurons), tau: tau, traces: make([]trace, c.Neurons)}
	for s := range m.p.From.Count {
		for _, port := range m.p.Target[m.p.Row[s]:m.p.Row[s+1]] {
			n := c.NeuronOf(port)
			m.onto[n] = append(m.onto[n], m.p.From.First+s)
		}
	}
	return m
}

// at is a neuron's trace in a burst, without the spikes of that burst.
func (m *potentiation) at(n uint32, burst uint64) float64 {
	return m.traces[n].value * math.Exp(-float64(burst-m.traces[n].burst)/m.tau)
}

// Record adds the pairs that end in the burst.
func (m *potentiation) Record(b *engine.Burst) error {
	for _, n := range b.Fired {
		if s := n - m.p.From.First; n >= m.p.From.First && s < m.p.From.Count {
			targets := m.p.Target[m.p.Row[s]:m.p.Row[s+1]]
			m.spikes += float64(len(targets))
			for _, port := range targets {
				m.sum += m.at(m.c.NeuronOf(port), b.Number)
			}
		}
		for _, source := range m.onto[n] {
			m.sum += m.at(source, b.Number)
		}
	}
	for _, n := range b.Fired {
		m.traces[n] = trace{m.at(n, b.Number) + 1, b.Number}
	}
	return nil
}

// mean is the potentiation for a spike of a source. Where both ends fire independently of each other it is 2·tau times the targets' rate.
func (m *potentiation) mean() float64 { return m.sum / m.spikes }
