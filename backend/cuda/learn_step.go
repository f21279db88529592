package cuda

import (
	"fmt"

	"burst/internal/cuda/driver"
)

// learnKernels are those of kernels/learn.cu, in the order of a burst.
type learnKernels struct {
	silence    entry[silenceArgs]
	spikes     entry[spikesArgs]
	window     entry[windowArgs]
	modulators entry[modulatorsArgs]
	sources    entry[sourcesArgs]
	events     entry[eventsArgs]
	rows       entry[rowsArgs]
	sweep      entry[sweepArgs]
	targets    entry[targetsArgs]
	swept      entry[sweptArgs]
	totals     entry[totalsArgs]
	every      entry[everyArgs]
	cuts       entry[cutsArgs] // of path ranges
}

// The kernels' parameters, in order.
type (
	silenceArgs struct {
		spans spans
		s     uint64
	}
	spikesArgs struct {
		spans   spans
		history history
		s       uint64
	}
	windowArgs struct {
		l     learned
		w     window
		spans spans
		fired amplitudes // none where what is delivered does not follow them
		t     uint64
	}
	modulatorsArgs struct {
		l         learned
		history   history
		t, oldest uint64
	}
	sourcesArgs struct {
		l         learned
		x         senders
		history   history
		s         uint64
		launching uint32
	}
	eventsArgs struct {
		l       learned
		history history
		t       uint64
	}
	rowsArgs struct {
		l       learned
		history history
		t       uint64
		parts   uint32
	}
	sweepArgs struct {
		l      learned
		t      uint64
		forced uint32
	}
	targetsArgs struct {
		l       learned
		x       receivers
		history history
		s       uint64
	}
	sweptArgs struct {
		l      learned
		t      uint64
		forced uint32
	}
	totalsArgs struct{ l learned }
	everyArgs  struct {
		l learned
		t uint64
	}
	cutsArgs struct {
		l   learned
		c   slice
		own uint32
	}
)

// entry is a kernel with its parameters.
type entry[A any] struct {
	name   string
	f      *driver.Function
	args   A
	params *driver.Arguments
}

// kernel is an entry of any parameters.
type kernel interface {
	find(m *driver.Module, name string) error
	release()
}

func (e *entry[A]) find(m *driver.Module, name string) error {
	e.name, e.params = name, driver.Params(&e.args)
	var err error
	e.f, err = m.Function(name)
	return err
}

func (e *entry[A]) release() {
	if e.params != nil {
		e.params.Release()
	}
}

// launch queues the kernel with at least so many threads; none are no launch.
func (e *entry[A]) launch(b *backend, threads uint64, args A) error {
	if threads == 0 {
		return nil
	}
	return e.launchGrid(uint32(divUp(threads, uint64(b.tune.threads))), b.tune.threads, 0, b.stream, args)
}

// launchGrid queues the kernel with so many blocks of so many threads, each with bytes of shared memory.
func (e *entry[A]) launchGrid(blocks, threads, shared uint32, s *driver.Stream, args A) error {
	e.args = args
	if err := e.f.LaunchShared(blocks, threads, shared, e.params, s); err != nil {
		return fmt.Errorf("%s: %w", e.name, err)
	}
	return nil
}

// named are all kernels by the ends of their names.
func (k *learnKernels) named() map[string]kernel {
	return map[string]kernel{
		"silence": &k.silence, "spikes": &k.spikes, "window": &k.window, "modulators": &k.modulators, "sources": &k.sources, "events": &k.events,
		"rows": &k.rows, "sweep": &k.sweep, "targets": &k.targets, "swept": &k.swept, "totals": &k.totals, "every": &k.every, "cuts": &k.cuts,
	}
}

func (k *learnKernels) find(m *driver.Module) error {
	for name, e := range k.named() {
		if err := e.find(m, "learn_"+name); err != nil {
			return err
		}
	}
	return nil
}

func (k *learnKernels) release() {
	for _, e := range k.named() {
		e.release()
	}
}

// spread is a number of threads that keeps the device busy, where each takes as many of so many items as it must.
func (b *backend) spread(items uint64) uint64 {
	const blocksPerSM = 8
	return min(items, uint64(b.sms)*blocksPerSM*uint64(b.tune.threads))
}

// fired is how many fired in burst s, which the queues tell of.
func (b *backend) fired(s uint64) uint64 { return b.lengths[s%b.depth()] }

// historyAt is the fire queues as kernels see them, their lengths at a place.
func (b *backend) historyAt(lengths driver.Ptr) history {
	return history{b.plan.ptr[bufQueues], uint64(b.c.Neurons), b.depth(), lengths}
}

// tellLengths uploads the fire queues' lengths. The caller waits for it before they change.
func (b *backend) tellLengths() error {
	return b.stream.Upload(b.learning.lengths, data(b.lengths), size(b.lengths))
}

