package genome

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/internal/formula"
)

// learns is a genome with rules of its own and no mistakes; each case below plants one.
const learns = `burst: v1
timestep: 0.1 ms
models:
  - {name: inner, input: pA, ports: [up, down], state: {v: 0 mV, slow: 0}, update: [v = v + up - down, slow = v], threshold: v > 1}
  - {name: plain, state: {v: 0}, update: [v = v + input], threshold: v > 1}
plasticity:
  - name: all of it
    params: {tau: 20 ms, A: 0.1 weight, mu: 0.4, w_max: 200 pA, rec: 100 ms, period: 1 ms, late: 2, one: 1}
    constants: {half: A/2, longer: 2*tau}
    pre: {x: {tau: tau, add: 1}, z: {tau: longer, set: half}}
    post: {y: {tau: 30 ms, add: one}}
    source: {r: 1, u: mu}
    synapse: {c: 0}
    target: [slow]
    modulators: {da: {from: vta, tau: 200 ms, add: 0.5, delay: late}}
    bounds: [0, w_max]
    on_source: ["r = select(first, 1, r*decay(rec))", "u = u*decay(longer)"]
    on_post: ["w = w + A*pow(w, mu)*x", "c = c + z*slow"]
    on_pre: ["w = w - select(post, 0, half*y)", "out = w*(r*u)"]
    every: {bursts: period, do: ["w = w + da*c", "c = c*0.9"]}
  - name: by voltage
    params: {over: -40 mV}
    post: {when: v > over}
    target: [v]
    bounds: [0, 4]
    on_post: [w = w + 0.1]
areas:
  - {name: a, neurons: 30, model: inner}
  - {name: vta, neurons: 30, aliases: [V+]}
  - {name: many, neurons: 30, divide_psp: true}
  - {name: twice, neurons: 30, psp: 2}
  - {name: p, neurons: 30, model: plain}
  - {name: none, neurons: 30, model: poisson, params: {rate: 5 Hz}}
projections:
  - {from: a, to: a, rule: all_to_all, weight: 45 pA, delay: 1.5 ms, plasticity: {rule: all of it, A: 2 pA, mu: 1, bounds: [1 pA, 0.3 nA]}, back: 1.5 ms}
  - {from: a, to: a, rule: one_to_one, weight: "uniform(10 pA, 20 pA)", delay: "uniform(1 ms, 2 ms)", plasticity: stdp}
  - {from: twice, to: p, rule: one_to_one, weight: 1.5, plasticity: by voltage}
  - {from: a, to: p, rule: one_to_one, weight: 0, plasticity: {rule: stdp_dopamine, da: V+, delay: 3}}
  - {from: a, to: p, rule: one_to_one, weight: 7, plasticity: {rule: feagi, window: 2, bounds: [0, 99]}}
  - {from: p, to: a, rule: one_to_one, weight: -7 pA, plasticity: {rule: vogels, eta: 1 pA, w_max: 10 pA}}
`

