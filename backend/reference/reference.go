// Package reference is the law of engine/doc.go as plain code, with the same steps, order and names. All other backends are
// compared with it. It is written for clarity, not for speed.
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
	acc   []int32                              // sum of each port in quanta; zero between bursts
	run   map[*connectome.Area]*formula.Runner // for areas whose model the genome defines
	learn []*learner                           // projections whose synapses change
	now   []engine.Amplitude                   // of the burst in progress
	wrong error                                // of the first amplitude beyond its bound

	recalled map[*connectome.Area]uint32 // the neuron of a memory area that fires in this burst; absent: none
}

// Open makes a backend for c in the state before burst 0. It is an error if c is a part of a network.
func Open(c *connectome.Connectome, w engine.Want) (engine.Backend, error) {
	if !c.Part.Whole() {
		return nil, fmt.Errorf("the reference backend cannot run a part of a network, this is part %d of %d; want cpu", c.Part.Index, c.Part.Of)
	}
	b := &backend{c: c, want: w, state: engine.NewState(c), acc: make([]int32, c.Ports), run: map[*connectome.Area]*formula.Runner{}}
	b.recalled = map[*connectome.Area]uint32{}
	for i := range c.Areas {
		if a := &c.Areas[i]; a.Custom != nil {
			b.run[a] = formula.NewRunner(a.Custom.Program)
		}
	}
	for i := range c.Plastic {
		b.learn = append(b.learn, newLearner(b, i))
	}
	return b, nil
}

// Step advances by one burst.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	t := b.state.Number
	out.Number, out.Fired, out.Candidates = t, out.Fired[:0], out.Candidates[:0]
	b.propagate()
	b.inject(t, in)
	if b.want.FCL {
		out.Candidates = b.candidates(out.Candidates)
	}
	for i, a := range b.c.Memories() {
		b.remember(a, &b.state.Memory[i], t)
	}
	out.Fired = b.update(t, out.Fired)
	out.Values = out.Values[:0]
	for _, p := range b.want.Values {
		out.Values = append(out.Values, p.In(b.c, b.state))
	}
	if b.wrong != nil {
		return b.wrong
	}
	out.Amplitudes = append(out.Amplitudes[:0], b.now...)
	b.queue(out.Fired)
	b.state.Number++
	for _, l := range b.learn {
		l.sweep(t)
	}
	clear(b.acc) // 7
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
	for d, list := range b.state.Amplitudes {
		for _, x := range list {
			b.drives(x, d+1)
		}
	}
	for _, l := range b.learn {
		l.propagate(b.state.Number)
	}
}

// drives delivers a spike of so many bursts ago whose synapses follow its amplitude.
func (b *backend) drives(x engine.Amplitude, delay int) {
	rows := b.c.Driven
	for k := rows.Row[x.Neuron]; k < rows.Row[x.Neuron+1]; k++ {
		if int(rows.DelayOf(k)) == delay {
			port := rows.Target[k]
			q := connectome.Delivers(rows.Weight[k], x.Quanta, b.c.Scale, rows.DivideOf(x.Neuron))
			b.acc[port] += int32(b.c.Areas[b.c.AreaOfPort(port)].Lift(q))
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
				now := d.In(t)
				b.drive(t, a, &now, place)
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
			amount = d.InputOf(i, exact.Draw(b.c.RunSeed, purpose, uint64(place)<<32|uint64(n/4), t)[n%4])
		}
		b.acc[a.PortOf(i, d.Port, int64(amount))] += amount
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

// update is step 4. It lists the neurons that fired in ascending order, as step 5 needs them.
func (b *backend) update(t uint64, fired []uint32) []uint32 {
	b.now = b.now[:0]
	for j := range b.c.Areas {
		a := &b.c.Areas[j]
		fires, k, differ := lawOf(a.Model), make([]float32, len(a.Constants)), a.Differ()
		for i := range a.Neurons.Count {
			if i == 0 || differ {
				a.Load(i, k)
			}
			if fires(b, a, i, k, t) {
				fired = append(fired, a.Neurons.First+i)
			}
		}
	}
	return fired
}

// input is what the k-th port of the i-th neuron of a received, in the genome's unit.
func (b *backend) input(a *connectome.Area, i, k uint32) float32 {
	return float32(b.acc[a.Ports.First+k*a.Neurons.Count+i]) / float32(b.c.Scale)
}

// queue makes fired the fire queue of the newest burst and drops the oldest one.
func (b *backend) queue(fired []uint32) {
	q := b.state.Queues
	oldest := q[len(q)-1]
	if s := b.state.Number; s >= uint64(len(q)) {
		for _, l := range b.learn {
			l.settle(s-uint64(len(q)), oldest)
		}
	}
	copy(q[1:], q)
	q[0] = append(oldest[:0], fired...)
	if list := b.state.Amplitudes; len(list) > 0 {
		last := list[len(list)-1]
		copy(list[1:], list)
		list[0] = append(last[:0], b.now...)
	}
}

// amplitude notes at which potential a neuron fires, where its synapses follow that.
func (b *backend) amplitude(a *connectome.Area, n uint32, v float32) {
	if a.PSPMax == 0 || b.c.Driven == nil {
		return
	}
	x, err := engine.NewAmplitude(b.c, a, n, v)
	if err != nil && b.wrong == nil {
		b.wrong = err
	}
	b.now = append(b.now, x)
}

// ReadState copies the state.
func (b *backend) ReadState(s *engine.State) error {
	s.Copy(b.state)
	return nil
}

// WriteState replaces the state.
func (b *backend) WriteState(s *engine.State) error {
	b.state.Copy(s)
	return nil
}

// NotFinite finds the first NaN or Inf in the state, or nil.
func (b *backend) NotFinite() *engine.NotFinite { return b.state.NotFinite() }

// Close does nothing.
func (b *backend) Close() error { return nil }
