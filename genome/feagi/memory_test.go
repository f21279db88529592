package feagi_test

import (
	"fmt"
	"testing"

	"burst/genome/feagi"

	"github.com/stretchr/testify/require"
)

// An area is one of memory where its subgroup holds MEMORY, in every spelling of the formats, and nothing else makes it one:
// FEAGI grows the neurons of all other areas, whatever they are called.
func TestMemoryAreas(t *testing.T) {
	const flat, hierarchical, old = "flat", "hierarchical", "old"
	for _, c := range []struct {
		form, id, gene, value string
		neurons               uint64
	}{
		{flat, "c__mem", "cx-subgrp-t", `"MEMORY"`, 0},
		{flat, "c__mem", "nx-subgrp-t", `"MEMORY"`, 0},
		{flat, "c__mem", "cx-subgrp-t", `"LONG_MEMORY_2"`, 0},
		{flat, "bWVtMDAwX18=", "cx-subgrp-t", `"MEMORY"`, 0},
		{hierarchical, "c__mem", "sub_group_id", `"MEMORY"`, 0},
		{hierarchical, "c__mem", "cortical_sub_group", `"MEMORY"`, 0},
		{old, "c__mem", "sub_group_id", `"MEMORY"`, 0},
		{flat, "c__mem", "cx-subgrp-t", `"memory"`, 6},
		{flat, "c__mem", "cx-subgrp-t", `"Memory"`, 6},
		{flat, "c__mem", "cx-subgrp-t", `""`, 6},
		{flat, "c__mem", "cx-subgrp-t", `null`, 6},
		{flat, "c__mem", "cx-_group-t", `"memory"`, 6},
		{flat, "c__mem", "cx-_group-t", `"MEMORY"`, 6},
		{flat, "c__mem", "cx-memory-b", `true`, 0},
		{flat, "c__mem", "cx-memory-b", `1`, 6},
		{flat, "memory", "cx-gd_vis-b", `true`, 6},
		{flat, "bWVtMDAwX18=", "cx-gd_vis-b", `true`, 6}, // mem000__
		{hierarchical, "c__mem", "group_id", `"MEMORY"`, 6},
		{hierarchical, "c__mem", "cortical_group", `"memory"`, 6},
		{hierarchical, "c__mem", "is_mem_type", `true`, 0},
		{old, "c__mem", "group_id", `"Memory"`, 6},
	} {
		t.Run(fmt.Sprint(c.form, " ", c.id, " ", c.gene, " ", c.value), func(t *testing.T) {
			area := map[string]string{
				flat:         `"_____10c-` + c.id + `-cx-___bbx-i": 6, "_____10c-` + c.id + `-` + c.gene + `": ` + c.value,
				hierarchical: fmt.Sprintf(`%q: {"block_boundaries": [6, 1, 1], %q: %s}`, c.id, c.gene, c.value),
				old:          fmt.Sprintf(`%q: {%q: %s, "neuron_params": {"block_boundaries": [6, 1, 1]}}`, c.id, c.gene, c.value),
			}[c.form]
			g, r, err := feagi.Import("m.json", []byte(`{"blueprint": {`+area+`}}`), feagi.Options{})
			require.NoError(t, err)
			require.Equal(t, c.neurons, r.Neurons)
			require.Equal(t, c.neurons, g.Areas[0].Neurons())
			require.Equal(t, c.neurons == 0, g.Areas[0].Empty())
			left := r.Count(feagi.NotHonoured)
			if c.neurons == 0 || c.gene == "cx-memory-b" || c.gene == "is_mem_type" {
				require.Equal(t, 1, left, "what learns is reported")
			} else {
				require.Zero(t, left)
			}
		})
	}
}

// Of an area flagged as memory that keeps its neurons, mappings make synapses, and what it would learn by is reported.
func TestFlaggedAsMemory(t *testing.T) {
	for _, c := range []struct {
		flag string
		fate feagi.Fate
	}{{"true", feagi.NotHonoured}, {"false", feagi.NoEffect}} {
		g, r, err := feagi.Import("m.json", []byte(`{"blueprint": {"_____10c-c__mem-cx-memory-b": `+c.flag+`, "_____10c-c__mem-cx-mem__t-i": 50,
 "_____10c-c__mem-cx-dstmap-d": {"c__mem": [["projector", [1, 1, 1], 1, false]]}}}`), feagi.Options{Dialect: feagi.Python})
		require.NoError(t, err)
		require.Len(t, g.Projections, 1)
		sub, _, err := feagi.Import("m.json", []byte(`{"blueprint": {"_____10c-c__mem-cx-memory-b": `+c.flag+`, "_____10c-c__mem-cx-subgrp-t": "MEMORY"}}`), feagi.Options{Strict: true})
		require.Nil(t, sub)
		require.Len(t, err, 1, "the subgroup says it once, whatever the flag")
		for _, n := range r.Areas[0].Lines {
			if n.Key == "cx-mem__t-i" {
				require.Equal(t, c.fate, n.Fate)
			}
		}
	}
}

