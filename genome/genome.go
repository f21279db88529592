// Package genome reads a network description: a YAML text of format version 1. The result is a fully checked Genome, or a
// list of faults with file, line, column and key. It is the first step of genome -> connectome -> engine.
package genome

// Genome is a network as the user described it. Numbers are in base units: ms, mV, pA, Hz, pF, nS, um.
type Genome struct {
	Name        string
	Seed        uint64        // of synapses, weights, delays and the initial state
	RunSeed     uint64        // of Poisson input and excitability; Seed unless the genome gives another
	OwnRunSeed  bool          // the genome gives run_seed, even if it equals Seed
	Timestep    float64       // ms per burst, > 0
	Scale       int32         // quanta per unit, 1…2^24; 0 means auto
	Bursts      uint64        // default length of a run; 0 if the genome gives none
	Models      []*Model      // defined by the genome
	Plasticity  []*Plasticity // rules defined by the genome
	Areas       []Area
	Projections []Projection
	Stimuli     []Stimulus
	Record      Record
	Folder      string // folder of the files that the text names; "" if it may name none
	Files       []File // files that the text names

	src   *source
	open  Opener
	named map[string]bool // paths of Files
}

// File is a file that a genome names. Its size and hash show whether it has changed.
type File struct {
	Path   string // inside Genome.Folder
	Bytes  int64
	SHA256 string // hexadecimal; Load and ParseIn fill in Bytes and SHA256
}

// Pos is a place in the genome's text; line and column count from 1.
type Pos struct{ Line, Column int }

// Area is a cortical area: neurons of one model on a grid of voxels.
type Area struct {
	Pos       Pos
	Name      string
	Aliases   []string       // further names of the area, such as FEAGI's ids
	Size      [3]uint64      // voxels in x, y, z, each ≥ 1; 0, 1, 1 for a memory area without neurons
	PerVoxel  uint64         // neurons in a voxel, ≥ 1
	Position  [3]float64     // for pictures only
	Space     *Space         // where the neurons lie; nil: the genome does not say
	Columns   []NeuronColumn // of neurons, that formulas of projections read; at most 8
	Model     *Model
	Params    map[string]float64 // every parameter of Model, with defaults; booleans are 0 or 1, choices their index
	Varied    map[string]Value   // parameters that differ from neuron to neuron; their entries in Params do not count
	Gradient  [3]float64         // threshold added per voxel step in x, y, z
	Init      map[string]Value   // initial values of state variables that the genome names
	PSP       *float64           // factor of the weights of all projections from this area; nil: 1
	PSPMax    float64            // above 0: the psp of a spike is the potential at which it was fired, at most this in size
	DividePSP bool               // divide weights from this area by the source neuron's number of synapses
	Group     string             // ipu, opu, core, custom, memory or any other; "" when it has none
	Devices   uint64             // devices that the area stands for; 0 when the genome does not say
	Drives    []Drive
	From      uint64  // poisson: first burst in which the area fires
	Until     uint64  // poisson: first burst in which it no longer fires; MaxUint64 when open
	RateOver  *Factor // poisson: what its rate is multiplied by in each burst; nil: it stays as it is
	Spikes    []Spike // spike_list: ascending by burst, then neuron
	SpikeFile string  // spike_list: a file with the spikes in their place; "" when there is none
	SpikePos  Pos     // of that file's name
	Upstream  []int   // memory: indices of the areas whose spikes are its patterns, ascending
}

// Spike is one entry of a spike list.
type Spike struct {
	Burst  uint64
	Neuron uint32 // area-local
}

// Neurons is the number of neurons, Size[0]·Size[1]·Size[2]·PerVoxel; Parse has checked that it fits 63 bits.
func (a *Area) Neurons() uint64 { return a.Size[0] * a.Size[1] * a.Size[2] * a.PerVoxel }

// Empty reports whether the area is declared without neurons, as only a memory area can be.
func (a *Area) Empty() bool { return a.Size == [3]uint64{0, 1, 1} }

// Source reports whether the area's model fires by itself, without input and potential.
func (a *Area) Source() bool { return a.Model != nil && len(a.Model.Ports) == 0 }

