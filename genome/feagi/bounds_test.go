package feagi_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// told finds the note about a key of the first area, the last one of them; its words hold the fate.
func told(r *feagi.Report, key string) string {
	text := "nothing"
	for _, n := range r.Areas[0].Lines {
		if n.Key == key {
			text = string(n.Fate) + ": " + n.String()
		}
	}
	return text
}

// Each gene at the bounds of what it may be: what the report says, and the line that it becomes ("" for none) or the
// fault.
func TestBoundsOfGenes(t *testing.T) {
	const none, rust, python = "", feagi.Rust, feagi.Python
	for _, c := range []struct {
		dialect          feagi.Dialect
		gene, value      string
		note, line, want string
	}{
		{rust, "cx-___bbx-i", "0", "converted: cx-___bbx-i: 0 becomes 1, nothing is smaller than one", "size: [1, 1, 1]", none},
		{rust, "cx-___bby-i", "4294967296", "carried: cx-___bby-i: 4294967296", "size: [1, 4294967296, 1]", none},
		{rust, "cx-___bby-i", "4294967297", none, none, "area c__one, cx-___bby-i: expects a whole number from 1 to 4294967296, found 4294967297"},
		{rust, "cx-___bbz-i", "-1", none, none, "found -1"},
		{rust, "cx-___bbz-i", "2.5", none, none, "found 2.5"},
		{rust, "cx-_n_cnt-i", "1", "carried: cx-_n_cnt-i: 1", none, none},
		{rust, "cx-_n_cnt-i", "2", "carried: cx-_n_cnt-i: 2", "neurons_per_voxel: 2", none},
		{rust, "cx-devcnt-i", "0", "carried: cx-devcnt-i: 0", none, none},
		{rust, "cx-devcnt-i", "1", "carried: cx-devcnt-i: 1", "devices: 1", none},
		{rust, "cx-rcordy-i", "-7.5", "carried: cx-rcordy-i: -7.5", "position: [0, -7.5, 0]", none},
		{rust, "cx-rcordz-i", "0", "carried: cx-rcordz-i: 0", none, none},
		{rust, "nx-ftincz-f", "0.5", "carried: nx-ftincz-f: 0.5", "threshold_gradient: [0, 0, 0.5]", none},
		{rust, "nx-fire_t-f", "3.4e38", "carried: nx-fire_t-f: 3.4e38", "threshold: 3.4e+38", none},
		{rust, "nx-fire_t-f", "3.4028234663852886e38", "carried: nx-fire_t-f: 3.4028234663852886e38", "threshold: 3.4028234663852886e+38", none},
		{rust, "nx-fire_t-f", "-3.5e38", none, none, "expects a number within ±3.4e38, found -3.5e38"},
		{rust, "nx-refrac-i", "1", "carried: nx-refrac-i: 1", "refractory: 1", none},
		{rust, "nx-refrac-i", "2.9", "converted: nx-refrac-i: 2.9 becomes 2, a whole number is wanted", "refractory: 2", none},
		{rust, "nx-refrac-i", "65535", "carried: nx-refrac-i: 65535", "refractory: 65535", none},
		{rust, "nx-refrac-i", "65536", "converted: nx-refrac-i: 65536 becomes 65535, the largest there is", "refractory: 65535", none},
		{rust, "nx-refrac-i", "-0.5", none, none, "expects a whole number from 0, found -0.5"},
		{rust, "nx-c_fr_c-i", "1", "carried: nx-c_fr_c-i: 1", "fire_limit: 1", none},
		{rust, "nx-c_fr_c-i", "65534", "carried: nx-c_fr_c-i: 65534", "fire_limit: 65534", none},
		{rust, "nx-c_fr_c-i", "65535", "converted: nx-c_fr_c-i: 65535 becomes no fire_limit, 65535 means none", none, none},
		{rust, "nx-snooze-i", "1", "carried: nx-snooze-i: 1", "snooze: 1", none},
		{rust, "nx-leak_c-f", "0", "carried: nx-leak_c-f: 0", none, none},
		{rust, "nx-leak_c-f", "1", "carried: nx-leak_c-f: 1, a fraction", "leak: 1", none},
		{rust, "nx-leak_c-f", "1.001", none, none, "expects a fraction 0…1 in the dialect rust, found 1.001"},
		{python, "nx-leak_c-f", "0.001", "converted: nx-leak_c-f: 0.001 becomes leak_amount 0.001, an amount, not a fraction", "leak_amount: 0.001", none},
		{rust, "nx-excite-f", "0.998", "carried: nx-excite-f: 0.998", "excitability: 0.998", none},
		{rust, "nx-excite-f", "0.999", "converted: nx-excite-f: 0.999 becomes excitability 1, a fraction, certain from 0.999 on", none, none},
		{rust, "nx-excite-f", "1", "carried: nx-excite-f: 1", none, none},
		{rust, "nx-excite-f", "5", "converted: nx-excite-f: 5 becomes excitability 1, a fraction, certain from 0.999 on", none, none},
		{rust, "nx-excite-f", "0", "carried: nx-excite-f: 0", "excitability: 0", none},
		{rust, "nx-excite-f", "-1", "converted: nx-excite-f: -1 becomes excitability 0, a fraction", "excitability: 0", none},
		{python, "nx-excite-f", "50", "converted: nx-excite-f: 50 becomes excitability 0.5, per cent", "excitability: 0.5", none},
		{python, "nx-excite-f", "100", "converted: nx-excite-f: 100 becomes excitability 1, per cent", none, none},
		{python, "nx-excite-f", "101", "converted: nx-excite-f: 101 becomes excitability 1, per cent, certain from 0.999 on", none, none},
		{rust, "nx-fthlim-f", "0", "carried: nx-fthlim-f: 0, 0 means none", none, none},
		{rust, "nx-fthlim-f", "2", "carried: nx-fthlim-f: 2, absolute", "threshold_limit: 2", none},
		{rust, "nx-fthlim-f", "-0.1", none, none, "expects a limit of at least 0, found -0.1"},
		{python, "nx-fthlim-f", "2", "converted: nx-fthlim-f: 2 becomes threshold_limit 3, a width above the threshold", "threshold_limit: 3", none},
		{rust, "nx-pstcr_-f", "255", "carried: nx-pstcr_-f: 255", "psp: 255", none},
		{rust, "nx-pstcr_-f", "256", "converted: nx-pstcr_-f: 256 becomes psp 255, clamped to 255", "psp: 255", none},
		{rust, "nx-pstcr_-f", "0", "carried: nx-pstcr_-f: 0", "psp: 0", none},
		{rust, "nx-pstcr_-f", "0.9", "converted: nx-pstcr_-f: 0.9 becomes psp 0, truncated to nothing", "psp: 0", none},
		{rust, "nx-pstcr_-f", "1.9", "converted: nx-pstcr_-f: 1.9 becomes psp 1, truncated", none, none},
		{rust, "nx-pstcr_-f", "-0.5", "converted: nx-pstcr_-f: -0.5 becomes psp 0, negative currents are 0", "psp: 0", none},
		{python, "nx-pstcr_-f", "-255", "carried: nx-pstcr_-f: -255", "psp: -255", none},
		{python, "nx-pstcr_-f", "-255.5", "converted: nx-pstcr_-f: -255.5 becomes psp -255, clamped to 255", "psp: -255", none},
		{rust, "cx-pspuni-b", "true", "carried: cx-pspuni-b: true", none, none},
		{rust, "cx-pspuni-b", `"FALSE"`, `converted: cx-pspuni-b: "FALSE" becomes false`, "divide_psp: true", none},
		{rust, "cx-pspuni-b", "1", "converted: cx-pspuni-b: 1 becomes true", none, none},
		{python, "cx-pspuni-b", "0", "converted: cx-pspuni-b: 0 becomes false", "divide_psp: true", none},
		{rust, "cx-pspuni-b", "2", none, none, "expects true or false, found 2"},
		{rust, "cx-pspuni-b", `"perhaps"`, none, none, `expects true or false, found "perhaps"`},
		{rust, "nx-mp_acc-b", "true", "carried: nx-mp_acc-b: true", none, none},
		{rust, "nx-mp_acc-b", "null", "defaulted: nx-mp_acc-b: false", "accumulate: false", none},
		{rust, "nx-mp_psp-b", "true", "not honoured: nx-mp_psp-b: true, psp stays what the area says; potentials do not drive it", none, none},
		{rust, "cx-twinrf-t", `"c__one"`, `not honoured: cx-twinrf-t: "c__one", memory is not run`, none, none},
		{rust, "cx-twinrf-t", `""`, `no effect: cx-twinrf-t: ""`, none, none},
		{rust, "cx-gd_vis-b", "true", "no effect: cx-gd_vis-b: true", none, none},
		{rust, "cx-_group-t", `"Left Hand"`, `carried: cx-_group-t: "Left Hand"`, "group: left hand", none},
		{rust, "cx-_group-t", `"?"`, "defaulted: _group: custom", "group: custom", none},
		{rust, "cx-_group-t", "3", none, none, "area c__one, cx-_group-t: expects a text, found 3"},
		{rust, "cx-zzzzzz-i", "3", "not honoured: cx-zzzzzz-i: 3, a key that FEAGI's genomes do not have", none, none},
	} {
		t.Run(fmt.Sprint(c.dialect, " ", c.gene, " ", c.value), func(t *testing.T) {
			_, made, r, err := feagi.Translate("g.json", []byte(`{"blueprint": {"_____10c-c__one-`+c.gene+`": `+c.value+`}}`), feagi.Options{Dialect: c.dialect})
			if c.want != none {
				require.ErrorContains(t, err, c.want)
				return
			}
			require.NoError(t, err)
			key := c.gene
			if strings.HasPrefix(c.note, "defaulted: _group") {
				key = "_group"
			}
			require.Equal(t, c.note, told(r, key))
			usual := []string{"aliases", "group", "size", "threshold", "accumulate", "divide_psp", "name"}
			var own []string
			for _, l := range strings.Split(string(made), "\n") {
				if text, _, _ := strings.Cut(strings.TrimSpace(l), "  #"); strings.HasPrefix(l, "    ") {
					own = append(own, text)
				}
			}
			if c.line != none {
				require.Contains(t, own, c.line)
				return
			}
			for _, l := range own {
				name, _, _ := strings.Cut(l, ":")
				require.Contains(t, usual, name, "no line of its own")
			}
			require.Equal(t, c.gene != "nx-mp_acc-b", strings.Contains(string(made), "accumulate: false"))
			require.Equal(t, c.dialect == rust && c.gene != "cx-pspuni-b", strings.Contains(string(made), "divide_psp: true"))
		})
	}
}

