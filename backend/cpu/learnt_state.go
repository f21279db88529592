package cpu

import (
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"burst/engine"
)

// settle adds the spikes that leave the queues in this burst to the traces and last events of the state.
func (s *share) settle() {
	l, b := s.l, s.w.b
	oldest := uint64(b.queues.depth())
	queue, at := b.queues.back(int(oldest)), b.number-oldest
	if l.leads && l.settled != &l.live {
		n := uint64(len(b.workers))
		lo, hi := uint32(uint64(l.p.From.Count)*uint64(s.index)/n), uint32(uint64(l.p.From.Count)*uint64(s.index+1)/n)
		s.leaving = s.leaving[:0]
		for _, id := range queue {
			if i := id - l.p.From.First; i-lo < hi-lo {
				s.leaving = append(s.leaving, i)
			}
		}
		s.sources.fire(l.p, s.leaving, at)
	}
	if s.place < len(s.of)-1 || l.together() {
		return
	}
	s.leaving = s.own(s.leaving[:0], queue)
	first := s.g.lo - b.span(l.p.To).First
	end := first + s.g.hi - s.g.lo
	last := l.postLast[first:end]
	inBatches(s.leaving, func(part []uint32) {
		touch(&b.kernels, last, part)
		for _, values := range l.post {
			touch(&b.kernels, values[first:end], part)
		}
	}, func(part []uint32) {
		for k, values := range l.post {
			raise(&l.p.Post[k], values[first:end], last, part, at)
		}
		for _, j := range part {
			last[j] = at + 1
		}
	})
}

// restore follows a state that has been written: it sets up traces, ring, turn and spikes on their way. No event is pending then.
func (s *share) restore(state *engine.Plastic) {
	l, b := s.l, s.w.b
	if s.place == 0 {
		s.restorePosts(state)
	}
	s.stays = s.still && l.tame
	s.broken = !l.tame // maybe
	for i := range s.due {
		s.due[i] = s.due[i][:0]
	}
	if s.due == nil {
		return
	}
	for back := l.longest; back > l.least; back-- {
		burst := b.number - back
		if b.number < back {
			continue
		}
		for q, i := range l.volley(burst).sources {
			if k, end := l.p.Row[i], l.p.Row[i+1]; k < end && uint64(l.p.Delay.At(end-1)) >= back {
				first := firstOf(l.p.Delay, k, end, uint32(back))
				s.send(trip{first, burst, uint32(q), uint32(end - first)})
			}
		}
	}
}

func (s *share) restorePosts(state *engine.Plastic) {
	l, b := s.l, s.w.b
	lag := uint64(l.p.Lag)
	s.ring.clear(b.number)
	for j, at := range s.targets() {
		for k := range s.traces {
			s.setTrace(k, j, state.Post[k][at])
		}
		last := state.PostLast[at]
		if s.when == nil && last > 0 {
			last += lag
		}
		s.setLast(j, last, b.number)
	}
	if s.when == nil {
		for back := uint64(b.queues.depth()); back > lag; back-- {
			s.posted = s.own(s.posted[:0], b.queues.back(int(back)))
			s.raise(b.number - back + lag)
		}
	}
	s.turn.resting = false
	s.turn.begin(b.number, &s.ring)
}

// targets are the share's: the j-th of them is the at-th of its area.
func (s *share) targets() iter.Seq2[uint32, uint32] {
	return func(yield func(j, at uint32) bool) {
		for j := range s.g.hi - s.g.lo {
			if !yield(j, s.w.b.own.Neuron(s.g.lo+j)-s.l.p.To.First) {
				return
			}
		}
	}
}

// readPosts copies what posts know of the share's targets, where the state has the same events.
func (s *share) readPosts(to *engine.Plastic) {
	for j, at := range s.targets() {
		for k := range s.traces {
			to.Post[k][at] = s.traceOf(k, j)
		}
		to.PostLast[at] = s.lastOf(j, s.w.b.number)
		if s.when == nil && to.PostLast[at] > 0 {
			to.PostLast[at] -= uint64(s.l.p.Lag)
		}
	}
}

// readLearnt applies all events that are pending and copies what the projections have learnt.
func (b *backend) readLearnt(s *engine.State) {
	var wg sync.WaitGroup
	for _, w := range b.workers {
		wg.Go(func() {
			for _, x := range w.shares {
				x.catchUp(b.number - 1)
			}
		})
	}
	wg.Wait()
	s.Plastic = resized(s.Plastic, len(b.learns))
	for i, l := range b.learns {
		l.read(&s.Plastic[i])
		if !l.together() {
			continue
		}
		for _, w := range b.workers {
			w.shares[i].readPosts(&s.Plastic[i])
		}
	}
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
	s.Post = resized(s.Post, len(l.p.Post))
	for k := range s.Post {
		s.Post[k] = cleared(s.Post[k], int(l.p.To.Count))
	}
	s.PostLast = cleared(s.PostLast, int(l.p.To.Count))
	for k := range l.post {
		s.Post[k] = scatter(l.b, l.p.To, s.Post[k], l.post[k])
	}
	if l.postLast != nil {
		s.PostLast = scatter(l.b, l.p.To, s.PostLast, l.postLast)
	}
	s.Modulator, s.ModulatorLast = append(s.Modulator[:0], l.settledValue...), append(s.ModulatorLast[:0], l.settledLast...)
}

func resized[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

func cleared[T any](s []T, n int) []T {
	s = resized(s, n)
	clear(s)
	return s
}

// write replaces what the projection has learnt; the backend's queues are those of the new state.
func (l *learning) write(s *engine.Plastic) {
	l.p.FromState(l.weight, s.Weight)
	l.tame = l.within()
	for k := range l.synapse {
		l.p.FromState(l.synapse[k], s.Synapse[k])
	}
	if !l.together() {
		for k := range l.post {
			pick(l.b, l.p.To, l.post[k], s.Post[k])
		}
		pick(l.b, l.p.To, l.postLast, s.PostLast)
	}
	copy(l.settledValue, s.Modulator)
	copy(l.settledLast, s.ModulatorLast)
	copy(l.value, s.Modulator)
	copy(l.last, s.ModulatorLast)
	l.settled.copy(&sources{values: values{s.Pre, s.Source}, last: s.PreLast}) // the same for all that share them
	if l.settled != &l.live {
		l.live.copy(l.settled)
	}
	for i := range l.volleys {
		v := &l.volleys[i]
		v.sources = v.sources[:0]
	}
	l.flying, l.latest = 0, 0
	for _, last := range l.live.last {
		l.latest = max(l.latest, last)
	}
	number, queues := l.b.number, uint64(l.b.queues.depth())
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

// within says that all weights are within their bounds, and none is −0.
func (l *learning) within() bool {
	var outside atomic.Bool
	var parts sync.WaitGroup
	for part := range slices.Chunk(l.weight, 1+len(l.weight)/runtime.GOMAXPROCS(0)) {
		parts.Go(func() {
			if slices.ContainsFunc(part, func(w float32) bool { return !(l.p.Lo <= w && w <= l.p.Hi) || w == 0 && math.Signbit(float64(w)) }) {
				outside.Store(true)
			}
		})
	}
	parts.Wait()
	return !outside.Load()
}

// notFinite says that a trace of a target is NaN or infinite, where the state has it from posts.
func (s *share) notFinite() bool {
	if s.place > 0 || !s.l.together() {
		return false
	}
	for k := range s.traces {
		for j := range s.g.hi - s.g.lo {
			if x := s.traceOf(k, j); x-x != 0 {
				return true
			}
		}
	}
	return false
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
