package cpu

import (
	"math/bits"

	"burst/backend/cpu/internal/vector"
	"burst/connectome"
	"burst/internal/exact"
	"burst/internal/formula"
)

// chunk is how many neurons each pass works on at a time; their values stay in the first-level cache.
const chunk = 512

// evaluator is a recipe with the values of its registers.
type evaluator struct {
	*recipe
	numbers    [][]float32
	flags      [][]uint32
	scale      float32
	refractory uint32
}

func prepareCustom(w *worker, g *group) { g.evaluator = newEvaluator(g.area, w.b.c.Scale) }

func newEvaluator(a *connectome.Area, scale int32) *evaluator {
	k := newRegisters(newRecipe(a.Custom.Program, true))
	k.scale, k.refractory = float32(scale), uint32(a.Custom.Refractory.Const)
	for i, x := range a.Constants {
		k.fill(len(k.results)+i, x.Const)
	}
	return k
}

// newRegisters gives all registers but the state variables memory for a chunk, and the constants their values.
func newRegisters(r *recipe) *evaluator {
	k := &evaluator{recipe: r, numbers: make([][]float32, r.numbers), flags: make([][]uint32, r.flags)}
	for i := range k.numbers[len(r.results):] {
		k.numbers[len(r.results)+i] = make([]float32, roomy)
	}
	for i := range k.flags {
		k.flags[i] = make([]uint32, chunk)
	}
	for i, x := range r.constants {
		k.fill(r.inputs-len(r.constants)+i, x)
	}
	return k
}

// fill makes all entries of a register x.
func (k *evaluator) fill(at int, x float32) {
	for i := range k.numbers[at] {
		k.numbers[at][i] = x
	}
}

// updateCustom is step 4 of a model that a genome defines.
func (w *worker) updateCustom(g *group, b, end uint32) {
	clear(g.live[b:end])
	lo, hi := g.span(b, end)
	for ; lo < hi; lo += chunk {
		w.evaluate(g, lo, min(hi, lo+chunk))
	}
}

// eachOf returns the values of neurons lo ≤ i < hi of the group from the values of the whole area. In a split network they
// are copied into room, because the group's neurons do not have consecutive numbers.
func (w *worker) eachOf(g *group, each, room []float32, lo, hi uint32) []float32 {
	if w.b.own.Whole() {
		first := g.lo - g.area.Neurons.First
		return each[first+lo : first+hi]
	}
	if cap(room) < chunk {
		room = make([]float32, chunk)
	}
	room = room[:hi-lo]
	for i := range room {
		room[i] = each[w.b.index(g.area, g.lo+lo+uint32(i))]
	}
	return room
}

// evaluate updates neurons lo ≤ i < hi of the group, at most a chunk.
func (w *worker) evaluate(g *group, lo, hi uint32) {
	k, f, n := g.evaluator, &w.b.kernels.Formula, hi-lo
	live, words, r := g.live[lo/64:], g.spikes[lo/64:], g.r[lo:hi]
	k.numbers[0] = g.v[lo:hi]
	for i := 1; i < len(k.results); i++ {
		k.numbers[i] = g.more[i-1][lo:hi]
	}
	for i, x := range g.area.Constants {
		if x.Each != nil {
			k.numbers[len(k.results)+i] = w.eachOf(g, x.Each, k.numbers[len(k.results)+i], lo, hi)
		}
	}
	for port, apart := range k.apart {
		if !apart {
			f.Input(w.sum(g, uint32(port), lo, hi), &k.scale, k.numbers[k.inputs+port], live)
		}
	}
	f.Quiet(r, k.flags[0]) // 4a
	for i := range k.passes {
		switch s := &k.passes[i]; s.op { // 4b
		case addInput:
			f.AddInput(w.sum(g, s.place, lo, hi), &k.scale, k.numbers[s.out], k.numbers[s.a], live)
		case mulAddInput:
			f.MulAddInput(w.sum(g, s.place, lo, hi), &k.scale, k.numbers[s.out], k.numbers[s.a], k.numbers[s.b], live)
		case operation(formula.Random), operation(formula.Tail):
			w.roll(g, s, lo, hi)
		default:
			k.do(f, s, n)
		}
	}
	for i, s := range k.results {
		switch {
		case s.op == storeEither:
			f.SettleEither(k.flags[s.a][:n], k.numbers[s.b], k.numbers[s.c], k.numbers[i], live)
		case s.a != i:
			f.Settle(k.numbers[s.a][:n], k.numbers[i], live)
		}
	}
	f.Countdown(k.flags[k.fired][:n], &k.refractory, r, words, live) // 4c
	if each := g.area.Custom.Refractory.Each; each != nil {
		for i, left := range words[:(n+63)/64] {
			for ; left != 0; left &= left - 1 {
				at := 64*uint32(i) + uint32(bits.TrailingZeros64(left))
				r[at] = each[w.b.index(g.area, g.lo+lo+at)]
			}
		}
	}
	if k.draws {
		for i := range live[:(n+63)/64] {
			live[i] = 1 // the next burst draws other numbers
		}
	}
}

// roll executes a pass that draws a number for each of neurons lo ≤ i < hi of the group.
func (w *worker) roll(g *group, s *pass, lo, hi uint32) {
	out, number := g.evaluator.numbers[s.out], formula.Uniform
	if s.op == operation(formula.Tail) {
		number = formula.SignedTail
	}
	w.throw(exact.FormulaDraw, s.place, g.lo+lo, g.lo+hi, func(from uint32, draws []uint32) {
		list := out[from-g.lo-lo:][:len(draws)]
		for i, x := range draws {
			list[i] = number(x)
		}
	})
}

// sum returns the sums of neurons lo ≤ i < hi of the group at a port.
func (w *worker) sum(g *group, port, lo, hi uint32) []int32 {
	at := g.slot + port*g.run
	return w.acc[at+lo : at+hi]
}

// do executes a pass for n neurons.
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
