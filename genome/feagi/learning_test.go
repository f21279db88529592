package feagi_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// pairOf is a genome of two areas with some rules from the one to the other, and more genes of the first.
func pairOf(version, genes, rules string) []byte {
	return fmt.Appendf(nil, `{"version": %q, "blueprint": {
 "c__one": {%s"cortical_mapping_dst": {"c__two": [%s], "c__three": [["projector", [1, 1, 1], 7, false]]}},
 "c__two": {}, "c__three": {}}}`, version, genes, rules)
}

// TestMappingsLearn: plastic mappings learn by the rule of their dialect, which the report tells.
func TestMappingsLearn(t *testing.T) {
	const plain, plastic, other = `["projector", [1, 1, 1], 4, false]`, `["projector", [1, 1, 1], 2, true, 1, 2, 3, 5]`, `["projector", [1, 1, 1], -3, true, 1.5, 4, 1, 2]`
	const windowless = `["projector", [1, 1, 1], 2, true, 1, 2, 3]`
	const psp, most = `"postsynaptic_current": 2, `, `"postsynaptic_current_max": 35, `
	for _, c := range []struct {
		name    string
		dialect feagi.Dialect
		window  uint8
		genes   string
		rules   []string
		want    []string // plasticity of the mappings; empty: they keep their weights
		reason  string   // in the report of the last one
	}{
		{"release", feagi.Release, 0, psp, []string{plastic}, []string{"feagi 5 1 2 3 0 3e+38"}, ""},
		{"rust", feagi.Rust, 0, psp, []string{plastic}, []string{"feagi-february 5 1 2 3 0 510"}, ""},
		{"python", feagi.Python, 0, psp + most, []string{plastic}, []string{"feagi-python 3 1 2 3 0 35"}, ""},
		{"python, a start above the ceiling", feagi.Python, 0, psp + `"postsynaptic_current_max": 3, `, []string{plastic}, []string{"feagi-python 3 1 2 3 0 4.001"}, ""},
		{"python, a start at the ceiling", feagi.Python, 0, `"postsynaptic_current": 0.35, "postsynaptic_current_max": 0.7, `, []string{plastic}, []string{"feagi-python 3 1 2 3 0 0.701"}, ""},
		{"python without a ceiling", feagi.Python, 9, "", []string{windowless}, []string{"feagi-python 3 1 2 3 0 99999"}, ""},
		{"the last rule of a pair", feagi.Release, 0, "", []string{plastic, other, plain}, []string{"feagi 2 1.5 4 1 0 3e+38", "feagi 2 1.5 4 1 -3e+38 0", "feagi 2 1.5 4 1 0 3e+38"}, "FEAGI keeps one rule for a pair of areas, which changes the synapses of this mapping too"},
		{"the last rule of a pair, rust", feagi.Rust, 0, "", []string{other, plastic}, []string{"feagi-february 5 1 2 3 -255 0", "feagi-february 5 1 2 3 0 255"}, "FEAGI keeps the last rule of a pair of areas for all of its synapses"},
		{"all rules of a pair", feagi.Python, 0, "", []string{plastic, plain, `["projector", [1, 1, 1], 0, true, 1.5, 4, 1, 2]`}, []string{"feagi-python 3 1 8 4.5 0 99999", "feagi-python 3 1 8 4.5 0 99999", "feagi-python 3 1 8 4.5 0 99999"}, "FEAGI applies the 2 rules of a pair of areas to all of its synapses"},
		{"python below 0", feagi.Python, 0, "", []string{plastic, other}, []string{"feagi-python 3 1 8 4.5 0 99999", ""}, "synapses below 0 keep their weights"},
		{"a current below 0", feagi.Release, 0, `"postsynaptic_current": -2, `, []string{plastic, other}, []string{"feagi 2 1.5 4 1 -3e+38 0", "feagi 2 1.5 4 1 0 3e+38"}, ""},
		{"no window", feagi.Rust, 0, "", []string{windowless, plain}, []string{"", ""}, ""},
		{"a given window", feagi.Rust, 9, "", []string{windowless, plain}, []string{"feagi-february 9 1 2 3 0 255", "feagi-february 9 1 2 3 0 255"}, ""},
		{"a given window, release", feagi.Release, 9, "", []string{windowless}, []string{"feagi 9 1 2 3 0 3e+38"}, ""},
		{"a window of 0, release", feagi.Release, 9, "", []string{`["projector", [1, 1, 1], 2, true, 1, 2, 3, 0]`}, []string{"feagi 9 1 2 3 0 3e+38"}, ""},
		{"a window below 0, release", feagi.Release, 9, "", []string{`["projector", [1, 1, 1], 2, true, 1, 2, 3, -1]`}, []string{"feagi 9 1 2 3 0 3e+38"}, ""},
		{"no constants", feagi.Release, 9, "", []string{`{"morphology_id": "projector", "plasticity_flag": true}`}, []string{"feagi 9 1 1 1 0 3e+38"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := pairOf("2.0", c.genes, strings.Join(c.rules, ", "))
			g, r, err := feagi.Import("g.json", text, feagi.Options{Dialect: c.dialect, Unlearnable: true, Window: c.window})
			require.NoError(t, err)
			require.Len(t, g.Projections, len(c.rules)+1)
			require.Nil(t, g.Projections[len(c.rules)].Learning, "another pair")
			var said []feagi.Note
			for _, n := range r.Areas[0].Lines {
				if strings.HasPrefix(n.To, "plasticity {rule: feagi") || n.Fate == feagi.NotHonoured {
					said = append(said, n)
				}
			}
			for i, want := range c.want {
				l, got := g.Projections[i].Learning, ""
				if l != nil {
					got = fmt.Sprintf("%s %g %g %g %g %g %g", l.Rule.Name, l.Params["window"], l.Params["constant"], l.Params["ltp"], l.Params["ltd"], l.Lo, l.Hi)
					require.True(t, l.Fail)
					require.False(t, g.Projections[i].Merge)
				}
				require.Equal(t, want, got)
			}
			learn := slices.ContainsFunc(c.want, func(x string) bool { return x != "" })
			require.Equal(t, learn, len(said) == len(c.rules), "%v", said)
			require.Contains(t, said[len(said)-1].Reason, c.reason)
			build(t, g)
		})
	}
}

