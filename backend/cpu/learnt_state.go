package cpu

import (
	"math"
	"slices"
	"sync"

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
	if s.place < len(s.of)-1 {
		return
	}
	first := s.g.lo - b.span(l.p.To).First
	list := s.posted // of a rule with a condition the state has the events themselves
	if s.when != nil {
		at = b.number
	} else if !l.together() || l.seen != nil { // or else these are the targets that posted lists
		s.leaving = s.own(s.leaving[:0], queue)
		list = s.leaving
	}
	end := first + s.g.hi - s.g.lo
	last := l.postLast[first:end]
	post := l.post
	if l.together() {
		post = nil // these are the traces of the share
	}
	inBatches(list, func(part []uint32) {
		touch(&b.kernels, last, part)
		for _, values := range post {
			touch(&b.kernels, values[first:end], part)
		}
	}, func(part []uint32) {
		for k, values := range post {
			raise(&l.p.Post[k], values[first:end], last, part, at)
		}
		for _, j := range part {
			last[j] = at + 1
		}
	})
}

// restore follows a state that has been written: it sets up traces, ring, turn and spikes on their way. No event is pending then.
func (s *share) restore() {
	l, b := s.l, s.w.b
	if s.place == 0 {
		s.restorePosts()
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
				s.send(trip{firstOf(l.p.Delay, k, end, uint32(back)), burst, uint32(q)})
			}
		}
	}
}

func (s *share) restorePosts() {
	l, b := s.l, s.w.b
	first, lag := s.g.lo-b.span(l.p.To).First, uint64(l.p.Lag)
	for k := range s.traces {
		copy(s.traces[k], l.post[k][first:])
	}
	for j := range s.last {
		last := l.postLast[first+uint32(j)]
		if s.when == nil && last > 0 {
			last += lag
		}
		s.last[j] = uint32(b.number) - longAgo
		if last > 0 && b.number-last < longAgo {
			s.last[j] = uint32(last)
		}
	}
	if s.when == nil {
		for back := uint64(b.queues.depth()); back > lag; back-- {
			s.posted = s.own(s.posted[:0], b.queues.back(int(back)))
			s.raise(b.number - back + lag)
		}
	}
	s.ring.clear(b.number)
	for j := range s.ring.heads {
		s.ring.heads[j] = [2]uint32{}
	}
	s.bringNear()
	s.turn.resting = false
	s.turn.begin(b.number, &s.ring)
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
	copy(l.settledValue, s.Modulator)
	copy(l.settledLast, s.ModulatorLast)
	copy(l.value, s.Modulator)
	copy(l.last, s.ModulatorLast)
	l.settled.copy(&sources{traces: s.Pre, variables: s.Source, last: s.PreLast}) // the same for all that share them
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

// notFinite says that a number is NaN or infinite. What events that are not applied yet will make is not looked at.
func (l *learning) notFinite() bool {
	for _, list := range [][][]float32{l.synapse, l.settled.traces, l.settled.variables, l.post, {l.settledValue}} {
		if engine.FindNotFinite(nil, list) != nil {
			return true
		}
	}
	return engine.FindNotFinite(l.weight, nil) != nil
}
