package cpu

import (
	"math"
	"slices"
	"sync"
	"unsafe"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/formula"
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
	cuts    [][]uint64 // with a single delay: worker i has cuts[i][s] ≤ k < cuts[i+1][s] of the row of source s
	least   uint64     // the smallest delay
	longest uint64
	latest  uint64 // the last burst of a spike that has been launched, plus 1; 0: none
	tame    bool   // the weights that were written were within their bounds, and none was −0

	live    sources  // after the last spike that has been launched
	settled *sources // after the last one that has left the queues; live itself where that is the same

	post     [][]float32 // per trace, by target of the part: after the last event that has left the queues
	postLast []uint64    // as in the state
	modulators
	seen *windows // of FEAGI's rules

	volleys []volley // by burst, modulo their number: spikes on their way
	newest  []uint32 // by source: place of its last spike in its volley
}

// sources are the traces and variables of the source neurons.
type sources struct {
	traces    [][]float32
	variables [][]float32
	last      []uint64 // burst of the last spike plus 1; 0: none
	onSource  *handler
}

// volley are the spikes of a burst.
type volley struct {
	sources   []uint32    // counted from 0 in their area
	last      []uint64    // burst of the source's spike before, plus 1
	place     []uint32    // of that one in its volley
	traces    [][]float32 // after that spike
	variables [][]float32 // after the spike itself
}

// modulators are their values after the last event and after the last one that has left the queues.
type modulators struct {
	value, settledValue []float32
	last, settledLast   []uint64  // burst of its spikes plus 1
	now, after          []float32 // in the burst in progress, before its events and after them
}

func newLearning(b *backend, p *connectome.Plastic, workers int) *learning {
	n, targets := p.Synapses(), uint64(b.span(p.To).Count)
	l := &learning{b: b, p: p, weight: room[float32](n), synapse: lists(len(p.Synapse), n), longest: uint64(max(1, p.Longest))}
	l.least = least(p)
	l.live = newSources(p, &b.kernels.Formula)
	l.settled = &l.live
	if l.apart() {
		s := newSources(p, &b.kernels.Formula)
		l.settled = &s
	}
	l.post, l.postLast = lists(len(p.Post), targets), room[uint64](targets)
	k := len(p.Modulators)
	l.modulators = modulators{make([]float32, k), make([]float32, k), make([]uint64, k), make([]uint64, k), make([]float32, k), make([]float32, k)}
	l.volleys, l.newest = make([]volley, l.longest-l.least+1), room[uint32](uint64(p.From.Count))
	for i := range l.volleys {
		v := &l.volleys[i]
		v.traces, v.variables = make([][]float32, len(p.Pre)), make([][]float32, len(p.Source))
	}
	if p.Window.Kind != genome.WindowNone {
		l.seen = newWindows(p, l.longest-l.least+1)
	}
	if p.Delay == nil {
		l.cuts = make([][]uint64, workers+1)
		l.cuts[0], l.cuts[workers] = p.Row[:p.From.Count], p.Row[1:]
	}
	return l
}

