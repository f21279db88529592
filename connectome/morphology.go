package connectome

import (
	"math/bits"

	"burst/genome"
)

// projector connects voxels at the same relative place. A coarser target axis gathers voxels, a finer one spreads them.
type projector struct {
	from, to [3]int64
	source   [3]int // axis of the source that each axis of the target follows
	end      int    // axis whose last layer alone projects, −1 for none
	single   bool   // places by division in float32
}

func newProjector(m *genome.Mapper, from, to [3]int64) (shape morphology, disjoint bool) {
	p := &projector{from: from, to: to, source: [3]int{0, 1, 2}, end: int(m.FromEnd) - 1, single: m.Single}
	switch m.Axes {
	case genome.YXZ:
		p.source = [3]int{1, 0, 2}
	case genome.ZYX:
		p.source = [3]int{2, 1, 0}
	case genome.XZY:
		p.source = [3]int{0, 2, 1}
	}
	return p, true
}

func (p *projector) boxes(at [3]int64, out []box) []box {
	var b box
	for i, k := range p.source {
		l, s, t := at[k], p.from[k], p.to[i]
		switch {
		case k == p.end && l != s-1:
			return out
		case k == p.end:
			b[i] = only(0)
		case p.single:
			b[i] = placed(l, s, t)
		case s >= t:
			b[i] = only(l * t / s)
		default:
			b[i] = axis{(l*t + s - 1) / s, ((l+1)*t + s - 1) / s, noHole, 0} // all d with ⌊d·s/t⌋ = l
		}
	}
	return append(out, b)
}

// placed is what place l of s projects to among t, divided in float32: ⌊l/(s/t)⌋, or where t is more all d with ⌊d/(t/s)⌋ = l.
func placed(l, s, t int64) axis {
	switch {
	case s == t:
		return only(l)
	case s > t:
		return only(min(int64(float32(l)/(float32(s)/float32(t))), t-1))
	}
	ratio := float32(t) / float32(s)
	first := func(l int64) int64 { // the first d of l or a later one: near the exact place, for the quotient grows with d
		d := (l*t + s - 1) / s
		for d > 0 && int64(float32(d-1)/ratio) >= l {
			d--
		}
		for d < t && int64(float32(d)/ratio) < l {
			d++
		}
		return d
	}
	return axis{first(l), first(l + 1), noHole, 0}
}

// blocks connects a voxel to the voxel with its coordinates divided by divide.
type blocks struct{ divide, to [3]int64 }

func newBlocks(m *genome.Mapper, _, to [3]int64) (shape morphology, disjoint bool) {
	divide := m.Divide
	for i := range divide {
		divide[i] = max(divide[i], 1)
	}
	return &blocks{signed(divide), to}, true
}

func (b *blocks) boxes(at [3]int64, out []box) []box {
	var one box
	for i, l := range at {
		d := l / b.divide[i]
		if d >= b.to[i] {
			return out
		}
		one[i] = only(d)
	}
	return append(out, one)
}

// expander connects x to the binary numerals, as wide as the source at least, that have a 1 at position x from the left.
type expander struct{ from, to int64 }

func newExpander(_ *genome.Mapper, from, to [3]int64) (shape morphology, disjoint bool) {
	return &expander{from[0], to[0]}, true
}

func (e *expander) boxes(at [3]int64, out []box) []box {
	lo := int64(0)
	for width := e.from; lo < e.to; width++ {
		hi := e.to
		if width < 62 {
			hi = min(hi, 1<<width)
		}
		if place := width - 1 - at[0]; place < 62 {
			if b := (box{{lo, hi, noHole, 1 << place}, only(0), only(0)}); b.size() > 0 {
				out = append(out, b)
			}
		}
		lo = hi
	}
	return out
}

// reducer connects x to the positions, from the left, of the ones in its binary numeral, as wide as the target at least.
type reducer struct{ to int64 }

func newReducer(_ *genome.Mapper, _, to [3]int64) (shape morphology, disjoint bool) {
	return &reducer{to[0]}, true
}

func (r *reducer) boxes(at [3]int64, out []box) []box {
	width := max(r.to, int64(bits.Len64(uint64(at[0]))))
	for rest := uint64(at[0]); rest != 0; rest &= rest - 1 {
		if place := width - 1 - int64(bits.TrailingZeros64(rest)); place < r.to {
			out = append(out, box{only(place), only(0), only(0)})
		}
	}
	return out
}

// lateralPairs connects the even x to the next one and the odd x to the one before.
type lateralPairs struct{ to [3]int64 }

func newLateralPairs(_ *genome.Mapper, _, to [3]int64) (shape morphology, disjoint bool) {
	return &lateralPairs{to}, true
}

func (l *lateralPairs) boxes(at [3]int64, out []box) []box {
	x := at[0] ^ 1
	if x >= l.to[0] || at[1] >= l.to[1] || at[2] >= l.to[2] {
		return out
	}
	return append(out, box{only(x), only(at[1]), only(at[2])})
}

// lastToFirst connects the last voxel to the first.
type lastToFirst struct{ last [3]int64 }

func newLastToFirst(_ *genome.Mapper, from, _ [3]int64) (shape morphology, disjoint bool) {
	return &lastToFirst{[3]int64{from[0] - 1, from[1] - 1, from[2] - 1}}, true
}

func (l *lastToFirst) boxes(at [3]int64, out []box) []box {
	if at != l.last {
		return out
	}
	return append(out, box{only(0), only(0), only(0)})
}

// composite cuts the source into blocks and applies a morphology to the chosen ones, each as if it were the source.
type composite struct {
	block  [3]int64
	choose [3][2]uint64 // blocks taken and skipped in turn
	mapper morphology
}

func (c *composite) boxes(at [3]int64, out []box) []box {
	var inside [3]int64
	for i, l := range at {
		take, skip := c.choose[i][0], c.choose[i][1]
		if uint64(l/c.block[i])%(take+skip) >= take {
			return out
		}
		inside[i] = l % c.block[i]
	}
	return c.mapper.boxes(inside, out)
}

// randomizer connects every source neuron to all neurons of one random target voxel.
type randomizer struct {
	ends
	voxels, each uint64
}

func newRandomizer(p *plan, w *wiring) (rule, error) {
	to := &p.g.Areas[w.p.To]
	return &randomizer{w.ends, w.ends.targets / to.PerVoxel, to.PerVoxel}, nil
}

func (r *randomizer) synapses(onto uint64) (least, most uint64) {
	most = mul(r.sources, r.each)
	switch {
	case onto < r.targets:
		return 0, most
	case r.noSelf:
		return mul(r.sources, r.each-1), most
	}
	return most, most
}

func (r *randomizer) row(uint64) (synapses uint64, known bool) { return r.each, !r.noSelf }
func (r *randomizer) longest() uint64                          { return r.each }
func (r *randomizer) unit() unit                               { return bySource }
func (r *randomizer) scattered() bool                          { return false }
func (r *randomizer) scratch() uint64                          { return 0 }
func (r *randomizer) sizeKey() string                          { return "rule" }

func (r *randomizer) draw(lo, hi uint64, b *batch) {
	for s := lo; s < hi; s++ {
		x, _ := r.word(s)
		first := below(x, r.voxels) * r.each
		for t := first; t < first+r.each; t++ {
			if !r.noSelf || s != t {
				b.add(s, t, s*r.targets+t)
			}
		}
	}
}
