package cuda

import (
	"slices"
	"sort"
	"unsafe"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/driver"
	"burst/internal/formula"
)

// Rules by kernel and mask, and values by formulas (kernels/near.cu).

// field is the struct of that name in kernels/formula.cuh, field for field.
type field struct {
	fromAt, toAt                driver.Ptr
	fromColumn, toColumn        [formula.MaxColumns]driver.Ptr
	period                      [3]float64
	top, slack                  float64
	home, partners              tree
	backward, _                 uint32
	kernel, mask, weight, delay formulaCode
}

// tree is the struct of that name there.
type tree struct {
	order, boxes                 driver.Ptr
	neurons, levels, axes, first uint32
	column                       [formula.MaxColumns]uint8
}

// formulaCode is formula there.
type formulaCode struct {
	steps [60]formulaStep
	count uint32
	reads [formula.Variables]uint8
}

// formulaStep is formula_step there.
type formulaStep struct {
	x                 float64
	what, to, a, b, c uint8
	_                 [3]uint8
}

// stretchBytes is the size of tree_stretch of kernels/near.cuh.
const stretchBytes = 32

// cutList is cuts there, field for field.
type cutList struct {
	start, list, count driver.Ptr
	first, groups      uint32
	low, high          uint32
}

// The kernels' parameters, in order.
type (
	cutArgs struct {
		field driver.Ptr
		cuts  cutList
	}
	nearArgs struct {
		building   building
		projection projection
		cuts       cutList
	}
)

// lay brings a list to the device, once; an empty one has no memory.
func lay[T any](w *work, list []T) (p driver.Ptr, err error) {
	if len(list) == 0 {
		return 0, nil
	}
	if p, is := w.laid[unsafe.Pointer(&list[0])]; is {
		return p, nil
	}
	if err := w.take(room{&p, size(list), false}); err != nil {
		return 0, err
	}
	if w.laid == nil {
		w.laid = map[unsafe.Pointer]driver.Ptr{}
	}
	w.laid[unsafe.Pointer(&list[0])] = p
	return p, w.stage(min(size(list), smallStaging), func(s *staging) error { return s.upload(p, data(list), size(list)) })
}

// fieldOf brings what formulas of a projection read to the device.
func (w *work) fieldOf(r *connectome.FieldRecipe) (driver.Ptr, error) {
	if p := w.fields[r]; p != 0 {
		return p, nil
	}
	f := field{
		period: r.Period, top: r.Top, slack: r.Slack, backward: flag(r.Backward),
		kernel: codeOf(r.Kernel), mask: codeOf(r.Mask), weight: codeOf(r.Weight), delay: codeOf(r.Delay),
	}
	var err error
	set := func(p *driver.Ptr, list []float64) {
		if err == nil {
			*p, err = lay(w, list)
		}
	}
	set(&f.fromAt, r.At[0])
	set(&f.toAt, r.At[1])
	for i := range f.fromColumn {
		set(&f.fromColumn[i], r.Columns[0][i])
		set(&f.toColumn[i], r.Columns[1][i])
	}
	if r.Near {
		for i, t := range []*connectome.TreeRecipe{&r.Home, &r.Partners} {
			to := []*tree{&f.home, &f.partners}[i]
			*to = tree{neurons: uint32(len(t.Order)), levels: uint32(t.Levels), axes: uint32(t.Axes), first: uint32(t.Axes - len(t.Columns))}
			for k, column := range t.Columns {
				to.column[k] = uint8(column)
			}
			if set(&to.boxes, t.Boxes); err == nil {
				to.order, err = lay(w, t.Order)
			}
		}
	}
	if err != nil {
		return 0, err
	}
	list := []field{f}
	p, err := lay(w, list)
	if w.fields == nil {
		w.fields = map[*connectome.FieldRecipe]driver.Ptr{}
	}
	w.fields[r] = p
	return p, err
}

// codeOf is a formula for the device; one without steps stands for none.
func codeOf(c *formula.Code) (f formulaCode) {
	if c == nil {
		return f
	}
	f.count, f.reads = uint32(len(c.Steps)), c.Reads
	for i, s := range c.Steps {
		f.steps[i] = formulaStep{x: s.X, what: s.What, to: s.To, a: s.A, b: s.B, c: s.C}
	}
	return f
}

