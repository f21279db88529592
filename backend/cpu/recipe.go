package cpu

import (
	"burst/backend/cpu/vector"
	"burst/connectome"
	"burst/internal/formula"
)

// together is how many neurons an instruction is done for before the next one; their values stay in the first-level cache.
const together = 512

// recipe is the program of an area with places for its values. Numbers have the places 0… of the program's state
// variables, then parameters, then constants, then inputs, then what instructions make; flags have place 0 for refractory.
type recipe struct {
	area      *connectome.Area
	passes    []pass
	constants []float32
	inputs    int // place of the first input
	numbers   int
	flags     int
	next      []int // per state variable, the place of the number that it becomes
	fired     int
}

// operation is what a pass does: an instruction, or two of them in one.
type operation uint8

const (
	mulAdd  = operation(64) + iota // a·b, rounded, + c
	butNot                         // a and not b
	copying                        // a
)

type pass struct {
	op           operation
	out, a, b, c int
}

// planner makes a recipe: it fuses pairs of instructions and gives places back once they are read for the last time.
type planner struct {
	r           *recipe
	p           *formula.Program
	uses        []int // by instructions and results, that are left
	fused       []bool
	place       []int
	spare       [2][]int // of numbers and flags
	constantsAt int
}

func newRecipe(a *connectome.Area) *recipe {
	p := a.Custom.Program
	l := &planner{r: &recipe{area: a, flags: 1}, p: p, uses: make([]int, len(p.Code)), fused: make([]bool, len(p.Code)), place: make([]int, len(p.Code))}
	l.count()
	l.constantsAt = len(p.Next) + len(p.Params)
	for i := range p.Code {
		if p.Code[i].Op == formula.Const {
			l.r.constants = append(l.r.constants, p.Code[i].Value)
		}
	}
	l.r.inputs = l.constantsAt + len(l.r.constants)
	l.r.numbers = l.r.inputs + p.Inputs
	l.plan()
	return l.r
}

// count counts uses, then finds products and negations that are used once, by an instruction that takes them in.
func (l *planner) count() {
	for i := range l.p.Code {
		for _, a := range l.p.Code[i].Args() {
			l.uses[a]++
		}
	}
	for _, v := range l.p.Next {
		l.uses[v]++
	}
	l.uses[l.p.Fired]++
	for i := range l.p.Code {
		if part, _, ok := l.pair(&l.p.Code[i]); ok {
			l.fused[part] = true
		}
	}
}

// pair finds the value that an instruction takes in, and the other one.
func (l *planner) pair(in *formula.Instruction) (part, other formula.Ref, ok bool) {
	wanted := map[formula.Op]formula.Op{formula.Add: formula.Mul, formula.And: formula.Not}[in.Op]
	for _, p := range [...][2]formula.Ref{{in.A, in.B}, {in.B, in.A}} {
		if wanted != 0 && l.p.Code[p[0]].Op == wanted && l.uses[p[0]] == 1 {
			return p[0], p[1], true
		}
	}
	return 0, 0, false
}

// plan walks through the program.
func (l *planner) plan() {
	constants := 0
	left := append([]int(nil), l.uses...)
	free := func(refs ...formula.Ref) {
		for _, v := range refs {
			if left[v]--; left[v] == 0 && !l.fused[v] {
				l.release(v)
			}
		}
	}
	for i := range l.p.Code {
		in := &l.p.Code[i]
		switch in.Op {
		case formula.State:
			l.place[i] = int(in.K)
		case formula.Param:
			l.place[i] = len(l.p.Next) + int(in.K)
		case formula.Const:
			l.place[i] = l.constantsAt + constants
			constants++
		case formula.Input:
			l.place[i] = l.r.inputs + int(in.K)
		case formula.Refractory:
		default:
			if l.fused[i] {
				continue
			}
			s, refs := l.pass(in)
			free(refs...)
			l.place[i] = l.take(in.Op.Flag())
			s.out = l.place[i]
			l.r.passes = append(l.r.passes, s)
		}
	}
	l.results()
}

