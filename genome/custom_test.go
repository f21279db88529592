package genome

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// ownModel is a genome with a model of its own and no mistakes; each case below plants one.
const ownModel = `burst: v1
timestep: 0.1 ms
models:
  - name: leaky one
    input: mV
    ports: [up, down]
    params: {tau: 17 ms, rest: -65 mV, top: -50 mV, gain: 0.3, refractory: 1.5 ms}
    constants:
      em1: expm1(-dt/tau)
      th: top - rest
    state:
      v: "normal(3 mV, 1 mV)"
      w: gain*v
      x: -2.5
    update:
      - push = up + down*gain
      - "v = select(refractory, v, v + em1*v + push) - w"
      - w = abs(w - x)
    threshold: v >= th
    reset: [v = 0, w = w + 1]
areas:
  - {name: a, neurons: 30, model: leaky one, params: {tau: "uniform(10 ms, 20 ms)", refractory: 2 ms}, init: {v: 1 mV, w: 3}, drive: {constant: 0.7 mV}}
projections:
  - {from: a, to: a, rule: one_to_one, weight: -2 mV}
`

func TestOwnModel(t *testing.T) {
	g, err := Parse("own.yaml", []byte(ownModel), nil)
	if err != nil {
		t.Fatal(err)
	}
	a := &g.Areas[0]
	m := a.Model
	if m != g.Models[0] || m.Kind() != "custom" || m.Name != "leaky one" || !slices.Equal(m.Ports, []Port{{"up", Voltage}, {"down", Voltage}}) {
		t.Errorf("%+v", m)
	}
	if fmt.Sprint(a.Params) != "map[gain:0.3 refractory:2 rest:-65 tau:17 top:-50]" || a.Varied["tau"].Kind != Uniform || a.Init["w"].A != 3 {
		t.Errorf("%v %v %v", a.Params, a.Varied, a.Init)
	}
	if len(m.State) != 3 || m.State[0].Dim != Voltage || m.State[1].Dim != Plain || m.Custom.Starts[0].Kind != Normal || m.Custom.Starts[2].A != -2.5 {
		t.Errorf("%+v %+v", m.State, m.Custom.Starts)
	}
	if err := validate(t, compiled(t), ownModel); err != nil {
		t.Errorf("schema: %v", err)
	}
}