// A width reaches from below 0 as far as it reaches.
func TestWidthOfALimit(t *testing.T) {
	text := `{"blueprint": {"_____10c-c__one-nx-fire_t-f": -5, "_____10c-c__one-nx-fthlim-f": %s, "_____10c-c__one-nx-ftincy-f": %s}}`
	_, _, err := feagi.Import("g.json", fmt.Appendf(nil, text, "5", "0"), feagi.Options{Dialect: feagi.Python})
	require.ErrorContains(t, err, "expects a limit above 0, found 5 above a threshold of -5")
	g, r, err := feagi.Import("g.json", fmt.Appendf(nil, text, "5.5", "0"), feagi.Options{Dialect: feagi.Python})
	require.NoError(t, err)
	require.Equal(t, 0.5, g.Areas[0].Params["threshold_limit"])
	require.Zero(t, r.Count(feagi.NotHonoured))
	_, r, err = feagi.Import("g.json", fmt.Appendf(nil, text, "5.5", "0.5"), feagi.Options{Dialect: feagi.Python})
	require.NoError(t, err)
	require.Equal(t, 1, r.Count(feagi.NotHonoured), "the gradient")
}

// The parts of a rule at their bounds.
func TestBoundsOfRules(t *testing.T) {
	key := func(field string) string { return "cortical_mapping_dst to c__two, rule 1." + field }
	const multiplier, delay, attractivity = "postSynapticCurrent_multiplier", "synaptic_delay_bursts", "synapse_attractivity"
	for _, c := range []struct {
		dialect            feagi.Dialect
		field, value, want string // note; a fault where it begins with "!"
		seen               func(p genome.Projection) any
		is                 any
	}{
		{feagi.Rust, multiplier, "255", "carried: 255", weight, 255.0},
		{feagi.Rust, multiplier, "-256", "converted: -256 becomes weight -255, clamped to 255", weight, -255.0},
		{feagi.Rust, multiplier, "2.5", "converted: 2.5 becomes weight 1, no whole number", weight, 1.0},
		{feagi.Python, multiplier, "2.5", "carried: 2.5", weight, 2.5},
		{feagi.Rust, multiplier, `"x"`, `!expects a number within ±3.4e38, found "x"`, nil, nil},
		{feagi.Rust, multiplier, "1e39", "!expects a number within ±3.4e38, found 1e39", nil, nil},
		{feagi.Rust, delay, "0", "converted: 0 becomes delay 1, nothing arrives in the burst in which it is sent", late, 1.0},
		{feagi.Rust, delay, "1", "carried: 1", late, 1.0},
		{feagi.Rust, delay, "2", "carried: 2", late, 2.0},
		{feagi.Rust, delay, "255", "carried: 255", late, 255.0},
		{feagi.Rust, delay, "256", "!found 256", nil, nil},
		{feagi.Rust, delay, "-1", "!found -1", nil, nil},
		{feagi.Rust, delay, "1.5", "!found 1.5", nil, nil},
		{feagi.Rust, attractivity, "100", "carried: 100", leftOut, uint64(0)},
		{feagi.Rust, attractivity, "99", "carried: 99", leftOut, uint64(1)},
		{feagi.Rust, attractivity, "49.5", "converted: 49.5 becomes attractivity 50", leftOut, uint64(50)},
		{feagi.Rust, attractivity, "101", "converted: 101 becomes attractivity 100", leftOut, uint64(0)},
		{feagi.Rust, attractivity, "-3", "converted: -3 becomes attractivity 0", leftOut, uint64(100)},
		{feagi.Rust, attractivity, `"x"`, `!expects 0…100, found "x"`, nil, nil},
		{feagi.Rust, "plasticity_flag", "2", "!expects true or false, found 2", nil, nil},
		{feagi.Rust, "morphology_scalar", "[1, 2]", "!expects three numbers, found [1, 2]", nil, nil},
		{feagi.Rust, "morphology_scalar", `[1, 2, "x"]`, `!expects three numbers, found [1, 2, "x"]`, nil, nil},
		{feagi.Rust, "morphology_scalar", "[1, 1, 2]", "no effect: [1, 1, 2], FEAGI scales vectors only, in the dialect python; the rule here is projector", weight, 1.0},
		{feagi.Rust, "morphology_scalar", "2", "no effect: [2, 2, 2], FEAGI scales vectors only, in the dialect python; the rule here is projector", weight, 1.0},
		{feagi.Rust, "other", "2", "not honoured: 2, a key that FEAGI's rules do not have", weight, 1.0},
	} {
		t.Run(fmt.Sprint(c.dialect, " ", c.field, " ", c.value), func(t *testing.T) {
			text := between(voxel{2, 1, 1}, voxel{2, 1, 1}, fmt.Sprintf(`{"morphology_id": "projector", %q: %s}`, c.field, c.value), "")
			g, r, err := feagi.Import("g.json", []byte(text), feagi.Options{Dialect: c.dialect})
			if strings.HasPrefix(c.want, "!") {
				require.ErrorContains(t, err, c.want[1:])
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, strings.Replace(told(r, key(c.field)), key(c.field)+": ", "", 1))
			require.Equal(t, c.is, c.seen(g.Projections[0]))
		})
	}
	for flag, reported := range map[string]int{"true": 1, "1": 1, "false": 0, "0": 0, "null": 0} {
		_, r, err := feagi.Import("g.json", []byte(between(voxel{2, 1, 1}, voxel{2, 1, 1}, `["projector", [1, 1, 1], 1, `+flag+`, 3, 4]`, "")), feagi.Options{})
		require.NoError(t, err)
		require.Equal(t, reported, r.Count(feagi.NotHonoured), flag)
		if reported == 1 {
			require.Contains(t, fmt.Sprint(r.Areas[0].Lines), "plasticity, a rule without plasticity_window, which FEAGI refuses: synapses keep their weights")
			require.Equal(t, "defaulted: "+key("ltd_multiplier")+": 1", told(r, key("ltd_multiplier")))
		}
	}
	for elements, want := range map[string]string{
		`["projector", [1, 1, 1], 1, false, 1, 1, 1, 1, 2]`:    "",
		`["projector", [1, 1, 1], 1, false, 1, 1, 1, 1, 2, 5]`: "element 10, of at most 9",
	} {
		_, r, err := feagi.Import("g.json", []byte(between(voxel{2, 1, 1}, voxel{2, 1, 1}, elements, "")), feagi.Options{})
		require.NoError(t, err)
		require.Equal(t, want != "", r.Count(feagi.NotHonoured) == 1)
		require.Contains(t, fmt.Sprint(r.Areas[0].Lines), want)
	}
}

