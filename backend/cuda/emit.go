package cuda

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"burst/internal/formula"
)

// remark marks the places where kernels/neural_dynamics_fcl.cu wants the code of the network's own models.
const remark = "// custom_update "

// operands are the registers that such a place names, in the order of the remark.
type operands struct {
	fires          string // the answer: 1 or 0
	program        string // of the neuron's area
	refractory     string // bursts left
	first, second  string // inputs of the two ports
	v, more, pitch string // addresses of the state; from one further variable to the next
	words, each    string // addresses of the area's shared parameters, and of those that do not fit or differ
	i, count       string // the neuron's place in its area, and the area's neurons
}

func operandsOf(line string) (operands, error) {
	f := strings.Fields(line)
	if len(f) != 12 {
		return operands{}, fmt.Errorf("%s%s: %d operands, want 12", remark, line, len(f))
	}
	return operands{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11]}, nil
}

// splice writes the models' code after every remark of a unit's PTX.
func splice(ptx string, models []ownModel) (string, error) {
	var b strings.Builder
	places := 0
	for line := range strings.Lines(ptx) {
		b.WriteString(line)
		_, names, ok := strings.Cut(line, remark)
		if !ok {
			continue
		}
		o, err := operandsOf(names)
		if err != nil {
			return "", err
		}
		places++
		writeModels(&b, o, models)
	}
	if places == 0 {
		return "", fmt.Errorf("the code has no place for models that the genome defines: no %q", remark)
	}
	return b.String(), nil
}

// only is PTX with some of its kernels alone: the driver takes long to compile each.
func only(ptx string, kernels []string) (string, error) {
	const entry, end = ".visible .entry ", "\n}\n"
	var b strings.Builder
	missing := slices.Clone(kernels)
	for {
		before, rest, more := strings.Cut(ptx, entry)
		b.WriteString(before)
		if !more {
			break
		}
		name, _, _ := strings.Cut(rest, "(")
		body, after, ok := strings.Cut(rest, end)
		if !ok {
			return "", fmt.Errorf("kernel %s of the code has no end", name)
		}
		if i := slices.Index(missing, name); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
			b.WriteString(entry + body + end)
		}
		ptx = after
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the code has no kernel %s", missing[0])
	}
	return b.String(), nil
}

// writeModels writes the code of the program that the area has. Names inside braces are the braces' own.
func writeModels(b *strings.Builder, o operands, models []ownModel) {
	if len(models) == 1 {
		b.WriteString(models[0].code(o))
		return
	}
	b.WriteString("\t{\n\t.reg .pred %other;\n")
	last := len(models) - 1
	for k := range models {
		if k < last {
			fmt.Fprintf(b, "\tsetp.ne.u32 %%other, %s, %d;\n\t@%%other bra not_%d;\n", o.program, k, k)
		}
		b.WriteString(models[k].code(o))
		if k < last {
			fmt.Fprintf(b, "\tbra updated;\nnot_%d:\n", k)
		}
	}
	b.WriteString("updated:\n\t}\n")
}

// code is the model's program in PTX, one instruction a value; %n7 or %q7 is the number or flag that its instruction 7 makes.
// Without .ftz subnormal numbers are kept, and .rn keeps the driver's compiler from fusing. What is chosen is chosen as bits:
// of 1 and −0 chosen as floats it makes one instruction (FSET) that gives 0 for −0.
func (m *ownModel) code(o operands) string {
	e := emitter{m: m, o: o}
	n := len(m.program.Code)
	e.line(".reg .f32 %%n<%d>;", n)
	e.line(".reg .pred %%q<%d>;", n)
	e.line(".reg .b64 %%own, %%at;")
	e.line("mad.wide.u32 %%own, %s, 4, %s;", o.i, o.each)
	for i := range m.program.Code {
		e.instruction(i, &m.program.Code[i])
	}
	for k, v := range m.program.Next {
		if in := m.program.Code[v]; in.Op == formula.State && int(in.K) == k {
			continue // as it was
		}
		e.line("st.f32 %s, %%n%d;", e.state(k), v)
	}
	e.line("selp.u32 %s, 1, 0, %%q%d;", o.fires, m.program.Fired)
	return "\t{\n" + e.b.String() + "\t}\n"
}

