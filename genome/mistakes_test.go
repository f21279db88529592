package genome

import (
	"errors"
	"strings"
	"testing"
)

// base is a genome without mistakes; each case below plants one.
const base = `burst: v1
name: planted mistakes
seed: 42
run_seed: 7
timestep: 0.1 ms
scale: 1000
bursts: 500
areas:
  - name: power
    size: [1, 1, 1]
    drive: {constant: 1.25}
  - name: retina
    size: [16, 12, 1]
    neurons_per_voxel: 2
    position: [0.5, -3, 0]
    model: feagi
    threshold: 1.5
    threshold_gradient: [0.01, 0, 0.02]
    leak: 0.1
    refractory: 3
    excitability: 0.75
    fire_limit: 3
    snooze: 1
    accumulate: true
    draw: feagi
  - name: cortex
    neurons: 384
    model: lif
    params: {tau: 17 ms, C: 230 pF, rest: -65 mV, reset: -61 mV, threshold: -47 mV, refractory: 1.5 ms}
    init: {V: "normal(-58 mV, 5 mV)"}
    drive: [{poisson: {rate: 1680 Hz, weight: 0.3 mV}}, {constant: 120 pA, from: 70 ms, until: 71 ms}]
projections:
  - {from: power, to: retina, rule: all_to_all, weight: 0.75}
  - {from: retina, to: cortex, rule: one_to_one, weight: 1.5 mV, delay: 1.5 ms}
  - from: cortex
    to: cortex
    rule: fixed_indegree
    indegree: 31
    weight: "normal(0.2 mV, 0.03 mV) > 0 mV"
    delay: "uniform(1 ms, 3 ms)"
    autapses: false
  - {from: cortex, to: retina, rule: pairwise_bernoulli, p: 0.1, weight: -0.5}
  - {from: retina, to: retina, rule: vectors, vectors: [[1, 0, 0], [-1, 0, 0]], weight: 2}
  - {from: retina, to: power, rule: patterns, patterns: [[["*", "?", 0], [0, "!", 0]]], weight: 3}
stimuli:
  - {area: retina, at: 10, neurons: [3, 17], amount: 5}
  - {area: cortex, every: 10 ms, from: 5, neurons: [0], amount: 2 mV}
record:
  spikes: [retina, cortex]
  potentials: [{area: cortex, neurons: [0, 1]}]
  fcl: false
`

// mistake plants new in place of old; "‹" in new marks where the fault must be reported.
type planted struct {
	name, old, new string
	suggestion     string
	shape          bool // the schema must refuse it too
}