func weight(p genome.Projection) any  { return p.Weight.A }
func late(p genome.Projection) any    { return p.Delay.A }
func leftOut(p genome.Projection) any { return p.LeaveOut }

// Mistakes in the definitions of the file, and definitions that make no synapses.
func TestDefinitions(t *testing.T) {
	for definition, want := range map[string]string{
		`"m": 3`:           "morphology m: expects an object with type and parameters, found 3",
		`"m": {"type": 3}`: "morphology m, type: expects a text, found 3",
		`"m": {"type": "vectors", "parameters": {}}`:                           "morphology m, vectors: no vectors, which this type of morphology wants",
		`"m": {"type": "vectors", "parameters": {"vectors": 3}}`:               "morphology m, vectors: expects a list, found 3",
		`"m": {"vectors": [[1, 2, 4294967297]]}`:                               "expects three whole numbers up to 2^32, found [1, 2, 4294967297]",
		`"m": {"vectors": [[1, 2, "x"]]}`:                                      `found [1, 2, "x"]`,
		`"m": {"vectors": [[1, 2, -4294967296]]}`:                              "",
		`"m": {"vectors": []}`:                                                 "-the morphology has no vectors",
		`"m": {"patterns": []}`:                                                "-the morphology has no patterns",
		`"m": {"patterns": 3}`:                                                 "morphology m, patterns: expects a list, found 3",
		`"m": {"patterns": [3]}`:                                               "expects a pair of source and destination, found 3",
		`"m": {"patterns": [[[0, 0, 0], [0, 0, 0], [0, 0, 0]]]}`:               "expects a pair of source and destination, found a list of 3",
		`"m": {"patterns": [[[0, 0], [0, 0, 0]]]}`:                             "found [0, 0]",
		`"m": {"patterns": [[[0, 0, 0], [0, 0, true]]]}`:                       "found true",
		`"m": {"patterns": [[[0, 0, 0], [0, 0, 0.5]]]}`:                        "found 0.5",
		`"m": {"patterns": [[[0, 0, 4294967297], [0, 0, 0]]]}`:                 "found 4294967297",
		`"m": {"patterns": [[[0, 0, 4294967296], [0, 0, 0]]]}`:                 "",
		`"m": {"patterns": [[[0, 0, -1], [0, 0, 0]]]}`:                         "-a negative coordinate lies in no area",
		`"m": {"patterns": [[[0, 0, 0], [0, -1, 0]]]}`:                         "-a negative coordinate lies in no area",
		`"m": {"patterns": [[[0, 0, 0], [0, -1, 0]], [[0, 0, 0], [0, 0, 0]]]}`: "",
		`"m": {"src_seed": [1, 1, 1], "src_pattern": [[1, 0], [0, 1], [1, 0]], "mapper_morphology": "projector"}`: "-the morphology chooses no blocks",
		`"m": {"src_seed": [1, 1, 1], "mapper_morphology": "n"}, "n": 3`:                                          "morphology n: expects an object with type and parameters, found 3",
		`"m": {"src_seed": [1, 1, 1], "mapper_morphology": "n"}, "n": {"vectors": []}`:                            "-the morphology has no vectors",
		`"m": {"src_seed": [1, 1, 4294967296], "mapper_morphology": "projector"}`:                                 "",
		`"m": {"src_seed": [1, 1, 4294967297], "mapper_morphology": "projector"}`:                                 "found [1, 1, 4294967297]",
	} {
		g, r, err := feagi.Import("g.json", []byte(between(voxel{2, 1, 1}, voxel{2, 1, 1}, `["m", [1, 1, 1], 1, false]`, definition)), feagi.Options{})
		switch {
		case want == "":
			require.NoError(t, err, definition)
			require.Len(t, g.Projections, 1)
		case want[0] == '-':
			require.NoError(t, err, definition)
			require.Empty(t, g.Projections, definition)
			require.Contains(t, fmt.Sprint(r.Areas[0].Lines), want[1:])
		default:
			require.ErrorContains(t, err, want, definition)
		}
	}
}

