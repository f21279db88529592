package cuda

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/formula"
	"burst/internal/slow"
	"burst/kernels"
)

// leaky is a model of two variables: v decays by a neuron's own factor and takes the input, u counts what v has missed.
func leaky() *formula.Program {
	return &formula.Program{
		Code: []formula.Instruction{
			{Op: formula.State, K: 0},
			{Op: formula.Param, K: 0},
			{Op: formula.Mul, A: 0, B: 1},
			{Op: formula.Input, K: 0},
			{Op: formula.Add, A: 2, B: 3},
			{Op: formula.Refractory},
			{Op: formula.Select, A: 5, B: 0, C: 4},
			{Op: formula.Param, K: 1},
			{Op: formula.LessEqual, A: 7, B: 6},
			{Op: formula.Not, A: 5},
			{Op: formula.And, A: 8, B: 9},
			{Op: formula.Const, Value: -0.1},
			{Op: formula.Select, A: 10, B: 11, C: 6},
			{Op: formula.State, K: 2},
			{Op: formula.Max, A: 13, B: 4},
		},
		Next: []formula.Ref{12, 0, 14}, Fired: 10, Params: []string{"keep", "top"}, Inputs: 1,
	}
}

// TestGoldenPTX holds the code of a model to its text: one instruction a value, each rounded on its own.
func TestGoldenPTX(t *testing.T) {
	m := ownModel{program: leaky(), place: []place{{each: true}, {k: 0}}}
	got, err := spliceModels("a\n\t// custom_update %r1 %r2 %r3 %f1 %f2 %rd9 %f3 %rd1 %rd2 %rd3 %rd4 %rd5 %r4 %r5 %r6 %rd7 %rd8\nb\n", []ownModel{m})
	require.NoError(t, err)
	require.Equal(t, `a
	// custom_update %r1 %r2 %r3 %f1 %f2 %rd9 %f3 %rd1 %rd2 %rd3 %rd4 %rd5 %r4 %r5 %r6 %rd7 %rd8
	{
	.reg .f32 %n<15>;
	.reg .pred %q<15>;
	.reg .b64 %own, %at;
	mad.wide.u32 %own, %r4, 4, %rd5;
	ld.f32 %n0, [%rd1];
	mad.wide.u32 %at, %r5, 0, %own;
	ld.f32 %n1, [%at+0];
	mul.rn.f32 %n2, %n0, %n1;
	mov.f32 %n3, %f1;
	add.rn.f32 %n4, %n2, %n3;
	setp.ne.u32 %q5, %r3, 0;
	selp.b32 %n6, %n0, %n4, %q5;
	ld.f32 %n7, [%rd4+0];
	setp.le.f32 %q8, %n7, %n6;
	not.pred %q9, %q5;
	and.pred %q10, %q8, %q9;
	mov.f32 %n11, 0fBDCCCCCD;
	selp.b32 %n12, %n11, %n6, %q10;
	mad.lo.u64 %at, %rd3, 4, %rd2;
	ld.f32 %n13, [%at];
	setp.lt.f32 %q14, %n4, %n13;
	selp.b32 %n14, %n13, %n4, %q14;
	st.f32 [%rd1], %n12;
	st.f32 [%rd2], %n0;
	mad.lo.u64 %at, %rd3, 4, %rd2;
	st.f32 [%at], %n14;
	selp.u32 %r1, 1, 0, %q10;
	}
b
`, got)
}

