package formula

import "math"

// Over is an interval that holds the kernel's numbers where what it reads lies within intervals, but NaN. Rounding keeps order, so that the
// rounded ends of +, −, ·, / and sqrt hold all rounded numbers between. Results of exp and other functions, which may be off by a
// few units in the last place, are widened by a part in 2^36.
func (k *Kernel) Over(v *[Variables]Interval) Interval {
	var r [places]Interval
	var loose [places]bool // it may be infinite or NaN somewhere: nothing is known of it, nor of what is made of it
	copy(r[:], v[:])
	at := Variables
	for i := range k.steps {
		s := &k.steps[i]
		if s.what == "" {
			r[at] = Interval{s.x, s.x}
		} else {
			a, b, c := s.args[0], s.args[1], s.args[2]
			loose[at] = loose[a] || loose[b] || loose[c] || s.leave && s.leaves(r[a])
			r[at] = s.over(r[a], r[b], r[c])
		}
		switch x := r[at]; {
		case s.truth && loose[at]:
			r[at], loose[at] = Interval{0, 1}, false
		case loose[at] || !(x.Lo-x.Lo == 0 && x.Hi-x.Hi == 0):
			r[at], loose[at] = Interval{math.Inf(-1), math.Inf(1)}, true
		}
		at++
	}
	return r[at-1]
}

// leaves reports whether an operand leaves what a function is defined for.
func (s *step) leaves(a Interval) bool {
	switch s.what {
	case "sqrt", "log":
		return a.Lo < 0
	case "log1p":
		return a.Lo < -1
	case "sin", "cos":
		return a.Lo < -65536 || a.Hi > 65536
	}
	return false
}

func (s *step) over(a, b, c Interval) Interval {
	switch s.what {
	case "neg":
		return Interval{-a.Hi, -a.Lo}
	case "abs":
		return a.abs()
	case "+":
		return Interval{a.Lo + b.Lo, a.Hi + b.Hi}
	case "-":
		return Interval{a.Lo - b.Hi, a.Hi - b.Lo}
	case "*":
		if s.args[0] == s.args[1] {
			a = a.abs()
			return Interval{float64(a.Lo * a.Lo), float64(a.Hi * a.Hi)}
		}
		return hull(float64(a.Lo*b.Lo), float64(a.Lo*b.Hi), float64(a.Hi*b.Lo), float64(a.Hi*b.Hi))
	case "/":
		if b.Lo <= 0 && b.Hi >= 0 {
			return Interval{math.Inf(-1), math.Inf(1)}
		}
		return hull(a.Lo/b.Lo, a.Lo/b.Hi, a.Hi/b.Lo, a.Hi/b.Hi)
	case "min", "max", "floor", "sqrt":
		return Interval{apply(s.what, a.Lo, b.Lo, 0), apply(s.what, a.Hi, b.Hi, 0)}
	case "select":
		switch {
		case a.Lo > 0:
			return b
		case a.Hi == 0:
			return c
		}
		return Interval{min(b.Lo, c.Lo), max(b.Hi, c.Hi)}
	case "sin", "cos":
		if s.turns {
			return s.turning(a)
		}
		return Interval{-1, 1}
	case "pow":
		if a.Lo < 0 || a.Lo == 0 && b.Lo <= 0 {
			return Interval{math.Inf(-1), math.Inf(1)}
		}
		return hull(powerOf(a.Lo, b.Lo), powerOf(a.Lo, b.Hi), powerOf(a.Hi, b.Lo), powerOf(a.Hi, b.Hi)).wider()
	}
	if f := s.f; f != nil { // exp, expm1, log, log1p, tanh: none falls
		return Interval{f(a.Lo), f(a.Hi)}.wider()
	}
	return s.holds(a, b)
}

// turning is an interval of sin or cos: of its ends, and of ±1 where it turns round within or near them.
func (s *step) turning(a Interval) Interval {
	const slack = 0x1p-36
	first := 0.0 // in half turns, where the function is 1
	if s.what == "sin" {
		first = 0.5
	}
	low, high := s.f(a.Lo), s.f(a.Hi)
	x := Interval{min(low, high) - slack, max(low, high) + slack}
	from, to := math.Ceil(a.Lo/math.Pi-first-slack), math.Floor(a.Hi/math.Pi-first+slack) // half turns that lie within
	switch even := math.Mod(from, 2) == 0; {
	case to > from:
		return Interval{-1, 1}
	case to == from && even:
		x.Hi = 1
	case to == from:
		x.Lo = -1
	}
	return x
}

// holds is 1 where a condition holds everywhere, 0 where it holds nowhere, and both otherwise.
func (s *step) holds(a, b Interval) Interval {
	out := Interval{0, 1}
	if s.what == ">" || s.what == ">=" {
		a, b = b, a
	}
	always, never := false, false
	switch s.what {
	case "<", ">":
		always, never = a.Hi < b.Lo, a.Lo >= b.Hi
	case "<=", ">=":
		always, never = a.Hi <= b.Lo, a.Lo > b.Hi
	case "==":
		never = a.Hi < b.Lo || b.Hi < a.Lo
	case "!=":
		always = a.Hi < b.Lo || b.Hi < a.Lo
	case "and":
		return Interval{min(a.Lo, b.Lo), min(a.Hi, b.Hi)}
	case "or":
		return Interval{max(a.Lo, b.Lo), max(a.Hi, b.Hi)}
	case "not":
		return Interval{1 - a.Hi, 1 - a.Lo}
	}
	switch {
	case always:
		out.Lo = 1
	case never:
		out.Hi = 0
	}
	return out
}

func (a Interval) abs() Interval {
	switch {
	case a.Lo >= 0:
		return a
	case a.Hi <= 0:
		return Interval{-a.Hi, -a.Lo}
	}
	return Interval{0, max(-a.Lo, a.Hi)}
}

func (a Interval) wider() Interval {
	const part = 0x1p-36
	return Interval{a.Lo - float64(math.Abs(a.Lo)*part), a.Hi + float64(math.Abs(a.Hi)*part)}
}

func hull(w, x, y, z float64) Interval { return Interval{min(w, x, y, z), max(w, x, y, z)} }
