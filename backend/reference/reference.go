// Package reference is the law of engine/doc.go as plain code, step by step in its order and with its names: the oracle
// that other backends are held to. Clarity over speed.
package reference

import (
	"fmt"

	"burst/connectome"
	"burst/engine"
	"burst/internal/exact"
	"burst/internal/formula"
)

// backend holds one network.
type backend struct {
	c     *connectome.Connectome
	want  engine.Want
	state *engine.State
	acc   []int32                              // quanta, one sum a port; zero between bursts
	run   map[*connectome.Area]*formula.Runner // of areas whose model the genome defines
}

// Open makes a backend for c in the state before burst 0; it refuses a part of a network.
func Open(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
	if !c.Part.Whole() {
		return nil, fmt.Errorf("the backend reference holds whole networks only, this is part %d of %d", c.Part.Index, c.Part.Of)
	}
	b := &backend{c: c, want: w, state: engine.NewState(c), acc: make([]int32, c.Ports), run: map[*connectome.Area]*formula.Runner{}}
	for i := range c.Areas {
		if a := &c.Areas[i]; a.Model == connectome.CustomModel {
			b.run[a] = formula.NewRunner(a.Custom.Program)
		}
	}
	return b, nil
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
	if d.Kind == connectome.Term {
		return // TermOf adds it to V
	}
	purpose := exact.PoissonDrive
	if d.Kind == connectome.Noise {
		purpose = exact.NoiseDrive
	}
	for i := range a.Neurons.Count {
		amount := d.Amount
		if d.Kind != connectome.Inject {
			n := a.Neurons.First + i
			amount = d.Input(exact.Draw(b.c.RunSeed, purpose, uint64(place)<<32|uint64(n/4), t)[n%4])
		}
		b.acc[a.PortOf(i, int64(amount))] += amount
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
		for i := range a.Neurons.Count {
			if b.fires(a, i, t) {
				fired = append(fired, a.Neurons.First+i)
			}
		}
	}
	return fired
}

// fires updates the i-th neuron of a by its model and says whether it fires.
func (b *backend) fires(a *connectome.Area, i uint32, t uint64) bool {
	n := a.Neurons.First + i
	switch a.Model {
	case connectome.FEAGIModel:
		return b.acc[a.Ports.First+i] != 0 && b.feagi(a, i, b.input(a, i, 0), t)
	case connectome.LIFModel:
		return b.lif(a, i, b.input(a, i, 0), a.TermOf(t, i))
	case connectome.PSCExpModel:
		return b.pscExp(a, i, b.input(a, i, 0), b.input(a, i, 1), a.TermOf(t, i))
	case connectome.IzhikevichModel:
		return b.izhikevich(a, i, b.input(a, i, 0), a.TermOf(t, i))
	case connectome.CustomModel:
		return b.custom(a, i)
	case connectome.PoissonModel:
		s := a.PoissonOf(i)
		x := exact.Draw(b.c.RunSeed, exact.PoissonSource, uint64(n/4), t)[n%4]
		return s.From <= t && t < s.Until && uint64(x) < s.Below
	case connectome.SpikeListModel:
		return a.Spikes.Fires(i, t)
	}
	panic("BUG: a model without a law")
}

// input is what the i-th neuron's k-th port received, in the genome's unit.
func (b *backend) input(a *connectome.Area, i, k uint32) float32 {
	return float32(b.acc[a.Ports.First+k*a.Neurons.Count+i]) / float32(b.c.Scale)
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
	for len(to.More) < len(from.More) {
		to.More = append(to.More, nil)
	}
	to.More = to.More[:len(from.More)]
	for i, more := range from.More {
		to.More[i] = append(to.More[i][:0], more...)
	}
	for len(to.Queues) < len(from.Queues) {
		to.Queues = append(to.Queues, nil)
	}
	to.Queues = to.Queues[:len(from.Queues)]
	for i, q := range from.Queues {
		to.Queues[i] = append(to.Queues[i][:0], q...)
	}
}

// NotFinite looks through the state.
func (b *backend) NotFinite() *engine.NotFinite { return engine.FindNotFinite(b.state.V, b.state.More) }

// Close has nothing to free.
func (b *backend) Close() error { return nil }