func mistakes() []planted {
	return []planted{
		// 55 of meaning
		{"version of the future", "burst: v1", "burst: ‹v2", "v1", true},
		{"no version", "burst: v1\nname", "‹name", "", true},
		{"misspelt top key", "seed: 42", "‹sead: 42", "seed", true},
		{"capital in a key", "bursts: 500", "‹Bursts: 500", "bursts", true},
		{"negative seed", "seed: 42", "seed: ‹-42", "", true},
		{"seed beyond 64 bits", "run_seed: 7", "run_seed: ‹99999999999999999999", "", true},
		{"octal look", "seed: 42", "seed: ‹042", "42", false},
		{"time without unit", "timestep: 0.1 ms", "timestep: ‹0.1", "", true},
		{"time as voltage", "timestep: 0.1 ms", "timestep: ‹0.1 mV", "", true},
		{"time step of nothing", "timestep: 0.1 ms", "timestep: ‹0 ms", "", false},
		{"misspelt unit", "timestep: 0.1 ms", "timestep: 0.1 ‹sm", "ms", true},
		{"micro sign", "timestep: 0.1 ms", "timestep: 100 ‹µs", "us", true},
		{"scale beyond 2^24", "scale: 1000", "scale: ‹16777217", "", true},
		{"misspelt auto", "scale: 1000", "scale: ‹atuo", "auto", true},
		{"exponent for a whole number", "bursts: 500", "bursts: ‹5e2", "500", false},
		{"misspelt parameter", "threshold: 1.5", "‹threshhold: 1.5", "threshold", true},
		{"swapped letters", "leak: 0.1", "‹laek: 0.1", "leak", true},
		{"missing letter", "excitability: 0.75", "‹excitabilty: 0.75", "excitability", true},
		{"hyphen in a key", "fire_limit: 3", "‹fire-limit: 3", "fire_limit", true},
		{"duplicate key", "snooze: 1", "snooze: 1\n    ‹leak: 0.2", "", false},
		{"leak above 1", "leak: 0.1", "leak: ‹1.1", "", false},
		{"probability as percent", "excitability: 0.75", "excitability: ‹75", "", true},
		{"not a number", "threshold: 1.5", "threshold: ‹.nan", "", true},
		{"infinity", "threshold: 1.5", "threshold: ‹.inf", "", true},
		{"beyond float32", "threshold: 1.5", "threshold: ‹1e39", "", true},
		{"number in quotes", "threshold: 1.5", `threshold: ‹"1.5"`, "1.5", true},
		{"unit on a plain number", "threshold: 1.5", "threshold: ‹1.5 mV", "1.5", true},
		{"refractory in halves", "refractory: 3", "refractory: ‹0.25 ms", "0.3 ms", false},
		{"yes for true", "accumulate: true", "accumulate: ‹yes", "true", true},
		{"capital flag", "fcl: false", "fcl: ‹flase", "false", true},
		{"misspelt choice", "draw: feagi", "draw: ‹faegi", "feagi", true},
		{"misspelt model", "model: lif", "model: ‹lfi", "lif", true},
		{"parameter of lif in the area", "    neurons: 384\n", "    neurons: 384\n    ‹leak: 0.1\n", "", false},
		{"size of two", "size: [16, 12, 1]", "size: ‹[16, 12]", "", true},
		{"size of zero", "size: [16, 12, 1]", "size: [16, ‹0, 1]", "", true},
		{"size and neurons", "neurons: 384", "size: [384, 1, 1]\n    ‹neurons: 384", "", false},
		{"product beyond 63 bits", "size: [16, 12, 1]", "size: ‹[4294967296, 4294967296, 1]", "", false},
		{"area twice", "projections:\n", "  - {name: ‹power, neurons: 3}\nprojections:\n", "", false},
		{"name that is a number", "name: planted mistakes", "name: ‹12", `"12"`, true},
		{"slash in a name", "name: planted mistakes", "name: ‹a/b", "a-b", true},
		{"capacitance as time", "C: 230 pF", "C: ‹230 ms", "", true},
		{"misspelt parameter of lif", "rest: -65 mV", "‹rests: -65 mV", "rest", true},
		{"reset above threshold", "params: {tau: 17 ms, C: 230 pF, rest: -65 mV, reset: -61 mV", "params: ‹{tau: 17 ms, C: 230 pF, rest: -65 mV, reset: -41 mV", "", false},
		{"misspelt distribution", `"normal(-58 mV`, `‹"normel(-58 mV`, "normal", true},
		{"unit missing inside", `"uniform(1 ms, 3 ms)"`, `"uniform(1 ms, 3 ‹mss)"`, "ms", true},
		{"drive in the wrong unit", "constant: 120 pA", "constant: ‹120 pF", "", true},
		{"until before from", "until: 71 ms", "until: ‹69 ms", "", false},
		{"unknown area", "to: retina, rule: all", "to: ‹retinna, rule: all", "retina", false},
		{"unknown rule", "rule: pairwise_bernoulli", "rule: ‹pairwise_bernouli", "pairwise_bernoulli", true},
		{"key of another rule", "indegree: 31", "indegree: 31\n    ‹outdegree: 5", "", false},
		{"weight of no quanta", "weight: 0.75", "weight: ‹0.0004", "", false},
		{"delay of zero", "delay: 1.5 ms", "delay: ‹0 ms", "", false},
		{"neuron outside its area", "neurons: [3, 17]", "neurons: [3, ‹384]", "", false},
		{"merge key", "drive: {constant: 1.25}", "drive: {‹<<: {constant: 1.25}}", "", true},
		{"unknown area to record", "spikes: [retina, cortex]", "spikes: [retina, ‹crotex]", "cortex", false},
		// 5 of syntax
		{"tab", "    leak: 0.1", "\t‹leak: 0.1", "", false},
		{"shallow indentation", "    leak: 0.1", "   ‹leak: 0.1", "", false},
		{"bracket left open", "size: [16, 12, 1]", "size: ‹[16, 12, 1", "", false},
		{"quote left open", "model: feagi", `model: ‹"feagi`, "", false},
		{"no colon", "    excitability: 0.75", "    ‹excitability 0.75", "", false},
	}
}

