package genome

import (
	"slices"
	"sync"

	"burst/internal/quanta"
)

// Projection connects the neurons of one area to those of another by a rule.
type Projection struct {
	Pos      Pos
	From, To int // indices into Genome.Areas; both WholeNetwork, or neither
	Port     int // of the targets, from 1; 0: see Model.BySign
	Rule     Rule
	Weight   Value // in the port's unit, before the source area's Factor
	Delay    Value // in bursts (times are divided by Timestep already), 1…65,535 after rounding, or 255 by FEAGI's rules and where they follow a potential

	Indegree    uint64  // fixed_indegree: synapses onto each target neuron
	Outdegree   uint64  // fixed_outdegree: synapses from each source neuron
	Count       uint64  // fixed_total_number: synapses in all
	P           float64 // pairwise_bernoulli: probability of each pair, 0…1
	Average     float64 // pairwise_poisson: mean number of synapses of each pair
	Kernel      *Kernel // distance: probability of each pair; fixed_indegree and fixed_outdegree: how likely a partner is; nil: all alike
	Mask        *Kernel // the same rules: a condition that partners must meet; nil: none
	Symmetric   bool    // pairwise_bernoulli, distance: a pair has synapses in both directions or in none
	NoAutapses  bool    // forbid a neuron to reach itself
	NoMultapses bool    // forbid two synapses between one pair

	LeaveOut uint64 // per cent of the rule's synapses that are not made, 0…100: 100 − attractivity
	Merge    bool   // synapses of the same pair and delay become one, over all projections with Merge
	LastOnly bool   // rules for voxels: connect only the last neuron of each target voxel
	Foremost bool   // likewise the first one

	Axes     AxisOrder    // projector
	FromEnd  Axis         // projector
	Single   bool         // projector: compute places with divisions in float32, as FEAGI does
	Divide   [3]uint64    // block_to_block: divisors of the source's coordinates; 0 means 1
	Vectors  [][3]int64   // vectors: voxel offsets
	Patterns []Pattern    // patterns
	Blocks   [3]uint64    // composite: voxels of a block along x, y, z, each ≥ 1
	Choose   [3][2]uint64 // composite: per axis, blocks taken (≥ 1) and blocks skipped in turn
	Mapper   *Mapper      // composite

	Learning *Learning // nil: the weights do not change

	Table string // file with the row that the projection is; empty: the text has it
	Row   uint64 // of the table, from 1
	place int    // in the text's list of projections

	File    string // edges: file name of the list, inside the genome's folder
	FilePos Pos
}

// Mapper is the rule that a composite applies to each of its blocks, with the block as the source area.
type Mapper struct {
	Pos      Pos
	Rule     Rule // one of Mappers
	Axes     AxisOrder
	FromEnd  Axis
	Single   bool
	Divide   [3]uint64
	Vectors  [][3]int64
	Patterns []Pattern
}

// WholeNetwork is From and To of an edges projection whose list numbers the neurons through the whole network.
const WholeNetwork = -1

// Rule names a connection rule.
type Rule uint8

// The connection rules.
const (
	OneToOne Rule = iota
	AllToAll
	FixedIndegree
	FixedOutdegree
	FixedTotalNumber
	PairwiseBernoulli
	Projector
	Vectors
	Patterns
	Expander
	Reducer
	BlockToBlock
	LateralPairs
	LastToFirst
	Randomizer
	Composite
	Edges
	DistanceRule
	PairwisePoisson
)

// rule describes a connection rule in the genome format. A new rule needs a constant above, an entry in ruleTable, and code
// in package connectome that makes its synapses.
type rule struct {
	name   string
	doc    string // the synapses that it makes, in Markdown
	keys   []key  // keys of the rule; several rules may have the same key
	merges bool   // it makes its synapses source by source, and every pair at most once
	read   func(*parser, *fields, *Projection)
	voxels func(*parser, *fields, *Mapper) // instead of read, for a rule that depends only on voxels: a composite can apply it
}

// rules returns ruleTable, which it makes once.
var rules = sync.OnceValue(ruleTable)

