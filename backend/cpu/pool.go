package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// How long a goroutine spins before it parks. Waking a parked one takes 5 to 200 µs: it needs a system call, and Go's
// scheduler may queue it behind the goroutine that wakes it. So the caller spins long (mostSpin) for the others to finish.
// These spin for several times what the newest burst took, at least leastSpin: one that is done early must not park before the
// others are done and the engine has begun the next burst. But they do not spin for so long that idling costs anything.
const (
	leastSpin = 50 * time.Microsecond
	mostSpin  = 2 * time.Millisecond
	spins     = 4 // times what a burst takes
)

// pool steps the workers in a burst: some on the caller's goroutine, the others on goroutines that live until close.
type pool struct {
	workers []*worker
	start   signal // tells the goroutines of a burst that needs some: its turn, and how many share the workers, 0 to end
	done    signal // tells the caller that all of them are done with that turn
	turn    uint64 // of the newest burst that needed goroutines
	hands   int    // how many goroutines share the workers in the newest burst, with the caller's
	busy    atomic.Int32
	spin    atomic.Int64 // nanoseconds
	ended   bool
	alive   sync.WaitGroup
	awake   bool   // whether to spin before parking
	worth   uint64 // worthHand; less in tests, so that small networks use several goroutines too
}

// handBits are those of a start's word that hold how many share the workers.
const handBits = 32

func newPool(workers []*worker) *pool {
	p := &pool{workers: workers, awake: len(workers) <= runtime.GOMAXPROCS(0), worth: worthHand}
	p.start.make(len(workers) - 1)
	p.done.make(1)
	for i := range len(workers) - 1 {
		p.alive.Go(func() { p.work(i) })
	}
	return p
}

// work steps the i-th goroutine's share of the workers in each burst that needs it.
func (p *pool) work(i int) {
	for word := uint64(0); ; {
		word = p.start.wait(i, word, p.awake, max(leastSpin, time.Duration(p.spin.Load())))
		hands := int(word % (1 << handBits))
		if hands == 0 {
			return
		}
		if i+1 >= hands {
			continue // nobody waits for it, so it may miss bursts that do not need it
		}
		p.step(i+1, hands)
		if p.busy.Add(-1) == 0 {
			p.done.set(word, 1)
		}
	}
}

// step steps one goroutine's share of the workers.
func (p *pool) step(hand, hands int) {
	n := len(p.workers)
	for _, w := range p.workers[n*hand/hands : n*(hand+1)/hands] {
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
		p.step(0, 1)
		return
	}
	begin, before := time.Now(), p.done.word.Load()
	p.busy.Store(int32(hands - 1))
	p.tell(hands, hands-1)
	p.step(0, hands)
	p.done.wait(0, before, p.awake, mostSpin)
	p.spin.Store(int64(min(spins*time.Since(begin), mostSpin)))
}

// tell begins a turn for so many hands, and wakes the first ones of the goroutines.
func (p *pool) tell(hands, wake int) {
	p.turn++
	p.start.set(p.turn<<handBits|uint64(hands), wake)
}

// close ends the goroutines.
func (p *pool) close() {
	if p.ended {
		return
	}
	p.ended = true
	p.tell(0, len(p.workers)-1)
	p.alive.Wait()
}

// signal lets goroutines wait until a word changes. All look at the same word, which is written once, for a while; then they park.
type signal struct {
	_    [cacheLine]byte
	word atomic.Uint64
	_    [cacheLine]byte
	beds []bed // one for each goroutine that waits
}

// bed is where a goroutine parks.
type bed struct {
	parked atomic.Bool
	wake   chan struct{} // holds one
	_      [cacheLine]byte
}

const cacheLine = 64

func (s *signal) make(waiters int) {
	s.beds = make([]bed, waiters)
	for i := range s.beds {
		s.beds[i].wake = make(chan struct{}, 1)
	}
}

// set changes the word, and wakes the first ones of the goroutines that have parked.
func (s *signal) set(word uint64, wake int) {
	s.word.Swap(word) // not Store, see wait
	for i := range s.beds[:wake] {
		if b := &s.beds[i]; b.parked.Load() && b.parked.CompareAndSwap(true, false) {
			b.wake <- struct{}{}
		}
	}
}

// wait returns the word once it is another than the one seen. While it spins it yields to other goroutines now and then: each time
// takes a lock of Go's scheduler, which many that spin would queue for.
func (s *signal) wait(i int, seen uint64, awake bool, most time.Duration) uint64 {
	const looks, yield = 1000, 20 // at the word between two readings of the clock: some 500 ns; readings between yields
	if awake {
		start := time.Now()
		for turn := 1; time.Since(start) < most; turn++ {
			for range looks {
				if word := s.word.Load(); word != seen {
					return word
				}
			}
			if turn%yield == 0 {
				runtime.Gosched()
			}
		}
	}
	b := &s.beds[i]
	for {
		// Either set sees parked or this load sees its word: so both write with Swap, which no load passes. Store promises the
		// same, but QEMU 7.2 does not keep that promise for arm64: then both miss the other and nobody wakes.
		b.parked.Swap(true)
		if word := s.word.Load(); word != seen {
			if !b.parked.CompareAndSwap(true, false) {
				<-b.wake // the goroutine that cleared parked has sent or will send
			}
			return word
		}
		<-b.wake
		if word := s.word.Load(); word != seen {
			return word
		}
		// An earlier set, whose word was seen while spinning, cleared parked late and woke this wait: go on waiting.
	}
}
