package cpu

import (
	"slices"
	"sync"
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/genome"
	"burst/internal/pages"
)

// learning is a plastic projection: what all workers share of it. Weights are in the order of the rows. A worker writes those of
// the synapses that end at its neurons, and no other.
//
// What happens to a synapse follows from the events of its source and its target alone, so it need not happen at once. A worker
// notes the post events of its targets (ring). When a spike of the source arrives, the events since the last one are
// applied in order, then the spike itself. So that the room for events never fills, a few rows more have theirs applied in every burst
// (turn). Before the state is read all are applied to all synapses (sweep). Nothing of this can be seen from outside.
type learning struct {
	b       *backend
	p       *connectome.Plastic
	weight  []float32
	synapse [][]float32
	cuts    [][]uint16 // with a single delay: of the row of source s, worker i has the synapses cuts[i][s] ≤ q < cuts[i+1][s], see ownOf
	least   uint64     // the smallest delay
	longest uint64
	tame    bool // the weights that were written were within their bounds, and none was −0

	*departures
	leads    bool        // of the projections with these departures it is the first
	post     [][]float32 // per trace, by target of the part: after the last event that has left the queues; nil where posts have the same
	postLast []uint64    // likewise, as in the state
	modulators
	seen *windows // of FEAGI's rules
}

// departures are the spikes of an area that plastic projections take in, with what these know of their sources (join).
type departures struct {
	latest  uint64   // the last burst of a spike that has been launched, plus 1; 0: none
	live    sources  // after the last spike that has been launched
	settled *sources // after the last one that has left the queues; live itself where that is the same

	volleys []volley // by burst, modulo their number: spikes on their way
	flying  uint64   // spikes in all volleys
}

// volley are the spikes of a burst.
type volley struct {
	sources []uint32 // counted from 0 in their area
	last    []uint64 // burst of the source's spike before, plus 1
	values           // traces after that spike, variables after the spike itself
}

// modulators are their values after the last event and after the last one that has left the queues.
type modulators struct {
	value, settledValue []float32
	last, settledLast   []uint64  // burst of its spikes plus 1
	now, after          []float32 // in the burst in progress, before its events and after them
}

func newLearning(b *backend, p *connectome.Plastic, workers int) *learning {
	n := p.Synapses()
	l := &learning{b: b, p: p, weight: room[float32](n), synapse: lists(len(p.Synapse), n), longest: uint64(max(1, p.Longest))}
	l.least = uint64(p.Least())
	k := len(p.Modulators)
	l.modulators = modulators{make([]float32, k), make([]float32, k), make([]uint64, k), make([]uint64, k), make([]float32, k), make([]float32, k)}
	if p.Window.Kind != genome.WindowNone {
		l.seen = newWindows(p, l.longest-l.least+1)
	}
	if p.Delay.None() {
		l.cuts = make([][]uint16, workers+1) // those at the ends of rows stay nil
	}
	return l
}

// newDepartures are those of l's sources.
func (l *learning) newDepartures() *departures {
	p, f := l.p, &l.b.kernels.Formula
	d := &departures{live: newSources(p, f), volleys: make([]volley, l.longest-l.least+1)}
	d.settled = &d.live
	if l.apart() {
		s := newSources(p, f)
		d.settled = &s
	}
	for i := range d.volleys {
		v := &d.volleys[i]
		v.traces, v.variables = make([][]float32, len(p.Pre)), make([][]float32, len(p.Source))
	}
	return d
}

// makeLearning makes the plastic projections and their workers' shares; join gives them departures and posts.
func makeLearning(b *backend) (list []*learning) {
	var wg sync.WaitGroup
	for i := range b.c.Plastic {
		l := newLearning(b, &b.c.Plastic[i], len(b.workers))
		list = append(list, l)
		wg.Go(func() { pages.Move(l.p.Target) })
		for _, w := range b.workers {
			w.shares = append(w.shares, nil)
			wg.Go(func() { w.shares[i] = newShare(l, w) })
		}
		wg.Wait()
		if l.seen != nil && findsTargets(&l.p.Window) {
			for _, w := range b.workers {
				wg.Go(w.shares[i].findTargets)
			}
			wg.Wait()
		}
	}
	return list
}

// apart reports whether launched spikes stay in the queues, so that the state needs copies of its own.
func (l *learning) apart() bool { return l.least < uint64(l.b.c.Queues()) }

// together reports whether post events are those of the spikes that leave the queues in the burst, or of a condition, which the
// state has at once: then what posts know of targets is the state's. Posts know nothing with FEAGI's rules.
func (l *learning) together() bool {
	return l.p.When != nil || int(l.p.Lag) == l.b.c.Queues() && l.p.Window.Kind == genome.WindowNone
}

// room is a slice of n zeros, in huge pages if it fills half of one: a network may have thousands of small projections.
func room[T any](n uint64) []T {
	if n*uint64(unsafe.Sizeof(*new(T))) < 1<<20 {
		return make([]T, n)
	}
	return pages.Slice[T](n)
}

