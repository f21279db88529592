package genome

// Value is a number, or a distribution from which a number is drawn for each synapse or neuron.
type Value struct {
	Pos  Pos
	Kind ValueKind
	A, B float64 // Const: A. Uniform: lower and upper end. Normal, LogNormal: mean and standard deviation of the value.
	Lo   float64 // lower bound; -Inf if there is none
	Hi   float64 // upper bound; +Inf if there is none
	// LoOpen and HiOpen exclude the bound itself ("> x", "< x"); Clip moves a draw to the bound instead of drawing again.
	LoOpen, HiOpen, Clip bool

	Each []float64 // Column: one for each neuron of the area

	Shared string // Linear, Square: the name of the uniform number u that parameters of an area share

	Of  *Kernel // Distance
	Per float64 // Distance: the kernel's number is divided by it
}

// ValueKind names a distribution.
type ValueKind uint8

// The distributions. A log-normal distribution with a negative mean is mirrored at 0.
const (
	Const ValueKind = iota
	Uniform
	Normal
	LogNormal
	Linear   // A + B·u, of parameters only
	Square   // A + B·u², of parameters only
	Column   // Each, of parameters and initial values only
	Distance // Of, of a source and a target, of weights and delays only; A is its number where both meet and columns are 0
)

// Mean is the mean before bounds are applied. It is for weights, which are never Linear, Square or Column.
func (v Value) Mean() float64 {
	if v.Kind == Uniform {
		return v.A + (v.B-v.A)/2
	}
	return v.A
}
