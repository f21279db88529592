package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// spin is how long a goroutine of the pool waits awake before it parks: longer than an engine needs between two bursts,
// short enough to cost nothing where nobody steps. Waking a parked one takes a system call and 5 to 50 µs.
const spin = 10 * time.Microsecond

// pool runs one burst's parts: the first on the caller's goroutine, each other on one of its own that lives until close.
type pool struct {
	parts  []*part
	starts []gate // of parts[1:]; moves once a burst, and once more to end
	done   gate   // moves once a burst, when all of parts[1:] are done
	busy   atomic.Int32
	ended  bool
	alive  sync.WaitGroup
	spin   time.Duration
}

func newPool(parts []*part) *pool {
	p := &pool{parts: parts, starts: make([]gate, len(parts)-1), spin: spin}
	if len(parts) > runtime.GOMAXPROCS(0) {
		p.spin = 0 // who spins keeps another from running
	}
	p.done.wake = make(chan struct{}, 1)
	for i := range p.starts {
		p.starts[i].wake = make(chan struct{}, 1)
		p.alive.Go(func() { p.work(&p.starts[i], parts[i+1]) })
	}
	return p
}

// work steps a part whenever its gate moves.
func (p *pool) work(start *gate, part *part) {
	for turn := uint32(1); ; turn++ {
		start.wait(turn, p.spin)
		if p.ended {
			return
		}
		part.step()
		if p.busy.Add(-1) == 0 {
			p.done.move()
		}
	}
}

// alone is the work, in the nanoseconds that part.work guesses, below which handing parts over costs more than it saves.
const alone = 10_000

// run steps all parts and returns when all have. Where the last burst had little work, the caller does all of this one's.
func (p *pool) run() {
	work := uint64(0)
	for _, part := range p.parts {
		work += part.work()
	}
	if len(p.starts) == 0 || work < alone {
		for _, part := range p.parts {
			part.step()
		}
		return
	}
	turn := p.done.turn.Load() + 1
	p.busy.Store(int32(len(p.starts)))
	for i := range p.starts {
		p.starts[i].move()
	}
	p.parts[0].step()
	p.done.wait(turn, p.spin)
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

// wait returns once the gate has moved turn times.
func (g *gate) wait(turn uint32, awake time.Duration) {
	const looks = 200 // between two looks at the clock
	if awake > 0 {
		for start := time.Now(); ; {
			for range looks {
				if g.turn.Load() == turn {
					return
				}
			}
			if time.Since(start) > awake {
				break
			}
		}
	}
	g.parked.Store(true)
	if g.turn.Load() == turn && g.parked.CompareAndSwap(true, false) {
		return
	}
	<-g.wake // whoever cleared parked has sent or will send
}