func TestPlasticity(t *testing.T) {
	g, err := Parse("learns.yaml", []byte(learns), nil)
	require.NoError(t, err)
	require.NoError(t, validate(t, compiled(t), learns))
	l := g.Projections[0].Learning
	r := l.Rule
	assert.Equal(t, map[string]float64{"tau": 20, "A": 2, "mu": 1, "w_max": 200, "rec": 100, "period": 1, "late": 2, "one": 1}, l.Params)
	assert.Equal(t, []float64{1, 300, 15, 10, 2}, []float64{l.Lo, l.Hi, l.Back, float64(r.Every), r.Modulators[0].Delay})
	assert.Equal(t, "vta", r.Modulators[0].From)
	assert.Equal(t, Trace{Name: "z", Tau: RuleValue{Name: "longer", Dim: Time}, Amount: RuleValue{Name: "half"}, Set: true}, r.Pre[1])
	assert.Equal(t, []float64{40, 1, 30}, []float64{l.Value(r.Pre[1].Tau, 0.1), l.Value(r.Pre[1].Amount, 0.1), l.Value(r.Post[0].Tau, 0.1)})
	assert.Equal(t, []RuleValue{{Number: 1}, {Name: "mu"}}, []RuleValue{r.Source[0].Start, r.Source[1].Start})
	assert.Equal(t, []string{"slow"}, r.Target)
	assert.NotNil(t, r.Definition().OnSource)
	assert.Greater(t, len(g.Plasticity[0].Definition().OnPost.Program.Code), 300, "a pow")
	assert.Less(t, len(r.Definition().OnPost.Program.Code), 20, "none where mu is 1")
	assert.Zero(t, g.Plasticity[0].Every)

	assert.Equal(t, "stdp", g.Projections[1].Learning.Rule.Name)
	assert.Equal(t, [2]float64{0, 100}, [2]float64{g.Projections[1].Learning.Lo, g.Projections[1].Learning.Hi})
	assert.True(t, g.Projections[2].Learning.Rule.When)
	dopamine := g.Projections[3].Learning.Rule
	assert.Equal(t, []any{"V+", 3.0, uint64(100)}, []any{dopamine.Modulators[0].From, dopamine.Modulators[0].Delay, dopamine.Every})
	assert.Equal(t, "", shipped()[shippedIndex(t, "stdp_dopamine")].Modulators[0].From, "what a projection says stays there")
	assert.Equal(t, WindowRelease, g.Projections[4].Learning.Rule.Window)
	assert.Equal(t, [2]float64{-10, 0}, [2]float64{g.Projections[5].Learning.Lo, g.Projections[5].Learning.Hi})

	again, err := g.With([]string{"projections.0.plasticity.mu=0.7", "plasticity.by voltage.params.over=-50 mV"})
	require.NoError(t, err)
	assert.Equal(t, 0.7, again.Projections[0].Learning.Params["mu"])
	assert.Equal(t, -50.0, again.Projections[2].Learning.Params["over"])
}

func shippedIndex(t *testing.T, name string) int {
	t.Helper()
	for i, r := range Plasticities() {
		if r.Name == name {
			return i
		}
	}
	t.Fatal(name)
	return 0
}