// plant gives the text with the mistake and the place where it must be found.
func (m planted) plant(t *testing.T) (text string, at Pos) {
	t.Helper()
	if strings.Count(base, m.old) == 0 {
		t.Fatalf("base does not hold %q", m.old)
	}
	text = strings.Replace(base, m.old, m.new, 1)
	mark := strings.Index(text, "‹")
	if mark < 0 {
		t.Fatal("no mark")
	}
	return strings.Replace(text, "‹", "", 1), position([]byte(text), mark)
}

// The base must be sound, or every case would pass for the wrong reason.
func TestBaseGenomeIsValid(t *testing.T) {
	if _, err := Parse("base.yaml", []byte(base), nil); err != nil {
		t.Fatal(err)
	}
}

// Every planted mistake must be found in its line and column, alone, and with the right suggestion where it has one.
func TestMistakes(t *testing.T) {
	if n := len(mistakes()); n != 60 {
		t.Fatalf("%d mistakes, want 60", n)
	}
	for _, m := range mistakes() {
		t.Run(m.name, func(t *testing.T) {
			text, at := m.plant(t)
			_, err := Parse("planted.yaml", []byte(text), nil)
			var faults Faults
			if !errors.As(err, &faults) {
				t.Fatalf("no faults found: %v", err)
			}
			f := faults[0]
			if f.Line != at.Line || f.Column != at.Column {
				t.Errorf("found at %d:%d, want %d:%d\n%v", f.Line, f.Column, at.Line, at.Column, err)
			}
			if len(faults) != 1 {
				t.Errorf("%d faults, want 1:\n%v", len(faults), err)
			}
			if want := strings.Split(text, "\n")[at.Line-1]; f.Source != want {
				t.Errorf("source line %q, want %q", f.Source, want)
			}
			if f.Suggestion != m.suggestion {
				t.Errorf("suggestion %q, want %q", f.Suggestion, m.suggestion)
			}
		})
	}
}

// All mistakes of a text must come in one run, in order.
func TestAllFaultsAtOnce(t *testing.T) {
	text := base
	n := 0
	for _, m := range mistakes() {
		switch m.name {
		case "negative seed", "misspelt unit", "leak above 1", "misspelt parameter of lif", "unknown rule", "neuron outside its area":
			text = strings.Replace(text, m.old, strings.Replace(m.new, "‹", "", 1), 1)
			n++
		}
	}
	_, err := Parse("many.yaml", []byte(text), nil)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != n {
		t.Fatalf("want %d faults, got:\n%v", n, err)
	}
	for i := 1; i < len(faults); i++ {
		if faults[i].Line <= faults[i-1].Line {
			t.Errorf("fault %d in line %d after line %d", i, faults[i].Line, faults[i-1].Line)
		}
	}
}

// The report must look like a compiler's.
func TestReport(t *testing.T) {
	text := strings.Replace(base, "threshold: 1.5", "threshhold: 1.5", 1)
	_, err := Parse("net.yaml", []byte(text), nil)
	if err == nil {
		t.Fatal("no fault")
	}
	lines := strings.Split(err.Error(), "\n")
	if !strings.HasPrefix(lines[0], "net.yaml:17:5: areas[1].threshhold: unknown key, wanted") {
		t.Errorf("first line %q", lines[0])
	}
	if lines[1] != "        threshhold: 1.5" || lines[2] != "        ^" || lines[3] != `did you mean "threshold"?` {
		t.Errorf("report is\n%v", err)
	}
}

