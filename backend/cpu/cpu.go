// Package cpu is the fast CPU backend. The neurons of each area are divided among workers, one per thread. A worker owns
// the state and the sums of its neurons, and the synapses that end at them. No two threads write to the same page of memory, but
// what a thread hands to others. So no atomics are needed, and the bits do not depend on the number of threads. Threads meet after
// every burst, or in StepN after every window of bursts.
//
// A network can be split into parts (connectome.Part). The backend then stores the state of its own part only. Its neurons are counted
// from 0 by a local index. This package uses local indices inside. Stimuli, random draws, fire queues and candidates use the numbers of
// the whole network. Without a split both are the same.
package cpu

import (
	"fmt"
	"runtime"
	"slices"
	"time"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
)

// One more thread is started for every perThread neurons (see BenchmarkCutoff); perNeuron synapses count as one neuron, and a
// plastic one as 16.
const (
	perThread = 8192
	perNeuron = 200
)

// Options of Open; the zero value uses every processor and delivers no FCL.
type Options struct {
	Threads int // not negative; 0: up to GOMAXPROCS, as many as the first bursts find to be best; tiny networks use fewer
	Want    engine.Want

	QueueBytes uint64 // the most that fire queues, their copies and spikes on their way may take; 0: any
}

// backend holds one network.
type backend struct {
	c          *connectome.Connectome
	own        connectome.Part
	want       engine.Want
	kernels    vector.Kernels
	number     uint64
	queues     queues
	queueBytes uint64               // as in Options
	amplitudes [][]engine.Amplitude // as in engine.State
	workers    []*worker
	boxes      [][]box // what the newest bursts of a course left, in turn, with each worker
	pool       *pool
	learns     []*learning // plastic projections
	sourcesOf  []int       // per projection, the first of those that share its departures
	targetsOf  []int       // likewise its posts
	memories   []*recalled // memory areas
	moving     []moving    // one an area

	feed   *engine.Feed // of StepN: the genome's own stimuli
	window int          // bursts, see StepN
	course course
	out    engine.Burst  // of StepN
	took   time.Duration // the newest burst of StepN
}

// Open makes a backend for c in the state before burst 0.
func Open(c *connectome.Connectome, o Options) (engine.Backend, error) {
	if o.Threads < 0 {
		return nil, fmt.Errorf("cpu: %d threads, want a whole number; 0 is as many as are best", o.Threads)
	}
	if err := checkRuns(c, mostOfDelay); err != nil {
		return nil, err
	}
	b := open(c, o.Want, threads(c, o.Threads), vector.Best())
	b.queueBytes = o.QueueBytes
	b.pool.tuner.ended = o.Threads > 0
	return b, nil
}

// Twin makes a backend for c, which is b's network with another run seed. It shares b's rows, which never change, and
// goes on with b's number of threads; b may be closed first.
func (b *backend) Twin(c *connectome.Connectome) (engine.Backend, error) {
	twin := made(c, b.want, len(b.workers), b.kernels, func([]*worker) []rows {
		list := make([]rows, len(b.workers))
		for i, w := range b.workers {
			list[i] = w.rows
		}
		return list
	})
	twin.pool.tuner = b.pool.tuner.afresh()
	return twin, nil
}

// threads is the number of threads to use for c: the wanted number (0: all processors), or fewer if c is small.
func threads(c *connectome.Connectome, wanted int) int {
	if wanted == 0 {
		wanted = runtime.GOMAXPROCS(0)
	}
	own := int(c.Part.Count(c.Neurons))
	synapses := c.Synapses() + c.Driven.Synapses()
	for i := range c.Plastic {
		synapses += 16 * c.Plastic[i].Synapses()
	}
	return max(1, min(wanted, 1+(own+int(synapses/perNeuron))/perThread, own))
}

// open uses exactly the given number of workers.
func open(c *connectome.Connectome, w engine.Want, workers int, kernels vector.Kernels) *backend {
	return made(c, w, workers, kernels, func(list []*worker) []rows { return makeRows(c, list, delays(c, len(list))) })
}

