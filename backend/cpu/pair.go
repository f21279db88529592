package cpu

import (
	"math"
	"slices"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/formula"
)

// pairing takes long stretches of rows through on_post and on_pre of a pair rule in one pass (vector.Synapses.Pairs). Rows in which
// many targets have more than two events pending, and all other rules, go through the passes of block.
type pairing struct {
	vector.Pair
	vector.PairArrays
	*gathered
	trace  int    // of the source
	eights int    // of rows that the pass had in this burst
	missed int    // of them, those for block
	busy   uint64 // until this burst block has the rows
}

// gathered are rows on their way to the pass, in room that a worker's projections use in turn.
type gathered struct {
	rows    []vector.PairRow
	moments []moment // of rows
	again   []vector.PairMiss
	eights  int // of rows
	ahead   [batch]uint32
}

// mostRows are gathered before the first of them is worked on: what was asked for while they were gathered is in the cache then.
const mostRows = 1024

// busyFor is how many bursts block has the rows if half of the eights were missed.
const busyFor = 16

// newPairing is nil where the rule is no pair rule, or the projection needs what pairing does not do.
func newPairing(s *share) *pairing {
	p, b := s.l.p, s.w.b
	if p.OnPost == nil || p.OnPre == nil || len(p.Synapse) > 0 || p.Lift != 0 || !b.own.Whole() || s.g.lo == s.g.hi {
		return nil
	}
	post, postOK := pairStep(p.OnPost, formula.ReadPre)
	pre, preOK := pairStep(p.OnPre, formula.ReadPost)
	if !postOK || !preOK || p.OnPre.Reads[0].K != 0 {
		return nil
	}
	x := &pairing{gathered: &s.w.gathered, trace: int(p.OnPost.Reads[0].K)}
	ofSource, ofTarget := &p.Pre[x.trace].Table, &p.Post[0].Table
	if ofSource.High != nil || ofTarget.High != nil || ofSource.Until == 0 || ofTarget.Until == 0 {
		return nil
	}
	x.Post, x.Pre = post.spread(ofSource), pre.spread(ofTarget)
	x.Low, x.High, x.Scale = vector.Spread(p.Lo), vector.Spread(p.Hi), vector.Spread(float32(b.c.Scale))
	x.Shift = vector.Spread(s.ahead + s.g.lo)
	x.PairArrays = vector.PairArrays{
		Weight: s.l.weight, Targets: p.Target, Heads: s.ring.heads, Slots: s.ring.slots, Last: s.last, OfSource: ofSource.Low, OfTarget: ofTarget.Low,
	}
	return x
}

// begin prepares for the spikes that arrive in a burst, and reports whether their rows may be paired.
func (x *pairing) begin(t uint64, then uint32) bool {
	if 2*x.missed > x.eights {
		x.busy = t + busyFor
	}
	x.eights, x.missed = 0, 0
	x.Now, x.Then = vector.Spread(uint32(t+1)), vector.Spread(then)
	return t >= x.busy
}

// pair adds a stretch of a row: synapses from ≤ k < to.
func (s *share) pair(from, to uint64, m moment, after, base uint32) {
	x := s.pairing
	if len(x.rows) == mostRows {
		s.pairUp()
	}
	r := vector.PairRow{From: from, To: to, After: after, Base: base}
	if m.last > 0 {
		r.X = m.traces[x.trace][m.at]
	}
	x.rows, x.moments = append(x.rows, r), append(x.moments, m)
	x.gathered.eights += int(to-from+7) / 8
}

// pairUp takes the gathered rows through the pass. What it leaves is added to the blocks.
func (s *share) pairUp() {
	x, done, missed, eights := s.pairing, 0, 0, s.pairing.gathered.eights
	x.again = slices.Grow(x.again[:0], eights)
	if !s.broken {
		done, missed, s.broken = s.w.b.kernels.Synapses.Pairs(&x.Pair, &x.PairArrays, x.rows, x.again[:eights])
	}
	x.eights, x.missed = x.eights+eights, x.missed+missed
	s.w.read += 8 * uint64(eights)
	s.w.learnt += 8 * 8 * uint64(eights)
	for _, miss := range x.again[:missed] {
		r := &x.rows[miss.Row]
		from := r.From + uint64(miss.At)
		s.addBlocks(from, min(from+8, r.To), &x.moments[miss.Row], r.After, r.Base)
	}
	for i := done; i < len(x.rows); i++ {
		r := &x.rows[i]
		s.addBlocks(r.From, r.To, &x.moments[i], r.After, r.Base)
	}
	x.rows, x.moments, x.gathered.eights = x.rows[:0], x.moments[:0], 0
}