// pass is an instruction with what it takes in; refs are the values that it reads.
func (l *planner) pass(in *formula.Instruction) (pass, []formula.Ref) {
	op, refs := operation(in.Op), in.Args()
	if part, other, ok := l.pair(in); ok {
		inner := l.p.Code[part].Args()
		if in.Op == formula.Add {
			op, refs = mulAdd, []formula.Ref{inner[0], inner[1], other}
		} else {
			op, refs = butNot, []formula.Ref{other, inner[0]}
		}
	}
	s := pass{op: op}
	for k, to := range []*int{&s.a, &s.b, &s.c}[:len(refs)] {
		*to = l.place[refs[k]]
	}
	return s, refs
}

// loaded reports whether a value has a place of its own for good.
func loaded(op formula.Op) bool { return op <= formula.Refractory }

func (l *planner) release(v formula.Ref) {
	if op := l.p.Code[v].Op; !loaded(op) {
		kind := kindOf(op.Flag())
		l.spare[kind] = append(l.spare[kind], l.place[v])
	}
}

func kindOf(flag bool) int {
	if flag {
		return 1
	}
	return 0
}

// take gives a place.
func (l *planner) take(flag bool) int {
	kind := kindOf(flag)
	if n := len(l.spare[kind]); n > 0 {
		place := l.spare[kind][n-1]
		l.spare[kind] = l.spare[kind][:n-1]
		return place
	}
	next := []*int{&l.r.numbers, &l.r.flags}[kind]
	*next++
	return *next - 1
}

// results notes where the results lie; one that is another variable as it was is copied before that changes.
func (l *planner) results() {
	for k, v := range l.p.Next {
		at := l.place[v]
		if in := &l.p.Code[v]; in.Op == formula.State && int(in.K) != k {
			to := l.take(false)
			l.r.passes = append(l.r.passes, pass{op: copying, out: to, a: at})
			at = to
		}
		l.r.next = append(l.r.next, at)
	}
	l.r.fired = l.place[l.p.Fired]
}

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
	for i := range k.numbers[len(r.next):] {
		k.numbers[len(r.next)+i] = make([]float32, together)
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
		fill(len(r.next)+i, x.Const)
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

// evaluate updates neurons lo ≤ i < hi of the group, at most as many as are done together.
func (p *part) evaluate(g *group, lo, hi uint32) {
	k, f, n := g.evaluator, &p.b.kernels.Formula, hi-lo
	live, words, r := g.live[lo/64:], g.spikes[lo/64:], p.b.r[g.lo+lo:g.lo+hi]
	k.numbers[0] = p.b.v[g.lo+lo : g.lo+hi]
	for i := 1; i < len(k.next); i++ {
		k.numbers[i] = p.b.more[i-1][g.lo+lo : g.lo+hi]
	}
	first := g.lo - g.area.Neurons.First
	for i, x := range g.area.Custom.Params {
		if x.Each != nil {
			k.numbers[len(k.next)+i] = x.Each[first+lo : first+hi]
		}
	}
	for port := range g.area.PortsEach() {
		at := g.slot + port*g.run
		f.Input(p.acc[at+lo:at+hi], &k.scale, k.numbers[k.inputs+int(port)], live)
	}
	f.Quiet(r, k.flags[0]) // 4a
	for i := range k.passes {
		k.do(f, &k.passes[i], n) // 4b
	}
	for i, at := range k.next {
		if at != i {
			f.Settle(k.numbers[at][:n], k.numbers[i], live)
		}
	}
	f.Countdown(k.flags[k.fired][:n], &k.refractory, r, words, live) // 4c
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
	case operation(formula.Select):
		f.Select(number[s.out][:n], flag[s.a], number[s.b], number[s.c])
	case copying:
		copy(number[s.out][:n], number[s.a])
	}
}
