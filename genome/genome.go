// Package genome reads what the user wrote: a YAML text of format version 1 becomes a Genome, checked in full, or a
// list of faults that name file, line, column and key. It is the first step of genome -> connectome -> engine.
package genome

import "slices"

// Genome is a network as the user described it. Numbers are in base units: ms, mV, pA, Hz, pF.
type Genome struct {
	Name        string
	Seed        uint64   // builds wiring, weights, delays and the initial state
	RunSeed     uint64   // drives Poisson input and excitability; Seed unless the genome says otherwise
	OwnRunSeed  bool     // the genome says so, be it the same number
	Timestep    float64  // ms a burst stands for, > 0
	Scale       int32    // quanta per unit, 1…2^24; 0 means auto
	Bursts      uint64   // length of a run when the caller names none; 0 when the genome names none either
	Models      []*Model // those that the genome defines
	Areas       []Area
	Projections []Projection
	Stimuli     []Stimulus
	Record      Record
	Folder      string // where the files lie that the text names; "" when it may name none
	Files       []File // those that it names

	src  *source
	open Opener
}

// File is a file that a genome names, with what tells whether it has changed.
type File struct {
	Path   string // inside Genome.Folder
	Bytes  int64
	SHA256 string // hexadecimal; like Bytes it is filled in by Load and ParseIn
}

// Pos is a place in the genome's text; line and column count from 1.
type Pos struct{ Line, Column int }

// Area is a cortical area: neurons of one model on a grid of voxels.
type Area struct {
	Pos       Pos
	Name      string
	Aliases   []string   // names that stand for Name too, such as FEAGI's ids
	Size      [3]uint64  // voxels in x, y, z, each ≥ 1; 0, 1, 1 for a memory area without neurons
	PerVoxel  uint64     // neurons in a voxel, ≥ 1
	Position  [3]float64 // for pictures only
	Model     *Model
	Params    map[string]float64   // every parameter of Model, defaults filled in; booleans are 0 or 1
	Varied    map[string]Value     // parameters that differ from neuron to neuron, in place of their entry in Params
	Columns   map[string][]float64 // one value a neuron for each entry of Varied whose kind is Column
	Gradient  [3]float64           // threshold added per voxel step in x, y, z (feagi)
	FEAGIDraw bool                 // excitability draws by FEAGI's hash instead of Philox
	Init      map[string]Value     // initial values of state variables that the genome names
	PSP       *float64             // factor of the weights of all projections from this area; nil: 1
	DividePSP bool                 // weights from this area are divided by the source neuron's number of synapses
	Group     string               // ipu, opu, core, custom, memory or any other; "" when it has none
	Devices   uint64               // devices that the area stands for; 0 when the genome does not say
	Drives    []Drive
	From      uint64  // poisson: first burst in which the area fires
	Until     uint64  // poisson: first burst in which it no longer fires; MaxUint64 when open
	Spikes    []Spike // spike_list: ascending by burst, then neuron
}

// Called says whether a name is the area's, or one of its aliases.
func (a *Area) Called(name string) bool { return a.Name == name || slices.Contains(a.Aliases, name) }

// Spike is one entry of a spike list.
type Spike struct {
	Burst  uint64
	Neuron uint32 // area-local
}

// Neurons is the number of neurons, Size[0]·Size[1]·Size[2]·PerVoxel; Parse has checked that it fits 63 bits.
func (a *Area) Neurons() uint64 { return a.Size[0] * a.Size[1] * a.Size[2] * a.PerVoxel }

// Empty says that the area is declared without neurons: a memory area, which has none until it learns.
func (a *Area) Empty() bool { return a.Size == [3]uint64{0, 1, 1} }

// Source says that the area's model fires by itself: it takes no input and has no potential.
func (a *Area) Source() bool { return a.Model != nil && a.Model.Ports == 0 }

// Factor is what the weights of all projections from the area are multiplied by.
func (a *Area) Factor() float64 {
	if a.PSP == nil {
		return 1
	}
	return *a.PSP
}

// Voxel gives the neurons of a voxel inside Size, counted from 0 in the area: count of them from first on.
func (a *Area) Voxel(x, y, z uint64) (first, count uint64) {
	return ((x*a.Size[1]+y)*a.Size[2] + z) * a.PerVoxel, a.PerVoxel
}

