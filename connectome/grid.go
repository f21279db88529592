package connectome

import (
	"slices"

	"burst/genome"
)

// axis is a set of coordinates: lo ≤ c < hi, c ≠ hole.
type axis struct{ lo, hi, hole int64 }

const noHole = -1

func (a axis) has(c int64) bool { return a.lo <= c && c < a.hi && c != a.hole }

func (a axis) size() uint64 {
	n := max(0, a.hi-a.lo)
	if a.lo <= a.hole && a.hole < a.hi {
		n--
	}
	return uint64(n)
}

// meets is false only when the sets have no coordinate in common that their ranges could tell.
func (a axis) meets(b axis) bool { return max(a.lo, b.lo) < min(a.hi, b.hi) }

// box is a product of coordinate sets.
type box [3]axis

func (b *box) has(x, y, z int64) bool { return b[0].has(x) && b[1].has(y) && b[2].has(z) }

func (b *box) size() uint64 { return mul(mul(b[0].size(), b[1].size()), b[2].size()) }

func (b *box) meets(o *box) bool { return b[0].meets(o[0]) && b[1].meets(o[1]) && b[2].meets(o[2]) }

// morphology says which target voxels a source voxel reaches, as boxes that may overlap.
type morphology interface {
	boxes(from [3]int64, out []box) []box
}

// grid connects every neuron of a source voxel to every neuron of the target voxels that a morphology gives, once.
type grid struct {
	ends
	fromSize, toSize [3]int64
	fromEach, toEach uint64 // neurons a voxel
	shape            morphology
	disjoint         bool   // no two boxes of a source voxel overlap
	least            uint64 // synapses, or a number that is surely not more
	exact            bool
}

// survey fills least and exact by counting, source voxel by source voxel, without making synapses.
func (r *grid) survey(workers int) {
	least, exact := make([]uint64, workers), make([]bool, workers)
	for i := range exact {
		exact[i] = true
	}
	spans(workers, uint64(r.fromSize[0]*r.fromSize[1]*r.fromSize[2]), 4096, func(worker int, lo, hi uint64) {
		var list []box
		for v := lo; v < hi; v++ {
			list = r.shape.boxes(r.voxel(v), list[:0])
			n, isExact := reach(list, r.disjoint)
			least[worker] = add(least[worker], n)
			exact[worker] = exact[worker] && isExact
		}
	})
	r.exact = !slices.Contains(exact, false)
	voxels := uint64(0)
	for _, n := range least {
		voxels = add(voxels, n)
	}
	r.least = mul(voxels, mul(r.fromEach, r.toEach))
	if r.noSelf {
		r.least, r.exact = r.least-min(r.least, r.sources), false
	}
}

// reach is the number of voxels in the boxes together, or where boxes may overlap that of the largest.
func reach(list []box, disjoint bool) (voxels uint64, exact bool) {
	sum, largest := uint64(0), uint64(0)
	exact = true
	for i := range list {
		size := list[i].size()
		sum, largest = add(sum, size), max(largest, size)
		for j := 0; j < i && !disjoint && exact; j++ {
			exact = !list[i].meets(&list[j])
		}
	}
	if exact {
		return sum, true
	}
	return largest, false
}

// voxel is the coordinates of a source voxel, z fastest.
func (r *grid) voxel(v uint64) [3]int64 {
	y, z := uint64(r.fromSize[1]), uint64(r.fromSize[2])
	return [3]int64{int64(v / (y * z)), int64(v / z % y), int64(v % z)}
}

func (r *grid) total() (uint64, bool) { return r.least, r.exact }
func (r *grid) units() uint64         { return r.sources }

func (r *grid) wire(lo, hi uint64, b *batch) {
	var list []box
	have := ^uint64(0)
	for s := lo; s < hi; s++ {
		if v := s / r.fromEach; v != have {
			list, have = r.shape.boxes(r.voxel(v), list[:0]), v
		}
		for i := range list {
			earlier := list[:i]
			if r.disjoint {
				earlier = nil
			}
			r.fill(s, earlier, &list[i], b)
		}
	}
}

