package formula

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someUnits() map[string]Unit {
	return map[string]Unit{"um": {1, 1, Dim{1}}, "m": {1e6, 1, Dim{1}}, "ms": {1, 1, Dim{0, 1}}, "s": {1000, 1, Dim{0, 1}}, "mV": {1, 1, Dim{0, 0, 1}}}
}

func TestKernelsReadUnits(t *testing.T) {
	for text, want := range map[string]float64{
		"0.4*exp(-d/(150 um))": 0.4 * math.Exp(-200.0/150), "1 ms + d/(0.3 m/s)": 1 + 200.0/300, "d/0.3 m/s": 200.0 / 300, "sqrt(dx*dx + dy*dy)/(1 um)": 130, "2 mV*exp(-d/(1 m))": 2 * math.Exp(-200e-6),
		"select(d < 100 um, 1, 0.25)": 0.25, "max(0, d - 150 um)/(1 um)": 50, "-dz/(1 um)": 7, "d/(1 um)/2": 100, "pow(d/(1 um), 2)": 40000,
		"d": 200, "abs(dx) < 51 um and not (dy < 120 um)": 1, "0.3": 0.3,
	} {
		k, m := NewKernel(text, someUnits(), nil, nil)
		require.Nil(t, m, text)
		v := [Variables]float64{200, 50, 120, -7}
		assert.InEpsilon(t, want, k.At(&v), 1e-12, text)
		assert.Equal(t, k.At(&v), k.Run(2, pairs(v), make([]float64, k.Room(2)))[1], text)
	}
}

// pairs are two pairs, of which the second one is v.
func pairs(v [Variables]float64) *[Variables][]float64 {
	var lists [Variables][]float64
	for i, x := range v {
		lists[i] = []float64{0, x}
	}
	return &lists
}

func TestKernelsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"exp(-pow(d, 2))":              "expects a plain number under pow, as in exp(-pow(d/(150 um), 2)/2), found one in um",
		"exp(-d)":                      "expects a plain number under exp, as in exp(-d/(150 um)), found one in um",
		"1 ms + d":                     "expects the same dimension on both sides of +, found ms and um",
		"d < 3":                        "expects the same dimension on both sides of <, found um and a plain number",
		"0.4*exp(-r/(150 um))":         `unknown name "r", wanted one of d, dx, dy, dz`,
		"exp(-d*d/(4 um*um))":          "found the unit um alone, want it behind a number, as in 1 um",
		"d/(3 parsec)":                 `unknown unit "parsec", wanted one of m, mV, ms, s, um, or an operator`,
		"(d < 3 um) + 1":               "expects a number, found a condition",
		"select(d, 1, 2)":              "expects a condition such as d < 100 um as the first argument of select",
		"sqrt(d)":                      "expects the square of a unit under sqrt, found um",
		"d/(2 um":                      `expects an operator or ")", found the end`,
		"d and 1":                      "expects a condition beside and, found a number",
		"floor(d)":                     "expects a plain number under floor",
		"min(d < 2 um, 1)":             "expects a number, found a condition",
		strings.Repeat("d+", 99) + "d": "expects a formula of at most 60 operations",
	} {
		_, m := NewKernel(text, someUnits(), nil, nil)
		if assert.NotNil(t, m, text) {
			assert.Contains(t, m.Message, want, text)
		}
	}
}

// TestUnitsInFormulas: where numbers have no units, one that has is told so.
func TestUnitsInFormulas(t *testing.T) {
	for _, text := range []string{"exp(-5 ms/tau)", "5 ms", "2 v", "(5 ms)"} {
		_, m := parse(text, InUpdate)
		require.NotNil(t, m, text)
		require.Contains(t, m.Message, "expects an operator, found", text)
		require.Contains(t, m.Message, "numbers in formulas have no units", text)
	}
	_, m := parse("5 < 3 and 2 > 1 or 4 > 3", InThreshold)
	require.Nil(t, m)
}

