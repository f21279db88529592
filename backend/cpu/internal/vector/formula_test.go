package vector

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"burst/internal/formula"

	"github.com/stretchr/testify/require"
)

// wild are numbers at which processors could differ: beside those of values, infinities and NaN.
func wild(r *rand.Rand, n int) []float32 {
	list := values(r, n)
	for i := range list {
		switch r.IntN(12) {
		case 0:
			list[i] = float32(math.Inf(1 - 2*r.IntN(2)))
		case 1:
			list[i] = float32(math.NaN())
		}
	}
	return list
}

// masks are flags.
func masks(r *rand.Rand, n int) []uint32 {
	list := make([]uint32, n)
	for i := range list {
		list[i] = ones(r.IntN(2) == 0)
	}
	return list
}

// requireSameNumbers compares by bits, but that any NaN is as good as another.
func requireSameNumbers(t *testing.T, want, got []float32, name string) {
	t.Helper()
	for i := range want {
		if want[i] != want[i] && got[i] != got[i] {
			continue
		}
		require.Equal(t, math.Float32bits(want[i]), math.Float32bits(got[i]), "%s, %d of %d: %v, want %v", name, i, len(want), got[i], want[i])
	}
}

// bench holds the arguments of every loop; a loop writes some of them.
type bench struct {
	a, b, c, out, state []float32
	f, g, mask          []uint32
	acc                 []int32
	r                   []uint16
	words               []uint64
	live                []uint8
}

func (b bench) clone() *bench {
	return &bench{
		slices.Clone(b.a), slices.Clone(b.b), slices.Clone(b.c), slices.Clone(b.out), slices.Clone(b.state), slices.Clone(b.f), slices.Clone(b.g),
		slices.Clone(b.mask), slices.Clone(b.acc), slices.Clone(b.r), slices.Clone(b.words), slices.Clone(b.live),
	}
}

// formulaLoops runs every loop of Formula by name.
func formulaLoops() map[string]func(k *Formula, x *bench) {
	scale, refractory := float32(997), uint32(65533)
	return map[string]func(k *Formula, x *bench){
		"Add":          func(k *Formula, x *bench) { k.Add(x.out, x.a, x.b) },
		"Sub":          func(k *Formula, x *bench) { k.Sub(x.out, x.a, x.b) },
		"Mul":          func(k *Formula, x *bench) { k.Mul(x.out, x.a, x.b) },
		"Div":          func(k *Formula, x *bench) { k.Div(x.out, x.a, x.b) },
		"Min":          func(k *Formula, x *bench) { k.Min(x.out, x.a, x.b) },
		"Max":          func(k *Formula, x *bench) { k.Max(x.out, x.a, x.b) },
		"in place":     func(k *Formula, x *bench) { k.Sub(x.a, x.b, x.a) },
		"Neg":          func(k *Formula, x *bench) { k.Neg(x.out, x.a) },
		"Abs":          func(k *Formula, x *bench) { k.Abs(x.out, x.a) },
		"Sqrt":         func(k *Formula, x *bench) { k.Sqrt(x.out, x.a) },
		"Less":         func(k *Formula, x *bench) { k.Less(x.mask, x.a, x.b) },
		"LessEqual":    func(k *Formula, x *bench) { k.LessEqual(x.mask, x.a, x.b) },
		"Equal":        func(k *Formula, x *bench) { k.Equal(x.mask, x.a, x.b) },
		"And":          func(k *Formula, x *bench) { k.And(x.mask, x.f, x.g) },
		"Or":           func(k *Formula, x *bench) { k.Or(x.mask, x.f, x.g) },
		"ButNot":       func(k *Formula, x *bench) { k.ButNot(x.mask, x.f, x.g) },
		"Not":          func(k *Formula, x *bench) { k.Not(x.mask, x.f) },
		"MulAdd":       func(k *Formula, x *bench) { k.MulAdd(x.out, x.a, x.b, x.c) },
		"LessBut":      func(k *Formula, x *bench) { k.LessBut(x.mask, x.a, x.b, x.f) },
		"LessEqualBut": func(k *Formula, x *bench) { k.LessEqualBut(x.mask, x.a, x.b, x.f) },
		"Select":       func(k *Formula, x *bench) { k.Select(x.out, x.f, x.a, x.b) },
		"Input":        func(k *Formula, x *bench) { k.Input(x.acc, &scale, x.out, x.live) },
		"AddInput":     func(k *Formula, x *bench) { k.AddInput(x.acc, &scale, x.out, x.a, x.live) },
		"MulAddInput":  func(k *Formula, x *bench) { k.MulAddInput(x.acc, &scale, x.out, x.a, x.b, x.live) },
		"Quiet":        func(k *Formula, x *bench) { k.Quiet(x.r, x.mask) },
		"Settle":       func(k *Formula, x *bench) { k.Settle(x.c, x.state, x.live) },
		"SettleEither": func(k *Formula, x *bench) { k.SettleEither(x.f, x.c, x.state, x.state, x.live) },
		"Countdown":    func(k *Formula, x *bench) { k.Countdown(x.f, &refractory, x.r, x.words, x.live) },
	}
}

