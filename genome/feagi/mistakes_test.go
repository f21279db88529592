package feagi_test

import (
	"fmt"
	"strings"
	"testing"

	"burst/connectome"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// one is a genome of two areas, a gene of the first and a rule between them.
func one(gene, value, rule string) string {
	return fmt.Sprintf(`{"neuron_morphologies": {
 "bent": {"type": "vectors", "parameters": {"vectors": [[1, 2]]}},
 "odd": {"type": "patterns", "parameters": {"patterns": [[["*", "#", 0], [0, 0, 0]]]}},
 "spiral": {"type": "helix", "parameters": {}},
 "loop": {"type": "composite", "parameters": {"src_seed": [1, 1, 1], "mapper_morphology": "loop"}},
 "plain": {"type": "composite", "parameters": {"mapper_morphology": "projector"}}}, "blueprint": {
 "_____10c-c__one-%s": %s,
 "_____10c-c__one-cx-dstmap-d": {"c__two": [%s]},
 "_____10c-c__two-cx-___bbx-i": 2
}}`, gene, value, rule)
}

// Every mistake is refused with FEAGI's area and key, at the line where it stands.
func TestMistakes(t *testing.T) {
	const fine = `["projector", [1, 1, 1], 1, false, 1, 1, 1]`
	for _, c := range []struct {
		name, text string
		want       []string
		line       int
	}{
		{"no JSON", `{"blueprint": {"a": }}`, []string{"no JSON"}, 1},
		{"cut off", "{\"blueprint\": {\n\"_____10c-c__one-cx-___bbx-i\": 1", []string{"_____10c-c__one-cx-___bbx-i", "the text ends"}, 2},
		{"more behind", `{} {}`, []string{"more text after"}, 1},
		{"a list", `[1]`, []string{"expects a JSON object"}, 1},
		{"no blueprint", `{"version": "2.0"}`, []string{"under the key blueprint, found no such key"}, 1},
		{"a list of areas", "{\"version\": \"2.0\",\n \"blueprint\": \n  [1, \"a\"]}", []string{"g.json:3:3: blueprint: expects an object of areas, found [1, \"a\"]"}, 3},
		{"no seed", one("cx-___bbx-i", "1", `["plain", [1,1,1], 1, false]`), []string{"morphology plain, src_seed: no size of a block, want one such as [16, 16, 1]"}, 6},
		{"seed of nothing", strings.Replace(one("cx-___bbx-i", "1", `["loop", [1,1,1], 1, false]`), `"src_seed": [1, 1, 1]`, `"src_seed": [0, 0, 0]`, 1), []string{"morphology loop, src_seed: expects 3 whole numbers from 1 to 2^32 (the voxels of a block along x, y and z), found [0, 0, 0]"}, 5},
		{"pattern of a composite", strings.Replace(one("cx-___bbx-i", "1", `["loop", [1,1,1], 1, false]`), `"src_seed"`, `"src_pattern": [[1, 0], [1, -1], [1, 0]], "src_seed"`, 1), []string{"morphology loop, src_pattern: expects 2 whole numbers from 0 to 2^32 (how many blocks to choose, then how many to skip), found [1, -1]"}, 5},
		{"pattern of two pairs", strings.Replace(one("cx-___bbx-i", "1", `["loop", [1,1,1], 1, false]`), `"src_seed"`, `"src_pattern": [[1, 0], [1, 1]], "src_seed"`, 1), []string{"morphology loop, src_pattern: expects three pairs of choose and skip, found a list of 2"}, 5},
		{"no mapper", strings.Replace(one("cx-___bbx-i", "1", `["loop", [1,1,1], 1, false]`), `, "mapper_morphology": "loop"`, "", 1), []string{"morphology loop, mapper_morphology: no name of a morphology, want one"}, 5},
		{"mapper by number", strings.Replace(one("cx-___bbx-i", "1", `["loop", [1,1,1], 1, false]`), `"mapper_morphology": "loop"`, `"mapper_morphology": 3`, 1), []string{"morphology loop, mapper_morphology: expects the name of a morphology, found 3"}, 5},
		{"mappings of the oldest form", "{\"blueprint\": {\"c__one\": {\"cortical_mapping_dst\": {\n \"c__one\": {\"neighbor_locator_rule_id\": \"rule_6\", \"neighbor_locator_rule_param_id\": \"param_2\"}}}}}",
			[]string{`g.json:2:12: area c__one, cortical_mapping_dst to c__one, rule 1: "rule_6" found, a rule of an old form (neighbor_locator_rule_id), which FEAGI no longer has; want a morphology, as in ["projector", [1, 1, 1], 1, false]`, "--skip-missing"}, 2},
		{"too large in y", `{"blueprint": {"a": {"cortical_name": "x", "block_boundaries": [1,` + "\n" + ` 4294967296,` + "\n" + `  4294967296]}}}`, []string{"g.json:2:2: area a, block_boundaries[1]: expects at most 2^63-1 neurons, found an area of 1 by 4294967296 by 4294967296 voxels with 1 neurons each"}, 2},
		{"too large in z", `{"blueprint": {"a": {"cortical_name": "x", "block_boundaries": [1, 4294967295,` + "\n" + `  4294967296]}}}`, []string{"g.json:2:3: area a, block_boundaries[2]: expects at most"}, 2},
		{"too large a voxel", "{\"blueprint\": {\n\"_____10c-c__one-cx-_n_cnt-i\": 4294967296,\n\"_____10c-c__one-cx-___bbx-i\": 2147483648}}", []string{"g.json:2:32: area c__one, cx-_n_cnt-i: expects at most"}, 2},
		{"no areas", `{"blueprint": {}}`, []string{"blueprint: expects at least one area, found none; a key of an area is such as", "_____10c-c__one-cx-___bbx-i", "block_boundaries"}, 1},
		{"deep", `{"blueprint": ` + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "}", []string{"nested more than 32 deep"}, 1},
		{"key twice", `{"blueprint": {"a": {}, "a": {}}}`, []string{"blueprint.a", "the key stands here twice"}, 1},
		{"negative size", one("cx-___bby-i", "-4", fine), []string{"area c__one, cx-___bby-i", "found -4"}, 7},
		{"absurd size", one("cx-___bbx-i", "1e30", fine), []string{"area c__one, cx-___bbx-i", "found 1e30"}, 7},
		{"half a voxel", one("cx-___bbz-i", "1.5", fine), []string{"area c__one, cx-___bbz-i", "whole number"}, 7},
		{"text for a number", one("nx-fire_t-f", `"high"`, fine), []string{"area c__one, nx-fire_t-f", `found "high"`}, 7},
		{"number for a flag", one("nx-mp_acc-b", "7", fine), []string{"area c__one, nx-mp_acc-b", "true or false"}, 7},
		{"beyond float32", one("nx-fire_t-f", "1e39", fine), []string{"area c__one, nx-fire_t-f"}, 7},
		{"negative leak", one("nx-leak_c-f", "-0.5", fine), []string{"area c__one, nx-leak_c-f", "at least 0"}, 7},
		{"negative refractory", one("nx-refrac-i", "-1", fine), []string{"area c__one, nx-refrac-i"}, 7},
		{"negative limit", one("nx-fthlim-f", "-1", fine), []string{"area c__one, nx-fthlim-f"}, 7},
		{"mapping is a list", `{"blueprint": {"c__one": {"cortical_mapping_dst": [1]}}}`, []string{"area c__one, cortical_mapping_dst", `expects an object of destinations, such as {"c__two": [["projector", [1, 1, 1], 1, false]]}, found [1]`}, 1},
		{"rules are a text", `{"blueprint": {"c__one": {"cortical_mapping_dst": {"c__one": "projector"}}}}`, []string{"area c__one, cortical_mapping_dst to c__one", `expects a list of rules, such as [["projector", [1, 1, 1], 1, false]], found "projector"`}, 1},
		{"missing area", strings.Replace(one("cx-___bbx-i", "1", fine), `{"c__two"`, `{"c_lost"`, 1), []string{"area c__one, cx-dstmap-d to c_lost, rule 1", "no area has that id", "--skip-missing"}, 8},
		{"unknown morphology", one("cx-___bbx-i", "1", `["zigzag", [1,1,1], 1, false]`), []string{"area c__one, cx-dstmap-d to c__two, rule 1", `"zigzag"`, "no morphology"}, 8},
		{"unknown type", one("cx-___bbx-i", "1", `["spiral", [1,1,1], 1, false]`), []string{"area c__one", "helix"}, 8},
		{"composite of composites", one("cx-___bbx-i", "1", `["loop", [1,1,1], 1, false]`), []string{"morphology loop", "composite inside"}, 5},
		{"vector of two", one("cx-___bbx-i", "1", `["bent", [1,1,1], 1, false]`), []string{"morphology bent, vectors"}, 2},
		{"pattern sign", one("cx-___bbx-i", "1", `["odd", [1,1,1], 1, false]`), []string{"morphology odd, patterns", `"#"`}, 3},
		{"rule of 3", one("cx-___bbx-i", "1", `["projector", [1,1,1], 1]`), []string{"area c__one", "4, 7, 8 or 9"}, 8},
		{"rule of nothing", one("cx-___bbx-i", "1", `null`), []string{"a list or an object"}, 8},
		{"multiplier", one("cx-___bbx-i", "1", `["projector", [1,1,1], "x", false]`), []string{"postSynapticCurrent_multiplier"}, 8},
		{"delay", one("cx-___bbx-i", "1", `{"morphology_id": "projector", "synaptic_delay_bursts": 256}`), []string{"synaptic_delay_bursts", "found 256"}, 8},
		{"nameless rule", one("cx-___bbx-i", "1", `{"plasticity_flag": false}`), []string{`expects the name of a morphology as morphology_id, found none; a rule is such as ["projector", [1, 1, 1], 1, false]`}, 8},
		{"rule by number", one("cx-___bbx-i", "1", `[3, [1,1,1], 1, false]`), []string{"expects the name of a morphology as morphology_id, found 3"}, 8},
		{"rule without text", one("cx-___bbx-i", "1", `{"morphology_id": ""}`), []string{`as morphology_id, found ""`}, 8},
		{"timestep", `{"physiology": {"simulation_timestep": 0}, "blueprint": {"a": {}}}`, []string{"physiology.simulation_timestep"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := feagi.Import("g.json", []byte(c.text), feagi.Options{})
			var faults genome.Faults
			require.ErrorAs(t, err, &faults)
			for _, want := range c.want {
				require.Contains(t, faults[0].Error(), want)
			}
			require.Equal(t, c.line, faults[0].Line)
			require.Equal(t, "g.json", faults[0].File)
		})
	}
}

// What only the genome's parser or the builder can refuse is told in FEAGI's words as well.
func TestMistakesOfLaterSteps(t *testing.T) {
	text := `{"blueprint": {
"_____10c-c__one-cx-___bbx-i": 4294967296,
"_____10c-c__one-cx-___bby-i": 4294967296
}}`
	_, _, err := feagi.Import("g.json", []byte(text), feagi.Options{})
	require.ErrorContains(t, err, "g.json:2:32: area c__one, cx-___bbx-i: expects at most 2^63-1 neurons")

	text = `{"blueprint": {
"_____10c-c__one-cx-___bbx-i": 2000000000,
"_____10c-c__two-cx-___bbx-i": 2000000000,
"_____10c-c_last-cx-___bbx-i": 2000000000
}}`
	g, _, err := feagi.Import("g.json", []byte(text), feagi.Options{})
	require.NoError(t, err)
	_, err = connectome.Build(g, connectome.Options{})
	var limit *connectome.LimitError
	require.ErrorAs(t, err, &limit)
	require.Contains(t, err.Error(), "g.json:")
	require.Contains(t, err.Error(), "area c_")
}

// The dialect decides what a leak above 1 is; a dialect that cannot take it says which can.
func TestDialects(t *testing.T) {
	text := []byte(one("nx-leak_c-f", "10", `["projector", [1,1,1], 1, false]`))
	_, _, err := feagi.Import("g.json", text, feagi.Options{Dialect: feagi.Rust})
	require.ErrorContains(t, err, "area c__one, nx-leak_c-f")
	require.ErrorContains(t, err, "--dialect python")
	_, r, err := feagi.Import("g.json", text, feagi.Options{Dialect: feagi.Python})
	require.NoError(t, err)
	require.Equal(t, "as asked", r.Why)
}

// Strict refuses exactly what an import without it reports as not honoured.
func TestStrict(t *testing.T) {
	text := testFile(t, "flat.json")
	_, r, err := feagi.Import("flat.json", text, feagi.Options{})
	require.NoError(t, err)
	_, _, err = feagi.Import("flat.json", text, feagi.Options{Strict: true})
	var faults genome.Faults
	require.ErrorAs(t, err, &faults)
	require.Len(t, faults, r.Count(feagi.NotHonoured))
	require.Contains(t, err.Error(), "area Mem000")

	_, _, err = feagi.Import("hierarchical.json", testFile(t, "hierarchical.json"), feagi.Options{Strict: true})
	require.NoError(t, err, "nothing of this file is left out")
}

// Mappings that lead nowhere are left out only when asked for, and are reported then.
func TestSkipMissing(t *testing.T) {
	text := strings.Replace(one("cx-___bbx-i", "1", `["projector", [1,1,1], 1, false], ["zigzag", [1,1,1], 1, false]`), `{"c__two"`, `{"c_lost": [["projector", [1,1,1], 1, false]], "c__two"`, 1)
	g, r, err := feagi.Import("g.json", []byte(text), feagi.Options{SkipMissing: true})
	require.NoError(t, err)
	require.Len(t, g.Projections, 1)
	require.Equal(t, 2, r.Count(feagi.NotHonoured))
}
