package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
	"burst/internal/cuda/cudatest"
	"burst/internal/cuda/driver"
	"burst/internal/exact"
	"burst/internal/slow"
	"burst/kernels"
)

// builtAreas are areas with one port, with a port for each sign, and with lifted input.
const builtAreas = `burst: v1
seed: 11
timestep: 0.1 ms
%s
areas:
  - {name: a, neurons: 130, model: lif, params: {tau: 20 ms, threshold: 20 mV}}
  - {name: b, neurons: 77, model: lif_psc_exp}
  - {name: c, neurons: 70, model: feagi, psp: 0.5, rectify: true}
  - {name: d, neurons: 70, model: feagi}
projections:
`

// builtRules are all rules that a Maker makes, with the choices of each.
var builtRules = []string{
	"from: c, to: d, rule: one_to_one",
	"from: a, to: b, rule: all_to_all",
	"from: b, to: b, rule: all_to_all, autapses: false",
	"from: a, to: b, rule: fixed_indegree, indegree: 13",
	"from: a, to: a, rule: fixed_indegree, indegree: 9, autapses: false",
	"from: a, to: a, rule: fixed_indegree, indegree: 120, autapses: false, multapses: false",
	"from: b, to: a, rule: fixed_outdegree, outdegree: 21",
	"from: c, to: c, rule: fixed_outdegree, outdegree: 69, autapses: false, multapses: false",
	"from: b, to: c, rule: fixed_total_number, count: 1234",
	"from: b, to: b, rule: fixed_total_number, count: 1234, autapses: false",
	"from: a, to: b, rule: fixed_total_number, count: 1234, multapses: false",
	"from: c, to: c, rule: fixed_total_number, count: 4830, autapses: false, multapses: false",
	"from: a, to: b, rule: pairwise_bernoulli, p: 0.137",
	"from: a, to: a, rule: pairwise_bernoulli, p: 0.9, autapses: false",
	"from: a, to: d, rule: pairwise_bernoulli, p: 1",
	"from: a, to: d, rule: pairwise_bernoulli, p: 1e-12",
	"from: b, to: b, rule: pairwise_bernoulli, p: 0.2, symmetric: true, autapses: false",
	"from: b, to: b, rule: pairwise_bernoulli, p: 0.2, symmetric: true",
	"from: d, to: b, rule: pairwise_poisson, average: 0.3",
	"from: b, to: b, rule: pairwise_poisson, average: 1.5, autapses: false",
	"from: a, to: b, rule: all_to_all, attractivity: 40",
	"from: a, to: b, rule: fixed_total_number, count: 9999, attractivity: 2",
}

// builtValues are weights and delays: UNIT stands for that of the target.
var builtValues = []string{
	"weight: 2 UNIT, delay: 0.1 ms",
	"weight: -2 UNIT, delay: 1.5 ms",
	`weight: "uniform(-3 UNIT, 2 UNIT)", delay: "uniform(0.5 ms, 20 ms)"`,
	`weight: "normal(1 UNIT, 2 UNIT) > -0.5 UNIT <= 3 UNIT", delay: "normal(3 ms, 1.5 ms) >= 1 ms"`,
	`weight: "clip(normal(1 UNIT, 2 UNIT), 0 UNIT, 2 UNIT)", delay: "lognormal(20 ms, 20 ms) <= 90 ms"`,
	`weight: "lognormal(-2 UNIT, 4 UNIT)", delay: "clip(lognormal(2 ms, 4 ms), 0.2 ms, 25.5 ms)"`,
}

// projectionText is a line of a genome.
func projectionText(rule, values string) string {
	unit := " mV"
	switch {
	case strings.Contains(rule, "to: b"):
		unit = " pA"
	case !strings.Contains(rule, "to: a"):
		unit = ""
	}
	return "  - {" + rule + ", " + strings.ReplaceAll(values, " UNIT", unit) + "}\n"
}

func parsed(t *testing.T, text string) *genome.Genome {
	t.Helper()
	g, err := genome.Parse("built.yaml", []byte(text), genomes.Open)
	require.NoError(t, err, text)
	return g
}