func TestPlasticityMistakes(t *testing.T) {
	const first = "weight: 45 pA, delay: 1.5 ms, plasticity: {rule: all of it, A: 2 pA, mu: 1, bounds: [1 pA, 0.3 nA]}, back: 1.5 ms"
	with := func(plasticity string) string { return strings.Split(first, "plasticity")[0] + plasticity }
	for _, c := range []struct{ name, old, new, message, suggestion string }{
		// of rules
		{"misspelt key", "    on_post: [\"w = w + A", "    ‹on_pots: [\"w = w + A", "unknown key", "on_post"},
		{"rule twice", "name: by voltage", "name: ‹all of it", "no other rule has", ""},
		{"name of a built-in", "name: by voltage", "name: ‹stdp", "no other rule has", ""},
		{"no bounds", "    bounds: [0, 4]\n", "", `key "bounds" is missing`, ""},
		{"one bound", "bounds: [0, 4]", "bounds: ‹[4]", "a list of 2", ""},
		{"bound of no number", "bounds: [0, w_max]", "bounds: [0, ‹w_mxa]", "the name of a parameter or constant", "w_max"},
		{"bound in ms", "bounds: [0, w_max]", "bounds: [0, ‹5 ms]", "found 5 ms", ""},
		{"bound of a time", "bounds: [0, w_max]", "bounds: [0, ‹tau]", "a parameter that is a time", ""},
		{"no handlers", "    on_post: [w = w + 0.1]\n", "", "at least one of on_pre, on_post, on_source and every, found none", ""},
		{"name twice", "synapse: {c: 0}", "synapse: {‹x: 0}", "already stands for a trace of the source", ""},
		{"reserved name", "synapse: {c: 0}", "synapse: {‹age_pre: 0}", "not reserved in expressions", ""},
		{"start that is drawn", "synapse: {c: 0}", "synapse: {c: ‹\"uniform(0, 1)\"}", "found the distribution uniform(0, 1)", ""},
		{"start of a column", "synapse: {c: 0}", "synapse: {c: ‹\"column(c.csv, c)\"}", "found the column column(c.csv, c)", ""},
		{"parameter that is drawn", "late: 2,", "late: ‹\"uniform(1, 2)\",", "which all synapses of a projection share", ""},
		{"parameter called rule", "late: 2,", "late: 2, rule: ‹1,", "as a key", ""},
		{"parameter called overflow", "late: 2,", "late: 2, overflow: ‹1,", "another name for a parameter, found overflow", ""},
		{"modulator called bounds", "modulators: {da:", "modulators: {bounds: ‹{from: vta, tau: 9 ms, add: 1}, da:", "another name for a modulator, found bounds", ""},
		{"variable called overflow", "synapse: {c: 0}", "synapse: {c: 0, overflow: ‹0}", "another name for a variable, found overflow", ""},
		{"parameter without a unit known", "late: 2,", "late: 2 ‹wieght,", "unknown unit", "weight"},
		{"add or set", "{tau: tau, add: 1}", "{tau: tau, add: 1, ‹set: 1}", "expects either add or set, found both", ""},
		{"expects add or set, found neither", "{tau: tau, add: 1}", "‹{tau: tau}", "expects add or set, found neither", ""},
		{"no tau", "{tau: tau, add: 1}", "‹{add: 1}", `key "tau" is missing`, ""},
		{"tau without a unit", "{tau: 30 ms, add: one}", "{tau: ‹30, add: one}", "expects a time", ""},
		{"tau of nothing", "{tau: 30 ms, add: one}", "{tau: ‹0 ms, add: one}", "above 0 ms", ""},
		{"tau misspelt", "{tau: tau, add: 1}", "{tau: ‹tua, add: 1}", "which is not one of them", "tau"},
		{"tau of a number", "{tau: tau, add: 1}", "{tau: ‹mu, add: 1}", "a parameter that is a plain number", ""},
		{"trace that is not declared", "half*y", "half*‹yy", "unknown name", "y"},
		{"misspelt parameter", "A*pow(w, mu)", "A*pow(w, ‹um)", "unknown name", "mu"},
		{"source variable in on_post", "c + z*slow", "c + z*‹u", "a variable of the source; it may stand only in on_pre and on_source", ""},
		{"source variable in every", "c*0.9", "c*‹r", "a variable of the source; it may stand only in on_pre and on_source", ""},
		{"weight in on_source", "u*decay(longer)", "u*‹w", "the weight; it may stand only in", ""},
		{"decay in on_pre", "half*y", "half*‹decay(tau)", "may stand only in on_source", ""},
		{"decay of a variable", "u*decay(longer)", "u*decay(‹r)", "the name of a parameter or constant, found", ""},
		{"total in on_pre", "half*y", "half*‹total", "may stand only in every", ""},
		{"own flag", "select(post,", "select(‹pre,", "may stand only in on_post", ""},
		{"out in on_post", "\"c = c + z", "‹\"out = c + z", "may stand only in on_pre", ""},
		{"unknown constant", "half: A/2", "half: ‹B/2", "unknown name", ""},
		{"condition that is none", "when: v > over", "when: ‹v + over", ", found a number", ""},
		{"condition on a weight", "when: v > over", "when: ‹w > over", "the weight; it may stand only in", ""},
		{"every 0 bursts", "bursts: period", "bursts: ‹0", "expects bursts 1…", ""},
		{"every half a burst", "bursts: period", "bursts: ‹0.16 ms", "whole bursts", "0.2 ms"},
		{"every pA", "bursts: period", "bursts: ‹w_max", "a parameter that is a current", ""},
		{"sweep of nothing", "every: {bursts: period, do: [\"w = w + da*c\", \"c = c*0.9\"]}", "every: ‹{bursts: period}", `key "do" is missing`, ""},
		{"modulator from nowhere", "from: vta", "from: ‹vtb", "which no area has", "vta"},
		{"modulator too late", "delay: late", "delay: ‹65536", "expects bursts 1…65535", ""},
		{"modulator at once", "delay: late", "delay: ‹0", "expects bursts 1…65535", ""},
		{"source alone", "    on_source: [\"r = select(first, 1, r*decay(rec))\", \"u = u*decay(longer)\"]\n", "", "found source alone", ""},
		{"two powers too many", "A*pow(w, mu)*x", "A*pow(w, mu)*pow(x, mu)*pow(slow, mu)", "at most 1024 operations", ""},

		// of projections
		{"unknown rule", "plasticity: stdp}", "plasticity: ‹sdtp}", "expects one of all of it, by voltage, stdp", "stdp"},
		{"NEST's name", "plasticity: stdp}", "plasticity: ‹stdp_synapse}", "a name of another simulator", "stdp"},
		{"no rule", "{rule: feagi, window: 2,", "‹{window: 2,", `key "rule" is missing`, ""},
		{"unknown parameter", "A: 2 pA, mu: 1", "A: 2 pA, ‹nu: 1", "unknown key", "mu"},
		{"parameter in the wrong unit", "A: 2 pA", "A: ‹2 mV", "expects a current such as 100 pA or a weight such as 1 weight, found 2 mV", ""},
		{"parameter drawn by a projection", "A: 2 pA", "A: ‹\"normal(2 pA, 1 pA) > 0 pA\"", "which the rule reads by its key target", ""},
		{"parameter without a unit", "A: 2 pA", "A: ‹2", "found 2 without a unit", ""},
		{"parameter out of its range", "{rule: vogels, eta: 1 pA, w_max: 10 pA}", "{rule: vogels, eta: 1 pA, w_max: ‹-10 pA}", "expects a weight above 0 weight", ""},
		{"parameter at the open end of its range", "{rule: vogels, eta: 1 pA, w_max: 10 pA}", "{rule: vogels, eta: 1 pA, w_max: ‹0 pA}", "expects a weight above 0 weight", ""},
		{"window of halves", "window: 2", "window: ‹2.5", "expects a whole number", ""},
		{"bounds in the wrong unit", "[1 pA, 0.3 nA]", "‹[1 mV, 3 mV]", "expects bounds in the unit of the weights onto a, a current such as 100 pA, found 1 mV, which is a voltage", ""},
		{"bounds without a unit", "[1 pA, 0.3 nA]", "‹[0, 5]", "found 5, which is a plain number", ""},
		{"the rule's bounds in another unit", "from: twice, to: p, rule: one_to_one, weight: 1.5, plasticity: by", "from: twice, to: a, rule: one_to_one, weight: 1 pA, plasticity: ‹by", "a current such as 100 pA, found 4, which is a plain number", ""},
		{"variable below its range", "{rule: stdp_dopamine, da: V+, delay: 3}", "{rule: tsodyks_markram_per_synapse, w_max: 9, U: ‹\"normal(0.5, 0.25) < 1\"}", "expects a plain number 0…1 in every draw", ""},
		{"variable in another unit", "{rule: stdp_dopamine, da: V+, delay: 3}", "{rule: tsodyks_markram_per_synapse, w_max: 9, tau_rec: \"uniform(‹0 mV, 1 mV)\"}", "expects a time", ""},
		{"variable by column", "{rule: stdp_dopamine, da: V+, delay: 3}", "{rule: tsodyks_markram_per_synapse, w_max: 9, U: ‹\"column(a.csv, U)\"}", "found the column column(a.csv, U); columns want the rule edges", ""},
		{"variable of no such name", "{rule: stdp_dopamine, da: V+, delay: 3}", "{rule: tsodyks_markram_per_synapse, ‹V: 1}", "unknown key", ""},
		{"variable with the name of a key", "synapse: {c: 0}", "synapse: {bounds: ‹0, c: 0}", "expects another name for a variable", ""},
		{"bounds turned", "[1 pA, 0.3 nA]", "‹[300 pA, 1 pA]", "expects the lower bound first", ""},
		{"bounds across 0", "[1 pA, 0.3 nA]", "‹[-1 pA, 300 pA]", "on one side of 0", ""},
		{"power of what is negative", first, with("plasticity: {rule: all of it, bounds: ‹[-300 pA, 0 pA]}"), "takes pow of w", ""},
		{"no bounds at all", "{rule: feagi, window: 2, bounds: [0, 99]}", "‹feagi", `key "bounds" is missing`, ""},
		{"weight outside", "weight: 45 pA", "weight: ‹450 pA", "within the bounds 1…300", ""},
		{"weights outside", "\"uniform(10 pA, 20 pA)\"", "‹\"uniform(10 pA, 120 pA)\"", "within the bounds 0…100", ""},
		{"weight outside by psp", "weight: 1.5, plasticity: by", "weight: ‹2.5, plasticity: by", "found 5, with the psp of twice", ""},
		{"divided weights", "from: a, to: p, rule: one_to_one, weight: 7, plasticity: {", "from: many, to: p, rule: one_to_one, weight: 7, plasticity: ‹stdp} #", "expects one of FEAGI's rules, or a source area without divide_psp, found the rule stdp", ""},
		{"overflow of another rule", "{rule: stdp_dopamine, ", "{rule: stdp_dopamine, overflow: ‹fail, ", "found it with the rule stdp_dopamine", ""},
		{"overflow of no kind", "{rule: feagi, ", "{rule: feagi, overflow: ‹fall, ", "expects one of refuse, fail, found fall", "fail"},
		{"merge", "weight: 7, plasticity", "weight: 7, ‹merge: true, plasticity", "expects either merge or plasticity, found both", ""},
		{"target without the variables", "to: p, rule: one_to_one, weight: 1.5, plasticity: by", "to: vta, rule: one_to_one, weight: 1.5, plasticity: ‹by", "expects a target whose model has the state variables v, found vta, whose model feagi has V and no v", ""},
		{"source as target", "from: twice, to: p", "from: twice, to: ‹none", "takes input", ""},
		{"back beyond the delay", "back: 1.5 ms", "back: ‹1.6 ms", "at most the delay, 15 bursts, found 16", ""},
		{"back of drawn delays", "plasticity: stdp}", "plasticity: stdp, back: ‹1 ms}", "where delays differ", ""},
		{"back with a condition", "plasticity: by voltage}", "plasticity: by voltage, back: ‹1}", "set by a condition", ""},
		{"back of FEAGI's", "bounds: [0, 99]}}", "bounds: [0, 99]}, back: ‹1}", "at the time when they are fired", ""},
		{"back alone", "plasticity: stdp}", "‹back: 1 ms}", "expects back only beside plasticity", ""},
		{"no dopamine", "{rule: stdp_dopamine, da: V+, delay: 3}", "‹stdp_dopamine", "as in {rule: stdp_dopamine, da: AREA}", ""},
		{"dopamine from nowhere", "da: V+", "da: ‹V-", "which no area has", "V+"},
		{"time constant of nothing", "{rule: all of it, A: 2 pA", "{rule: all of it, tau: ‹-1 ms, A: 2 pA", "expects a time constant above 0 ms", ""},
		{"sweeps between bursts", "{rule: all of it, A: 2 pA", "{rule: all of it, period: ‹0.25 ms, A: 2 pA", "whole bursts", "0.3 ms"},
		{"decay of less than nothing", "{rule: all of it, A: 2 pA", "{rule: all of it, rec: ‹-1 ms, A: 2 pA", "expects a time of at least 0 ms", ""},
		{"constant that is none", "half: A/2", "half: A/2, third: A/(one - 1)", "expects a finite constant third", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			marked := strings.Replace(learns, c.old, c.new, 1)
			require.NotEqual(t, learns, marked, "nothing planted")
			before, _, found := strings.Cut(marked, "‹")
			text := strings.Replace(marked, "‹", "", 1)
			_, err := Parse("learns.yaml", []byte(text), nil)
			var faults Faults
			require.True(t, errors.As(err, &faults), "taken: %v", err)
			want := position([]byte(text), len(before))
			for _, f := range faults {
				if strings.Contains(f.Message, c.message) && f.Suggestion == c.suggestion && (!found || f.Line == want.Line && f.Column == want.Column) {
					return
				}
			}
			t.Errorf("wanted %q at %v, suggestion %q:\n%v", c.message, want, c.suggestion, err)
		})
	}
	text := "burst: v1\nareas: [{name: a, neurons: 3}]\nprojections: [{rule: edges, file: e.csv, ‹plasticity: stdp}]\n"
	_, err := Parse("list.yaml", []byte(strings.Replace(text, "‹", "", 1)), square)
	require.ErrorContains(t, err, "found it with a list of the whole network")
}