// lists are so many lists of n numbers.
func lists(count int, n uint64) [][]float32 {
	all := make([][]float32, count)
	for i := range all {
		all[i] = room[float32](n)
	}
	return all
}

func flagNumber(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

// queueOf is the fire queue of burst s, which is at most Queues bursts back; it is empty for bursts before 0.
func (b *backend) queueOf(s uint64) []uint32 { return b.queues.back(int(b.number - s)) }

// flightBytes is the memory of the spikes on their way, with their trips along the rows of as many workers.
func (l *learning) flightBytes(workers int) uint64 {
	each := 0
	if l.leads {
		each = 4 + 8 + 4 + 4*len(l.p.Pre) + 4*len(l.p.Source)
	}
	if l.cuts == nil {
		each += workers * int(unsafe.Sizeof(trip{}))
	}
	return l.flying * uint64(each)
}

// volley is that of the spikes of burst s, while any of them is on its way.
func (l *learning) volley(s uint64) *volley { return &l.volleys[s%uint64(len(l.volleys))] }

// touch asks for entries of a list that will be used soon: they lie anywhere, and one after the other each would be waited for.
func touch[T any](k *vector.Kernels, list []T, at []uint32) {
	k.Touch(unsafe.Pointer(unsafe.SliceData(list)), unsafe.Sizeof(*new(T)), at)
}

func touchLists(k *vector.Kernels, lists [][]float32, at []uint32) {
	for _, list := range lists {
		touch(k, list, at)
	}
}

// inBatches goes through a list of neurons a few at a time, and asks for what the next ones need before: not for all at once, which
// would no longer be in the first cache.
func inBatches(list []uint32, ask, do func(part []uint32)) {
	ask(list[:min(batch, len(list))])
	for len(list) > 0 {
		n := min(batch, len(list))
		ask(list[n:min(2*batch, len(list))])
		do(list[:n])
		list = list[n:]
	}
}

// launch takes in the spikes that reach their first synapses in burst t.
func (l *learning) launch(t uint64) {
	s := t - l.least
	v := l.volley(s)
	l.flying -= uint64(len(v.sources))
	v.sources = v.sources[:0]
	from := l.p.From
	for _, n := range l.b.queueOf(s) {
		if from.Has(n) {
			v.sources = append(v.sources, n-from.First)
		}
	}
	if !l.b.own.Whole() { // or else they ascend, see momentOf
		slices.Sort(v.sources)
	}
	if l.flying += uint64(len(v.sources)); len(v.sources) > 0 {
		l.latest = s + 1
	}
	v.last = v.last[:0]
	for _, lists := range [][][]float32{v.traces, v.variables} {
		for k := range lists {
			lists[k] = lists[k][:0]
		}
	}
	k := &l.b.kernels
	inBatches(v.sources, func(part []uint32) {
		touch(k, l.live.last, part)
		touchLists(k, l.live.traces, part)
		touchLists(k, l.live.variables, part)
	}, func(part []uint32) {
		for _, i := range part {
			v.last = append(v.last, l.live.last[i])
		}
		appendEach(v.traces, l.live.traces, part)
		l.live.fire(l.p, part, s)
		appendEach(v.variables, l.live.variables, part)
	})
}

// appendEach appends the entries of each list of from to that of to.
func appendEach(to, from [][]float32, at []uint32) {
	for k, values := range from {
		for _, i := range at {
			to[k] = append(to[k], values[i])
		}
	}
}

// begin does what comes before the synapses of a burst: it launches the spikes, unless another projection does, and adds those that leave the queues to the
// modulators as the state has them.
func (l *learning) begin() {
	t, oldest := l.b.number, uint64(l.b.queues.depth())
	if l.leads {
		l.launch(t)
	}
	if l.seen != nil && t >= l.least {
		l.seen.look(l.b, t-l.least)
	}
	for k := range l.now {
		m := &l.p.Modulators[k]
		d := uint64(m.Delay)
		l.now[k] = aged(&m.Table, l.value[k], l.last[k], d, t)
		l.modulate(k, l.value, l.last, t-d)
		l.after[k] = aged(&m.Table, l.value[k], l.last[k], d, t)
		l.modulate(k, l.settledValue, l.settledLast, t-oldest)
	}
}

// modulate raises a modulator by the spikes of burst s.
func (l *learning) modulate(k int, value []float32, last []uint64, s uint64) {
	m, spikes := &l.p.Modulators[k], uint32(0)
	for _, n := range l.b.queueOf(s) {
		if m.From.Has(n) {
			spikes++
		}
	}
	if spikes == 0 {
		return
	}
	amount := float32(m.Amount * float32(spikes))
	if last[k] == 0 {
		value[k] = amount
	} else {
		value[k] = float32(value[k]*m.Table.At(s+1-last[k])) + amount
	}
	last[k] = s + 1
}