// What stands at the top, and how areas are gathered and named.
func TestTheFileAsAWhole(t *testing.T) {
	read := func(text string) (*genome.Genome, *feagi.Report, error) {
		return feagi.Import("some dir/9 lives.json", []byte(text), feagi.Options{})
	}
	_, _, err := read(`{"blueprint": {"a": {}}, "neuron_morphologies": [1]}`)
	require.ErrorContains(t, err, "neuron_morphologies: expects an object of morphologies, found [1]")
	_, _, err = read(`{"blueprint": {"cortical_areas": {}}}`)
	require.ErrorContains(t, err, "blueprint.cortical_areas")
	_, _, err = read(`{"blueprint": {"a": {"cortical_name": 3}}}`)
	require.ErrorContains(t, err, "area a, cortical_name: expects a text, found 3")
	_, _, err = read(`{"blueprint": {"a": {"block_boundaries": [1, 2]}}}`)
	require.ErrorContains(t, err, "area a, block_boundaries: expects a list of 3 numbers, found [1, 2]")
	g, r, err := read(`{"version": 3, "blueprint": {"a": {"block_boundaries": null, "firing_threshold_increment": 0.5, "firing_threshold_increment_x": 2}, "b": 3, "c": {"firing_threshold_increment": [1, 2, 3]}}}`)
	require.NoError(t, err)
	require.Equal(t, "9 lives", g.Name)
	require.Equal(t, "3", r.Version)
	require.Equal(t, [3]float64{2, 0, 0}, g.Areas[0].Gradient)
	require.Equal(t, [3]float64{1, 2, 3}, g.Areas[1].Gradient)
	require.Equal(t, 2, r.Count(feagi.NotHonoured), "an increment that is no list, and a key that is no area")
	g, _, err = feagi.Import("?.json", []byte(`{"blueprint": {"?": {}, "+": {"cortical_name": "up +x"}, "id1": {"cortical_name": "x"}, "id2": {"cortical_name": "x"}, "y": {"cortical_name": "x id3"}, "id3": {"cortical_name": "x"}}}`), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, "genome", g.Name)
	var names []string
	for i := range g.Areas {
		names = append(names, g.Areas[i].Name)
	}
	require.Equal(t, []string{"area", "up px", "x", "x id2", "x id3", "x id3 2"}, names)

	_, r, err = read(`{"blueprint": {"_____10c-c__one-nx-snooze-i": 2, "_____10c-c__one-nx-snooze-f": 2, "_____10c-c__one-cx-snooze-f": 3}}`)
	require.NoError(t, err)
	require.Equal(t, "no effect: nx-snooze-f: 2, the same as nx-snooze-i", told(r, "nx-snooze-f"))
	require.Equal(t, "not honoured: cx-snooze-f: 3, nx-snooze-i gives 2 already", told(r, "cx-snooze-f"))

	for step, want := range map[string]float64{"0.001": 1, "1000": 1e6, "1000.1": 0, "-1": 0, `"x"`: 0} {
		g, _, err := read(`{"burst_delay": 7, "physiology": {"simulation_timestep": ` + step + `, "burst_delay": 5}, "blueprint": {"a": {}}}`)
		if want == 0 {
			require.ErrorContains(t, err, "physiology.simulation_timestep: expects a time above 0 and up to 1000 s")
		} else {
			require.NoError(t, err)
			require.Equal(t, want, g.Timestep)
		}
	}
	_, r, err = read(`{"stats": {"innate_cortical_area_count": 1, "innate_neuron_count": 2, "innate_synapse_count": "x"}, "blueprint": {"a": {}}, "more": 1}`)
	require.NoError(t, err)
	require.Equal(t, &feagi.Stats{Areas: 1, Neurons: 2, Synapses: -1}, r.Stated)
	r.CompareSynapses(3)
	var stale []string
	for _, n := range r.Notes {
		stale = append(stale, n.Key)
	}
	require.Equal(t, []string{"more", "stats.innate_neuron_count", "physiology.simulation_timestep"}, stale)
}

