package formula

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

// interpreted is what an interpreter of a code makes of numbers.
func (c *Code) interpreted(v *[Variables]float64) float64 {
	var r [Slots]float64
	for i, slot := range c.Reads {
		if slot != NoSlot {
			r[slot] = v[i]
		}
	}
	for _, s := range c.Steps {
		x := s.X
		if s.What > 0 {
			x = apply(Operators[s.What], r[s.A], r[s.B], r[s.C])
		}
		r[s.To] = x
	}
	return r[c.Steps[len(c.Steps)-1].To]
}

// TestCode compares a kernel with its code, also where slots are used again, and says what code lacks.
func TestCode(t *testing.T) {
	columns := []Column{{Name: "x"}, {Name: "y"}}
	nested := func(depth int) string { // its numbers wait for the last sum
		text := "source_x"
		for i := range depth {
			text = fmt.Sprintf("%d + (%s)", i, text)
		}
		return text
	}
	for _, text := range []string{
		"d", "2*exp(-d*d/(2*(20 um)*(20 um)))", "select(d < 3 um and not (dx > dy) or dz == 0 um, pow(source_x, target_y), min(-source_y, max(target_x, 2)))",
		"abs(dx) + floor(d/(1 um))*sqrt(dy*dy)*log(3 + source_x)*log1p(target_x)", "d != dx or d >= dy", nested(Slots - 2),
	} {
		k, m := NewKernel(text, map[string]Unit{"um": {1, 1, Dim{1}}}, columns, columns)
		require.Nil(t, m, text)
		code, lacks := k.Code()
		require.Empty(t, lacks, text)
		for i := range 50 {
			var v [Variables]float64
			for j := range v {
				v[j] = math.Sin(float64(i*7+j)) * 5
			}
			require.Equal(t, math.Float64bits(k.At(&v)), math.Float64bits(code.interpreted(&v)), text)
		}
	}
	for text, want := range map[string]string{"cos(source_x)": "cos", "tanh(target_x)": "tanh", nested(Slots): tooMany} {
		k, m := NewKernel(text, nil, columns, columns)
		require.Nil(t, m)
		_, lacks := k.Code()
		require.Equal(t, want, lacks)
	}
}
