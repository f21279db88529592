package formula

import "slices"

// Code is a kernel as an interpreter with few slots takes it.
type Code struct {
	Reads [Variables]uint8 // slots in which the interpreter puts what the kernel may read; NoSlot: it does not read it
	Steps []CodeStep       // the last one makes the result
}

// CodeStep makes a number of numbers in slots. Slots that it does not read are 0.
type CodeStep struct {
	What    uint8 // place in Operators
	To      uint8
	A, B, C uint8
	X       float64 // of the first operator, a number
}

// NoSlot stands for what is not read, Slots is how many slots there are.
const (
	NoSlot = 255
	Slots  = 24
)

const tooMany = "so many numbers at a time"

// Operators are the operators and functions of kernels that Code has. The others are sin, cos, tanh and expm1.
var Operators = []string{
	"", "neg", "abs", "floor", "sqrt", "exp", "log", "log1p", "+", "-", "*", "/", "min", "max", "pow", "select", "<", "<=", ">", ">=", "==", "!=", "and", "or", "not",
}

// operands is how many numbers an operator takes.
func operands(what string) int {
	switch what {
	case "":
		return 0
	case "select":
		return 3
	case "neg", "abs", "floor", "sqrt", "exp", "log", "log1p", "not":
		return 1
	}
	return 2
}

// Code is the kernel for an interpreter; where it has none, lacks says what such an interpreter does not have.
func (k *Kernel) Code() (code *Code, lacks string) {
	code = &Code{}
	var slot [places]uint8 // of a number that will be read
	var last [places]int   // step that reads it last
	var taken [Slots]bool
	for i := range k.steps {
		s := &k.steps[i]
		if !slices.Contains(Operators, s.what) {
			return nil, s.what
		}
		for _, a := range s.args[:operands(s.what)] {
			last[a] = i
		}
	}
	take := func() uint8 {
		i := slices.Index(taken[:], false)
		if i < 0 {
			return NoSlot
		}
		taken[i] = true
		return uint8(i)
	}
	for v := range code.Reads {
		if code.Reads[v] = NoSlot; k.reads[v] {
			if code.Reads[v] = take(); code.Reads[v] == NoSlot {
				return nil, tooMany
			}
			slot[v] = code.Reads[v]
		}
	}
	for i := range k.steps {
		s := &k.steps[i]
		step, args := CodeStep{What: uint8(slices.Index(Operators, s.what)), X: s.x}, s.args[:operands(s.what)]
		for j, a := range args {
			*[]*uint8{&step.A, &step.B, &step.C}[j] = slot[a]
		}
		for _, a := range args {
			if last[a] == i {
				taken[slot[a]] = false
			}
		}
		if step.To = take(); step.To == NoSlot {
			return nil, tooMany
		}
		slot[Variables+i] = step.To
		code.Steps = append(code.Steps, step)
	}
	return code, ""
}
