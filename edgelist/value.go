package edgelist

import (
	"fmt"
	"math"
)

// The functions below put a value of row i, counted from 0, into its column, or say what is wrong with it.

func (l *list) whole(c column, i uint64, x int64) (wrong string) {
	switch c {
	case source:
		if uint64(x) >= l.Source.Count {
			return l.Source.outside(x)
		}
		l.t.Source[i] = uint32(x)
	case target:
		if uint64(x) >= l.Target.Count {
			return l.Target.outside(x)
		}
		l.t.Target[i] = uint32(x)
	case delay:
		if x < 1 || x > math.MaxUint8 {
			return fmt.Sprintf("%d found, 1…255 bursts wanted", x)
		}
		l.t.Delay[i] = uint8(x)
	case port:
		return l.port(i, x)
	default:
		return l.real(c, i, float64(x))
	}
	return ""
}

func (s Side) outside(x int64) string {
	if s.Count == 0 {
		return fmt.Sprintf("neuron %d found, %s has none", x, s.Of)
	}
	return fmt.Sprintf("neuron %d found, 0…%d of %s wanted", x, s.Count-1, s.Of)
}

// port 1 is the second input of a neuron, which takes what is negative.
func (l *list) port(i uint64, x int64) string {
	switch {
	case x == 0 || x == 1 && l.t.Weight[i] < 0:
		return ""
	case x == 1:
		return fmt.Sprintf("port 1 found beside weight %v, a negative weight wanted: the sign chooses the port", l.t.Weight[i])
	}
	return fmt.Sprintf("port %d found, 0 or 1 wanted", x)
}

func (l *list) real(c column, i uint64, x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("%v found, a finite number wanted", x)
	}
	switch c {
	case weight:
		l.t.Weight[i] = x
	case delayMS:
		bursts := math.Floor(float64(x/l.Timestep) + 0.5)
		if !(1 <= bursts && bursts <= math.MaxUint8) {
			return fmt.Sprintf("%v ms found, which is %v bursts of %v ms, 1…255 bursts wanted", x, bursts, l.Timestep)
		}
		l.t.Delay[i] = uint8(bursts)
	default:
		return fmt.Sprintf("%v found, a whole number wanted", x)
	}
	return ""
}

// isReal says that a column takes numbers with fractions.
func (c column) isReal() bool { return c == weight || c == delayMS }