// made uses the rows that rowsOf gives the workers.
func made(c *connectome.Connectome, w engine.Want, workers int, kernels vector.Kernels, rowsOf func([]*worker) []rows) *backend {
	b := &backend{c: c, own: c.Part, want: w, kernels: kernels, feed: engine.NewFeed(c, nil)}
	b.moving = makeMoving(c)
	b.workers = makeWorkers(b, workers, rowsOf)
	b.makeBoxes(1)
	b.learns = makeLearning(b)
	b.memories = makeMemories(c)
	b.dealProbes()
	b.window = windowFor(b.workers[0].rows.least)
	b.pool = newPool(b.workers, b.windows)
	if err := b.WriteState(engine.NewState(c)); err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

// Step advances by one burst; each worker does its share of steps 1 to 5.
func (b *backend) Step(in []engine.Stimulus, out *engine.Burst) error {
	b.begin(in)
	threads := b.pool.wanted(1)
	begun := b.pool.tuner.begin()
	b.pool.do(aStep, threads)
	b.pool.tuner.end(1, begun)
	return b.finish(out)
}

// begin prepares the burst in progress.
func (b *backend) begin(in []engine.Stimulus) {
	for _, w := range b.workers {
		w.now, w.in = b.number, in
	}
	for i := range b.moving {
		b.moving[i].move(b.number)
	}
	for _, l := range b.learns {
		l.begin()
	}
	for _, m := range b.memories {
		m.neuron, m.fires = m.Remember(b.number, b.queues.back)
	}
}

// finish ends it.
func (b *backend) finish(out *engine.Burst) error {
	var err error
	if out.Amplitudes, err = b.gatherAmplitudes(out.Amplitudes[:0]); err != nil {
		return err
	}
	b.collect(b.number, 0, out)
	if a := b.amplitudes; len(a) > 0 {
		oldest := a[len(a)-1]
		copy(a[1:], a)
		a[0] = append(oldest[:0], out.Amplitudes...)
	}
	return b.keep(out.Fired)
}

// keep makes a burst's fire queue the newest one.
func (b *backend) keep(fired []uint32) error {
	b.queues.push(fired)
	b.number++
	if b.queueBytes > 0 {
		return b.checkQueues()
	}
	return nil
}

// SetQueue replaces the fire queue of the burst that is delay bursts back by the spikes of all parts.
func (b *backend) SetQueue(delay int, fired []uint32) {
	if b.queues.set(delay, fired); len(b.memories) > 0 { // which look for areas in it
		slices.Sort(b.queues.back(delay))
	}
}

// ReadState copies the state. Neurons of other parts of the network get zeros.
func (b *backend) ReadState(s *engine.State) error {
	b.settleEvents()
	s.Number = b.number
	s.V = gather(b, s.V, func(g *group) []float32 { return g.v })
	s.Refractory = gather(b, s.Refractory, func(g *group) []uint16 { return g.r })
	s.Count = gather(b, s.Count, func(g *group) []uint16 { return g.count })
	s.More = resized(s.More, b.c.Variables())
	for k := range s.More {
		s.More[k] = gather(b, s.More[k], func(g *group) []float32 { return g.more[k] })
	}
	s.Queues = resized(s.Queues, b.queues.depth())
	for i := range s.Queues {
		s.Queues[i] = append(s.Queues[i][:0], b.queues.back(i+1)...)
	}
	s.Amplitudes = resized(s.Amplitudes, len(b.amplitudes))
	for i, list := range b.amplitudes {
		s.Amplitudes[i] = append(s.Amplitudes[i][:0], list...)
	}
	b.readLearnt(s)
	s.Memory = resized(s.Memory, len(b.memories))
	for i, m := range b.memories {
		m.Read(&s.Memory[i])
	}
	return nil
}

// scatter copies the values of the backend's own neurons of a span into out, which has one entry per neuron of the span.
func scatter[T any](b *backend, span connectome.Span, out, own []T) []T {
	if b.own.Whole() {
		return append(out[:0], own...)
	}
	out = resized(out, int(span.Count))
	clear(out)
	b.eachSlice(b.span(span).First, len(own), func(i, end int, neuron uint32) { copy(out[neuron-span.First:], own[i:end]) })
	return out
}

// pick copies the values of the backend's own neurons of a span from all, which has one entry per neuron of the span.
func pick[T any](b *backend, span connectome.Span, own, all []T) {
	b.eachSlice(b.span(span).First, len(own), func(i, end int, neuron uint32) { copy(own[i:end], all[neuron-span.First:]) })
}

// WriteState replaces the state.
func (b *backend) WriteState(s *engine.State) error {
	b.number = s.Number
	handOut(b, func(g *group) []float32 { return g.v }, s.V)
	handOut(b, func(g *group) []uint16 { return g.r }, s.Refractory)
	handOut(b, func(g *group) []uint16 { return g.count }, s.Count)
	for k, more := range s.More {
		handOut(b, func(g *group) []float32 { return g.more[k] }, more)
	}
	b.queues = newQueues(s.Number, s.Queues)
	b.amplitudes = b.amplitudes[:0]
	for _, list := range s.Amplitudes {
		b.amplitudes = append(b.amplitudes, slices.Clone(list))
	}
	b.join(s)
	for i, l := range b.learns {
		l.write(&s.Plastic[i])
	}
	for i, m := range b.memories {
		m.Write(&s.Memory[i])
	}
	for _, w := range b.workers {
		w.restore(s)
	}
	return nil
}

// Threads is the number of threads in use.
func (b *backend) Threads() int { return len(b.workers) }

// ThreadsUsed is the number of threads that the newest burst used.
func (b *backend) ThreadsUsed() int { return b.pool.threads }

// Settled reports whether the backend goes on with its number of threads, or with as many as there is work for.
func (b *backend) Settled() bool { return b.pool.tuner.settled() }

// RowBytes is the memory of the synapses in all rows, in bytes, without what rooms leave empty.
func (b *backend) RowBytes() uint64 {
	total := uint64(0)
	for _, w := range b.workers {
		total += 2 * (uint64(len(w.rows.units)) + w.rows.mean*uint64(b.c.Neurons))
	}
	return total
}

// NotFinite finds the first NaN or Inf in the state of the backend's own neurons, or nil.
func (b *backend) NotFinite() *engine.NotFinite {
	b.settleEvents()
	inWorker := func(w *worker) bool {
		return slices.ContainsFunc(w.shares, (*share).notFinite) ||
			slices.ContainsFunc(w.groups, func(g group) bool { return engine.FindNotFinite(g.v, g.more) != nil })
	}
	if !slices.ContainsFunc(b.learns, (*learning).notFinite) && !slices.ContainsFunc(b.workers, inWorker) {
		return nil
	}
	var s engine.State // which names its entries; hardly ever made
	if b.ReadState(&s) != nil {
		panic("BUG: the state of a cpu backend cannot be read")
	}
	return s.NotFinite()
}

// Close stops the threads.
func (b *backend) Close() error {
	b.pool.close()
	return nil
}