// What lies exactly at a bound of the file: a leak of 1 is a fraction, 2^63 neurons are too many, counts from 0 below 2^53 are
// counts, codes of all that can be printed are texts, and a long key without an area's gene is none.
func TestAtTheBounds(t *testing.T) {
	read := func(text string) (*genome.Genome, *feagi.Report, error) {
		return feagi.Import("g.json", []byte(text), feagi.Options{})
	}
	_, r, err := read(`{"blueprint": {"a": {"leak_coefficient": 1}}}`)
	require.NoError(t, err)
	require.Equal(t, feagi.Rust, r.Dialect)
	_, r, err = read(`{"blueprint": {"a": {"block_boundaries": [2147483648, 4294967296, 1]}}}`)
	require.ErrorContains(t, err, "area a, block_boundaries[1]: expects at most 2^63-1 neurons")
	require.Equal(t, uint64(math.MaxUint64), r.Neurons)
	_, _, err = read(`{"blueprint": {"_____10c-c__one-cx-___bbx-i": 4294967296, "_____10c-c__one-cx-_n_cnt-i": 4294967296}}`)
	require.ErrorContains(t, err, "area c__one, cx-___bbx-i: expects at most 2^63-1 neurons")
	for stated, want := range map[string]int64{"0": 0, "1": 1, "-1": -1, "9007199254740991": 1<<53 - 1, "9007199254740992": -1} {
		_, r, err := read(`{"stats": {"innate_cortical_area_count": ` + stated + `, "innate_neuron_count": ` + stated + `}, "blueprint": {"a": {}}}`)
		require.NoError(t, err)
		require.Equal(t, want, r.Stated.Areas)
		require.Equal(t, want, r.Stated.Neurons)
		notes := 0
		for _, n := range r.Notes {
			if strings.HasPrefix(n.Key, "stats.") {
				notes++
			}
		}
		require.Equal(t, map[bool]int{true: 2, false: 0}[want != 1 && want != -1], notes, stated)
	}
	g, _, err := read(`{"blueprint": {"` + base64.StdEncoding.EncodeToString([]byte("ab cd~xy")) + `": {}, "___45678901234567890": {}}}`)
	require.NoError(t, err)
	require.Equal(t, "ab cd-xy", g.Areas[0].Name)
	require.Equal(t, "___45678901234567890", g.Areas[1].Name)
	_, _, err = read(`{"blueprint": {"___456789012345678901": {}}}`)
	require.ErrorContains(t, err, "expects at least one area")
}

