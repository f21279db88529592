package connectome

import (
	"math/bits"
	"slices"
	"sync"

	"burst/genome"
	"burst/internal/formula"
)

// tree sorts the neurons of an area by position and by columns, its axes. Its root has all of them; a node's neurons are halved along the
// longest side of their bounding box, the first of equal ones: the smaller coordinates go to the first half, which has one more where
// the number is odd, and of equal coordinates the smaller neurons. Without axes all coordinates are equal. With columns, sides are
// compared as shares of the root's. After levels halvings no node has more than leafNeurons; the neurons of those last nodes stand in
// their own order.
type tree struct {
	order  []uint32    // neuron of the area, by its place in the tree
	group  []uint32    // node of the level of groups, by neuron
	at     [][]float64 // coordinates, by axis and place: x, y and z, or none of them, then columns
	column []int       // the area's columns that are axes
	boxes  []float64   // least and largest coordinates of each node; the halves of node i are nodes 2i + 1 and 2i + 2
	whole  []float64   // by axis, the length that sides are shares of; nil: they are compared as they are
	levels int
}

// treeKey is what a tree is of.
type treeKey struct {
	area    int
	placed  bool                     // x, y and z are the first axes
	columns [formula.MaxColumns]bool // axes behind them
}

// axes is how many axes the tree has, and which columns are among them.
func (k *treeKey) axes() (n int, columns []int) {
	for column, is := range k.columns {
		if is {
			columns = append(columns, column)
		}
	}
	if n = len(columns); k.placed {
		n += 3
	}
	return n, columns
}

const leafNeurons = 4

// treeBytes is the memory of a tree of n neurons.
func treeBytes(n uint64, axes int) uint64 {
	return add(mul(n, 2*4+8*uint64(axes)), mul(nodesOf(n), 16*uint64(axes)))
}

// first is the axis of the first column.
func (t *tree) first() int { return len(t.at) - len(t.column) }

// box is the least and the largest coordinates of a node.
func (t *tree) box(node uint32) (lo, hi []float64) {
	n := len(t.at)
	b := t.boxes[2*n*int(node):][:2*n]
	return b[:n], b[n:]
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

// newTree makes the tree of an area by so many goroutines.
func newTree(a *genome.Area, key treeKey, workers int) *tree {
	n := a.Neurons()
	axes, columns := key.axes()
	t := &tree{order: make([]uint32, n), group: make([]uint32, n), at: make([][]float64, axes), levels: levelsOf(n), column: columns}
	t.boxes = make([]float64, uint64(2*axes)*nodesOf(n))
	where := make([][]float64, axes) // by neuron
	for axis := range where {
		where[axis], t.at[axis] = make([]float64, n), make([]float64, n)
	}
	for i := range n {
		t.order[i] = uint32(i)
		if key.placed {
			for axis, x := range a.At(i) {
				where[axis][i] = x
			}
		}
	}
	for k, column := range columns {
		copy(where[axes-len(columns)+k], a.Columns[column].Each)
	}
	if columns != nil {
		t.whole = wholes(where, key.placed)
	}
	t.halve(0, 0, t.order, where, workers)
	for place, i := range t.order {
		for axis := range where {
			t.at[axis][place] = where[axis][i]
		}
	}
	return t
}

// wholes are the lengths that sides are shares of: the longest of x, y and z, and each column's own.
func wholes(where [][]float64, placed bool) []float64 {
	list := make([]float64, len(where))
	for axis, x := range where {
		list[axis] = slices.Max(x) - slices.Min(x)
	}
	if placed {
		longest := max(list[0], list[1], list[2])
		list[0], list[1], list[2] = longest, longest, longest
	}
	return list
}

// side is how long a side of a box is.
func (t *tree) side(axis int, lo, hi []float64) float64 {
	x := hi[axis] - lo[axis]
	if t.whole != nil && x > 0 {
		x /= t.whole[axis]
	}
	return x
}

// halve makes a node and those below it by so many goroutines.
func (t *tree) halve(node, level int, list []uint32, where [][]float64, workers int) {
	lo, hi := t.box(uint32(node))
	longest := 0
	for axis, x := range where {
		lo[axis], hi[axis] = x[list[0]], x[list[0]]
		for _, i := range list {
			lo[axis], hi[axis] = min(lo[axis], x[i]), max(hi[axis], x[i])
		}
		if t.side(axis, lo, hi) > t.side(longest, lo, hi) {
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
	if len(where) > 0 {
		sift(list, half, where[longest])
	}
	first := func() { t.halve(2*node+1, level+1, list[:half], where, (workers+1)/2) }
	var beside sync.WaitGroup
	if workers > 1 {
		beside.Go(first)
	} else {
		first()
	}
	t.halve(2*node+2, level+1, list[half:], where, workers/2)
	beside.Wait()
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

// treeOf is a tree, made at its first use. It takes the memory only if there is enough.
func (p *plan) treeOf(w *wiring, key treeKey) (*tree, error) {
	if t := p.trees[key]; t != nil {
		return t, nil
	}
	n := uint64(p.areas[key.area].Count)
	axes, _ := key.axes()
	_, taken := p.bytesOf(&p.load)
	w.held = add(w.held, treeBytes(n, axes))
	// while it is made, coordinates stand there twice
	if need := add(taken, add(treeBytes(n, axes), mul(n, 8*uint64(axes)))); need > p.limit {
		return nil, p.refuse(w.p.Pos, projectionKey(w.index, "rule"), "bytes", need, p.limit, need)
	}
	t := newTree(&p.g.Areas[key.area], key, p.workers)
	p.trees[key] = t
	return t, nil
}
