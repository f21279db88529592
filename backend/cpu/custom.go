package cpu

import (
	"burst/backend/cpu/vector"
	"burst/connectome"
	"burst/internal/formula"
)

// together is how many neurons an instruction is done for before the next one; their values stay in the first-level cache.
const together = 512

// evaluator is a recipe with room for a part's values.
type evaluator struct {
	*recipe
	numbers    [][]float32
	flags      [][]uint32
	scale      float32
	refractory uint32
}

func newEvaluator(a *connectome.Area, scale int32) *evaluator {
	r := newRecipe(a)
	k := &evaluator{
		recipe: r, numbers: make([][]float32, r.numbers), flags: make([][]uint32, r.flags), scale: float32(scale), refractory: uint32(a.Custom.Refractory),
	}
	for i := range k.numbers[len(r.results):] {
		k.numbers[len(r.results)+i] = make([]float32, together)
	}
	for i := range k.flags {
		k.flags[i] = make([]uint32, together)
	}
	fill := func(at int, x float32) {
		for i := range k.numbers[at] {
			k.numbers[at][i] = x
		}
	}
	for i, x := range a.Custom.Params {
		fill(len(r.results)+i, x.Const)
	}
	for i, x := range r.constants {
		fill(r.inputs-len(r.constants)+i, x)
	}
	return k
}

// updateCustom is step 4 of a model that the genome defines.
func (p *part) updateCustom(g *group, b, end uint32) {
	clear(g.live[b:end])
	lo, hi := g.span(b, end)
	for ; lo < hi; lo += together {
		p.evaluate(g, lo, min(hi, lo+together))
	}
}

// eachOf are the values of neurons lo ≤ i < hi of the group, of those of all its area's; room is where they are put together
// where the group's neurons do not follow each other.
func (p *part) eachOf(g *group, each, room []float32, lo, hi uint32) []float32 {
	if p.b.own.Whole() {
		first := g.lo - g.area.Neurons.First
		return each[first+lo : first+hi]
	}
	if cap(room) < together {
		room = make([]float32, together)
	}
	room = room[:hi-lo]
	for i := range room {
		room[i] = each[p.b.index(g.area, g.lo+lo+uint32(i))]
	}
	return room
}

// evaluate updates neurons lo ≤ i < hi of the group, at most as many as are done together.
func (p *part) evaluate(g *group, lo, hi uint32) {
	k, f, n := g.evaluator, &p.b.kernels.Formula, hi-lo
	live, words, r := g.live[lo/64:], g.spikes[lo/64:], p.b.r[g.lo+lo:g.lo+hi]
	k.numbers[0] = p.b.v[g.lo+lo : g.lo+hi]
	for i := 1; i < len(k.results); i++ {
		k.numbers[i] = p.b.more[i-1][g.lo+lo : g.lo+hi]
	}
	for i, x := range g.area.Custom.Params {
		if x.Each != nil {
			k.numbers[len(k.results)+i] = p.eachOf(g, x.Each, k.numbers[len(k.results)+i], lo, hi)
		}
	}
	for port, apart := range k.apart {
		if !apart {
			f.Input(p.sum(g, uint32(port), lo, hi), &k.scale, k.numbers[k.inputs+port], live)
		}
	}
	f.Quiet(r, k.flags[0]) // 4a
	for i := range k.passes {
		switch s := &k.passes[i]; s.op { // 4b
		case addInput:
			f.AddInput(p.sum(g, s.port, lo, hi), &k.scale, k.numbers[s.out], k.numbers[s.a], live)
		case mulAddInput:
			f.MulAddInput(p.sum(g, s.port, lo, hi), &k.scale, k.numbers[s.out], k.numbers[s.a], k.numbers[s.b], live)
		default:
			k.do(f, s, n)
		}
	}
	for i, s := range k.results {
		switch {
		case s.op == settleEither:
			f.SettleEither(k.flags[s.a][:n], k.numbers[s.b], k.numbers[s.c], k.numbers[i], live)
		case s.a != i:
			f.Settle(k.numbers[s.a][:n], k.numbers[i], live)
		}
	}
	f.Countdown(k.flags[k.fired][:n], &k.refractory, r, words, live) // 4c
}

// sum is what neurons lo ≤ i < hi of the group got at a port.
func (p *part) sum(g *group, port, lo, hi uint32) []int32 {
	at := g.slot + port*g.run
	return p.acc[at+lo : at+hi]
}

// do is one pass for n neurons.
func (k *evaluator) do(f *vector.Formula, s *pass, n uint32) {
	number, flag := k.numbers, k.flags
	switch s.op {
	case operation(formula.Add):
		f.Add(number[s.out][:n], number[s.a], number[s.b])
	case operation(formula.Sub):
		f.Sub(number[s.out][:n], number[s.a], number[s.b])
	case operation(formula.Mul):
		f.Mul(number[s.out][:n], number[s.a], number[s.b])
	case operation(formula.Div):
		f.Div(number[s.out][:n], number[s.a], number[s.b])
	case operation(formula.Min):
		f.Min(number[s.out][:n], number[s.a], number[s.b])
	case operation(formula.Max):
		f.Max(number[s.out][:n], number[s.a], number[s.b])
	case mulAdd:
		f.MulAdd(number[s.out][:n], number[s.a], number[s.b], number[s.c])
	case operation(formula.Neg):
		f.Neg(number[s.out][:n], number[s.a])
	case operation(formula.Abs):
		f.Abs(number[s.out][:n], number[s.a])
	case operation(formula.Sqrt):
		f.Sqrt(number[s.out][:n], number[s.a])
	case operation(formula.Less):
		f.Less(flag[s.out][:n], number[s.a], number[s.b])
	case operation(formula.LessEqual):
		f.LessEqual(flag[s.out][:n], number[s.a], number[s.b])
	case operation(formula.Equal):
		f.Equal(flag[s.out][:n], number[s.a], number[s.b])
	case operation(formula.And):
		f.And(flag[s.out][:n], flag[s.a], flag[s.b])
	case operation(formula.Or):
		f.Or(flag[s.out][:n], flag[s.a], flag[s.b])
	case operation(formula.Not):
		f.Not(flag[s.out][:n], flag[s.a])
	case butNot:
		f.ButNot(flag[s.out][:n], flag[s.a], flag[s.b])
	case lessBut:
		f.LessBut(flag[s.out][:n], number[s.a], number[s.b], flag[s.c])
	case lessEqualBut:
		f.LessEqualBut(flag[s.out][:n], number[s.a], number[s.b], flag[s.c])
	case operation(formula.Select):
		f.Select(number[s.out][:n], flag[s.a], number[s.b], number[s.c])
	case copying:
		copy(number[s.out][:n], number[s.a])
	}
}
