package cpu

import "burst/internal/formula"

// recipe is a program as passes over many neurons, or synapses. Values are kept in registers, which hold numbers or flags.
// The registers of numbers are, in this order: the program's state variables, parameters, constants, inputs, and the
// results of passes. The first register of flags is "refractory".
type recipe struct {
	passes    []pass
	results   []pass // per state variable: storeEither, or copying, from its own register if the variable does not change
	constants []float32
	inputs    int    // register of the first input
	draws     bool   // passes take random draws
	sums      bool   // inputs are sums of ports, which passes may read themselves
	apart     []bool // per port: a pass does so
	numbers   int    // registers of numbers
	flags     int    // registers of flags
	fired     int    // register of the flag "fired"
}

// operation is what a pass does: one instruction of the program, or several joined.
type operation uint8

const (
	mulAdd       operation = iota + 64 // a·b, rounded, + c
	addInput                           // a + the input of a port
	mulAddInput                        // a·b, rounded, + the input of a port
	butNot                             // a and not b
	lessBut                            // a < b and not c
	lessEqualBut                       // a ≤ b and not c
	copying                            // a
	storeEither                        // stores b where a is set, else c
)

type pass struct {
	op           operation
	out, a, b, c int
	place        uint32 // port, or number of the draw
}

// form is what an instruction becomes: an operation on values, or nothing if it is joined into another instruction.
type form struct {
	op    operation
	refs  []formula.Ref
	place uint32 // port of an input, or number of a draw
	taken bool
}

// planner makes a recipe: it joins instructions and allocates registers. A register is free again after its last use.
type planner struct {
	r     *recipe
	p     *formula.Program
	uses  []int // how often each value is read, by instructions and as a result
	forms []form
	at    []int    // register of each value
	spare [2][]int // free registers of numbers and of flags
}

func newRecipe(p *formula.Program, sums bool) *recipe {
	l := &planner{r: &recipe{sums: sums, draws: p.Draws(), flags: 1, apart: make([]bool, p.Inputs)}, p: p, uses: make([]int, len(p.Code)), at: make([]int, len(p.Code))}
	for i := range p.Code {
		if p.Code[i].Op == formula.Const {
			l.r.constants = append(l.r.constants, p.Code[i].Value)
		}
		for _, v := range p.Code[i].Args() {
			l.uses[v]++
		}
		l.forms = append(l.forms, form{op: operation(p.Code[i].Op), refs: p.Code[i].Args(), place: uint32(p.Code[i].K)})
	}
	for _, v := range p.Next {
		l.uses[v]++
	}
	l.uses[p.Fired]++
	l.r.inputs = len(p.Next) + len(p.Params) + len(l.r.constants)
	l.r.numbers = l.r.inputs + p.Inputs
	for i := range p.Code {
		l.join(i)
	}
	l.plan()
	return l.r
}

// once finds an argument that instruction op makes and nothing else reads, and the other argument.
func (l *planner) once(i int, op formula.Op) (part *formula.Instruction, at, other formula.Ref, ok bool) {
	in := &l.p.Code[i]
	for _, p := range [...][2]formula.Ref{{in.A, in.B}, {in.B, in.A}} {
		if l.p.Code[p[0]].Op == op && l.uses[p[0]] == 1 {
			return &l.p.Code[p[0]], p[0], p[1], true
		}
	}
	return nil, 0, 0, false
}

// join joins instructions into the i-th one if nothing else reads their results.
func (l *planner) join(i int) {
	f := &l.forms[i]
	switch l.p.Code[i].Op {
	case formula.Add:
		product, at, other, ok := l.once(i, formula.Mul)
		if ok {
			*f = form{op: mulAdd, refs: []formula.Ref{product.A, product.B, other}}
			l.forms[at].taken = true
		}
		switch input, in, rest, single := l.once(i, formula.Input); {
		case !single || !l.r.sums:
		case !ok:
			*f = form{op: addInput, refs: []formula.Ref{rest}, place: uint32(input.K)}
			l.takeInput(in)
		case in == other:
			*f = form{op: mulAddInput, refs: f.refs[:2], place: uint32(input.K)}
			l.takeInput(in)
		}
	case formula.And:
		not, at, other, ok := l.once(i, formula.Not)
		if !ok {
			return
		}
		l.forms[at].taken = true
		*f = form{op: butNot, refs: []formula.Ref{other, not.A}}
		test := &l.p.Code[other]
		if joint := map[formula.Op]operation{formula.Less: lessBut, formula.LessEqual: lessEqualBut}[test.Op]; joint != 0 && l.uses[other] == 1 {
			*f = form{op: joint, refs: []formula.Ref{test.A, test.B, not.A}}
			l.forms[other].taken = true
		}
	}
}

