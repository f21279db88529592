package cuda

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"burst/internal/formula"
)

// The comments in the PTX that mark where code of the genome goes: of models in kernels/neural_dynamics_fcl.cu, of rules of plasticity in
// kernels/plastic.cuh.
const (
	modelRemark = "// custom_update "
	ruleRemark  = "// rule_program "

	handlerRemark = "// handler_program "
	postRemark    = "// post_program " // of rules of pairs
	preRemark     = "// pre_program "
)

// operands are the registers that a place for models names, in the order of the remark.
type operands struct {
	fires          string // the answer: 0, 1, or 2 and the neuron's bursts of silence
	program        string // of the neuron's area
	refractory     string // bursts left
	first, second  string // inputs of the first two ports
	sums, scale    string // address of the first port's sum, for that of further ones; and quanta of a unit
	v, more, pitch string // addresses of the state; from one further variable to the next
	words, each    string // addresses of the area's shared parameters, and of those that do not fit or differ
	i, count       string // the neuron's place in its area, and the area's neurons
	draws          draws
}

// draws are the registers of what draws depend on.
type draws struct {
	number  string // of the neuron in the network
	seed, t string
}

// spliceModels writes the models' code after every remark of a unit's PTX.
func spliceModels(ptx string, models []ownModel) (string, error) {
	return splice(ptx, modelRemark, 17, func(b *strings.Builder, f []string) {
		o := operands{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12], f[13], draws{f[14], f[15], f[16]}}
		var codes []string
		for k := range models {
			codes = append(codes, models[k].code(o))
		}
		writeChoice(b, o.program, codes)
	})
}

// spliceRules writes the code of rules' handlers in the same way. A mark names the register of the result, the number of the program, and
// the addresses of state, inputs and parameters.
func spliceRules(ptx string, programs []*formula.Program) (string, error) {
	return splice(ptx, ruleRemark, 5, func(b *strings.Builder, f []string) {
		var codes []string
		for _, p := range programs {
			codes = append(codes, ruleCode(p, f[0], f[1], f[2], f[3], f[4]))
		}
		writeChoice(b, f[1], codes)
	})
}

// splice lets write add what belongs after every remark, of so many operands.
func splice(ptx, remark string, operands int, write func(b *strings.Builder, names []string)) (string, error) {
	var b strings.Builder
	places := 0
	for line := range strings.Lines(ptx) {
		b.WriteString(line)
		_, names, ok := strings.Cut(line, remark)
		if !ok {
			continue
		}
		f := strings.Fields(names)
		if len(f) != operands {
			return "", fmt.Errorf("%s%s: %d operands, want %d", remark, names, len(f), operands)
		}
		places++
		write(&b, f)
	}
	if places == 0 {
		return "", fmt.Errorf("the code has no place for what the genome defines: no %q", remark)
	}
	return b.String(), nil
}

// only is PTX with some of its kernels alone: the driver takes long to compile each.
func only(ptx string, kernels []string) (string, error) {
	const entry = ".visible .entry "
	var b strings.Builder
	missing := slices.Clone(kernels)
	for {
		before, rest, more := strings.Cut(ptx, entry)
		b.WriteString(before)
		if !more {
			break
		}
		name, _, _ := strings.Cut(rest, "(")
		end := endOfKernel(rest)
		if end < 0 {
			return "", fmt.Errorf("kernel %s of the code has no end", name)
		}
		if i := slices.Index(missing, name); i >= 0 {
			missing = slices.Delete(missing, i, i+1)
			b.WriteString(entry)
			b.WriteString(rest[:end])
		}
		ptx = rest[end:]
	}
	if len(missing) > 0 {
		return "", fmt.Errorf("the code has no kernel %s", missing[0])
	}
	return b.String(), nil
}

// endOfKernel is the place behind the first line that is a brace alone; -1: there is none. Braces are far rarer than ends of lines.
func endOfKernel(ptx string) int {
	for at := 1; at < len(ptx); at++ {
		i := strings.IndexByte(ptx[at:], '}')
		if i < 0 {
			break
		}
		if at += i; ptx[at-1] == '\n' && strings.HasPrefix(ptx[at:], "}\n") {
			return at + 2
		}
	}
	return -1
}

// writeChoice writes the code of the program that a register tells the number of. Names inside braces are the braces' own.
func writeChoice(b *strings.Builder, number string, codes []string) {
	if len(codes) == 1 {
		b.WriteString(codes[0])
		return
	}
	b.WriteString("\t{\n\t.reg .pred %other;\n")
	last := len(codes) - 1
	for k, code := range codes {
		if k < last {
			fmt.Fprintf(b, "\tsetp.ne.u32 %%other, %s, %d;\n\t@%%other bra not_%d;\n", number, k, k)
		}
		b.WriteString(code)
		if k < last {
			fmt.Fprintf(b, "\tbra updated;\nnot_%d:\n", k)
		}
	}
	b.WriteString("updated:\n\t}\n")
}

