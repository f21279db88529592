package formula

import (
	"math"
	"strings"
	"testing"

	"burst/internal/exact"

	"github.com/stretchr/testify/require"
)

// one is a model of one variable with the given texts.
func one(update, threshold, reset string) *Source {
	s := &Source{
		Ports: []string{"in"}, Params: []string{"p", "q"}, Constants: []Line{{"k", "p/3"}},
		State: []Line{{Name: "v"}, {Name: "w"}}, Update: []string{update}, Threshold: threshold,
	}
	if reset != "" {
		s.Reset = []string{reset}
	}
	return s
}

// TestExpressions holds precedence, functions and rounding to what Go makes of the same formula in float32.
func TestExpressions(t *testing.T) {
	const v, w, in, p, q, dt = float32(0.3), float32(-1.7), float32(2.25), float32(0.1), float32(7), float32(0.1)
	k := float32(0.1 / 3.0)
	for text, want := range map[string]float32{
		"1 + v*w":                 1 + float32(v*w),
		"(1 + v)*w":               float32((1 + v) * w),
		"v - w - in":              v - w - in,
		"v/w/in":                  v / w / in,
		"-v*w":                    float32(-v * w),
		"- -v":                    v,
		"-(v + w)/q":              -(v + w) / q,
		".5e1*v":                  float32(5 * v),
		"0.1*v":                   float32(float32(0.1) * v),
		"k*p + dt":                float32(k*p) + dt,
		"select(v < w, 1, 2)":     2,
		"select(not v < w, 1, 2)": 1,
		"select(v >= 0.3 and w != w, 1, select(v > 0 or refractory, 3, 4))": 3,
		"select(v == 0.3 or v < 0 and v > 9, 1, 2)":                         1,
		"min(v, w)*max(v, abs(w))":                                          float32(w * 1.7),
		"sqrt(in)*sqrt(abs(w))":                                             float32(1.5 * float32(math.Sqrt(float64(float32(1.7))))),
		"min(3, 2) + sqrt(16) - 0.5/0.25":                                   4,
	} {
		d, faults := Define(one("v = "+text, "v > 1e9", ""))
		require.Empty(t, faults, text)
		n := &Neuron{State: []float32{v, w}, Inputs: []float32{in}}
		for _, x := range d.Values(d.Program.Params, func(name string) float64 { return map[string]float64{"p": 0.1, "q": 7}[name] }, 0.1) {
			n.Params = append(n.Params, float32(x))
		}
		NewRunner(d.Program).Run(n, n.State)
		require.Equal(t, math.Float32bits(want), math.Float32bits(n.State[0]), "%s is %v, want %v", text, n.State[0], want)
	}
}

// TestConstants are worked out in float64 and only then rounded.
func TestConstants(t *testing.T) {
	s := one("v = a + b + c + d + e", "v > 1", "")
	s.Constants = []Line{
		{"a", "-expm1(-dt/p)*q"}, {"b", "exp(log(q) - log1p(p))"}, {"c", "select(p < q and not q == 7, 1, min(p, max(a, 3)))"}, {"d", "sqrt(abs(-q))"}, {"e", "(p >= q) * 1"},
	}
	_, faults := Define(s)
	require.Len(t, faults, 1, "a condition is no number, not even there")
	require.Equal(t, Fault{InConstants, 4, faults[0].Mistake}, faults[0])
	s.Constants[4].Text = "select(p >= q or p != p, 1, 5) - b"
	d, faults := Define(s)
	require.Empty(t, faults)
	const p, q, dt = 20.3, 7.1, 0.1
	a := float64(-exact.Expm1(-dt/p) * q)
	b := exact.Exp(exact.Log(q) - exact.Log1p(p))
	got := d.Values([]string{"a", "b", "c", "d", "e", "p", "dt"}, func(name string) float64 { return map[string]float64{"p": p, "q": q}[name] }, dt)
	require.Equal(t, []float64{a, b, 3, math.Sqrt(q), 1 - b, p, dt}, got)
	require.Equal(t, []string{"p", "q"}, d.Depends("e"), "through b")
	require.Empty(t, d.Depends("dt"))
}

