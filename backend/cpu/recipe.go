package cpu

import (
	"burst/connectome"
	"burst/internal/formula"
)

// recipe is the program of an area as passes over many neurons, with places for values. Numbers have the places 0… of the
// program's state variables, then parameters, then constants, then inputs, then what passes make; flags have place 0 for
// refractory.
type recipe struct {
	area      *connectome.Area
	passes    []pass
	results   []pass // per state variable: settleEither, or copying of a place that is its own where it stays as it is
	constants []float32
	inputs    int    // place of the first input
	apart     []bool // per port: a pass takes the sum itself
	numbers   int
	flags     int
	fired     int
}

// operation is what a pass does: an instruction, or several of them in one.
type operation uint8

const (
	mulAdd       operation = iota + 64 // a·b, rounded, + c
	addInput                           // a + the input of a port
	mulAddInput                        // a·b, rounded, + the input of a port
	butNot                             // a and not b
	lessBut                            // a < b and not c
	lessEqualBut                       // a ≤ b and not c
	copying                            // a
	settleEither                       // stores b where a is set, else c
)

type pass struct {
	op           operation
	out, a, b, c int
	port         uint32
}

// form is what becomes of an instruction: an operation on values, or nothing where another instruction takes it in.
type form struct {
	op    operation
	refs  []formula.Ref
	port  uint32
	taken bool
}

// planner makes a recipe: it joins instructions and gives places back once they are read for the last time.
type planner struct {
	r     *recipe
	p     *formula.Program
	uses  []int // by instructions and results
	forms []form
	place []int
	spare [2][]int // of numbers and flags
}

func newRecipe(a *connectome.Area) *recipe {
	p := a.Custom.Program
	l := &planner{r: &recipe{area: a, flags: 1, apart: make([]bool, p.Inputs)}, p: p, uses: make([]int, len(p.Code)), place: make([]int, len(p.Code))}
	for i := range p.Code {
		if p.Code[i].Op == formula.Const {
			l.r.constants = append(l.r.constants, p.Code[i].Value)
		}
		for _, v := range p.Code[i].Args() {
			l.uses[v]++
		}
		l.forms = append(l.forms, form{op: operation(p.Code[i].Op), refs: p.Code[i].Args()})
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

// once finds an argument of a kind that nothing else reads, and the other argument.
func (l *planner) once(i int, op formula.Op) (part *formula.Instruction, at, other formula.Ref, ok bool) {
	in := &l.p.Code[i]
	for _, p := range [...][2]formula.Ref{{in.A, in.B}, {in.B, in.A}} {
		if l.p.Code[p[0]].Op == op && l.uses[p[0]] == 1 {
			return &l.p.Code[p[0]], p[0], p[1], true
		}
	}
	return nil, 0, 0, false
}

// join lets an instruction take in those that make its arguments for it alone.
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
		case !single:
		case !ok:
			*f = form{op: addInput, refs: []formula.Ref{rest}, port: uint32(input.K)}
			l.takeInput(in)
		case in == other:
			*f = form{op: mulAddInput, refs: f.refs[:2], port: uint32(input.K)}
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

// plan gives every value a place, pass by pass.
func (l *planner) plan() {
	last := l.results()
	constants := 0
	for i := range l.p.Code {
		in, f := &l.p.Code[i], &l.forms[i]
		switch in.Op {
		case formula.State:
			l.place[i] = int(in.K)
		case formula.Param:
			l.place[i] = len(l.p.Next) + int(in.K)
		case formula.Const:
			l.place[i] = l.r.inputs - len(l.r.constants) + constants
			constants++
		case formula.Input:
			l.place[i] = l.r.inputs + int(in.K)
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
			l.place[i] = l.take(in.Op.Flag())
			s.out = l.place[i]
			l.r.passes = append(l.r.passes, s)
		}
	}
	l.finish(last)
}

// pass is a form with the places of its values.
func (l *planner) pass(f *form) pass {
	s := pass{op: f.op, port: f.port}
	for k, to := range []*int{&s.a, &s.b, &s.c}[:len(f.refs)] {
		*to = l.place[f.refs[k]]
	}
	return s
}

// results finds the variables that choose between two values at the end; they are chosen while they are stored, unless they
// read a variable that is stored before.
func (l *planner) results() []*form {
	last := make([]*form, len(l.p.Next))
	for k, v := range l.p.Next {
		in := &l.p.Code[v]
		if in.Op == formula.Select && l.uses[v] == 1 && !l.reads(in.B, k) && !l.reads(in.C, k) {
			l.forms[v].taken = true
			last[k] = &form{op: settleEither, refs: in.Args()}
		}
	}
	return last
}

// reads tells whether a value is a variable other than the k-th.
func (l *planner) reads(v formula.Ref, k int) bool {
	in := &l.p.Code[v]
	return in.Op == formula.State && int(in.K) != k
}

// finish notes how the results are stored; one that is another variable as it was is copied before that changes.
func (l *planner) finish(last []*form) {
	for k, v := range l.p.Next {
		if last[k] != nil {
			l.r.results = append(l.r.results, l.pass(last[k]))
			continue
		}
		at := l.place[v]
		if l.reads(v, k) {
			to := l.take(false)
			l.r.passes = append(l.r.passes, pass{op: copying, out: to, a: at})
			at = to
		}
		l.r.results = append(l.r.results, pass{op: copying, a: at})
	}
	l.r.fired = l.place[l.p.Fired]
}

// release gives a place back, unless it is one for good.
func (l *planner) release(v formula.Ref) {
	if op := l.p.Code[v].Op; op > formula.Refractory {
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