// pairForm is what a value of a handler is, as far as pairStep knows.
type pairForm struct {
	kind       pairKind
	c, e, m, d float32
}

type pairKind uint8

const (
	pairOther   pairKind = iota
	pairNumber           // c
	pairWeight           // w
	pairRatio            // w/m
	pairSum              // e + w/m
	pairFactor           // c·(e + w/m)
	pairTrace            // t
	pairShifted          // t + d
	pairProduct          // c·(e + w/m)·(t + d)
	pairResult           // w + c·(e + w/m)·(t + d)
)

// pairStep finds the numbers by which a handler is that of a pair rule. It is, only if the result is the same, bit for bit, as of the
// handler's own instructions, but for the sign of what is added as 0. Weights are never −0.
func pairStep(h *connectome.Handler, reads formula.ReadKind) (form pairForm, ok bool) {
	if len(h.Program.Next) != 1 || len(h.Reads) != 1 || h.Reads[0].Kind != reads {
		return form, false
	}
	forms := make([]pairForm, len(h.Program.Code))
	for i := range h.Program.Code {
		in := &h.Program.Code[i]
		switch in.Op {
		case formula.Const:
			forms[i] = pairForm{kind: pairNumber, c: in.Value}
		case formula.Param:
			forms[i] = pairForm{kind: pairNumber, c: h.Params[in.K]}
		case formula.State:
			forms[i] = pairForm{kind: pairWeight, c: 1, m: 1}
		case formula.Input:
			forms[i] = pairForm{kind: pairTrace}
		case formula.Neg:
			forms[i] = forms[in.A].negative()
		case formula.Add:
			forms[i] = forms[in.A].plus(forms[in.B])
		case formula.Sub:
			forms[i] = forms[in.A].plus(forms[in.B].negative())
		case formula.Mul:
			forms[i] = forms[in.A].times(forms[in.B])
		case formula.Div:
			forms[i] = forms[in.A].over(forms[in.B])
		}
	}
	form = forms[h.Program.Next[0]]
	return form, form.kind == pairResult
}

// negative is −a. It is exact, so that a − b is a + (−b).
func (a pairForm) negative() pairForm {
	switch a.kind {
	case pairNumber, pairFactor, pairProduct:
		a.c = -a.c
	case pairWeight:
		return pairForm{kind: pairRatio, c: 1, m: -1}
	case pairRatio:
		a.m = -a.m
	case pairSum:
		a.e, a.m = -a.e, -a.m
	default:
		return pairForm{}
	}
	return a
}

func (a pairForm) plus(b pairForm) pairForm {
	if a.kind > b.kind {
		a, b = b, a
	}
	switch {
	case a.kind == pairNumber && b.kind == pairNumber:
		a.c += b.c
		return a
	case a.kind == pairNumber && (b.kind == pairWeight || b.kind == pairRatio):
		return pairForm{kind: pairSum, c: 1, e: a.c, m: b.m}
	case a.kind == pairNumber && b.kind == pairTrace:
		return pairForm{kind: pairShifted, d: a.c}
	case a.kind == pairWeight && b.kind == pairProduct:
		b.kind = pairResult
		return b
	}
	return pairForm{}
}

func (a pairForm) times(b pairForm) pairForm {
	if a.kind > b.kind {
		a, b = b, a
	}
	isTrace := b.kind == pairTrace || b.kind == pairShifted
	switch {
	case a.kind == pairNumber && b.kind == pairNumber:
		a.c = float32(a.c * b.c)
		return a
	case a.kind == pairNumber && (b.kind == pairWeight || b.kind == pairRatio || b.kind == pairSum):
		b.kind, b.c = pairFactor, a.c
		return b
	case a.kind == pairNumber && isTrace:
		return pairForm{kind: pairProduct, c: a.c, e: 1, m: float32(math.Inf(1)), d: b.d}
	case pairWeight <= a.kind && a.kind <= pairFactor && isTrace:
		a.kind, a.d = pairProduct, b.d
		return a
	}
	return pairForm{}
}

func (a pairForm) over(b pairForm) pairForm {
	switch {
	case b.kind != pairNumber:
	case a.kind == pairNumber:
		a.c /= b.c
		return a
	case a.kind == pairWeight && b.c != 0:
		return pairForm{kind: pairRatio, c: 1, m: b.c}
	}
	return pairForm{}
}

// spread is the step for eight lanes.
func (a pairForm) spread(t *connectome.Table) vector.PairStep {
	return vector.PairStep{
		C: vector.Spread(a.c), E: vector.Spread(a.e), M: vector.Spread(a.m), D: vector.Spread(a.d), Final: vector.Spread(uint32(t.Until - 1)),
	}
}
