// Package manifest is manifest.json, by which a run folder says what was run, on what, and what came of it.
package manifest

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/durable"
	"burst/internal/regular"
)

// Format is the version of the run folder; a reader refuses a later one. In format 1 a stream had a row a spike.
const Format = 2

// The states of a run.
const (
	Running     = "running"     // or ended without a word: killed, or its machine lost power
	Complete    = "complete"    // all bursts were run
	Interrupted = "interrupted" // stopped early, in good order
	Failed      = "failed"      // ended by an error, which Failure tells
)

// Manifest is manifest.json: what was run, on what, and what came of it.
type Manifest struct {
	Format       int       `json:"format"`
	Burst        string    `json:"burst"` // version of burst
	Go           string    `json:"go"`
	Genome       string    `json:"genome"`           // its name
	GenomeSHA256 string    `json:"genome_sha256"`    // of genome.yaml
	GenomeFolder string    `json:"genome_folder"`    // where the files lie that it names; "" when it names none, or those that came with burst; relative to the run folder where they were handed over
	Connectome   string    `json:"connectome"`       // hash, 16 hexadecimal digits
	Wiring       string    `json:"wiring,omitempty"` // likewise without the rules by which weights change; empty where none changes
	Seed         uint64    `json:"seed"`
	RunSeed      uint64    `json:"run_seed"`
	Timestep     float64   `json:"timestep_ms"`
	Scale        int32     `json:"scale"`       // quanta per unit
	First        uint64    `json:"first_burst"` // the run's first; 0 but in a run that began from a checkpoint
	Planned      uint64    `json:"planned_bursts"`
	Bursts       uint64    `json:"bursts"` // run, from First on; 0 while the run goes on
	Backend      string    `json:"backend"`
	Device       string    `json:"device"`
	Path         string    `json:"path,omitempty"` // how a GPU ran bursts, and why so; empty without one
	PathWhy      string    `json:"path_why,omitempty"`
	Threads      int       `json:"threads"`
	Digest       string    `json:"digest"`                  // 16 hexadecimal digits; empty while the run goes on
	WeightDigest string    `json:"weight_digest,omitempty"` // likewise; empty also where no weight changes
	Spikes       uint64    `json:"spikes"`                  // of all neurons, recorded or not
	Timings      Timings   `json:"timings"`
	Host         Host      `json:"host"`
	Command      []string  `json:"command"`
	Started      time.Time `json:"started"`
	Status       string    `json:"status"`
	Failure      string    `json:"failure,omitempty"`
	Options      Settings  `json:"options"`
	From         *Origin   `json:"from,omitempty"`
	Weights      *Learnt   `json:"weights_from,omitempty"`
	Resumed      []Resumed `json:"resumed,omitempty"`
	Faults       []Fault   `json:"faults,omitempty"`
	Areas        []Area    `json:"areas"`
	Variables    []string  `json:"variables,omitempty"` // names in the recording of variables, in the order of a neuron's rows
	Learning     []Learns  `json:"learning,omitempty"`  // projections whose weights change
	Inputs       []File    `json:"inputs"`              // files that the genome names
	Files        []File    `json:"files"`               // files of the folder, but for the manifest
}

// Settings are the flags of a run that one who resumes it needs again, as they were given.
type Settings struct {
	Record          []string `json:"record"`
	CheckpointEvery string   `json:"checkpoint_every"`
	RealTime        string   `json:"realtime"`
	OnDeviceFault   string   `json:"on_device_fault"`
	Inputs          bool     `json:"inputs,omitempty"` // a live run's, which are logged
}

// Origin is the checkpoint that a run began from; a copy of it is the folder's from.checkpoint.
type Origin struct {
	File
	Burst   uint64 `json:"burst"`    // the next one
	RunSeed uint64 `json:"run_seed"` // of the run that saved it
}

// Learnt is the checkpoint of another run with whose weights a run began; a copy of it is the folder's weights.checkpoint.
type Learnt struct {
	File
	Burst      uint64   `json:"burst"` // its next one
	Genome     string   `json:"genome"`
	Connectome string   `json:"connectome"`
	Wiring     string   `json:"wiring"`
	Learning   []Learns `json:"learning"` // by what the weights were learnt
}

// Resumed says that a run went on after it had stopped.
type Resumed struct {
	Burst   uint64    `json:"burst"` // the next one then
	Backend string    `json:"backend"`
	Device  string    `json:"device"`
	Threads int       `json:"threads"`
	Started time.Time `json:"started"`
}

// Fault is a failure of a device, and what was done about it.
type Fault struct {
	Burst   uint64 `json:"burst"` // the one that failed
	Backend string `json:"backend"`
	Device  string `json:"device"`
	Cause   string `json:"cause"`
	Action  string `json:"action"` // "stop", "retry" or "cpu"
}

