package edgelist

import (
	"fmt"
	"math"

	"burst/internal/quanta"
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
		if x < 1 || x > int64(l.MostDelay) {
			return fmt.Sprintf("%d, want 1…%d bursts", x, l.MostDelay)
		}
		l.t.Delay[i] = uint16(x)
	case port:
		if x < 0 || x > math.MaxUint8 {
			return fmt.Sprintf("%d, want the number of a port, from 0", x)
		}
		l.t.Port[i] = uint8(x)
	}
	return ""
}

func (s Side) outside(x int64) string {
	if s.Count == 0 {
		return fmt.Sprintf("neuron %d, but %s has none", x, s.Of)
	}
	return fmt.Sprintf("neuron %d, want 0…%d of %s", x, s.Count-1, s.Of)
}

func (l *list) real(c column, i uint64, x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("%v, want a finite number", x)
	}
	switch c {
	case weight:
		l.t.Weight[i] = x
	case delayMS:
		bursts, ok := quanta.Delay(x/l.Timestep, l.MostDelay)
		if !ok {
			return fmt.Sprintf("%v ms, which is %v bursts of %v ms, want 1…%d bursts", x, bursts, l.Timestep, l.MostDelay)
		}
		l.t.Delay[i] = uint16(bursts)
	}
	return ""
}

// more takes a number of a column of Options.More.
func (l *list) more(k int, i uint64, x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Sprintf("%v, want a finite number", x)
	}
	x, wrong := l.More[k].Take(x)
	l.t.More[k][i] = float32(x)
	return wrong
}

// isReal says that a column takes numbers with fractions.
func (c column) isReal() bool { return c == weight || c == delayMS }