// TestPairsThatDoNotLearn keep merging.
func TestPairsThatDoNotLearn(t *testing.T) {
	g, _, err := feagi.Import("g.json", pairOf("2.0", "", `["projector", [1, 1, 1], 4, false], ["projector", [1, 1, 1], 2, true, 1, 2, 3]`), feagi.Options{Dialect: feagi.Rust})
	require.NoError(t, err)
	require.True(t, g.Projections[0].Merge)
	require.True(t, g.Projections[1].Merge)
}

// TestLearningMistakes names what is wrong with a rule that learns.
func TestLearningMistakes(t *testing.T) {
	for rule, want := range map[string]string{ // FEAGI refuses windows below 1
		`["projector", [1, 1, 1], 4, true, "x", 1, 1, 1]`:  "plasticity_constant: expects a number within ±3.4e38, found \"x\"",
		`["projector", [1, 1, 1], 4, true, 1, 1e39, 1, 1]`: "ltp_multiplier: expects a number within ±3.4e38",
		`["projector", [1, 1, 1], 4, true, 1, 1, 1, 256]`:  "plasticity_window: expects a whole number of bursts from 1 to 255, found 256",
		`["projector", [1, 1, 1], 4, true, 1, 1, 1, 1.5]`:  "plasticity_window: expects a whole number of bursts from 1 to 255, found 1.5",
		`["projector", [1, 1, 1], 4, true, 1, 1, 1, 1e9]`:  "plasticity_window: expects a whole number of bursts from 1 to 255, found 1e9",
	} {
		_, _, err := feagi.Import("g.json", pairOf("3.0", "", rule), feagi.Options{})
		require.ErrorContains(t, err, want)
	}
}

// TestFEAGISteps: what the importer makes of constants becomes FEAGI's steps; those of the Python server do not know the psp.
func TestFEAGISteps(t *testing.T) {
	for dialect, want := range map[feagi.Dialect][2]float32{feagi.Release: {6, 9}, feagi.Rust: {6, 9}, feagi.Python: {4.35, 4.5}} {
		g, _, err := feagi.Import("g.json", pairOf("2.0", `"postsynaptic_current": 3, `, `["projector", [1, 1, 1], 2, true, 1.5, 2.9, 3, 4]`), feagi.Options{Dialect: dialect})
		require.NoError(t, err)
		p := build(t, g).Plastic[0]
		require.Equal(t, want, [2]float32{p.Window.Up, p.Window.Down}, dialect)
		require.Contains(t, []genome.Window{genome.WindowRelease, genome.WindowFebruary, genome.WindowPython}, p.Window.Kind)
	}
}

// A rule whose morphology makes no synapses is the pair's all the same, as on FEAGI's released server; without a window it is refused, with
// the area's mappings that follow.
func TestRulesWithoutSynapses(t *testing.T) {
	const plain = `["projector", [1, 1, 1], 4, false]`
	for _, rules := range []string{`["reducer_x", [1, 1, 1], 2, true, 1, 2, 3, 5], ` + plain, plain + `, ["projector_xy", [1, 1, 1], 2, true, 1, 2, 3, 5]`} {
		g, _, err := feagi.Import("g.json", pairOf("3.0", "", rules), feagi.Options{Strict: true})
		require.NoError(t, err)
		require.Len(t, g.Projections, 2)
		require.Equal(t, map[string]float64{"window": 5, "constant": 1, "ltp": 2, "ltd": 3}, g.Projections[0].Learning.Params)
		require.Nil(t, g.Projections[1].Learning)
	}
	windowless := pairOf("3.0", "", `["reducer_x", [1, 1, 1], 2, true, 1, 2, 3], `+plain)
	g, r, err := feagi.Import("g.json", windowless, feagi.Options{})
	require.NoError(t, err)
	require.Len(t, g.Projections, 1, "that to c__three, whose id comes first in base64")
	require.Equal(t, "c__three", g.Areas[g.Projections[0].To].Name)
	require.True(t, slices.ContainsFunc(r.Areas[0].Lines, func(n feagi.Note) bool { return strings.Contains(n.Reason, "plasticity and no plasticity_window") }))
	g, _, err = feagi.Import("g.json", windowless, feagi.Options{Unlearnable: true})
	require.NoError(t, err)
	require.Len(t, g.Projections, 2)
	require.Nil(t, g.Projections[0].Learning)
}