// TestShippedRules: every rule that comes with burst says what it is, and can be used.
func TestShippedRules(t *testing.T) {
	more := map[string]string{
		"stdp_dopamine": "da: vta", "feagi": "bounds: [0, 100]", "off": "bounds: [0, 100]", "feagi-python": "bounds: [0, 100]", "vogels": "bounds: [-5, 5]", "clopath": "w_max: 5",
	}
	for _, r := range Plasticities() {
		require.NotEmpty(t, r.Doc)
		require.NotEmpty(t, r.Origin)
		require.Equal(t, r.Window == WindowNone, r.Definition != nil, r.Name)
		if r.Definition != nil {
			require.NotNil(t, r.Definition(), r.Name)
		}
		for _, p := range r.Params {
			require.NotEmpty(t, p.Doc, r.Name)
			require.True(t, p.Min <= p.Default && p.Default <= p.Max && !(p.MinOpen && p.Default == p.Min), "%s %s", r.Name, p.Name)
		}
		use := "{rule: " + r.Name
		if more[r.Name] != "" {
			use += ", " + more[r.Name]
		}
		text := `burst: v1
models: [{name: m, params: {k: 0.5}, state: {V: -70 mV, u_minus: 0, u_plus: 0}, update: [u_minus = V, u_plus = V, V = V + input*k], threshold: V > 1}]
areas: [{name: a, neurons: 3, model: m}, {name: vta, neurons: 3}]
projections: [{from: a, to: a, rule: all_to_all, weight: 1, plasticity: ` + use + "}}]\n"
		g, err := Parse("use.yaml", []byte(text), nil)
		require.NoError(t, err, r.Name)
		require.NoError(t, validate(t, compiled(t), text))
		require.Equal(t, r.Name, g.Projections[0].Learning.Rule.Name)
	}
}

