package connectome

import (
	"math/bits"

	"burst/internal/exact"
)

// below turns a 64-bit word into a number 0…n−1; its bias is below n/2^64.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// oneToOne connects the i-th source to the i-th target.
type oneToOne struct{ ends }

func newOneToOne(p *plan, w *wiring) (rule, error) {
	if e := w.ends; e.sources != e.targets {
		return nil, p.fault(w, "rule", "one_to_one needs areas of equal size, these have %d and %d neurons", e.sources, e.targets)
	}
	return &oneToOne{w.ends}, nil
}

// each is how many synapses a neuron has.
func (r *oneToOne) each() uint64 {
	if r.noSelf {
		return 0
	}
	return 1
}

func (r *oneToOne) synapses(onto uint64) (least, most uint64) {
	return onto * r.each(), onto * r.each()
}
func (r *oneToOne) row(uint64) (synapses uint64, known bool) { return r.each(), true }
func (r *oneToOne) longest() uint64                          { return r.each() }
func (r *oneToOne) unit() unit                               { return bySource }
func (r *oneToOne) scattered() bool                          { return false }
func (r *oneToOne) scratch() uint64                          { return 0 }
func (r *oneToOne) sizeKey() string                          { return "rule" }

func (r *oneToOne) draw(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		b.add(s, s, s*r.targets+s)
	}
}

// allToAll connects every source to every target.
type allToAll struct{ ends }

func newAllToAll(_ *plan, w *wiring) (rule, error) { return &allToAll{w.ends}, nil }

func (r *allToAll) synapses(onto uint64) (least, most uint64) {
	n := mul(onto, r.others(r.sources))
	return n, n
}

func (r *allToAll) row(uint64) (synapses uint64, known bool) { return r.others(r.targets), true }
func (r *allToAll) longest() uint64                          { return r.others(r.targets) }
func (r *allToAll) unit() unit                               { return bySource }
func (r *allToAll) scattered() bool                          { return false }
func (r *allToAll) scratch() uint64                          { return 0 }
func (r *allToAll) sizeKey() string                          { return "rule" }

func (r *allToAll) draw(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		for t := b.next(0); t < r.targets; t = b.next(t + 1) {
			if !r.noSelf || s != t {
				b.add(s, t, s*r.targets+t)
			}
		}
	}
}

// degree gives every neuron of one side (the owners) k partners on the other.
type degree struct {
	ends
	k        uint64
	distinct bool // no two synapses of a pair
	incoming bool // the owners are the targets
	draws    *exact.Stream
}

func newIndegree(p *plan, w *wiring) (rule, error) {
	return newDegree(p, w, w.p.Indegree, true)
}

func newOutdegree(p *plan, w *wiring) (rule, error) {
	return newDegree(p, w, w.p.Outdegree, false)
}

func newDegree(p *plan, w *wiring, k uint64, incoming bool) (rule, error) {
	r := &degree{ends: w.ends, k: k, distinct: w.p.NoMultapses, incoming: incoming, draws: w.ends.words()}
	_, partners := r.owners()
	if n := r.others(partners); k > 0 && (n == 0 || r.distinct && k > n) {
		return nil, p.fault(w, r.sizeKey(), "%d synapses a neuron, but there are only %d partners", k, n)
	}
	if k > 0 && (w.p.Kernel != nil || w.p.Mask != nil) {
		return newNearDegree(p, w, r)
	}
	return r, nil
}

func (r *degree) owners() (owners, partners uint64) {
	if r.incoming {
		return r.targets, r.sources
	}
	return r.sources, r.targets
}

func (r *degree) synapses(onto uint64) (least, most uint64) {
	if r.incoming {
		return mul(onto, r.k), mul(onto, r.k)
	}
	return r.share(mul(r.sources, r.k), onto)
}

func (r *degree) row(uint64) (synapses uint64, known bool) {
	if r.incoming {
		return 0, false
	}
	return r.k, true
}

func (r *degree) longest() uint64 {
	switch {
	case r.incoming && r.distinct:
		return r.targets
	case r.incoming:
		return mul(r.targets, r.k)
	}
	return r.k
}

func (r *degree) unit() unit {
	if r.incoming {
		return byTarget
	}
	return bySource
}

func (r *degree) scattered() bool { return !r.incoming }

