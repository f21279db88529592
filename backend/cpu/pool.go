package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// How long a goroutine waits awake before it parks. Waking a parked one takes 5 to 200 µs: a system call, and Go's scheduler
// may leave it behind its waker. So the caller hardly ever parks while others finish their parts, and those wait longer for
// a burst than an engine needs between two, but not so long that it costs anything where nobody steps.
const (
	spin     = 50 * time.Microsecond
	spinDone = 2 * time.Millisecond
)

// pool runs one burst's parts: some on the caller's goroutine, the others on goroutines that live until close.
type pool struct {
	parts  []*part
	starts []gate // of the goroutines; moves in each burst that needs it, and once more to end
	done   gate   // moves once a burst that needs any, when all are done
	hands  int    // how many goroutines share this burst's parts, the caller's too
	busy   atomic.Int32
	ended  bool
	alive  sync.WaitGroup
	awake  bool   // whether to wait awake at all
	worth  uint64 // see worthHand; less in tests, so that small networks are handed over too
}

func newPool(parts []*part) *pool {
	p := &pool{parts: parts, starts: make([]gate, len(parts)-1), awake: len(parts) <= runtime.GOMAXPROCS(0), worth: worthHand}
	p.done.wake = make(chan struct{}, 1)
	for i := range p.starts {
		p.starts[i].wake = make(chan struct{}, 1)
		p.alive.Go(func() { p.work(&p.starts[i], i+1) })
	}
	return p
}

// work steps its share of the parts whenever its gate moves.
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

// step steps one hand's share of the parts.
func (p *pool) step(hand int) {
	n := len(p.parts)
	for _, part := range p.parts[n*hand/p.hands : n*(hand+1)/p.hands] {
		part.step()
	}
}

// worthHand is the work, in the nanoseconds that part.work guesses, that each hand must get: about three times what handing it
// over and waiting for the end takes, see BenchmarkHandOver.
const worthHand = 5_000

// run steps all parts and returns when all have, with as many hands as the last burst's work was worth.
func (p *pool) run() {
	work := uint64(0)
	for _, part := range p.parts {
		work += part.work()
	}
	p.share(int(min(max(1, work/p.worth), uint64(len(p.parts)))))
}

// share lets a number of hands step the parts.
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

// gate lets one goroutine wait for another: awake for a while, then parked.
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

// wait returns once the gate has moved turn times. Whoever waits awake lets other goroutines run now and then.
func (g *gate) wait(turn uint32, awake bool, most time.Duration) {
	const looks = 1000 // between two looks at the clock, some 500 ns
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
				<-g.wake // whoever cleared parked has sent or will send
			}
			return
		}
		<-g.wake
		if g.turn.Load() == turn {
			return
		}
		// A move whose turn was seen awake cleared parked late: it woke the next wait, which goes on waiting.
	}
}