// oneSynapse runs a rule for one synapse, in the plain order of the law, and gives what is delivered with each pre event and the last weight.
// Events are bursts, of the synapse. There are neither sweeps nor conditions.
func oneSynapse(t *testing.T, use string, weight, timestep float64, pre, post []int) (sent []float64, last float64) {
	t.Helper()
	p := &parser{src: &source{}, swept: map[Pos]bool{}, learned: Plasticities(), timestep: timestep,
		g: &Genome{Timestep: timestep, Areas: []Area{{Name: "a", Model: &feagiModel}}}}
	root, faults := readTree(&source{text: []byte("plasticity: " + use)})
	require.Empty(t, faults)
	f, _ := p.fields(root, nil, projectionKeys()[index(projectionKeys(), "plasticity"):][:2])
	pr := &Projection{Weight: Value{A: weight}, Delay: Value{A: 1}}
	k := &learner{p: p, pr: pr, l: &Learning{}, node: f.value[0], to: &p.g.Areas[0]}
	require.True(t, k.chosen() && k.params() && k.resolve() && k.bounds(), "%v", p.faults)
	l, d := k.l, k.rule.Definition()

	type trace struct {
		x    float32
		last int
	}
	decay := func(tau RuleValue, age int) float32 {
		x := l.Value(tau, timestep)
		if x == 0 {
			return 0
		}
		return float32(math.Exp(-float64(age) * timestep / x))
	}
	pres, posts := make([]trace, len(k.rule.Pre)), make([]trace, len(k.rule.Post))
	state, source := []float32{float32(weight)}, []float32{}
	for _, v := range k.rule.Synapse {
		state = append(state, float32(l.Value(v.Start, timestep)))
	}
	for _, v := range k.rule.Source {
		source = append(source, float32(l.Value(v.Start, timestep)))
	}
	fired, now := -1, 0
	run := func(h *formula.Handler, state []float32) []float32 {
		if h == nil {
			return slices.Clone(state)
		}
		n := &formula.Neuron{State: state}
		for _, x := range l.Values(h.Program.Params, timestep) {
			n.Params = append(n.Params, float32(x))
		}
		for _, r := range h.Reads {
			x := float32(0)
			switch r.Kind {
			case formula.ReadPre:
				x = float32(pres[r.K].x * decay(k.rule.Pre[r.K].Tau, now-pres[r.K].last))
			case formula.ReadPost:
				x = float32(posts[r.K].x * decay(k.rule.Post[r.K].Tau, now-posts[r.K].last))
			case formula.ReadSource:
				x = source[r.K]
			case formula.ReadFirst:
				if fired < 0 {
					x = 1
				}
			case formula.ReadDecay:
				if fired >= 0 {
					x = decay(RuleValue{Name: h.Decays[r.K]}, now-fired)
				}
			default:
				t.Fatalf("%+v", r)
			}
			n.Inputs = append(n.Inputs, x)
		}
		next := make([]float32, len(h.Program.Next))
		formula.NewRunner(h.Program).Run(n, next)
		return next
	}
	clamp := func() { state[0] = min(max(state[0], float32(l.Lo)), float32(l.Hi)) + 0 }
	raise := func(list []trace, rules []Trace) {
		for i := range list {
			x := float32(l.Value(rules[i].Amount, timestep))
			if !rules[i].Set {
				x += float32(list[i].x * decay(rules[i].Tau, now-list[i].last))
			}
			list[i] = trace{x, now}
		}
	}
	for len(pre)+len(post) > 0 {
		now = math.MaxInt
		for _, list := range [][]int{pre, post} {
			if len(list) > 0 {
				now = min(now, list[0])
			}
		}
		isPre, isPost := len(pre) > 0 && pre[0] == now, len(post) > 0 && post[0] == now
		if isPost {
			state = run(d.OnPost, state)
			clamp()
			post = post[1:]
		}
		if isPre {
			if d.OnSource != nil {
				source = run(d.OnSource, source)
				fired = now
			}
			next := run(d.OnPre, state)
			state = slices.Clone(next[:len(state)])
			clamp()
			sent = append(sent, float64(append(next[len(state):], state[0])[0]))
			pre = pre[1:]
			raise(pres, k.rule.Pre)
		}
		if isPost {
			raise(posts, k.rule.Post)
		}
	}
	return sent, float64(state[0])
}

