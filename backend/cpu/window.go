package cpu

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"unsafe"

	"burst/connectome"
	"burst/genome"
)

// windows records, for FEAGI's rules and for each burst s whose spikes may still be on their way, which sources and targets
// fired in the window that ends with s. Synapses of delay d look at the window of burst t−d in burst t.
type windows struct {
	p       *connectome.Plastic
	sources []sight // by burst, modulo their number
	targets []sight
	counts  []uint32 // scratch: in how many bursts a neuron fired
}

// sight has a bit per neuron of an area: it fired in the burst, in any burst of the window, in all of those that there have been.
type sight struct{ now, any, all []uint64 }

func newWindows(p *connectome.Plastic, bursts uint64) *windows {
	w := &windows{p: p, counts: room[uint32](uint64(max(p.From.Count, p.To.Count)))}
	words := func(n uint32) []uint64 { return room[uint64](uint64(n)/64 + 1) }
	for range bursts {
		s, t := p.From.Count, p.To.Count
		w.sources, w.targets = append(w.sources, sight{words(s), words(s), words(s)}), append(w.targets, sight{words(t), words(t), words(t)})
	}
	return w
}

func windowBytes(p *connectome.Plastic) uint64 {
	each := 8 * uint64(p.From.Count/64+1+p.To.Count/64+1)
	total := 4*uint64(max(p.From.Count, p.To.Count)) + 3*each*(uint64(max(1, p.Longest))-uint64(p.Least())+1)
	if findsTargets(&p.Window) {
		total += p.Synapses()*uint64(unsafe.Sizeof(incoming{})) + 8*uint64(p.To.Count)
	}
	return total
}

// look prepares what synapses see of burst s, which is not before burst 0.
func (w *windows) look(b *backend, s uint64) {
	at := s % uint64(len(w.sources))
	w.see(b, s, w.p.From, &w.sources[at])
	w.see(b, s, w.p.To, &w.targets[at])
}

func (w *windows) see(b *backend, s uint64, area connectome.Span, to *sight) {
	for _, list := range [][]uint64{to.now, to.any, to.all} {
		clear(list)
	}
	past := uint32(min(s+1, uint64(w.p.Window.Bursts)))
	for back := range uint64(past) {
		for _, n := range b.queueOf(s - back) {
			if i := n - area.First; i < area.Count {
				bit := uint64(1) << (i % 64)
				if back == 0 {
					to.now[i/64] |= bit
				}
				to.any[i/64] |= bit
				if w.counts[i]++; w.counts[i] == past {
					to.all[i/64] |= bit
				}
			}
		}
	}
	for back := range uint64(past) {
		for _, n := range b.queueOf(s - back) {
			if i := n - area.First; i < area.Count {
				w.counts[i] = 0
			}
		}
	}
}

// bounded brings a weight within its bounds, and makes +0 of −0.
func (s *share) bounded(w float32) float32 {
	switch {
	case w < s.l.p.Lo:
		w = s.l.p.Below
	case s.l.p.Hi < w:
		w = s.l.p.Above
	}
	return w + 0
}

func has(bits []uint64, i uint32) bool { return bits[i/64]>>(i%64)&1 != 0 }

// incoming is a synapse onto a target.
type incoming struct {
	k      uint64
	source uint32
	delay  uint8
}

// inward is the index by target of the synapses of a share: those onto target j are list[first[j]] … list[first[j+1]−1], by delay. The
// rules that a target's spikes alone work on need it.
type inward struct {
	first []uint64
	list  []incoming
}

// findsTargets reports whether a target's spikes change weights whose sources have none.
func findsTargets(w *connectome.Window) bool {
	return w.Kind == genome.WindowRelease || w.Kind == genome.WindowFebruary
}

func (s *share) findTargets() {
	in := inward{first: room[uint64](uint64(s.g.hi-s.g.lo) + 1)}
	s.eachStretch(func(_ uint32, from, to, _ uint64) {
		for _, port := range s.l.p.Target[from:to] {
			in.first[s.targetOf(port)+1]++
		}
	})
	for j := range in.first[1:] {
		in.first[j+1] += in.first[j]
	}
	next := slices.Clone(in.first)
	in.list = room[incoming](in.first[len(in.first)-1])
	s.eachStretch(func(i uint32, from, to, delay uint64) {
		for k := from; k < to; k++ {
			j := s.targetOf(s.l.p.Target[k])
			in.list[next[j]] = incoming{k, i, uint8(delay)}
			next[j]++
		}
	})
	if s.due != nil {
		for j := range in.first[1:] {
			slices.SortFunc(in.list[in.first[j]:in.first[j+1]], func(a, b incoming) int { return cmp.Compare(a.delay, b.delay) })
		}
	}
	s.in = in
}

