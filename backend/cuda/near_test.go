package cuda

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/genome"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/formula"
	"burst/internal/slow"
	"burst/kernels"
)

// sheetAreas are sheets on which rules by kernel and mask look for partners, periodic or not, of even and odd sizes.
const sheetAreas = `burst: v1
seed: 7
timestep: 0.1 ms
%s
areas:
  - {name: a, size: [13, 9, 1], extent: [130 um, 90 um, 0 um], periodic: PERIODIC, model: lif, params: {tau: 20 ms, threshold: 20 mV}}
  - {name: b, size: [6, 5, 2], neurons_per_voxel: 2, extent: [130 um, 90 um, 0 um], periodic: PERIODIC, model: lif_psc_exp}
  - {name: c, size: [3, 2, 1], extent: [130 um, 90 um, 0 um], periodic: PERIODIC, model: feagi, psp: 0.5, rectify: true}
projections:
`

// nearRules are rules by kernel and mask, and others whose values are formulas.
var nearRules = []string{
	`from: a, to: b, rule: distance, p: "0.9*exp(-d/(20 um))"`,
	`from: a, to: a, rule: distance, p: "exp(-pow(d/(25 um), 2)/2)", autapses: false`,
	`from: a, to: a, rule: distance, p: "1 - d/(60 um)", symmetric: true`,
	`from: b, to: b, rule: distance, p: 0.4, mask: "d >= 20 um and d < 45 um or dx == 0 um", symmetric: true, autapses: false`,
	`from: b, to: a, rule: distance, p: "2*exp(-d*d/(2*(20 um)*(20 um)))", mask: "not (abs(dx) > 30 um)", attractivity: 60`,
	`from: c, to: a, rule: distance, p: "select(d <= 30 um, sqrt(d/(30 um)), log(2 + floor(d/(30 um)))/5)"`,
	`from: a, to: c, rule: distance, p: "min(0.7, max(0.1, 10 um/(5 um + d)))"`,
	`from: a, to: b, rule: fixed_indegree, indegree: 11, kernel: "exp(-d*d/(2*(20 um)*(20 um)))"`,
	`from: a, to: a, rule: fixed_indegree, indegree: 7, kernel: "1/(1 + d/(10 um))", mask: "d < 30 um", autapses: false, multapses: false`,
	`from: b, to: b, rule: fixed_outdegree, outdegree: 12, kernel: "exp(-d/(20 um))", mask: "d > 0 um", multapses: false`,
	`from: a, to: b, rule: fixed_outdegree, outdegree: 5, mask: "dx >= 0 um and dy != 5 um or dx < -60 um"`,
	`from: a, to: a, rule: fixed_outdegree, outdegree: 4, kernel: "exp(-d/(1 um))", mask: "d < 21 um", multapses: false, autapses: false`, // most are listed
	`from: a, to: b, rule: all_to_all`,
	`from: a, to: b, rule: fixed_outdegree, outdegree: 7`,
	`from: b, to: a, rule: pairwise_bernoulli, p: 0.3`,
}

// nearValues are weights and delays: UNIT stands for that of the target.
var nearValues = []string{
	`weight: 2 UNIT, delay: "0.1 ms + d/(0.01 m/s)"`,
	`weight: "-2 UNIT*exp(-d/(100 um))", delay: 1 ms`,
	`weight: "normal(1 UNIT, 2 UNIT)", delay: "min(30 ms, 1 ms + abs(dx)/(0.002 m/s))"`,
	`weight: "1 UNIT - 2 UNIT*d/(90 um)", delay: "uniform(0.5 ms, 20 ms)"`,
}

func nearText(periodic bool, head string, projections string) string {
	return strings.ReplaceAll(fmt.Sprintf(sheetAreas, head), "PERIODIC", fmt.Sprint(periodic)) + projections
}

// TestMakerNear builds networks whose rules and values read where neurons lie, on the host and by kernels.
func TestMakerNear(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	for i, rule := range nearRules {
		for k, values := range nearValues {
			if !slow.Full() && k > 1 && (i+k)%3 != 0 {
				continue
			}
			for _, periodic := range []bool{false, true} {
				text := nearText(periodic, "scale: 1000", projectionText(rule, values)+projectionText(nearRules[(i+4)%len(nearRules)], nearValues[(k+1)%len(nearValues)]))
				t.Run(fmt.Sprint(rule, " ", k, " ", periodic), func(t *testing.T) {
					require.NotZero(t, holdsMaker(t, m, parsed(t, text), connectome.Part{}).Synapses())
				})
			}
		}
	}
}

// allNear is a network of all of them.
func allNear(periodic bool) string {
	text := ""
	for i, rule := range nearRules {
		text += projectionText(rule, nearValues[i%len(nearValues)])
	}
	return nearText(periodic, "scale: auto", text)
}

// TestMakerNearOfParts builds parts, with few stretches at a time.
func TestMakerNearOfParts(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	for _, periodic := range []bool{false, true} {
		g := parsed(t, allNear(periodic))
		for of := 1; of <= 5; of++ {
			for i := range of {
				part := connectome.Part{Index: i, Of: of}
				if of == 1 {
					part = connectome.Part{}
				}
				holdsMaker(t, m, g, part)
			}
		}
	}
}