// Drive is input that an area makes by itself.
type Drive struct {
	Pos    Pos
	Kind   DriveKind
	Value  float64 // Constant: amount a burst (feagi, plain units), current in pA or its steady depolarisation in mV (lif)
	Unit   Dimension
	Rate   float64 // Poisson: events a second, Hz
	Weight float64 // Poisson: one event's amount, in the model's input unit
	Mean   float64 // Noise: mean amount a burst, in the model's input unit
	SD     float64 // Noise: standard deviation of the amount, ≥ 0
	From   uint64  // first burst in which the drive acts
	Until  uint64  // first burst in which it no longer acts; MaxUint64 when open
}

// DriveKind names a kind of drive.
type DriveKind uint8

// The kinds of drive.
const (
	Constant DriveKind = iota
	Poisson
	Noise // written normal: a normal number for each neuron and burst
)

// Projection connects the neurons of one area to those of another by a rule.
type Projection struct {
	Pos      Pos
	From, To int // indices into Genome.Areas; both WholeNetwork, or neither
	Rule     Rule
	Weight   Value // in the target model's input unit, before the source area's Factor
	Delay    Value // in bursts (times are divided by Timestep already), 1…255 after rounding

	Indegree    uint64  // fixed_indegree: synapses onto each target neuron
	Outdegree   uint64  // fixed_outdegree: synapses from each source neuron
	Count       uint64  // fixed_total_number: synapses in all
	P           float64 // pairwise_bernoulli: probability of each pair, 0…1
	NoAutapses  bool    // forbid a neuron to reach itself
	NoMultapses bool    // forbid two synapses between one pair

	LeaveOut uint64 // per cent of the rule's synapses that are not made, 0…100: 100 − attractivity
	Merge    bool   // synapses of a pair with the same delay become one with those of other merging projections

	Axes     AxisOrder    // projector
	FromEnd  Axis         // projector
	Divide   [3]uint64    // block_to_block: what the source's coordinates are divided by; 0 is 1
	Vectors  [][3]int64   // vectors: voxel offsets
	Patterns []Pattern    // patterns
	Blocks   [3]uint64    // composite: voxels of a block along x, y, z, each ≥ 1
	Choose   [3][2]uint64 // composite: per axis, blocks taken (≥ 1) and blocks skipped in turn
	Mapper   *Mapper      // composite

	File    string // edges: the list, inside the genome's folder
	FilePos Pos
}

// Mapper is the rule that a composite applies to each of its blocks, with the block as the source area.
type Mapper struct {
	Pos      Pos
	Rule     Rule // one of Mappers
	Axes     AxisOrder
	FromEnd  Axis
	Divide   [3]uint64
	Vectors  [][3]int64
	Patterns []Pattern
}

// WholeNetwork is From and To of an edges projection whose list numbers the neurons of the whole network.
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
)

// Axis names an axis of an area.
type Axis uint8

// The axes.
const (
	NoAxis Axis = iota
	XAxis
	YAxis
	ZAxis
)

// AxisOrder says which source axes the target's x, y and z follow.
type AxisOrder uint8

// The orders: as they are, or with two axes exchanged.
const (
	XYZ AxisOrder = iota
	YXZ
	ZYX
	XZY
)

// Pattern connects every source voxel that matches From to the destination voxels that To describes.
type Pattern struct{ From, To [3]PatternElem }

// PatternElem is one axis of a pattern: an exact coordinate or one of FEAGI's wildcards.
type PatternElem struct {
	Kind  PatternKind
	Coord int64 // for Exact
}

// PatternKind says how a pattern element matches.
type PatternKind uint8

// Exact is a coordinate; Any is "*", Same is "?", Other is "!".
const (
	Exact PatternKind = iota
	Any
	Same
	Other
)

// Stimulus injects amounts into neurons of an area in chosen bursts.
type Stimulus struct {
	Pos     Pos
	Area    int    // index into Genome.Areas
	At      uint64 // the burst, when Every is 0
	Every   uint64 // acts in bursts t with t mod Every = 0 and From ≤ t < Until
	From    uint64
	Until   uint64
	Neurons []uint32  // area-local, ascending
	Amounts []float64 // one a neuron, in the model's input unit
}

// Record names what the genome's author wants kept of a run.
type Record struct {
	Spikes     []int // area indices; empty: none are kept; nil: the genome does not say
	Potentials []Potentials
	FCL        bool
}

// Potentials asks for the potentials of chosen neurons of an area.
type Potentials struct {
	Area    int
	Neurons []uint32 // area-local, ascending
}
