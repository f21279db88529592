package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"burst/connectome"
)

// Engine advances one network: it gathers and checks stimuli, calls the backend, keeps the digest and the timings, and
// hands every burst to the recorders in order. One goroutine at a time uses it; Between and Fits are for any.
type Engine struct {
	c       *connectome.Connectome
	b       *Digest
	o       Options
	number  uint64 // the next burst
	pace    pace
	latency latency
	feed    *Feed
	burst   Burst
	looked  uint64 // the next burst at the last look for NaN and Inf
	sound   uint64 // the whole state was finite before this burst
	kept    State  // a recent state without NaN and Inf; V is nil for the state before burst 0
	read    State  // memory for the next one
	failed  error  // a NaN or Inf; only Restore continues after it

	asking  sync.Mutex
	asked   []func() error // to be called between two bursts
	anybody atomic.Bool    // asked is not empty
	wake    chan struct{}  // ends a wait for the next burst
}

// Options of an Engine; the zero value runs a network by itself, as fast as it goes.
type Options struct {
	Sources   []Source      // beside the genome's own stimuli
	Recorders []Recorder    // called in this order
	Period    time.Duration // time from one burst's start to the next; 0: as fast as it goes
}

// New makes an engine for a backend that holds c in the state before burst 0.
func New(c *connectome.Connectome, b Backend, o Options) *Engine {
	p := pace{clock: system{}, period: o.Period, lateness: newLatency()}
	return &Engine{c: c, b: NewDigest(b), o: o, feed: NewFeed(c, o.Sources), pace: p, latency: newLatency(), wake: make(chan struct{}, 1)}
}

// Run advances n bursts. It stops at a burst's boundary when ctx ends, and returns ctx's error then. It looks for NaN and Inf now and
// then, and at the end where synapses learn that may fail (overflow: fail): then nil says that no weight has left its room, and a Run of
// few bursts takes most of its time for this.
func (e *Engine) Run(ctx context.Context, n uint64) error {
	if e.pace.period != 0 {
		e.pace.next = e.pace.now()
	}
	if err := e.Continue(ctx, n); err != nil || !slices.ContainsFunc(e.c.Plastic, func(p connectome.Plastic) bool { return p.Fails() }) {
		return err
	}
	return e.Check()
}

// Continue is Run without the look at the end, and with a Period the clock of the Run before goes on: what its caller has done meanwhile
// makes bursts late.
func (e *Engine) Continue(ctx context.Context, n uint64) error {
	if e.failed != nil {
		return e.failed
	}
	if err := e.keepFirst(); err != nil {
		return err
	}
	for size := e.firstBatch(); n > 0; {
		if err := e.between(); err != nil {
			return err
		}
		ran, err := min(size, e.ahead(n)), error(nil)
		if ran > 0 {
			size, err = e.batch(ctx, ran, size)
		} else {
			ran, err = 1, e.single(ctx)
		}
		if err != nil {
			return err
		}
		if err := e.look(); err != nil {
			return err
		}
		n -= ran
	}
	return e.between()
}

// keepFirst keeps the state before burst 0, for locate, where it cannot be made again here: of a part of a network, whose other
// parts alone know what their synapses start from.
func (e *Engine) keepFirst() error {
	if e.number > 0 || e.kept.V != nil || len(e.c.Plastic) == 0 || e.c.Part.Whole() || !e.replayable() {
		return nil
	}
	return e.b.ReadState(&e.kept)
}

// ahead is how many of the next n bursts the backend may run by itself, because no Source has anything for them; 0 where it
// has to be told burst by burst.
func (e *Engine) ahead(n uint64) uint64 {
	if e.pace.period != 0 || !e.feed.wholly() || !e.b.CanStepN() {
		return 0
	}
	for _, s := range e.o.Sources {
		q, knows := s.(QuietSource)
		if !knows {
			return 0
		}
		until := max(q.QuietUntil(e.number), e.number)
		n = min(n, until-e.number)
	}
	return n
}

// firstBatch is how many bursts Run has a Batcher run before it knows how long they take. Who can do few at a time as well has few.
func (e *Engine) firstBatch() uint64 {
	if w, windowed := e.b.Backend.(Windowed); windowed {
		return uint64(w.Window())
	}
	return 64
}

