package cpu

import (
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"burst/backend/cpu/internal/vector"
)

// How long a goroutine spins before it parks. Waking a parked one takes 5 to 200 µs: it needs a system call, and Go's
// scheduler may queue it behind the goroutine that wakes it. So the caller spins long (mostSpin) for the others to finish.
// These spin for several times what the newest burst took, at least leastSpin: one that is done early must not park before the
// others are done and the engine has begun the next burst. But they do not spin for so long that idling costs anything.
const (
	leastSpin = 50 * time.Microsecond
	mostSpin  = 2 * time.Millisecond
	spins     = 4 // times what a burst takes

	// A goroutine that no job has needed for so long parks while others work: not before, as work rises and falls, and numbers of
	// threads are compared. To wake many takes ms until Linux has dealt them to processors.
	mostUnused = 50 * time.Millisecond
)

// pool runs jobs on some threads: thread 0 is the caller's goroutine, the others are goroutines that live until close.
type pool struct {
	workers   []*worker // which the threads share
	jobs      [2]func(thread int)
	start     signal // tells the goroutines of a job that needs some: its turn, which job it is, and how many threads, 0 to end
	done      signal // tells the caller that all of them are done with that turn
	barrier   signal // tells the threads of a job that all have arrived at a barrier
	turn      uint64 // of the newest job that needed goroutines
	threads   int    // of the newest job, with the caller
	_         [cacheLine]byte
	busy      atomic.Int32 // threads that are not done, but for the caller
	here      atomic.Int32 // threads that have arrived at a barrier
	_         [cacheLine]byte
	spin      atomic.Int64 // nanoseconds
	ended     bool
	alive     sync.WaitGroup
	awake     bool   // whether to spin before parking
	procs     int    // Go's processors
	leastWork uint64 // usualLeast; less in tests, so that small networks use several goroutines too
	tuner     tuner
}

// Jobs.
const (
	aStep   = iota // each worker steps once
	aCourse        // that of StepN
)

// threadBits are those of a start's word that hold how many threads there are, the next one which job it is.
const threadBits = 31

func newPool(workers []*worker, course func(thread int)) *pool {
	procs := runtime.GOMAXPROCS(0)
	p := &pool{workers: workers, awake: len(workers) <= procs, procs: procs, leastWork: usualLeast, tuner: newTuner(len(workers))}
	p.jobs = [...]func(int){aStep: p.stepThread, aCourse: course}
	p.start.make(len(workers) - 1)
	p.done.make(1)
	p.barrier.make(len(workers))
	for i := range len(workers) - 1 {
		p.alive.Go(func() { p.work(i) })
	}
	return p
}

// work does the i-th goroutine's share of each job that needs it.
func (p *pool) work(i int) {
	threads, worked := 0, time.Now()
	for word := uint64(0); ; {
		most := max(leastSpin, time.Duration(p.spin.Load()))
		if time.Since(worked) > mostUnused {
			most = 0
		}
		word = p.start.wait(i, word, p.spinning(threads, most))
		threads = int(word % (1 << threadBits))
		if threads == 0 {
			return
		}
		if i+1 >= threads {
			continue // nobody waits for it, so it may miss jobs that do not need it
		}
		p.jobs[word>>threadBits&1](i + 1)
		if p.busy.Add(-1) == 0 {
			p.done.set(word, 1)
		}
		worked = time.Now()
	}
}

// spinning says how a goroutine waits for so long, of a job of so many threads.
func (p *pool) spinning(threads int, most time.Duration) spinning {
	if !p.awake {
		most = 0
	}
	return spinning{most, threads >= p.procs}
}

// share is one thread's share of the workers.
func (p *pool) share(thread int) []*worker {
	n := len(p.workers)
	return p.workers[n*thread/p.threads : n*(thread+1)/p.threads]
}

func (p *pool) stepThread(thread int) {
	for _, w := range p.share(thread) {
		w.begin(w.now, 0, w.in)
		w.step()
	}
}

// usualLeast is the least work for which another goroutine is used, in nanoseconds as worker.work estimates them. It is
// about three times what starting the goroutine and waiting for its end take, see BenchmarkHandOver.
const usualLeast = 2_500

// wanted is how many threads bursts like the last one should have, with a barrier after so many of them.
func (p *pool) wanted(bursts uint64) int {
	work := uint64(0)
	for _, w := range p.workers {
		work += w.work()
	}
	return p.tuner.threads(int(min(max(1, bursts*work/p.leastWork), uint64(len(p.workers)))))
}

// do runs a job on so many threads and waits for them.
func (p *pool) do(job uint64, threads int) {
	p.threads = threads
	if threads == 1 {
		p.jobs[job](0)
		return
	}
	begin, before := time.Now(), p.done.word.Load()
	p.busy.Store(int32(threads - 1))
	p.tell(job, threads, threads-1)
	p.jobs[job](0)
	p.done.wait(0, before, p.spinning(threads, mostSpin))
	p.spin.Store(int64(min(spins*time.Since(begin), mostSpin)))
}

// arrive tells the other threads of a job that one is at the barrier. last is the word of the barrier before; that of the first one is
// the word of before the job.
func (p *pool) arrive(last uint64) {
	if p.here.Add(1) == int32(p.threads) {
		p.here.Store(0)
		p.barrier.set(last+1, p.threads)
	}
}

// await waits until all threads are there, and returns the word of the barrier.
func (p *pool) await(thread int, last uint64) uint64 {
	return p.barrier.wait(thread, last, p.spinning(p.threads, mostSpin))
}

// tell begins a turn, and wakes the first ones of the goroutines.
func (p *pool) tell(job uint64, threads, wake int) {
	p.turn++
	p.start.set(p.turn<<(threadBits+1)|job<<threadBits|uint64(threads), wake)
}

// close ends the goroutines.
func (p *pool) close() {
	if p.ended {
		return
	}
	p.ended = true
	p.tell(aStep, 0, len(p.workers)-1)
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

// spinning says how long a goroutine looks at a word before it parks, and whether it yields to other goroutines meanwhile. Where one of
// Go's processors is idle, these run there, and to yield would wake its thread each time: that takes several µs, and the goroutine may
// go on there, away from its caches.
type spinning struct {
	most   time.Duration
	yields bool
}

// wait returns the word once it is another than the one seen. It yields now and then only: each time takes a lock of Go's scheduler,
// which many that spin would queue for.
func (s *signal) wait(i int, seen uint64, how spinning) uint64 {
	const looks, yield = 16, 20 // at the word between two readings of the clock: some 500 ns; readings between yields
	start := time.Now()
	for turn := 1; time.Since(start) < how.most; turn++ {
		for range looks {
			if word := s.word.Load(); word != seen {
				return word
			}
			vector.Pause()
		}
		if how.yields && turn%yield == 0 {
			runtime.Gosched()
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
