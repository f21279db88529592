package feagi_test

import (
	"fmt"
	"strings"
	"testing"

	"burst/genome"
	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// A file in which no more than power can fire says so, with a setting that makes an area fire, the best one there is.
func TestFeed(t *testing.T) {
	area := func(id, group, threshold string, to ...string) string {
		var maps []string
		for _, d := range to {
			maps = append(maps, fmt.Sprintf(`%q: [["projector", [1, 1, 1], 1, false]]`, d))
		}
		return fmt.Sprintf(`%q: {"cortical_group": %q, "firing_threshold": %s, "psp_uniform_distribution": true, "cortical_mapping_dst": {%s}}`, id, group, threshold, strings.Join(maps, ", "))
	}
	const power, none = "nothing but power can fire, for no mapping leads from it to another area", "nothing can fire, for the file has no power area"
	for _, c := range []struct {
		name, quiet, area string
		areas             []string
	}{
		{"power reaches an area", "", "", []string{area("___pwr", "CORE", "1", "c__one"), area("c__one", "CUSTOM", "1")}},
		{"power alone", power, "", []string{area("___pwr", "CORE", "1")}},
		{"power to itself", power, "c__one", []string{area("___pwr", "CORE", "1", "___pwr"), area("c__one", "CUSTOM", "0.1")}},
		{"core alone", power, "", []string{area("___pwr", "CORE", "1"), area("_death", "CORE", "1", "___pwr")}},
		{"an input with mappings first", power, "iv0001", []string{area("___pwr", "CORE", "1"), area("iv0000", "IPU", "1"), area("c__one", "CUSTOM", "1", "c__two"),
			area("iv0001", "IPU", "2.5", "c__one"), area("iv0002", "IPU", "3", "c__one"), area("c__two", "CUSTOM", "1")}},
		{"then mappings", power, "c__one", []string{area("___pwr", "CORE", "1"), area("iv0000", "IPU", "1"), area("c__one", "CUSTOM", "102", "iv0000")}},
		{"to itself is no mapping", power, "iv0000", []string{area("c__one", "CUSTOM", "1", "c__one"), area("___pwr", "CORE", "1"), area("iv0000", "IPU", "1")}},
		{"then inputs", power, "iv0000", []string{area("___pwr", "CORE", "1"), area("c__one", "CUSTOM", "1"), area("iv0000", "IPU", "1")}},
		{"no power", none, "c__one", []string{area("c__one", "CUSTOM", "1", "c__two"), area("c__two", "CUSTOM", "1")}},
		{"a coded id", none, "aWluZgAAAAA=", []string{area("aWluZgAAAAA=", "IPU", "1")}},
		{"an id of digits", none, "12.5", []string{area("12.5", "IPU", "1")}},
		{"an id that no genome takes", none, "a-b", []string{area("a:b", "IPU", "1")}},
	} {
		t.Run(c.name, func(t *testing.T) {
			g, made, r, err := feagi.Translate("f.json", []byte(`{"blueprint": {`+strings.Join(c.areas, ",\n")+`}}`), feagi.Options{})
			require.NoError(t, err)
			require.Equal(t, c.quiet, r.Quiet)
			var b strings.Builder
			require.NoError(t, r.Write(&b))
			require.Equal(t, c.quiet != "", strings.Contains(b.String(), "  "+c.quiet+"\n") && c.quiet != "")
			if c.area == "" {
				require.Empty(t, r.Feed)
				require.NotContains(t, b.String(), "with a stimulus")
				return
			}
			require.Equal(t, c.area+"=all every 10", r.Feed)
			require.Contains(t, b.String(), "  with a stimulus: burst run f.json --stimulate '"+r.Feed+"'\n")
			_, before := digest(t, build(t, g), "cpu", 30)
			fed, err := g.Stimulate([]string{r.Feed})
			require.NoError(t, err, "%s", made)
			_, after := digest(t, build(t, fed), "cpu", 30)
			require.Greater(t, after, before, "the stimulus makes it fire")
		})
	}
}

// The power area of several neurons has a stimulus already, to which another is added.
func TestFeedBesideAStimulus(t *testing.T) {
	g, r, err := feagi.Import("f.json", []byte(`{"blueprint": {"___pwr": {"block_boundaries": [2, 1, 1]}, "c__one": {}}}`), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, "c__one=all every 10", r.Feed)
	fed, err := g.Stimulate([]string{r.Feed})
	require.NoError(t, err)
	require.Len(t, fed.Stimuli, 2)
}

// FEAGI's ids stand for the areas: as the file writes them and, where they are coded, as they read.
func TestAliases(t *testing.T) {
	text := `{"blueprint": {
 "omot00": {"cortical_name": "Motor Output"},
 "oHand_": {"cortical_name": "hand"},
 "Y21vdG8wMDE=": {"cortical_name": "Motor Output"},
 "aWljNDAwX18=": {"cortical_name": "eye"},
 "aWluZgAAAAA=": {"cortical_name": "touch"},
 "same": {"cortical_name": "same"},
 "c__abc": {"cortical_name": "c__xyz"},
 "c__xyz": {"cortical_name": "other"},
 "iic400": {"cortical_name": "old eye"},
 "c lost": {"cortical_name": "lost"},
 "m__mem": {"cortical_name": "mem", "sub_group_id": "MEMORY"}}}`
	g, made, r, err := feagi.Translate("a.json", []byte(text), feagi.Options{})
	require.NoError(t, err)
	want := map[string][]string{
		"Motor Output": {"omot00"}, "hand": {"oHand_", "oHand"}, "Motor Output cmoto001": {"Y21vdG8wMDE=", "cmoto001"}, "eye": {"aWljNDAwX18=", "iic400__"},
		"touch": {"aWluZgAAAAA="}, "same": nil, "c__xyz": {"c__abc"}, "other": nil, "old eye": {"iic400"}, "lost": nil, "mem": {"m__mem"},
	}
	require.Len(t, g.Areas, len(want))
	for i := range g.Areas {
		require.Equal(t, want[g.Areas[i].Name], g.Areas[i].Aliases, g.Areas[i].Name)
	}
	require.Equal(t, feagi.Note{Key: "id", Fate: feagi.Converted, From: "c__xyz", To: "other", Reason: "another area's name, which is meant by it"}, r.Areas[7].Lines[len(r.Areas[7].Lines)-1-indexFromEnd(r.Areas[7].Lines, "id")])
	notes := 0
	for _, n := range r.Areas[7].Lines {
		if n.Key == "id" {
			notes++
		}
	}
	require.Equal(t, 1, notes, "told once")
	for _, id := range []string{"omot00", "oHand", "Y21vdG8wMDE=", "cmoto001", "iic400__", "iic400", "aWluZgAAAAA=", "same"} {
		more := fmt.Sprintf("stimuli:\n  - {area: %q, at: 1, neurons: [0], amount: 1}\nrecord: {spikes: [%q]}\n", id, id)
		added, err := genome.Parse("a.yaml", append(made[:len(made):len(made)], more...), nil)
		require.NoError(t, err, "added to the YAML of an import")
		set, err := g.With([]string{"stimuli.0={area: \"" + id + "\", at: 1, neurons: [0], amount: 1}", "record.spikes.0=" + id, "areas." + id + ".threshold=3"})
		require.NoError(t, err, "set in the import")
		area := added.Stimuli[0].Area
		found, err := added.FindArea(id)
		require.NoError(t, err)
		require.Equal(t, area, found)
		require.Equal(t, added.Stimuli, set.Stimuli[:1:1], id)
		require.Equal(t, []int{area}, set.Record.Spikes)
		require.Equal(t, 3.0, set.Areas[area].Params["threshold"])
	}
}

// indexFromEnd is how many notes stand behind the last one of a key.
func indexFromEnd(notes []feagi.Note, key string) int {
	for i := range notes {
		if notes[len(notes)-1-i].Key == key {
			return i
		}
	}
	return -1
}

// The report names the areas that input reaches without stimuli, and the sensors with their voxels, each with a stimulus that works.
func TestSensors(t *testing.T) {
	g, r, err := feagi.Import("s.json", []byte(`{"blueprint": {
 "___pwr": {"cortical_mapping_dst": {"c__one": [["all_to_all", [1, 1, 1], 1, false]]}},
 "c__one": {"cortical_name": "one"},
 "iic400": {"cortical_name": "Central vision", "cortical_group": "IPU", "block_boundaries": [4, 3, 2], "firing_threshold": 2.5},
 "aWluZgAAAAA=": {"cortical_name": "touch", "cortical_group": "IPU", "per_voxel_neuron_cnt": 2},
 "omot00": {"cortical_group": "OPU"}}}`), feagi.Options{})
	require.NoError(t, err)
	require.Equal(t, []string{"___pwr", "one"}, r.Reached)
	require.Empty(t, r.Quiet)
	require.Equal(t, []feagi.Sensor{
		{ID: "iic400", Name: "Central vision", Size: [3]uint64{4, 3, 2}, PerVoxel: 1, Stimulus: "iic400=all every 10"},
		{ID: "aWluZgAAAAA=", Name: "touch", Size: [3]uint64{1, 1, 1}, PerVoxel: 2, Stimulus: "aWluZgAAAAA==all every 10"},
	}, r.Sensors)
	var b strings.Builder
	require.NoError(t, r.Write(&b))
	require.Contains(t, b.String(), "  without stimuli, input reaches 2 of 5 areas: ___pwr, one\n")
	require.Contains(t, b.String(), "  sensor iic400 (Central vision), 4 × 3 × 2 voxels: --stimulate 'iic400=all every 10'\n")
	require.Contains(t, b.String(), "  sensor aWluZgAAAAA= (touch), 1 × 1 × 1 voxels of 2 neurons: --stimulate 'aWluZgAAAAA==all every 10'\n")
	_, before := digest(t, build(t, g), "cpu", 30)
	fed, err := g.Stimulate([]string{r.Sensors[0].Stimulus, r.Sensors[1].Stimulus})
	require.NoError(t, err)
	_, after := digest(t, build(t, fed), "cpu", 30)
	require.Equal(t, before+3*(24+2), after, "every neuron of both fires three times")
}
