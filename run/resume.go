package run

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"

	"burst/checkpoint"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// ErrComplete means that a run has already run all its bursts.
var ErrComplete = errors.New("the run is complete")

// Resume opens a stopped run at its newest undamaged checkpoint, or at its beginning if there is none. Recordings are cut to
// that burst. Backend, Checkpoints and OnFault are taken from the old run unless o sets them. Folder, Runs, Bursts, Record,
// Rate, From and Weights are always taken from it. Sources and Recorders must be given again. The error is ErrComplete if all bursts
// have been run.
func Resume(ctx context.Context, dir string, o Options) (*Run, error) {
	r := &Run{o: o, Facts: Facts{Folder: dir}}
	if err := o.Peers.Settle(r.takeUp()); err != nil {
		return nil, r.abandon(err)
	}
	return r.opened(ctx)
}

// takeUp locks the folder and reads from it what the run needs to continue.
func (r *Run) takeUp() error {
	folder, err := runfolder.Open(r.Folder)
	if err != nil {
		return err
	}
	if folder.Manifest.Status != manifest.Complete {
		if r.hold, err = runfolder.Take(r.Folder); err != nil {
			return err
		}
		if folder, err = runfolder.Open(r.Folder); err != nil { // what it says now stays
			return err
		}
	}
	if folder.Manifest.Status == manifest.Complete {
		return ErrComplete
	}
	if err := r.checkInputs(&folder.Manifest); err != nil {
		return err
	}
	r.o.Inherit(&folder.Manifest)
	r.resumed, r.Planned = folder, folder.Manifest.Planned
	if err := r.check(); err != nil {
		return err
	}
	if r.Genome, err = folder.Genome(); err != nil {
		return err
	}
	return r.findStart()
}

// Inherit sets the options that are left open, and those that cannot be changed, to those in a resumed run's manifest.
func (o *Options) Inherit(m *manifest.Manifest) {
	if o.Backend == "" {
		o.Backend = m.Backend
	}
	if o.Checkpoints == "" {
		o.Checkpoints = m.Options.CheckpointEvery
	}
	if o.OnFault == "" {
		o.OnFault = Action(m.Options.OnDeviceFault)
	}
	o.Record, o.Rate = m.Options.Record, m.Options.RealTime
}

// findStart finds where to resume: the newest undamaged checkpoint, or the beginning of the run.
func (r *Run) findStart() error {
	m := &r.resumed.Manifest
	c, path, skipped, err := checkpoint.Newest(r.o.Disk, filepath.Join(r.Folder, CheckpointFolder))
	if err != nil {
		return err
	}
	if c == nil {
		if r.start, err = Origin(r.o.Disk, r.resumed); err != nil {
			return err
		}
		if r.start != nil {
			r.start.Saved.Activity, r.start.Saved.Recordings = nil, nil // of the run that it came from
		}
		if r.o.Weights, err = LearntBefore(r.o.Disk, r.resumed); err != nil {
			return err
		}
		r.emit(NoCheckpoint{})
		return nil
	}
	if got := hex.EncodeToString(c.Genome[:]); got != m.GenomeSHA256 || c.RunSeed != m.RunSeed {
		return &checkpoint.DamagedError{Path: path, Section: "header", Reason: fmt.Sprintf("is of genome %s with run seed %d, the manifest says %s with %d", got, c.RunSeed, m.GenomeSHA256, m.RunSeed)}
	}
	if err := checkpoint.SetAside(r.o.Disk, path); err != nil {
		return err
	}
	for _, err := range skipped {
		r.emit(SetAside{err})
	}
	r.emit(GoesOn{c.State.Number, path})
	r.start, r.o.Weights = &Start{Path: path, Saved: c}, nil
	return nil
}

// Origin returns the checkpoint that the run in a folder began from; nil if it began at burst 0.
func Origin(d checkpoint.Disk, f *runfolder.Folder) (*Start, error) {
	if f.Manifest.From == nil {
		return nil, nil
	}
	path := filepath.Join(f.Dir, fromFile)
	if err := f.Check(fromFile); err != nil {
		return nil, err
	}
	c, err := checkpoint.Read(d, path)
	if err != nil {
		return nil, err
	}
	return &Start{Path: path, Saved: c}, nil
}

// checkStart determines where the run begins. A checkpoint of another network is an error.
func (r *Run) checkStart() error {
	if r.start == nil {
		return nil
	}
	s := r.start.Saved
	if s.Connectome != r.ID {
		return &checkpoint.DamagedError{Path: r.start.Path, Section: "header", Reason: fmt.Sprintf("is of the network %016x, but genome and seed make %016x; use those that it was saved with", s.Connectome, r.ID)}
	}
	r.Began, r.First = s.State.Number, s.State.Number
	if r.resumed != nil {
		r.First = r.resumed.Manifest.First
		if r.Began < r.First || r.Planned > 0 && r.Began > r.End() {
			return &checkpoint.DamagedError{Path: r.start.Path, Section: "header", Reason: fmt.Sprintf("is of burst %d, the manifest says that the run goes from %d to %d", r.Began, r.First, r.End())}
		}
	}
	return nil
}

// restore sets a new engine and the counts to the state in which the run begins.
func (r *Run) restore() error {
	if r.start == nil {
		return r.startFromLearnt()
	}
	s := r.start.Saved
	if err := s.State.Check(r.Connectome); err != nil {
		return &checkpoint.DamagedError{Path: r.start.Path, Section: "state", Reason: err.Error()}
	}
	if err := r.engine.Restore(&s.State); err != nil {
		return err
	}
	if r.resumed == nil || s.Activity == nil {
		return nil
	}
	if err := r.activity.Restore(s.Activity); err != nil {
		return &checkpoint.DamagedError{Path: r.start.Path, Section: "activity", Reason: err.Error()}
	}
	return nil
}

// offsets returns how far the recordings of a resumed run are valid.
func (s *Start) offsets() map[string]record.Offset {
	at := map[string]record.Offset{}
	if s != nil {
		for _, r := range s.Saved.Recordings {
			at[r.Table] = record.Offset{Bytes: r.Bytes, Rows: r.Rows, Burst: r.Burst, Sums: r.Sums, SumsHash: r.SumsHash}
		}
	}
	return at
}
