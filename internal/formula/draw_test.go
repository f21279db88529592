package formula

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/internal/exact"
)

// normals gives what normal makes of a draw.
func normals() func(word uint32) float32 {
	b := newBuilder()
	z := maths{b}.normal(b.load(State, 0))
	run, next := NewRunner(b.finish([]Ref{z}, b.load(Refractory, 0), nil, 0)), []float32{0}
	return func(word uint32) float32 {
		next[0] = SignedTail(word)
		run.Run(&Neuron{State: next}, next)
		return next[0]
	}
}

// TestNormal holds what normal makes of a draw to the exact quantile, over the whole range, and both halves to each other.
func TestNormal(t *testing.T) {
	normalOf, worst := normals(), 0.0
	check := func(word uint32) {
		x, y := normalOf(word), normalOf(^word)
		if x != -y {
			t.Fatalf("word %#x: %v, and %v for its complement", word, x, y)
		}
		want := exact.NormalQuantile((float64(word) + 0.5) * 0x1p-32)
		worst = max(worst, math.Abs(float64(x)-want)/max(1, math.Abs(want)))
	}
	for word := uint32(0); word < 1<<31-79_190; word += 79_190 {
		check(word)
	}
	for bit := range 31 {
		for near := range uint32(3) {
			check(1<<bit + near - 1)
		}
	}
	require.Less(t, worst, 1e-6)
	require.InDelta(t, -6.338, normalOf(0), 1e-3)
	t.Logf("within %.2g of max(1, |z|)", worst)
}

// draws runs a model of two variables for one burst of many neurons and gives both variables of each.
func draws(t *testing.T, update []string, burst uint64) (v, w []float32) {
	s := one("", "random() < 0.5", "")
	s.Update = update
	d, faults := Define(s)
	require.Empty(t, faults)
	run := NewRunner(d.Program)
	for i := range uint32(20_000) {
		n := &Neuron{State: []float32{0, 0}, Params: make([]float32, len(d.Program.Params)), Inputs: []float32{0}, Seed: 7, Burst: burst, Number: i}
		run.Run(n, n.State)
		v, w = append(v, n.State[0]), append(w, n.State[1])
	}
	return v, w
}

// moments are mean, variance and correlation of two lists.
func moments(a, b []float32) (mean, variance, correlation float64) {
	var sa, sb, aa, bb, ab float64
	for i := range a {
		x, y := float64(a[i]), float64(b[i])
		sa, sb, aa, bb, ab = sa+x, sb+y, aa+x*x, bb+y*y, ab+x*y
	}
	n := float64(len(a))
	variance = aa/n - sa*sa/n/n
	return sa / n, variance, (ab/n - sa*sb/n/n) / math.Sqrt(variance*(bb/n-sb*sb/n/n))
}

// TestDraws: calls draw numbers of their own, also where their texts are alike, of the distribution that they name, anew in each burst;
// what is assigned once is one number.
func TestDraws(t *testing.T) {
	const tolerance = 0.03 // four standard errors of 20,000 numbers
	v, w := draws(t, []string{"v = random()", "w = random()"}, 5)
	mean, variance, correlation := moments(v, w)
	require.InDelta(t, 0.5, mean, tolerance)
	require.InDelta(t, 1.0/12, variance, tolerance)
	require.InDelta(t, 0, correlation, tolerance)
	require.GreaterOrEqual(t, slices.Min(v), float32(0))
	require.Less(t, slices.Max(v), float32(1))

	v, w = draws(t, []string{"v = normal()", "w = normal()"}, 5)
	mean, variance, correlation = moments(v, w)
	require.InDelta(t, 0, mean, tolerance)
	require.InDelta(t, 1, variance, tolerance)
	require.InDelta(t, 0, correlation, tolerance)

	later, _ := draws(t, []string{"v = normal()"}, 6)
	_, _, correlation = moments(v, later)
	require.InDelta(t, 0, correlation, tolerance)

	v, _ = draws(t, []string{"v = random() - random()"}, 5)
	_, variance, _ = moments(v, v)
	require.InDelta(t, 1.0/6, variance, tolerance, "the two calls are two numbers")
	v, w = draws(t, []string{"x = random()", "v = x", "w = x"}, 5)
	require.Equal(t, v, w)
	for i := range v {
		require.Equal(t, Uniform(Word(7, uint32(i), 0, 5)), v[i])
	}
}

// TestDrawPlaces: calls are numbered in the order of the text, over update, threshold and reset, also those whose number is not used.
func TestDrawPlaces(t *testing.T) {
	s := one("", "random() < 0.25", "v = normal()")
	s.Update = []string{"v = select(v < 0, random(), 3) + 0*random()", "v = 2", "w = normal()*random()", "w = w*random()"}
	d, faults := Define(s)
	require.Empty(t, faults)
	var places []uint16
	for _, in := range d.Program.Code {
		if in.Op.Draws() {
			places = append(places, in.K)
		}
	}
	require.Equal(t, []uint16{2, 3, 4, 5, 6}, places)
	require.True(t, d.Program.Draws())
	n := &Neuron{State: []float32{0, 0}, Params: make([]float32, len(d.Program.Params)), Inputs: []float32{0}, Seed: 1 << 40, Burst: 1 << 33}
	run, next := NewRunner(d.Program), make([]float32, 2)
	for n.Number = range uint32(100) {
		fired := run.Run(n, next)
		word := exact.Philox(n.Seed, [4]uint32{n.Number / 4, 5, 0, 11<<24 | 2})[n.Number%4]
		require.Equal(t, Uniform(word) < 0.25, fired, "the threshold is draw 5")
	}
}

// TestRefusedDraws: what is worked out once draws nothing, nor do rules of plasticity.
func TestRefusedDraws(t *testing.T) {
	for _, x := range []struct {
		s     *Source
		part  Part
		wants string
	}{
		{&Source{Constants: []Line{{"k", "3*random()"}}, State: []Line{{Name: "v"}}, Threshold: "v > k"}, InConstants, "draws a parameter for each neuron"},
		{&Source{State: []Line{{"v", "1 + random()"}}, Threshold: "v > 1"}, InState, "draws an initial value"},
		{one("v = random(3)", "v > 1", ""), InUpdate, "expects random() without arguments, as in low + (high - low)*random(), found \"3\""},
		{one("v = normal(0, 1)", "v > 1", ""), InUpdate, "expects normal() without arguments, as in mean + sd*normal()"},
		{one("v = random", "v > 1", ""), InUpdate, "unknown name \"random\"; write random()"},
		{one("v = randn()", "v > 1", ""), InUpdate, "write normal()"},
		{one("v = random(", "v > 1", ""), InUpdate, "without arguments"},
	} {
		_, faults := Define(x.s)
		require.Len(t, faults, 1)
		require.Equal(t, x.part, faults[0].Part)
		require.Contains(t, faults[0].Message, x.wants)
	}
	for _, s := range []RuleSource{{OnPost: []string{"w = w + normal()"}}, {OnSource: []string{"s = random()"}, Source: []string{"s"}}, {When: "random() < 0.5"}} {
		_, faults := DefineRule(&s)
		require.NotEmpty(t, faults)
		require.Contains(t, faults[0].Message, "may stand only in update, threshold and reset of a model")
	}
}
