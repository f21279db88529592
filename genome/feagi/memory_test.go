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
		{flat, "c__mem", "cx-memory-b", `true`, 6},
		{flat, "memory", "cx-gd_vis-b", `true`, 6},
		{flat, "bWVtMDAwX18=", "cx-gd_vis-b", `true`, 6}, // mem000__
		{hierarchical, "c__mem", "group_id", `"MEMORY"`, 6},
		{hierarchical, "c__mem", "cortical_group", `"memory"`, 6},
		{hierarchical, "c__mem", "is_mem_type", `true`, 6},
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
 "_____10c-c__mem-cx-dstmap-d": {"c__mem": [["projector", [1, 1, 1], 1, false]]}}}`), feagi.Options{})
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