// An area without a group has that of its id's first letter; coded ids of memory are of group memory.
func TestGroups(t *testing.T) {
	for id, want := range map[string]string{"iic400": "ipu", "omot00": "opu", "___pwr": "core", "c__one": "custom", "m__one": "custom", "bWVtMDAwX18=": "memory",
		"aWluZgAAAAA=": "ipu", "b21vdDAwX18=": "opu", "X19fcG93ZXI=": "core", "Y21vdG8wMDE=": "custom", "______": "custom"} {
		g, _, err := feagi.Import("g.json", []byte(`{"blueprint": {"`+id+`": {}}}`), feagi.Options{})
		require.NoError(t, err)
		require.Equal(t, want, g.Areas[0].Group, id)
	}
}

// Mappings find their area however its id is written; what a rule leaves at its default is not written out.
func TestDestinations(t *testing.T) {
	for _, c := range []struct{ area, to string }{{"Y21vdG8wMDE=", "cmoto001"}, {"cmoto001", "Y21vdG8wMDE="}, {"X19fcG93ZXI=", "_power"}, {"_power", "___pwr"}, {"iic400", "aWljNDAwX18="}, {"c__two", "c__two"}} {
		_, made, _, err := feagi.Translate("g.json", []byte(`{"blueprint": {"c__one": {"cortical_mapping_dst": {"`+c.to+`": [["projector", [1, 1, 1], 1, false]]}}, "`+c.area+`": {"cortical_name": "second"}}}`), feagi.Options{})
		require.NoError(t, err, "%s as %s", c.area, c.to)
		require.Contains(t, string(made), "  - from: c__one\n    to: second\n    rule: projector\n    weight: 1\n")
		require.NotContains(t, string(made), "delay")
		require.NotContains(t, string(made), "attractivity")
		require.NotContains(t, string(made), "merge")
	}
	_, _, err := feagi.Import("g.json", []byte(`{"blueprint": {"Y21vdG8wMDE=": {}, "cmoto001": {}, "c__one": {"cortical_mapping_dst": {"Y21vdG8wMDE_": [["projector", [1, 1, 1], 1, false]]}}}}`), feagi.Options{})
	require.ErrorContains(t, err, "no area has that id")
}