func (r *degree) sizeKey() string {
	if r.incoming {
		return "indegree"
	}
	return "outdegree"
}

// scratch is the memory of a set of choices.
func (r *degree) scratch() uint64 {
	owners, partners := r.owners()
	if !r.distinct || owners == 0 {
		return 0
	}
	slots, words := setSize(r.k, r.others(partners))
	return mul(4, slots) + mul(8, words)
}

func (r *degree) draw(lo, hi uint64, b *batch) {
	_, partners := r.owners()
	choices := r.others(partners)
	var chosen *set
	if r.distinct {
		chosen = &b.chosen
		chosen.prepare(r.k, choices)
	}
	var x []uint64 // draws of the next ordinals
	for owner := lo; owner < hi; owner++ {
		if r.incoming && b.next(owner) != owner {
			x = nil
			continue
		}
		if r.distinct {
			chosen.clear()
		}
		for ordinal, end := owner*r.k, owner*r.k+r.k; ordinal < end; {
			if len(x) == 0 {
				x = b.x[:min(batchSize, hi*r.k-ordinal)]
				r.draws.X(ordinal, x)
			}
			n := b.room(min(uint64(len(x)), end-ordinal))
			r.join(b, owner, ordinal, x[:n], chosen, choices-(end-ordinal))
			x, ordinal = x[n:], ordinal+n
		}
	}
}

// join adds a synapse of an owner for each x; last is for the first of them what set.choose takes.
func (r *degree) join(b *batch, owner, ordinal uint64, x []uint64, chosen *set, last uint64) {
	_, among := r.owners()
	among = r.others(among)
	self := uint64(1) << 63 // of no neuron
	if r.noSelf {
		self = owner
	}
	if chosen == nil && !r.incoming && !b.part.Whole() {
		b.addOwn(owner, ordinal, x, among, self)
		return
	}
	owners, partners, ordinals := b.source[b.n:][:len(x)], b.target[b.n:][:len(x)], b.ordinal[b.n:][:len(x)]
	if r.incoming {
		owners, partners = partners, owners
	}
	for i, x := range x {
		var pick uint64
		if chosen != nil {
			pick = chosen.choose(x, last+uint64(i))
		} else {
			pick = below(x, among)
		}
		if pick >= self {
			pick++
		}
		owners[i], partners[i], ordinals[i] = uint32(owner), uint32(pick), ordinal+uint64(i)
	}
	b.n += len(x)
}

func newTotal(p *plan, w *wiring) (rule, error) {
	e, n := w.ends, w.p.Count
	pairs := e.sources * e.others(e.targets)
	switch {
	case n > 0 && (pairs == 0 || w.p.NoMultapses && n > pairs):
		return nil, p.fault(w, "count", "%d synapses, but there are only %d pairs", n, pairs)
	case w.p.NoMultapses:
		return &distinctPairs{counted{e, n}, newPermutation(&e, pairs)}, nil
	}
	return &totalNumber{counted{e, n}, e.words()}, nil
}

// counted is the part that the rules with a total number of synapses share.
type counted struct {
	ends
	n uint64
}

func (r *counted) synapses(onto uint64) (least, most uint64) { return r.share(r.n, onto) }
func (r *counted) row(uint64) (synapses uint64, known bool)  { return 0, false }
func (r *counted) longest() uint64                           { return r.n }
func (r *counted) unit() unit                                { return bySynapse }
func (r *counted) scattered() bool                           { return true }
func (r *counted) scratch() uint64                           { return 0 }
func (r *counted) sizeKey() string                           { return "count" }

// totalNumber makes n synapses, each between a source and a target of its own draw.
type totalNumber struct {
	counted
	draws *exact.Stream
}

func (r *totalNumber) draw(lo, hi uint64, b *batch) {
	targets := r.others(r.targets)
	for k := lo; k < hi; {
		n := b.room(hi - k)
		x, y := b.x[:n], b.y[:n]
		r.draws.XY(k, x, y)
		source, target, ordinal := b.source[b.n:][:n], b.target[b.n:][:n], b.ordinal[b.n:][:n]
		for i := range x {
			s := below(x[i], r.sources)
			source[i], target[i], ordinal[i] = uint32(s), uint32(r.past(s, below(y[i], targets))), k+uint64(i)
		}
		b.n += int(n)
		k += n
	}
}
