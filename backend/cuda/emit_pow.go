package cuda

import (
	"fmt"
	"math"

	"burst/internal/formula"
)

// power writes pow: by the shortcut where it may be taken, else by its instructions. 0 to a power above 0, which weights at a bound ask for,
// is 0.
func (e *emitter) power(p *formula.Program, w *formula.Power) {
	number := func(x float32) string { return fmt.Sprintf("0f%08X", math.Float32bits(x)) }
	const mantissa, one = 23, 0x3f800000 // bits; those of 1
	e.line("{")
	e.line(".reg .f32 %%x, %%y, %%m, %%e, %%k, %%z, %%p;")
	e.line(".reg .u32 %%bits, %%word;")
	e.line(".reg .pred %%fits, %%more, %%zero;")
	and := func(format string, args ...any) {
		e.line(format, args...)
		e.line("and.pred %%fits, %%fits, %%more;")
	}
	e.line("mov.f32 %%x, %%n%d;", w.X)
	e.line("mov.f32 %%y, %%n%d;", w.Y)
	e.line("mov.b32 %%bits, %%x;")
	e.line("setp.eq.u32 %%zero, %%bits, 0;")
	e.line("setp.lt.f32 %%more, %s, %%y;", number(0))
	e.line("and.pred %%zero, %%zero, %%more;")
	e.line("setp.le.f32 %%fits, %s, %%x;", number(formula.Low))
	and("setp.le.f32 %%more, %%x, %s;", number(formula.High))
	e.line("or.pred %%fits, %%fits, %%zero;")
	e.line("and.b32 %%z, %%y, %d;", math.MaxInt32)
	and("setp.le.f32 %%more, %s, %%z;", number(formula.Small))
	and("setp.le.f32 %%more, %%z, %s;", number(formula.Large))
	e.line("not.pred %%fits, %%fits;")
	e.line("@%%fits bra whole;")

	e.line("bfe.u32 %%word, %%bits, 0, %d;", mantissa)
	e.line("add.u32 %%word, %%word, %d;", one)
	e.line("mov.b32 %%m, %%word;")
	e.line("shr.u32 %%word, %%bits, %d;", mantissa)
	e.line("cvt.rn.f32.s32 %%e, %%word;")
	e.line("add.rn.f32 %%e, %%e, %s;", number(-127))
	e.line("setp.lt.f32 %%more, %s, %%m;", number(formula.Most))
	e.line("@%%more mul.rn.f32 %%m, %%m, %s;", number(0.5))
	e.line("@%%more add.rn.f32 %%e, %%e, %s;", number(1))
	e.shortcut()
	e.line("and.b32 %%z, %%z, %d;", math.MaxInt32)
	e.line("setp.le.f32 %%fits, %%z, %s;", number(formula.MostLog))
	e.line("or.pred %%fits, %%fits, %%zero;")
	e.line("not.pred %%fits, %%fits;")
	e.line("@%%fits bra whole;")
	e.line("cvt.rzi.s32.f32 %%word, %%k;")
	e.line("shl.b32 %%word, %%word, %d;", mantissa)
	e.line("add.u32 %%word, %%word, %d;", one)
	e.line("mov.b32 %%z, %%word;")
	e.line("mul.rn.f32 %%p, %%p, %%z;")
	e.line("selp.b32 %%n%d, %s, %%p, %%zero;", w.Result, number(0))
	e.line("bra found;")
	e.b.WriteString("whole:\n")
	for _, r := range w.Inside {
		e.instruction(int(r), &p.Code[r])
	}
	e.b.WriteString("found:\n")
	e.line("}")
}

// shortcut writes it: of m, e and y it makes p, which is to be scaled by 2 to the power of k, and z, the logarithm.
func (e *emitter) shortcut() {
	s := formula.PowerShortcut()
	own := emitter{input: func(k int) string { return [...]string{"%m", "%e", "%y"}[k] }}
	own.line(".reg .f32 %%n<%d>;", len(s.Code))
	for i := range s.Code {
		own.instruction(i, &s.Code[i])
	}
	own.line("mov.f32 %%p, %%n%d;", s.Number)
	own.line("mov.f32 %%k, %%n%d;", s.Exponent)
	own.line("mov.f32 %%z, %%n%d;", s.Log)
	e.b.WriteString("\t{\n" + own.b.String() + "\t}\n")
}