// TestNearAtOnce: before there are rows, stretches are cut at once where they fit, also of parts and of symmetric rules, of whose synapses
// little is known by then. In pieces, each of which takes as long as all, two million neurons were not built after 40 s.
func TestNearAtOnce(t *testing.T) {
	slow.Short(t)
	h := devices(t, 2)
	const area = "burst: v1\nscale: 1000\nareas:\n  - {name: a, size: [64, 32, 1], extent: [640 um, 320 um, 0 um], model: lif}\nprojections:\n"
	for _, keys := range []string{"", ", symmetric: true"} {
		g := parsed(t, area+projectionText(`from: a, to: a, rule: distance, p: "0.1*exp(-pow(d/(120 um), 2)/2)"`+keys, "weight: 1 mV"))
		for k := range 2 {
			list := []int{0, 1}[:k+1]
			before := h.Count("launches of count_near")
			m := NewMaker(list)
			require.NoError(t, openBuilt(t, g, list, m, defaults).Close())
			require.NoError(t, m.Close())
			require.EqualValues(t, len(list), h.Count("launches of count_near")-before, "%q on %d devices", keys, len(list))
		}
	}
}

// memoryFile is a file of a text.
type memoryFile struct{ *strings.Reader }

func (memoryFile) Close() error { return nil }

// TestMakerOfColumns builds networks whose rules and values read columns, with positions and without.
func TestMakerOfColumns(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	files := map[string]string{}
	write := func(name string, n int, header string) {
		text := header + "\n"
		for i := range n {
			text += fmt.Sprintf("%g,%g\n", math.Sin(float64(3*i)), 20+10*math.Cos(float64(i)))
		}
		files[name] = text
	}
	write("a.csv", 80, "tuning,axon")
	write("b.csv", 70, "axon,tuning")
	const text = `burst: v1
timestep: 0.1 ms
areas:
  - {name: a, size: [10, 8, 1], extent: [100 um, 80 um, 0 um], columns: {tuning: "column(a.csv, tuning)", axon: "column(a.csv, axon, um)"}, model: feagi}
  - {name: b, size: [10, 7, 1], extent: [100 um, 80 um, 0 um], columns: {far: "column(b.csv, axon)", tuning: "column(b.csv, tuning)"}, model: feagi}
projections:
  - {from: a, to: b, rule: distance, p: "0.7*exp(-abs(source_tuning - target_tuning/20))", weight: "1 + source_tuning*target_far"}
  - {from: b, to: a, rule: distance, p: "0.9*exp(-d/(40 um))", mask: "d < target_axon and source_far > -0.5", weight: 1, delay: "1 + floor(abs(dx)/target_axon)"}
  - {from: a, to: a, rule: fixed_indegree, indegree: 9, kernel: "1/(1 + abs(source_tuning - target_tuning))", mask: "d < 2*source_axon", weight: "uniform(1, 2)"}
  - {from: a, to: b, rule: fixed_outdegree, outdegree: 4, kernel: "max(0.1, source_tuning*target_far)", multapses: false, weight: 2}
  - {from: b, to: b, rule: fixed_total_number, count: 300, weight: "source_far - target_far"}
`
	g, err := genome.Parse("columns.yaml", []byte(text), func(path string) (io.ReadCloser, error) {
		return memoryFile{strings.NewReader(files[path])}, nil
	})
	require.NoError(t, err)
	m := newTestMaker(t, 0)
	for of := 1; of <= 3; of++ {
		for i := range of {
			part := connectome.Part{Index: i, Of: of}
			if of == 1 {
				part = connectome.Part{}
			}
			require.NotZero(t, holdsMaker(t, m, g, part).Synapses())
		}
	}
}

