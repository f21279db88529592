package cuda

import (
	"fmt"
	"strings"

	"burst/connectome"
	"burst/internal/formula"
)

// handlerCode is the code of an on_post or an on_pre, of some projections of a network.
type handlerCode struct {
	program *formula.Program
	reads   []handlerRead
}

// handlerRead says where the code finds something that a handler reads.
type handlerRead struct {
	from from
	k    int  // which trace, variable, note or place of the list
	long bool // trace: whether its table is two (decay of kernels/plastic.cuh)
}

// from is where the code of a handler finds a number: in sight of kernels/plastic.cuh, or in the handler's list.
type from int

const (
	fromSeen  from = iota // a trace of the source
	fromHeard             // a trace of the target
	fromVariables
	fromNotes
	fromList
	fromPre // an event
	fromPost
	fromAgePre
	fromAgePost
)

// newHandlerCode sorts what a handler reads. It also returns what the handler's list must hold. For an on_post, whose event is of an
// earlier burst, that is everything of the target's side, which is noted with the event. For an on_pre it is what its code does not find by
// itself.
func newHandlerCode(p *connectome.Plastic, h *connectome.Handler, event bool) (c handlerCode, list []reading) {
	c.program = h.Program
	for _, r := range h.Reads {
		one := handlerRead{k: r.K}
		switch r.Kind {
		case formula.ReadPre:
			one.from, one.long = fromSeen, p.Pre[r.K].Table.High != nil
		case formula.ReadSource:
			one.from = fromVariables
		case formula.ReadPreToo:
			one.from = fromPre
		case formula.ReadPostToo:
			one.from = fromPost
		case formula.ReadAgePre:
			one.from = fromAgePre
		case formula.ReadPost:
			one.from, one.long = fromHeard, p.Post[r.K].Table.High != nil
		case formula.ReadAgePost:
			one.from = fromAgePost
		default:
			one.from = fromList
		}
		if targetSide := one.from == fromHeard || one.from == fromAgePost || one.from == fromList; targetSide && event {
			one.from = fromNotes
		}
		if one.from == fromNotes || one.from == fromList {
			one.k = len(list)
			list = append(list, reading{uint32(r.Kind), uint32(r.K)})
		}
		c.reads = append(c.reads, one)
	}
	return c, list
}

// handlerPlace names the operands of the remark handler_program: run_handler of kernels/plastic.cuh.
type handlerPlace struct {
	weight, number, state, list, params    string
	agePre, agePost, pre, post             string
	seen, variables, sources, heard, notes string
	preTables, postTables                  string
}

func newHandlerPlace(f []string) handlerPlace {
	return handlerPlace{f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10], f[11], f[12], f[13], f[14], f[15]}
}

// spliceHandlers writes the code of rules' on_post and on_pre where kernels/plastic.cuh leaves its remark.
func spliceHandlers(ptx string, codes []handlerCode) (string, error) {
	return splice(ptx, handlerRemark, 16, func(b *strings.Builder, f []string) {
		at := newHandlerPlace(f)
		var texts []string
		for i := range codes {
			texts = append(texts, codes[i].code(at))
		}
		writeChoice(b, at.number, texts)
	})
}

// pairPlace names the operands of the remarks post_program and pre_program: run_post and run_pre of kernels/plastic.cuh.
type pairPlace struct{ weight, number, trace, params, more string }

// splicePairs writes the code of on_post, or of on_pre, of rules of pairs where kernels/plastic.cuh leaves a remark.
func splicePairs(ptx, remark string, codes []handlerCode) (string, error) {
	return splice(ptx, remark, 5, func(b *strings.Builder, f []string) {
		at := pairPlace{f[0], f[1], f[2], f[3], f[4]}
		var texts []string
		for i := range codes {
			texts = append(texts, codes[i].pair(at))
		}
		writeChoice(b, at.number, texts)
	})
}

// pair is the code in PTX of a handler that reads no more than one trace, which is in a register as the weight is.
func (c *handlerCode) pair(at pairPlace) string {
	e := emitter{
		refractory: at.number,
		state:      func(k int) string { return []string{at.weight, "[" + at.more + "]"}[k] },
		input:      func(int) string { return at.trace },
		param:      func(k int) string { return fmt.Sprintf("[%s+%d]", at.params, 4*k) },
	}
	return e.program(c.program, "%holds", ".reg .u32 %holds;")
}

