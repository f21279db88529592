package cpu

import (
	"math"

	"burst/connectome"
	"burst/internal/formula"
)

// mostNote bounds what on_post reads of targets where a rule counts as still.
const mostNote = 1 << 40

// stillness reports whether a rule's on_post leaves a synapse unchanged, bit for bit, while the traces of its source are 0, and
// after how many bursts without a spike of the source they are 0 (faded). It works out bounds of all values of the program, for
// any weight within its bounds and any reading of the target up to mostNote. Then it is enough that the new w is w + 0·x with a
// finite x, as in pair rules.
func stillness(p *connectome.Plastic) (is bool, faded uint64) {
	code := p.OnPost.Program.Code
	values := make([]bounds, len(code))
	for i := range code {
		values[i] = boundsOf(p, &code[i], values)
	}
	for k, r := range p.OnPost.Program.Next {
		if k < 1+len(p.Synapse) && values[r].variable != k+1 {
			return false, 0
		}
	}
	for k := range p.Pre {
		faded = max(faded, p.Pre[k].Table.Until)
	}
	return true, faded
}

// bounds are what a number lies within, −0 counting as 0. The rounding to float32 is monotone, so that rounded bounds of operands'
// bounds are bounds.
type bounds struct {
	low, high float32
	known     bool // or else it may be anything, also NaN
	variable  int  // it is that variable of the synapse, counted from 1
}

func within(list ...float32) bounds {
	b := bounds{low: list[0], high: list[0], known: true}
	for _, x := range list {
		if x != x || math.IsInf(float64(x), 0) {
			return bounds{}
		}
		b.low, b.high = min(b.low, x), max(b.high, x)
	}
	return b
}

func (b bounds) zero() bool { return b.known && b.low == 0 && b.high == 0 }

func boundsOf(p *connectome.Plastic, in *formula.Instruction, values []bounds) bounds {
	switch in.Op {
	case formula.Const:
		return within(in.Value)
	case formula.Param:
		return within(p.OnPost.Params[in.K])
	case formula.Input:
		return readBounds(p, p.OnPost.Reads[in.K])
	case formula.State:
		b := bounds{variable: int(in.K) + 1}
		if in.K == 0 {
			b.low, b.high, b.known = p.Lo, p.Hi, true
		}
		return b
	}
	if in.Op.Flag() {
		return bounds{}
	}
	args := in.Args()
	if in.Op == formula.Select {
		args = args[1:]
	}
	a, b := values[args[0]], values[args[len(args)-1]]
	result := arithmetic(in.Op, a, b)
	switch {
	case in.Op == formula.Select && a.variable == b.variable:
		result.variable = a.variable
	case in.Op == formula.Add && a.variable == 1 && b.zero(), in.Op == formula.Sub && a.variable == 1 && b.zero(): // w is not −0
		result.variable = 1
	case in.Op == formula.Add && b.variable == 1 && a.zero():
		result.variable = 1
	}
	return result
}

// arithmetic is what an instruction makes of numbers within a and b, or of a alone.
func arithmetic(op formula.Op, a, b bounds) bounds {
	if !a.known || !b.known {
		return bounds{}
	}
	switch op {
	case formula.Neg:
		return within(-a.low, -a.high)
	case formula.Abs:
		m := max(-a.low, a.high)
		return within(-m, m)
	case formula.Add:
		return within(a.low+b.low, a.high+b.high)
	case formula.Sub:
		return within(a.low-b.high, a.high-b.low)
	case formula.Mul:
		return within(a.low*b.low, a.low*b.high, a.high*b.low, a.high*b.high)
	case formula.Div:
		if b.low <= 0 && 0 <= b.high {
			return bounds{}
		}
		return within(a.low/b.low, a.low/b.high, a.high/b.low, a.high/b.high)
	case formula.Min, formula.Max, formula.Select:
		return within(a.low, a.high, b.low, b.high)
	}
	return bounds{}
}

// readBounds are those of what on_post reads of a source without traces.
func readBounds(p *connectome.Plastic, r formula.Read) bounds {
	switch r.Kind {
	case formula.ReadPre:
		return within(0)
	case formula.ReadPreToo:
		return within(0, 1)
	case formula.ReadAgePre, formula.ReadAgePost:
		return within(0, formula.MaxAge)
	case formula.ReadPost, formula.ReadTarget, formula.ReadModulator:
		return within(-mostNote, mostNote)
	}
	return bounds{}
}
