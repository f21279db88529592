package cpu

import (
	"cmp"
	"slices"
	"time"

	"burst/engine"
)

// StepN runs bursts in courses. Spikes arrive after the least delay at the earliest, so many bursts are a window. The threads, which are
// goroutines that share the workers, wait for each other once in a window, at a barrier. The workers read who fired from each other's
// boxes. The caller's goroutine puts the lists of a window together while the next one runs:
//
//	thread 0   window 0 | window 1 : deliver 0 | window 2 : deliver 1 | deliver 2
//	thread 1   window 0 | window 1 :           | window 2 :           |
//
// What needs no spikes is done after a thread has come to the barrier and before it waits for the others (:): the lists of the window
// before, and what drives and stimuli add to the sums of the next burst. So a thread that is late there holds up nobody.
//
// Where the least delay is long, windows are shorter and workers read the queues, which are complete by then.
const (
	mostWindow = 16 // bursts
	mostCourse = 64 // bursts: after so many, the number of threads is chosen again
)

// windowFor is the number of bursts of a window. Above mostWindow, queues are read, of which those of the two windows before may be
// incomplete.
func windowFor(least int) int {
	if least <= mostWindow {
		return least
	}
	return min(least/3, mostWindow)
}

// course is a stretch of bursts in progress.
type course struct {
	first  uint64
	bursts int
	in     [][]engine.Stimulus // one list a burst
	each   func(*engine.Burst) error
	err    error     // of each, or of queues without room: nothing more is delivered
	passed uint64    // the word of the barrier before the course
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

// advance runs some of n bursts: one, or a course on several threads.
func (b *backend) advance(n int, each func(*engine.Burst) error) (int, error) {
	c := &b.course
	c.first, c.bursts, c.each, c.err, c.ended = b.number, 0, each, nil, time.Now()
	threads := b.pool.wanted(uint64(b.window))
	begun := b.pool.tuner.begin()
	if threads == 1 {
		n = 1
	}
	wrong := b.foresee(min(n, b.pool.tuner.course()))
	if c.bursts == 0 {
		return 0, wrong
	}
	if threads == 1 {
		b.begin(c.in[0])
		b.pool.do(aStep, 1)
		b.arrived(1)
		b.deliver(0)
		b.pool.tuner.end(1, begun)
		return 1, c.err
	}
	if n := 3 * b.window; len(b.boxes) < n { // written, read, and handed on
		b.makeBoxes(n)
	}
	c.passed = b.pool.barrier.word.Load()
	b.pool.do(aCourse, threads)
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

// windows runs one thread's share of the course.
func (b *backend) windows(thread int) {
	c := &b.course
	at := barriers{pool: b.pool, thread: thread, passed: c.passed, left: (c.bursts - 1) / b.window}
	defer at.skip() // nobody waits for the caller where the receiver of a burst has panicked
	for from := 0; from < c.bursts; from += b.window {
		to := min(from+b.window, c.bursts)
		for _, w := range b.pool.share(thread) {
			for i := from; i < to; i++ {
				b.foretell(w, i)
				w.step()
			}
		}
		if to < c.bursts {
			at.arrive()
			for _, w := range b.pool.share(thread) {
				b.foretell(w, to)
			}
		}
		if thread == 0 && from > 0 {
			b.deliverAll(from-b.window, from)
		}
		if to < c.bursts {
			at.wait()
			if thread == 0 {
				b.arrived(b.window)
			}
		}
	}
}

// foretell begins the course's burst in a worker that has not begun it.
func (b *backend) foretell(w *worker, ran int) {
	if c := &b.course; !w.begun {
		w.begin(c.first+uint64(ran), ran, c.in[ran])
	}
}

// barriers are those of a thread in a course.
type barriers struct {
	pool   *pool
	thread int
	passed uint64 // the word of the newest one
	left   int    // that it has not waited for
	came   bool   // to the next one
}

// arrive tells the others that the thread is there.
func (m *barriers) arrive() {
	m.came = true
	m.pool.arrive(m.passed)
}

// wait waits until all are there.
func (m *barriers) wait() {
	m.passed = m.pool.await(m.thread, m.passed)
	m.came = false
	m.left--
}

// skip goes through those that are left.
func (m *barriers) skip() {
	for m.left > 0 {
		if !m.came {
			m.arrive()
		}
		m.wait()
	}
}

// arrived notes that a window of so many bursts is over.
func (b *backend) arrived(bursts int) {
	now := time.Now()
	b.took = now.Sub(b.course.ended) / time.Duration(bursts)
	b.course.ended = now
}

// deliverAll passes on bursts from ≤ i < to of the course.
func (b *backend) deliverAll(from, to int) {
	for i := from; i < to; i++ {
		b.deliver(i)
	}
}

// deliver passes on a burst of the course. All are kept, also after an error.
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
