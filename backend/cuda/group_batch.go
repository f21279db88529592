package cuda

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/engine"
)

// CanStepN reports whether StepN may be used.
func (g *group) CanStepN() bool {
	for _, b := range g.parts {
		if !b.many() {
			return false
		}
	}
	return true
}

// StepN advances n bursts with the genome's stimuli alone, as backend's does. The devices exchange ids by themselves; the host joins their
// queues while later bursts run.
func (g *group) StepN(n int, each func(*engine.Burst) error) error {
	if g.fault != nil {
		return g.fault
	}
	if err := g.turnOn(); err != nil {
		return g.failed(err)
	}
	r := g.startMergers(uint64(n))
	refused, err := g.launchAll(uint64(n), r, each)
	if err != nil {
		err = g.failed(g.halt(err))
	}
	r.end()
	if err != nil {
		return err
	}
	return refused
}

// turnOn is backend's for every device; they then share one history.
func (g *group) turnOn() error {
	if err := g.each(func(b *backend) error { return b.turnOn(0) }); err != nil {
		return err
	}
	g.history = g.parts[0].batch.history
	for _, b := range g.parts {
		b.batch.history = g.history
	}
	return nil
}

// launchAll keeps one launch running on all devices while another one's bursts are delivered. refused is what each said.
func (g *group) launchAll(n uint64, r *mergers, each func(*engine.Burst) error) (refused, err error) {
	launched, delivered := uint64(0), uint64(0)
	first, most := g.parts[0].number, g.parts[0].batch.shape.most
	launch := func() error {
		if launched == n || refused != nil {
			return nil
		}
		half, bursts := int(launched/most%2), min(most, n-launched)
		at := first + launched
		launched += bursts
		return g.each(func(b *backend) error { return b.launchBatch(&b.batch.program, half, at, bursts) })
	}
	for range 2 {
		if err := launch(); err != nil {
			return nil, err
		}
	}
	var out engine.Burst
	for delivered < launched {
		if err := g.take(r, delivered, &out); err != nil {
			return nil, err
		}
		delivered++
		if refused == nil {
			refused = each(&out)
		}
		if delivered%most == 0 {
			if err := launch(); err != nil {
				return nil, err
			}
		}
	}
	return refused, nil
}

// take waits for the k-th burst and makes it the newest.
func (g *group) take(r *mergers, k uint64, out *engine.Burst) error {
	m, err := g.await(r, k)
	if err != nil {
		return err
	}
	oldest := g.history[len(g.history)-1]
	copy(g.history[1:], g.history)
	g.history[0] = m
	g.spare.put(oldest)
	out.Number, out.Fired, out.Candidates, out.Values = g.parts[0].number, m, nil, g.valuesIn(k)
	for _, b := range g.parts {
		b.number++
	}
	return nil
}

// valuesIn are the wanted state variables after the k-th burst.
func (g *group) valuesIn(k uint64) []float32 {
	if len(g.want.Values) == 0 {
		return nil
	}
	g.values = g.values[:0]
	next := make([]int, len(g.parts))
	for _, p := range g.want.Values {
		q := g.owner(p.Neuron)
		x := &g.parts[q].batch
		g.values = append(g.values, x.valuesIn(k % (2 * x.shape.most))[next[q]])
		next[q]++
	}
	return g.values
}

// await waits for the k-th burst's fire queue. Now and then it asks the driver whether a launch has failed. Bursts that were complete
// before a failure are still delivered.
func (g *group) await(r *mergers, k uint64) ([]uint32, error) {
	out := r.of(k).out
	for {
		select {
		case m := <-out:
			return m, nil
		case <-r.patience.C:
		}
		ended, b, err := g.ask()
		switch {
		case g.complete(k):
			return <-out, nil
		case err != nil:
			return nil, b.failed("stepping", err)
		case ended:
			return nil, g.parts[0].failed("stepping", errors.New("the launches ended without their bursts"))
		}
	}
}

