package formula

import (
	"math"
	"slices"
)

// Power is a pow of a program: Result is X to the power of Y. Inside are the instructions that nothing but it needs, with Result as the
// last. A machine that has more than the language's instructions may make Result by a Shortcut instead.
type Power struct {
	X, Y, Result Ref
	Inside       []Ref
}

// Powers finds those whose instructions nothing else needs.
func (p *Program) Powers() (list []Power) {
	var bases, exponents []Ref // |X| is bounded, and Y compared with 0
	for i := range p.Code {
		switch in := &p.Code[i]; {
		case in.Op == Min && p.Code[in.A].Op == Abs && p.Code[in.B].Op == Const && p.Code[in.B].Value == math.MaxFloat32:
			bases = append(bases, p.Code[in.A].A)
		case in.Op == Equal && p.Code[in.B].Op == Const && p.Code[in.B].Value == 0:
			exponents = append(exponents, in.A)
		}
	}
	for _, x := range bases {
		for _, y := range exponents {
			b := p.builder()
			result := maths{b}.pow(x, y)
			if int(result) >= len(p.Code) { // it is new
				continue
			}
			if inside := p.inside(x, y, result); inside != nil {
				list = append(list, Power{x, y, result, inside})
			}
		}
	}
	return list
}

// builder is one that has made the program, and so finds what is in it.
func (p *Program) builder() *builder {
	b := newBuilder()
	b.most = 2 * maxCode
	for _, in := range p.Code {
		if in.Op == Const {
			b.constant(in.Value)
		} else {
			b.add(in)
		}
	}
	return b
}

// inside are the instructions that make result of x, y and constants, ascending; nil if another needs one of them.
func (p *Program) inside(x, y, result Ref) []Ref {
	own := make([]bool, len(p.Code))
	own[result] = true
	for i := result; ; i-- {
		if own[i] {
			for _, r := range p.Code[i].Args() {
				own[r] = own[r] || r != x && r != y && p.Code[r].Op != Const
			}
		}
		if i == 0 {
			break
		}
	}
	needed := append(slices.Clone(p.Next), p.Fired)
	var list []Ref
	for i := range p.Code {
		if own[i] {
			list = append(list, Ref(i))
		} else {
			needed = append(needed, p.Code[i].Args()...)
		}
	}
	if slices.ContainsFunc(needed, func(r Ref) bool { return own[r] && r != result }) {
		return nil
	}
	return list
}

// Shortcut is pow with fewer instructions, the same in every bit where Low ≤ x ≤ High, Small ≤ |y| ≤ Large, and then |Log| ≤ MostLog: there
// products by fused steps are as exact as others, since nothing of them is below 2^−149, numbers are split and scaled by their exponents,
// and no bound is reached. Its inputs are m, e and y, where x = m·2^e with a whole e and √½ < m ≤ √2, as 1.41421356 has it; its answer is
// Number·2^Exponent.
type Shortcut struct {
	Code                  []Instruction
	Log, Number, Exponent Ref
}

// Where a Shortcut may be taken.
const (
	Low, High    = 0x1p-100, 0x1p100
	Small, Large = 0x1p-60, 0x1p20
	MostLog      = 120
	Most         = 1.41421356 // of m
)

// PowerShortcut is the one of pow.
func PowerShortcut() Shortcut {
	b := maths{newBuilder()}
	b.near = true
	m, e, y := b.load(Input, 0), b.load(Input, 1), b.load(Input, 2)
	z := b.scaledLog(b.log2Of(m, e), y)
	x, k := b.exp2Parts(z)
	return Shortcut{Number: b.add(x.high, x.low), Exponent: k, Log: z.high, Code: b.code}
}