// Timings say how long the run took.
type Timings struct {
	Plan     float64         `json:"plan_s"` // sizes, weights and bounds of the network
	Build    float64         `json:"build_s"`
	Upload   float64         `json:"upload_s"` // what a GPU is given
	Open     float64         `json:"open_s"`   // the rest of opening the backend
	Run      float64         `json:"run_s"`
	Wait     float64         `json:"wait_s"`                // of Run, for the disk
	Write    float64         `json:"write_s"`               // recordings become Parquet
	Latency  engine.Latency  `json:"latency_us"`            // of one burst
	Lateness *engine.Latency `json:"lateness_us,omitempty"` // of the starts of bursts, where a rate was held
}

// Host is the machine of a run.
type Host struct {
	Name string `json:"name"`
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"`
}

// Area is an area of the network of a run; its neurons are First ≤ id < First+Neurons.
type Area struct {
	Name          string    `json:"name"`
	Aliases       []string  `json:"aliases,omitempty"` // names that stand for Name too
	First         uint32    `json:"first"`
	Neurons       uint32    `json:"neurons"`
	Model         string    `json:"model"`
	Size          [3]uint32 `json:"size"`                     // voxels in x, y, z
	PerVoxel      uint32    `json:"neurons_per_voxel"`        // Size and PerVoxel multiply to Neurons
	Space         *Space    `json:"space,omitempty"`          // positions of the neurons; nil: the genome gives none
	Recorded      uint32    `json:"recorded"`                 // neurons whose spikes are recorded
	RecordedSpans []Span    `json:"recorded_spans,omitempty"` // these neurons, ascending and apart; none: the area's first ones
}

// Space is where the neurons of an area lie: each where Each says or, without it, by its voxel: along each axis, voxel i of n lies at
// center + extent·(2i + 1 − n)/2n.
type Space struct {
	Extent   [3]float64   `json:"extent_um"`
	Center   [3]float64   `json:"center_um"`
	Periodic bool         `json:"periodic"`
	Each     [][3]float64 `json:"positions_um,omitempty"` // x, y and z of each neuron, from a file
}

// SpaceOf is what the genome says of an area.
func SpaceOf(s *genome.Space) *Space {
	if s == nil {
		return nil
	}
	return &Space{s.Extent, s.Center, s.Periodic, s.Each}
}

// Learns is a projection whose weights change.
type Learns struct {
	Projection uint32  `json:"projection"` // its place in the genome
	From       string  `json:"from"`       // areas
	To         string  `json:"to"`
	Rule       string  `json:"rule"`
	Synapses   uint64  `json:"synapses"`
	Low        float32 `json:"low"` // bounds of the weights
	High       float32 `json:"high"`
}

// Call says which projection it is.
func (l *Learns) Call() string {
	return fmt.Sprintf("projections[%d] (%s to %s)", l.Projection, l.From, l.To)
}

// Learning describes the projections of a run whose weights change.
func Learning(g *genome.Genome, c *connectome.Connectome) (list []Learns) {
	for i := range c.Plastic {
		p := &c.Plastic[i]
		pr := &g.Projections[p.Projection]
		list = append(list, Learns{uint32(p.Projection), g.Areas[pr.From].Name, g.Areas[pr.To].Name, p.Rule.Name, p.Whole(), p.Lo, p.Hi})
	}
	return list
}

// Voxel is where a neuron of the area lies, by its place in the area.
func (a *Area) Voxel(place uint32) (x, y, z uint32) { return Voxel(a.Size, a.PerVoxel, place) }

// Voxel is where a neuron lies by its place in an area of so many voxels in x, y and z, with so many neurons each.
func Voxel(size [3]uint32, perVoxel, place uint32) (x, y, z uint32) {
	at := place / max(1, perVoxel)
	deep, high := max(1, size[2]), max(1, size[1])
	return at / deep / high, at / deep % high, at % deep
}

// At is where a neuron of the area lies, by its place in the area, along x, y and z in um; NaN in an area without positions.
func (a *Area) At(place uint32) [3]float64 {
	if a.Space == nil {
		return [3]float64{math.NaN(), math.NaN(), math.NaN()}
	}
	if each := a.Space.Each; int(place) < len(each) {
		return each[place]
	}
	x, y, z := a.Voxel(place)
	s := genome.Space{Extent: a.Space.Extent, Center: a.Space.Center}
	var at [3]float64
	for axis, i := range [3]uint32{x, y, z} {
		at[axis] = s.At(axis, uint64(i), uint64(max(1, a.Size[axis])))
	}
	return at
}

// Placed says whether the neurons of some area have positions.
func (m *Manifest) Placed() bool {
	return slices.ContainsFunc(m.Areas, func(a Area) bool { return a.Space != nil })
}

