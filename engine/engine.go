package engine

import (
	"context"
	"fmt"
	"time"

	"burst/connectome"
)

// Engine advances one network: it gathers and checks stimuli, calls the backend, keeps the digest and the timings, and
// hands every burst to the recorders in order. One goroutine at a time uses it.
type Engine struct {
	c         *connectome.Connectome
	b         *Digest
	o         Options
	number    uint64 // the next burst
	late      uint64
	latency   latency
	feed      *Feed
	burst     Burst
	nextStart time.Time // with Period: when the next burst is due
	looked    uint64    // the next burst when Run looked for numbers that are none
	sound     uint64    // all numbers of the state were finite before this burst
	kept      State     // one at which all numbers were finite, not long ago; without V: that before burst 0
	read      State     // memory for the next one
	failed    error     // a number that is not finite; only Restore goes on after it
}

// Options of an Engine; the zero value runs a network by itself, as fast as it goes.
type Options struct {
	Sources   []Source      // beside the genome's own stimuli
	Recorders []Recorder    // called in this order
	Period    time.Duration // time from one burst's start to the next; 0: as fast as it goes
}

// New makes an engine for a backend that holds c in the state before burst 0.
func New(c *connectome.Connectome, b Backend, o Options) *Engine {
	return &Engine{c: c, b: NewDigest(b), o: o, feed: NewFeed(c, o.Sources), latency: newLatency()}
}

// Run advances n bursts. It stops at a burst's boundary when ctx ends, and returns ctx's error then.
func (e *Engine) Run(ctx context.Context, n uint64) error {
	if e.failed != nil {
		return e.failed
	}
	e.nextStart = time.Now()
	if len(e.o.Sources) == 0 && e.o.Period == 0 && e.b.CanStepN() {
		return e.runBatches(ctx, n)
	}
	for range n {
		if err := e.wait(ctx); err != nil {
			return err
		}
		if err := e.step(); err != nil {
			return fmt.Errorf("burst %d: %w", e.number, err)
		}
		if err := e.look(); err != nil {
			return err
		}
	}
	return nil
}

// runBatches advances n bursts, many at a time; how many follows from how long they take, so that ctx is looked at about
// fifty times a second.
func (e *Engine) runBatches(ctx context.Context, n uint64) error {
	const look = 20 * time.Millisecond
	for size := uint64(64); n > 0; {
		if err := ctx.Err(); err != nil {
			return err
		}
		size = min(size, n)
		start := time.Now()
		last := start
		err := e.b.StepN(int(size), func(b *Burst) error {
			now := time.Now()
			e.latency.add(now.Sub(last))
			last = now
			return e.delivered(b)
		})
		if err != nil {
			return fmt.Errorf("burst %d: %w", e.number, err)
		}
		if err := e.look(); err != nil {
			return err
		}
		n -= size
		if took := time.Since(start); took < look/2 {
			size *= 2
		} else if took > 2*look {
			size = max(1, size/2)
		}
	}
	return nil
}

// step is one burst.
func (e *Engine) step() error {
	in, err := e.feed.Next(e.number)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := e.b.Step(in, &e.burst); err != nil {
		return err
	}
	e.latency.add(time.Since(start))
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

// wait holds the burst frequency and notices the end of ctx.
func (e *Engine) wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil || e.o.Period == 0 {
		return err
	}
	now := time.Now()
	if d := e.nextStart.Sub(now); d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-t.C:
		}
	} else if -d > e.o.Period {
		// A whole period behind: this deadline is missed, and the clock restarts here rather than chase it.
		e.late++
		e.nextStart = now
	}
	e.nextStart = e.nextStart.Add(e.o.Period)
	return nil
}

// Number is the next burst.
func (e *Engine) Number() uint64 { return e.number }

// Digest is the running digest of all fire queues so far (step 5 of the law).
func (e *Engine) Digest() uint64 { return e.b.Sum() }

// Spikes is how many neurons have fired since New, summed over the bursts that this engine has run: Restore leaves it, as it
// does Late and Latency, for a state does not say what came before it.
func (e *Engine) Spikes() uint64 { return e.b.Spikes() }

// Late is how many bursts began more than a whole period after they were due, since New.
func (e *Engine) Late() uint64 { return e.late }

// Latency summarises how long the bursts took, since New. Burst by burst that is the time in the backend's Step; where Run has
// the backend advance many at a time (a Batcher, without Sources and Period) it is the time from handing the burst before to
// the recorders until this one arrives, which is that of the recorders and of what is left to wait for then.
func (e *Engine) Latency() Latency { return e.latency.summary() }

// State copies the state, digest included, into s. A number that is not finite is a *NumberError.
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

// Restore continues from s, which an engine of the same connectome has given. Number and Digest are those of s from then on;
// Spikes, Late and Latency go on counting what this engine does.
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

// Check reports the first thing in which s does not fit c.
func (s *State) Check(c *connectome.Connectome) error {
	n := int(c.Neurons)
	if len(s.V) != n || len(s.Refractory) != n || len(s.Count) != n || len(s.Queues) != c.MaxDelay {
		return fmt.Errorf("state of %d neurons and %d fire queues, want %d and %d", len(s.V), len(s.Queues), n, c.MaxDelay)
	}
	if len(s.More) != c.Variables() {
		return fmt.Errorf("state of %d further variables, want %d", len(s.More), c.Variables())
	}
	for k, values := range s.More {
		if len(values) != n {
			return fmt.Errorf("state: further variable %d of %d neurons, want %d", k+1, len(values), n)
		}
	}
	if x := s.NotFinite(); x != nil {
		return fmt.Errorf("state: %s of neuron %d is %v", x.name(c), x.Neuron, x.Value)
	}
	for d, q := range s.Queues {
		for i, id := range q {
			if id >= c.Neurons || i > 0 && id <= q[i-1] {
				return fmt.Errorf("state: fire queue %d bursts ago is not ascending ids below %d at entry %d", d+1, n, i)
			}
		}
	}
	return nil
}
