package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"burst/checkpoint"
	"burst/engine"
	"burst/internal/plain"
	"burst/record"
	"burst/record/picture"

	"github.com/spf13/cobra"
)

// keeping are the flags that say what a run leaves behind, and where.
type keeping struct {
	out    string
	noOut  bool
	record []string
}

func (k *keeping) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&k.out, "out", "o", "", "write the results to this folder, which must be empty or not there yet (default: runs/NAME-N)")
	f.BoolVar(&k.noOut, "no-out", false, "write no results")
	f.StringArrayVar(&k.record, "record", nil, "what to record: spikes=, potentials= or fcl=, then all, none, or areas such as L4E,L4I[0..9]; may be repeated\n"+
		"(default: the genome's record block; without one the spikes of all areas, of large networks a part)")
}

// check refuses a folder that is in use before anything is built.
func (k *keeping) check() error {
	if k.out == "" {
		return nil
	}
	return record.Vacant(k.out)
}

// plan says what to record.
func (r *runner) plan() (record.Plan, error) {
	p, note, err := record.NewPlan(r.g, r.c, r.o.keep.record)
	if err != nil {
		return p, usageError{fmt.Errorf("--record %w", err)}
	}
	if r.o.keep.noOut {
		return record.Plan{}, nil
	}
	if note != "" {
		r.progress.once("%s", note)
	}
	return p, nil
}

// create makes the run folder, or opens the one of a run that goes on.
func (r *runner) create(plan record.Plan) error {
	if r.o.keep.noOut {
		return nil
	}
	warn := func(s string) { r.progress.line("%s", s) }
	if r.start != nil && r.start.folder != nil {
		r.folder = r.start.folder.Dir
		var err error
		r.recording, err = record.Resume(r.start.folder, plan, r.start.offsets(), warn, r.resumed)
		return err
	}
	dir := r.o.keep.out
	if dir == "" {
		var err error
		if dir, err = nextFolder(r.g.Name); err != nil {
			return err
		}
	}
	m := r.manifest()
	if err := r.take(dir); err != nil {
		return err
	}
	r.folder = dir
	var err error
	r.recording, err = record.Create(dir, record.Options{Manifest: m, Genome: r.g.Text(), Plan: plan, Prepare: r.copyStart, Warn: warn})
	return err
}

// take holds the folder of a new run.
func (r *runner) take(dir string) (err error) {
	if err = os.MkdirAll(dir, 0o755); err == nil {
		r.hold, err = record.Take(dir)
	}
	return err
}

// release lets others have the run's folder; a second call does nothing.
func (r *runner) release() {
	if r.hold == nil {
		return
	}
	if err := r.hold.Release(r.complete); err != nil {
		r.progress.line("%s", plain.Text(err))
	}
	r.hold = nil
}

// nextFolder makes runs/NAME-N with the first free N.
func nextFolder(name string) (string, error) {
	if err := os.MkdirAll("runs", 0o755); err != nil {
		return "", err
	}
	for n := 1; ; n++ {
		dir := filepath.Join("runs", fmt.Sprintf("%s-%d", strings.ReplaceAll(name, " ", "-"), n))
		if err := os.Mkdir(dir, 0o755); !errors.Is(err, fs.ErrExist) {
			return dir, err
		}
	}
}

// manifest gathers what is known before the run.
func (r *runner) manifest() record.Manifest {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	m := record.Manifest{
		Burst: version, Go: runtime.Version(), Genome: r.g.Name, Connectome: fmt.Sprintf("%016x", r.id), Seed: r.c.Seed, RunSeed: r.c.RunSeed,
		Timestep: r.c.Timestep, Scale: r.c.Scale, First: r.first, Planned: r.bursts, Backend: r.used, Device: r.device, Threads: r.o.threadCount(),
		Host:    record.Host{Name: host, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU()},
		Command: os.Args, Started: time.Now().UTC(), Areas: record.Areas(r.g, r.c), Inputs: []record.File{}, Files: []record.File{},
		Options: record.Settings{Record: append([]string{}, r.o.keep.record...), CheckpointEvery: r.o.every, RealTime: r.o.realtime, OnDeviceFault: r.o.onFault},
	}
	for _, f := range r.g.Files {
		m.Inputs = append(m.Inputs, record.File(f))
	}
	if len(m.Inputs) > 0 {
		m.GenomeFolder = r.g.Folder
	}
	return m
}

// finish ends the run folder: a run that failed leaves its checkpoints and what it has recorded.
func (r *runner) finish(failed error) error {
	if r.recording == nil {
		return failed
	}
	status := record.Complete
	if errors.Is(failed, context.Canceled) {
		status = record.Interrupted
	}
	if status == record.Interrupted || failed == nil {
		if err := r.lastSave(status == record.Interrupted); err != nil {
			failed = err
		}
	}
	if failed != nil && !errors.Is(failed, context.Canceled) {
		return r.fail(failed)
	}
	res := r.result()
	err := r.recording.Close(record.End{
		Bursts: res.Bursts, Spikes: res.Spikes, Digest: res.Digest, Status: status, Activity: r.activity,
		Timings: record.Timings{Build: res.Build, Run: res.Run, Latency: res.Latency},
	})
	r.complete = err == nil && status == record.Complete
	if err != nil {
		return fmt.Errorf("%w\nthe run itself ended with digest %s; what it recorded is in %s", err, res.Digest, r.folder)
	}
	// The recordings are safe; a picture that fails can be drawn again.
	if err := picture.OfRun(r.folder); err != nil {
		r.progress.line("no pictures: %s; try `burst plot %s`", plain.Text(err), r.folder)
	}
	return failed
}

// fail leaves the folder of a run that an error ended.
func (r *runner) fail(failed error) error {
	for _, err := range []error{r.closeSaver(), r.recording.Fail(failed, r.faultOf(failed))} {
		if err != nil && err.Error() != failed.Error() {
			r.progress.line("%s", plain.Text(err))
		}
	}
	advice := ""
	if n := new(engine.NumberError); r.resumable() && !errors.As(failed, &n) { // the same numbers would fail again
		advice = fmt.Sprintf("; `burst resume %s` goes on from its last checkpoint", quoted(r.folder))
	}
	return fmt.Errorf("%w\nwhat was recorded until then is in %s%s", failed, r.folder, advice)
}

// resumable says that the run's folder holds a checkpoint.
func (r *runner) resumable() bool {
	list, err := checkpoint.List(r.disk, filepath.Join(r.folder, checkpointFolder))
	return err == nil && len(list) > 0
}