// near draws the synapses of a rule by kernel or mask. Stretches of as many groups as fit most bytes lie on the device at a time.
func (w *work) near(k *entry[nearArgs], b building, p projection, r *connectome.FieldRecipe, most uint64) error {
	if p.units == 0 {
		return nil
	}
	ends := groupEnds(&r.Home)
	start, err := w.stretches(r, p.formulas, uint64(len(ends)))
	if err != nil {
		return err
	}
	if bySource := w.r.Neurons > uint32(b.neurons-b.first) && p.both == 0 && p.rule == ruleNumbers[genome.DistanceRule]; bySource {
		start = ofSources(start, ends, r.Home.Order, b.first-uint64(p.from), b.neurons-b.first)
	}
	var batches []int // the first groups
	largest := uint64(0)
	for first := 0; first < len(ends); {
		batches = append(batches, first)
		n := sort.Search(len(ends)-first, func(n int) bool { return stretchBytes*(start[first+n+1]-start[first]) > most })
		end := first + max(1, n)
		largest = max(largest, stretchBytes*(start[end]-start[first]))
		first = end
	}
	var c cutList
	if c.start, err = lay(w, start); err != nil {
		return err
	}
	if err := w.take(room{&c.list, largest, false}); err != nil {
		return err
	}
	if err := use(w.site, k); err != nil {
		return err
	}
	for i, first := range batches {
		end := len(ends)
		if i+1 < len(batches) {
			end = batches[i+1]
		}
		if c.first, c.groups, c.low, c.high = uint32(first), uint32(end-first), 0, ends[end-1]; first > 0 {
			c.low = ends[first-1]
		}
		if start[end] == start[first] {
			continue
		}
		if err := overAll(w, uint64(c.groups), &w.site.cut, cutArgs{p.formulas, c}); err != nil {
			return err
		}
		q := p
		q.units = uint64(c.high - c.low)
		threads, blocks := nearThreads, divUp(q.units, nearThreads)
		if q.slots > 0 {
			threads, blocks = 32, w.choosers(&q)/32
		}
		if err := k.launchGrid(uint32(min(blocks, uint64(32*w.sms))), uint32(threads), 0, w.stream, nearArgs{b, p, c}); err != nil {
			return err
		}
	}
	return w.give(&c.list)
}

// ofSources is start without the stretches of groups none of whose neurons is one of n from first on, modulo 2^64.
func ofSources(start []uint64, ends, order []uint32, first, n uint64) []uint64 {
	own, low := make([]uint64, len(start)), uint32(0)
	for i, end := range ends {
		own[i+1] = own[i]
		if slices.ContainsFunc(order[low:end], func(source uint32) bool { return uint64(source)-first < n }) {
			own[i+1] += start[i+1] - start[i]
		}
		low = end
	}
	return own
}

// nearThreads are those of a block that draws by kernels and masks, a neuron each.
const nearThreads = uint64(128)

// stretches are where those of each group begin in a list of all, and its end. What Count has found serves Place.
func (w *work) stretches(r *connectome.FieldRecipe, field driver.Ptr, groups uint64) ([]uint64, error) {
	if start := w.site.starts[r]; start != nil {
		return start, nil
	}
	count, start := make([]uint32, groups), make([]uint64, groups+1)
	c := cutList{groups: uint32(groups)}
	if err := w.take(room{&c.count, size(count), false}); err != nil {
		return nil, err
	}
	if err := overAll(w, groups, &w.site.cut, cutArgs{field, c}); err != nil {
		return nil, err
	}
	if err := w.stage(min(size(count), smallStaging), func(s *staging) error { return s.download(data(count), c.count, size(count)) }); err != nil {
		return nil, err
	}
	for i, n := range count {
		start[i+1] = start[i] + uint64(n)
	}
	w.site.starts[r] = start
	return start, w.give(&c.count)
}

// groupEnds are the places behind the last one of each group of a tree.
func groupEnds(t *connectome.TreeRecipe) []uint32 {
	ends := []uint32{uint32(len(t.Order))}
	for range t.Levels - 2 {
		var halves []uint32
		low := uint32(0)
		for _, high := range ends {
			halves = append(halves, low+(high-low+1)/2, high)
			low = high
		}
		ends = halves
	}
	return ends
}