// ruleTable has the rules in the order of their constants.
func ruleTable() []rule {
	count := func(name, doc string) key { return key{Name: name, Form: formWhole, Low: 1, High: maxSize, Doc: doc} }
	three := func(form form) *key { return &key{Form: formList, Item: &key{Form: form}, Len: 3} }
	autapses := key{Name: "autapses", Form: formFlag, Default: "true", Doc: "whether a neuron may reach itself"}
	multapses := key{Name: "multapses", Form: formFlag, Default: "true", Doc: "whether a pair may have several synapses"}
	p := key{Name: "p", Form: formKernel, Dims: []Dimension{Plain}, Max: 1, Doc: "probability of a synapse for each pair; for distance a formula of the target's place and of columns"}
	kernel := key{Name: "kernel", Form: formKernel, Dims: []Dimension{Plain}, Max: inf, Default: "1", Doc: "how likely a partner is, in proportion, as a formula of the target's place and of columns"}
	mask := key{Name: "mask", Form: formExpression, Doc: "condition on the target's place and on columns that a pair must meet, such as `d < 200 um`"}
	symmetric := key{Name: "symmetric", Form: formFlag, Default: "false", Doc: "whether a pair has synapses in both directions or in none, inside one area"}
	whole := &key{Form: formWhole, Low: 1, High: maxOffset}
	turns := &key{Form: formList, Item: &key{Form: formWhole, High: maxOffset}, Len: 2}
	return []rule{
		{name: "one_to_one", merges: true, read: (*parser).oneToOne,
			doc: "neuron i to neuron i; both areas have equally many"},
		{name: "all_to_all", merges: true, read: noKeys,
			doc:  "every pair",
			keys: []key{autapses}},
		{name: "fixed_indegree", read: (*parser).indegree,
			doc:  "`indegree` random sources a target",
			keys: []key{count("indegree", "synapses onto each target neuron"), autapses, multapses, kernel, mask}},
		{name: "fixed_outdegree", read: (*parser).outdegree,
			doc:  "`outdegree` random targets a source",
			keys: []key{count("outdegree", "synapses from each source neuron"), autapses, multapses, kernel, mask}},
		{name: "fixed_total_number", read: (*parser).totalNumber,
			doc:  "`count` random pairs",
			keys: []key{count("count", "synapses in all"), autapses, multapses}},
		{name: "pairwise_bernoulli", merges: true, read: (*parser).bernoulli,
			doc:  "each pair with probability `p`",
			keys: []key{p, autapses, symmetric}},
		{name: "projector", merges: true, voxels: (*parser).projector,
			doc: "each voxel to the voxels at the same relative place",
			keys: []key{
				{Name: "axes", Form: formChoice, Choices: []string{"xyz", "yxz", "zyx", "xzy"}, Default: "xyz", Doc: "source axes that the target's x, y and z follow"},
				{Name: "from_end", Form: formChoice, Choices: []string{"x", "y", "z"}, Doc: "axis along which only the last source layer projects, onto the target's layer 0"},
				{Name: "division", Form: formChoice, Choices: []string{"exact", "float32"}, Default: "exact", Doc: "how relative places are worked out; float32 misplaces a few voxels, as FEAGI does"},
			}},
		{name: "vectors", merges: true, voxels: (*parser).vectors,
			doc:  "each voxel to the voxels that many steps away, where there are any",
			keys: []key{{Name: "vectors", Form: formList, Item: three(formOffset), Doc: "steps [x, y, z] from a source voxel to its target voxels"}}},
		{name: "patterns", merges: true, voxels: (*parser).patterns,
			doc:  "each source voxel that matches to the target voxels described",
			keys: []key{{Name: "patterns", Form: formList, Item: &key{Form: formList, Item: three(formElement), Len: 2}, Doc: `pairs [source, target] of [x, y, z], each a coordinate, "*" (any), "?" (the same) or "!" (any other)`}}},
		{name: "expander", merges: true, voxels: noVoxelKeys,
			doc: "x to the voxels (d, 0, 0) where bit x of d is 1 (see below)"},
		{name: "reducer", merges: true, voxels: noVoxelKeys,
			doc: "x to the voxels (i, 0, 0) where bit i of x is 1 (see below)"},
		{name: "block_to_block", merges: true, voxels: (*parser).blockToBlock,
			doc:  "each voxel to the one with the same coordinates, divided by `divide`",
			keys: []key{{Name: "divide", Form: formList, Item: whole, Len: 3, Default: "[1, 1, 1]", Doc: "divisors for x, y and z; the target's coordinate is the source's divided by them, rounded down"}}},
		{name: "lateral_pairs", merges: true, voxels: noVoxelKeys,
			doc: "x = 0 to 1 and 1 to 0, 2 to 3 and 3 to 2, and so on, at the same y and z"},
		{name: "last_to_first", merges: true, voxels: noVoxelKeys,
			doc: "the last voxel of the source to the first of the target"},
		{name: "randomizer", merges: true, read: noKeys,
			doc: "each neuron to one random voxel"},
		{name: "composite", merges: true, read: (*parser).composite,
			doc: "another rule, applied to blocks of the source",
			keys: []key{
				{Name: "src_seed", Form: formList, Item: whole, Len: 3, Doc: "voxels in x, y and z of the blocks that the source area is cut into"},
				{Name: "src_pattern", Form: formList, Item: turns, Len: 3, Default: "[[1, 0], [1, 0], [1, 0]]", Doc: "for x, y and z, [choose, skip]: blocks taken and blocks skipped in turn"},
				{Name: "mapper", Form: formMap, Doc: "rule for each block, as if the block were the source area"},
			}},
		{name: "edges", read: (*parser).edges,
			doc:  "those of a list in a file: [edges.md](edges.md)",
			keys: []key{{Name: "file", Form: formFile, Doc: "edge list in the genome's folder: .csv, .parquet, .arrow or .arrows"}}},
		{name: "distance", merges: true, read: (*parser).distance,
			doc:  "pairs with probability `p`, by [distance](#rules-of-distance)",
			keys: []key{p, mask, autapses, symmetric}},
		{name: "pairwise_poisson", read: (*parser).pairwisePoisson,
			doc:  "each pair with a Poisson number of synapses of mean `average`",
			keys: []key{{Name: "average", Form: formNumber, Dims: []Dimension{Plain}, Max: 1000, Doc: "mean number of synapses of each pair"}, autapses}},
	}
}

