package formula

import "math"

// builder makes programs: equal values are made once, and numbers made of constants alone are worked out by compute.
type builder struct {
	code []Instruction
	seen map[Instruction]Ref
	bits map[uint32]Ref // constants, by their bits: −0 is not 0
	most int            // instructions
	full bool           // more were wanted
	near bool           // the code is a Shortcut's
}

func newBuilder() *builder {
	return &builder{most: maxCode, seen: map[Instruction]Ref{}, bits: map[uint32]Ref{}}
}

// constant is a number.
func (b *builder) constant(x float32) Ref {
	if r, ok := b.bits[math.Float32bits(x)]; ok {
		return r
	}
	r := b.append(Instruction{Op: Const, Value: x})
	b.bits[math.Float32bits(x)] = r
	return r
}

// load is a State, Param, Input or Refractory.
func (b *builder) load(o Op, k int) Ref { return b.add(Instruction{Op: o, K: uint16(k)}) }

// apply is an instruction of one, two or three values.
func (b *builder) apply(o Op, args ...Ref) Ref {
	in := Instruction{Op: o, A: args[0]}
	if len(args) > 1 {
		in.B = args[1]
	}
	if len(args) > 2 {
		in.C = args[2]
	}
	if !o.Flag() && o != Select && b.constants(args) {
		return b.constant(compute(o, b.code[in.A].Value, b.code[in.B].Value))
	}
	return b.add(in)
}

func (b *builder) constants(args []Ref) bool {
	for _, r := range args {
		if b.code[r].Op != Const {
			return false
		}
	}
	return true
}

func (b *builder) add(in Instruction) Ref {
	if r, ok := b.seen[in]; ok {
		return r
	}
	r := b.append(in)
	b.seen[in] = r
	return r
}

// append makes a new value, the first one again where there are too many already.
func (b *builder) append(in Instruction) Ref {
	if len(b.code) == b.most {
		b.full = true
		return 0
	}
	b.code = append(b.code, in)
	return Ref(len(b.code) - 1)
}

// finish drops what neither next nor fired needs, and parameters that nothing loads.
func (b *builder) finish(next []Ref, fired Ref, params []string, inputs int) *Program {
	needed := make([]bool, len(b.code))
	for _, r := range next {
		needed[r] = true
	}
	needed[fired] = true
	for i := len(b.code) - 1; i >= 0; i-- {
		if needed[i] {
			for _, r := range b.code[i].Args() {
				needed[r] = true
			}
		}
	}
	p := &Program{Inputs: inputs}
	place, param := make([]Ref, len(b.code)), map[uint16]uint16{}
	for i, in := range b.code {
		if !needed[i] {
			continue
		}
		in.A, in.B, in.C = place[in.A], place[in.B], place[in.C]
		if in.Op == Param {
			k, ok := param[in.K]
			if !ok {
				k = uint16(len(p.Params))
				param[in.K] = k
				p.Params = append(p.Params, params[in.K])
			}
			in.K = k
		}
		place[i] = Ref(len(p.Code))
		p.Code = append(p.Code, in)
	}
	for _, r := range next {
		p.Next = append(p.Next, place[r])
	}
	p.Fired = place[fired]
	p.check()
	return p
}
