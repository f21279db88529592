package main

import (
	"encoding/json"
	"fmt"
)

// block is an area's size in voxels, and the neurons of each.
type block struct{ x, y, z, each int }

// link is a mapping between two areas of its own.
type link struct {
	from, to   block
	morphology string
}

// shapes are the morphologies that the links name beside FEAGI's own.
var shapes = map[string]any{
	"row to row":    patterns([]any{1, "*", "*"}, []any{"*", 0, 0}),
	"others":        patterns([]any{"!", "?", "*"}, []any{"!", "?", 0}),
	"int under all": patterns([]any{2, 1, 0}, []any{"*", "!", "?"}),
	"all":           patterns([]any{"*", "*", "*"}, []any{"*", "*", "*"}),
	"steps":         map[string]any{"type": "vectors", "parameters": map[string]any{"vectors": [][3]int{{1, 0, 0}, {0, -1, 0}, {1, 0, 0}, {-2, 1, 0}}}},
	"blocks":        composite("projector", [3]int{3, 2, 1}, [3][2]int{{1, 0}, {1, 0}, {1, 0}}),
	"every other":   composite("projector", [3]int{2, 1, 1}, [3][2]int{{1, 1}, {1, 0}, {1, 0}}),
	"two of three":  composite("projector", [3]int{2, 2, 1}, [3][2]int{{2, 1}, {1, 1}, {1, 0}}),
	"pairs":         composite("lateral_pairs_x", [3]int{4, 1, 1}, [3][2]int{{1, 0}, {1, 0}, {1, 0}}),
	"last of each":  composite("last_to_first", [3]int{2, 2, 1}, [3][2]int{{1, 0}, {1, 0}, {1, 0}}),
	"reduce each":   composite("reducer_x", [3]int{4, 1, 1}, [3][2]int{{1, 0}, {1, 0}, {1, 0}}),
	"expand each":   composite("expander_x", [3]int{3, 1, 1}, [3][2]int{{1, 0}, {1, 0}, {1, 0}}),
	"copy each":     composite("block_to_block", [3]int{3, 2, 1}, [3][2]int{{1, 1}, {1, 0}, {1, 0}}),
	"step each":     composite("steps", [3]int{3, 2, 1}, [3][2]int{{1, 0}, {1, 0}, {1, 0}}),
}

func patterns(from, to []any) map[string]any {
	return map[string]any{"type": "patterns", "parameters": map[string]any{"patterns": []any{[]any{from, to}}}}
}

func composite(mapper string, seed [3]int, pattern [3][2]int) map[string]any {
	return map[string]any{"type": "composite", "parameters": map[string]any{"src_seed": seed, "src_pattern": pattern, "mapper_morphology": mapper}}
}

// links are the mappings to compare.
func links() []link {
	row := func(n int) block { return block{n, 1, 1, 1} }
	var all []link
	add := func(morphology string, ends ...block) {
		for i := 0; i < len(ends); i += 2 {
			all = append(all, link{ends[i], ends[i+1], morphology})
		}
	}
	for _, m := range []string{"projector", "block_to_block", "all", "steps", "randomizer"} {
		add(m, block{3, 2, 1, 2}, block{3, 2, 1, 3})
	}
	for _, n := range [][2]int{{3, 5}, {5, 3}, {14, 16}, {16, 14}, {7, 10}, {10, 7}, {1, 4}, {4, 1}, {14, 18}, {18, 14}, {20, 24}, {24, 20}, {28, 32}, {22, 50}} {
		add("projector", row(n[0]), row(n[1]))
	}
	for _, m := range []string{"projector", "projector_xy", "projector_yz", "projector_xz", "project_from_end_x", "project_from_end_y", "project_from_end_z"} {
		add(m, block{5, 3, 2, 1}, block{2, 4, 3, 1})
	}
	for _, n := range [][2]int{{3, 5}, {3, 8}, {3, 10}, {4, 8}, {4, 16}, {2, 16}, {8, 8}, {1, 2}} {
		add("expander_x", row(n[0]), row(n[1]))
	}
	for _, n := range [][2]int{{8, 3}, {16, 3}, {5, 4}, {3, 1}} {
		add("reducer_x", row(n[0]), row(n[1]))
	}
	for _, n := range [][2]int{{4, 4}, {5, 5}, {4, 3}, {3, 6}, {5, 8}, {6, 5}} {
		add("lateral_pairs_x", row(n[0]), row(n[1]))
	}
	add("lateral_pairs_x", block{4, 3, 2, 1}, block{4, 2, 2, 1})
	add("last_to_first", block{3, 2, 2, 1}, block{2, 2, 2, 1})
	add("block_connection", row(25), row(3), row(25), row(2))
	add("block_to_block", block{3, 2, 2, 1}, block{2, 3, 1, 1})
	for _, m := range []string{"row to row", "others", "int under all", "steps", "lateral_+x", "lateral_-x", "lateral_+y", "lateral_-z", "all_to_0-0-0", "0-0-0_to_all"} {
		add(m, block{4, 3, 2, 1}, block{3, 3, 2, 1})
	}
	add("projector", block{14, 16, 20, 1}, block{16, 14, 3, 1})
	add("tile", block{20, 18, 2, 1}, block{4, 3, 1, 1}, block{24, 10, 1, 1}, block{4, 4, 1, 1}, block{3, 2, 1, 1}, block{7, 5, 2, 1}, block{3, 9, 1, 2}, block{7, 4, 2, 2},
		block{20, 2, 1, 1}, block{4, 3, 1, 1}, block{2, 9, 1, 1}, block{4, 3, 1, 1}, block{5, 1, 1, 1}, block{3, 2, 1, 1}, block{1, 1, 5, 1}, block{2, 1, 2, 1},
		block{3, 1, 1, 4}, block{5, 1, 1, 1}, block{4, 3, 1, 1}, block{3, 4, 1, 1}, block{6, 1, 1, 1}, block{2, 3, 1, 4})
	for _, m := range []string{"blocks", "every other", "two of three", "pairs", "last of each", "reduce each", "expand each", "copy each", "step each"} {
		add(m, block{6, 4, 2, 1}, block{6, 4, 2, 1}, block{7, 3, 1, 1}, block{3, 4, 2, 1}, block{5, 5, 1, 1}, block{8, 2, 1, 1})
	}
	for _, m := range []string{"last_to_first", "last of each", "block_connection", "lateral_+x", "others"} {
		add(m, block{3, 2, 2, 2}, block{3, 2, 1, 3})
	}
	return all
}

