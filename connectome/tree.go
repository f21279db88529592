package connectome

import (
	"math/bits"
	"slices"
	"unsafe"

	"burst/genome"
)

// tree sorts the neurons of an area by position. Its root has all of them; a node's neurons are halved along the longest side of
// their bounding box, the first of equal ones: the smaller coordinates go to the first half, which has one more where the number
// is odd, and of equal coordinates the smaller neurons. After levels halvings no node has more than leafNeurons; the neurons of
// those last nodes stand in their own order.
type tree struct {
	order  []uint32        // neuron of the area, by its place in the tree
	group  []uint32        // node of the level of groups, by neuron
	at     [3][]float64    // coordinates, by place
	boxes  [][2][3]float64 // least and largest coordinates of the nodes; the halves of node i are nodes 2i + 1 and 2i + 2
	levels int
}

const leafNeurons = 4

// treeBytes is the memory of a tree of n neurons.
func treeBytes(n uint64) uint64 {
	return add(mul(n, 2*4+3*8), mul(uint64(nodesOf(n)), uint64(unsafe.Sizeof([2][3]float64{}))))
}

func levelsOf(n uint64) int {
	if n <= leafNeurons {
		return 0
	}
	return bits.Len64((n - 1) / leafNeurons)
}

func nodesOf(n uint64) uint64 { return 2<<levelsOf(n) - 1 }

// groupLevel is the level of the nodes whose neurons, at most 16, look at their partners in the same way.
func (t *tree) groupLevel() int { return max(0, t.levels-2) }

// firstGroup is the first node of the level of groups.
func (t *tree) firstGroup() uint32 { return 1<<t.groupLevel() - 1 }

// groups is how many neurons each group has.
func (t *tree) groups() []uint64 {
	n := make([]uint64, 1<<t.groupLevel())
	for _, group := range t.group {
		n[group-t.firstGroup()]++
	}
	return n
}

// newTree makes the tree of an area.
func newTree(a *genome.Area) *tree {
	n := a.Neurons()
	t := &tree{order: make([]uint32, n), group: make([]uint32, n), boxes: make([][2][3]float64, nodesOf(n)), levels: levelsOf(n)}
	var where [3][]float64 // by neuron
	for axis := range where {
		where[axis], t.at[axis] = make([]float64, n), make([]float64, n)
	}
	for i := range n {
		t.order[i] = uint32(i)
		for axis, x := range a.At(i) {
			where[axis][i] = x
		}
	}
	t.halve(0, 0, t.order, &where)
	for place, i := range t.order {
		for axis := range where {
			t.at[axis][place] = where[axis][i]
		}
	}
	return t
}

func (t *tree) halve(node, level int, list []uint32, where *[3][]float64) {
	box, longest := &t.boxes[node], 0
	for axis, x := range where {
		box[0][axis], box[1][axis] = x[list[0]], x[list[0]]
		for _, i := range list {
			box[0][axis], box[1][axis] = min(box[0][axis], x[i]), max(box[1][axis], x[i])
		}
		if box[1][axis]-box[0][axis] > box[1][longest]-box[0][longest] {
			longest = axis
		}
	}
	if level == t.groupLevel() {
		for _, i := range list {
			t.group[i] = uint32(node)
		}
	}
	if level == t.levels {
		slices.Sort(list)
		return
	}
	half := firstHalf(len(list))
	sift(list, half, where[longest])
	t.halve(2*node+1, level+1, list[:half], where)
	t.halve(2*node+2, level+1, list[half:], where)
}

func firstHalf(n int) int { return (n + 1) / 2 }

// sift moves the k neurons with the smallest coordinates to the front, of equal coordinates the smaller neurons (Hoare 1961).
func sift(list []uint32, k int, x []float64) {
	before := func(a, b uint32) bool { return x[a] < x[b] || x[a] == x[b] && a < b }
	for lo, hi := 0, len(list)-1; lo < hi; {
		a, b, c := list[lo], list[lo+(hi-lo)/2], list[hi]
		if before(b, a) {
			a, b = b, a
		}
		if before(c, b) {
			b = c
			if before(b, a) {
				b = a
			}
		}
		i, j := lo, hi
		for i <= j {
			for before(list[i], b) {
				i++
			}
			for before(b, list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return
		}
	}
}

// treeOf is the tree of an area, made at its first use. It takes the memory only if there is enough.
func (p *plan) treeOf(w *wiring, area int) (*tree, error) {
	if t := p.trees[area]; t != nil {
		return t, nil
	}
	n := uint64(p.areas[area].Count)
	_, taken := p.bytesOf(&p.load)
	w.held = add(w.held, treeBytes(n))
	// while it is made, coordinates stand there twice
	if need := add(taken, add(treeBytes(n), mul(n, 24))); need > p.limit {
		return nil, p.refuse(w.p.Pos, projectionKey(w.index, "rule"), "bytes", need, p.limit, need)
	}
	t := newTree(&p.g.Areas[area])
	p.trees[area] = t
	return t, nil
}
