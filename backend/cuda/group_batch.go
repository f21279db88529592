package cuda

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"burst/connectome"
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

// StepN advances n bursts with the genome's stimuli alone, as backend's does. The devices exchange ids by themselves; the host merges their
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
	r.recycle(k, oldest)
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
	out, free chan []uint32
	lists     [][]uint32 // of one block of each device
	decoded   [][]uint32 // ids of that block, for devices that have brought bits
	starts    []uint32   // of its slices of neurons in the queue
}

// startMergers starts four for each device, if there are processors for them: merging a burst takes several times as long as computing it.
// More than sixteen slow each other down.
func (g *group) startMergers(n uint64) *mergers {
	const patience = 50 * time.Millisecond
	r := &mergers{patience: time.NewTicker(patience), quit: make(chan struct{})}
	const most = 16
	count := max(1, min(4*len(g.parts), most, runtime.GOMAXPROCS(0)/2))
	first := g.parts[0].number
	for _, b := range g.parts {
		clear(b.batch.done) // of bursts with the same numbers, before a state was written
	}
	for i := range count {
		m := &merger{out: make(chan []uint32, 2), free: make(chan []uint32, 4), decoded: make([][]uint32, len(g.parts))}
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

// recycle gives memory back to who made the k-th burst.
func (r *mergers) recycle(k uint64, queue []uint32) {
	select {
	case r.of(k).free <- queue:
	default:
	}
}

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
	var queue []uint32
	select {
	case queue = <-m.free:
	default:
	}
	select {
	case m.out <- m.merge(g, k, queue[:0]):
		return true
	case <-r.quit:
		return false
	}
}

// merge appends the fire queues of all devices, ascending. It goes block by block, because the blocks of one number have neurons of the
// same span on every device.
func (m *merger) merge(g *group, k uint64, queue []uint32) []uint32 {
	first := &g.parts[0].batch
	at, each := k%(2*first.shape.most), first.args.run.blockNeurons/connectome.Slice*uint32(len(g.parts))
	m.starts = slices.Grow(m.starts[:0], int(each))[:each]
	for block := range first.blocks {
		count := 0
		m.lists = m.lists[:0]
		for q, b := range g.parts {
			list := b.batch.firedIn(at, block, &m.decoded[q])
			m.lists, count = append(m.lists, list), count+len(list)
		}
		if count < len(m.starts)/16 { // slices that are nearly all empty take longer to count
			for _, list := range m.lists {
				queue = append(queue, list...)
			}
			slices.Sort(queue[len(queue)-count:])
			continue
		}
		queue = interleave(queue, m.lists, block*each, m.starts)
	}
	return queue
}

// interleave merges ascending lists of neurons, no two of which have neurons of the same slice, and appends them to to. It
// counts each slice's neurons first, which says where the slice begins, so that no branch depends on which neuron comes next.
// starts has room for the slices of all neurons, from slice low on.
func interleave(to []uint32, lists [][]uint32, low uint32, starts []uint32) []uint32 {
	clear(starts)
	for _, list := range lists {
		for _, n := range list {
			starts[n/connectome.Slice-low]++
		}
	}
	end := uint32(len(to))
	for i, count := range starts {
		starts[i] = end
		end += count
	}
	to = slices.Grow(to, int(end)-len(to))[:end]
	for _, list := range lists {
		for _, n := range list {
			start := &starts[n/connectome.Slice-low]
			to[*start] = n
			*start++
		}
	}
	return to
}
