package connectome

import (
	"math"
	"sync/atomic"

	"burst/internal/exact"
	"burst/internal/formula"
)

// field is how likely the pairs of a projection are, by where their neurons lie and by columns: a kernel where a mask holds. An owner, of
// either end, looks at its partners, which lie in a tree.
type field struct {
	metric       *metric
	placed       bool            // positions count
	kernel, mask *formula.Kernel // nil: 1, and true
	home, tree   *tree           // of the owners, and of their partners
	cuts         []atomic.Pointer[cut]
	backward     bool    // the owners are the targets
	top          float64 // above which the kernel counts as this
	likeliest    float64 // no pair is likelier
}

// newField makes the trees of both ends.
func newField(p *plan, w *wiring, backward bool) (field, error) {
	f := field{metric: &w.metric, kernel: w.p.Kernel, mask: w.p.Mask, backward: backward, top: math.Inf(1), likeliest: 1}
	owners, partners := f.keys(w.p.From, w.p.To)
	if f.placed = owners.placed; backward {
		owners, partners = partners, owners
	}
	for _, i := range []int{w.p.From, w.p.To} {
		if f.placed && !p.g.Areas[i].Placed() {
			return f, p.fault(w, "rule", "expects areas whose neurons have positions, found %s without", p.g.Areas[i].Name)
		}
	}
	var err error
	if f.home, err = p.treeOf(w, owners); err != nil {
		return f, err
	}
	f.tree, err = p.treeOf(w, partners)
	f.cuts = make([]atomic.Pointer[cut], manyCuts)
	return f, err
}

// keys are of the trees of both ends: their axes are what kernel and mask read, and positions where they read no columns.
func (f *field) keys(from, to int) (source, target treeKey) {
	source.area, target.area = from, to
	columns := false
	for _, k := range []*formula.Kernel{f.kernel, f.mask} {
		if k == nil {
			continue
		}
		for i := range formula.MaxColumns {
			source.columns[i] = source.columns[i] || k.Reads(formula.OfSource+i)
			target.columns[i] = target.columns[i] || k.Reads(formula.OfTarget+i)
		}
		source.placed = source.placed || k.ReadsPlace()
		columns = columns || k.ReadsColumns()
	}
	source.placed = source.placed || !columns
	target.placed = source.placed
	return source, target
}

// cut is the stretches of the partners' tree for the owners of a group.
type cut struct {
	group       uint32
	list        []stretch
	ends        []float64 // of each stretch, the sum of the likelihoods up to its end if all were its top
	guide       []uint32  // of as many equal parts of the last sum, about the first stretch that ends behind its start
	least, most float64   // what the likelihoods of an owner's pairs add up to
}

// manyCuts is how many cuts a field keeps, so that owners of a group need not come one after the other.
const manyCuts = 1024

// crowd is how many places a goroutine works out at once.
const crowd = 256

// nearby is a goroutine's scratch memory.
type nearby struct {
	nodes  []node
	v      [formula.Variables][crowd]float64
	place  [crowd]uint32
	above  [crowd]float64      // of the places, the likelihood above which their pairs are made
	x      [wordsAtOnce]uint64 // draws
	second [wordsAtOnce]uint64
	room   []float64
	value  []float64
	owner  [formula.Variables]float64 // x, y, z and columns, at the places of the axes of its tree
	n      int

	stretches int // for which the next cut gets room
}

// wordsAtOnce is how many draws are made at once.
const wordsAtOnce = 64

// bytes is the scratch memory of a goroutine for the field.
func (f *field) bytes() uint64 {
	return add(uint64(64<<10+8*crowd*60*2), mul(nodesOf(uint64(len(f.tree.order))), 24+32+8+4))
}

// stretch is places lo ≤ i < hi of a tree where no pair is likelier than top, and none less likely than least.
type stretch struct {
	lo, hi     uint32
	top, least float64
	none       float64 // log of the probability of no synapse, for a pair as likely as top
}

// node is a node of a tree and its places.
type node struct {
	at, lo, hi uint32
	level      int
}

// look turns to an owner.
func (f *field) look(s *nearby, owner uint64) {
	s.n = 0
	area := f.metric.from
	if f.backward {
		area = f.metric.to
	}
	if f.placed {
		at := area.At(owner)
		copy(s.owner[:], at[:])
	}
	for k, column := range f.home.column {
		s.owner[f.home.first()+k] = area.Columns[column].Each[owner]
	}
}

// bounds are what the pairs of a group's owners with a node's neurons are at least and at most.
func (f *field) bounds(group, at uint32) (least, most float64) {
	from, to := f.home, f.tree
	first, second := group, at
	if f.backward {
		from, to, first, second = to, from, second, first
	}
	var v [formula.Variables]formula.Interval
	fromLo, fromHi := from.box(first)
	toLo, toHi := to.box(second)
	if f.placed {
		var raw [3]formula.Interval
		for axis := range raw {
			raw[axis] = formula.Interval{Lo: toLo[axis] - fromHi[axis], Hi: toHi[axis] - fromLo[axis]}
		}
		f.metric.over(raw, &v)
	}
	for k, column := range from.column {
		axis := from.first() + k
		v[formula.OfSource+column] = formula.Interval{Lo: fromLo[axis], Hi: fromHi[axis]}
	}
	for k, column := range to.column {
		axis := to.first() + k
		v[formula.OfTarget+column] = formula.Interval{Lo: toLo[axis], Hi: toHi[axis]}
	}
	least, most = 1, 1
	if f.kernel != nil {
		r := f.kernel.Over(&v)
		least, most = min(max(0, r.Lo), f.top), min(max(0, r.Hi), f.top)
	}
	if f.mask != nil {
		switch r := f.mask.Over(&v); {
		case r.Hi <= 0:
			return 0, 0
		case r.Lo <= 0:
			least = 0
		}
	}
	return least, most
}

