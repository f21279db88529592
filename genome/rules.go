package genome

import (
	"slices"
	"sync"
)

// rules lists the names of the rules in the order of their constants.
func rules() []string {
	return []string{"one_to_one", "all_to_all", "fixed_indegree", "fixed_outdegree", "fixed_total_number",
		"pairwise_bernoulli", "projector", "vectors", "patterns", "expander", "reducer", "block_to_block", "lateral_pairs",
		"last_to_first", "randomizer", "composite", "edges"}
}

// Mappers lists the rules that a composite can apply: those that go by voxels alone.
func Mappers() []Rule {
	return []Rule{Projector, Vectors, Patterns, Expander, Reducer, BlockToBlock, LateralPairs, LastToFirst}
}

// Merges says that projections of the rule can merge: it makes its synapses source by source and every pair once.
func (r Rule) Merges() bool {
	return r != FixedIndegree && r != FixedOutdegree && r != FixedTotalNumber && r != Edges
}

// names gives the names of the rules that a test picks.
func names(of func(Rule) bool) []string {
	var list []string
	for i, name := range rules() {
		if of(Rule(i)) {
			list = append(list, name)
		}
	}
	return list
}

// String is the rule's name in a genome.
func (r Rule) String() string { return rules()[r] }

// projectionKeys are the keys of a projection, those of all rules.
var projectionKeys = sync.OnceValue(func() []key {
	fixed := []string{"fixed_indegree", "fixed_outdegree", "fixed_total_number"}
	blocks := &key{Form: formWhole, Low: 1, High: maxOffset}
	turn := &key{Form: formWhole, High: maxOffset}
	mapper := append([]key{
		{Name: "rule", Form: formChoice, Choices: names(func(r Rule) bool { return slices.Contains(Mappers(), r) }), Required: true, Doc: "which voxels are connected"},
	}, voxelKeys()...)
	return slices.Concat([]key{
		{Name: "from", Form: formArea, Required: true, Unless: "edges", Doc: "area of the source neurons"},
		{Name: "to", Form: formArea, Required: true, Unless: "edges", Doc: "area of the target neurons; may be the same"},
		{Name: "rule", Form: formChoice, Choices: rules(), Required: true, Doc: "which neurons are connected"},
		{Name: "weight", Form: formValue, Dims: inputs(), Required: true, Unless: "edges", Doc: "what a spike adds to the target's input, drawn for each synapse"},
		{Name: "delay", Form: formValue, Dims: []Dimension{Bursts}, Default: "1", Doc: "bursts, or a time, from spike to arrival: 1…255 bursts, drawn for each synapse"},
		{Name: "indegree", Form: formWhole, Low: 1, High: maxSize, Of: []string{"fixed_indegree"}, Doc: "synapses onto each target neuron"},
		{Name: "outdegree", Form: formWhole, Low: 1, High: maxSize, Of: []string{"fixed_outdegree"}, Doc: "synapses from each source neuron"},
		{Name: "count", Form: formWhole, Low: 1, High: maxSize, Of: []string{"fixed_total_number"}, Doc: "synapses in all"},
		{Name: "p", Form: formNumber, Dims: []Dimension{Plain}, Max: 1, Of: []string{"pairwise_bernoulli"}, Doc: "probability of a synapse for each pair"},
		{Name: "autapses", Form: formFlag, Default: "true", Of: slices.Concat([]string{"all_to_all"}, fixed, []string{"pairwise_bernoulli"}), Doc: "whether a neuron may reach itself"},
		{Name: "multapses", Form: formFlag, Default: "true", Of: fixed, Doc: "whether a pair may have several synapses"},
		{Name: "file", Form: formFile, Of: []string{"edges"}, Doc: "edge list in the genome's folder: .csv, .parquet, .arrow or .arrows"},
		{Name: "attractivity", Form: formWhole, High: 100, Default: "100", Doc: "per cent of the rule's synapses that are made, each by a draw of its own"},
		{Name: "merge", Form: formFlag, Default: "false", Of: names(Rule.Merges), Doc: "whether synapses of one pair and delay become one, weights added, over all projections that say so"},
	}, voxelKeys(), []key{
		{Name: "src_seed", Form: formList, Item: blocks, Len: 3, Of: []string{"composite"}, Doc: "voxels in x, y and z of the blocks that the source area is cut into"},
		{Name: "src_pattern", Form: formList, Item: &key{Form: formList, Item: turn, Len: 2}, Len: 3, Default: "[[1, 0], [1, 0], [1, 0]]", Of: []string{"composite"}, Doc: "for x, y and z, [choose, skip]: blocks taken and blocks skipped in turn"},
		{Name: "mapper", Form: formMap, Keys: mapper, Of: []string{"composite"}, Doc: "rule for each block, as if the block were the source area"},
	})
})

// voxelKeys are the keys of the rules that go by voxels, of a projection and of a mapper.
func voxelKeys() []key {
	offset := &key{Form: formOffset}
	end := &key{Form: formList, Item: &key{Form: formElement}, Len: 3}
	return []key{
		{Name: "axes", Form: formChoice, Choices: []string{"xyz", "yxz", "zyx", "xzy"}, Default: "xyz", Of: []string{"projector"}, Doc: "source axes that the target's x, y and z follow"},
		{Name: "from_end", Form: formChoice, Choices: []string{"x", "y", "z"}, Of: []string{"projector"}, Doc: "axis whose last source layer alone projects, onto the target's layer 0"},
		{Name: "divide", Form: formList, Item: &key{Form: formWhole, Low: 1, High: maxOffset}, Len: 3, Default: "[1, 1, 1]", Of: []string{"block_to_block"}, Doc: "for x, y and z, by what the source's coordinate is divided, rounded down, to give the target's"},
		{Name: "vectors", Form: formList, Item: &key{Form: formList, Item: offset, Len: 3}, Of: []string{"vectors"}, Doc: "steps [x, y, z] from a source voxel to its target voxels"},
		{Name: "patterns", Form: formList, Item: &key{Form: formList, Item: end, Len: 2}, Of: []string{"patterns"}, Doc: `pairs [source, target] of [x, y, z], each a coordinate, "*" (any), "?" (the same) or "!" (any other)`},
	}
}
