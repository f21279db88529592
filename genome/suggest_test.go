package genome

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/internal/slow"
)

// written is the value or key that stands at a fault's place, as the text has it.
func written(f *Fault) string {
	line := []rune(f.Source)
	rest := string(line[min(f.Column-1-f.before, len(line)):])
	if rest != "" && (rest[0] == '"' || rest[0] == '\'') {
		if end := strings.IndexByte(rest[1:], rest[0]); end >= 0 {
			return rest[:end+2]
		}
	}
	if end := strings.IndexAny(rest, ":,]}#"); end >= 0 {
		rest = rest[:end]
	}
	return strings.TrimSpace(rest)
}

// differs holds every suggestion of an error against what stands at its place.
func differs(t *testing.T, text string) (suggestions int) {
	t.Helper()
	_, err := Parse("text.yaml", []byte(text), nil)
	var faults Faults
	if !errors.As(err, &faults) {
		return 0
	}
	for i := range faults {
		f := &faults[i]
		if f.Suggestion == "" {
			continue
		}
		suggestions++
		if was := written(f); f.Suggestion == was || f.meant() == was {
			t.Errorf("a suggestion says what was written:\n%v", f)
		}
	}
	return suggestions
}

// TestSuggestionsDiffer: no suggestion says what was written: of the mistakes of the tests, of values where others are wanted,
// plain, in either quotes, and of texts with random slips.
func TestSuggestionsDiffer(t *testing.T) {
	slow.Short(t)
	suggestions := 0
	for _, m := range mistakes() {
		text, _ := m.plant(t)
		suggestions += differs(t, text)
	}
	values := []string{"0.1*exp(-d/0.2)", "1.5", "-042", "1e2", "10%", "1_000", "5 MS", "True", "auto", "Lif", "normal(1, 2)", "normal(1 mV, 2 mV) > 0 mV", "Cortex", "a/b", "12", "V_th", "0.1 mV "}
	for i, line := range strings.SplitAfter(base, "\n") {
		key, _, found := strings.Cut(line, ": ")
		if !found {
			continue
		}
		for j, v := range values {
			for _, quote := range []string{"", []string{`"`, "'"}[j%2]} {
				lines := strings.SplitAfter(base, "\n")
				lines[i] = key + ": " + quote + v + quote + "\n"
				suggestions += differs(t, strings.Join(lines, ""))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		text := []byte(base)
		for range 1 + r.IntN(3) {
			at := r.IntN(len(text))
			switch r.IntN(3) {
			case 0:
				text[at] = " abcVS_019.\"-"[r.IntN(13)]
			case 1:
				text = append(text[:at], text[at+1:]...)
			default:
				text[at], text[max(0, at-1)] = text[max(0, at-1)], text[at]
			}
		}
		suggestions += differs(t, string(text))
	}
	assert.Greater(t, suggestions, 400, "suggestions looked at")
}

// TestNearest: a word is never told itself, whatever else is near.
func TestNearest(t *testing.T) {
	all := append(theirs(), "threshold", "rest", "reset", "a", "lif", "LIF", "Lif", "feagi", "poisson")
	for _, word := range all {
		require.NotEqual(t, word, Nearest(word, all), word)
	}
	require.Equal(t, "LIF", Nearest("lif", []string{"lif", "LIF"}))
	require.Empty(t, Nearest("lif", []string{"lif"}))
}

// theirs are all names of the list.
func theirs() (names []string) {
	for _, f := range foreigners() {
		names = append(names, strings.Fields(f.theirs)...)
	}
	return names
}

// TestForeignNames: each name of another simulator is in the list once, is no name of ours in any place, and leads to names that
// are there.
func TestForeignNames(t *testing.T) {
	ours := map[string]bool{}
	var collect func(keys []key)
	collect = func(keys []key) {
		for _, k := range keys {
			ours[k.Name] = true
			for _, c := range k.Choices {
				ours[c] = true
			}
			collect(k.Keys)
			if k.Item != nil {
				collect([]key{*k.Item})
			}
		}
	}
	collect(topKeys())
	for _, r := range Plasticities() {
		ours[r.Name] = true
		for i := range r.Params {
			ours[r.Params[i].Name] = true
		}
	}
	seen := map[string]bool{}
	for _, f := range foreigners() {
		assert.NotEmpty(t, f.say)
		if f.ours != "" {
			assert.True(t, ours[f.ours], f.ours)
		}
		for _, name := range strings.Fields(f.theirs) {
			assert.False(t, seen[name], "%s stands twice", name)
			assert.False(t, ours[name] && !strings.HasPrefix(name, "tau_syn") && name != "I_e", "%s is ours too", name)
			seen[name] = true
		}
	}
}

// TestNamesOfOtherSimulators: a user of NEST or Brian2 is told what there is here, in one fault at the name.
func TestNamesOfOtherSimulators(t *testing.T) {
	const two = "areas: [{name: a, neurons: 3}, {name: b, neurons: 3, model: lif_psc_exp}]\n"
	for name, c := range map[string]slip{
		"model that is here":      inArea("model: ‹iaf_psc_exp_ps", "model", "in a small timestep", ""),
		"model that is not":       inArea("model: ‹hh_psc_alpha", "model", "write it under models:", ""),
		"another that is not":     inArea("model: ‹iaf_chs_2007", "model", "write it under models:", ""),
		"misspelt":                inArea("model: ‹iaf_cond_epx", "model", "expects one of feagi", "iaf_cond_exp"),
		"generator":               inArea("model: ‹poisson_generator", "model", "drive: {poisson:", ""),
		"listed generator":        inArea("model: ‹spike_generator", "model", "spike_list", "spike_list"),
		"noise":                   inArea("model: ‹noise_generator", "model", "no drive holds a random current", ""),
		"group of Poisson":        inArea("model: ‹PoissonGroup", "model", "model poisson", "poisson"),
		"threshold":               inArea("model: lif, params: {‹V_th: 3 mV}", "params.V_th", "called threshold", "threshold"),
		"threshold in the area":   inArea("model: lif, ‹V_th: 3 mV", "V_th", "called threshold", "threshold"),
		"rest in the area":        inArea("model: lif, ‹E_L: 3 mV", "E_L", "a parameter under params", ""),
		"current":                 inArea("model: lif, params: {‹I_e: 3 pA}", "params.I_e", "drive: {constant: …}", ""),
		"potential":               inArea("model: lif, params: {‹V_m: 3 mV}", "params.V_m", "init: {V: …}", ""),
		"potential under init":    inArea("model: lif, init: {‹V_m: 3 mV}", "init.V_m", "called V", "V"),
		"synaptic current of lif": inArea("model: lif, params: {‹tau_syn_ex: 3 ms}", "params.tau_syn_ex", "models whose synapses last", ""),
		"rule":                    {two + "projections: [{from: a, to: a, rule: ‹fixed_probability, weight: 1}]", "projections[0].rule", "pairwise_bernoulli does the same", "pairwise_bernoulli"},
		"rule that is not":        {two + "projections: [{from: a, to: a, rule: ‹tripartite_bernoulli_with_pool, weight: 1}]", "projections[0].rule", "no rule does the same", ""},
		"autapses":                {two + "projections: [{from: a, to: a, rule: all_to_all, ‹allow_autapses: true, weight: 1}]", "projections[0].allow_autapses", "called autapses", "autapses"},
		"syn_spec":                {two + "projections: [{from: a, to: a, rule: all_to_all, ‹syn_spec: {}, weight: 1}]", "projections[0].syn_spec", "in the projection itself", ""},
		"monitor":                 {two + "‹SpikeMonitor: a", "SpikeMonitor", "record: {spikes: [AREA]}", ""},
		"step":                    {two + "‹dt: 1 ms", "dt", "called timestep", "timestep"},
	} {
		t.Run(name, func(t *testing.T) { oneFault(t, &c) })
	}
	for _, key := range []string{"tau_syn_ex: 2 ms", "tau_syn_in: 2 ms", "tau_syn: 2 ms"} {
		_, err := Parse("same.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3, model: lif_psc_exp, params: {"+key+"}}]\n"), nil)
		assert.NoError(t, err)
	}
}

// TestQuotesInSuggestions: where quotes are the mistake the suggestion says so, and a formula in quotes is no number without them.
func TestQuotesInSuggestions(t *testing.T) {
	for value, want := range map[string]string{
		`"0.5"`:             "did you mean 0.5 without quotes?",
		`'0.5'`:             "did you mean 0.5 without quotes?",
		`"0.1*exp(-d/0.2)"`: "",
		`0.1*exp(-d/0.2)`:   "",
		`0.1 mV`:            `did you mean "0.1"?`,
		`-05`:               `did you mean "-5"?`,
	} {
		_, err := Parse("p.yaml", []byte("burst: v1\nareas: [{name: a, neurons: 3}]\nprojections:\n- {from: a, to: a, rule: pairwise_bernoulli, weight: 1, p: "+value+"}\n"), nil)
		require.Error(t, err, value)
		lines := strings.Split(err.Error(), "\n")
		if want == "" {
			assert.NotContains(t, err.Error(), "did you mean")
		} else {
			assert.Equal(t, want, lines[len(lines)-1])
		}
	}
}

// TestQuotedKeys: a word in quotes that is wrong for another reason keeps them, as in a genome that is written in JSON.
func TestQuotedKeys(t *testing.T) {
	_, err := Parse("p.json", []byte(`{"burst": "v1", "areas": [{"name": "a", "neurons": 3, "threshhold": 1}]}`), nil)
	require.ErrorContains(t, err, `did you mean "threshold"?`)
}

// TestTimeInQuotes: a time may stand in quotes wherever it may stand, as all texts of a genome in JSON do; a number may not.
func TestTimeInQuotes(t *testing.T) {
	const text = `{"burst": "v1", "areas": [{"name": "a", "neurons": 3, "refractory": "3 ms"}], "stimuli": [{"area": "a", "at": "7 ms", "neurons": [0], "amount": 1}]}`
	g, err := Parse("p.json", []byte(text), nil)
	require.NoError(t, err)
	require.Equal(t, 3., g.Areas[0].Params["refractory"])
	require.Equal(t, uint64(7), g.Stimuli[0].At)
	_, err = Parse("p.json", []byte(strings.ReplaceAll(text, "3 ms", "3")), nil)
	require.ErrorContains(t, err, "did you mean 3 without quotes?")
}

// TestExcerptOfLongLine: an excerpt that is cut shows it on either side, and the caret stays below its character.
func TestExcerptOfLongLine(t *testing.T) {
	line := strings.Repeat("a", 150) + "X" + strings.Repeat("b", 150)
	for _, c := range []struct{ at, left, right int }{{10, 0, 1}, {150, 1, 1}, {300, 1, 0}} {
		text, blanks := window([]rune(line), c.at)
		shown := []rune(text)
		assert.Equal(t, c.left == 1, shown[0] == '…', "%d: %s", c.at, text)
		assert.Equal(t, c.right == 1, shown[len(shown)-1] == '…', "%d: %s", c.at, text)
		assert.Equal(t, []rune(line)[c.at], shown[len([]rune(blanks))])
	}
}