// A long source line must be cut around the caret, and control characters must not reach a terminal.
func TestReportOfLongLine(t *testing.T) {
	text := "burst: v1\nareas: [{name: a, neurons: 3}]\nname: \"" + strings.Repeat("x", 300) + "\\e[31m\"\n"
	_, err := Parse("net.yaml", []byte(text), nil)
	if err == nil {
		t.Fatal("no fault")
	}
	if strings.ContainsRune(err.Error(), '\x1b') {
		t.Error("the report holds an escape")
	}
	for _, line := range strings.Split(err.Error(), "\n")[1:] {
		if len(line) > 150 {
			t.Errorf("a line of %d characters", len(line))
		}
	}
}

// What stands in a genome can be pointed at after parsing.
func TestFaultAfterParsing(t *testing.T) {
	g, err := Parse("net.yaml", []byte(base), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = g.Fault(g.Projections[2].Pos, "projections[2].weight", "sum %d found", 7)
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatal("no Faults")
	}
	if f := faults[0]; f.Line != 35 || f.Column != 5 || f.Source != "  - from: cortex" || f.File != "net.yaml" || f.Message != "sum 7 found" {
		t.Errorf("got %+v", f)
	}
	made := &Genome{Name: "made"}
	if err := made.Fault(Pos{}, "areas[0]", "too large"); !strings.Contains(err.Error(), "made:1:1: areas[0]: too large") {
		t.Error(err)
	}
}

// TestCutByCommas: a distribution or formula that lacks its quotes inside braces or brackets is one fault, which gives the text
// with them, and not a fault of each piece.
func TestCutByCommas(t *testing.T) {
	for name, c := range map[string]struct{ text, at, suggestion string }{
		"delay": {"projections: [{from: a, to: a, rule: all_to_all, delay: uniform(1 ms, 20 ms), weight: 1}]", "uniform(", `"uniform(1 ms, 20 ms)"`},
		"end":   {"projections: [{from: a, to: a, rule: all_to_all, weight: clip(normal(1, 2), 0, 5)}]", "clip(", `"clip(normal(1, 2), 0, 5)"`},
		"init":  {"projections: [{from: a, to: a, rule: all_to_all, weight:\n  normal(1,\n    2)}]", "normal(", `"normal(1, 2)"`},
	} {
		t.Run(name, func(t *testing.T) {
			text := "burst: v1\nareas: [{name: a, neurons: 3}]\n" + c.text + "\n"
			_, err := Parse("cut.yaml", []byte(text), nil)
			var faults Faults
			if !errors.As(err, &faults) || len(faults) != 1 {
				t.Fatalf("want one fault, got %v", err)
			}
			want := position([]byte(text), strings.Index(text, c.at))
			if f := faults[0]; f.Suggestion != c.suggestion || f.Line != want.Line || f.Column != want.Column || !strings.Contains(f.Message, "needs quotes") {
				t.Errorf("%v", f)
			}
		})
	}
	_, err := Parse("list.yaml", []byte("burst: v1\nmodels: [{name: m, state: {v: 0}, update: [v = max(v, input)], threshold: v > 1}]\nareas: [{name: a, neurons: 3, model: m}]\n"), nil)
	var faults Faults
	if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Suggestion != `"v = max(v, input)"` {
		t.Errorf("want one fault, got %v", err)
	}
}

// TestFaultInLongLine: a fault far to the right, as in JSON without line breaks, is shown at its place.
func TestFaultInLongLine(t *testing.T) {
	for _, sign := range []string{"-", "ä", "神"} {
		for _, before := range []int{10, 4000, 4090, 5000, 70_000} {
			text := []byte(strings.Repeat(sign, before) + "HERE" + strings.Repeat(sign, 6000) + "\nsecond")
			f := (&source{name: "long.json", text: text}).fault(Pos{1, before + 1}, "", "", "found")
			lines := strings.Split(f.Error(), "\n")
			if f.Column != before+1 || len(f.Source) > 4096+8 {
				t.Errorf("column %d, %d bytes", f.Column, len(f.Source))
			}
			if caret := []rune(lines[2]); len(caret) > len([]rune(lines[1])) || string([]rune(lines[1])[len(caret)-1:][:4]) != "HERE" {
				t.Errorf("%d of %q: %q\n%q", before, sign, lines[1], lines[2])
			}
		}
	}
}