// newTestMaker is small, so that all of its ways are gone.
func newTestMaker(t *testing.T, devices ...int) *Maker {
	m := smallMaker(devices)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	return m
}

func smallMaker(devices []int) *Maker {
	m := NewMaker(devices)
	m.tune = making{threads: 32, classes: []class{{40, 32}, {150, 64}}, tables: 40_000, staging: 1000, keyBits: 64, cuts: 2000, counted: 2000}
	return m
}

// holdsMaker builds a network on the host and with a maker and wants the same bytes, of which Build makes all but the synapses.
func holdsMaker(t *testing.T, m connectome.Maker, g *genome.Genome, part connectome.Part) *connectome.Connectome {
	t.Helper()
	want, err := connectome.Build(g, connectome.Options{Part: part})
	require.NoError(t, err)
	got, err := connectome.Build(g, connectome.Options{Part: part, Maker: m})
	require.NoError(t, err)
	require.Equal(t, want.Hash(), got.Hash())
	require.True(t, reflect.DeepEqual(want, got), "all but the hash")
	return got
}

// TestMaker builds networks of all rules with all kinds of weights and delays, each rule also beside another one from the same area.
func TestMaker(t *testing.T) {
	slow.Short(t)
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	whole := connectome.Part{}
	for i, rule := range builtRules {
		for k, values := range builtValues {
			if !slow.Full() && k > 1 && (i+k)%3 != 0 {
				continue
			}
			text := fmt.Sprintf(builtAreas, "scale: 1000") + projectionText(rule, values) + projectionText(builtRules[(i+5)%len(builtRules)], builtValues[(k+1)%len(builtValues)])
			t.Run(fmt.Sprint(rule, " ", k), func(t *testing.T) { holdsMaker(t, m, parsed(t, text), whole) })
		}
	}
	t.Run("nothing", func(t *testing.T) {
		require.Zero(t, holdsMaker(t, m, parsed(t, fmt.Sprintf(builtAreas, "")+projectionText("from: a, to: b, rule: pairwise_bernoulli, p: 0", builtValues[0])), whole).Synapses())
	})
}

// allRules is a network of all rules.
func allRules(head string) string {
	text := fmt.Sprintf(builtAreas, head)
	for i, rule := range builtRules {
		text += projectionText(rule, builtValues[i%len(builtValues)])
	}
	return text
}

// TestMakerOfParts builds parts, as processes and as devices do, and the whole with the scale that sums give.
func TestMakerOfParts(t *testing.T) {
	slow.Short(t)
	devices(t, 2)
	g := parsed(t, allRules("scale: auto"))
	m := newTestMaker(t, 0, 1)
	holdsMaker(t, m, g, connectome.Part{})
	for of := 2; of <= 5; of++ {
		for i := range of {
			holdsMaker(t, m, g, connectome.Part{Index: i, Of: of})
		}
	}
	want, err := connectome.NewParts(g, 3, connectome.Options{})
	require.NoError(t, err)
	got, err := connectome.NewParts(g, 3, connectome.Options{Maker: m})
	require.NoError(t, err)
	list := make([]*connectome.Connectome, 3)
	require.NoError(t, want.Each(func(c *connectome.Connectome) error {
		own := *c
		own.Target, own.Weight, own.Delay = slices.Clone(c.Target), slices.Clone(c.Weight), connectome.NewDelays(nil)
		own.Delay.Short, own.Delay.Long = slices.Clone(c.Delay.Short), slices.Clone(c.Delay.Long)
		list[c.Part.Index] = &own
		return nil
	}))
	require.NoError(t, got.Each(func(c *connectome.Connectome) error {
		require.Equal(t, list[c.Part.Index], c)
		return nil
	}))
	a, err := want.Whole()
	require.NoError(t, err)
	b, err := got.Whole()
	require.NoError(t, err)
	require.Equal(t, a, b)
}