func TestOwnModelMistakes(t *testing.T) {
	for _, c := range []struct{ name, old, new, message, suggestion string }{
		{"misspelt part", "threshold:", "‹treshold:", "unknown key", "threshold"},
		{"no update", "    update:\n      - push = up + down*gain\n      - \"v = select(refractory, v, v + em1*v + push) - w\"\n      - w = abs(w - x)\n", "", `key "update" is missing`, ""},
		{"name of a built-in", "name: leaky one", "name: ‹lif", "no other model has", ""},
		{"area of no model", "model: leaky one", "model: ‹laeky one", "expects one of feagi", "leaky one"},
		{"unit of input", "input: mV", "input: ‹Volt", "expects one of plain, mV, pA, nS", ""},
		{"three ports and a drive to none", "[up, down]", "[up, down, on]", "expects a port, as in to: {port: up}", ""},
		{"three ports and a projection to none", "ports: [up, down]", "ports: [up, down, on]", "expects a port beside the area, as in to: {area: a, port: up}", ""},
		{"seventeen ports", "[up, down]", "‹[up, down, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o]", "expects at most 16 inputs, found 17", ""},
		{"no ports", "[up, down]", "‹{}", "at least one input", ""},
		{"units twice", "ports: [up, down]", "ports: {up: mV, down: mV}", "expects either input or a unit", ""},
		{"unknown unit of a port", "    input: mV\n    ports: [up, down]", "    ports: {up: mV, down: ‹ms}", "expects one of plain, mV, pA, nS", "mV"},
		{"ports in two units and a drive to none", "    input: mV\n    ports: [up, down]", "    ports: {up: mV, down: pA}", "expects a port", ""},
		{"unknown port", "to: a,", "to: {area: a, port: ‹upp},", `expects a port of a, whose model leaky one has up, down, found "upp"`, "up"},
		{"no area beside a port", "to: a,", "to: ‹{port: up},", `key "area" is missing`, ""},
		{"unknown port of a drive", "{constant: 0.7 mV}", "{to: {port: ‹donw}, constant: 0.7 mV}", "expects a port of a", "down"},
		{"another area's port of a drive", "{constant: 0.7 mV}", "{to: {area: ‹b, port: up}, constant: 0.7 mV}", "the area of the drive itself", "a"},
		{"a port of a drive without a name", "{constant: 0.7 mV}", "{to: ‹{area: a}, constant: 0.7 mV}", `key "port" is missing`, ""},
		{"name twice", "gain: 0.3", "‹up: 0.3", "already stands for an input", ""},
		{"reserved name", "gain: 0.3", "‹dt: 0.3", "not reserved in expressions", ""},
		{"name with blank", "gain: 0.3", "‹ga in: 0.3", "letters, digits", ""},
		{"silence by halves", "refractory: 1.5 ms}", "refractory: ‹1.5}", "whole bursts", ""},
		{"silence in mV", "refractory: 1.5 ms}", "refractory: ‹1.5 mV}", "whole bursts", ""},
		{"unknown function", "expm1(-dt/tau)", "‹exmp1(-dt/tau)", "unknown function", "expm1"},
		{"unknown name", "-dt/tau", "-dt/‹tua", `unknown name "tua"`, "tau"},
		{"constant of a variable", "top - rest", "top - ‹v", `unknown name "v"`, ""},
		{"later constant", "expm1(-dt/tau)", "expm1(-‹th/tau)", `unknown name "th"`, ""},
		{"unknown unit", "gain*v", "5 ‹mv", "unknown unit", "mV"},
		{"broken distribution", `"normal(3 mV, 1 mV)"`, `"normal(3 mV, ‹1 pA)"`, "found 1 pA", ""},
		{"start from a later one", "gain*v", "gain*‹x", `unknown name "x"`, ""},
		{"function near one of constants", "abs(w - x)", "‹exmp1(w - x)", "wanted one of abs, cos, exp, floor, log, max, min, normal, pow, random, select, sin, sqrt, tanh", "exp"},
		{"log of another language", "abs(w - x)", "‹ln(w - x)", `found the function "ln"; write log`, ""},
		{"a parameter named as a function", "gain: 0.3", "‹tanh: 0.3", "expects a name that is not reserved in expressions, found tanh", ""},
		{"log1p in a burst", "abs(w - x)", "‹log1p(w - x)", "only under constants", ""},
		{"power", "abs(w - x)", "w‹**2", "pow(x, y)", ""},
		{"unclosed bracket", "abs(w - x)", "abs(w - x‹", ", found the end", ""},
		{"condition as number", "abs(w - x)", "w ‹> x", "expects a number, found a condition", ""},
		{"number as condition", "threshold: v >= th", "threshold: ‹v", ", found a number", ""},
		{"one equals sign", "v >= th", "v ‹= th", `expects ==`, ""},
		{"chained comparison", "v >= th", "0 < v ‹< th", "between two comparisons", ""},
		{"constant changed", "- w = abs", "- ‹em1 = abs", "does not change", ""},
		{"unused name", "- w = abs(w - x)", "- ‹ww = abs(w - x)", "not a state variable", "w"},
		{"offset in quotes", "+ push) - w", "+ ‹pusch) - w", `unknown name "pusch"`, "push"},
		{"no assignment", "v = 0", "‹0", "an assignment such as", ""},
		{"unknown in reset", "w = w + 1", "w = ‹u + 1", `unknown name "u"`, ""},
		{"foreign parameter", `{tau: "uniform(10 ms, 20 ms)"`, `{‹tau_m: "uniform(10 ms, 20 ms)"`, "unknown key", "tau"},
		{"unit of a parameter", `"uniform(10 ms, 20 ms)"`, `"uniform(10 ms, ‹20 mV)"`, "expects a time", ""},
		{"unknown variable", "init: {v: 1 mV", "init: {‹V: 1 mV", "unknown key", "v"},
		{"unit of a drive", "constant: 0.7 mV", "constant: ‹0.7 pA", "expects a voltage", ""},
		{"random constant", "em1: ", "em1: 0*‹random() + ", "draws a parameter for each neuron", ""},
		{"arguments of normal", "w = w + 1", "w = w + normal(‹0, 1)", "mean + sd*normal()", ""},
		{"rand", "w = w + 1", "w = w + ‹rand()", "write random()", ""},
		{"drive of no quanta", "constant: 0.7 mV", "constant: ‹0.0001 mV", "0 quanta", ""},
		{"merging two ports", "weight: -2 mV", "weight: -2 mV, merge: ‹true", "one input per neuron", ""},
		{"key of another model", "drive: {constant: 0.7 mV}", "‹leak: 0.1", "a key of the model feagi", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			marked := strings.Replace(ownModel, c.old, c.new, 1)
			if marked == ownModel {
				t.Fatal("nothing planted")
			}
			before, _, found := strings.Cut(marked, "‹")
			text := strings.Replace(marked, "‹", "", 1)
			_, err := Parse("own.yaml", []byte(text), nil)
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("taken: %v", err)
			}
			want := position([]byte(text), len(before))
			for _, f := range faults {
				if strings.Contains(f.Message, c.message) && f.Suggestion == c.suggestion && (!found || f.Line == want.Line && f.Column == want.Column) {
					return
				}
			}
			t.Errorf("wanted %q at %v, suggestion %q:\n%v", c.message, want, c.suggestion, err)
		})
	}
}