// Time is when a burst begins, in ms: the time step is taken for the decimal number that it is written as, and the product is rounded
// once.
func (m *Manifest) Time(burst uint64) float64 {
	digits, exponent, _ := strings.Cut(strconv.FormatFloat(m.Timestep, 'e', -1, 64), "e")
	whole, fraction, _ := strings.Cut(digits, ".")
	step, err := strconv.ParseUint(whole+fraction, 10, 64)
	shift, errShift := strconv.Atoi(exponent)
	hi, ticks := bits.Mul64(burst, step)
	shift -= len(fraction)
	if err != nil || errShift != nil || hi > 0 || ticks >= 1<<53 || shift < -22 || shift > 0 { // the quotient would not be of exact numbers
		return float64(burst) * m.Timestep
	}
	return float64(ticks) / math.Pow10(-shift)
}

// Grid says whether some area is more than a row of neurons.
func (m *Manifest) Grid() bool {
	return slices.ContainsFunc(m.Areas, func(a Area) bool { return a.Size[1] > 1 || a.Size[2] > 1 || a.PerVoxel > 1 })
}

// Aliased says whether some area has an alias, as those of FEAGI's genomes do.
func (m *Manifest) Aliased() bool {
	return slices.ContainsFunc(m.Areas, func(a Area) bool { return len(a.Aliases) > 0 })
}

// Call is the area's first alias, as FEAGI's id is, else its name.
func (a *Area) Call() string {
	if len(a.Aliases) > 0 {
		return a.Aliases[0]
	}
	return a.Name
}

// File is a file with what tells whether it has changed.
type File struct {
	Path   string `json:"path"` // in the run folder, or as the genome names it
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Read reads the manifest in dir.
func Read(dir string) (Manifest, error) {
	var m Manifest
	path := filepath.Join(dir, "manifest.json")
	text, err := readText(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, regular.Damaged(path, "%v", err)
	}
	if m.Format < 1 || m.Format > Format {
		return m, regular.Damaged(path, "format %d found, this version of burst reads formats 1 to %d", m.Format, Format)
	}
	if reason := m.flaw(); reason != "" {
		return m, regular.Damaged(path, "%s", reason)
	}
	return m, nil
}

// MostBursts is how far a run can count: the draws of a burst have 56 bits of its number.
const MostBursts = 1 << 56

// flaw says what no run can have written; empty: nothing. Readers rely on what it checks.
func (m *Manifest) flaw() string {
	switch {
	case !slices.Contains([]string{Running, Complete, Interrupted, Failed}, m.Status):
		return fmt.Sprintf("status %q, want %s, %s, %s or %s", m.Status, Running, Complete, Interrupted, Failed)
	case !(m.Timestep > 1e-12 && m.Timestep < 1e12):
		return fmt.Sprintf("the timestep is %v ms, want more than 1e-12 and less than 1e12", m.Timestep)
	case m.First > MostBursts || m.Planned > MostBursts || m.Bursts > MostBursts:
		return fmt.Sprintf("%d bursts from burst %d, %d planned; want at most %d each", m.Bursts, m.First, m.Planned, uint64(MostBursts))
	}
	for i, f := range m.Files {
		if f.Path != filepath.Base(f.Path) || f.Path == "." || f.Path == ".." {
			return fmt.Sprintf("files[%d] is %q, want a file of the folder", i, f.Path)
		}
	}
	if m.From != nil && m.From.Path != filepath.Base(m.From.Path) {
		return fmt.Sprintf("from is %q, want a file of the folder", m.From.Path)
	}
	if m.Weights != nil && m.Weights.Path != filepath.Base(m.Weights.Path) {
		return fmt.Sprintf("weights_from is %q, want a file of the folder", m.Weights.Path)
	}
	return m.areasFlaw()
}

// areasFlaw is flaw for the areas.
func (m *Manifest) areasFlaw() string {
	next := uint32(0)
	for i, a := range m.Areas {
		if a.First != next || a.First+a.Neurons < a.First {
			return fmt.Sprintf("areas[%d] (%s) begins at neuron %d, want %d", i, a.Name, a.First, next)
		}
		if reason := a.flaw(); reason != "" {
			return fmt.Sprintf("areas[%d] (%s) %s", i, a.Name, reason)
		}
		next = a.First + a.Neurons
	}
	return ""
}

// Write replaces the manifest in dir.
func (m *Manifest) Write(dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return durable.Replace(filepath.Join(dir, "manifest.json"), append(text, '\n'))
}

// Areas describes the areas of a run for its manifest.
func Areas(g *genome.Genome, c *connectome.Connectome) []Area {
	var areas []Area
	for i := range c.Areas {
		a := &c.Areas[i]
		areas = append(areas, Area{Name: a.Name, Aliases: g.Areas[i].Aliases, First: a.Neurons.First, Neurons: a.Neurons.Count, Model: g.Areas[i].Model.Name, Size: a.Size, PerVoxel: a.PerVoxel, Space: SpaceOf(g.Areas[i].Space)})
	}
	return areas
}

// Find is genome.FindArea for areas of a manifest.
func Find(areas []Area, name string) (int, error) {
	return genome.FindArea(func(yield func(string, []string) bool) {
		for i := range areas {
			if !yield(areas[i].Name, areas[i].Aliases) {
				return
			}
		}
	}, name)
}
