package engine

import (
	"context"
	"time"
)

// timers is a clock that sleeps by Go's timers, which a test's clock drives.
type timers struct{ system }

func (timers) sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	return byTimer(ctx, wake, d)
}

// OnTimers makes an engine sleep by Go's timers.
func OnTimers(e *Engine) *Engine {
	e.pace.clock = timers{}
	return e
}

// Clock is one that tests move.
type Clock struct {
	Time time.Time
	Tick time.Duration // by which it goes on whenever it is read

	Waited time.Duration // in all
}

func (c *Clock) now() time.Time {
	c.Time, c.Waited = c.Time.Add(c.Tick), c.Waited+c.Tick
	return c.Time
}

func (c *Clock) sleep(_ context.Context, _ <-chan struct{}, d time.Duration) bool {
	c.Time, c.Waited = c.Time.Add(d), c.Waited+d
	return false
}

// OnClock makes an engine take time from c.
func OnClock(e *Engine, c *Clock) *Engine {
	e.pace.clock = c
	e.pace.next = c.Time
	return e
}
