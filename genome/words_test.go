package genome

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slip is a text with one mistake at "‹", and what is to be said of it.
type slip struct{ text, key, message, suggestion string }

// inArea is a slip among the keys of an area.
func inArea(keys, key, message, suggestion string) slip {
	if key != "" {
		key = "." + key
	}
	return slip{"areas: [{name: a, neurons: 3, " + keys + "}]", "areas[0]" + key, message, suggestion}
}

// TestWords: a slip that beginners make is one fault, which says what to write instead.
func TestWords(t *testing.T) {
	const own = "models: [{name: m, params: {gain: 2}, state: {v: 0}, update: [v = gain], threshold: v > 1}]\n"
	for name, c := range map[string]slip{
		"params left out":        {"areas:\n  - ‹name: a\n    neurons: 3\n    model: poisson", "areas[0]", `key "params" is missing; it must set rate`, ""},
		"rate left out":          inArea("model: poisson, params: ‹{}", "params", `key "rate" is missing`, ""),
		"params misspelt":        inArea("model: poisson, ‹parms: {rate: 1 Hz}", "parms", "unknown key", "params"),
		"rate in the area":       inArea("model: poisson, ‹rate: 10 Hz", "rate", "expects this parameter of poisson under params, found it in the area itself", "params: {rate: …}"),
		"tau in the area":        inArea("model: lif, ‹tau: 10 ms", "tau", "under params, found it in the area itself", "params: {tau: …}"),
		"threshold in the area":  inArea("model: lif, ‹threshold: 10 mV", "threshold", "under params, found it in the area itself", "params: {threshold: …}"),
		"unknown in the area":    inArea("model: lif, ‹taus: 10 ms", "taus", "accumulate", ""),
		"parameter of one's own": {own + "areas: [{name: a, neurons: 3, model: m, ‹gain: 3}]", "areas[0].gain", "expects this parameter of m under params", "params: {gain: …}"},

		"per cent":                   {"areas: [{name: a, neurons: 1}]\nprojections: [{from: a, to: a, rule: pairwise_bernoulli, p: ‹10%, weight: 1}]", "projections[0].p", "expects a plain number, found 10%", "0.1"},
		"unit of another kind":       inArea("model: lif, params: {C: 250 ‹uF}", "params.C", "unknown unit \"uF\", wanted one of pF, nF", "pF"),
		"unit of no kind":            inArea("model: lif, params: {C: 250 ‹kg}", "params.C", "wanted one of pF, nF", ""),
		"unit of a delay":            {"areas: [{name: a, neurons: 1}]\nprojections: [{from: a, to: a, rule: one_to_one, weight: 1, delay: 3 ‹sm}]", "projections[0].delay", "wanted one of ms, s, us", "ms"},
		"unit of one's own start":    {strings.Replace(own, "v: 0", "v: \"normal(5 ‹mv, 1 mv)\"", 1) + "areas: [{name: a, neurons: 1}]", "models[0].state.v", "unknown unit \"mv\", wanted one of mV, V", "mV"},
		"variable of no model":       inArea("model: poisson, params: {rate: 5 Hz}, init: {‹z: 3}", "init.z", "unknown key, wanted none", ""),
		"letters of other alphabets": {"areas: [{name: ‹Größe äö, neurons: 1}]\nprojections: [{from: Größe äö, to: Größe äö, rule: all_to_all, weight: 1}]", "areas[0].name", "expects a name of ASCII letters, digits, \"_\", \"-\", \".\" and blanks, at most 100 long and starting with a letter, a digit or \"_\", found \"Größe äö\"", ""},
		"name that is no name":       {"areas: [{name: ‹+x+, neurons: 1}]\nrecord: {spikes: [+x+]}", "areas[0].name", "ASCII", "x-"},
		"number for a name":          {"areas: [{name: ‹12, neurons: 1}, {name: \"12\", neurons: 1}]", "areas[0].name", "put it in quotes", `"12"`},

		"blank after a colon": {"areas: [{name: a, neurons: 1}]\nstimuli: [{area: a, at: 1, neurons: [0], ‹amount:5}]", "stimuli[0].amount", "expects a blank after the colon, found amount:5", "amount: 5"},

		"too many neurons":   {"areas: [{name: a, neurons: ‹99999999999999999999}]", "areas[0].neurons", "expects a whole number of at most 9223372036854775807, found 99999999999999999999", ""},
		"no neurons":         {"areas: [{name: a, neurons: ‹-1}]", "areas[0].neurons", "expects a whole number of at least 0, found -1", ""},
		"large seed":         {"seed: ‹18446744073709551616\nareas: [{name: a, neurons: 1}]", "seed", "of at most 18446744073709551615", ""},
		"large at":           {"areas: [{name: a, neurons: 1}]\nstimuli: [{area: a, at: ‹18446744073709551615, neurons: [0], amount: 1}]", "stimuli[0].at", "of at most 18446744073709551614", ""},
		"many bursts":        {"bursts: ‹18446744073709551616\nareas: [{name: a, neurons: 1}]", "bursts", "expects a whole number 1…72057594037927936, found 18446744073709551616", ""},
		"bursts to count":    {"bursts: ‹72057594037927937\nareas: [{name: a, neurons: 1}]", "bursts", "expects a whole number 1…72057594037927936, found 72057594037927937", ""},
		"many bursts a time": {"bursts: ‹10 ms\ntimestep: 1e-30 ms\nareas: [{name: a, neurons: 1}]", "bursts", "expects bursts 1…72057594037927936, found 10 ms, which is 1e+31", ""},
		"long timestep":      {"timestep: ‹1e30 s\nareas: [{name: a, neurons: 1}]", "timestep", "expects a time above 0 ms and at most 1e+06 ms, found 1e30 s", ""},
		"long silence":       inArea("refractory: ‹65536", "refractory", "expects a whole number 0…65535", ""),
	} {
		t.Run(name, func(t *testing.T) { oneFault(t, &c) })
	}
}

// oneFault reads a slip, which must be the only fault found.
func oneFault(t *testing.T, c *slip) {
	text := "burst: v1\n" + c.text + "\n"
	want := position([]byte(text), strings.Index(text, "‹"))
	_, err := Parse("slip.yaml", []byte(strings.Replace(text, "‹", "", 1)), nil)
	var faults Faults
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults, 1, "%v", err)
	f := faults[0]
	assert.Equal(t, want, Pos{f.Line, f.Column}, "%v", err)
	assert.Equal(t, c.key, f.Key)
	assert.Contains(t, f.Message, c.message)
	assert.Equal(t, c.suggestion, f.Suggestion)
}