// TestStart works variables out of those before them, unless they are given.
func TestStart(t *testing.T) {
	s := one("v = v", "v > 1", "")
	s.State = []Line{{"v", ""}, {"w", "q*v"}, {"x", "w - v"}}
	d, faults := Define(s)
	require.Empty(t, faults)
	run := func(given ...bool) []float32 {
		p := d.Start(given)
		n := &Neuron{State: []float32{2, 100, 1000}, Params: []float32{3}}
		require.Equal(t, []string{"q"}, append(p.Params, "q")[:1])
		NewRunner(p).Run(n, n.State)
		return n.State
	}
	require.Equal(t, []float32{2, 6, 4}, run(false, false, false))
	require.Equal(t, []float32{2, 100, 98}, run(true, true, false))
	require.Nil(t, d.Start([]bool{true, true, true}))
}

// TestProgramIsShort shares equal parts, drops what nothing needs and tells −0 from 0.
func TestProgramIsShort(t *testing.T) {
	d, faults := Define(one("v = (v + p)*(v + p) + 0/(-0.0) + 0", "v > 1", ""))
	require.Empty(t, faults)
	adds := 0
	for _, in := range d.Program.Code {
		if in.Op == Add {
			adds++
		}
		require.NotEqual(t, Input, in.Op)
	}
	require.Equal(t, 3, adds, "v + p once")
	require.Equal(t, []string{"p"}, d.Program.Params)
}

// TestLimits refuses what is too long or too deep, and says where.
func TestLimits(t *testing.T) {
	for _, c := range []struct{ name, update, part string }{
		{"text", "v = " + strings.Repeat("1+", 3000) + "1", "of at most 4096 bytes, found"},
		{"brackets", "v = " + strings.Repeat("(", 100) + "1" + strings.Repeat(")", 100), "nested at most 64 deep"},
		{"signs", "v = " + strings.Repeat("-", 100) + "1", "nested at most 64 deep"},
		{"calls", "v = " + strings.Repeat("abs(", 100) + "v" + strings.Repeat(")", 100), "nested at most 64 deep"},
		{"huge number", "v = 1e39", "a number that float32 can hold"},
		{"tiny number", "v = 1e-60", "a number that float32 can hold"},
	} {
		_, faults := Define(one(c.update, "v > 1", ""))
		require.NotEmpty(t, faults, c.name)
		require.Contains(t, faults[0].Message, c.part, c.name)
	}
	s := one("v = v + 1", "v > 1", "")
	for i := range 200 {
		s.Update = append(s.Update, strings.Replace("v = (v*1.x + in)*w/v - min(v, w)*v + sqrt(v)", "x", strings.Repeat("1", i%5)+"3", 1))
	}
	_, faults := Define(s)
	require.Len(t, faults, 1)
	require.Contains(t, faults[0].Message, "at most 1024 operations")
}

// FuzzDefine: no text may crash the reader, and what it takes must run.
func FuzzDefine(f *testing.F) {
	f.Add("v = select(refractory, v, v + (k*v + 1) + in)", "v >= q and not w < 3", "v = -w")
	f.Add("t = min(v, 1e30*w)", "t != t or (v)", "w = t")
	f.Add("v == 3 ±", "", "= 4")
	f.Fuzz(func(t *testing.T, update, threshold, reset string) {
		d, faults := Define(one(update, threshold, reset))
		for _, m := range faults {
			if m.Message == "" || m.Offset < 0 || m.Offset > maxText+len(update)+len(threshold)+len(reset) {
				t.Fatalf("%+v", m)
			}
		}
		if (d == nil) != (len(faults) > 0) {
			t.Fatalf("%d faults and definition %v", len(faults), d)
		}
		if d != nil {
			n := &Neuron{State: []float32{0.3, -2}, Params: make([]float32, len(d.Program.Params)), Inputs: []float32{1.5}, Refractory: true}
			if NewRunner(d.Program).Run(n, n.State) {
				t.Fatal("fires while refractory")
			}
		}
	})
}
