// Package cpu is the fast CPU backend. Every thread owns a share of each area's neurons (a part) with their sums, their
// state and the synapses onto them; no two threads write one word, so no atomics are needed and the bits do not depend on
// the number of threads.
//
// Of a part of a network (connectome.Part) it holds the state of the part's own neurons only, close together: the i-th of
// them has the place i. Places number neurons everywhere in this package but at its borders, where stimuli, draws, fire
// queues and candidates have the network's numbers. Without a split both are the same.
package cpu

import (
	"runtime"
	"slices"

	"burst/backend/cpu/vector"
	"burst/connectome"
	"burst/engine"
	"burst/internal/pages"
)

// perThread is how many neurons make a further thread worth its hand-over, see BenchmarkCutoff; perNeuron synapses count
// as one neuron.
const (
	perThread = 8192
	perNeuron = 200
)

// Options of Open; the zero value uses every processor and delivers no FCL.
type Options struct {
	Threads int // 0: GOMAXPROCS; tiny networks use fewer
	Want    engine.Want
}

// backend holds one network.
type backend struct {
	c       *connectome.Connectome
	own     connectome.Part
	want    engine.Want
	kernels vector.Kernels
	number  uint64
	v       []float32 // of the part's neurons, as all of the state but the queues
	more    [][]float32
	r       []uint16
	count   []uint16
	queues  [][]uint32 // as engine.State.Queues
	parts   []*part
	pool    *pool
	in      []engine.Stimulus // of the burst in progress
}

// Open makes a backend for c in the state before burst 0.
func Open(c *connectome.Connectome, o Options) (engine.Backend, error) {
	if err := checkRuns(c, mostOfDelay); err != nil {
		return nil, err
	}
	return open(c, o.Want, threads(c, o.Threads), vector.Best()), nil
}

// threads is how many of the wanted threads, or of all processors for 0, c is worth.
func threads(c *connectome.Connectome, wanted int) int {
	if wanted == 0 {
		wanted = runtime.GOMAXPROCS(0)
	}
	own := int(c.Part.Count(c.Neurons))
	return max(1, min(wanted, 1+(own+int(c.Synapses()/perNeuron))/perThread, own))
}

// open uses exactly the given number of parts.
func open(c *connectome.Connectome, w engine.Want, parts int, kernels vector.Kernels) *backend {
	n := uint64(c.Part.Count(c.Neurons))
	b := &backend{
		c: c, own: c.Part, want: w, kernels: kernels, v: pages.Slice[float32](n), r: pages.Slice[uint16](n), count: pages.Slice[uint16](n),
		more: make([][]float32, c.Variables()),
	}
	for i := range b.more {
		b.more[i] = pages.Slice[float32](n)
	}
	b.parts = makeParts(b, parts)
	b.pool = newPool(b.parts)
	if err := b.WriteState(engine.NewState(c)); err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

// Step is the law of a burst; each part does its share of steps 1 to 5.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	b.in = in
	b.pool.run()
	out.Number, out.Fired, out.Candidates = b.number, out.Fired[:0], out.Candidates[:0]
	for i := range b.c.Areas {
		for _, p := range b.parts {
			g := &p.groups[i]
			out.Fired = append(out.Fired, g.fired...)
			out.Candidates = append(out.Candidates, g.first...)
		}
		for _, p := range b.parts {
			out.Candidates = append(out.Candidates, p.groups[i].second...)
		}
	}
	out.Potentials = out.Potentials[:0]
	for _, n := range b.want.Potentials {
		v := float32(0)
		if b.own.Owns(n) {
			v = b.v[b.own.Count(n)]
		}
		out.Potentials = append(out.Potentials, v)
	}
	q := b.queues
	oldest := q[len(q)-1]
	copy(q[1:], q)
	q[0] = append(oldest[:0], out.Fired...)
	b.number++
	return nil
}

// Launch makes the fire queue of the burst ago bursts ago that of all parts.
func (b *backend) Launch(ago int, fired []uint32) {
	b.queues[ago-1] = append(b.queues[ago-1][:0], fired...)
}

// ReadState copies the state; of neurons of other parts it has zeros.
func (b *backend) ReadState(s *engine.State) error {
	s.Number = b.number
	s.V = scatter(b, s.V, b.v)
	s.Refractory = scatter(b, s.Refractory, b.r)
	s.Count = scatter(b, s.Count, b.count)
	s.More = slices.Grow(s.More[:0], len(b.more))[:len(b.more)]
	for i, more := range b.more {
		s.More[i] = scatter(b, s.More[i], more)
	}
	s.Queues = slices.Grow(s.Queues[:0], len(b.queues))[:len(b.queues)]
	for i, q := range b.queues {
		s.Queues[i] = append(s.Queues[i][:0], q...)
	}
	return nil
}

// scatter puts the values of the part's neurons into out, one entry a neuron of the network.
func scatter[T any](b *backend, out, own []T) []T {
	if b.own.Whole() {
		return append(out[:0], own...)
	}
	out = slices.Grow(out[:0], int(b.c.Neurons))[:b.c.Neurons]
	clear(out)
	for i := 0; i < len(own); i += connectome.Slice {
		copy(out[b.own.Neuron(uint32(i)):], own[i:min(i+connectome.Slice, len(own))])
	}
	return out
}

// pick fills own with the values of the part's neurons.
func pick[T any](b *backend, own, all []T) {
	for i := 0; i < len(own); i += connectome.Slice {
		copy(own[i:min(i+connectome.Slice, len(own))], all[b.own.Neuron(uint32(i)):])
	}
}

// WriteState replaces the state.
func (b *backend) WriteState(s *engine.State) error {
	b.number = s.Number
	pick(b, b.v, s.V)
	pick(b, b.r, s.Refractory)
	pick(b, b.count, s.Count)
	for i, more := range s.More {
		pick(b, b.more[i], more)
	}
	b.queues = b.queues[:0]
	for _, q := range s.Queues {
		b.queues = append(b.queues, slices.Clone(q))
	}
	for _, p := range b.parts {
		p.restore()
	}
	return nil
}

// Threads is how many threads step.
func (b *backend) Threads() int { return len(b.parts) }

// RowBytes is how many bytes the synapses of all rows take together.
func (b *backend) RowBytes() uint64 {
	total := uint64(0)
	for _, p := range b.parts {
		total += 2 * uint64(len(p.rows.units))
	}
	return total
}

// NotFinite looks through the state of the part's neurons.
func (b *backend) NotFinite() *engine.NotFinite {
	x := engine.FindNotFinite(b.v, b.more)
	if x != nil {
		x.Neuron = b.own.Neuron(x.Neuron)
	}
	return x
}

// Close ends the threads.
func (b *backend) Close() error {
	b.pool.close()
	return nil
}