func (l *planner) takeInput(v formula.Ref) {
	l.forms[v].taken = true
	l.r.apart[l.p.Code[v].K] = true
}

// plan gives every value a register and lists the passes.
func (l *planner) plan() {
	last := l.results()
	constants := 0
	for i := range l.p.Code {
		in, f := &l.p.Code[i], &l.forms[i]
		switch in.Op {
		case formula.State:
			l.at[i] = int(in.K)
		case formula.Param:
			l.at[i] = len(l.p.Next) + int(in.K)
		case formula.Const:
			l.at[i] = l.r.inputs - len(l.r.constants) + constants
			constants++
		case formula.Input:
			l.at[i] = l.r.inputs + int(in.K)
		case formula.Refractory:
		default:
			if f.taken {
				continue
			}
			s := l.pass(f)
			for _, v := range f.refs {
				if l.uses[v]--; l.uses[v] == 0 {
					l.release(v)
				}
			}
			l.at[i] = l.take(in.Op.Flag())
			s.out = l.at[i]
			l.r.passes = append(l.r.passes, s)
		}
	}
	l.finish(last)
}

// pass turns a form into a pass on registers.
func (l *planner) pass(f *form) pass {
	s := pass{op: f.op, place: f.place}
	for k, to := range []*int{&s.a, &s.b, &s.c}[:len(f.refs)] {
		*to = l.at[f.refs[k]]
	}
	return s
}

// results finds the state variables whose last instruction selects one of two values. Selecting and storing become one
// operation, unless a value is another state variable, which may have been stored before.
func (l *planner) results() []*form {
	last := make([]*form, len(l.p.Next))
	for k, v := range l.p.Next {
		in := &l.p.Code[v]
		if in.Op == formula.Select && l.uses[v] == 1 && !l.reads(in.B, k) && !l.reads(in.C, k) {
			l.forms[v].taken = true
			last[k] = &form{op: storeEither, refs: in.Args()}
		}
	}
	return last
}

// reads reports whether a value is a state variable other than the k-th.
func (l *planner) reads(v formula.Ref, k int) bool {
	in := &l.p.Code[v]
	return in.Op == formula.State && int(in.K) != k
}

// finish lists how the results are stored. A result that is the old value of another state variable is copied first.
func (l *planner) finish(last []*form) {
	for k, v := range l.p.Next {
		if last[k] != nil {
			l.r.results = append(l.r.results, l.pass(last[k]))
			continue
		}
		at := l.at[v]
		if l.reads(v, k) {
			to := l.take(false)
			l.r.passes = append(l.r.passes, pass{op: copying, out: to, a: at})
			at = to
		}
		l.r.results = append(l.r.results, pass{op: copying, a: at})
	}
	l.r.fired = l.at[l.p.Fired]
}

// release frees the register of a value, unless it is permanent.
func (l *planner) release(v formula.Ref) {
	if op := l.p.Code[v].Op; op > formula.Refractory {
		kind := kindOf(op.Flag())
		l.spare[kind] = append(l.spare[kind], l.at[v])
	}
}

func kindOf(flag bool) int {
	if flag {
		return 1
	}
	return 0
}

// take allocates a register.
func (l *planner) take(flag bool) int {
	kind := kindOf(flag)
	if n := len(l.spare[kind]); n > 0 {
		register := l.spare[kind][n-1]
		l.spare[kind] = l.spare[kind][:n-1]
		return register
	}
	next := []*int{&l.r.numbers, &l.r.flags}[kind]
	*next++
	return *next - 1
}