// TestMakerWithKeys makes rows of keys of 8 bytes where 4 would do, and all rows in place, as those are whose synapses take more than 64
// bits; with and without labels.
func TestMakerWithKeys(t *testing.T) {
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	for _, keyBits := range []uint32{64, 0} {
		m.tune.wide, m.tune.keyBits = true, keyBits
		holdsMaker(t, m, parsed(t, allRules("scale: 100")), connectome.Part{})
		holdsMaker(t, m, parsed(t, longRows(`"normal(1 UNIT, 2 UNIT)"`)), connectome.Part{})
		g := parsed(t, scaled("1000", 3, 1))
		c, err := connectome.Build(g, connectome.Options{})
		require.NoError(t, err)
		got, form, err := stay(t, m, g, defaults)
		require.NoError(t, err)
		require.Equal(t, "packed", form)
		require.Equal(t, onHost(c), got)
	}
}

// TestMakerHasTheDefaults builds with the sizes that users get.
func TestMakerHasTheDefaults(t *testing.T) {
	cudatest.Anywhere(t)
	m := NewMaker([]int{0})
	holdsMaker(t, m, parsed(t, allRules("scale: 100")), connectome.Part{})
	require.NoError(t, m.Close())
}

// TestMakerOfExamples builds examples.
func TestMakerOfExamples(t *testing.T) {
	slow.Short(t)
	names := []string{"poisson-lif", "vogels-abbott-cuba"}
	if slow.Asked() {
		names = append(names, "brette-coba", "potjans-diesmann-10", "izhikevich-2003")
	}
	if cudatest.Anywhere(t) == nil { // a GPU
		names = append(names, "brunel-a", "burst-100k", "burst-1m", "potjans-diesmann")
	}
	m := NewMaker([]int{0})
	defer func() { require.NoError(t, m.Close()) }()
	for _, name := range names {
		text, err := genomes.Text(name)
		require.NoError(t, err)
		g, err := genome.Parse(name+".yaml", text, genomes.Open)
		require.NoError(t, err)
		t.Run(name, func(t *testing.T) { holdsMaker(t, m, g, connectome.Part{}) })
	}
}

