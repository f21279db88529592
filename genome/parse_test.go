package genome

import (
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// sound holds genomes that use every part of the format.
func sound() []string {
	const two = "burst: v1\nareas:\n  - {name: a, size: [3, 5, 2]}\n  - {name: b, neurons: 30, model: lif}\n"
	return []string{
		"burst: v1\nareas: [{name: a, neurons: 3}]\n",
		"burst: v1\nscale: auto\nbursts: 0.5 s\nareas: [{name: a-1.b_c d, neurons: 3}]\nprojections: []\nstimuli: []\nrecord: {}\n",
		two + "projections:\n  - {from: a, to: b, rule: fixed_outdegree, outdegree: 31, weight: \"lognormal(0.5 mV, 200 mV)\"}\n",
		two + "projections:\n  - {from: b, to: a, rule: fixed_total_number, count: 7, multapses: false, weight: \"clip(normal(-1, 2), -5, 0)\", delay: \"normal(3, 1.5) >= 1 <= 9\"}\n",
		two + "projections:\n  - {from: a, to: b, rule: projector, weight: -3e-1 mV, delay: 255}\n",
		two + "stimuli:\n  - {area: b, every: 3, until: 1 s, neurons: [29, 0], amount: -0.5 mV}\n",
		two + "record: {spikes: [a], potentials: [{area: b, neurons: [1]}], fcl: true}\n",
		two + "record: {variables: [{area: b, names: [V, input], neurons: [1], every: 3 ms}]}\n",
	}
}

func TestSoundGenomes(t *testing.T) {
	for _, text := range sound() {
		if _, err := Parse("sound.yaml", []byte(text), nil); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

// What the base says must stand in the Genome, in base units, with defaults filled in.
func TestParse(t *testing.T) {
	g, err := Parse("base.yaml", []byte(base), nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.Name != "planted mistakes" || g.Seed != 42 || g.RunSeed != 7 || g.Timestep != 0.1 || g.Scale != 1000 || g.Bursts != 500 {
		t.Errorf("head: %+v", g)
	}
	retina := g.Areas[1]
	if retina.Size != [3]uint64{16, 12, 1} || retina.PerVoxel != 2 || retina.Neurons() != 384 ||
		retina.Gradient != [3]float64{0.01, 0, 0.02} || retina.Position != [3]float64{0.5, -3, 0} || retina.Pos != (Pos{12, 5}) {
		t.Errorf("retina: %+v", retina)
	}
	want := map[string]float64{"threshold": 1.5, "threshold_limit": 0, "leak": 0.1, "leak_amount": 0, "refractory": 3,
		"excitability": 0.75, "fire_limit": 3, "snooze": 1, "accumulate": 1, "draw": 1, "rectify": 0, "always_recover": 0}
	if !reflect.DeepEqual(retina.Params, want) {
		t.Errorf("parameters of retina: %v", retina.Params)
	}
	cortex := g.Areas[2]
	if cortex.Size != [3]uint64{384, 1, 1} || cortex.Params["refractory"] != 1.5 || cortex.Params["C"] != 230 || cortex.Params["reset"] != -61 {
		t.Errorf("cortex: %+v", cortex)
	}
	if v := cortex.Init["V"]; v.Kind != Normal || v.A != -58 || v.B != 5 || !math.IsInf(v.Lo, -1) || !math.IsInf(v.Hi, 1) {
		t.Errorf("init: %+v", v)
	}
	drives := []Drive{
		{Pos: cortex.Drives[0].Pos, Kind: Poisson, Unit: Voltage, Rate: 1680, Weight: 0.3, Until: math.MaxUint64},
		{Pos: cortex.Drives[1].Pos, Kind: Constant, Value: 120, Unit: Current, From: 700, Until: 710},
	}
	if !reflect.DeepEqual(cortex.Drives, drives) {
		t.Errorf("drives: %+v", cortex.Drives)
	}
	if p := g.Projections[1]; p.From != 1 || p.To != 2 || p.Rule != OneToOne || p.Weight.A != 1.5 || p.Delay.A != 15 {
		t.Errorf("projection 1: %+v", p)
	}
	p := g.Projections[2]
	if p.Rule != FixedIndegree || p.Indegree != 31 || !p.NoAutapses || p.NoMultapses || p.Weight.Lo != 0 || !p.Weight.LoOpen || p.Weight.Clip ||
		p.Delay.Kind != Uniform || p.Delay.A != 10 || p.Delay.B != 30 {
		t.Errorf("projection 2: %+v", p)
	}
	if p := g.Projections[0]; p.Delay.A != 1 || p.Delay.Kind != Const {
		t.Errorf("default delay: %+v", p.Delay)
	}
	if v := g.Projections[4].Vectors; !slices.Equal(v, [][3]int64{{1, 0, 0}, {-1, 0, 0}}) {
		t.Errorf("vectors: %v", v)
	}
	if e := g.Projections[5].Patterns; len(e) != 1 || e[0].From != [3]PatternElem{{Kind: Any}, {Kind: Same}, {Kind: Exact}} ||
		e[0].To != [3]PatternElem{{Kind: Exact}, {Kind: Other}, {Kind: Exact}} {
		t.Errorf("patterns: %v", e)
	}
	stimulus := Stimulus{Pos: g.Stimuli[1].Pos, Area: 2, Every: 100, From: 5, Until: math.MaxUint64, Neurons: []uint32{0}, Amounts: []float64{2}}
	if !reflect.DeepEqual(g.Stimuli[1], stimulus) {
		t.Errorf("stimulus: %+v", g.Stimuli[1])
	}
	record := Record{Spikes: []int{1, 2}, Potentials: []Potentials{{Area: 2, Neurons: []uint32{0, 1}}}}
	if !reflect.DeepEqual(g.Record, record) {
		t.Errorf("record: %+v", g.Record)
	}
}

// The name, the second seed and the model must come from elsewhere when the genome does not name them.
func TestDefaults(t *testing.T) {
	g, err := Parse("some/folder/my net (2).yaml", []byte("burst: v1\nseed: 9\nareas: [{name: a, neurons: 3}]\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if g.Name != "my net -2-" || g.RunSeed != 9 || g.Timestep != 1 || g.Scale != 1000 || g.Areas[0].Model.Name != "feagi" || g.Areas[0].PerVoxel != 1 {
		t.Errorf("got %+v", g)
	}
}

// TestOwnRunSeed: a second seed that the genome names is its own, also where it is the first.
func TestOwnRunSeed(t *testing.T) {
	for line, own := range map[string]bool{"": false, "run_seed: 9\n": true, "run_seed: 0\n": true} {
		g, err := Parse("seeds.yaml", []byte("burst: v1\nseed: 9\n"+line+"areas: [{name: a, neurons: 3}]\n"), nil)
		if err != nil || g.OwnRunSeed != own {
			t.Errorf("%q: own is not %v (%v)", line, own, err)
		}
	}
}

// A number with a unit must become the base unit's nearest float64.
func TestUnits(t *testing.T) {
	for _, c := range []struct {
		text string
		want float64
		dim  Dimension
	}{
		{"1500 us", 1.5, Time}, {"0.1 ms", 0.1, Time}, {"2.5e-3 s", 2.5, Time}, {"-65mV", -65, Voltage}, {"-0.065 V", -65, Voltage},
		{"87.8 pA", 87.8, Current}, {".5 nA", 500, Current}, {"16.8 kHz", 16800, Frequency}, {"3. Hz", 3, Frequency},
		{"250 pF", 250, Capacitance}, {"+0.25 nF", 250, Capacitance}, {"-1e3", -1000, Plain},
	} {
		x, dim, m := quantity(c.text)
		if m != nil || x != c.want || dim != c.dim {
			t.Errorf("%s: got %v %v (%v), want %v %v", c.text, x, dim, m, c.want, c.dim)
		}
	}
	for _, text := range []string{"", "mV", "1 2", "1e400", "0x10", "1_000", "1,5", "--1", "1e", "1 m V", "nan", "+inf", ".", "1:30", "007"} {
		if x, dim, m := quantity(text); m == nil {
			t.Errorf("%q: got %v %v, want a refusal", text, x, dim)
		}
	}
}

// Distributions with their bounds, and what must not be one.
func TestValues(t *testing.T) {
	for _, c := range []struct {
		text string
		want Value
	}{
		{"1.5 mV", Value{A: 1.5, Lo: -inf, Hi: inf}},
		{"uniform(-2 mV,0.003 V)", Value{Kind: Uniform, A: -2, B: 3, Lo: -inf, Hi: inf}},
		{"normal( 2 mV , 1 mV )", Value{Kind: Normal, A: 2, B: 1, Lo: -inf, Hi: inf}},
		{"normal(2 mV, 1 mV) > 0 mV", Value{Kind: Normal, A: 2, B: 1, Lo: 0, Hi: inf, LoOpen: true}},
		{"normal(2 mV, 1 mV)>=0 mV<5 mV", Value{Kind: Normal, A: 2, B: 1, Lo: 0, Hi: 5, HiOpen: true}},
		{"normal(2 mV, 1 mV) <= 5 mV > 1 mV", Value{Kind: Normal, A: 2, B: 1, Lo: 1, Hi: 5, LoOpen: true}},
		{"lognormal(-2 mV, 1 mV) < 0 mV", Value{Kind: LogNormal, A: -2, B: 1, Lo: -inf, Hi: 0, HiOpen: true}},
		{"clip(normal(2 mV, 1 mV), 0 mV, 4 mV)", Value{Kind: Normal, A: 2, B: 1, Lo: 0, Hi: 4, Clip: true}},
	} {
		if v, m := parseValue(c.text, Voltage, 1); m != nil || !reflect.DeepEqual(v, c.want) {
			t.Errorf("%s: got %+v (%v), want %+v", c.text, v, m, c.want)
		}
	}
	for _, c := range []struct{ text, why string }{
		{"normal(2 mV)", "one number is missing"},
		{"normal(2 mV, 1 mV", "the bracket is open"},
		{"normal(2 mV, 1 mV))", "a bracket too many"},
		{"normal(2 mV, 1)", "a unit is missing"},
		{"normal(2 mV, -1 mV)", "a standard deviation is no less than 0"},
		{"normal(2 mV, 1 mV) > 0 mV > 1 mV", "two lower bounds"},
		{"normal(2 mV, 1 mV) >", "no bound"},
		{"normal(2 mV, 1 mV) > 50 mV", "no draw would get there"},
		{"normal(2 mV, 0 mV) > 2 mV", "the constant is excluded"},
		{"normal(2 mV, 1 mV) > 2 mV < 2 mV", "nothing between the bounds"},
		{"uniform(3 mV, 2 mV)", "ends in the wrong order"},
		{"uniform(2 mV, 3 mV) > 3 mV", "nothing left"},
		{"lognormal(0 mV, 1 mV)", "no mean"},
		{"lognormal(2 mV, 1 mV) < 0 mV", "nothing left"},
		{"clip(2 mV, 0 mV, 4 mV)", "a constant is no distribution"},
		{"clip(normal(2 mV, 1 mV), 4 mV, 0 mV)", "bounds in the wrong order"},
		{"clip(normal(2 mV, 1 mV), 0 mV, 4 mV) > 1 mV", "clipped and drawn again"},
		{"normal(2 mV, .inf)", "infinity"},
		{"gamma(2 mV, 1 mV)", "not one of ours"},
		{"", "nothing"},
	} {
		if v, m := parseValue(c.text, Voltage, 1); m == nil {
			t.Errorf("%q: got %+v, want a refusal: %s", c.text, v, c.why)
		}
	}
}

// The faults that relate one value to another, each alone.
func TestRelations(t *testing.T) {
	const two = "burst: v1\nareas:\n  - {name: a, size: [3, 5, 2]}\n  - {name: b, neurons: 31}\n"
	for _, c := range []struct {
		name, text string
		want       string // in the message; "" for none
	}{
		{"one_to_one of unequal areas", "projections: [{from: a, to: b, rule: one_to_one, weight: 1}]", "equal size"},
		{"as many sources as there are", "projections: [{from: a, to: b, rule: fixed_indegree, indegree: 30, multapses: false, weight: 1}]", ""},
		{"more sources than there are", "projections: [{from: a, to: b, rule: fixed_indegree, indegree: 31, multapses: false, weight: 1}]", "at most 30"},
		{"more sources with multapses", "projections: [{from: a, to: b, rule: fixed_indegree, indegree: 31, weight: 1}]", ""},
		{"sources but oneself", "projections: [{from: a, to: a, rule: fixed_indegree, indegree: 30, multapses: false, autapses: false, weight: 1}]", "at most 29"},
		{"more targets than there are", "projections: [{from: a, to: b, rule: fixed_outdegree, outdegree: 32, multapses: false, weight: 1}]", "at most 31"},
		{"all pairs", "projections: [{from: a, to: b, rule: fixed_total_number, count: 930, multapses: false, weight: 1}]", ""},
		{"more than all pairs", "projections: [{from: a, to: b, rule: fixed_total_number, count: 931, multapses: false, weight: 1}]", "at most 930"},
		{"pairs but oneself", "projections: [{from: a, to: a, rule: fixed_total_number, count: 871, multapses: false, autapses: false, weight: 1}]", "at most 870"},
		{"misspelt key is not missing too", "projections: [{from: a, to: b, rule: all_to_all, weigth: 1}]", "unknown key"},
		{"rule without its key", "projections: [{from: a, to: b, rule: pairwise_bernoulli, weight: 1}]", `"p" is missing`},
		{"probability above 1", "projections: [{from: a, to: b, rule: pairwise_bernoulli, p: 1.01, weight: 1}]", "0…1"},
		{"delay of 65,536", "projections: [{from: a, to: b, rule: all_to_all, weight: 1, delay: 65536}]", "1…65535"},
		{"delays up to 65,535.4", "projections: [{from: a, to: b, rule: all_to_all, weight: 1, delay: \"uniform(0.5, 65535.4)\"}]", ""},
		{"delays up to 65,536", "projections: [{from: a, to: b, rule: all_to_all, weight: 1, delay: \"uniform(1, 65536)\"}]", "1…65535"},
		{"delay of half a burst", "projections: [{from: a, to: b, rule: all_to_all, weight: 1, delay: 1.5}]", "whole bursts"},
		{"weight of no quanta even at best", "projections: [{from: a, to: b, rule: all_to_all, weight: 1e-9}]", "largest scale"},
		{"weight of half a quantum", "projections: [{from: a, to: b, rule: all_to_all, weight: 0.0005}]", ""},
		{"mean of no quanta", "projections: [{from: a, to: b, rule: all_to_all, weight: \"normal(0.0001, 3)\"}]", "write scale: 5000 or more"},
		{"mean of zero", "projections: [{from: a, to: b, rule: all_to_all, weight: \"normal(0, 3)\"}]", ""},
		{"weight beyond 32 bits", "projections: [{from: a, to: b, rule: all_to_all, weight: -3e6}]", "the largest scale that holds it is 715"},
		{"weight of all quanta", "projections: [{from: a, to: b, rule: all_to_all, weight: -2147483.647}]", ""},
		{"neuron twice", "stimuli: [{area: a, at: 1, neurons: [4, 9, 4], amount: 1}]", "neuron 4 found again"},
		{"expects at or every, found neither", "stimuli: [{area: a, neurons: [4], amount: 1}]", "expects at or every, found neither"},
		{"from beside at", "stimuli: [{area: a, at: 1, from: 2, neurons: [4], amount: 1}]", "beside every, found it beside at"},
		{"no amount", "stimuli: [{area: a, at: 1, neurons: [4]}]", `"amount" is missing`},
		{"no folder to read from", "stimuli: [{area: a, at: 1, image: x.png}]", "z of 1"},
	} {
		t.Run(c.name, func(t *testing.T) { one(t, two+c.text+"\n", c.want) })
	}
	for _, c := range []struct{ name, text, want string }{
		{"events per burst", "{name: a, neurons: 3, drive: {poisson: {rate: 500.1 kHz, weight: 1}}}", "at most 500"},
		{"default refractory in halves", "{name: a, neurons: 3, model: lif}", "refractory time of 2 ms"},
		{"no grid and neurons per voxel", "{name: a, neurons: 3, neurons_per_voxel: 2}", "beside size, found it beside neurons"},
		{"no size", "{name: a}", "expects size or neurons, found neither"},
		{"threshold beyond float32 in the corner", "{name: a, neurons: 3, threshold: 3e38, threshold_gradient: [3e38, 0, 0]}", "far corner"},
		{"too small for float32", "{name: a, neurons: 3, threshold: 1e-46}", "float32"},
		{"threshold of lif in the area", "{name: a, neurons: 3, model: lif, threshold: 20 mV, params: {refractory: 3 ms}}", "under params"},
		{"params of feagi", "{name: a, neurons: 3, params: {leak: 0.1}}", "in the area itself"},
		{"neurons up to 63 bits", "{name: a, neurons: 9223372036854775807}", ""},
		{"neurons beyond", "{name: a, neurons: 9223372036854775808}", "whole number"},
		{"an image without folder", "{name: a, neurons: 3}]\nstimuli: [{area: a, at: 1, image: x.png}", "no folder"},
	} {
		t.Run(c.name, func(t *testing.T) { one(t, "burst: v1\ntimestep: 1.5 ms\nareas: ["+c.text+"]\n", c.want) })
	}
}

// one asserts that a text has one fault with want in its message, none when want is empty.
func one(t *testing.T, text, want string) {
	t.Helper()
	_, err := Parse("relations.yaml", []byte(text), nil)
	var faults Faults
	switch errors.As(err, &faults); {
	case want == "" && err != nil:
		t.Errorf("want no fault:\n%v", err)
	case want != "" && (len(faults) != 1 || !strings.Contains(faults[0].Message, want)):
		t.Errorf("want one fault with %q, got:\n%v", want, err)
	}
}