func noKeys(*parser, *fields, *Projection)  {}
func noVoxelKeys(*parser, *fields, *Mapper) {}

// String is the rule's name in a genome.
func (r Rule) String() string { return rules()[r].name }

// Merges reports whether projections of the rule can merge: it makes synapses source by source, and every pair at most once.
func (r Rule) Merges() bool { return rules()[r].merges }

// byVoxels reports whether a composite can apply the rule.
func (r Rule) byVoxels() bool { return rules()[r].voxels != nil }

// gridded reports whether the rule connects whole voxels: it depends only on voxels, or is a composite.
func (r Rule) gridded() bool { return r.byVoxels() || r == Composite }

// Rules lists all rules.
func Rules() []Rule { return which(func(Rule) bool { return true }) }

// Mappers lists the rules that a composite can apply: those that depend only on voxels.
func Mappers() []Rule { return which(Rule.byVoxels) }

// which lists the rules for which picked is true.
func which(picked func(Rule) bool) []Rule {
	var list []Rule
	for i := range rules() {
		if picked(Rule(i)) {
			list = append(list, Rule(i))
		}
	}
	return list
}

// names gives the names of rules.
func names(list []Rule) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = r.String()
	}
	return out
}

// ruleKeys are the keys of the rules in list. Each key names its rules.
func ruleKeys(list []Rule) []key {
	var table []key
	for _, r := range list {
		keys := slices.Clone(rules()[r].keys)
		for i := range keys {
			keys[i].Of = []string{r.String()}
		}
		table = mergeKeys(table, keys)
	}
	return table
}

// projectionKeys are the keys of a projection, those of all rules.
var projectionKeys = sync.OnceValue(func() []key {
	keys := append([]key{
		{Name: "from", Form: formArea, Several: true, Required: true, Unless: "edges", Doc: "area of the source neurons; a list makes a projection for each"},
		{Name: "to", Form: formTarget, Several: true, Keys: severalOf(toKeys("area of the target neurons")), Required: true, Unless: "edges", Doc: "area of the target neurons, which may be the same; as {area: NAME, port: NAME} with the input that takes the weights; a list of areas makes a projection for each"},
		{Name: "rule", Form: formChoice, Choices: names(Rules()), Required: true, Doc: "which neurons are connected"},
		{Name: "weight", Form: formValue, Dims: inputs(), Required: true, Unless: "edges", Doc: "what a spike adds to the target's input, drawn for each synapse"},
		{Name: "delay", Form: formValue, Dims: []Dimension{Bursts}, Default: "1", Doc: "bursts, or a time, from spike to arrival: 1…65,535 bursts, or 1…255 by FEAGI's rules of plasticity and from areas with psp_max; a distribution is drawn for each synapse"},
		{Name: "attractivity", Form: formWhole, High: 100, Default: "100", Doc: "percentage of the rule's synapses that are made; each is drawn independently"},
		{Name: "merge", Form: formFlag, Default: "false", Of: names(which(Rule.Merges)), Doc: "whether synapses of the same pair of neurons and the same delay become one, with the sum of their weights, over all projections with merge: true"},
		{Name: "last_of_voxel", Form: formFlag, Default: "false", Of: names(which(Rule.gridded)), Doc: "whether only the last neuron of each target voxel is connected, as in FEAGI"},
		{Name: "first_of_voxel", Form: formFlag, Default: "false", Of: names(which(Rule.gridded)), Doc: "whether only the first one is, as by FEAGI's last_to_first"},
		{Name: "plasticity", Form: formLearning, Keys: learningKeys(), Doc: "rule by which the weights change: a name, or a mapping with rule, parameters of it and bounds ([plasticity.md](plasticity.md))"},
		{Name: "back", Form: formBursts, High: quanta.MaxDelay / 2, Default: "0", Doc: "dendritic share of the delay, beside plasticity: a spike of the target counts as seen by the synapse twice that many bursts later, at least 1"},
	}, ruleKeys(Rules())...)
	keys[index(keys, "mapper")].Keys = append([]key{
		{Name: "rule", Form: formChoice, Choices: names(Mappers()), Required: true, Doc: "which voxels are connected"},
	}, ruleKeys(Mappers())...)
	return keys
})