// learn is steps 1a to 1c of projections that learn.
func (b *backend) learn() error {
	if b.learning == nil {
		return nil
	}
	if err := b.tellLengths(); err != nil {
		return err
	}
	if b.number > 0 {
		if err := b.count(b.number - 1); err != nil {
			return err
		}
	}
	for i := range b.learning.list {
		x := &b.learning.list[i]
		live := x.happen
		if x.windowed() {
			live = x.slide
		}
		if err := live(b); err != nil {
			return err
		}
		if err := x.settle(b); err != nil {
			return err
		}
	}
	return b.sweep(b.number, (*learner).everyIn)
}

// count takes the spikes of burst s into the spans of FEAGI's rules.
func (b *backend) count(s uint64) error {
	l := b.learning
	if l.spans.slots == 0 {
		return nil
	}
	if err := l.kernels.silence.launch(b, uint64(b.c.Neurons), silenceArgs{l.spans, s}); err != nil {
		return err
	}
	return l.kernels.spikes.launch(b, b.fired(s), spikesArgs{l.spans, l.all.history, s})
}

// slide is a burst of one of FEAGI's rules.
func (x *learner) slide(b *backend) error {
	l, fired := b.learning, amplitudes{}
	if x.p.PSPMax > 0 {
		fired = b.driving.rows.fired
	}
	return l.kernels.window.launch(b, b.spread(32*uint64(x.arg.sources)), windowArgs{x.arg, x.window, l.spans, fired, b.number})
}

// happen is a burst of any other rule.
func (x *learner) happen(b *backend) error {
	k, t, h := &b.learning.kernels, b.number, b.learning.all.history
	if err := k.modulators.launch(b, 32*uint64(x.arg.modulators), modulatorsArgs{x.arg, h, t, 0}); err != nil {
		return err
	}
	if least := uint64(x.arg.least); x.ownSources && t >= least {
		if err := x.launchSources(b, t-least); err != nil {
			return err
		}
	}
	events := uint64(x.arg.targets)
	if x.p.When == nil {
		events = 0
		if x.ownTargets && t >= x.arg.lag {
			events = b.fired(t - x.arg.lag)
		}
	}
	if err := k.events.launch(b, events, eventsArgs{x.arg, h, t}); err != nil {
		return err
	}
	pairs := uint64(0)
	for d := uint64(x.arg.least); d <= min(t, uint64(x.arg.longest)); d++ {
		pairs += b.fired(t - d)
	}
	return k.rows.launch(b, b.spread(pairs*uint64(x.parts)*32), rowsArgs{x.arg, h, t, x.parts})
}

// launchSources takes spikes of burst s in.
func (x *learner) launchSources(b *backend, s uint64) error {
	return b.learning.kernels.sources.launch(b, b.fired(s), sourcesArgs{x.arg, x.arg.live, b.learning.all.history, s, 1})
}

// everyIn reports whether the rule has a sweep after burst t.
func (x *learner) everyIn(t uint64) bool { return x.p.Every != nil && (t+1)%x.p.Rule.Every == 0 }

// sweep has all pending events applied after burst t, where forced or there is room for no more. Those who share targets sweep together.
func (b *backend) sweep(t uint64, forced func(x *learner, t uint64) bool) error {
	k := &b.learning.kernels
	for _, ends := range []bool{false, true} {
		for i := range b.learning.list {
			x := &b.learning.list[i]
			var err error
			switch all := flag(forced(x, t)); {
			case x.windowed():
			case !ends:
				err = k.sweep.launch(b, b.spread(32*uint64(x.arg.sources)), sweepArgs{x.arg, t, all})
			case x.ownTargets:
				err = k.swept.launch(b, 1, sweptArgs{x.arg, t, all})
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// settle applies the spikes that leave the fire queues to the arrays that are as the state has them, if these are kept apart from the live
// ones. For FEAGI's rules it is the only use of such spikes.
func (x *learner) settle(b *backend) error {
	k, t, h, queues := &b.learning.kernels, b.number, b.learning.all.history, b.learning.all.queues
	if err := k.modulators.launch(b, 32*uint64(x.arg.modulators), modulatorsArgs{x.kept, h, t, 0}); err != nil {
		return err
	}
	if t < queues {
		return nil
	}
	s := t - queues
	if x.settlesSources() {
		if err := k.sources.launch(b, b.fired(s), sourcesArgs{x.arg, x.senders, h, s, 0}); err != nil {
			return err
		}
	}
	if x.settlesTargets() {
		return k.targets.launch(b, b.fired(s), targetsArgs{x.arg, x.told, h, s})
	}
	return nil
}

// sweepAll is step 6.
func (b *backend) sweepAll() error {
	if b.learning == nil {
		return nil
	}
	k := &b.learning.kernels
	for i := range b.learning.list {
		x := &b.learning.list[i]
		if !x.everyIn(b.number) {
			continue
		}
		if x.arg.total != 0 {
			if err := b.stream.Fill(x.arg.total, 0, 8*uint64(x.arg.targets)); err != nil {
				return err
			}
			if err := k.totals.launch(b, b.spread(x.arg.synapses), totalsArgs{x.arg}); err != nil {
				return err
			}
		}
		if err := k.every.launch(b, b.spread(32*uint64(x.arg.sources)), everyArgs{x.arg, b.number}); err != nil {
			return err
		}
	}
	return nil
}
