package record

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"burst/engine"
	"burst/internal/durable"
	"burst/internal/plain"
)

// format is the version of the run folder; a reader refuses a later one. In format 1 a stream had a row a spike.
const format = 2

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
	Genome       string    `json:"genome"`        // its name
	GenomeSHA256 string    `json:"genome_sha256"` // of genome.yaml
	GenomeFolder string    `json:"genome_folder"` // where the files lie that it names; "" when it names none, or those that came with burst
	Connectome   string    `json:"connectome"`    // hash, 16 hexadecimal digits
	Seed         uint64    `json:"seed"`
	RunSeed      uint64    `json:"run_seed"`
	Timestep     float64   `json:"timestep_ms"`
	Scale        int32     `json:"scale"`       // quanta per unit
	First        uint64    `json:"first_burst"` // the run's first; 0 but in a run that began from a checkpoint
	Planned      uint64    `json:"planned_bursts"`
	Bursts       uint64    `json:"bursts"` // run, from First on; 0 while the run goes on
	Backend      string    `json:"backend"`
	Device       string    `json:"device"`
	Threads      int       `json:"threads"`
	Digest       string    `json:"digest"` // 16 hexadecimal digits; empty while the run goes on
	Spikes       uint64    `json:"spikes"` // of all neurons, recorded or not
	Timings      Timings   `json:"timings"`
	Host         Host      `json:"host"`
	Command      []string  `json:"command"`
	Started      time.Time `json:"started"`
	Status       string    `json:"status"`
	Failure      string    `json:"failure,omitempty"`
	Options      Settings  `json:"options"`
	From         *Origin   `json:"from,omitempty"`
	Resumed      []Resumed `json:"resumed,omitempty"`
	Faults       []Fault   `json:"faults,omitempty"`
	Areas        []Area    `json:"areas"`
	Inputs       []File    `json:"inputs"` // files that the genome names
	Files        []File    `json:"files"`  // files of the folder, but for the manifest
}

// Settings are the flags of a run that one who resumes it needs again, as they were given.
type Settings struct {
	Record          []string `json:"record"`
	CheckpointEvery string   `json:"checkpoint_every"`
	RealTime        string   `json:"realtime"`
	OnDeviceFault   string   `json:"on_device_fault"`
}

// Origin is the checkpoint that a run began from; a copy of it is the folder's from.checkpoint.
type Origin struct {
	File
	Burst   uint64 `json:"burst"`    // the next one
	RunSeed uint64 `json:"run_seed"` // of the run that saved it
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
	Build   float64        `json:"build_s"`
	Run     float64        `json:"run_s"`
	Latency engine.Latency `json:"latency_us"` // of one burst
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
	Recorded      uint32    `json:"recorded"`                 // neurons whose spikes are recorded
	RecordedSpans []Span    `json:"recorded_spans,omitempty"` // these neurons, ascending and apart; none: the area's first ones
}

// File is a file with what tells whether it has changed.
type File struct {
	Path   string `json:"path"` // in the run folder, or as the genome names it
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// readManifest reads the manifest in dir.
func readManifest(dir string) (Manifest, error) {
	var m Manifest
	path := filepath.Join(dir, "manifest.json")
	text, err := readText(path)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, damaged(path, "%v", err)
	}
	if m.Format < 1 || m.Format > format {
		return m, damaged(path, "format %d found, this version of burst reads formats 1 to %d", m.Format, format)
	}
	if reason := m.flaw(); reason != "" {
		return m, damaged(path, "%s", reason)
	}
	return m, nil
}

// MostBursts is how far a run can count: the draws of a burst have 56 bits of its number.
const MostBursts = 1 << 56

// flaw is what no run can have written; empty where there is none. Readers rely on what it looks at.
func (m *Manifest) flaw() string {
	switch {
	case !slices.Contains([]string{Running, Complete, Interrupted, Failed}, m.Status):
		return fmt.Sprintf("status %q, want %s, %s, %s or %s", m.Status, Running, Complete, Interrupted, Failed)
	case !(m.Timestep > 1e-12 && m.Timestep < 1e12):
		return fmt.Sprintf("a timestep of %v ms", m.Timestep)
	case m.First > MostBursts || m.Planned > MostBursts || m.Bursts > MostBursts:
		return fmt.Sprintf("%d bursts from %d on, %d planned; the most is %d", m.Bursts, m.First, m.Planned, uint64(MostBursts))
	}
	for i, f := range m.Files {
		if f.Path != filepath.Base(f.Path) || f.Path == "." || f.Path == ".." {
			return fmt.Sprintf("files[%d] is %q, want a file of the folder", i, f.Path)
		}
	}
	if m.From != nil && m.From.Path != filepath.Base(m.From.Path) {
		return fmt.Sprintf("from is %q, want a file of the folder", m.From.Path)
	}
	return m.areasFlaw()
}

// areasFlaw is flaw of the areas.
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

// write replaces the manifest in dir.
func (m *Manifest) write(dir string) error {
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	return durable.Replace(filepath.Join(dir, "manifest.json"), append(text, '\n'))
}

// DamagedError is a recording that cannot be what was written, or one of another version.
type DamagedError struct {
	Path   string
	Reason string
}

func (e *DamagedError) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }

func damaged(path, format string, args ...any) error {
	return &DamagedError{path, plain.Sprintf(format, args...)}
}