// batch has the backend run n bursts, and gives how many may be run next time: so many that ctx is looked at about fifty times
// a second.
func (e *Engine) batch(ctx context.Context, n, size uint64) (uint64, error) {
	const look = 20 * time.Millisecond
	if err := ctx.Err(); err != nil {
		return size, err
	}
	start := e.pace.now()
	last := start
	windows, windowed := e.b.Backend.(Windowed)
	err := e.b.StepN(int(n), func(b *Burst) error {
		if windowed {
			e.latency.add(windows.BurstTime())
		} else {
			now := e.pace.now()
			e.latency.add(now.Sub(last))
			last = now
		}
		return e.delivered(b)
	})
	if err != nil {
		return size, fmt.Errorf("burst %d: %w", e.number, err)
	}
	switch took := e.pace.now().Sub(start); {
	case took < look/2 && n == size: // fewer say nothing about so many
		size *= 2
	case took > 2*look:
		size = max(1, n/2)
	}
	return size, nil
}

// single runs one burst when it is due, and until then does what is asked for.
func (e *Engine) single(ctx context.Context) error {
	for {
		due, err := e.pace.wait(ctx, e.wake)
		if err != nil {
			return err
		}
		if due {
			break
		}
		if err := e.between(); err != nil {
			return err
		}
	}
	if err := e.step(); err != nil {
		return fmt.Errorf("burst %d: %w", e.number, err)
	}
	return nil
}

// step is one burst.
func (e *Engine) step() error {
	in, err := e.feed.Next(e.number)
	if err != nil {
		return err
	}
	start := e.pace.now()
	if err := e.b.Step(in, &e.burst); err != nil {
		return err
	}
	e.latency.add(e.pace.now().Sub(start))
	return e.delivered(&e.burst)
}

// delivered hands a burst to the recorders.
func (e *Engine) delivered(b *Burst) error {
	if b.Number != e.number {
		panic(fmt.Sprintf("BUG: the backend ran burst %d instead of %d", b.Number, e.number))
	}
	for _, r := range e.o.Recorders {
		if e.failed = r.Record(b); e.failed != nil { // the backend is a burst ahead
			return e.failed
		}
	}
	e.number++
	return nil
}

// Pace sets the time from one burst's start to the next, 0 for none, from the next burst on. It is for the goroutine that uses the
// engine, such as a function of Between.
func (e *Engine) Pace(period time.Duration) {
	e.pace.period, e.pace.next = period, e.pace.now()
}

// Switch turns one of the genome's stimuli off, or on again, from the next burst on, until another Switch: the state does not say
// which are on. It is for the goroutine that uses the engine, such as a function of Between.
func (e *Engine) Switch(stimulus int, on bool) error {
	if n := len(e.c.Stimuli); stimulus < 0 || stimulus >= n {
		return fmt.Errorf("stimulus %d, want less than the genome's %d", stimulus, n)
	}
	e.feed.turn(stimulus, on)
	return nil
}

// Replace continues with another backend, for c: the network with other drives or stimuli (connectome.Redriven), as many stimuli as
// before, from the next burst on. s is the present State. The backend before is the caller's to close. It is for the goroutine that
// uses the engine, such as a function of Between.
func (e *Engine) Replace(c *connectome.Connectome, b Backend, s *State) error {
	if err := b.WriteState(s); err != nil {
		return err
	}
	e.c, e.b.Backend, e.feed = c, b, e.feed.over(c)
	return nil
}