// bursts are times of 0.1 ms, moved by a delay.
func bursts(delay int, times ...float64) (list []int) {
	for _, x := range times {
		list = append(list, int(math.Round(10*x))+delay)
	}
	return list
}

// trains are those of NEST's test_stdp_synapse.py, as a synapse of the delay sees them: L = 2·delay.
func trains(delay int) (pre, post []int) {
	return bursts(delay, 1, 5, 6, 7, 9, 11, 12, 13, 14.5, 16.1, 21, 25, 26, 27, 29, 31, 32, 33, 34.5, 36.1),
		bursts(2*delay, 2, 3, 4, 8, 9, 10, 12, 12.2, 14.1, 15.4, 22, 23, 24, 28, 29, 30, 32, 33.2, 35.1, 36.4)
}

// TestPairs holds stdp to NEST's semantics, worked out in float64, with coinciding pairs (delay 1 ms) and without.
func TestPairs(t *testing.T) {
	const rule = "{rule: stdp, tau_plus: 16.8 ms, tau_minus: 33.7 ms, lambda: 0.01, alpha: 0.85, w_max: 15, "
	for _, c := range []struct {
		rest  string
		w     float64
		delay int
		want  []float64
	}{
		{"mu_plus: 0, mu_minus: 0}", 0.5, 1, []float64{0.500000000, 0.535955263, 0.184891199, 0, 0.050589238, 0.583369300, 0, 0.725743372, 0.612636307, 0.496969636, 0, 1.304820540, 0.175585642, 0, 0, 0.798666005, 0, 0, 0, 0, 1.331540380}},
		{"mu_plus: 0, mu_minus: 0}", 0.5, 10, []float64{0.500000000, 0.632928029, 0.272362051, 0, 0.140170055, 0.720028761, 0.057702356, 0.177896755, 0.220650972, 0.227736158, 0.327830264, 1.599927680, 0.440128866, 0, 0, 0.778723866, 0, 0, 0, 0, 1.262084884}},
		{"mu_plus: 1, mu_minus: 1}", 5, 1, []float64{5.000000000, 5.135849527, 5.015648713, 4.901693250, 5.080111251, 5.596647172, 5.356039002, 5.986886611, 6.080462031, 6.170849939, 5.799516501, 6.671092791, 6.168877404, 5.718048144, 5.852428066, 6.474837625, 5.915355800, 6.034725320, 6.140627622, 6.206099053, 6.986728000}},
		{"mu_plus: 0.4, mu_minus: 1}", 5, 1, []float64{5, 5.207878279, 5.085991685, 4.970438030, 5.232495856, 5.954330303, 5.698344804, 6.592964966, 6.800687920, 7.005677192, 6.584107679, 7.822530003, 7.233631745, 6.704988908, 6.921548334, 7.790766225, 7.117576817, 7.309871372, 7.485886316, 7.609958523, 8.613133263}},
	} {
		pre, post := trains(c.delay)
		got, last := oneSynapse(t, rule+c.rest, c.w, 0.1, pre, post)
		got = append(got, last)
		require.Len(t, got, len(c.want))
		for i := range got {
			require.InDelta(t, c.want[i], got[i], 1e-6+1e-6*c.want[i], "%s, delay %d, pre spike %d", c.rest, c.delay, i)
		}
	}
}