// makeLearning makes the plastic projections and their workers' shares.
func makeLearning(b *backend) (list []*learning) {
	var wg sync.WaitGroup
	for i := range b.c.Plastic {
		l := newLearning(b, &b.c.Plastic[i], len(b.workers))
		list = append(list, l)
		for _, w := range b.workers {
			w.shares = append(w.shares, nil)
			wg.Go(func() { w.shares[i] = newShare(l, w, len(b.workers)) })
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

// readLearnt applies all events that are pending and copies what the projections have learnt.
func (b *backend) readLearnt(s *engine.State) {
	var wg sync.WaitGroup
	for _, w := range b.workers {
		wg.Go(func() {
			for _, x := range w.shares {
				x.sweep(b.number-1, false)
			}
		})
	}
	wg.Wait()
	s.Plastic = resized(s.Plastic, len(b.learns))
	for i, l := range b.learns {
		l.read(&s.Plastic[i])
	}
}

// least is the smallest delay of a projection, the longest where the part has no synapses.
func least(p *connectome.Plastic) uint64 {
	if p.Delay == nil && len(p.Target) > 0 {
		return uint64(p.Steps)
	}
	d := uint8(max(1, p.Longest))
	for _, x := range p.Delay {
		d = min(d, x)
	}
	return uint64(d)
}

// apart reports whether launched spikes stay in the queues, so that the state needs copies of its own.
func (l *learning) apart() bool { return l.least < uint64(l.b.c.Queues()) }

// together reports whether post events are those of the spikes that leave the queues in the burst, or of a condition, which the
// state has at once: then the shares' traces of targets are the state's.
func (l *learning) together() bool { return l.p.When != nil || int(l.p.Lag) == l.b.c.Queues() }

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

func newSources(p *connectome.Plastic, f *vector.Formula) sources {
	n := uint64(p.From.Count)
	return sources{lists(len(p.Pre), n), lists(len(p.Source), n), room[uint64](n), newHandler(p.OnSource, f)}
}

// copy makes s equal to from.
func (s *sources) copy(from *sources) {
	for k := range s.traces {
		copy(s.traces[k], from.traces[k])
	}
	for k := range s.variables {
		copy(s.variables[k], from.variables[k])
	}
	copy(s.last, from.last)
}

// fire lets sources have a spike in burst s.
func (s *sources) fire(p *connectome.Plastic, list []uint32, t uint64) {
	if s.onSource != nil {
		for rest := list; len(rest) > 0; {
			n := min(len(rest), chunk)
			s.step(rest[:n], t)
			rest = rest[n:]
		}
	}
	for k := range s.traces {
		raise(&p.Pre[k], s.traces[k], s.last, list, t)
	}
	for _, i := range list {
		s.last[i] = t + 1
	}
}

// raise lets a trace of some neurons have an event in burst t.
func raise(trace *connectome.Trace, values []float32, last []uint64, list []uint32, t uint64) {
	table, amount := &trace.Table, trace.Amount
	for _, i := range list {
		if at := last[i]; at == 0 || trace.Set {
			values[i] = amount
		} else {
			values[i] = float32(values[i]*table.At(t+1-at)) + amount
		}
	}
}

// step runs on_source for at most a chunk of sources.
func (s *sources) step(list []uint32, t uint64) {
	h := s.onSource
	for k, values := range s.variables {
		for q, i := range list {
			h.own[k][q] = values[i]
		}
	}
	for k, r := range h.reads {
		in := h.input(k)
		for q, i := range list {
			switch last := s.last[i]; {
			case r.Kind == formula.ReadFirst:
				in[q] = flagNumber(last == 0)
			case last == 0:
				in[q] = 0
			default:
				in[q] = h.decays[r.K].At(t + 1 - last)
			}
		}
	}
	h.run(uint32(len(list)))
	for k, values := range s.variables {
		for q, i := range list {
			values[i] = h.made(k)[q]
		}
	}
}

func flagNumber(is bool) float32 {
	if is {
		return 1
	}
	return 0
}

// queueOf is the fire queue of burst s, which is at most Queues bursts back; it is empty for bursts before 0.
func (b *backend) queueOf(s uint64) []uint32 { return b.queues[b.number-1-s] }

// volley is that of the spikes of burst s, while any of them is on its way.
func (l *learning) volley(s uint64) *volley { return &l.volleys[s%uint64(len(l.volleys))] }

// touch asks for entries of a list that will be used soon: they lie anywhere, and one after the other each would be waited for.
func touch[T any](k *vector.Kernels, list []T, at []uint32) {
	k.Touch(unsafe.Pointer(unsafe.SliceData(list)), unsafe.Sizeof(*new(T)), at)
}

// launch takes in the spikes that reach their first synapses in burst t.
func (l *learning) launch(t uint64) {
	s := t - l.least
	v := l.volley(s)
	v.sources = v.sources[:0]
	from := l.p.From
	for _, n := range l.b.queueOf(s) {
		if from.Has(n) {
			v.sources = append(v.sources, n-from.First)
		}
	}
	k := &l.b.kernels
	touch(k, l.live.last, v.sources)
	touch(k, l.newest, v.sources)
	for _, lists := range [][][]float32{l.live.traces, l.live.variables} {
		for _, values := range lists {
			touch(k, values, v.sources)
		}
	}
	if len(v.sources) > 0 {
		l.latest = s + 1
	}
	v.last, v.place = v.last[:0], v.place[:0]
	for q, i := range v.sources {
		v.last, v.place = append(v.last, l.live.last[i]), append(v.place, l.newest[i])
		l.newest[i] = uint32(q)
	}
	note := func(to [][]float32, from [][]float32) {
		for k, values := range from {
			to[k] = to[k][:0]
			for _, i := range v.sources {
				to[k] = append(to[k], values[i])
			}
		}
	}
	note(v.traces, l.live.traces)
	l.live.fire(l.p, v.sources, s)
	note(v.variables, l.live.variables)
}

// begin does what comes before the synapses of a burst: it launches the spikes, and adds those that leave the queues to the
// modulators as the state has them.
func (l *learning) begin() {
	t, oldest := l.b.number, uint64(len(l.b.queues))
	l.launch(t)
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

// aged is a trace's value in burst t, of its value after the spike of burst last−1, an event so many bursts later.
func aged(table *connectome.Table, x float32, last, delay, t uint64) float32 {
	if last == 0 {
		return 0
	}
	return float32(x * table.At(t+1-last-delay))
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

// read copies into s what the projection has learnt, once all events have been applied. In a part of a network it has what belongs
// to synapses and targets of others as 0.
func (l *learning) read(s *engine.Plastic) {
	clearOthers := func(list []float32) []float32 {
		list = resized(list, int(l.p.Whole()))
		if !l.b.own.Whole() {
			clear(list)
		}
		return list
	}
	s.Weight = clearOthers(s.Weight)
	l.p.ToState(l.weight, s.Weight)
	s.Synapse = resized(s.Synapse, len(l.synapse))
	for k := range s.Synapse {
		s.Synapse[k] = clearOthers(s.Synapse[k])
		l.p.ToState(l.synapse[k], s.Synapse[k])
	}
	several := func(to, from [][]float32) [][]float32 {
		to = resized(to, len(from))
		for k := range from {
			to[k] = append(to[k][:0], from[k]...)
		}
		return to
	}
	s.Pre, s.Source = several(s.Pre, l.settled.traces), several(s.Source, l.settled.variables)
	s.PreLast = append(s.PreLast[:0], l.settled.last...)
	s.Post = resized(s.Post, len(l.post))
	for k := range s.Post {
		s.Post[k] = scatter(l.b, l.p.To, s.Post[k], l.post[k])
	}
	s.PostLast = scatter(l.b, l.p.To, s.PostLast, l.postLast)
	s.Modulator, s.ModulatorLast = append(s.Modulator[:0], l.settledValue...), append(s.ModulatorLast[:0], l.settledLast...)
}

func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// write replaces what the projection has learnt; the backend's queues are those of the new state.
func (l *learning) write(s *engine.Plastic) {
	l.p.FromState(l.weight, s.Weight)
	l.tame = !slices.ContainsFunc(l.weight, func(w float32) bool {
		return !(l.p.Lo <= w && w <= l.p.Hi) || w == 0 && math.Signbit(float64(w))
	})
	for k := range l.synapse {
		l.p.FromState(l.synapse[k], s.Synapse[k])
	}
	for k := range l.post {
		pick(l.b, l.p.To, l.post[k], s.Post[k])
	}
	pick(l.b, l.p.To, l.postLast, s.PostLast)
	l.settled.copy(&sources{traces: s.Pre, variables: s.Source, last: s.PreLast})
	if l.settled != &l.live {
		l.live.copy(l.settled)
	}
	copy(l.settledValue, s.Modulator)
	copy(l.settledLast, s.ModulatorLast)
	copy(l.value, s.Modulator)
	copy(l.last, s.ModulatorLast)
	for i := range l.volleys {
		v := &l.volleys[i]
		v.sources = v.sources[:0]
	}
	l.latest = 0
	for _, last := range l.live.last {
		l.latest = max(l.latest, last)
	}
	number, queues := l.b.number, uint64(len(l.b.queues))
	for back := queues; back > l.least; back-- { // the spikes of burst number−back were launched before
		l.launch(number - back + l.least)
		if l.seen != nil && back <= min(number, l.longest) {
			l.seen.look(l.b, number-back)
		}
	}
	for k := range l.now {
		for back := queues; back > uint64(l.p.Modulators[k].Delay); back-- {
			l.modulate(k, l.value, l.last, number-back)
		}
	}
}

// notFinite says that a number is NaN or infinite. What events that are not applied yet will make is not looked at.
func (l *learning) notFinite() bool {
	for _, list := range [][][]float32{l.synapse, l.settled.traces, l.settled.variables, l.post, {l.settledValue}} {
		if engine.FindNotFinite(nil, list) != nil {
			return true
		}
	}
	return engine.FindNotFinite(l.weight, nil) != nil
}