// ask says whether the launches on all devices have ended, or the first failure and whose it is.
func (g *group) ask() (ended bool, failed *backend, err error) {
	ended = true
	for _, b := range g.parts {
		done := false
		if err := g.enter(b, func() (err error) { done, err = b.stream.Done(); return err }); err != nil {
			return false, b, err
		}
		ended = ended && done
	}
	return ended, nil, nil
}

// complete reports whether all devices have announced the next burst, which is the k-th.
func (g *group) complete(k uint64) bool {
	for _, b := range g.parts {
		if atomic.LoadUint64(&b.batch.done[k%(2*b.batch.shape.most)]) != b.number+1 {
			return false
		}
	}
	return true
}

// halt lets launches that wait for a device which has failed end, waits for them, and gives the failure back.
func (g *group) halt(cause error) error {
	atomic.StoreUint64((*uint64)(unsafe.Pointer(unsafe.SliceData(g.stop.Bytes()))), 1)
	for _, b := range g.parts {
		_ = g.enter(b, b.stream.Synchronize) // a device that has failed too has nothing to add
	}
	return cause
}

// mergers put the devices' fire queues together, burst by burst in turn, ahead of who takes them.
type mergers struct {
	list     []*merger
	patience *time.Ticker
	quit     chan struct{}
	stopped  atomic.Bool
	all      sync.WaitGroup
}

// merger makes every so manieth burst.
type merger struct {
	out    chan []uint32
	joiner joiner
}

// startMergers starts four for each device, if there are processors for them: joining a burst takes several times as long as computing it.
// More than mostHands slow each other down.
func (g *group) startMergers(n uint64) *mergers {
	const patience = 50 * time.Millisecond
	r := &mergers{patience: time.NewTicker(patience), quit: make(chan struct{})}
	count := max(1, min(4*len(g.parts), mostHands, runtime.GOMAXPROCS(0)/2))
	first := g.parts[0].number
	var from []*batch
	for _, b := range g.parts {
		clear(b.batch.done) // of bursts with the same numbers, before a state was written
		from = append(from, &b.batch)
	}
	for i := range count {
		m := &merger{out: make(chan []uint32, 2), joiner: joiner{from: from}}
		r.list = append(r.list, m)
		r.all.Go(func() {
			for k := uint64(i); k < n && m.make(g, r, first, k); k += uint64(count) {
			}
		})
	}
	return r
}

// of is who makes the k-th burst.
func (r *mergers) of(k uint64) *merger { return r.list[k%uint64(len(r.list))] }

// end stops the mergers and waits for them.
func (r *mergers) end() {
	r.stopped.Store(true)
	close(r.quit)
	r.all.Wait()
	r.patience.Stop()
}

// make waits for the k-th burst on all devices, puts it together and hands it on; it says whether there is more to do.
func (m *merger) make(g *group, r *mergers, first, k uint64) bool {
	for _, b := range g.parts {
		done := &b.batch.done[k%(2*b.batch.shape.most)]
		for spins := 1; atomic.LoadUint64(done) != first+k+1; spins++ {
			if spins%256 != 0 {
				continue
			}
			if r.stopped.Load() {
				return false
			}
			runtime.Gosched()
		}
	}
	at := k % (2 * g.parts[0].batch.shape.most)
	select {
	case m.out <- m.joiner.join(at, g.spare.take(m.joiner.count(at))):
		return true
	case <-r.quit:
		return false
	}
}

// spares is memory of fire queues, from one StepN to the next.
type spares struct {
	mu   sync.Mutex
	list [][]uint32
}

func (s *spares) put(queue []uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, queue)
}

// take gives memory for n neurons: the smallest that has room. Where none has, new memory takes the place of the smallest of all, so that few
// are large where many fire in few bursts.
func (s *spares) take(n int) []uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		return make([]uint32, 0, n+n/4)
	}
	chosen := 0
	for i, queue := range s.list {
		if has, best := cap(queue), cap(s.list[chosen]); has >= n && (best < n || has < best) || best < n && has < best {
			chosen = i
		}
	}
	queue, last := s.list[chosen], len(s.list)-1
	s.list[chosen] = s.list[last]
	s.list = s.list[:last]
	if cap(queue) < n {
		return make([]uint32, 0, n+n/4)
	}
	return queue
}