// fill connects a source to the voxels of a box that no earlier box has.
func (r *grid) fill(s uint64, earlier []box, to *box, b *batch) {
	var rivals []box
	for i := range earlier {
		if earlier[i].meets(to) {
			rivals = earlier[i:]
			break
		}
	}
	for x := to[0].lo; x < to[0].hi; x++ {
		for y := to[1].lo; y < to[1].hi; y++ {
			for z := to[2].lo; z < to[2].hi; z++ {
				if to.has(x, y, z) && !taken(rivals, x, y, z) {
					r.join(s, uint64((x*r.toSize[1]+y)*r.toSize[2]+z), b)
				}
			}
		}
	}
}

func taken(rivals []box, x, y, z int64) bool {
	for i := range rivals {
		if rivals[i].has(x, y, z) {
			return true
		}
	}
	return false
}

// join connects a source to the neurons of a target voxel.
func (r *grid) join(s, voxel uint64, b *batch) {
	for t := voxel * r.toEach; t < (voxel+1)*r.toEach; t++ {
		if !r.noSelf || s != t {
			b.add(s, t, s*r.targets+t)
		}
	}
}

// projector keeps the map: a coarser axis gathers, a finer one spreads.
type projector struct{ from, to [3]int64 }

func (p *projector) boxes(at [3]int64, out []box) []box {
	var b box
	for i, l := range at {
		s, t := p.from[i], p.to[i]
		if s >= t {
			d := l * t / s
			b[i] = axis{d, d + 1, noHole}
		} else {
			b[i] = axis{(l*t + s - 1) / s, ((l+1)*t + s - 1) / s, noHole} // all d with ⌊d·s/t⌋ = l
		}
	}
	return append(out, b)
}

// vectors reach source + v, where that lies in the target area; each vector stands here once.
type vectors struct {
	to   [3]int64
	list [][3]int64
}

func newVectors(list [][3]int64, to [3]int64) *vectors {
	v := &vectors{to: to, list: slices.Clone(list)}
	slices.SortFunc(v.list, func(a, b [3]int64) int { return slices.Compare(a[:], b[:]) })
	v.list = slices.Compact(v.list)
	return v
}

func (v *vectors) boxes(at [3]int64, out []box) []box {
next:
	for _, d := range v.list {
		var b box
		for i := range d {
			if d[i] < -at[i] || d[i] >= v.to[i]-at[i] {
				continue next
			}
			b[i] = axis{at[i] + d[i], at[i] + d[i] + 1, noHole}
		}
		out = append(out, b)
	}
	return out
}

// patterns reach what FEAGI's pattern elements describe.
type patterns struct {
	to   [3]int64
	list []genome.Pattern
}

// newPatterns keeps each pattern once; "?" and "!" as source elements match anything, as "*" does.
func newPatterns(list []genome.Pattern, to [3]int64) *patterns {
	p := &patterns{to: to}
	for _, one := range list {
		for i := range one.From {
			if one.From[i].Kind != genome.Exact {
				one.From[i] = genome.PatternElem{Kind: genome.Any}
			}
			if one.To[i].Kind != genome.Exact {
				one.To[i].Coord = 0
			}
		}
		if !slices.Contains(p.list, one) {
			p.list = append(p.list, one)
		}
	}
	return p
}

func (p *patterns) boxes(at [3]int64, out []box) []box {
next:
	for i := range p.list {
		var b box
		for k := range b {
			if from := p.list[i].From[k]; from.Kind == genome.Exact && from.Coord != at[k] {
				continue next
			}
			b[k] = p.along(p.list[i].To[k], at[k], k)
			if b[k].size() == 0 {
				continue next
			}
		}
		out = append(out, b)
	}
	return out
}

// along is what a destination element describes on axis k for a source at c.
func (p *patterns) along(to genome.PatternElem, c int64, k int) axis {
	whole := axis{0, p.to[k], noHole}
	switch to.Kind {
	case genome.Any:
		return whole
	case genome.Other:
		whole.hole = c
		return whole
	case genome.Exact:
		c = to.Coord
	}
	if !whole.has(c) {
		return axis{}
	}
	return axis{c, c + 1, noHole}
}
