package connectome

import (
	"math/bits"

	"burst/internal/exact"
)

// rule makes the synapses of a projection in units that can be made in any order, by the recipes in doc.go.
type rule interface {
	// total is the number of synapses, or when it is not exact a number that is surely not more.
	total() (synapses uint64, isExact bool)
	// units is the number of pieces of work: sources, targets or synapses.
	units() uint64
	// wire adds the synapses of units lo ≤ u < hi to b.
	wire(lo, hi uint64, b *batch)
}

// counted is a rule that knows the number of synapses of a source without making them.
type counted interface{ outgoing(source uint64) uint64 }

// ends is what every rule knows of its projection.
type ends struct {
	sources, targets uint64
	noSelf           bool // one area to itself, autapses forbidden
	seed             uint64
	stream           uint64 // number of the projection
}

// others is how many partners of n neurons remain for a neuron.
func (e *ends) others(n uint64) uint64 {
	if e.noSelf {
		return n - 1
	}
	return n
}

// past maps 0…n−2 to the neurons other than self where it is forbidden.
func (e *ends) past(self, n uint64) uint64 {
	if e.noSelf && n >= self {
		return n + 1
	}
	return n
}

// draw is the wiring draw of an index as two 64-bit words.
func (e *ends) draw(index uint64) (x, y uint64) {
	return exact.Words(e.seed, exact.Wiring, index, e.stream)
}

// stretches are the wiring draws of many indices in a row.
func (e *ends) stretches() *exact.Stream { return exact.NewStream(e.seed, exact.Wiring, e.stream) }

// below turns a 64-bit word into a number 0…n−1; its bias is below n/2^64.
func below(x, n uint64) uint64 {
	hi, _ := bits.Mul64(x, n)
	return hi
}

// oneToOne connects the i-th source to the i-th target.
type oneToOne struct{ ends }

func (r *oneToOne) total() (uint64, bool) {
	if r.noSelf {
		return 0, true
	}
	return r.sources, true
}
func (r *oneToOne) units() uint64 { return r.sources }
func (r *oneToOne) outgoing(uint64) uint64 {
	if r.noSelf {
		return 0
	}
	return 1
}

func (r *oneToOne) wire(lo, hi uint64, b *batch) {
	if r.noSelf {
		return
	}
	for s := lo; s < hi; s++ {
		b.add(s, s, s*r.targets+s)
	}
}

// allToAll connects every source to every target.
type allToAll struct{ ends }

func (r *allToAll) total() (uint64, bool)  { return mul(r.sources, r.others(r.targets)), true }
func (r *allToAll) units() uint64          { return r.sources }
func (r *allToAll) outgoing(uint64) uint64 { return r.others(r.targets) }

func (r *allToAll) wire(lo, hi uint64, b *batch) {
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

func newDegree(e ends, k uint64, distinct, incoming bool) degree {
	return degree{ends: e, k: k, distinct: distinct, incoming: incoming, draws: e.stretches()}
}

func (r *degree) owners() (owners, partners uint64) {
	if r.incoming {
		return r.targets, r.sources
	}
	return r.sources, r.targets
}

func (r *degree) total() (uint64, bool) { return mul(r.units(), r.k), true }
func (r *degree) units() uint64 {
	owners, _ := r.owners()
	return owners
}

// scratch is the memory of a set of choices.
func (r *degree) scratch() uint64 {
	if !r.distinct || r.units() == 0 {
		return 0
	}
	_, partners := r.owners()
	slots, words := setSize(r.k, r.others(partners))
	return mul(4, slots) + mul(8, words)
}

func (r *degree) wire(lo, hi uint64, b *batch) {
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

// outdegree is degree with the sources as owners.
type outdegree struct{ degree }

func (r *outdegree) outgoing(uint64) uint64 { return r.k }
func (r *outdegree) longest() uint64        { return r.k }

// totalNumber makes n synapses, each between a source and a target of its own draw.
type totalNumber struct {
	ends
	n     uint64
	draws *exact.Stream
}

func (r *totalNumber) total() (uint64, bool) { return r.n, true }
func (r *totalNumber) units() uint64         { return r.n }

func (r *totalNumber) wire(lo, hi uint64, b *batch) {
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
