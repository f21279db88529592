package genome

import (
	"slices"
	"sync"
)

// rules lists the names of the rules in the order of their constants.
func rules() []string {
	return []string{"one_to_one", "all_to_all", "fixed_indegree", "fixed_outdegree", "fixed_total_number",
		"pairwise_bernoulli", "projector", "vectors", "patterns", "edges"}
}

// String is the rule's name in a genome.
func (r Rule) String() string { return rules()[r] }

// projectionKeys are the keys of a projection, those of all rules.
var projectionKeys = sync.OnceValue(func() []key {
	offset := &key{Form: formOffset}
	element := &key{Form: formElement}
	end := &key{Form: formList, Item: element, Len: 3}
	fixed := []string{"fixed_indegree", "fixed_outdegree", "fixed_total_number"}
	return []key{
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
		{Name: "vectors", Form: formList, Item: &key{Form: formList, Item: offset, Len: 3}, Of: []string{"vectors"}, Doc: "steps [x, y, z] from a source voxel to its target voxels"},
		{Name: "patterns", Form: formList, Item: &key{Form: formList, Item: end, Len: 2}, Of: []string{"patterns"}, Doc: `pairs [source, target] of [x, y, z], each a coordinate, "*" (any), "?" (the same) or "!" (any other)`},
	}
})
