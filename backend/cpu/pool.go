package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// How long a goroutine spins before it parks. Waking a parked one takes 5 to 200 µs: it needs a system call, and Go's
// scheduler may queue it behind the goroutine that wakes it. So the caller spins long (spinDone) for the others to finish.
// These spin for longer than an engine needs between two bursts (spin), but not so long that idling costs anything.
const (
	spin     = 50 * time.Microsecond
	spinDone = 2 * time.Millisecond
)

// pool steps the workers in a burst: some on the caller's goroutine, the others on goroutines that live until close.
type pool struct {
	workers []*worker
	starts  []gate // one per goroutine; moves in each burst that needs the goroutine, and once more to end it
	done    gate   // moves once in a burst that needs other goroutines, when all of them are done
	hands   int    // how many goroutines share the workers in this burst, with the caller's
	busy    atomic.Int32
	ended   bool
	alive   sync.WaitGroup
	awake   bool   // whether to spin before parking
	worth   uint64 // worthHand; less in tests, so that small networks use several goroutines too
}

func newPool(workers []*worker) *pool {
	p := &pool{workers: workers, starts: make([]gate, len(workers)-1), awake: len(workers) <= runtime.GOMAXPROCS(0), worth: worthHand}
	p.done.wake = make(chan struct{}, 1)
	for i := range p.starts {
		p.starts[i].wake = make(chan struct{}, 1)
		p.alive.Go(func() { p.work(&p.starts[i], i+1) })
	}
	return p
}

// work steps a goroutine's share of the workers whenever its gate moves.
func (p *pool) work(start *gate, hand int) {
	for turn := uint32(1); ; turn++ {
		start.wait(turn, p.awake, spin)
		if p.ended {
			return
		}
		p.step(hand)
		if p.busy.Add(-1) == 0 {
			p.done.move()
		}
	}
}

// step steps one goroutine's share of the workers.
func (p *pool) step(hand int) {
	n := len(p.workers)
	for _, w := range p.workers[n*hand/p.hands : n*(hand+1)/p.hands] {
		w.step()
	}
}

// worthHand is the least work for which another goroutine is used, in nanoseconds as worker.work estimates them. It is
// about three times what starting the goroutine and waiting for its end take, see BenchmarkHandOver.
const worthHand = 5_000

// run steps all workers and waits for them. The work of the last burst decides how many goroutines it uses.
func (p *pool) run() {
	work := uint64(0)
	for _, w := range p.workers {
		work += w.work()
	}
	p.share(int(min(max(1, work/p.worth), uint64(len(p.workers)))))
}

// share steps the workers on a number of goroutines.
func (p *pool) share(hands int) {
	p.hands = hands
	if hands == 1 {
		p.step(0)
		return
	}
	turn := p.done.turn.Load() + 1
	p.busy.Store(int32(hands - 1))
	for i := range hands - 1 {
		p.starts[i].move()
	}
	p.step(0)
	p.done.wait(turn, p.awake, spinDone)
}

// close ends the goroutines.
func (p *pool) close() {
	if p.ended {
		return
	}
	p.ended = true
	for i := range p.starts {
		p.starts[i].move()
	}
	p.alive.Wait()
}

// gate lets one goroutine wait for another: it spins for a while, then parks.
type gate struct {
	turn   atomic.Uint32
	parked atomic.Bool
	wake   chan struct{} // holds one
	_      [48]byte      // a cache line a gate
}

// move lets the waiting goroutine go on.
func (g *gate) move() {
	g.turn.Add(1)
	if g.parked.CompareAndSwap(true, false) {
		g.wake <- struct{}{}
	}
}

// wait returns once the gate has moved turn times. While it spins it yields to other goroutines now and then.
func (g *gate) wait(turn uint32, awake bool, most time.Duration) {
	const looks = 1000 // at the gate between two readings of the clock: some 500 ns
	if awake {
		for start := time.Now(); time.Since(start) < most; runtime.Gosched() {
			for range looks {
				if g.turn.Load() == turn {
					return
				}
			}
		}
	}
	for {
		g.parked.Store(true)
		if g.turn.Load() == turn {
			if !g.parked.CompareAndSwap(true, false) {
				<-g.wake // the goroutine that cleared parked has sent or will send
			}
			return
		}
		<-g.wake
		if g.turn.Load() == turn {
			return
		}
		// An earlier move, whose turn was seen while spinning, cleared parked late and woke this wait: go on waiting.
	}
}