// refusals adds areas one of whose rules the server refuses, to show which of the others it leaves out.
func refusals(area func(id, name string, b block, to map[string]any)) {
	const targets = 6
	rule := func(learns bool) []any { return []any{"block_to_block", []int{1, 1, 1}, 1, learns, 1, 1, 1} }
	one := block{1, 1, 1, 1}
	for k := range targets {
		area(fmt.Sprintf("ctg%03d", k), fmt.Sprintf("refused to %d", k), one, map[string]any{})
		to := map[string]any{}
		for j := range targets {
			to[fmt.Sprintf("ctg%03d", j)] = []any{rule(j == k)}
		}
		area(fmt.Sprintf("crf%03d", k), fmt.Sprintf("refused at %d", k), one, to)
	}
	late := map[string]any{
		"morphology_id": "block_to_block", "morphology_scalar": []int{1, 1, 1}, "postSynapticCurrent_multiplier": 1, "plasticity_flag": false, "synaptic_delay_bursts": 0,
	}
	for name, rules := range map[string][]any{"second": {rule(false), rule(true)}, "first": {rule(true), rule(false)}, "delay": {late}} {
		area("c"+name[:5], "refused "+name, one, map[string]any{"ctg000": []any{rule(false)}, "ctg001": rules, "ctg002": []any{rule(false)}})
	}
}

// morphologies is a genome of the links, whose areas are named by their place in the list.
func morphologies() ([]byte, error) {
	blueprint := map[string]any{"_____10c-___pwr-cx-__name-t": "power", "_____10c-___pwr-cx-_group-t": "CORE"}
	neurons := 3
	area := func(id, name string, b block, to map[string]any) {
		for key, v := range map[string]any{
			"cx-__name-t": name, "cx-_group-t": "CUSTOM", "cx-___bbx-i": b.x, "cx-___bby-i": b.y, "cx-___bbz-i": b.z, "cx-_n_cnt-i": b.each, "cx-dstmap-d": to,
			"cx-rcordx-i": 0, "cx-rcordy-i": 0, "cx-rcordz-i": 0, "cx-pspuni-b": true, "nx-mp_acc-b": true, "nx-fire_t-f": 1.0, "cx-pstcr_-f": 1.0,
		} {
			blueprint["_____10c-"+id+"-"+key] = v
		}
		neurons += b.x * b.y * b.z * b.each
	}
	for i, l := range links() {
		to := fmt.Sprintf("cto%03d", i)
		name := fmt.Sprintf("%03d %s", i, l.morphology)
		area(fmt.Sprintf("cfr%03d", i), name+" from", l.from, map[string]any{to: []any{[]any{l.morphology, []int{1, 1, 1}, 1, false, 1, 1, 1}}})
		area(to, name+" to", l.to, map[string]any{})
	}
	refusals(area)
	defined := map[string]any{}
	for name, m := range shapes {
		defined[name] = m
	}
	for _, name := range []string{"projector", "projector_xy", "projector_yz", "projector_xz", "project_from_end_x", "project_from_end_y", "project_from_end_z",
		"expander_x", "reducer_x", "lateral_pairs_x", "last_to_first", "block_connection", "block_to_block", "randomizer"} {
		defined[name] = map[string]any{"type": "functions", "parameters": map[string]any{}}
	}
	return json.MarshalIndent(map[string]any{
		"genome_id": "morphologies", "genome_title": "morphologies", "genome_description": "FEAGI's morphologies", "version": "3.0", "blueprint": blueprint,
		"neuron_morphologies": defined, "physiology": map[string]any{"simulation_timestep": 0.025},
		"stats": map[string]any{"innate_cortical_area_count": 1 + 2*len(links()), "innate_neuron_count": neurons, "innate_synapse_count": 0},
	}, "", " ")
}
