// Package reference is the law of engine/doc.go as plain code, step by step in its order and with its names: the oracle
// that other backends are held to. Clarity over speed.
package reference

import (
	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
)

// backend holds one network.
type backend struct {
	c     *connectome.Connectome
	want  engine.Want
	state *engine.State
	acc   []int32 // quanta, one sum a port; zero between bursts
}

// Open makes a backend for c in the state before burst 0; it never fails.
func Open(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
	return &backend{c: c, want: w, state: engine.NewState(c), acc: make([]int32, c.Ports)}, nil
}

// Step is the law of a burst.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	t := b.state.Number
	out.Number, out.Fired, out.Candidates = t, out.Fired[:0], out.Candidates[:0]
	b.propagate()
	b.inject(t, in)
	if b.want.FCL {
		out.Candidates = b.candidates(out.Candidates)
	}
	out.Fired = b.update(t, out.Fired)
	out.Potentials = out.Potentials[:0]
	for _, n := range b.want.Potentials {
		out.Potentials = append(out.Potentials, b.state.V[n])
	}
	b.queue(out.Fired)
	clear(b.acc) // 7
	b.state.Number++
	return nil
}

// propagate is step 1.
func (b *backend) propagate() {
	for d := 1; d <= b.c.MaxDelay; d++ {
		for _, n := range b.state.Queues[d-1] {
			for k := b.c.Row[n]; k < b.c.Row[n+1]; k++ {
				if int(b.c.DelayOf(k)) == d {
					b.acc[b.c.Target[k]] += b.c.Weight[k]
				}
			}
		}
	}
}

// inject is step 2.
func (b *backend) inject(t uint64, in []engine.Stimulus) {
	for _, s := range in {
		b.acc[s.Port] += s.Amount
	}
	for i := range b.c.Areas {
		a := &b.c.Areas[i]
		for place := range a.Drives {
			if d := &a.Drives[place]; d.Active(t) {
				b.drive(t, a, d, place)
			}
		}
	}
}

// drive adds one drive's input to every neuron of its area.
func (b *backend) drive(t uint64, a *connectome.Area, d *connectome.Drive, place int) {
	for i := range a.Neurons.Count {
		acc := &b.acc[a.Ports.First+i]
		switch d.Kind {
		case connectome.Inject:
			*acc += d.Amount
		case connectome.Poisson:
			n := a.Neurons.First + i
			x := exact.Draw(b.c.RunSeed, exact.PoissonDrive, uint64(place)<<32|uint64(n/4), t)[n%4]
			*acc += d.Events(x) * d.Amount
		}
	}
}

// candidates is step 3.
func (b *backend) candidates(fcl []engine.Candidate) []engine.Candidate {
	for port, sum := range b.acc {
		if sum != 0 {
			p := uint32(port)
			fcl = append(fcl, engine.Candidate{Port: p, Neuron: b.c.NeuronOf(p), Sum: sum})
		}
	}
	return fcl
}

// update is step 4; the neurons that fired come out ascending, as step 5 wants them.
func (b *backend) update(t uint64, fired []uint32) []uint32 {
	for k := range b.c.Areas {
		a := &b.c.Areas[k]
		term := a.Term(t)
		for i := range a.Neurons.Count {
			acc := b.acc[a.Ports.First+i]
			input := float32(acc) / float32(b.c.Scale)
			fires := false
			switch a.Model {
			case connectome.FEAGIModel:
				fires = acc != 0 && b.feagi(a, i, input, t)
			case connectome.LIFModel:
				fires = b.lif(a, i, input, term)
			}
			if fires {
				fired = append(fired, a.Neurons.First+i)
			}
		}
	}
	return fired
}

// queue makes fired the fire queue of the newest burst; the oldest is forgotten.
func (b *backend) queue(fired []uint32) {
	q := b.state.Queues
	oldest := q[len(q)-1]
	copy(q[1:], q)
	q[0] = append(oldest[:0], fired...)
}

// ReadState copies the state.
func (b *backend) ReadState(s *engine.State) error {
	copyState(s, b.state)
	return nil
}

// WriteState replaces the state.
func (b *backend) WriteState(s *engine.State) error {
	copyState(b.state, s)
	return nil
}

// copyState copies all but the digest.
func copyState(to, from *engine.State) {
	to.Number = from.Number
	to.V = append(to.V[:0], from.V...)
	to.Refractory = append(to.Refractory[:0], from.Refractory...)
	to.Count = append(to.Count[:0], from.Count...)
	for len(to.Queues) < len(from.Queues) {
		to.Queues = append(to.Queues, nil)
	}
	to.Queues = to.Queues[:len(from.Queues)]
	for i, q := range from.Queues {
		to.Queues[i] = append(to.Queues[i][:0], q...)
	}
}

// Close has nothing to free.
func (b *backend) Close() error { return nil }