// TestGoldenPortsPTX: where neurons have more than two ports, the code takes inputs of third and further ones from the sums.
func TestGoldenPortsPTX(t *testing.T) {
	p := &formula.Program{
		Code: []formula.Instruction{{Op: formula.Input, K: 2}, {Op: formula.Input, K: 0}, {Op: formula.Sub, A: 0, B: 1}, {Op: formula.Refractory}},
		Next: []formula.Ref{2}, Fired: 3, Inputs: 3,
	}
	got, err := spliceModels("// custom_update %r1 %r2 %r3 %f1 %f2 %rd1 %f3 %rd2 %rd3 %rd4 %rd5 %rd6 %r4 %r5 %r6 %rd7 %rd8\n", []ownModel{{program: p}})
	require.NoError(t, err)
	require.Equal(t, `// custom_update %r1 %r2 %r3 %f1 %f2 %rd1 %f3 %rd2 %rd3 %rd4 %rd5 %rd6 %r4 %r5 %r6 %rd7 %rd8
	{
	.reg .f32 %n<4>;
	.reg .pred %q<4>;
	.reg .b64 %own, %at;
	mad.wide.u32 %own, %r4, 4, %rd6;
	.reg .u32 %sum;
	.reg .f32 %in;
	mad.wide.u32 %at, %r5, 8, %rd1;
	ld.u32 %sum, [%at];
	cvt.rn.f32.s32 %in, %sum;
	div.rn.f32 %in, %in, %f3;
	mov.f32 %n0, %in;
	mov.f32 %n1, %f1;
	sub.rn.f32 %n2, %n0, %n1;
	setp.ne.u32 %q3, %r3, 0;
	st.f32 [%rd2], %n2;
	selp.u32 %r1, 1, 0, %q3;
	}
`, got)
}

// TestSplice finds every place of the embedded code, and refuses code without a place.
func TestSplice(t *testing.T) {
	m := []ownModel{{program: leaky(), place: []place{{}, {k: 1}}}}
	for _, image := range kernels.Custom() {
		ptx := image.PTX()
		// Launches of many bursts update neurons in two places: with teams, and without.
		for name, places := range map[string]int{"neural_dynamics_fcl": 1, "run_bursts": 2, "run_bursts_custom": 2, "inject": 0} {
			one, err := only(ptx, []string{name})
			require.NoError(t, err)
			text, err := spliceModels(one, m)
			require.Equal(t, places == 0, err != nil)
			require.Equal(t, places, strings.Count(text, "mul.rn.f32 %n2"), name)
		}
	}
	for _, image := range kernels.Images() {
		_, err := spliceModels(image.PTX(), m)
		require.ErrorContains(t, err, "no place for what the genome defines")
	}
	_, err := spliceModels("// custom_update %r1 %r2\n", m)
	require.ErrorContains(t, err, "2 operands, want 17")
}

// TestOnly keeps what is asked for, as it was, and what comes before the kernels.
func TestOnly(t *testing.T) {
	for _, image := range slices.Concat(kernels.Images(), kernels.Moving(), kernels.Large(), kernels.Lists(), kernels.Custom(), kernels.CustomLists()) {
		ptx := image.PTX()
		text, err := only(ptx, []string{"queue_rows", "run_bursts"})
		require.NoError(t, err)
		got := entriesOf(text)
		slices.Sort(got)
		require.Equal(t, []string{"queue_rows", "run_bursts"}, got, image.Name)
		require.Contains(t, text, fmt.Sprintf(".target sm_%d", image.Capability))
		text, err = only(ptx, entriesOf(ptx))
		require.NoError(t, err)
		require.Equal(t, ptx, text)
	}
	_, err := only("", []string{"run_bursts"})
	require.ErrorContains(t, err, "no kernel run_bursts")
	_, err = only(".visible .entry run_bursts(", []string{"run_bursts"})
	require.ErrorContains(t, err, "no end")
}

// ugly are the numbers at which processors and compilers differ.
var ugly = []float32{
	float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 0, float32(math.Copysign(0, -1)),
	math.Float32frombits(1), -math.Float32frombits(3), math.Float32frombits(0x7fffff), 0x1p-126, -0x1.8p-100, 0x1p-75,
	1, -1, 0.1, -0.3, 3, 7, 0x1.fffffep-1, 0x1.000002p0, 1 << 24, 1<<24 + 2, -0x1.921fb6p1, 0x1p100, -math.MaxFloat32, math.MaxFloat32,
}

