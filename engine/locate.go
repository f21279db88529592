package engine

import "fmt"

// replayable reports whether past bursts can run again: the stimuli of Sources are not kept, nor which of
// the genome's were on.
func (e *Engine) replayable() bool { return len(e.o.Sources) == 0 && !e.feed.own.turned }

// locate finds the burst after which the number x was no longer finite. It runs the bursts since the kept state again, which
// gives the same bits, and looks at each of them. So a look stays cheap while all is well.
func (e *Engine) locate(x *NotFinite) error {
	found := e.numberError(x, e.sound, e.number-1)
	if !e.replayable() {
		return found
	}
	if e.kept.V == nil {
		e.kept = *NewState(e.c)
	}
	burst, at, err := e.replay()
	if err != nil {
		return fmt.Errorf("%w; running again to find its burst: %w", found, err)
	}
	if at == nil {
		return found // the device did not do the same again
	}
	return e.numberError(at, burst, burst)
}

// numberError is the error for a number that was finite before burst after and is not after burst burst.
func (e *Engine) numberError(x *NotFinite, after, burst uint64) *NumberError {
	x.Locate(e.c)
	a := &e.c.Areas[e.c.AreaOf(x.Neuron)]
	return &NumberError{NotFinite: *x, Area: a.Name, Name: x.name(e.c), Index: x.Neuron - a.Neurons.First, After: after, Burst: burst}
}

// replay runs the bursts from the kept state again, up to the first after which a number is not finite: first in strides,
// keeping the state after each, then one by one.
func (e *Engine) replay() (burst uint64, x *NotFinite, err error) {
	if err := e.b.WriteState(&e.kept); err != nil {
		return 0, nil, err
	}
	feed, stride := NewFeed(e.c, nil), uint64(watchEvery)
	for e.kept.Number < e.number {
		stride = min(stride, e.number-e.kept.Number)
		for t := e.kept.Number; t < e.kept.Number+stride; t++ {
			in, err := feed.Next(t)
			if err == nil {
				err = e.b.Backend.Step(in, &e.burst)
			}
			if err != nil {
				return 0, nil, fmt.Errorf("burst %d: %w", t, err)
			}
		}
		if err := e.b.ReadState(&e.read); err != nil {
			return 0, nil, err
		}
		x = e.read.NotFinite()
		switch {
		case x == nil:
			e.kept, e.read = e.read, e.kept
		case stride == 1:
			if w, ok := e.b.Backend.(Watcher); ok {
				if found := w.NotFinite(); found != nil { // which knows the synapses of all parts
					x = found
				}
			}
			return e.kept.Number, x, nil
		default:
			stride = 1
			if err := e.b.WriteState(&e.kept); err != nil {
				return 0, nil, err
			}
		}
	}
	return 0, nil, nil
}