// emitter writes one model's code.
type emitter struct {
	b strings.Builder
	m *ownModel
	o operands
}

func (e *emitter) line(format string, args ...any) {
	fmt.Fprintf(&e.b, "\t"+format+"\n", args...)
}

// names of instructions that are one of PTX.
var (
	unary  = map[formula.Op]string{formula.Neg: "neg.f32", formula.Abs: "abs.f32", formula.Sqrt: "sqrt.rn.f32"}
	binary = map[formula.Op]string{
		formula.Add: "add.rn.f32", formula.Sub: "sub.rn.f32", formula.Mul: "mul.rn.f32", formula.Div: "div.rn.f32",
	}
	compares = map[formula.Op]string{formula.Less: "lt", formula.LessEqual: "le", formula.Equal: "eq"}
	logical  = map[formula.Op]string{formula.And: "and.pred", formula.Or: "or.pred"}
)

// instruction writes what makes value i.
func (e *emitter) instruction(i int, in *formula.Instruction) {
	switch op := in.Op; op {
	case formula.Const:
		e.line("mov.f32 %%n%d, 0f%08X;", i, math.Float32bits(in.Value))
	case formula.State:
		e.line("ld.f32 %%n%d, %s;", i, e.state(int(in.K)))
	case formula.Param:
		e.line("ld.f32 %%n%d, %s;", i, e.param(int(in.K)))
	case formula.Input:
		e.line("mov.f32 %%n%d, %s;", i, [formula.MaxInputs]string{e.o.first, e.o.second}[in.K])
	case formula.Refractory:
		e.line("setp.ne.u32 %%q%d, %s, 0;", i, e.o.refractory)
	case formula.Neg, formula.Abs, formula.Sqrt:
		e.line("%s %%n%d, %%n%d;", unary[op], i, in.A)
	case formula.Add, formula.Sub, formula.Mul, formula.Div:
		e.line("%s %%n%d, %%n%d, %%n%d;", binary[op], i, in.A, in.B)
	case formula.Min, formula.Max: // min.f32 and max.f32 say other things of zeros and NaN
		less, than := in.A, in.B
		if op == formula.Max {
			less, than = in.B, in.A
		}
		e.line("setp.lt.f32 %%q%d, %%n%d, %%n%d;", i, less, than)
		e.line("selp.b32 %%n%d, %%n%d, %%n%d, %%q%d;", i, in.A, in.B, i)
	case formula.Less, formula.LessEqual, formula.Equal:
		e.line("setp.%s.f32 %%q%d, %%n%d, %%n%d;", compares[op], i, in.A, in.B)
	case formula.And, formula.Or:
		e.line("%s %%q%d, %%q%d, %%q%d;", logical[op], i, in.A, in.B)
	case formula.Not:
		e.line("not.pred %%q%d, %%q%d;", i, in.A)
	case formula.Select:
		e.line("selp.b32 %%n%d, %%n%d, %%n%d, %%q%d;", i, in.B, in.C, in.A)
	default:
		panic("BUG: no PTX for " + op.String())
	}
}

// state is where state variable k of the neuron lies; it may write how to get there.
func (e *emitter) state(k int) string {
	switch k {
	case 0:
		return "[" + e.o.v + "]"
	case 1:
		return "[" + e.o.more + "]"
	}
	e.line("mad.lo.u64 %%at, %s, %d, %s;", e.o.pitch, 4*(k-1), e.o.more)
	return "[%at]"
}

// param is the same for a parameter.
func (e *emitter) param(k int) string {
	p, words := e.m.place[k], e.m.words()
	if !p.each && words == 0 {
		return fmt.Sprintf("[%s+%d]", e.o.words, 4*p.k)
	}
	if !p.each {
		return fmt.Sprintf("[%s+%d]", e.o.each, 4*p.k)
	}
	e.line("mad.wide.u32 %%at, %s, %d, %%own;", e.o.count, 4*p.k)
	return fmt.Sprintf("[%%at+%d]", 4*words)
}