// TestNearestPairs holds the three rules of nearest neighbours to the pairs that NEST's synapses take, found by search.
func TestNearestPairs(t *testing.T) {
	const numbers = ", tau_plus: 16.8 ms, tau_minus: 33.7 ms, lambda: 0.01, alpha: 0.85, mu_plus: 0.4, mu_minus: 1, w_max: 15}"
	last := func(list []int, before int) int { // the last event before, 0 if there is none
		found := 0
		for _, x := range list {
			if x < before {
				found = x
			}
		}
		return found
	}
	for _, delay := range []int{1, 10} {
		pre, post := trains(delay)
		for _, name := range []string{"symmetric", "pre_centered", "restricted"} {
			w, want := 5.0, []float64{}
			for now := 1; now < 600; now++ {
				isPre, isPost := last(pre, now+1) == now, last(post, now+1) == now
				up, down := 0.0, 0.0
				from, since := last(pre, now), last(post, now)
				if isPost && from > 0 {
					switch name {
					case "symmetric":
						up = math.Exp(-float64(now-from) / 168)
					case "pre_centered": // all of the source since the last of the target; one with that coincides and comes after
						for _, x := range pre {
							if since <= x && x < now {
								up += math.Exp(-float64(now-x) / 168)
							}
						}
					case "restricted": // the first of the target since the last of the source
						if since <= from {
							up = math.Exp(-float64(now-from) / 168)
						}
					}
				}
				w = math.Min(15, w+0.01*15*math.Pow(1-w/15, 0.4)*up)
				if isPre && since > 0 && (name != "restricted" || last(post, now+1) > from) {
					down = math.Exp(-float64(now-since) / 337)
				}
				w = math.Max(0, w-0.85*0.01*w*down)
				if isPre {
					want = append(want, w)
				}
			}
			want = append(want, w)
			got, end := oneSynapse(t, "{rule: stdp_nearest_"+name+numbers, 5, 0.1, pre, post)
			got = append(got, end)
			require.Len(t, got, len(want))
			for i := range got {
				require.InDelta(t, want[i], got[i], 1e-5, "%s, delay %d, pre spike %d", name, delay, i)
			}
		}
	}
}