// Over holds what At makes of any place within the intervals.
func TestIntervalsHoldAllValues(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 8))
	columns := []Column{{Name: "a"}, {Name: "b", Dim: Dim{1}}}
	var write func(deep int) string
	write = func(deep int) string {
		if deep == 0 {
			return []string{"(d/(1 um))", "(dx/(1 um))", "(dy/(1 um))", "(dz/(1 um))", "0.5", "3", "0", "(dx*dx/(1 um)/(1 um))", "source_a", "target_a", "(target_b/(1 um))"}[r.IntN(11)]
		}
		a, b := write(r.IntN(deep)), write(r.IntN(deep))
		switch k := r.IntN(17); {
		case k < 4:
			return fmt.Sprintf("(%s %s %s)", a, []string{"+", "-", "*", "/"}[k], b)
		case k < 6:
			return fmt.Sprintf("%s(%s, %s)", []string{"min", "max"}[k-4], a, b)
		case k < 15:
			return fmt.Sprintf("%s(%s)", []string{"exp", "expm1", "log", "log1p", "tanh", "sin", "cos", "abs", "sqrt"}[k-6], a)
		case k < 16:
			return fmt.Sprintf("pow(%s, %s)", a, b)
		}
		return fmt.Sprintf("select(%s %s %s %s not %s > 1, %s, (%s)*(%s))", a, []string{"<", "<=", ">", ">=", "==", "!="}[r.IntN(6)], b, []string{"and", "or"}[r.IntN(2)], b, b, a, a)
	}
	narrow := 0
	for range 3000 {
		text := write(1 + r.IntN(4))
		k, m := NewKernel(text, someUnits(), columns, columns)
		if m != nil && strings.Contains(m.Message, "60 operations") {
			continue
		}
		require.Nil(t, m, text)
		var box [Variables]Interval
		for i := range box {
			x, y := 8*r.Float64()-4, 8*r.Float64()-4
			if r.IntN(2) == 0 {
				y = x + float64(0.3*r.Float64()) // turning points of sin and cos at its ends, within and beyond
			}
			box[i] = Interval{min(x, y), max(x, y)}
		}
		box[0] = box[0].abs()
		over := k.Over(&box)
		if over.Hi-over.Lo < 100 {
			narrow++
		}
		for range 20 {
			var v [Variables]float64
			for i, x := range box {
				v[i] = []float64{x.Lo, x.Hi, min(x.Lo+float64(r.Float64()*(x.Hi-x.Lo)), x.Hi)}[r.IntN(3)]
			}
			if x := k.At(&v); x == x {
				require.True(t, over.Lo <= x && x <= over.Hi, "%s at %v: %g not within %g…%g of %v", text, v, x, over.Lo, over.Hi, box)
			}
		}
	}
	assert.Greater(t, narrow, 1000)
}

// A kernel of columns tells which it reads, and bounds sin and cos by where they turn round; one without columns does not, so that networks
// stay as they were.
func TestKernelsOfColumns(t *testing.T) {
	source, target := []Column{{"theta", Dim{}}, {"size", Dim{1}}}, []Column{{"theta", Dim{}}}
	k, m := NewKernel("cos(source_theta - target_theta)*exp(-source_size/(1 um))", someUnits(), source, target)
	require.Nil(t, m)
	assert.False(t, k.ReadsPlace())
	assert.True(t, k.ReadsColumns())
	for i := range Variables {
		assert.Equal(t, i == OfSource || i == OfSource+1 || i == OfTarget, k.Reads(i), i)
	}
	var v [Variables]float64
	v[OfSource], v[OfSource+1], v[OfTarget] = 2, 3, 0.5
	assert.InEpsilon(t, math.Cos(1.5)*math.Exp(-3), k.At(&v), 1e-12)
	assert.Equal(t, k.At(&v), k.Run(2, pairs(v), make([]float64, k.Room(2)))[1])
	for text, want := range map[string]string{
		"cos(source_phi)":             `unknown name "source_phi", wanted one of d, dx, dy, dz, source_theta, source_size, target_theta`,
		"cos(target_size)":            `unknown name "target_size"`,
		"source_size + source_theta":  "expects the same dimension on both sides of +, found um and a plain number",
		"exp(-source_size)":           "expects a plain number under exp",
		"source_theta and d < 100 um": "expects a condition beside and, found a number",
	} {
		_, m := NewKernel(text, someUnits(), source, target)
		if assert.NotNil(t, m, text) {
			assert.Contains(t, m.Message, want, text)
		}
	}
	assert.True(t, IsKernel("2*source_x"))
	assert.True(t, IsKernel("d"))
	assert.False(t, IsKernel("normal(1, 2)"))

	bounds := func(text string, lo, hi float64) Interval {
		k, m := NewKernel(text, someUnits(), source, target)
		require.Nil(t, m)
		var box [Variables]Interval
		box[OfSource], box[1] = Interval{lo, hi}, Interval{lo, hi}
		return k.Over(&box)
	}
	near := func(want, got Interval) {
		t.Helper()
		assert.InDelta(t, want.Lo, got.Lo, 1e-10)
		assert.InDelta(t, want.Hi, got.Hi, 1e-10)
	}
	near(Interval{math.Cos(2), math.Cos(1)}, bounds("cos(source_theta)", 1, 2))
	near(Interval{-1, math.Cos(2)}, bounds("cos(source_theta)", 2, 4))
	near(Interval{math.Cos(1), 1}, bounds("cos(source_theta)", -1, 0.5))
	near(Interval{-1, 1}, bounds("cos(source_theta)", 1, 8))
	near(Interval{math.Sin(2.5), 1}, bounds("sin(source_theta)", 1, 2.5))
	near(Interval{-1, math.Sin(4)}, bounds("sin(source_theta)", 4, 5))
	near(Interval{math.Sin(-1), math.Sin(1)}, bounds("sin(source_theta)", -1, 1))
	near(Interval{1, 1}, bounds("cos(source_theta)", 2*math.Pi, 2*math.Pi))
	near(Interval{-1, 1}, bounds("cos(dx/(1 um))", 1, 2))
}