// TestFormulaMatchesPlainLoops: the assembly gives the bits of the plain loops, from lengths without a whole block on.
func TestFormulaMatchesPlainLoops(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 9))
	lively, quiet := 0, 0
	for _, n := range lengths() {
		if n == 0 {
			continue
		}
		x := bench{
			a: wild(r, n), b: wild(r, n), c: values(r, n), out: make([]float32, n), f: masks(r, n), g: masks(r, n), mask: make([]uint32, n),
			acc: sums(r, n), r: countdownsOf(r, n), words: make([]uint64, blocks(n)), live: make([]uint8, blocks(n)),
		}
		x.state = slices.Clone(x.c)
		copy(x.b[:n/3], x.a) // some are equal
		for i := range n {
			if i/Block%2 == 1 { // every other block is quiet
				x.acc[i], x.f[i], x.r[i] = 0, 0, 0
			} else if r.IntN(9) == 0 {
				x.state[i] = -x.state[i]
			}
		}
		for name, loop := range formulaLoops() {
			plain, best := x.clone(), x.clone()
			one, two := Plain().Formula, Best().Formula
			loop(&one, plain)
			loop(&two, best)
			requireSameNumbers(t, plain.a, best.a, name)
			requireSameNumbers(t, plain.out, best.out, name)
			requireSameNumbers(t, plain.state, best.state, name)
			require.Equal(t, plain.mask, best.mask, "%s of %d", name, n)
			require.Equal(t, plain.acc, best.acc, "%s of %d", name, n)
			require.Equal(t, plain.r, best.r, "%s of %d", name, n)
			require.Equal(t, plain.words, best.words, "%s of %d", name, n)
			require.Equal(t, plain.live, best.live, "%s of %d", name, n)
			for _, is := range plain.live {
				lively += int(is)
				quiet += 1 - int(is)
			}
		}
	}
	require.NotZero(t, lively)
	require.NotZero(t, quiet)
}

// TestFormulaMeansWhatTheLanguageSays compares the loops with the plain evaluator of package formula.
func TestFormulaMeansWhatTheLanguageSays(t *testing.T) {
	s := &formula.Source{
		Ports: []string{"in"}, State: []formula.Line{{Name: "a"}, {Name: "b"}, {Name: "sum"}, {Name: "least"}, {Name: "most"}, {Name: "root"}, {Name: "turned"}},
		Update:    []string{"sum = a*b + sum", "least = min(a, b)", "most = max(a, b)", "root = sqrt(abs(a)) - a/b", "turned = select(a <= b, -a, b)"},
		Threshold: "a < b or a == b",
	}
	d, faults := formula.Define(s)
	require.Empty(t, faults)
	r := rand.New(rand.NewPCG(5, 5))
	const n = 2000
	x := bench{a: wild(r, n), b: wild(r, n), c: wild(r, n), out: make([]float32, n), mask: make([]uint32, n), f: make([]uint32, n)}
	k, run := Best().Formula, formula.NewRunner(d.Program)
	next, fired := make([][]float32, 7), make([]bool, n)
	for i := range n {
		state := []float32{x.a[i], x.b[i], x.c[i], 0, 0, 0, 0}
		fired[i] = run.Run(&formula.Neuron{State: state, Inputs: []float32{0}}, state)
		for j := range next {
			next[j] = append(next[j], state[j])
		}
	}
	k.MulAdd(x.out, x.a, x.b, x.c)
	requireSameNumbers(t, next[2], x.out, "sum")
	k.Min(x.out, x.a, x.b)
	requireSameNumbers(t, next[3], x.out, "least")
	k.Max(x.out, x.a, x.b)
	requireSameNumbers(t, next[4], x.out, "most")
	k.Abs(x.out, x.a)
	k.Sqrt(x.out, x.out)
	k.Div(x.c, x.a, x.b)
	k.Sub(x.out, x.out, x.c)
	requireSameNumbers(t, next[5], x.out, "root")
	k.LessEqual(x.mask, x.a, x.b)
	k.Neg(x.c, x.a)
	k.Select(x.out, x.mask, x.c, x.b)
	requireSameNumbers(t, next[6], x.out, "turned")
	k.Less(x.mask, x.a, x.b)
	k.Equal(x.f, x.a, x.b)
	k.Or(x.mask, x.mask, x.f)
	for i := range n {
		require.Equal(t, fired[i], x.mask[i] != 0, "%v and %v", x.a[i], x.b[i])
	}
}
