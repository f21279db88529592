package connectome

import (
	"slices"

	"burst/genome"
)

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

// withBit is the number of 0…n−1 that have a bit set.
func withBit(n, bit int64) int64 { return n&^(2*bit-1)/2 + max(0, n&(2*bit-1)-bit) }

// meets is false only if the ranges of the sets are disjoint.
func (a axis) meets(b axis) bool { return max(a.lo, b.lo) < min(a.hi, b.hi) }

// box is a product of coordinate sets.
type box [3]axis

func (b *box) has(x, y, z int64) bool { return b[0].has(x) && b[1].has(y) && b[2].has(z) }

func (b *box) size() uint64 { return mul(mul(b[0].size(), b[1].size()), b[2].size()) }

func (b *box) meets(o *box) bool { return b[0].meets(o[0]) && b[1].meets(o[1]) && b[2].meets(o[2]) }

// morphology gives the target voxels of a source voxel, as boxes that may overlap.
type morphology interface {
	boxes(from [3]int64, out []box) []box
}

// grid connects every neuron of a source voxel to every neuron, or to the last neuron, of the target voxels of a morphology. Each
// pair is connected once.
type grid struct {
	ends
	fromSize, toSize [3]int64
	fromEach, toEach uint64 // neurons a voxel
	low, high        uint64 // of a target voxel the neurons low ≤ i < high are connected
	shape            morphology
	disjoint         bool   // no two boxes of a source voxel overlap
	least, most      uint64 // synapses; equal where known
	longestRow       uint64 // synapses of a source, or an upper bound
}

// newGrid makes a rule for voxels.
func newGrid(p *plan, w *wiring, newShape func(m *genome.Mapper, from, to [3]int64) (shape morphology, disjoint bool)) (rule, error) {
	pr := w.p
	from, to := &p.g.Areas[pr.From], &p.g.Areas[pr.To]
	r := &grid{
		ends: w.ends, fromSize: signed(from.Size), toSize: signed(to.Size),
		fromEach: from.PerVoxel, toEach: to.PerVoxel, high: to.PerVoxel,
	}
	switch {
	case pr.LastOnly:
		r.low = r.toEach - 1
	case pr.Foremost:
		r.high = 1
	}
	m := genome.Mapper{Rule: pr.Rule, Axes: pr.Axes, FromEnd: pr.FromEnd, Single: pr.Single, Divide: pr.Divide, Vectors: pr.Vectors, Patterns: pr.Patterns}
	r.shape, r.disjoint = newShape(&m, r.fromSize, r.toSize)
	r.count(p.workers)
	return r, nil
}

// newComposite makes a rule that applies another to blocks of the source.
func newComposite(p *plan, w *wiring) (rule, error) {
	pr := w.p
	if pr.Mapper == nil || makerOf(pr.Mapper.Rule).shape == nil {
		return nil, p.fault(w, "mapper", "a composite needs a mapper, one of the rules %v", genome.Mappers())
	}
	c := &composite{block: signed(pr.Blocks), choose: pr.Choose}
	for i := range 3 {
		if c.block[i] < 1 || c.choose[i][0] < 1 {
			return nil, p.fault(w, "src_seed", "blocks of %v voxels, %v of them taken and skipped, want at least 1 voxel and 1 block taken on each axis", pr.Blocks, pr.Choose)
		}
	}
	return newGrid(p, w, func(_ *genome.Mapper, _, to [3]int64) (morphology, bool) {
		mapper, disjoint := makerOf(pr.Mapper.Rule).shape(pr.Mapper, c.block, to)
		c.mapper = mapper
		return c, disjoint
	})
}

func signed(size [3]uint64) [3]int64 {
	return [3]int64{int64(size[0]), int64(size[1]), int64(size[2])}
}

// count fills least, most and longestRow, source voxel by source voxel, without making synapses.
func (r *grid) count(workers int) {
	least, most, longest := make([]uint64, workers), make([]uint64, workers), make([]uint64, workers)
	spans(workers, uint64(r.fromSize[0]*r.fromSize[1]*r.fromSize[2]), 4096, func(worker int, lo, hi uint64) {
		var list []box
		for v := lo; v < hi; v++ {
			list = r.shape.boxes(r.voxel(v), list[:0])
			low, high := reach(list, r.disjoint)
			least[worker], most[worker], longest[worker] = add(least[worker], low), add(most[worker], high), max(longest[worker], high)
		}
	})
	low, high := uint64(0), uint64(0)
	for i := range least {
		low, high = add(low, least[i]), add(high, most[i])
	}
	pairs := mul(r.fromEach, r.high-r.low)
	r.least, r.most = mul(low, pairs), mul(high, pairs)
	r.longestRow = mul(slices.Max(longest), r.high-r.low)
	if r.noSelf {
		r.least -= min(r.least, r.sources)
	}
}

// reach bounds the number of voxels in the union of the boxes: at least that of the largest box, at most the sum. Both are
// the exact number if no two boxes overlap.
func reach(list []box, disjoint bool) (least, most uint64) {
	apart := true
	for i := range list {
		size := list[i].size()
		least, most = max(least, size), add(most, size)
		for j := 0; j < i && !disjoint && apart; j++ {
			apart = !list[i].meets(&list[j])
		}
	}
	if apart {
		least = most
	}
	return least, most
}

// voxel is the coordinates of a source voxel, z fastest.
func (r *grid) voxel(v uint64) [3]int64 {
	y, z := uint64(r.fromSize[1]), uint64(r.fromSize[2])
	return [3]int64{int64(v / (y * z)), int64(v / z % y), int64(v % z)}
}

func (r *grid) synapses(onto uint64) (least, most uint64) {
	if onto < r.targets { // a part may have none of a source's synapses if they lie together
		return 0, r.most
	}
	return r.least, r.most
}

func (r *grid) row(uint64) (synapses uint64, known bool) { return 0, false }
func (r *grid) longest() uint64                          { return r.longestRow }
func (r *grid) unit() unit                               { return bySource }
func (r *grid) scattered() bool                          { return false }
func (r *grid) scratch() uint64                          { return 0 }
func (r *grid) sizeKey() string                          { return "rule" }

func (r *grid) draw(lo, hi uint64, b *batch) {
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
	for t := b.next(voxel*r.toEach + r.low); t < voxel*r.toEach+r.high; t = b.next(t + 1) {
		if !r.noSelf || s != t {
			b.add(s, t, s*r.targets+t)
		}
	}
}
