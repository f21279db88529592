package engine

import (
	"context"
	"time"
)

// clock is what an Engine takes time from. It never goes back on a machine that keeps Go's promise of a monotonic clock, whoever sets
// the time of day; an Engine goes on at its rate also if it does.
type clock interface {
	now() time.Time
	// sleep sleeps for d, if that is long no longer than ctx, and until somebody wakes it, which it then reports.
	sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) (woken bool)
}

// system is the machine's clock.
type system struct{}

func (system) now() time.Time { return time.Now() }
func (system) sleep(ctx context.Context, wake <-chan struct{}, d time.Duration) bool {
	return nap(ctx, wake, d)
}

// pace starts bursts at a frequency, and measures how late they start.
type pace struct {
	clock
	period   time.Duration // 0: as fast as it goes
	next     time.Time     // when the next burst is due
	margin   time.Duration // how much longer than asked for a sleep has lately taken
	late     uint64
	lateness latency
}

const (
	longNap    = 20 * time.Millisecond  // a sleep of more ends with the context, and can be woken
	mostMargin = 250 * time.Microsecond // a machine on which sleeps are later has others to serve
)

// wait returns when the next burst is due, when ctx ends, or before that if it is woken. It sleeps for as long as a sleep may be trusted to
// end in time, and then looks at the clock until the moment has come.
func (p *pace) wait(ctx context.Context, wake <-chan struct{}) (due bool, err error) {
	if err := ctx.Err(); err != nil || p.period == 0 {
		return true, err
	}
	now := p.due(p.now())
	p.margin -= p.margin / 64 // else one late sleep could be the last
	for d := p.next.Sub(now) - p.margin; d > 0; d = p.next.Sub(now) - p.margin {
		asleep := d
		if d > longNap {
			asleep = d - longNap/2
		}
		woken := p.sleep(ctx, wake, asleep)
		if err := ctx.Err(); err != nil || woken {
			return false, err
		}
		wake := now.Add(asleep)
		now = p.due(p.now())
		p.trust(now.Sub(wake))
	}
	for now.Before(p.next) {
		now = p.due(p.now())
	}
	p.started(now)
	return true, nil
}

// due gives now, and brings the next burst's moment near where the clock has gone back: it is never more than a period away.
func (p *pace) due(now time.Time) time.Time {
	if p.next.Sub(now) > p.period {
		p.next = now.Add(p.period)
	}
	return now
}

// trust learns from how much longer than asked for a sleep took: more at once, less little by little, in wait.
func (p *pace) trust(over time.Duration) {
	if over > p.margin {
		p.margin = min(over, mostMargin)
	}
}

// started notes that a burst starts. After one that starts more than a whole period late the clock begins anew rather than chase
// what is lost.
func (p *pace) started(now time.Time) {
	behind := now.Sub(p.next)
	p.lateness.add(behind)
	if behind > p.period/10 {
		p.late++
	}
	if behind > p.period {
		p.next = now
	}
	p.next = p.next.Add(p.period)
}

// byTimer sleeps until d is over, ctx ends or somebody wakes it.
func byTimer(ctx context.Context, wake <-chan struct{}, d time.Duration) (woken bool) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	case <-wake:
		return true
	}
	return false
}