// windows applies FEAGI's rules in burst t. A synapse stays as it is if neither its source nor its target fired in the window.
// So this looks at the rows of sources that did, and then, by the index, at the other synapses of targets that did.
func (s *share) windows(t uint64) {
	l, p := s.l, s.l.p
	for delay := l.least; delay <= min(l.longest, t); delay++ {
		burst := t - delay
		at := burst % uint64(len(l.seen.sources))
		source, target := &l.seen.sources[at], &l.seen.targets[at]
		for i := range set(source.any, 0, p.From.Count) {
			if s.due == nil {
				from, to := s.ownOf(i)
				s.fired(i, from, to, burst, source, target)
				continue
			}
			k, end := p.Row[i], p.Row[i+1]
			k = firstOf(p.Delay, k, end, uint32(delay))
			if k < end && uint64(p.Delay.At(k)) == delay {
				_, first, last := s.run(k, end)
				s.fired(i, first, last, burst, source, target)
			}
		}
		if !findsTargets(&p.Window) || burst+1 < uint64(p.Window.Bursts) {
			continue
		}
		first := s.ports[0] - s.ahead - p.To.First
		for i := range set(target.any, first, min(s.ports[1]-s.ahead-p.To.First, p.To.Count)) {
			if neuron := p.To.First + i; s.w.b.own.Owns(neuron) {
				s.firedOnto(s.w.b.own.Count(neuron)-s.g.lo, uint8(delay), source)
			}
		}
	}
}

// set yields the numbers lo ≤ i < hi of bits that are set.
func set(words []uint64, lo, hi uint32) iter.Seq[uint32] {
	return func(yield func(uint32) bool) {
		for w := lo / 64; w < (hi+63)/64; w++ {
			for left := words[w]; left != 0; left &= left - 1 {
				if i := 64*w + uint32(bits.TrailingZeros64(left)); i >= lo && i < hi && !yield(i) {
					return
				}
			}
		}
	}
}

// firedOnto lowers the weights of synapses of a delay onto a target that fired in the window, but those of sources that did too.
func (s *share) firedOnto(j uint32, delay uint8, source *sight) {
	list := s.in.list[s.in.first[j]:s.in.first[j+1]]
	if s.due != nil {
		from, _ := slices.BinarySearchFunc(list, delay, func(x incoming, d uint8) int { return cmp.Compare(x.delay, d) })
		list = list[from:]
	}
	for _, x := range list {
		if x.delay != delay {
			return
		}
		s.w.learnt++
		if !has(source.any, x.source) {
			s.l.weight[x.k] = s.bounded(s.l.weight[x.k] - s.l.p.Window.Down)
		}
	}
}

// fired is a burst for synapses from ≤ k < to of a source that fired in the window.
func (s *share) fired(i uint32, from, to, burst uint64, source, target *sight) {
	s.w.learnt += to - from
	l, p := s.l, s.l.p
	w := &p.Window
	arrives := has(source.now, i)
	if arrives && w.Kind == genome.WindowRelease { // the weight from before the burst of the spike
		s.give(i, from, to, burst)
	}
	shift := s.ahead + p.To.First
	rows, ports := l.weight[from:to], p.Target[from:to]
	both := target.all
	switch {
	case findsTargets(w) && burst+1 < uint64(w.Bursts), w.Kind == genome.WindowPython && !has(source.all, i):
		rows = nil
	case w.Kind == genome.WindowRelease:
		both = target.any
	case w.Kind == genome.WindowFebruary && !has(source.all, i):
		both = nil
	}
	for q := range rows {
		if both != nil && has(both, ports[q]-shift) {
			rows[q] = s.bounded(rows[q] + w.Up)
		} else {
			rows[q] = s.bounded(rows[q] - w.Down)
		}
	}
	if arrives && w.Kind != genome.WindowRelease {
		s.give(i, from, to, burst)
	}
}

// give delivers the weights of synapses from ≤ k < to of source i, which fired in a burst.
func (s *share) give(i uint32, from, to, burst uint64) {
	p, scale, amplitude := s.l.p, s.w.b.c.Scale, int32(0)
	if p.PSPMax > 0 {
		amplitude = s.w.b.amplitudeOf(p.From.First+i, burst)
	}
	for k := from; k < to; k++ {
		x := min(max(s.l.weight[k], min(p.Lo, 0)), max(p.Hi, 0))
		amount := connectome.Lift(p.Delivers(connectome.Quanta(x, scale), i, amplitude, scale), p.Lift)
		s.w.add(s.slot+s.targetOf(p.Target[k]), int32(amount))
	}
	s.w.read += to - from
}