// operations is a network of three areas, a neuron a pair of ugly numbers in its first two variables: one makes every
// number that an instruction makes of them, one every flag, the third is neither of them.
func operations() *connectome.Connectome {
	numbers := &formula.Program{Code: []formula.Instruction{{Op: formula.State, K: 0}, {Op: formula.State, K: 1}}, Next: []formula.Ref{0, 1}}
	add := func(p *formula.Program, in formula.Instruction) formula.Ref {
		p.Code = append(p.Code, in)
		return formula.Ref(len(p.Code) - 1)
	}
	for _, op := range []formula.Op{
		formula.Neg, formula.Abs, formula.Sqrt, formula.Add, formula.Sub, formula.Mul, formula.Div, formula.Min, formula.Max,
	} {
		numbers.Next = append(numbers.Next, add(numbers, formula.Instruction{Op: op, A: 0, B: 1}))
	}
	// a·b + a and a·b − b are what a compiler would fuse.
	product := numbers.Next[2+5]
	numbers.Next = append(numbers.Next, add(numbers, formula.Instruction{Op: formula.Add, A: product, B: 0}))
	numbers.Next = append(numbers.Next, add(numbers, formula.Instruction{Op: formula.Sub, A: product, B: 1}))
	numbers.Fired = add(numbers, formula.Instruction{Op: formula.Less, A: 1, B: 0})

	flags := &formula.Program{Code: []formula.Instruction{
		{Op: formula.State, K: 0},
		{Op: formula.State, K: 1},
		{Op: formula.Const, Value: 1},
		{Op: formula.Const, Value: float32(math.Copysign(0, -1))},
		{Op: formula.Less, A: 0, B: 1},
		{Op: formula.LessEqual, A: 0, B: 1},
		{Op: formula.Equal, A: 0, B: 1},
		{Op: formula.Less, A: 1, B: 3},
		{Op: formula.And, A: 5, B: 7},
		{Op: formula.Or, A: 4, B: 7},
		{Op: formula.Not, A: 6},
		{Op: formula.Refractory},
	}, Next: []formula.Ref{0, 1}, Fired: 10}
	for flag := formula.Ref(4); flag <= 11; flag++ {
		flags.Next = append(flags.Next, add(flags, formula.Instruction{Op: formula.Select, A: flag, B: 2, C: 3}))
	}

	n := uint32(len(ugly) * len(ugly))
	c := &connectome.Connectome{
		Name: "operations", Timestep: 1, Scale: 1, Neurons: 2*n + 3, Ports: 3, MaxDelay: 1, Row: make([]uint64, 2*n+4),
		Areas: []connectome.Area{
			ofProgram("numbers", connectome.Span{Count: n}, &connectome.Custom{Program: numbers, Refractory: connectome.Silence{Const: 3}}),
			areaOf("lif", connectome.Span{First: n, Count: 3}, map[string]float32{"em1": -0.3, "threshold": 1, "reset": 0, "refractory": 0}),
			ofProgram("flags", connectome.Span{First: n + 3, Count: n}, &connectome.Custom{Program: flags}),
		},
	}
	c.Areas[1].Ports.First, c.Areas[2].Ports.First = 0, 3
	return c
}

// ofProgram is an area of the genome's own model, without ports.
func ofProgram(name string, neurons connectome.Span, own *connectome.Custom) connectome.Area {
	m := &genome.Model{Name: name, Number: genome.CustomNumber, State: make([]genome.Variable, len(own.Program.Next)), Custom: &genome.Custom{}}
	return connectome.Area{Name: name, Neurons: neurons, Model: m, Custom: own}
}

