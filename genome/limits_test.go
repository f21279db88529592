package genome

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

// TestLimits: what is just right, and what is just wrong.
func TestLimits(t *testing.T) {
	const head = "burst: v1\ntimestep: 0.5 ms\nareas: [{name: a, neurons: 30}, {name: b, neurons: 31}, {name: m, neurons: 0, group: memory}]\n"
	for _, c := range []struct{ name, text, want string }{
		{"bursts that are not whole", "projections: [{from: a, to: b, rule: all_to_all, weight: 1, delay: 0.7 ms}]", "expects whole bursts of 0.5 ms, found 1.4 bursts; the nearest are 0.5 ms and 1 ms"},
		{"the first burst", "stimuli: [{area: a, at: 0 ms, neurons: [1], amount: 1}]", ""},
		{"no time between", "stimuli: [{area: a, every: 0 ms, neurons: [1], amount: 1}]", "expects bursts of at least 1, found 0 ms, which is 0"},
		{"the shortest time between", "stimuli: [{area: a, every: 0.5 ms, neurons: [1], amount: 1}]", ""},
		{"no name", "stimuli: [{area: {b: a}, at: 1, neurons: [99], amount: 1}]", "expects the name of an area"},
		{"one in a list", "stimuli: [{area: [a], at: 1, neurons: [99], amount: 1}]", "expects the name of one area, found a list"},
		{"a list", "stimuli: [{area: [a, b], at: 1, neurons: [0], amount: 1}]", "expects the name of one area, found a list; write an entry for each: `- {area: a, …}` and `- {area: b, …}`"},
		{"an area without neurons", "stimuli: [{area: m, at: 1, neurons: [99], amount: 1}]", "which has none"},
		{"the largest amount that scale 1 holds", "stimuli: [{area: a, at: 1, neurons: [1], amount: 2e9}]\nscale: 1000", "the largest scale that holds it is 1"},
		{"more", "stimuli: [{area: a, at: 1, neurons: [1], amount: 2.2e9}]\nscale: 1000", "not even scale: 1 holds it"},
	} {
		t.Run(c.name, func(t *testing.T) { one(t, head+c.text+"\n", c.want) })
	}
	one(t, "burst: v1\nareas: [{name: m, neurons: 0, group: memory}, {name: a, neurons: 3}]\nstimuli: [{area: m, at: 1, neurons: [99], amount: 1}]\n", "which has none")
}

// TestVoxelsOfManyNeurons: as many neurons as an area that takes an image may have are named by voxels, and no more.
func TestVoxelsOfManyNeurons(t *testing.T) {
	const text = "burst: v1\nareas: [{name: a, size: [2, 1, 1], neurons_per_voxel: %d}]\nstimuli: [{area: a, at: 1, voxels: [[0, 0, 0]%s], amount: 1}]\n"
	one(t, fmt.Sprintf(text, maxLit, ""), "")
	one(t, fmt.Sprintf(text, maxLit+1, ""), "voxels with at most 16777216 neurons in all, found 1 voxels with 16777217 neurons each")
	one(t, fmt.Sprintf(text, maxLit/2+1, ", [1, 0, 0]"), "voxels with at most 16777216 neurons in all, found 2 voxels with 8388609 neurons each")
}

// TestSpikesAreSorted by burst, then neuron; all that is wrong with them is told.
func TestSpikesAreSorted(t *testing.T) {
	const text = "burst: v1\nareas: [{name: s, neurons: 9, model: spike_list, spikes: [%s]}]\n"
	g, err := Parse("s.yaml", fmt.Appendf(nil, text, "{neurons: [5, 2], at: [9, 3]}, {neurons: [4], at: [3, 10]}"), nil)
	require.NoError(t, err)
	require.Equal(t, []Spike{{3, 2}, {3, 4}, {3, 5}, {9, 2}, {9, 5}, {10, 4}}, g.Areas[0].Spikes)
	_, err = Parse("s.yaml", fmt.Appendf(nil, text, "5, {neurons: [5], at: [9]}, 6, {neurons: [5], at: [9]}, {neurons: [5], at: [9]}"), nil)
	var faults Faults
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults, 4, "two that are none, two that come again")
}

// TestRewired: the list stands in place of the projections, and all else stays.
func TestRewired(t *testing.T) {
	for _, name := range []string{"", "name: n\n"} {
		g, err := Parse("old.yaml", []byte("burst: v1\n"+name+"scale: 7\nprojections: [{from: a, to: a, rule: all_to_all, weight: 2}]\nareas: [{name: a, neurons: 3}]\n"), nil)
		require.NoError(t, err)
		text, err := g.Rewired("w.csv", nil, 250)
		require.NoError(t, err)
		added := ""
		if name == "" {
			added = "name: \"old\"\n"
		}
		require.Equal(t, "burst: v1\n"+name+"scale: 250\nprojections:\n  - {rule: edges, file: w.csv}\nareas: [{name: a, neurons: 3}]\n"+added, string(text))
	}
}

// TestWholeSuggestions: what a number means that is not written as a whole one.
func TestWholeSuggestions(t *testing.T) {
	for text, want := range map[string]string{
		"1e6": "1000000", "800.0": "800", "0.0": "0", "1e15": "", "999999999999999.0": "999999999999999", "1e14": "100000000000000", "7": "", "-5.0": "", "1.5": "",
		"1_000": "1000", "1,000": "1000", "x": "",
	} {
		require.Equal(t, want, wholeSuggestion(text, 0, 1<<60), text)
	}
	require.Equal(t, "1000", wholeSuggestion("1e3", 1, 1000))
	require.Empty(t, wholeSuggestion("1e3", 1, 999), "not what would be refused, too")
	require.Empty(t, wholeSuggestion("0.0", 1, 999))
	require.Empty(t, wholeSuggestion("1,000", 1, 999))
}