// A flat key is longer than 20 letters.
func TestFlatKeys(t *testing.T) {
	for key, areas := range map[string]int{"_____10-c-cx-snooze-f": 0, "___c-abcde-cx-mp_acc-b": 1, "___c-abc-cx-mp_acc-b": 0} {
		g, _, err := feagi.Import("g.json", []byte(`{"blueprint": {"c__one": {}, "`+key+`": true}}`), feagi.Options{})
		require.NoError(t, err)
		require.Len(t, g.Areas, 1+areas, "%s, %d letters", key, len(key))
	}
}

// What the YAML of an import looks like: short lists in a line, comments that say FEAGI's name and can be printed.
func TestTextOfTheYAML(t *testing.T) {
	made := func(id, rule, definition string) string {
		_, text, r, err := feagi.Translate("g.json", []byte(`{"neuron_morphologies": {`+definition+`}, "blueprint": {"`+id+`": {"cortical_mapping_dst": {"`+id+`": [["`+rule+`", [1, 1, 1], 1, false]]}}}}`), feagi.Options{Dialect: feagi.Python})
		require.NoError(t, err)
		require.NotContains(t, fmt.Sprint(r.Areas[0].Lines), "vectors multiplied", "a scalar of ones")
		return string(text)
	}
	require.Contains(t, made("a", "projector_xy", ""), "    rule: projector  # FEAGI's projector_xy\n    axes: yxz\n")
	require.Contains(t, made("a", "v", `"v": {"vectors": [[0,0,1],[0,0,2],[0,0,3],[0,0,4]]}`), "    vectors: [[0, 0, 1], [0, 0, 2], [0, 0, 3], [0, 0, 4]]\n")
	require.Contains(t, made("a", "v", `"v": {"vectors": [[0,0,1],[0,0,2],[0,0,3],[0,0,4],[0,0,5]]}`), "    vectors:\n      - [0, 0, 1]\n      - [0, 0, 2]\n")
	require.Contains(t, made(`é\u0007\ufffd\ud83d\ude00!`, "projector", ""), "# FEAGI's é???!\n")
	require.Contains(t, made("!"+strings.Repeat("x", 500), "projector", ""), "# FEAGI's !"+strings.Repeat("x", 191)+"\n")
}

