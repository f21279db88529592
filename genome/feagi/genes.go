package feagi

import (
	"encoding/base64"
	"strings"
)

// gene is a parameter of an area: its name in flat keys, without scope and type letter, and its hierarchical property.
type gene struct{ name, long string }

// genes are those whose hierarchical property is a single value.
var genes = []gene{
	{"_n_cnt", "per_voxel_neuron_cnt"}, {"__name", "cortical_name"}, {"_group", "group_id"}, {"_group", "cortical_group"},
	{"subgrp", "sub_group_id"}, {"subgrp", "cortical_sub_group"}, {"gd_vis", "visualization"}, {"gd_vis", "visible"},
	{"__rand", "location_generation_type"}, {"synatt", "synapse_attractivity"}, {"pstcr_", "postsynaptic_current"},
	{"pstcrm", "postsynaptic_current_max"}, {"fire_t", "firing_threshold"}, {"ftincx", "firing_threshold_increment_x"},
	{"ftincy", "firing_threshold_increment_y"}, {"ftincz", "firing_threshold_increment_z"},
	{"fthlim", "firing_threshold_limit"}, {"refrac", "refractory_period"}, {"leak_c", "leak_coefficient"},
	{"leak_v", "leak_variability"}, {"c_fr_c", "consecutive_fire_cnt_max"}, {"snooze", "snooze_length"},
	{"excite", "neuron_excitability"}, {"de_gen", "degeneration"}, {"pspuni", "psp_uniform_distribution"},
	{"mp_acc", "mp_charge_accumulation"}, {"mp_psp", "mp_driven_psp"}, {"memory", "is_mem_type"},
	{"mem__t", "longterm_mem_threshold"}, {"mem_gr", "lifespan_growth_rate"}, {"mem_ls", "init_lifespan"},
	{"tmpdpt", "temporal_depth"}, {"devcnt", "dev_count"}, {"twinrf", "memory_twin_of"}, {"plst_c", "plasticity_constant"},
	{"dstmap", "cortical_mapping_dst"},
}

// lists are hierarchical properties that hold several genes.
var lists = map[string][]string{
	"block_boundaries":           {"___bbx", "___bby", "___bbz"},
	"relative_coordinate":        {"rcordx", "rcordy", "rcordz"},
	"2d_coordinate":              {"2dcorx", "2dcory"},
	"firing_threshold_increment": {"ftincx", "ftincy", "ftincz"},
}

// known says whether a flat key's gene is one of FEAGI's.
func known(name string) bool {
	for _, g := range genes {
		if g.name == name {
			return true
		}
	}
	for _, names := range lists {
		for _, n := range names {
			if n == name {
				return true
			}
		}
	}
	return false
}

// flat cuts a flat key, such as _____10c-c__for-nx-fire_t-f, into the area's id, the rest, and the gene's name.
func flat(key string) (id, rest, name string, ok bool) {
	prefix, more, found := strings.Cut(key, "-")
	if !found || len(key) <= 20 || !strings.HasPrefix(prefix, "___") || !strings.HasSuffix(prefix, "c") {
		return "", "", "", false
	}
	cut := len(more)
	var parts [3]string // scope, gene, letter
	for i := 2; i >= 0; i-- {
		dash := strings.LastIndexByte(more[:cut], '-')
		if dash < 0 {
			return "", "", "", false
		}
		parts[i] = more[dash+1 : cut]
		cut = dash
	}
	if cut == 0 || len(parts[2]) != 1 {
		return "", "", "", false
	}
	return more[:cut], more[cut+1:], parts[1], true
}

// decoded is an id with base64 undone.
func decoded(id string) string {
	if raw, err := base64.StdEncoding.DecodeString(id); err == nil && len(id) == 12 && len(raw) == 8 {
		return string(raw)
	}
	return id
}

// encoded is an id as FEAGI's release writes it: eight bytes in base64. It gives ids of old sensors and motors other names first; here they
// keep theirs.
func encoded(id string) string {
	raw := decoded(id)
	return base64.StdEncoding.EncodeToString([]byte((raw + "________")[:max(8, len(raw))]))
}

// canonical is an id with base64 undone and filling dropped, so that the old and new ways of writing it meet.
func canonical(id string) string { return strings.TrimRight(decoded(id), "_") }

// isPower says whether an area is the one that FEAGI feeds in every burst.
func isPower(id string) bool {
	switch canonical(id) {
	case "___power", "_power", "___pwr":
		return true
	}
	return false
}

// isFatigue says whether an area is fed while FEAGI runs out of memory.
func isFatigue(id string) bool {
	switch canonical(id) {
	case "___fatig", "_fatigue":
		return true
	}
	return false
}

// groupOf is the group that the first letter of an id stands for.
func groupOf(id string) string {
	switch c := canonical(id); {
	case c == "":
	case c[0] == 'i':
		return "ipu"
	case c[0] == 'o':
		return "opu"
	case c[0] == '_':
		return "core"
	case c[0] == 'm' && len(id) == 12:
		return "memory"
	}
	return "custom"
}