// TestFormulasOnDevice compares formulas with those of the host, of ordinary numbers and of those at the ends of what there are.
func TestFormulasOnDevice(t *testing.T) {
	cudatest.Anywhere(t)
	s, err := newSite(0)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.close()) }()
	require.NoError(t, s.ctx.Enter())
	defer s.ctx.Leave()
	type valuesArgs struct {
		field   driver.Ptr
		n       uint64
		list, y driver.Ptr
	}
	var k entry[valuesArgs]
	require.NoError(t, s.load(s.other, &k, "formula_values"))
	defer k.release()
	r := rand.New(rand.NewPCG(5, 6))
	numbers := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2, 3, -2.5, 1e-300, -1e-300, 5e-324, 709.78, 709.8, -745.2, -745.1, 1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 0x1p-54, -0.999, 1 << 53}
	for len(numbers) < 60 {
		numbers = append(numbers, r.NormFloat64()*20, r.ExpFloat64())
	}
	var pairs []uint32
	for i := range numbers {
		for j := range numbers {
			pairs = append(pairs, uint32(i), uint32(j))
		}
	}
	columns := []formula.Column{{Name: "x"}}
	for _, text := range []string{
		"source_x + target_x", "source_x - target_x", "source_x*target_x", "source_x/target_x", "min(source_x, target_x)", "max(source_x, target_x)", "pow(source_x, target_x)",
		"source_x < target_x", "source_x <= target_x", "source_x > target_x", "source_x >= target_x", "source_x == target_x", "source_x != target_x",
		"source_x < 1 and target_x < 2", "source_x < 1 or target_x < 2", "not (source_x < target_x)", "select(source_x < 1, target_x, source_x)",
		"-source_x", "abs(source_x)", "floor(source_x)", "sqrt(source_x)", "exp(source_x)", "log(source_x)", "log1p(source_x)",
	} {
		kernel, mistake := formula.NewKernel(text, nil, columns, columns)
		require.Nil(t, mistake, text)
		code, lacks := kernel.Code()
		require.Empty(t, lacks)
		f := &connectome.FieldRecipe{Kernel: code}
		f.Columns[0][0], f.Columns[1][0] = numbers, numbers
		w := &work{site: s, r: &connectome.Recipe{}, tune: makingDefaults}
		field, err := w.fieldOf(f)
		require.NoError(t, err)
		list, err := lay(w, pairs)
		require.NoError(t, err)
		y := make([]float64, len(pairs)/2)
		var to driver.Ptr
		require.NoError(t, w.take(room{&to, size(y), false}))
		require.NoError(t, w.stage(size(y), func(st *staging) error {
			require.NoError(t, k.launchGrid(8, 128, 0, s.stream, valuesArgs{field, uint64(len(y)), list, to}))
			return st.download(data(y), to, size(y))
		}))
		require.NoError(t, w.free())
		for i, got := range y {
			var v [formula.Variables]float64
			v[formula.OfSource], v[formula.OfTarget] = numbers[pairs[2*i]], numbers[pairs[2*i+1]]
			if want := kernel.At(&v); want == want || got == got {
				require.Equal(t, math.Float64bits(want), math.Float64bits(got), "%s of %v and %v: %v, want %v", text, v[formula.OfSource], v[formula.OfTarget], got, want)
			}
		}
	}
}

// TestNearArguments holds the structs to those of the kernels.
func TestNearArguments(t *testing.T) {
	for _, image := range kernels.Near() {
		for name, args := range map[string]reflect.Type{
			"cut_trees": reflect.TypeFor[cutArgs](), "count_near": reflect.TypeFor[nearArgs](), "place_near": reflect.TypeFor[nearArgs](),
			"place_by_formula": reflect.TypeFor[makeArgs](),
		} {
			require.Equal(t, declared(t, image.PTX(), name), sizes(args), name)
		}
		require.NotRegexp(t, `fma\.|\.ftz|\.approx`, image.PTX(), "every operation rounds on its own")
	}
}

// TestNearMistakes plants mistakes in the kernels, each of which the comparison must see.
func TestNearMistakes(t *testing.T) {
	slow.Test(t)
	const near, formulas = "near.cuh", "formula.cuh"
	none := cudatest.Change{File: near, From: "struct tree_stretch {", To: "struct tree_stretch {"}
	changes := []cudatest.Change{
		none,
		{File: near, From: "high = low + first_half(high - low);\n            continue;", To: "high = low + (high - low) / 2;\n            continue;"},
		{File: near, From: "(all.high - all.low) * n > q->slack", To: "(all.high - all.low) * n > 2 * q->slack"},
		{File: near, From: "exact_log1p(-s.top) : -1", To: "-s.top : -1"},
		{File: near, From: "p->both && target != source ? 2 : 1", To: "p->both ? 2 : 1"},
		{File: near, From: "        source = target;\n", To: ""},
		{File: near, From: "(p->both && target < source)", To: "(p->both && target <= source)"},
		{File: near, From: "log_of(x.x) / none;", To: "log_of(x.x) / (none * 0.9);"},
		{File: near, From: "if (above < s.least || above < likelihood(q, source, target))", To: "if (above < s.least)"},
		{File: near, From: "list[middle].end <= at", To: "list[middle].end < at - 1"},
		{File: near, From: "if (low > 0) at -= list[low - 1].end;", To: ""},
		{File: near, From: "c->owner * p->count + c->chosen", To: "c->owner * p->count"},
		{File: near, From: "attempts + c.chosen", To: "attempts"},
		{File: near, From: "PATIENCE * p->count + BESIDES", To: "PATIENCE * p->count"},
		{File: formulas, From: "larger(larger(w, x), larger(y, z))", To: "larger(w, x)"},
		{File: formulas, From: "x -= e * turns(x, e);", To: "x -= e;"},
		{File: formulas, From: "w.most = e / 2;", To: ""},
		{File: formulas, From: "larger(0, larger(a, -b))", To: "larger(0, a)"},
		{File: formulas, From: "q->backward ? &q->home : &q->partners;", To: "&q->partners;"},
		{File: formulas, From: "if (r.low <= 0) all.low = 0;", To: ""},
	}
	seesMistakes(t, none, changes, func(t *testing.T, m *Maker) (bool, any) {
		for _, periodic := range []bool{false, true} {
			if same, wrong := builtAlike(t, parsed(t, allNear(periodic)), m); !same {
				return false, wrong
			}
		}
		return true, nil
	})
}