// TestMakerMistakes plants mistakes in the kernels, each of which the comparison must see, or who looks for races.
func TestMakerMistakes(t *testing.T) {
	slow.Test(t)
	const draws, rows = "build.cuh", "build_rows.cuh"
	none := cudatest.Change{File: draws, From: "struct two_words {", To: "struct two_words {"}
	changes := []cudatest.Change{
		none,
		{File: rows, From: "exchange_words(r.delay, i, j);\n            }\n            block_barrier();", To: "exchange_words(r.delay, i, j);\n            }"},
		{File: draws, From: "w->ordinal = w->unit;\n", To: "w->ordinal = w->unit + 1;\n"},
		{File: rows, From: "return a != b ? a < b : r.weight[i] < r.weight[j];", To: "return a < b;"},
		{File: draws, From: "add(b->sums + s.port,", To: "if (ordinal % 97 != 0) add(b->sums + s.port,"},
		{File: draws, From: "if (s->clip) return x < s->low ? s->low : x > s->high ? s->high : x;", To: "if (s->clip) return x < s->low ? s->low : x;"},
		{File: draws, From: "(s->low_open && x == s->low)", To: "(s->low_open && x <= s->low + 0.25)"},
		{File: draws, From: "stream | attempt << 32", To: "stream | attempt << 33"},
		{File: draws, From: "(q < 0 ? p->split : 0)", To: "0"},
		{File: draws, From: "return q <= 0 ? q - 1 : q;", To: "return q;"},
		{File: draws, From: "below(words_of(b, ATTRACTIVITY, ordinal, p->number).x, 100) < p->keep", To: "below(words_of(b, ATTRACTIVITY, ordinal, p->number).x, 100) <= p->keep"},
		{File: draws, From: "r = turned(r, below(mix(l ^ p->keys[i + 1])", To: "r = turned(r, below(mix(l ^ p->keys[i])"},
		{File: draws, From: "u64 n = below(x, last + 1);", To: "u64 n = below(x, last);"},
		{File: draws, From: "w->mirror = p->both && w->target != s;", To: "w->mirror = false;"},
		{File: draws, From: "f->longest = s.delay > f->longest ?", To: "f->longest = s.delay < 100 && s.delay > f->longest ?"},
		{File: draws, From: "longest = other > longest ? other : longest;", To: "longest = other;"},
		{File: draws, From: "return unit - owner * each >= each ? owner + 1 : owner;", To: "return owner;"},
		{File: draws, From: "*ordinal = source * p->count + j;", To: "*ordinal = source * p->count + j + 1;"},
		{File: draws, From: "(u32)s.weight - (u32)b->least", To: "(u32)s.weight"},
		{File: rows, From: "(i32)(low + (u32)b->least)", To: "(i32)low"},
		{File: draws, From: "        if (count < 32 && !last) continue;\n        warp_barrier();", To: "        if (count < 32 && !last) continue;"},
		{File: draws, From: "        warp_barrier(); // there is room again\n", To: ""},
		{File: draws, From: "wired s = own[count + lane()];", To: "wired s = own[lane()];"},
		{File: draws, From: "        if (lane() < some) {", To: "        if (lane() + 1 < some) {"},
		{File: draws, From: "last = vote(drawn) == 0;", To: "last = vote(made) == 0;"},
		{File: draws, From: "(delay << b->port_bits | s.port) << b->low_bits | low", To: "(delay << b->port_bits | s.port) << b->low_bits | (low & ~1u)"},
		{File: draws, From: "b->weight[k] = (i32)(key >> 32);", To: "b->weight[k] = (i32)(key >> 33);"},
		{File: rows, From: "(j < EACH / 2 ? low : mask - low))] = own[j];", To: "low)] = own[j];"},
		{File: rows, From: "if (second >= first) return;", To: "if (second < first) return;"},
		{File: rows, From: "replace_placed(b, j, first);", To: ""},
		{File: rows, From: "        step<2, 3>(own);", To: ""},
		{File: rows, From: "    if (steps > 1) step<2, 2>(own);", To: "    if (steps > 2) step<2, 2>(own);"},
		{File: rows, From: "        block_barrier();\n    }\n}\n\n// sort_keys", To: "    }\n}\n\n// sort_keys"},
		{File: rows, From: "keys[spaced<K>(k)] = ~(K)0;", To: "keys[spaced<K>(k)] = 0;"},
		{File: rows, From: "<= n) i = middle + 1;", To: "< n) i = middle + 1;"},
		{File: rows, From: "first = shuffle_first(first, 32) + ones(bits & ((1u << lane()) - 1));", To: "first = shuffle_first(first, 32) + ones(bits & ((2u << lane()) - 1));"},
		{File: rows, From: "if (lane() == 0) first = fetch_add(filled, ones(bits));", To: "if (lane() == 0) first = *filled, *filled += ones(bits);"},
		{File: rows, From: "        block_barrier();\n        const projection *p = &here;", To: "        const projection *p = &here;"},
		{File: rows, From: "        block_barrier(); // the block's memory is free again\n", To: ""},
		{File: "exact.cuh", From: "q = q * r + 1.0 / 24;", To: "q = q * r + 1.0 / 25;"},
	}
	seesMistakes(t, none, changes, func(t *testing.T, m *Maker) (bool, any) {
		for _, m.tune.keyBits = range []uint32{64, 0} {
			if same, wrong := builtAlike(t, parsed(t, allRules("scale: 30000")), m); !same {
				return false, wrong
			}
		}
		return true, nil
	})
}

// seesMistakes changes the kernels in one way after the other. same says whether a maker with
// these kernels builds what the host builds, and else what was wrong. It must be true of the change none, which is no mistake, and false
// of all others.
func seesMistakes(t *testing.T, none cudatest.Change, changes []cudatest.Change, same func(*testing.T, *Maker) (bool, any)) {
	for _, c := range changes {
		t.Run(c.To, func(t *testing.T) {
			cudatest.Building(t, c)
			m := smallMaker([]int{0})
			defer m.Close() // fails where a launch has
			right, wrong := same(t, m)
			require.Equal(t, c == none, right, "%v", wrong)
		})
	}
}

// buildOrPanic builds with a maker that may have a mistake, which Build then sees as a bug.
func buildOrPanic(g *genome.Genome, m *Maker) (c *connectome.Connectome, wrong any) {
	defer func() { wrong = recover() }()
	c, err := connectome.Build(g, connectome.Options{Maker: m})
	if err != nil {
		return nil, err
	}
	return c, nil
}