// remembering is a file of memory areas and what they see, in the given version.
func remembering(version, genes string) []byte {
	return []byte(`{"version": "` + version + `", "blueprint": {
 "_____10c-c__eye-cx-___bbx-i": 3,
 "_____10c-c__eye-cx-dstmap-d": {"c__ear": [["projector", [1, 1, 1], 1, false]], "c__mem": [["episodic_memory", [1, 1, 1], 1, false]]},
 "_____10c-c__ear-cx-dstmap-d": {"c__mem": [["memory", [1, 1, 1], 1, false], ["memory", [1, 1, 1], 1, false]], "c__old": [["projector", [1, 1, 1], 1, false]]},
 "_____10c-c__mem-cx-memory-b": true, "_____10c-c__mem-cx-dstmap-d": {"c__new": [["projector", [1, 1, 1], 1, false]]}` + genes + `,
 "_____10c-c__old-cx-memory-b": true,
 "_____10c-c__new-cx-memory-b": true}}`)
}

// TestMemoryMorphologies: in the dialects release and rust the morphologies memory and episodic_memory make a memory area see the area that
// they come from, in release any mapping of a memory area too; such areas have neurons and FEAGI's lifetimes.
func TestMemoryMorphologies(t *testing.T) {
	for _, c := range []struct {
		dialect feagi.Dialect
		version string
		areas   [][]int // upstream, of mem, old, new
		more    string
	}{
		{feagi.Release, "3.0", [][]int{{0, 1}, nil, {2}}, ", spare_seen: true"},
		{feagi.Rust, "2.0", [][]int{{0, 1}, nil, nil}, ""},
		{feagi.Python, "2.0", nil, ""},
	} {
		g, text, r, err := feagi.Translate("m.json", remembering(c.version, ""), feagi.Options{Dialect: c.dialect})
		require.NoError(t, err)
		require.Len(t, g.Areas, 5)
		for i, upstream := range c.areas {
			a := &g.Areas[2+i]
			require.Equal(t, upstream, a.Upstream)
			require.Equal(t, upstream == nil, a.Empty())
			if upstream != nil {
				require.EqualValues(t, 50_000, a.Neurons())
				require.Equal(t, "memory", a.Model.Name)
			}
		}
		if c.areas == nil {
			require.NotContains(t, string(text), "model: memory")
			continue
		}
		require.EqualValues(t, 4, r.Neurons, "they are not born with the genome")
		require.Contains(t, string(text), "params: {temporal_depth: 1, lifespan: 9, lifespan_growth: 1, long_term: 100"+c.more+"}")
		require.Contains(t, fmt.Sprint(r.Areas[1].Lines), "memory becomes upstream of c__mem")
		require.Contains(t, fmt.Sprint(r.Areas[3].Lines), "a memory area without neurons: no area maps to it by the morphology memory or episodic_memory")
	}
}

// TestLifetimes: FEAGI's numbers become burst's; those that it cuts off, or has no use for, are said.
func TestLifetimes(t *testing.T) {
	genes := func(ls, gr, lt, depth string) string {
		return fmt.Sprintf(`, "_____10c-c__mem-cx-mem_ls-i": %s, "_____10c-c__mem-cx-mem_gr-i": %s, "_____10c-c__mem-cx-mem__t-i": %s, "_____10c-c__mem-cx-tmpdpt-i": %s`, ls, gr, lt, depth)
	}
	for _, c := range []struct {
		genes  string
		params []float64 // temporal_depth, lifespan, lifespan_growth, long_term
		note   string
	}{
		{genes("20", "3.0", "100", "3"), []float64{3, 20, 3, 100}, "cx-tmpdpt-i: 3"},
		{genes("4000", "1.9", "2000", "1"), []float64{1, 4000, 1, 2000}, "cx-mem_gr-i: 1.9 becomes 1, a whole number is wanted"},
		{genes("9", "0", "0", "0"), []float64{1, 9, 0, 1}, "cx-tmpdpt-i: 0"},
		{genes("1e9", "1", "100", "300"), []float64{255, 1 << 24, 1, 100}, "cx-tmpdpt-i: 300 becomes 255, the largest there is"},
	} {
		g, r, err := feagi.Import("m.json", remembering("3.0", c.genes), feagi.Options{})
		require.NoError(t, err)
		p := g.Areas[2].Params
		require.Equal(t, c.params, []float64{p["temporal_depth"], p["lifespan"], p["lifespan_growth"], p["long_term"]})
		require.Contains(t, fmt.Sprint(r.Areas[2].Lines), c.note)
	}
	for dialect, want := range map[feagi.Dialect]float64{feagi.Release: 1, feagi.Rust: 3} {
		g, _, err := feagi.Import("m.json", remembering("3.0", `, "_____10c-c__mem-cx-mem_gr-f": 3`), feagi.Options{Dialect: dialect})
		require.NoError(t, err)
		require.Equal(t, want, g.Areas[2].Params["lifespan_growth"], "the released server does not read mem_gr-f")
	}
	_, _, err := feagi.Import("m.json", remembering("3.0", genes("0", "1", "100", "1")), feagi.Options{})
	require.ErrorContains(t, err, "area c__mem, cx-mem_ls-i: expects a lifespan of at least 1, found 0")
	require.ErrorContains(t, err, "m.json:5:")
}