// code is the handler's in PTX. The weight, and the numbers that are read, are in registers.
func (c *handlerCode) code(at handlerPlace) string {
	e := emitter{refractory: at.number}
	e.line(".reg .f32 %%in<%d>;", len(c.reads)+1)
	e.line(".reg .f32 %%high, %%low;")
	e.line(".reg .b64 %%at;")
	e.line(".reg .u32 %%limit, %%part, %%holds;")
	e.line(".reg .pred %%lasts, %%close;")
	for i := range c.reads {
		e.read(i, &c.reads[i], at)
	}
	e.input = func(k int) string { return fmt.Sprintf("%%in%d", k) }
	e.param = func(k int) string { return fmt.Sprintf("[%s+%d]", at.params, 4*k) }
	e.state = func(k int) string {
		if k == 0 {
			return at.weight
		}
		return fmt.Sprintf("[%s+%d]", at.state, 4*k)
	}
	return e.program(c.program, "%holds")
}

// read writes how the i-th number comes into its register.
func (e *emitter) read(i int, r *handlerRead, at handlerPlace) {
	switch r.from {
	case fromSeen:
		e.line("mad.wide.u32 %%at, %s, %d, %s;", at.sources, 4*r.k, at.seen)
		e.trace(i, r, "%at", at.preTables, at.agePre)
	case fromHeard:
		e.trace(i, r, fmt.Sprintf("%s+%d", at.heard, 4*r.k), at.postTables, at.agePost)
	case fromVariables:
		e.line("mad.wide.u32 %%at, %s, %d, %s;", at.sources, 4*r.k, at.variables)
		e.line("ld.f32 %%in%d, [%%at];", i)
	case fromNotes:
		e.line("ld.f32 %%in%d, [%s+%d];", i, at.notes, 4*r.k)
	case fromList:
		e.line("ld.f32 %%in%d, [%s+%d];", i, at.list, 4*r.k)
	case fromPre:
		e.line("cvt.rn.f32.s32 %%in%d, %s;", i, at.pre)
	case fromPost:
		e.line("cvt.rn.f32.s32 %%in%d, %s;", i, at.post)
	case fromAgePre, fromAgePost:
		age := at.agePre
		if r.from == fromAgePost {
			age = at.agePost
		}
		e.line("min.u32 %%part, %s, %d;", age, maxAge)
		e.line("cvt.rn.f32.s32 %%in%d, %%part;", i)
	}
}

// trace writes the value of a trace of an age, which lies at an address, by the k-th of the structs trace at tables.
func (e *emitter) trace(i int, r *handlerRead, value, tables, age string) {
	table := traceBytes * r.k
	e.line("ld.f32 %%in%d, [%s];", i, value)
	e.line("ld.u32 %%limit, [%s+%d];", tables, table+16)
	e.line("mov.f32 %%high, 0f00000000;")
	e.line("setp.lt.u32 %%lasts, %s, %%limit;", age)
	if r.long {
		e.line("ld.u64 %%at, [%s+%d];", tables, table+8)
		e.line("bfe.u32 %%part, %s, 8, 24;", age)
		e.line("mad.wide.u32 %%at, %%part, 4, %%at;")
		e.line("@%%lasts ld.f32 %%high, [%%at];")
		e.line("ld.u64 %%at, [%s+%d];", tables, table)
		e.line("bfe.u32 %%part, %s, 0, 8;", age)
		e.line("mad.wide.u32 %%at, %%part, 4, %%at;")
		e.line("ld.f32 %%low, [%%at];")
		e.line("mul.rn.f32 %%high, %%high, %%low;")
	} else {
		e.line("ld.u32 %%limit, [%s+%d];", tables, table+32)
		e.line("ld.u64 %%at, [%s+%d];", tables, table)
		e.line("setp.lt.u32 %%close, %s, %%limit;", age)
		e.line("@%%close ld.u64 %%at, [%s+%d];", tables, table+24)
		e.line("mad.wide.u32 %%at, %s, 4, %%at;", age)
		e.line("@%%lasts ld.f32 %%high, [%%at];")
	}
	e.line("mul.rn.f32 %%in%d, %%in%d, %%high;", i, i)
}