// TestInstructions runs every instruction on every pair of ugly numbers, in single bursts and in launches of many, and
// compares with the program's own meaning.
func TestInstructions(t *testing.T) {
	cudatest.Anywhere(t)
	c := operations()
	for _, many := range []bool{false, true} {
		t.Run(fmt.Sprintf("many %v", many), func(t *testing.T) {
			b, err := Open(c, Options{})
			require.NoError(t, err)
			start := engine.NewState(c)
			for _, a := range []*connectome.Area{&c.Areas[0], &c.Areas[2]} {
				for i := range a.Neurons.Count {
					n := a.Neurons.First + i
					start.V[n], start.More[0][n] = ugly[i/uint32(len(ugly))], ugly[i%uint32(len(ugly))]
					start.Refractory[n] = uint16(i % 3)
				}
			}
			require.NoError(t, b.WriteState(start))
			var fired []uint32
			keep := func(out *engine.Burst) error { fired = append(fired, out.Fired...); return nil }
			if many {
				require.NoError(t, b.(engine.Batcher).StepN(1, keep))
			} else {
				var out engine.Burst
				require.NoError(t, errors.Join(b.Step(nil, &out), keep(&out)))
			}
			got := &engine.State{}
			require.NoError(t, b.ReadState(got))
			require.NoError(t, b.Close())
			var want []uint32
			for _, a := range []*connectome.Area{&c.Areas[0], &c.Areas[2]} {
				want = append(want, sameAsProgram(t, a, start, got)...)
			}
			require.Equal(t, want, fired)
			require.NotEmpty(t, want)
		})
	}
}

// sameAsProgram compares an area's neurons with what their program makes of the state at the start, and lists who fires.
func sameAsProgram(t *testing.T, a *connectome.Area, start, got *engine.State) (fired []uint32) {
	t.Helper()
	p := a.Custom.Program
	run := formula.NewRunner(p)
	next := make([]float32, len(p.Next))
	for n := a.Neurons.First; n < a.Neurons.End(); n++ {
		in := formula.Neuron{State: append([]float32{}, make([]float32, len(p.Next))...), Refractory: start.Refractory[n] > 0}
		in.State[0], in.State[1] = start.V[n], start.More[0][n]
		r := max(start.Refractory[n], 1) - 1
		if run.Run(&in, next) {
			fired, r = append(fired, n), a.Custom.Refractory.Const
		}
		require.Equal(t, r, got.Refractory[n], "%s: refractory of %v, %v", a.Name, in.State[0], in.State[1])
		for k, want := range next {
			x := got.V[n]
			if k > 0 {
				x = got.More[k-1][n]
			}
			if want != want {
				require.True(t, x != x, "%s: variable %d of %v, %v: %v, want NaN", a.Name, k, in.State[0], in.State[1], x)
				continue
			}
			require.Equal(t, math.Float32bits(want), math.Float32bits(x), "%s: variable %d of %v, %v: %v, want %v", a.Name, k, in.State[0], in.State[1], x, want)
		}
	}
	return fired
}

// TestParameters gives neurons parameters in every place that code looks for them: few or many that the area shares, and
// one or several of a neuron's own. Areas with the same code share it.
func TestParameters(t *testing.T) {
	cudatest.Anywhere(t)
	const n = 37
	c := &connectome.Connectome{Name: "parameters", Timestep: 1, Scale: 1, MaxDelay: 1}
	area := func(params int, each func(k int) bool) {
		p := &formula.Program{Code: []formula.Instruction{{Op: formula.State}, {Op: formula.Const, Value: 1e30}}, Fired: 2}
		p.Code = append(p.Code, formula.Instruction{Op: formula.Less, A: 1, B: 0})
		var constants []connectome.Param
		sum := formula.Ref(0)
		for k := range params {
			p.Params = append(p.Params, fmt.Sprint("p", k))
			x := connectome.Param{Const: 0.7 + float32(k)*1.3}
			if each(k) {
				for i := range n {
					x.Each = append(x.Each, 0.01*float32(i*(k+3))-float32(k))
				}
			}
			constants = append(constants, x)
			p.Code = append(p.Code, formula.Instruction{Op: formula.Param, K: uint16(k)}, formula.Instruction{Op: formula.Mul, A: sum, B: sum})
			p.Code = append(p.Code, formula.Instruction{Op: formula.Add, A: formula.Ref(len(p.Code) - 1), B: formula.Ref(len(p.Code) - 2)})
			sum = formula.Ref(len(p.Code) - 1)
			if k > 3 { // keep it from growing
				p.Code = append(p.Code, formula.Instruction{Op: formula.Div, A: sum, B: sum - 1})
				sum++
			}
		}
		p.Next = []formula.Ref{sum}
		a := ofProgram(fmt.Sprint("area ", len(c.Areas)), connectome.Span{First: c.Neurons, Count: n}, &connectome.Custom{Program: p})
		a.Constants = constants
		c.Areas = append(c.Areas, a)
		c.Neurons += n
	}
	none, all := func(int) bool { return false }, func(int) bool { return true }
	area(0, none)
	area(3, none)
	area(8, none)
	area(9, none)
	area(3, all)
	area(11, func(k int) bool { return k%3 == 1 })
	area(14, func(k int) bool { return k%4 == 2 })
	area(3, none) // as the second one
	c.Row = make([]uint64, c.Neurons+1)

	tables := makeTables(c)
	require.Len(t, tables.models, 7)
	require.Equal(t, tables.areas[1].program, tables.areas[7].program, "the same code")
	start := engine.NewState(c)
	for i := range start.V {
		start.V[i] = float32(i)*0.003 - 0.4
	}
	t.Run("single bursts", func(t *testing.T) {
		sameParameters(t, c, start, func(b engine.Backend) error { return b.Step(nil, &engine.Burst{}) })
	})
	t.Run("many", func(t *testing.T) {
		sameParameters(t, c, start, func(b engine.Backend) error {
			require.Equal(t, "run_bursts_custom", b.(*backend).batch.kernel.Name(), "all areas are of the genome's models")
			return b.(engine.Batcher).StepN(1, func(*engine.Burst) error { return nil })
		})
	})
}