// cutFor is the cut for the owners of a group.
func (f *field) cutFor(group uint32, s *nearby) *cut {
	kept := &f.cuts[group%manyCuts]
	if c := kept.Load(); c != nil && c.group == group {
		return c
	}
	c := f.cut(group, slack, s)
	kept.Store(c)
	return c
}

// cut cuts the tree into stretches, in the order of places. A node is halved while the likelihoods that it may have, added up over its
// neurons, differ by more than slack of the likeliest pair; nodes without likelihood drop.
func (f *field) cut(group uint32, slack float64, s *nearby) *cut {
	c := &cut{group: group, list: make([]stretch, 0, s.stretches), ends: make([]float64, 0, s.stretches)}
	s.nodes = append(s.nodes[:0], node{0, 0, uint32(len(f.tree.order)), 0})
	for len(s.nodes) > 0 {
		q := s.nodes[len(s.nodes)-1]
		s.nodes = s.nodes[:len(s.nodes)-1]
		low, high := f.bounds(group, q.at)
		n := float64(q.hi - q.lo)
		switch {
		case high <= 0:
		case q.level == f.tree.levels || !(float64((high-low)*n) > float64(slack*f.likeliest)):
			none := -1.0
			if high < 1 {
				none = exact.Log1p(-high)
			}
			c.list = append(c.list, stretch{q.lo, q.hi, high, low, none})
			c.least, c.most = c.least+float64(low*n), c.most+float64(high*n)
			c.ends = append(c.ends, c.most)
		default:
			half := q.lo + uint32(firstHalf(int(q.hi-q.lo)))
			s.nodes = append(s.nodes, node{2*q.at + 2, half, q.hi, q.level + 1}, node{2*q.at + 1, q.lo, half, q.level + 1})
		}
	}
	s.stretches = len(c.list) + len(c.list)/8 // cuts of neighbours are about as long
	c.guide = make([]uint32, len(c.list))
	for i, k := 0, 0; i < len(c.guide); i++ {
		for start := float64(i) * (c.most / float64(len(c.guide))); k < len(c.ends)-1 && c.ends[k] <= start; k++ {
		}
		c.guide[i] = uint32(k)
	}
	return c
}

// place is the place at a sum of likelihoods below most, and its stretch.
func (c *cut) place(sum float64) (uint32, *stretch) {
	i := int(c.guide[min(int(sum/c.most*float64(len(c.guide))), len(c.guide)-1)])
	for i > 0 && c.ends[i-1] > sum {
		i--
	}
	for i < len(c.ends)-1 && c.ends[i] <= sum {
		i++
	}
	if i > 0 {
		sum -= c.ends[i-1]
	}
	q := &c.list[i]
	return q.lo + uint32(min(max(0, sum/q.top), float64(q.hi-q.lo-1))), q
}

// put adds a place to those that work out what the owner's pairs are.
func (s *nearby) put(place uint32, above float64) {
	s.place[s.n], s.above[s.n] = place, above
	s.n++
}

// work makes the likelihoods of the places that were put.
func (f *field) work(s *nearby) []float64 {
	n := s.n
	if f.placed {
		f.measure(s)
	}
	ours, theirs := formula.OfSource, formula.OfTarget
	if f.backward {
		ours, theirs = theirs, ours
	}
	for k, column := range f.home.column {
		fill(s.v[ours+column][:n], s.owner[f.home.first()+k])
	}
	for k, column := range f.tree.column {
		out, at := s.v[theirs+column][:n], f.tree.at[f.tree.first()+k]
		for i, place := range s.place[:n] {
			out[i] = at[place]
		}
	}
	var v [formula.Variables][]float64
	for i := range v {
		v[i] = s.v[i][:n]
	}
	s.value = sized(s.value, crowd)[:n]
	for i := range s.value {
		s.value[i] = 1
	}
	if f.kernel != nil {
		s.room = sized(s.room, uint64(f.kernel.Room(n)))
		for i, x := range f.kernel.Run(n, &v, s.room) {
			if s.value[i] = 0; x > 0 { // false for NaN
				s.value[i] = min(x, f.top)
			}
		}
	}
	if f.mask != nil {
		s.room = sized(s.room, uint64(f.mask.Room(n)))
		for i, x := range f.mask.Run(n, &v, s.room) {
			if x == 0 {
				s.value[i] = 0
			}
		}
	}
	return s.value
}

// measure makes d, dx, dy and dz of the places that were put.
func (f *field) measure(s *nearby) {
	n := s.n
	for axis := range 3 {
		out, at, x := s.v[1+axis][:n], f.tree.at[axis], s.owner[axis]
		for i, place := range s.place[:n] {
			if out[i] = at[place] - x; f.backward {
				out[i] = x - at[place]
			}
		}
		if f.metric.period[axis] != 0 {
			for i := range out {
				out[i] = f.metric.wrap(axis, out[i])
			}
		}
	}
	for i := range n {
		s.v[0][i] = distance(s.v[1][i], s.v[2][i], s.v[3][i])
	}
}

// drawn is the likelihood above which a pair is made, for a draw in a stretch: one up to its least need not be worked out.
func (q *stretch) drawn(y uint64) float64 { return float64(exact.Uniform(y) * q.top) }

// scratch is the batch's scratch memory.
func (b *batch) nearby() *nearby {
	if b.near == nil {
		b.near = &nearby{}
	}
	return b.near
}
