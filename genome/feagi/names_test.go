package feagi_test

import (
	"fmt"
	"testing"

	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// named is a genome of two areas of 3 x 3 x 3 voxels, of which the first reaches the second by the morphology of a name.
func named(name, definitions string) string {
	return fmt.Sprintf(`{"version": "3.0", "neuron_morphologies": {%s}, "blueprint": {
 "c__one": {"block_boundaries": [3, 3, 3], "psp_uniform_distribution": true, "cortical_mapping_dst": {"c__two": [[%q, [1, 1, 1], 1, false]]}},
 "c__two": {"block_boundaries": [3, 3, 3]}}}`, definitions, name)
}

// Names of which FEAGI's released server takes its own morphology, whatever a file says of them, and definitions that it does not read:
// so many synapses has it made of them.
func TestReleasedNames(t *testing.T) {
	made := func(t *testing.T, name, definition string, o feagi.Options) int {
		if definition != "" {
			definition = fmt.Sprintf("%q: %s", name, definition)
		}
		g, _, err := feagi.Import("names.json", []byte(named(name, definition)), o)
		require.NoError(t, err)
		return int(build(t, g).Synapses())
	}
	for name, most := range map[string]int{
		"projector": 27, "block_to_block": 27, "tile": 27, "all_to_0-0-0": 27, "0-0-0_to_all": 27, "last_to_first": 1,
		"lateral_+x": 18, "lateral_-x": 18, "lateral_+y": 18, "lateral_-y": 18, "lateral_+z": 18, "lateral_-z": 18,
		"all_to_all": 1, "lateral_pairs_x": 1, "expander_x": 1, "projector_xy": 1, "block_connection": 1, "memory": 1, "mine": 1,
	} {
		for _, definition := range []string{`{"type": "vectors", "parameters": {"vectors": [[2, 2, 2]]}}`, `{"parameters": {"vectors": [[2, 2, 2]]}}`} {
			require.Equal(t, most, made(t, name, definition, feagi.Options{}), "%s: %s", name, definition)
		}
		if most == 1 && name != "last_to_first" {
			most = 0
		}
		require.Equal(t, most, made(t, name, `{"vectors": [[2, 2, 2]]}`, feagi.Options{}), "%s, without parameters", name)
		if name != "mine" && name != "memory" {
			require.Equal(t, most, made(t, name, "", feagi.Options{}), "%s, which the file does not define", name)
		}
	}
	require.Equal(t, 1, made(t, "last_to_first", `{"type": "vectors", "parameters": {"vectors": [[0, 0, 0]]}}`, feagi.Options{}))
	require.Equal(t, 27*27, made(t, "all_to_all", "", feagi.Options{Unmade: true}))
	require.Equal(t, 1, made(t, "mine", `{"vectors": [[2, 2, 2]]}`, feagi.Options{Unmade: true}))
	require.Equal(t, 1, made(t, "lateral_+x", `{"vectors": [[2, 2, 2]]}`, feagi.Options{Dialect: feagi.Rust}), "the earlier programs take the file's")

	_, report, err := feagi.Import("names.json", []byte(named("lateral_+x", `"lateral_+x": {"type": "vectors", "parameters": {"vectors": [[2, 0, 0]]}}`)), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, "FEAGI's release takes its own morphology of that name, whatever the file says", reasonOf(report, "lateral_+x"))
	_, report, err = feagi.Import("names.json", []byte(named("lateral_+x", `"lateral_+x": {"type": "vectors", "parameters": {"vectors": [[1, 0, 0]]}}`)), feagi.Options{})
	require.NoError(t, err)
	require.Empty(t, reasonOf(report, "lateral_+x"), "the file says the same")
}

// reasonOf is why a value of the first area became another.
func reasonOf(r *feagi.Report, from string) string {
	for _, n := range r.Areas[0].Lines {
		if n.From == from {
			return n.Reason
		}
	}
	return ""
}

// Measured: FEAGI's released server divides the current of areas that do not say whether it is uniform, but not that of power.
func TestReleasedPowerIsUniform(t *testing.T) {
	text := `{"version": "3.0", "blueprint": {"___pwr": {"cortical_name": "power"%s}, "_death": {"cortical_name": "death"}, "c__one": {"cortical_name": "one"}}}`
	divided := func(more string, d feagi.Dialect) (list [3]bool) {
		g, _, err := feagi.Import("power.json", fmt.Appendf(nil, text, more), feagi.Options{Dialect: d})
		require.NoError(t, err)
		for i := range list {
			list[i] = g.Areas[i].DividePSP
		}
		return list
	}
	require.Equal(t, [3]bool{false, true, true}, divided("", feagi.Release))
	require.Equal(t, [3]bool{true, true, true}, divided(`, "psp_uniform_distribution": false`, feagi.Release))
	require.Equal(t, [3]bool{false, true, true}, divided(`, "mp_driven_psp": true`, feagi.Release))
	require.Equal(t, [3]bool{true, true, true}, divided("", feagi.Rust))
	require.Equal(t, [3]bool{false, false, false}, divided("", feagi.Python))
}

// Measured: in FEAGI's release a spike lowers the current of its neuron's synapses by the degeneration, which burst does not.
func TestReleasedDegeneration(t *testing.T) {
	text := []byte(`{"version": "3.0", "neuron_morphologies": {}, "blueprint": {
 "c__one": {"degeneration": 5, "cortical_mapping_dst": {"c__two": [["projector", [1, 1, 1], 1, false]]}},
 "c__two": {"degeneration": 0.01, "cortical_mapping_dst": {}}, "c__tre": {"degeneration": 0, "cortical_mapping_dst": {"c__two": [["projector", [1, 1, 1], 1, false]]}}}}`)
	fates := func(d feagi.Dialect) (list []feagi.Fate) {
		_, r, err := feagi.Import("a.json", text, feagi.Options{Dialect: d})
		require.NoError(t, err)
		for i := range r.Areas {
			for _, n := range r.Areas[i].Lines {
				if n.Key == "degeneration" {
					list = append(list, n.Fate)
				}
			}
		}
		return list
	}
	require.Equal(t, []feagi.Fate{feagi.NotHonoured, feagi.NoEffect, feagi.NoEffect}, fates(feagi.Release))
	require.Equal(t, []feagi.Fate{feagi.NoEffect, feagi.NoEffect, feagi.NoEffect}, fates(feagi.Rust))
	_, _, err := feagi.Import("a.json", text, feagi.Options{Strict: true})
	require.ErrorContains(t, err, "a.json:2:29: area c__one, degeneration: 5, in FEAGI's release each spike lowers")
}
