package cpu

import (
	"cmp"
	"slices"
	"time"

	"burst/engine"
)

// StepN runs bursts in courses. Spikes arrive after the least delay at the earliest. So the hands, which are the goroutines that
// share the workers, meet once in a window of so many bursts only, and the workers read who fired from each other's boxes. The caller's
// goroutine puts the lists of a window together while the next one runs:
//
//	hand 0   window 0 | window 1, deliver 0 | window 2, deliver 1 | deliver 2
//	hand 1   window 0 | window 1            | window 2            |
//
// Where the least delay is long, windows are shorter and workers read the queues, which are complete by then.
const (
	mostWindow = 16 // bursts
	mostCourse = 64 // bursts: after so many, the number of hands is chosen again
)

// windowFor is the number of bursts of a window. Above mostWindow, bursts of the window before the last are the newest that are read.
func windowFor(least int) int {
	if least <= mostWindow {
		return least
	}
	return min(least/2, mostWindow)
}

// course is a stretch of bursts in progress.
type course struct {
	first  uint64
	bursts int
	in     [][]engine.Stimulus // one list a burst
	each   func(*engine.Burst) error
	err    error     // of each, or of queues without room: nothing more is delivered
	met    uint64    // the word of the meeting before the course
	ended  time.Time // the window before the one in progress
}

// CanStepN reports whether StepN may be used: where all that reaches a neuron within a window is known when it begins.
func (b *backend) CanStepN() bool {
	moves := slices.ContainsFunc(b.moving, func(m moving) bool { return m.moves })
	return b.own.Whole() && b.c.Driven == nil && !moves && len(b.learns)+len(b.memories) == 0
}

// Window is how many bursts of StepN arrive together.
func (b *backend) Window() int { return b.window }

// BurstTime is what the newest burst of StepN took: an equal share of its window's time.
func (b *backend) BurstTime() time.Duration { return b.took }

// StepN is the same as n Steps, without stimuli but the genome's.
func (b *backend) StepN(n int, each func(*engine.Burst) error) error {
	for n > 0 {
		ran, err := b.advance(n, each)
		if err != nil {
			return err
		}
		n -= ran
	}
	return nil
}

// advance runs some of n bursts: one, or a course on several hands.
func (b *backend) advance(n int, each func(*engine.Burst) error) (int, error) {
	c := &b.course
	c.first, c.bursts, c.each, c.err, c.ended = b.number, 0, each, nil, time.Now()
	hands := b.pool.wanted(uint64(b.window))
	begun := b.pool.tuner.begin()
	if hands == 1 {
		n = 1
	}
	wrong := b.foresee(min(n, mostCourse))
	if c.bursts == 0 {
		return 0, wrong
	}
	if hands == 1 {
		b.begin(c.in[0])
		b.pool.do(aStep, 1)
		b.arrived(1)
		b.deliver(0)
		b.pool.tuner.end(1, begun)
		return 1, c.err
	}
	if len(b.boxes) < 2*b.window {
		b.makeBoxes(2 * b.window)
	}
	c.met = b.pool.meeting.word.Load()
	b.pool.do(aCourse, hands)
	last := (c.bursts - 1) / b.window * b.window
	b.arrived(c.bursts - last)
	b.deliverAll(last, c.bursts)
	b.pool.tuner.end(c.bursts, begun)
	for _, w := range b.workers {
		w.ran = 0
	}
	return c.bursts, cmp.Or(c.err, wrong)
}

// foresee collects the stimuli of the course's bursts, n or as many as there are.
func (b *backend) foresee(n int) error {
	c := &b.course
	for len(c.in) < n {
		c.in = append(c.in, nil)
	}
	for ; c.bursts < n; c.bursts++ {
		in, err := b.feed.Next(c.first + uint64(c.bursts))
		if err != nil {
			return err
		}
		c.in[c.bursts] = append(c.in[c.bursts][:0], in...)
	}
	return nil
}

// windows runs one hand's share of the course.
func (b *backend) windows(hand int) {
	c := &b.course
	met, meetings := c.met, (c.bursts-1)/b.window
	defer func() { // nobody waits for the caller where the receiver of a burst has panicked
		for ; meetings > 0; meetings-- {
			met = b.pool.meet(hand, met)
		}
	}()
	for from := 0; from < c.bursts; from += b.window {
		to := min(from+b.window, c.bursts)
		for _, w := range b.pool.share(hand) {
			for i := from; i < to; i++ {
				w.now, w.ran, w.in = c.first+uint64(i), i, c.in[i]
				w.step()
			}
		}
		if hand == 0 && from > 0 {
			b.deliverAll(from-b.window, from)
		}
		if to < c.bursts {
			met = b.pool.meet(hand, met)
			meetings--
			if hand == 0 {
				b.arrived(b.window)
			}
		}
	}
}

// arrived notes that a window of so many bursts is over.
func (b *backend) arrived(bursts int) {
	now := time.Now()
	b.took = now.Sub(b.course.ended) / time.Duration(bursts)
	b.course.ended = now
}

// deliverAll hands on bursts from ≤ i < to of the course.
func (b *backend) deliverAll(from, to int) {
	for i := from; i < to; i++ {
		b.deliver(i)
	}
}

// deliver hands on a burst of the course. All are kept, also after an error.
func (b *backend) deliver(i int) {
	c := &b.course
	b.collect(b.number, i, &b.out)
	if err := b.keep(b.out.Fired); c.err == nil {
		c.err = err
	}
	if c.err == nil {
		c.err = c.each(&b.out)
	}
}
