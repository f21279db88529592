package live

import (
	"context"
	"errors"
	"fmt"

	"burst/record/manifest"
	"burst/run"
)

// Step runs n bursts on the caller's goroutine, with the given values and those that are held, as fast as possible. Values that other
// feeders set meanwhile count from the next Step on. A value that counts once is input of the first burst. If a value is refused, nothing
// is run and no value counts. When ctx ends, Step stops between two bursts. All values must be of one feeder.
func (s *Session) Step(ctx context.Context, n uint64, values ...Value) error {
	if err := s.take(ctx); err != nil {
		return err
	}
	defer s.release()
	to, end := s.run.Number()+n, uint64(manifest.MostBursts)
	if s.run.Planned > 0 {
		end = s.run.End()
	}
	if left := end - s.run.Number(); n > left {
		return fmt.Errorf("live: a step of %d bursts at burst %d, want at most the %d to the run's end", n, s.run.Number(), left)
	}
	if len(values) > 0 {
		if err := values[0].feeder().Set(values...); err != nil {
			return err
		}
	}
	s.inbox.step(s.run.Number(), to)
	return s.run.Advance(ctx, to)
}

// ErrBusy is the error of Step and Run beside a Run that is not paused.
var ErrBusy = errors.New("live: Run is at work; Pause it first")

// take takes the run for a Step.
func (s *Session) take(ctx context.Context) error {
	s.modes.Lock()
	running := s.running && !s.paused
	s.modes.Unlock()
	if running {
		return ErrBusy
	}
	s.own.Lock()
	err := s.finish(ctx)
	if s.closed.Load() {
		err = ErrClosed
	}
	if err != nil {
		s.release()
	}
	return err
}

// Run runs bursts at the session's rate, or as fast as possible without one. It returns at the run's planned end, after Close, or when ctx
// ends, with ctx's error. While the session is paused it waits.
func (s *Session) Run(ctx context.Context) error {
	if !s.setRunning(true) {
		return ErrBusy
	}
	defer s.setRunning(false)
	to := s.run.End()
	if s.run.Planned == 0 {
		to = manifest.MostBursts
	}
	for {
		if err := s.unpaused(ctx); err != nil {
			return err
		}
		done, err := s.stretch(ctx, to)
		if done || err != nil {
			return err
		}
	}
}

func (s *Session) setRunning(on bool) bool {
	s.modes.Lock()
	defer s.modes.Unlock()
	if on && s.running {
		return false
	}
	s.running = on
	return true
}

// unpaused waits while the session is paused.
func (s *Session) unpaused(ctx context.Context) error {
	for {
		s.modes.Lock()
		paused, again := s.paused, s.again
		s.modes.Unlock()
		if s.closed.Load() {
			return ErrClosed
		}
		if !paused {
			return nil
		}
		select {
		case <-again:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// stretch runs until the end, which is done, or until Pause.
func (s *Session) stretch(ctx context.Context, to uint64) (done bool, err error) {
	s.own.Lock()
	defer s.release()
	within, halt := context.WithCancel(ctx)
	defer halt()
	s.modes.Lock()
	s.halt = halt
	paused := s.paused
	s.modes.Unlock()
	if paused || s.closed.Load() {
		return false, nil
	}
	if err := s.finish(within); err != nil {
		return false, err
	}
	s.inbox.free()
	s.run.Engine().Pace(s.period)
	s.going = true
	err = s.run.Advance(within, to)
	s.going = false
	s.run.Engine().Pace(0)
	if err != nil && ctx.Err() == nil && within.Err() != nil && errors.Is(err, within.Err()) {
		return false, nil
	}
	return true, err
}

// Pause stops Run between two bursts, and returns when it has stopped; Step may be called then. A session that is not running is
// paused from the beginning of the next Run.
func (s *Session) Pause() {
	s.modes.Lock()
	s.paused = true
	if s.halt != nil {
		s.halt()
	}
	s.modes.Unlock()
	s.own.Lock()
	s.release()
}

// Unpause lets Run go on after Pause.
func (s *Session) Unpause() {
	s.modes.Lock()
	defer s.modes.Unlock()
	s.paused = false
	close(s.again)
	s.again = make(chan struct{})
}

// SetRate changes the rate that Run holds, such as 1kHz; "" is as fast as it goes.
func (s *Session) SetRate(rate string) error {
	period, err := run.ParseRate(rate)
	if err != nil {
		return fmt.Errorf("live: rate %w", err)
	}
	return s.do(func(r *run.Run) error {
		s.period = period
		if s.going {
			r.Engine().Pace(period)
		}
		return nil
	})
}

// do calls f between two bursts, in one of the goroutines that use the session, and returns f's error.
func (s *Session) do(f func(*run.Run) error) error {
	return s.between(func(r *run.Run) error {
		if s.closed.Load() {
			return ErrClosed
		}
		return f(r)
	})
}

// act is do for what changes or keeps the state: what Resume has left undone is done before.
func (s *Session) act(f func(*run.Run) error) error {
	return s.do(func(r *run.Run) error {
		if err := s.finish(context.Background()); err != nil {
			return err
		}
		return f(r)
	})
}

// between is do, also after Close.
func (s *Session) between(f func(*run.Run) error) error {
	done := make(chan error, 1)
	s.asking.Lock()
	s.asked = append(s.asked, func() { done <- f(s.run) })
	s.anyone.Store(true)
	s.asking.Unlock()
	if s.own.TryLock() {
		s.release()
	} else {
		s.run.Engine().Between(s.answer)
	}
	return <-done
}

// answer does what was asked for; whoever calls it holds own.
func (s *Session) answer() error {
	if !s.anyone.Load() {
		return nil
	}
	s.asking.Lock()
	list := s.asked
	s.asked = nil
	s.anyone.Store(false)
	s.asking.Unlock()
	for _, f := range list {
		f()
	}
	return nil
}

// release gives the run back, and does what was asked for since the last burst. One that asks after this finds the run free.
func (s *Session) release() {
	s.answer()
	s.own.Unlock()
	for s.anyone.Load() && s.own.TryLock() {
		s.answer()
		s.own.Unlock()
	}
}