// sameParameters advances c a burst from start and compares V with what the programs make of it.
func sameParameters(t *testing.T, c *connectome.Connectome, start *engine.State, step func(engine.Backend) error) {
	t.Helper()
	b, err := Open(c, Options{})
	require.NoError(t, err)
	got := &engine.State{}
	require.NoError(t, errors.Join(b.WriteState(start), step(b), b.ReadState(got), b.Close()))
	for k := range c.Areas {
		own, first := c.Areas[k].Constants, c.Areas[k].Neurons.First
		run := formula.NewRunner(c.Areas[k].Custom.Program)
		for i := range c.Areas[k].Neurons.Count {
			in := formula.Neuron{State: []float32{start.V[first+i]}}
			for _, p := range own {
				in.Params = append(in.Params, p.At(i))
			}
			run.Run(&in, in.State)
			require.Equal(t, math.Float32bits(in.State[0]), math.Float32bits(got.V[first+i]), "area %d, neuron %d", k, i)
		}
	}
}

// TestExamples runs the examples with models of their own, twins of built-in ones and one with exp in its update, and one whose cells
// and drives are columns of a file.
func TestExamples(t *testing.T) {
	slow.Test(t)
	cudatest.Anywhere(t)
	names := []string{"izhikevich-2003-custom", "adex", "feagi-learning", "receptors", "columns"}
	if os.Getenv("BURST_REQUIRE_CUDA") != "" {
		names = append(names, "burst-100k-custom", "short-term", "stdp-song", "vogels-inhibitory", "spnet", "working-memory")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			text, err := genomes.Text(name)
			require.NoError(t, err)
			g, err := genome.Parse(name, text, genomes.Open)
			require.NoError(t, err)
			c, err := connectome.Build(g, connectome.Options{})
			require.NoError(t, err)
			want, err := genomes.Expect(name)
			require.NoError(t, err)
			b, err := Open(c, Options{})
			require.NoError(t, err)
			e := engine.New(c, b, engine.Options{})
			require.NoError(t, e.Run(t.Context(), want.Bursts))
			var s engine.State
			require.NoError(t, e.State(&s))
			require.Equal(t, want, genomes.Expected{Bursts: want.Bursts, Spikes: e.Spikes(), Digest: e.Digest(), Weights: s.WeightDigest()})
			require.NoError(t, b.Close())
		})
	}
}

// TestOrdinaryImage: networks without such models load the code that has no place for them.
func TestOrdinaryImage(t *testing.T) {
	cudatest.Host(t)
	for c, want := range map[*connectome.Connectome]string{small(): "burst_sm_90.ptx", operations(): "custom_sm_90.ptx"} {
		b, err := Open(c, Options{})
		require.NoError(t, err)
		require.Equal(t, want, b.(*backend).image.Name)
		require.NoError(t, b.Close())
	}
}