// code is the model's program in PTX.
func (m *ownModel) code(o operands) string {
	e := emitter{refractory: o.refractory, draws: o.draws}
	before := []string{".reg .b64 %own, %at;", fmt.Sprintf("mad.wide.u32 %%own, %s, 4, %s;", o.i, o.each)}
	if m.program.Inputs > 2 {
		before = append(before, ".reg .u32 %sum;", ".reg .f32 %in;")
	}
	e.input = func(k int) string {
		if k < 2 {
			return [2]string{o.first, o.second}[k]
		}
		e.line("mad.wide.u32 %%at, %s, %d, %s;", o.count, 4*k, o.sums)
		e.line("ld.u32 %%sum, [%%at];")
		e.line("cvt.rn.f32.s32 %%in, %%sum;")
		e.line("div.rn.f32 %%in, %%in, %s;", o.scale)
		return "%in"
	}
	e.state = func(k int) string {
		switch k {
		case 0:
			return "[" + o.v + "]"
		case 1:
			return "[" + o.more + "]"
		}
		e.line("mad.lo.u64 %%at, %s, %d, %s;", o.pitch, 4*(k-1), o.more)
		return "[%at]"
	}
	find := func(p place) string {
		words := m.words()
		if !p.each && words == 0 {
			return fmt.Sprintf("[%s+%d]", o.words, 4*p.k)
		}
		if !p.each {
			return fmt.Sprintf("[%s+%d]", o.each, 4*p.k)
		}
		e.line("mad.wide.u32 %%at, %s, %d, %%own;", o.count, 4*p.k)
		return fmt.Sprintf("[%%at+%d]", 4*words)
	}
	e.param = func(k int) string { return find(m.place[k]) }
	if m.quiet != nil {
		e.fires = "%quiet"
		before = append(before, ".reg .u32 %quiet;")
		e.end = func() {
			e.line("ld.u32 %%quiet, %s;", find(*m.quiet))
			e.line("add.u32 %%quiet, %%quiet, 2;")
		}
	}
	return e.program(m.program, o.fires, before...)
}

// ruleCode is the code of a handler. Its state, inputs and parameters lie in arrays that begin at the given addresses. Only conditions use
// the result, holds. Programs of handlers never read the flag refractory, so number may be any register.
func ruleCode(p *formula.Program, holds, number, state, in, params string) string {
	at := func(address string) func(int) string {
		return func(k int) string { return fmt.Sprintf("[%s+%d]", address, 4*k) }
	}
	e := emitter{state: at(state), input: at(in), param: at(params), refractory: number}
	return e.program(p, holds)
}

// emitter writes one program.
type emitter struct {
	b strings.Builder
	// The operand of a state variable, a parameter and an input: memory in brackets, or a register, though not for a parameter. These
	// functions may write instructions that compute an address.
	state, param, input func(k int) string
	refractory          string // register
	draws               draws  // of models
	fires               string // register with the answer where it fires, "": 1
	end                 func() // writes what makes it, nil: nothing
}

func (e *emitter) line(format string, args ...any) {
	fmt.Fprintf(&e.b, "\t"+format+"\n", args...)
}

// program writes a program, one instruction a value; %n7 or %q7 is the number or flag that its instruction 7 makes.
// Without .ftz subnormal numbers are kept, and .rn keeps the driver's compiler from fusing. What is chosen is chosen as bits:
// of 1 and −0 chosen as floats it makes one instruction (FSET) that gives 0 for −0.
func (e *emitter) program(p *formula.Program, fired string, before ...string) string {
	e.line(".reg .f32 %%n<%d>;", len(p.Code))
	e.line(".reg .pred %%q<%d>;", len(p.Code))
	for _, line := range before {
		e.line("%s", line)
	}
	inside := map[formula.Ref]bool{}
	results := map[formula.Ref]formula.Power{}
	for _, power := range p.Powers() {
		results[power.Result] = power
		for _, r := range power.Inside {
			inside[r] = true
		}
	}
	for i := range p.Code {
		if power, is := results[formula.Ref(i)]; is {
			e.power(p, &power)
		} else if !inside[formula.Ref(i)] {
			e.instruction(i, &p.Code[i])
		}
	}
	for k, v := range p.Next {
		if in := p.Code[v]; in.Op == formula.State && int(in.K) == k {
			continue // as it was
		}
		to, op := e.state(k), "mov.f32"
		if inMemory(to) {
			op = "st.f32"
		}
		e.line("%s %s, %%n%d;", op, to, v)
	}
	if e.end != nil {
		e.end()
	}
	e.line("selp.u32 %s, %s, 0, %%q%d;", fired, cmp.Or(e.fires, "1"), p.Fired)
	return "\t{\n" + e.b.String() + "\t}\n"
}

// load writes how value i comes from memory or a register.
func (e *emitter) load(i int, from string) {
	op := "mov.f32"
	if inMemory(from) {
		op = "ld.f32"
	}
	e.line("%s %%n%d, %s;", op, i, from)
}

func inMemory(place string) bool { return strings.HasPrefix(place, "[") }

// names of instructions that are one of PTX.
var (
	unary  = map[formula.Op]string{formula.Neg: "neg.f32", formula.Sqrt: "sqrt.rn.f32"}
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
		e.load(i, e.state(int(in.K)))
	case formula.Param:
		e.line("ld.f32 %%n%d, %s;", i, e.param(int(in.K)))
	case formula.Input:
		e.load(i, e.input(int(in.K)))
	case formula.Refractory:
		e.line("setp.ne.u32 %%q%d, %s, 0;", i, e.refractory)
	case formula.Abs: // of abs.f32 the driver's compiler takes −1 < |a| for true, also where a is NaN
		e.line("and.b32 %%n%d, %%n%d, %d;", i, in.A, math.MaxInt32)
	case formula.Neg, formula.Sqrt:
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
	case formula.Random, formula.Tail:
		e.draw(i, in)
	case formula.Fused:
		e.line("fma.rn.f32 %%n%d, %%n%d, %%n%d, %%n%d;", i, in.A, in.B, in.C)
	default:
		panic("BUG: no PTX for " + op.String())
	}
}
