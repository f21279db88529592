package cuda

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// crew is goroutines that share the pieces of one round of work after another with who asks for it. They stay awake while rounds
// come often: a round is shorter than waking somebody up.
type crew struct {
	piece  func(int)
	pieces uint32
	quit   atomic.Bool
	all    sync.WaitGroup
	_      [64]byte
	next   atomic.Uint32 // piece that nobody has taken yet; who waits looks at it all the time
	_      [60]byte
	done   atomic.Uint32 // pieces of the round
}

// startCrew makes hands goroutines for rounds of so many pieces.
func startCrew(hands, pieces int, piece func(int)) *crew {
	c := &crew{piece: piece, pieces: uint32(pieces)}
	c.next.Store(c.pieces)
	for range hands {
		c.all.Go(c.serve)
	}
	return c
}

// end lets the goroutines go and waits for them.
func (c *crew) end() {
	c.quit.Store(true)
	c.all.Wait()
}

// round does all pieces, in any order, and waits until they are done.
func (c *crew) round() {
	c.done.Store(0)
	c.next.Store(0)
	c.work()
	for spins := 1; c.done.Load() != c.pieces; spins++ {
		if spins%256 == 0 {
			runtime.Gosched()
		}
	}
}

// work does pieces as long as there are any, and says whether there was one.
func (c *crew) work() bool {
	own := uint32(0)
	for i := c.next.Add(1) - 1; i < c.pieces; i = c.next.Add(1) - 1 {
		c.piece(int(i))
		own++
	}
	if own > 0 {
		c.done.Add(own)
	}
	return own > 0
}

// serve works until the end. Who finds nothing to do for long looks less often.
func (c *crew) serve() {
	const patience, nap = 1 << 14, 50 * time.Microsecond
	for spins := 1; !c.quit.Load(); spins++ {
		switch {
		case c.next.Load() < c.pieces && c.work():
			spins = 0
		case spins > patience:
			time.Sleep(nap)
		case spins%64 == 0:
			runtime.Gosched()
		}
	}
}