// builtAlike reports whether a maker that may have a mistake builds what the host builds, and what was wrong.
func builtAlike(t *testing.T, g *genome.Genome, m *Maker) (bool, any) {
	want, err := connectome.Build(g, connectome.Options{})
	require.NoError(t, err)
	got, wrong := buildOrPanic(g, m)
	return wrong == nil && reflect.DeepEqual(want, got), wrong
}

// TestMakerRefuses: what cannot be made is refused before anything is drawn, and what Build refuses in the same words.
func TestMakerRefuses(t *testing.T) {
	cudatest.Anywhere(t)
	m := newTestMaker(t, 0)
	for text, want := range map[string]string{
		"  - {from: c, to: d, rule: one_to_one, weight: 1}\n  - {from: c, to: d, rule: projector, weight: 1}\n":                            "projections[1].rule: a GPU does not build synapses of the rule projector; build the network on the host (--build host)",
		"  - {from: c, to: d, rule: one_to_one, weight: 1, merge: true}\n  - {from: c, to: d, rule: one_to_one, weight: 1, merge: true}\n": "projections[0].merge: a GPU does not build synapses that merge",
		"  - {from: c, to: d, rule: all_to_all, weight: 1, plasticity: {rule: stdp}}\n":                                                    "projections[0].plasticity: a GPU does not build synapses that learn",
	} {
		_, err := connectome.Build(parsed(t, fmt.Sprintf(builtAreas, "")+text), connectome.Options{Maker: m})
		require.ErrorContains(t, err, want)
	}
	for _, bad := range []string{
		projectionText("from: a, to: b, rule: all_to_all", `weight: 1 UNIT, delay: "normal(1 ms, 0.5 ms)"`),
		projectionText("from: a, to: b, rule: fixed_total_number, count: 3000", `weight: 1 UNIT, delay: "normal(20 ms, 8 ms)"`),
		projectionText("from: a, to: b, rule: all_to_all", `weight: 900 UNIT, delay: 1 ms`),
		projectionText("from: a, to: b, rule: all_to_all", `weight: "normal(900 UNIT, 3 UNIT)", delay: 1 ms`),
	} {
		g := parsed(t, fmt.Sprintf(builtAreas, "scale: 100000")+bad)
		for _, part := range []connectome.Part{{}, {Index: 2, Of: 3}} {
			_, want := connectome.Build(g, connectome.Options{Part: part})
			_, got := connectome.Build(g, connectome.Options{Part: part, Maker: m})
			require.Error(t, want, "%s %v", bad, part)
			require.Equal(t, want.Error(), got.Error())
		}
	}
}

// TestMakerWithoutMemory: memory is compared with what is free before it is taken; all is given back, also after a failure.
func TestMakerWithoutMemory(t *testing.T) {
	h := cudatest.Host(t)
	g := parsed(t, allRules("scale: 100"))
	m := NewMaker([]int{0})
	h.Control("free", 100_000)
	_, err := connectome.Build(g, connectome.Options{Maker: m})
	require.ErrorContains(t, err, "building on device 0: ")
	require.ErrorContains(t, err, " are free; free the device, choose another with --device, or build the network on the host (--build host)")
	h.Control("free", 1<<40)
	h.Control("fail_alloc", 5)
	_, err = connectome.Build(g, connectome.Options{Maker: m})
	require.Error(t, err)
	require.NoError(t, m.Close())
	require.Zero(t, h.Count("held"))
	_, err = connectome.Build(g, connectome.Options{Maker: NewMaker([]int{3})})
	require.ErrorContains(t, err, "building on device 3: ")
	t.Setenv(driver.LibraryVariable, "/nothing")
	_, err = connectome.Build(g, connectome.Options{Maker: NewMaker([]int{0})})
	require.ErrorIs(t, err, engine.ErrUnavailable)
}