// TestBytesThatDoNotBelong in a text, each beside its neighbours, which do.
func TestBytesThatDoNotBelong(t *testing.T) {
	for _, good := range []string{"\t", "\n", "\r\n", " ", "~", "\u00a0", "\u2027", "\u202a", "\ufefe", "\uff00", "\ufffd", "\U00010000"} {
		at, what := firstBadByte([]byte("a" + good + "b"))
		require.Equal(t, -1, at, "%q: %s", good, what)
	}
	for bad, want := range map[string]string{
		"\x00": "a NUL byte", "\x08": "U+0008", "\x0b": "U+000B", "\x1f": "U+001F", "\x7f": "U+007F", "\r": "U+000D", "\u0080": "U+0080", "\u009f": "U+009F",
		"\u2028": "U+2028", "\u2029": "U+2029", "\ufeff": "U+FEFF", "\ufffe": "U+FFFE", "\uffff": "U+FFFF", "\xff": "byte 0xff", "\xe2\x80": "byte 0xe2",
	} {
		at, what := firstBadByte([]byte("ä" + bad))
		require.Equal(t, 2, at, "%q", bad)
		require.Contains(t, what, want)
	}
}

// TestDrawn tells what is a quantity or a distribution from expressions.
func TestDrawn(t *testing.T) {
	for text, want := range map[string]bool{
		"5": true, "-2.5 mV": true, "5a": true, "5Z": true, "5 \u00b5V": true, "uniform(1 mV, 2 mV)": true, "clip(normal(1, 2), 0, 1)": true,
		"5 + v": false, "5 ~": false, "5 @": false, "5 {": false, "v": false, "": false, "exp(2)": false,
	} {
		require.Equal(t, want, drawn(text), text)
	}
}

// TestQuotesOfSuggestions: a suggestion stands in quotes, but where the quotes are what is wrong.
func TestQuotesOfSuggestions(t *testing.T) {
	for _, c := range []struct {
		source, suggestion, want string
		column                   int
	}{
		{`x: "1.5"`, "1.5", "1.5 without quotes", 4},
		{`x: '1.5'`, "1.5", "1.5 without quotes", 4},
		{`x: 042`, "42", `"42"`, 4},
		{`x: 12`, `"12"`, `"12"`, 4},
		{`x:`, "12", `"12"`, 4},
	} {
		require.Equal(t, c.want, Fault{Source: c.source, Line: 1, Column: c.column, Suggestion: c.suggestion}.meant(), c.source)
	}
}

// TestCleanNames: letters, digits and a few signs stay, each beside its neighbours, which do not.
func TestCleanNames(t *testing.T) {
	for found, want := range map[string]string{
		"az AZ.09_-b": "az AZ.09_-b", "x`{": "x--", "x@[": "x--", "x/:": "x--", "x^": "x-", "xé": "x-", " .-x. ": "x.", "x,": "x-", "": "", "-": "",
		strings.Repeat("n", maxName+1): strings.Repeat("n", maxName),
	} {
		require.Equal(t, want, cleanName(found), found)
		require.Equal(t, found == want && found != "", validName(found), found)
	}
}

// TestBareMarks: signs that YAML takes for its own, where they are elements of a list by themselves.
func TestBareMarks(t *testing.T) {
	for line, want := range map[string]int{
		"[*, 0]": 1, "[0, ?]": 4, "  [ ! , 0]": 4, `["*", *]`: 6, `["*", 0]`: -1, "a * b": -1, "[a*]": -1, "[!x]": -1, `["a, *, b"]`: -1, "*,": -1, "[*": -1, "[+]": -1,
	} {
		require.Equal(t, want, bareMark(line), line)
	}
}

// TestSurroundings: of a long text what stands in the last 2 KiB is kept, from an element's beginning on, behind its key.
func TestSurroundings(t *testing.T) {
	const element = "  - {name: a, neurons: 3}\n"
	for _, elements := range []int{310, 330, 900} {
		text := []byte("burst: v1\nareas:\n" + strings.Repeat(element, elements) + "  - {name: b: c}\n")
		var n yaml.Node
		err := decode(yaml.NewDecoder(&feeder{text: text}), &n)
		require.Error(t, err)
		near, skipped := surroundings(text, err)
		if len(text) < 8<<10 {
			require.Equal(t, text, near)
			require.Zero(t, skipped)
			continue
		}
		require.True(t, strings.HasPrefix(string(near), "areas:\n"+element))
		require.True(t, strings.HasSuffix(string(text), string(near[len("areas:\n"):])))
		require.InDelta(t, 2<<10, len(near), 2*float64(len(element)))
		require.Equal(t, strings.Count(string(text), "\n")-strings.Count(string(near), "\n"), skipped)
	}
}

// TestShort: a text is cut behind 60 letters, however many bytes each takes.
func TestShort(t *testing.T) {
	for _, letter := range []string{"a", "é", "€", "𝄞"} {
		require.Equal(t, strings.Repeat(letter, 60), short(strings.Repeat(letter, 60)))
		require.Equal(t, strings.Repeat(letter, 60)+"…", short(strings.Repeat(letter, 61)))
		require.Equal(t, strings.Repeat(letter, 60)+"…", short(strings.Repeat(letter, 999)))
	}
}

// TestSearchBudget: as many bytes are read in a search as it may read, and no more.
func TestSearchBudget(t *testing.T) {
	text := "a: b: c\n"
	require.True(t, (&search{src: &source{text: []byte(text)}, budget: len(text)}).brokenAt(len(text)))
	require.False(t, (&search{src: &source{text: []byte(text)}, budget: len(text) - 1}).brokenAt(len(text)))
}
