package run

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"burst/checkpoint"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Copies in a run's folder: of the checkpoint that it began from, and of that whose weights it began with.
const (
	fromFile    = "from.checkpoint"
	weightsFile = "weights.checkpoint"
)

// keeps reports whether the run has a folder, or will have one.
func (r *Run) keeps() bool { return r.o.Folder != "" || r.o.Runs != "" || r.resumed != nil }

// begin makes the run's folder, or opens the folder of a resumed run. Only the first call does anything.
func (r *Run) begin() error {
	if r.begun || !r.keeps() {
		return nil
	}
	r.begun = true
	if err := r.create(); err != nil {
		return err
	}
	if err := r.newSaver(); err != nil {
		return err
	}
	return r.beginInputs()
}

// create begins or continues the folder's recordings.
func (r *Run) create() (err error) {
	watch := record.Watch{Warn: func(note string) { r.emit(SlowDisk{note}) }, Spikes: r.o.Spikes}
	if r.resumed != nil {
		r.recording, err = record.Resume(r.resumed, r.plan, r.start.offsets(), watch, r.goesOn)
		return err
	}
	dir := r.o.Folder
	if dir == "" {
		if dir, err = NextFolder(r.o.Runs, r.Genome.Name); err != nil {
			return err
		}
	}
	m := r.manifest()
	if err = os.MkdirAll(dir, 0o755); err == nil {
		r.hold, err = runfolder.Take(dir)
	}
	if err != nil {
		return err
	}
	r.Folder = dir
	r.recording, err = record.Create(dir, record.Options{Manifest: m, Genome: r.Genome.Text(), Plan: r.plan, Prepare: r.copyStart, Watch: watch})
	return err
}

// NextFolder makes a new folder NAME-N in a folder, with the lowest unused N.
func NextFolder(in, name string) (string, error) {
	if err := os.MkdirAll(in, 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		dir := filepath.Join(in, fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), n))
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// manifest makes the manifest with what is known before the run.
func (r *Run) manifest() manifest.Manifest {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	c := r.Connectome
	m := manifest.Manifest{
		Burst: Version, Go: runtime.Version(), Genome: r.Genome.Name, Connectome: fmt.Sprintf("%016x", r.ID), Seed: c.Seed, RunSeed: c.RunSeed,
		Timestep: c.Timestep, Scale: c.Scale, First: r.First, Planned: r.Planned, Backend: r.Backend, Device: r.Device, Threads: r.Threads,
		Host:    manifest.Host{Name: host, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()},
		Command: os.Args, Started: time.Now().UTC(), Areas: manifest.Areas(r.Genome, c), Learning: manifest.Learning(r.Genome, c), Inputs: []manifest.File{}, Files: []manifest.File{},
		Options: manifest.Settings{Record: append([]string{}, r.o.Record...), CheckpointEvery: r.o.Checkpoints, RealTime: r.o.Rate, OnDeviceFault: string(r.o.OnFault), Inputs: r.o.Inputs != nil},
	}
	if len(c.Plastic) > 0 {
		m.Wiring = fmt.Sprintf("%016x", r.Wiring)
	}
	m.Path, m.PathWhy = r.path()
	for _, f := range r.Genome.Files {
		m.Inputs = append(m.Inputs, manifest.File(f))
	}
	if len(m.Inputs) > 0 {
		m.GenomeFolder = r.Genome.Folder
	}
	return m
}

// path is how a GPU runs the bursts, and why so, for the manifest.
func (r *Run) path() (name, why string) {
	if r.Path == nil {
		return "", ""
	}
	return r.Path.Name, r.Path.Why
}

// goesOn writes to the manifest that the run is resumed.
func (r *Run) goesOn(m *manifest.Manifest) {
	m.Resumed = append(m.Resumed, manifest.Resumed{Burst: r.Began, Backend: r.Backend, Device: r.Device, Threads: r.Threads, Started: time.Now().UTC()})
	m.Backend, m.Device, m.Threads = r.Backend, r.Device, r.Threads
	m.Path, m.PathWhy = r.path()
	m.Options.CheckpointEvery, m.Options.OnDeviceFault = r.o.Checkpoints, string(r.o.OnFault)
}

// copyStart keeps the checkpoint that a run begins from, or whose weights it begins with, in its folder.
func (r *Run) copyStart(dir string, m *manifest.Manifest) error {
	if l := r.o.Weights; l != nil {
		f, err := r.copyCheckpoint(dir, weightsFile, l.Saved)
		m.Weights = &manifest.Learnt{File: f, Burst: l.Saved.State.Number, Connectome: fmt.Sprintf("%016x", l.Saved.Connectome), Genome: l.Genome, Wiring: l.Wiring, Learning: l.Learning}
		return err
	}
	if r.start == nil {
		return nil
	}
	s := r.start.Saved
	f, err := r.copyCheckpoint(dir, fromFile, s)
	m.From = &manifest.Origin{File: f, Burst: s.State.Number, RunSeed: s.RunSeed}
	return err
}

// copyCheckpoint keeps a checkpoint in the run's folder.
func (r *Run) copyCheckpoint(dir, name string, c *checkpoint.Checkpoint) (manifest.File, error) {
	if err := checkpoint.SaveAs(r.o.Disk, filepath.Join(dir, name), c); err != nil {
		return manifest.File{}, err
	}
	return manifest.Describe(dir, name)
}