// Factor multiplies the weights of all projections from the area.
func (a *Area) Factor() float64 {
	if a.PSP == nil {
		return 1
	}
	return *a.PSP
}

// Voxel returns the neurons of the voxel (x, y, z), area-local: count neurons, beginning with first.
func (a *Area) Voxel(x, y, z uint64) (first, count uint64) {
	return ((x*a.Size[1]+y)*a.Size[2] + z) * a.PerVoxel, a.PerVoxel
}

// Drive is input to the neurons of an area that does not come from other neurons.
type Drive struct {
	Pos     Pos
	Kind    DriveKind
	Port    int       // that takes the amounts, from 1; 0: see Model.BySign
	Value   float64   // Constant: amount per burst (feagi, plain units), current in pA or its steady depolarisation in mV (lif)
	Each    []float64 // Constant: instead of Value, one for each neuron of the area
	Drawn   *Value    // Constant: instead of Value, a distribution from which the build draws one for each neuron; else nil
	Unit    Dimension
	Rate    float64   // Poisson: events per second, Hz
	Weight  float64   // Poisson: one event's amount, in Unit
	Mean    float64   // Noise: mean amount per burst, in Unit
	SD      float64   // Noise: standard deviation of the amount, ≥ 0
	Rates   []float64 // Poisson: instead of Rate, one for each neuron of the area
	Weights []float64 // Poisson: likewise
	Means   []float64 // Noise: likewise
	SDs     []float64 // Noise: likewise
	From    uint64    // first burst in which the drive acts
	Until   uint64    // first burst in which it no longer acts; MaxUint64 when open
	Factor  *Factor   // of Value, Rate, Mean and SD; nil: they stay as they are
}

// Differs reports whether the neurons of a Poisson or normal drive have numbers of their own, from columns.
func (d *Drive) Differs() bool {
	return d.Rates != nil || d.Weights != nil || d.Means != nil || d.SDs != nil
}

// Of is the drive as it is for the area's i-th neuron.
func (d *Drive) Of(i uint64) Drive {
	one := *d
	for _, x := range [...]struct {
		each []float64
		of   *float64
	}{{d.Each, &one.Value}, {d.Rates, &one.Rate}, {d.Weights, &one.Weight}, {d.Means, &one.Mean}, {d.SDs, &one.SD}} {
		if x.each != nil {
			*x.of = x.each[i]
		}
	}
	return one
}

// DriveKind names a kind of drive.
type DriveKind uint8

// The kinds of drive.
const (
	Constant DriveKind = iota
	Poisson
	Noise // called normal in a genome: a normally distributed amount for each neuron and burst
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

// AxisOrder names the source axes that the target's x, y and z correspond to.
type AxisOrder uint8

// The orders: unchanged, or with two axes exchanged.
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
	Port    int    // that takes the amounts, from 1; 0: see Model.BySign
	At      uint64 // the burst, when Every is 0
	Every   uint64 // acts in bursts t with t mod Every = 0 and From ≤ t < Until
	From    uint64
	Until   uint64
	Neurons []uint32  // area-local, ascending
	Amounts []float64 // one per neuron, in the port's unit
}

// Record names what a run records unless the caller chooses otherwise.
type Record struct {
	Spikes       []int // area indices; empty: none are recorded; nil: the genome does not say
	Potentials   []Potentials
	Variables    []Variables
	FCL          bool
	Weights      []Synapses // of projections that learn; empty: none are kept
	Every        uint64     // bursts from one look at the weights to the next; 0: the genome does not say
	NoHistograms bool       // of the weights of projections that learn
}

// Synapses asks for the weights of synapses of all projections that learn between two areas.
type Synapses struct {
	From, To         int
	Sources, Targets []uint32 // area-local, ascending; nil: all
	Share            float64  // of these synapses that are kept, above 0, at most 1
}

// Variables asks for state variables and inputs of chosen neurons of an area.
type Variables struct {
	Area    int
	Neurons []uint32 // area-local, ascending
	Names   []string // of those of Model.Recordable
	Every   uint64   // bursts: those whose number is a multiple
}

// Potentials asks for the potentials of chosen neurons of an area.
type Potentials struct {
	Area    int
	Neurons []uint32 // area-local, ascending
}