// TestTriplets holds stdp_triplet to the published protocol: 60 pairs, 10 ms apart.
func TestTriplets(t *testing.T) {
	for _, c := range []struct {
		rate, lead, want float64
	}{{20, 10, 0.246961969}, {50, 10, 0.740905520}, {10, -10, -0.333622996}, {50, -10, 0.727247175}} {
		var pre, post []float64
		for i := range 60 {
			at := 100 + float64(i)*1000/c.rate
			pre, post = append(pre, at), append(post, at+c.lead)
		}
		_, w := oneSynapse(t, "{rule: stdp_triplet, bounds: [-9, 9]}", 1, 0.1, bursts(0, pre...), bursts(0, post...))
		require.InDelta(t, 1+c.want, w, 1e-5, "%v", c)
	}
}

// TestInhibition holds vogels to what a pair does, whichever comes first.
func TestInhibition(t *testing.T) {
	for gap, want := range map[float64]float64{5: 6.788007831e-4, 10: 5.065306597e-4, 20: 2.678794412e-4, -20: 2.678794412e-4, 40: 3.533523e-5, 0: -1e-4} {
		_, w := oneSynapse(t, "{rule: vogels, eta: 0.001, rho: 2.5 Hz, w_max: 2}", -1, 0.1, bursts(0, 100), bursts(0, 100+gap))
		require.InDelta(t, -1-want, w, 1e-6, "%v", gap)
	}
}

// TestResources holds tsodyks_markram to what it delivers.
func TestResources(t *testing.T) {
	for use, want := range map[string][]float64{
		"U: 0.5, tau_rec: 800 ms, tau_fac: 0 ms":     {0.5, 0.265146734, 0.154834621, 0.103020302, 0.078682777},
		"U: 0.04, tau_rec: 100 ms, tau_fac: 1000 ms": {0.04, 0.074670566, 0.103289581, 0.126443069, 0.145160455},
	} {
		sent, w := oneSynapse(t, "{rule: tsodyks_markram, "+use+"}", 1, 0.1, bursts(0, 10, 60, 110, 160, 210), nil)
		require.Equal(t, 1.0, w)
		require.Len(t, sent, 5)
		for i := range sent {
			require.InEpsilon(t, want[i], sent[i], 1e-5)
		}
	}
}