// TestMakerArguments holds the structs to those of the kernels.
func TestMakerArguments(t *testing.T) {
	for _, image := range kernels.Build() {
		require.Equal(t, declared(t, image.PTX(), "count_synapses"), sizes(reflect.TypeFor[makeArgs]()))
		require.Equal(t, declared(t, image.PTX(), "place_synapses"), sizes(reflect.TypeFor[makeArgs]()))
		for _, kernel := range []string{"make_narrow_rows", "make_wide_rows", "make_long_rows"} {
			require.Equal(t, declared(t, image.PTX(), kernel), sizes(reflect.TypeFor[finishArgs]()))
		}
		require.NotRegexp(t, `fma\.|\.ftz|\.approx`, image.PTX(), "every operation rounds on its own")
	}
}

// TestExactOnDevice compares the functions of draws with those of the host: random words, and those at the ends of their ranges.
func TestExactOnDevice(t *testing.T) {
	cudatest.Anywhere(t)
	n := 40_000
	if slow.Asked() {
		n = 1_000_000
	}
	s, err := newSite(0)
	require.NoError(t, err)
	defer func() { require.NoError(t, s.close()) }()
	require.NoError(t, s.ctx.Enter())
	defer s.ctx.Leave()
	type valuesArgs struct {
		function uint32
		x        driver.Ptr
		n        uint64
		y        driver.Ptr
	}
	var k entry[valuesArgs]
	require.NoError(t, s.load(s.image, &k, "exact_values"))
	defer k.release()
	r := rand.New(rand.NewPCG(3, 4))
	for function, one := range []struct {
		of   func(x uint64) float64
		word func() uint64
	}{
		{exact.Normal, func() uint64 { return r.Uint64() >> r.IntN(64) }},
		{func(x uint64) float64 { return exact.Log(1 - exact.Uniform(x)) }, func() uint64 { return r.Uint64() >> r.IntN(64) }},
		{func(x uint64) float64 { return exact.Exp(math.Float64frombits(x)) }, func() uint64 { return math.Float64bits(r.Float64()*1455 - 746) }},
	} {
		x := []uint64{0, 1<<11 - 1, 1 << 11, 1<<63 - 1, 1 << 63, 1<<64 - 1, math.Float64bits(709), math.Float64bits(-745.2), math.Float64bits(-745)}
		if function == 2 {
			x = x[6:]
		}
		for len(x) < n {
			w := one.word()
			x = append(x, w)
			if function < 2 {
				x = append(x, ^w)
			}
		}
		y, w := make([]float64, len(x)), &work{site: s, r: &connectome.Recipe{}, tune: makingDefaults}
		var from, to driver.Ptr
		require.NoError(t, w.take(room{&from, size(x), false}, room{&to, size(y), false}))
		require.NoError(t, w.stage(size(x), func(st *staging) error {
			require.NoError(t, st.upload(from, data(x), size(x)))
			require.NoError(t, k.launchGrid(8, 256, 0, s.stream, valuesArgs{uint32(function), from, uint64(len(x)), to}))
			return st.download(unsafe.Pointer(&y[0]), to, size(y))
		}))
		require.NoError(t, w.free())
		for i, got := range y {
			want := one.of(x[i])
			require.Equal(t, math.Float64bits(want), math.Float64bits(got), "function %d of %#x: %v, want %v", function, x[i], got, want)
		}
	}
}

// TestMakerSortsLongRows: rows that take more shared memory than a launch has unasked, and those that no block has memory for.
func TestMakerSortsLongRows(t *testing.T) {
	slow.Short(t)
	h := cudatest.Anywhere(t)
	m := NewMaker([]int{0})
	defer func() { require.NoError(t, m.Close()) }()
	g := parsed(t, `burst: v1
areas:
  - {name: one, neurons: 3, model: feagi}
  - {name: many, neurons: 9000, model: feagi}
projections:
  - {from: one, to: many, rule: all_to_all, weight: "uniform(-3, 3)", delay: "uniform(1 ms, 300 ms)"}
`)
	holdsMaker(t, m, g, connectome.Part{})
	if h != nil { // a device with less
		require.NoError(t, m.Close())
		h.Control("shared", 64<<10)
		holdsMaker(t, m, g, connectome.Part{})
	}
}