// Between has Run call f between two bursts, when the state may be read with State and replaced with Restore: after the
// burst that runs now, or after those that a Batcher runs now, which takes some hundredths of a second at most; while Run waits for a burst
// to be due, at once. While no Run is at work f waits for the next one. An error of f ends Run. Any goroutine may call Between; Run's own
// calls f.
func (e *Engine) Between(f func() error) {
	e.asking.Lock()
	defer e.asking.Unlock()
	e.asked = append(e.asked, f)
	e.anybody.Store(true)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// between calls what was asked for. What a function asks for is called next time, so that one may ask for itself again.
func (e *Engine) between() error {
	if !e.anybody.Load() {
		return nil
	}
	e.asking.Lock()
	list := e.asked
	e.asked = nil
	e.anybody.Store(false)
	e.asking.Unlock()
	for i, f := range list {
		if err := f(); err != nil {
			e.putBack(list[i+1:])
			return err
		}
	}
	return nil
}

// putBack keeps functions, after one that failed, for the next Run.
func (e *Engine) putBack(list []func() error) {
	e.asking.Lock()
	defer e.asking.Unlock()
	e.asked = append(list, e.asked...)
	e.anybody.Store(len(e.asked) > 0)
}

// Fits reports whether stimuli may be given in any burst, beside the genome's own: any subset of them, with either sign, leaves
// every sum within int32, whatever the synapses deliver. The error for the first that does not fit is a *RoomError. Any
// goroutine may call it.
func (e *Engine) Fits(in []Stimulus) error { return e.feed.Fits(in) }

// Number is the next burst.
func (e *Engine) Number() uint64 { return e.number }

// Digest is the running digest of all fire queues so far (step 5 of the law).
func (e *Engine) Digest() uint64 { return e.b.Sum() }

// Spikes is the number of spikes in the bursts that this engine has run since New. Restore does not change it, nor Late, Lateness and
// Latency: a state does not say what came before it.
func (e *Engine) Spikes() uint64 { return e.b.Spikes() }

// Late is how many bursts began more than a tenth of a period after they were due, since New.
func (e *Engine) Late() uint64 { return e.pace.late }

// Lateness summarises how long after they were due bursts began, since New; all 0 without a Period. The first burst of a Run is due
// when Run is called.
func (e *Engine) Lateness() Latency { return e.pace.lateness.summary() }

// Latency summarises how long the bursts took, since New. Where bursts run one by one, it is the time of the backend's Step.
// Where the backend runs many at a time (a Batcher, without a Period, while every Source is quiet), it is the time from one
// burst's arrival to the next, which includes the recorders, or if several arrive together (Windowed) an equal share of it.
func (e *Engine) Latency() Latency { return e.latency.summary() }

// State copies the state, digest included, into s. If it has a NaN or Inf, the error is a *NumberError.
func (e *Engine) State(s *State) error {
	if e.failed != nil {
		return e.failed
	}
	if err := e.b.ReadState(s); err != nil {
		return err
	}
	s.Digest = e.b.Sum()
	return e.judge(s.NotFinite())
}

// Restore continues from s, a state of the same connectome. Number and Digest are then those of s; Spikes, Late, Lateness
// and Latency keep counting the work of this engine.
func (e *Engine) Restore(s *State) error {
	if err := s.Check(e.c); err != nil {
		return err
	}
	if err := e.b.WriteState(s); err != nil {
		return err
	}
	e.number, e.looked, e.sound, e.b.digest.sum, e.failed = s.Number, s.Number, s.Number, s.Digest, nil
	if !e.replayable() {
		return nil
	}
	return e.b.ReadState(&e.kept)
}

// Check reports the first thing in which s does not fit c; nil fits none.
func (s *State) Check(c *connectome.Connectome) error {
	if s == nil {
		return errors.New("no state (nil), want one of the network")
	}
	n := int(c.Neurons)
	if len(s.V) != n || len(s.Refractory) != n || len(s.Count) != n || len(s.Queues) != c.Queues() {
		return fmt.Errorf("state of %d neurons and %d fire queues, want %d and %d", len(s.V), len(s.Queues), n, c.Queues())
	}
	if len(s.More) != c.Variables() {
		return fmt.Errorf("state of %d further variables, want %d", len(s.More), c.Variables())
	}
	for k, values := range s.More {
		if len(values) != n {
			return fmt.Errorf("state: further variable %d of %d neurons, want %d", k+1, len(values), n)
		}
	}
	if len(s.Plastic) != len(c.Plastic) {
		return fmt.Errorf("state of %d plastic projections, want %d", len(s.Plastic), len(c.Plastic))
	}
	for i := range s.Plastic {
		if err := s.Plastic[i].check(&c.Plastic[i], s.Number); err != nil {
			return err
		}
	}
	memories := c.Memories()
	if len(s.Memory) != len(memories) {
		return fmt.Errorf("state of %d memory areas, want %d", len(s.Memory), len(memories))
	}
	for i, a := range memories {
		if err := s.Memory[i].check(a); err != nil {
			return err
		}
	}
	if x := FindNotFinite(s.V, s.More); x != nil { // those of Plastic have been looked at
		return fmt.Errorf("state: %s of neuron %d is %v", x.name(c), x.Neuron, x.Value)
	}
	for d, q := range s.Queues {
		for i, id := range q {
			if id >= c.Neurons || i > 0 && id <= q[i-1] {
				return fmt.Errorf("state: fire queue of %d bursts earlier, entry %d: %d found, want ascending ids below %d", d+1, i, id, n)
			}
		}
	}
	return s.checkAmplitudes(c)
}
