package cuda

import (
	"fmt"

	"burst/internal/exact"
	"burst/internal/formula"
)

// draw writes what makes value i of a draw, by Philox4x32-10 as kernels/philox.cuh has it.
func (e *emitter) draw(i int, in *formula.Instruction) {
	const rounds = 10
	next := 0
	register := func() string {
		next++
		return fmt.Sprintf("%%u%d", next-1)
	}
	put := func(op string, args ...any) string { // a new word
		to := register()
		e.line("%s %s"+words(len(args))+";", append([]any{op, to}, args...)...)
		return to
	}
	e.line("{")
	e.line(".reg .u32 %%u<%d>;", 24+rounds*10)
	e.line(".reg .b64 %%upper;")
	e.line(".reg .pred %%odd, %%second, %%high;")
	e.line(".reg .f32 %%size, %%turned;")
	key := [2]string{put("cvt.u32.u64", e.draws.seed), ""}
	e.line("shr.u64 %%upper, %s, 32;", e.draws.seed)
	key[1] = put("cvt.u32.u64", "%upper")
	c := [4]string{put("shr.u32", e.draws.number, 2), put("mov.u32", in.K), put("cvt.u32.u64", e.draws.t)}
	e.line("shr.u64 %%upper, %s, 32;", e.draws.t)
	burst := put("shr.u32", put("shl.b32", put("cvt.u32.u64", "%upper"), 8), 8)
	c[3] = put("add.u32", burst, uint32(exact.FormulaDraw)<<24)
	for r := range uint32(rounds) {
		k0, k1 := put("add.u32", key[0], r*0x9E3779B9), put("add.u32", key[1], r*0xBB67AE85)
		h0, l0 := put("mul.hi.u32", c[0], uint32(0xD2511F53)), put("mul.lo.u32", c[0], uint32(0xD2511F53))
		h1, l1 := put("mul.hi.u32", c[2], uint32(0xCD9E8D57)), put("mul.lo.u32", c[2], uint32(0xCD9E8D57))
		c = [4]string{put("xor.b32", put("xor.b32", h1, c[1]), k0), l1, put("xor.b32", put("xor.b32", h0, c[3]), k1), l0}
	}
	// The word of the neuron's number modulo 4, by its last two bits.
	e.line("setp.ne.u32 %%odd, %s, 0;", put("shl.b32", e.draws.number, 31))
	e.line("setp.ge.u32 %%second, %s, %d;", put("shl.b32", e.draws.number, 30), uint32(1)<<31)
	low, high := put("selp.u32", c[1], c[0], "%odd"), put("selp.u32", c[3], c[2], "%odd")
	word := put("selp.u32", high, low, "%second")
	if in.Op == formula.Random {
		e.line("cvt.rn.f32.u32 %%size, %s;", put("shr.u32", word, 8))
		e.line("mul.rn.f32 %%n%d, %%size, 0f33800000;", i) // 2^−24
	} else {
		e.line("setp.ge.u32 %%high, %s, %d;", word, uint32(1)<<31)
		e.line("cvt.rn.f32.u32 %%size, %s;", put("selp.u32", put("xor.b32", word, ^uint32(0)), word, "%high"))
		e.line("add.rn.f32 %%size, %%size, 0f3F000000;")
		e.line("mul.rn.f32 %%size, %%size, 0f2F800000;") // 2^−32
		e.line("neg.f32 %%turned, %%size;")
		e.line("selp.b32 %%n%d, %%turned, %%size, %%high;", i)
	}
	e.line("}")
}

// words is the format of so many further arguments.
func words(n int) (format string) {
	for range n {
		format += ", %v"
	}
	return format
}
