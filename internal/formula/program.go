package formula

import (
	"fmt"
	"math"
	"slices"
)

// Op says what an instruction does.
type Op uint8

// The instructions; the package comment gives their meaning.
const (
	Const      Op = iota // Value
	State                // state variable K
	Param                // parameter K
	Input                // input of port K
	Refractory           // flag
	Neg
	Abs
	Sqrt
	Add
	Sub
	Mul
	Div
	Min
	Max
	Less // flag, as all up to Not
	LessEqual
	Equal
	And // of flags, as Or and Not
	Or
	Not
	Select // A is a flag; B and C are numbers
	Random // draw K
	Tail   // draw K
	ops

	Fused = ops // A·B + C, rounded once: of a Shortcut alone
)

var names = [ops + 1]string{
	"const", "state", "param", "input", "refractory", "neg", "abs", "sqrt", "add", "sub", "mul", "div", "min", "max",
	"less", "lesseq", "equal", "and", "or", "not", "select", "random", "tail", "fused",
}

// String is the name in the package comment.
func (o Op) String() string { return names[o] }

// Args is how many values the instruction takes: A; A and B; or A, B and C.
func (o Op) Args() int {
	switch {
	case o <= Refractory || o.Draws():
		return 0
	case o <= Sqrt || o == Not:
		return 1
	case o == Select || o == Fused:
		return 3
	}
	return 2
}

// Flag reports whether the instruction makes a flag.
func (o Op) Flag() bool { return o == Refractory || Less <= o && o <= Not }

// Draws reports whether the instruction takes a random draw.
func (o Op) Draws() bool { return o == Random || o == Tail }

// takes reports whether the i-th argument is a flag.
func (o Op) takes(i int) bool { return And <= o && o <= Not || o == Select && i == 0 }

// Ref is the value that Code[Ref] makes.
type Ref uint16

// Instruction makes one value.
type Instruction struct {
	Op    Op
	A     Ref
	B     Ref
	C     Ref
	K     uint16  // of State, Param and Input; the number of the draw
	Value float32 // of Const
}

// Args are the values that the instruction takes, in order.
func (i *Instruction) Args() []Ref { return []Ref{i.A, i.B, i.C}[:i.Op.Args()] }

// Program makes a neuron's next state from its last. It is never changed once made.
type Program struct {
	Code   []Instruction
	Next   []Ref    // per state variable: the number that it becomes
	Fired  Ref      // flag
	Params []string // names of the parameters that Param loads
	Inputs int      // ports
}

// Draws reports whether the program takes random draws.
func (p *Program) Draws() bool {
	return slices.ContainsFunc(p.Code, func(in Instruction) bool { return in.Op.Draws() })
}

// maxCode bounds the instructions of a program, MaxState, MaxParams and MaxInputs what it loads.
const (
	maxCode   = 1024
	MaxState  = 16
	MaxParams = 128
	MaxInputs = 16
)

// Words are the program as numbers, the same ones for the same program.
func (p *Program) Words() []uint64 {
	words := []uint64{uint64(p.Inputs), uint64(len(p.Params)), uint64(len(p.Code))}
	for _, in := range p.Code {
		words = append(words, uint64(in.Op)<<48|uint64(in.A)<<32|uint64(in.B)<<16|uint64(in.C), uint64(in.K)<<32|uint64(math.Float32bits(in.Value)))
	}
	words = append(words, uint64(p.Fired), uint64(len(p.Next)))
	for _, r := range p.Next {
		words = append(words, uint64(r))
	}
	return words
}

// check panics unless every value is made before it is taken, and of the right kind: all else is a bug of this package.
func (p *Program) check() {
	for i := range p.Code {
		in := &p.Code[i]
		for k, r := range in.Args() {
			if int(r) >= i || p.Code[r].Op.Flag() != in.Op.takes(k) {
				panic(fmt.Sprintf("BUG: instruction %d, %v, takes %d", i, in.Op, r))
			}
		}
		limit, loads := map[Op]int{State: len(p.Next), Param: len(p.Params), Input: p.Inputs}[in.Op]
		if loads && int(in.K) >= limit {
			panic(fmt.Sprintf("BUG: instruction %d, %v, loads %d of %d", i, in.Op, in.K, limit))
		}
	}
	for _, r := range p.Next {
		if p.Code[r].Op.Flag() {
			panic("BUG: a state variable becomes a flag")
		}
	}
	if !p.Code[p.Fired].Op.Flag() {
		panic("BUG: fired is a number")
	}
}
