package formula

import (
	"math"

	"burst/internal/exact"
)

// Runner runs a program for one neuron after another; one goroutine at a time uses it.
type Runner struct {
	p       *Program
	numbers []float32 // per instruction, as flags
	flags   []bool
}

// NewRunner makes a Runner of p.
func NewRunner(p *Program) *Runner {
	return &Runner{p: p, numbers: make([]float32, len(p.Code)), flags: make([]bool, len(p.Code))}
}

// Neuron is what a program reads.
type Neuron struct {
	State      []float32 // before the burst
	Params     []float32
	Inputs     []float32
	Refractory bool

	// What draws depend on, where the program takes some.
	Seed, Burst uint64
	Number      uint32 // of the neuron in the whole network
}

// Word is the law's draw k of a neuron's formulas in burst t.
func Word(seed uint64, neuron uint32, k uint16, t uint64) uint32 {
	return exact.Draw(seed, exact.FormulaDraw, uint64(neuron/4)|uint64(k)<<32, t)[neuron%4]
}

// Uniform is what random makes of a draw: 0 ≤ Uniform < 1.
func Uniform(word uint32) float32 { return float32(word>>8) * 0x1p-24 }

// SignedTail is what tail makes of a draw: how far the draw is from the nearer end of its range, below 0 in the upper half.
func SignedTail(word uint32) float32 {
	if int32(word) < 0 {
		return -(float32(^word) + 0.5) * 0x1p-32
	}
	return (float32(word) + 0.5) * 0x1p-32
}

// Run puts the neuron's new state variables into next, which may be n.State, and says whether it fires.
func (r *Runner) Run(n *Neuron, next []float32) (fired bool) {
	for i := range r.p.Code {
		in := &r.p.Code[i]
		if in.Op.Flag() {
			r.flags[i] = r.flag(in, n)
		} else {
			r.numbers[i] = r.number(in, n)
		}
	}
	for k, v := range r.p.Next {
		next[k] = r.numbers[v]
	}
	return r.flags[r.p.Fired]
}

func (r *Runner) flag(in *Instruction, n *Neuron) bool {
	switch in.Op {
	case Refractory:
		return n.Refractory
	case And:
		return r.flags[in.A] && r.flags[in.B]
	case Or:
		return r.flags[in.A] || r.flags[in.B]
	case Not:
		return !r.flags[in.A]
	}
	return compare(in.Op, r.numbers[in.A], r.numbers[in.B])
}

func (r *Runner) number(in *Instruction, n *Neuron) float32 {
	switch in.Op {
	case Const:
		return in.Value
	case State:
		return n.State[in.K]
	case Param:
		return n.Params[in.K]
	case Input:
		return n.Inputs[in.K]
	case Random:
		return Uniform(Word(n.Seed, n.Number, in.K, n.Burst))
	case Tail:
		return SignedTail(Word(n.Seed, n.Number, in.K, n.Burst))
	case Select:
		if r.flags[in.A] {
			return r.numbers[in.B]
		}
		return r.numbers[in.C]
	}
	return compute(in.Op, r.numbers[in.A], r.numbers[in.B])
}

// compare is less, lesseq or equal.
func compare(o Op, a, b float32) bool {
	switch o {
	case Less:
		return a < b
	case LessEqual:
		return a <= b
	}
	return a == b
}

// compute is an instruction that makes a number of one or two; b does not matter where it takes one.
func compute(o Op, a, b float32) float32 {
	switch o {
	case Neg:
		return math.Float32frombits(math.Float32bits(a) ^ 1<<31)
	case Abs:
		return math.Float32frombits(math.Float32bits(a) &^ (1 << 31))
	case Sqrt:
		return float32(math.Sqrt(float64(a)))
	case Add:
		return a + b
	case Sub:
		return a - b
	case Mul:
		return float32(a * b)
	case Div:
		return a / b
	case Min:
		if a < b {
			return a
		}
		return b
	case Max:
		if b < a {
			return a
		}
		return b
	}
	panic("BUG: instruction " + o.String())
}
