package cpu

import (
	"math"
	"slices"
	"sync"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// join lets plastic projections share departures where they know the same of their sources, and posts where they know the same of their
// targets. What they know follows from the area's spikes and the rule, so it stays the same from one burst to the next. But a state may
// give them different traces; then they do not share.
func (b *backend) join(s *engine.State) {
	sources, targets := make([]int, len(b.learns)), make([]int, len(b.learns))
	for i := range b.learns {
		sources[i] = b.firstWith(sources[:i], i, sameSources, func(a, b int) bool {
			x, y := &s.Plastic[a], &s.Plastic[b]
			return slices.Equal(x.PreLast, y.PreLast) && slices.EqualFunc(x.Pre, y.Pre, sameBits)
		})
		targets[i] = b.firstWith(targets[:i], i, sameTargets, func(a, b int) bool {
			x, y := &s.Plastic[a], &s.Plastic[b]
			return slices.Equal(x.PostLast, y.PostLast) && slices.EqualFunc(x.Post, y.Post, sameBits)
		})
	}
	if slices.Equal(sources, b.sourcesOf) && slices.Equal(targets, b.targetsOf) {
		return
	}
	b.sourcesOf, b.targetsOf = sources, targets
	for i, l := range b.learns {
		if l.leads = sources[i] == i; l.leads {
			l.departures = l.newDepartures()
		} else {
			l.departures = b.learns[sources[i]].departures
		}
		switch first := b.learns[targets[i]]; {
		case first != l:
			l.post, l.postLast = first.post, first.postLast
		case !l.together():
			n := uint64(b.span(l.p.To).Count)
			l.post, l.postLast = lists(len(l.p.Post), n), room[uint64](n)
		}
	}
	var wg sync.WaitGroup
	for _, w := range b.workers {
		wg.Go(func() {
			for i, x := range w.shares {
				if targets[i] == i {
					x.bind(newPosts(x))
				} else {
					x.bind(w.shares[targets[i]].posts)
				}
			}
		})
	}
	wg.Wait()
}

// firstWith is the first projection that i shares with, i itself if there is none. before says that of each projection before i.
func (b *backend) firstWith(before []int, i int, same func(a, b *connectome.Plastic) bool, now func(a, b int) bool) int {
	for j, first := range before {
		if first == j && same(&b.c.Plastic[j], &b.c.Plastic[i]) && now(j, i) {
			return j
		}
	}
	return i
}

// sameSources reports whether projections see the same of their sources.
func sameSources(a, b *connectome.Plastic) bool {
	simple := func(p *connectome.Plastic) bool { return p.OnSource == nil && p.Window.Kind == genome.WindowNone }
	return simple(a) && simple(b) && a.From == b.From && a.Least() == b.Least() && max(1, a.Longest) == max(1, b.Longest) && sameTraces(a.Pre, b.Pre)
}

// sameTargets reports whether projections see the same of their targets, and may have events applied at the same time.
func sameTargets(a, b *connectome.Plastic) bool {
	simple := func(p *connectome.Plastic) bool {
		return p.When == nil && p.Every == nil && p.Window.Kind == genome.WindowNone && (p.OnPost == nil || len(asksOf(p.OnPost)) == 0)
	}
	return simple(a) && simple(b) && a.To == b.To && a.Lag == b.Lag && (a.OnPost == nil) == (b.OnPost == nil) && sameTraces(a.Post, b.Post)
}

func sameTraces(a, b []connectome.Trace) bool {
	return slices.EqualFunc(a, b, func(a, b connectome.Trace) bool {
		return a.Set == b.Set && a.Amount == b.Amount && a.Table.Until == b.Table.Until && slices.Equal(a.Table.Low, b.Table.Low) && slices.Equal(a.Table.High, b.Table.High)
	})
}

func sameBits(a, b []float32) bool {
	return slices.EqualFunc(a, b, func(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) })
}