// The report's text, line by line.
func TestReportText(t *testing.T) {
	r := &feagi.Report{File: "g.json", Form: "flat", Dialect: feagi.Rust, Why: "as asked", Notes: []feagi.Note{
		{Key: "a", Fate: feagi.NoEffect}, {Key: "b", Fate: feagi.Carried, From: "1"}, {Key: "c", Fate: feagi.Defaulted, To: "2"}, {Key: "d", Fate: feagi.Defaulted, To: "3"},
		{Key: "e", Fate: feagi.NoEffect}, {Key: "f", Fate: feagi.NoEffect, Reason: "why"}, {Fate: feagi.NoEffect, From: "x"},
		{Key: "g", Fate: feagi.Converted, From: "1", To: "2", Reason: "r"}, {Key: "h", Fate: feagi.Converted, From: "1", To: "1"}, {Key: "i", Fate: feagi.Converted, To: "1"},
	}, Areas: []feagi.AreaReport{{ID: "c__one", Name: "one", Lines: []feagi.Note{{Key: "k", Fate: feagi.Carried}}}, {ID: "c__two", Name: "two"}}}
	for i, to := range []string{"x", "x", "x", "y", "y"} {
		r.Areas[1].Lines = append(r.Areas[1].Lines, feagi.Note{Key: fmt.Sprintf("d to z, rule %d", i+1), Fate: feagi.Converted, From: "r", To: to})
	}
	r.Areas[1].Lines = append(r.Areas[1].Lines, feagi.Note{Key: "d to q, rule 6", Fate: feagi.Converted, From: "r", To: "y"}, feagi.Note{Key: "lost", Fate: feagi.NotHonoured})
	var b strings.Builder
	require.NoError(t, r.Write(&b, "2 areas"))
	require.Equal(t, `g.json: a FEAGI genome (flat, 2 areas), dialect rust (as asked); 2 values carried, 9 converted, 2 defaulted, 4 without effect, 1 not honoured
  2 areas
  no effect: f: why
  no effect: x
  converted: g: 1 becomes 2, r
  converted: h: 1
  converted: i: 1
  defaulted: c 2, d 3
  no effect: a, e
  area c__two (two)
    not honoured: lost: 
    converted: d to z, rules 1 to 3: r becomes x
    converted: d to z, rules 4 to 5: r becomes y
    converted: d to q, rule 6: r becomes y
`, b.String())
}

// Names keep the first and the last of each kind of letter; what looks like a number is quoted; 80 letters are kept.
func TestNames(t *testing.T) {
	for name, want := range map[string]string{
		"azAZ09_. -b": "azAZ09_. -b", "a`b{c@d[e/f:g": "a-b-c-d-e-f-g", "0x": `"0x"`, "9": `"9"`, ":a": "a", "NO": `"NO"`,
		strings.Repeat("x", 80): strings.Repeat("x", 80), strings.Repeat("x", 81): strings.Repeat("x", 80),
	} {
		_, made, _, err := feagi.Translate("g.json", []byte(fmt.Sprintf(`{"physiology": {"simulation_timestep": 0.5, "max_age": 3}, "blueprint": {"c__one": {"cortical_name": %q, "firing_threshold": 9007199254740992}}}`, name)), feagi.Options{})
		require.NoError(t, err)
		require.Contains(t, string(made), "  - name: "+want+"\n")
		require.Contains(t, string(made), "threshold: 9.007199254740992e+15\n")
	}
}

// No more than a hundred mistakes are told; lines that three areas share stand once in the report.
func TestManyOfAKind(t *testing.T) {
	report := func(areas int, value string) (string, error) {
		var b strings.Builder
		for i := range areas {
			fmt.Fprintf(&b, `, "c__%03d": {"refractory_period": %s}`, i, value)
		}
		_, r, err := feagi.Import("g.json", []byte(`{"blueprint": {`+b.String()[2:]+`}}`), feagi.Options{})
		var text strings.Builder
		if err == nil {
			require.NoError(t, r.Write(&text))
		}
		return text.String(), err
	}
	for _, n := range []int{99, 100, 101} {
		_, err := report(n, "-1")
		var faults genome.Faults
		require.True(t, errors.As(err, &faults))
		require.Len(t, faults, min(n, 100))
	}
	two, err := report(2, "2.5")
	require.NoError(t, err)
	require.Equal(t, 2, strings.Count(two, "    converted: refractory_period: 2.5 becomes 2"))
	require.NotContains(t, two, "in 2 areas")
	three, err := report(3, "2.5")
	require.NoError(t, err)
	require.Contains(t, three, "  in 3 areas, converted: refractory_period: 2.5 becomes 2")
	require.NotContains(t, three, "    converted: refractory_period")
}
