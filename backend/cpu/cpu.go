// Package cpu is the fast CPU backend. Every thread owns a range of neurons with their sums and state, reads each fired
// row's part that lies in its range, and updates its neurons; no two threads write one word, so no atomics are needed and
// the bits do not depend on the number of threads.
package cpu

import (
	"runtime"
	"slices"
	"sync"

	"burst/connectome"
	"burst/engine"
)

// perThread is how many neurons make a further thread worth its wake-up: the update of 4,096 lif neurons takes about
// 6 µs, waking a parked thread 2 to 5 µs.
const perThread = 4096

// Options of Open; the zero value uses every processor and delivers no FCL.
type Options struct {
	Threads int // 0: GOMAXPROCS; tiny networks use fewer
	Want    engine.Want
}

// backend holds one network. Ports are numbered like neurons: every model here has one port a neuron.
type backend struct {
	c      *connectome.Connectome
	want   engine.Want
	number uint64
	v      []float32
	r      []uint16
	count  []uint16
	queues [][]uint32 // as engine.State.Queues
	delays []int      // delays that synapses have, ascending
	parts  []*part
	pool   *pool
	in     []engine.Stimulus // of the burst in progress
}

// Open makes a backend for c in the state before burst 0; it never fails.
func Open(c *connectome.Connectome, o Options) (engine.Backend, error) {
	threads := o.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	return open(c, o.Want, min(threads, 1+int(c.Neurons/perThread))), nil
}

// open uses exactly the given number of parts, but no more than neurons.
func open(c *connectome.Connectome, w engine.Want, parts int) *backend {
	b := &backend{c: c, want: w, delays: delays(c)}
	parts = max(1, min(parts, int(c.Neurons)))
	for i := range parts {
		at := func(i int) uint32 { return uint32(uint64(c.Neurons) * uint64(i) / uint64(parts)) }
		b.parts = append(b.parts, newPart(b, at(i), at(i+1)))
	}
	b.cut()
	b.pool = newPool(b.parts)
	if err := b.WriteState(engine.NewState(c)); err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

// cut notes where each row passes from one part to the next, in networks of one delay whose rows are long enough to make
// 4 bytes a row and cut small beside them.
func (b *backend) cut() {
	cuts := uint64(len(b.parts) - 1)
	if len(b.delays) != 1 || b.c.Synapses() < 4*cuts*uint64(b.c.Neurons) {
		return
	}
	var wg sync.WaitGroup
	for i, p := range b.parts[:cuts] {
		p.end = make([]uint32, b.c.Neurons)
		b.parts[i+1].first = p.end
		wg.Go(func() {
			for n := range p.end {
				p.end[n] = uint32(below(b.c.Target[b.c.Row[n]:b.c.Row[n+1]], p.hi))
			}
		})
	}
	wg.Wait()
}

// delays lists the delays that occur in c.
func delays(c *connectome.Connectome) []int {
	if c.Delay == nil {
		return []int{1}
	}
	var seen [256]bool
	for _, d := range c.Delay {
		seen[d] = true
	}
	var list []int
	for d, is := range seen {
		if is {
			list = append(list, d)
		}
	}
	return list
}

// Step is the law of a burst; each part does its share of steps 1 to 5.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	b.in = in
	b.pool.run()
	out.Number, out.Fired, out.Candidates = b.number, out.Fired[:0], out.Candidates[:0]
	for _, p := range b.parts {
		out.Fired = append(out.Fired, p.fired...)
		out.Candidates = append(out.Candidates, p.fcl...)
	}
	out.Potentials = out.Potentials[:0]
	for _, n := range b.want.Potentials {
		out.Potentials = append(out.Potentials, b.v[n])
	}
	q := b.queues
	oldest := q[len(q)-1]
	copy(q[1:], q)
	q[0] = append(oldest[:0], out.Fired...)
	b.number++
	return nil
}

// ReadState copies the state.
func (b *backend) ReadState(s *engine.State) error {
	s.Number = b.number
	s.V = append(s.V[:0], b.v...)
	s.Refractory = append(s.Refractory[:0], b.r...)
	s.Count = append(s.Count[:0], b.count...)
	s.Queues = slices.Grow(s.Queues[:0], len(b.queues))[:len(b.queues)]
	for i, q := range b.queues {
		s.Queues[i] = append(s.Queues[i][:0], q...)
	}
	return nil
}

// WriteState replaces the state.
func (b *backend) WriteState(s *engine.State) error {
	b.number = s.Number
	b.v = append(b.v[:0], s.V...)
	b.r = append(b.r[:0], s.Refractory...)
	b.count = append(b.count[:0], s.Count...)
	b.queues = b.queues[:0]
	for _, q := range s.Queues {
		b.queues = append(b.queues, slices.Clone(q))
	}
	return nil
}

// Close ends the threads.
func (b *backend) Close() error {
	b.pool.close()
	return nil
}