// TestGuide runs the worked example of docs/gpu.md beside the reference, and finds in the code what the guide shows of it.
func TestGuide(t *testing.T) {
	cudatest.Anywhere(t)
	b, err := os.ReadFile("../../docs/gpu.md")
	require.NoError(t, err)
	block := func(kind string) string {
		_, text, ok := strings.Cut(string(b), "```"+kind+"\n")
		require.True(t, ok, kind)
		text, _, _ = strings.Cut(text, "```\n")
		return text
	}
	g, err := genome.Parse("own-model.yaml", []byte(block("yaml")), genomes.Open)
	require.NoError(t, err)
	c, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	tables := makeTables(c)
	require.Len(t, tables.models, 1)
	require.Contains(t, strings.ReplaceAll(tables.models[0].code(operands{}), "\t", ""), block("ptx"))

	own, err := Open(c, Options{})
	require.NoError(t, err)
	if slow.Asked() {
		e := engine.New(c, own, engine.Options{})
		require.NoError(t, e.Run(t.Context(), g.Bursts))
		require.Contains(t, string(b), fmt.Sprintf("7,159 spikes, digest %016x\n", e.Digest()))
		require.EqualValues(t, 7159, e.Spikes())
	}

	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	require.NoError(t, own.WriteState(engine.NewState(c)))
	difference, err := engine.Compare(oracle, own, uint64(slow.Times(60, 300)), engine.NewFeed(c, nil).Next, 50)
	require.NoError(t, err)
	require.Nil(t, difference)
	require.NoError(t, own.Close())
}

// TestTeamsOfModels has teams sum the rows of networks of models of the genome's own, of one port and of two, alone and beside a built-in one,
// on one device and on several.
func TestTeamsOfModels(t *testing.T) {
	slow.Short(t)
	lists := [][]int{{0}}
	if h := cudatest.Anywhere(t); h != nil {
		h.Control("devices", 3)
		h.Control("multiprocessors", 4)
		lists = append(lists, []int{1, 0}, []int{0, 2, 1})
	}
	one := formula.Source{Ports: []string{"i"}, State: []formula.Line{{Name: "v", Text: "0"}}, Update: []string{"v = v*0.9 + i"}, Threshold: "v > 0.8", Reset: []string{"v = 0"}}
	two := formula.Source{
		Ports: []string{"e", "i"}, State: []formula.Line{{Name: "v", Text: "0"}, {Name: "g", Text: "0"}},
		Update: []string{"g = g*0.5 + i", "v = v*0.9 + e + g"}, Threshold: "v > 3", Reset: []string{"v = 0"},
	}
	for name, models := range map[string][]*formula.Source{"one port": {&one}, "two ports": {&two}, "both": {&one, &two}, "beside lif": {&two, nil}} {
		r := rand.New(rand.NewPCG(uint64(len(name)), 0x74656d))
		n := enginetest.Net{Scale: 16}
		for _, m := range models {
			a := enginetest.LIF(500 - r.Uint32N(60))
			if m != nil {
				var err error
				a, err = enginetest.Custom(a.Neurons.Count, m, nil, 1)
				require.NoError(t, err)
			}
			n.Areas = append(n.Areas, a)
		}
		total := uint32(0)
		for i := range n.Areas {
			total += n.Areas[i].Neurons.Count
		}
		for from := range total {
			for range 20 + r.IntN(30) {
				n.Synapses = append(n.Synapses, enginetest.Synapse{From: from, To: r.Uint32N(total), Weight: r.Int32N(40) - 14, Delay: 1})
			}
		}
		c := n.Build()
		for _, list := range lists {
			t.Run(fmt.Sprintf("%s %v", name, list), func(t *testing.T) {
				tune := fewThreads()
				tune.teamRow, tune.teamLeast = 1, 0
				b, spikes := againstReference(t, c, list, tune, 5)
				require.Equal(t, pathTeams, pathOf(b))
				require.Greater(t, spikes, 1000)
			})
		}
	}
}
