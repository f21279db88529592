package enginetest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// longDelays are longest delays of more than a byte holds.
func longDelays() []int { return []int{256, 257, 1_000, 65_535} }

// runDelays tests delays of more than a byte holds, up to the longest.
func runDelays(t *testing.T, open, oracle Open) {
	for _, longest := range longDelays() {
		t.Run(fmt.Sprintf("arrives after %d bursts", longest), func(t *testing.T) { arrives(t, open, longest) })
		for seed := range seeds(3, 1) {
			r := rand.New(rand.NewPCG(seed, uint64(longest)))
			t.Run(fmt.Sprintf("up to %d bursts, seed %d", longest, seed), func(t *testing.T) { goesOn(t, open, oracle, lateNet(r, longest), longest, r) })
		}
	}
	t.Run("from burst 0 on", func(t *testing.T) {
		r := rand.New(rand.NewPCG(7, 0x6c617465))
		c := lateNet(r, 300).Build()
		same(t, open, oracle, c, 650, sparse(r.Uint64(), c), "spikes of all bursts arrive, and the queues go around")
	})
}

// runPlasticDelays tests such delays of synapses that learn. A backend may look at each delay in every burst, so only one network, among
// the slow tests, has the longest.
func runPlasticDelays(t *testing.T, open, oracle Open) {
	for _, longest := range longDelays() {
		networks := seeds(3, 1)
		if longest == 65_535 {
			networks = seeds(1, 0)
		}
		for seed := range networks {
			r := rand.New(rand.NewPCG(seed, uint64(longest)))
			t.Run(fmt.Sprintf("up to %d bursts, seed %d", longest, seed), func(t *testing.T) { goesOn(t, open, oracle, latePlastic(r, longest), longest, r) })
		}
	}
}

// arrives: a spike arrives after exactly so many bursts, whether it waits already or is fired in the run, and not after as many modulo 256.
func arrives(t *testing.T, open Open, longest int) {
	n := Net{Scale: 1000, Areas: []connectome.Area{FEAGI(5)}, Synapses: []Synapse{
		{0, 1, 700, uint16(longest)}, {2, 3, 800, uint16(longest)}, {2, 4, 50, uint16(longest - 1)},
	}}
	c := n.Build()
	b := start(t, open, c, engine.Want{FCL: true})
	s := read(t, b)
	s.Number = 1 << 20
	s.Queues[longest-1], s.Queues[longest-2] = []uint32{0}, []uint32{2}
	write(t, b, s)
	var out engine.Burst
	want := [][]engine.Candidate{{{Port: 1, Neuron: 1, Sum: 700}, {Port: 4, Neuron: 4, Sum: 50}}, {{Port: 3, Neuron: 3, Sum: 800}}, nil}
	for i, candidates := range want {
		step(t, b, nil, &out)
		if !slices.Equal(out.Candidates, candidates) {
			t.Fatalf("%d bursts on the candidates are %v, want %v", i, out.Candidates, candidates)
		}
	}
	if longest > 1_000 {
		return
	}
	step(t, b, []engine.Stimulus{{Port: 0, Amount: 1000}}, &out)
	for i := 1; i <= longest; i++ {
		if step(t, b, nil, &out); (len(out.Candidates) > 0) != (i == longest) {
			t.Fatalf("%d bursts after a spike the candidates are %v, want some after %d", i, out.Candidates, longest)
		}
	}
}

// goesOn: a state whose queues are full of spikes goes on as with the oracle, also when it is moved to another backend in between.
func goesOn(t *testing.T, open, oracle Open, n Net, longest int, r *rand.Rand) {
	const bursts, moved = 24, 11
	c := n.Build()
	in := sparse(r.Uint64(), c)
	a, b := start(t, oracle, c, engine.Want{FCL: true}), start(t, open, c, engine.Want{FCL: true})
	s := read(t, a)
	s.Number = uint64(longest) + r.Uint64N(1_000)
	for d := range s.Queues {
		if r.IntN(longest) < 200 || d < 4 || d > longest-2*bursts {
			s.Queues[d] = some(r, c.Neurons)
		}
	}
	write(t, a, s)
	write(t, b, s)
	var x, y engine.Burst
	for i := range uint64(bursts) {
		if i == moved {
			s := read(t, b)
			b = start(t, open, c, engine.Want{FCL: true})
			write(t, b, s)
		}
		step(t, a, in(s.Number+i), &x)
		step(t, b, in(s.Number+i), &y)
		fail(t, engine.CompareBursts(&x, &y), "long delays follow the law of package engine")
	}
	fail(t, engine.CompareStates(read(t, a), read(t, b)), "long delays follow the law of package engine")
}

// latePlastic is lateNet with projections that learn: one of a single delay, the longest, one of many, one whose delay is dendritic, and
// one raised by a modulator as late.
func latePlastic(r *rand.Rand, longest int) Net {
	n := lateNet(r, longest)
	n.Areas = append(n.Areas, set(LIF(60), map[string]float32{"em1": -0.1, "threshold": 0.5, "reset": 0, "refractory": 1}))
	for i := range 4 {
		p := randomPlastic(r, n)
		for p.Window.Kind != genome.WindowNone {
			p = randomPlastic(r, n)
		}
		switch many := i == 1; {
		case i == 2 && p.Rule.When == "" && len(p.Target) == 0:
			p.Lag = uint32(longest-1) / 2 * 2
		case i == 3:
			for k := range p.Of {
				p.Of[k].Delay = uint32(longest)
			}
			fallthrough
		default:
			for k := range p.Synapses {
				if p.Synapses[k].Delay = uint16(longest); many {
					p.Synapses[k].Delay = uint16(min(longest, among(r, 1, 2, 254, 255, 256, 257, longest-1, longest, 1+r.IntN(longest))))
				}
			}
		}
		p.Synapses = p.Synapses[:min(len(p.Synapses), 200)]
		n.Plastic = append(n.Plastic, p)
	}
	return n
}

// lateNet is a random network with delays around the ends of a byte, of rings, and of the longest.
func lateNet(r *rand.Rand, longest int) Net {
	n := Net{RunSeed: r.Uint64(), Scale: 1000, Areas: []connectome.Area{LIF(70), FEAGI(40), PSCExp(50)}}
	const neurons, ports = 160, 210
	for from := range uint32(neurons) {
		for range r.IntN(25) {
			d := 1 + r.IntN(longest)
			switch r.IntN(4) {
			case 0:
				d = among(r, 1, 2, 127, 128, 254, 255, 256, longest-1, longest)
			case 1:
				d = max(1, d/256*256)
			}
			n.Synapses = append(n.Synapses, Synapse{from, r.Uint32N(ports), quanta(r, n.Scale), uint16(min(d, longest))})
		}
	}
	n.Synapses = append(n.Synapses, Synapse{3, 5, 900, uint16(longest)})
	return n
}

// some are a few neurons, ascending.
func some(r *rand.Rand, neurons uint32) (list []uint32) {
	for n := range neurons {
		if r.IntN(50) == 0 {
			list = append(list, n)
		}
	}
	return list
}

// sparse makes a few neurons fire in each burst.
func sparse(seed uint64, c *connectome.Connectome) func(t uint64) []engine.Stimulus {
	return func(t uint64) (in []engine.Stimulus) {
		r := rand.New(rand.NewPCG(seed, t))
		for p := range c.Ports {
			if r.IntN(60) == 0 {
				in = append(in, engine.Stimulus{Port: p, Amount: 3 * c.Scale})
			}
		}
		return in
	}
}
