package connectome

import "slices"

// axis is a set of coordinates: lo ≤ c < hi, c ≠ hole, and c & bit ≠ 0 where bit is not 0.
type axis struct{ lo, hi, hole, bit int64 }

const noHole = -1

// only is the set of one coordinate.
func only(c int64) axis { return axis{c, c + 1, noHole, 0} }

func (a axis) has(c int64) bool {
	return a.lo <= c && c < a.hi && c != a.hole && (a.bit == 0 || c&a.bit != 0)
}

// size is the number of coordinates; a set has a hole or a bit, not both.
func (a axis) size() uint64 {
	if a.bit != 0 {
		return uint64(max(0, withBit(a.hi, a.bit)-withBit(a.lo, a.bit)))
	}
	n := max(0, a.hi-a.lo)
	if a.lo <= a.hole && a.hole < a.hi {
		n--
	}
	return uint64(n)
}

// withBit is how many of 0…n−1 have a bit set.
func withBit(n, bit int64) int64 { return n&^(2*bit-1)/2 + max(0, n&(2*bit-1)-bit) }

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
	most             uint64 // synapses of a source, or a number that is surely not less
}

// survey fills least and exact by counting, source voxel by source voxel, without making synapses.
func (r *grid) survey(workers int) {
	least, exact, most := make([]uint64, workers), make([]bool, workers), make([]uint64, workers)
	for i := range exact {
		exact[i] = true
	}
	spans(workers, uint64(r.fromSize[0]*r.fromSize[1]*r.fromSize[2]), 4096, func(worker int, lo, hi uint64) {
		var list []box
		for v := lo; v < hi; v++ {
			list = r.shape.boxes(r.voxel(v), list[:0])
			n, all, isExact := reach(list, r.disjoint)
			least[worker], most[worker] = add(least[worker], n), max(most[worker], all)
			exact[worker] = exact[worker] && isExact
		}
	})
	r.exact = !slices.Contains(exact, false)
	voxels := uint64(0)
	for _, n := range least {
		voxels = add(voxels, n)
	}
	r.least = mul(voxels, mul(r.fromEach, r.toEach))
	r.most = mul(slices.Max(most), r.toEach)
	if r.noSelf {
		r.least, r.exact = r.least-min(r.least, r.sources), false
	}
}

// reach is the number of voxels in the boxes together, or where boxes may overlap that of the largest; sum is never less.
func reach(list []box, disjoint bool) (voxels, sum uint64, exact bool) {
	largest := uint64(0)
	exact = true
	for i := range list {
		size := list[i].size()
		sum, largest = add(sum, size), max(largest, size)
		for j := 0; j < i && !disjoint && exact; j++ {
			exact = !list[i].meets(&list[j])
		}
	}
	if exact {
		return sum, sum, true
	}
	return largest, sum, false
}

// voxel is the coordinates of a source voxel, z fastest.
func (r *grid) voxel(v uint64) [3]int64 {
	y, z := uint64(r.fromSize[1]), uint64(r.fromSize[2])
	return [3]int64{int64(v / (y * z)), int64(v / z % y), int64(v % z)}
}

func (r *grid) total() (uint64, bool) { return r.least, r.exact }
func (r *grid) units() uint64         { return r.sources }
func (r *grid) longest() uint64       { return r.most }

func (r *grid) wire(lo, hi uint64, b *batch) {
	list := b.boxes
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
	b.boxes = list[:0]
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
	for t := b.next(voxel * r.toEach); t < (voxel+1)*r.toEach; t = b.next(t + 1) {
		if !r.noSelf || s != t {
			b.add(s, t, s*r.targets+t)
		}
	}
}
