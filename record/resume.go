package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"burst/internal/regular"
	"burst/record/internal/tables"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Resume goes on with the run in a folder. Each of the plan's recordings is proved up to its offset, every chunk of it, and
// cut there; one without an offset begins anew. change tells the manifest what is new in this part of the run.
func Resume(f *runfolder.Folder, p Plan, at map[string]Offset, w Watch, change func(*manifest.Manifest)) (*Run, error) {
	r := &Run{dir: f.Dir, m: f.Manifest, plan: p, watch: w}
	m := &r.m
	if m.Format != manifest.Format && len(at) > 0 {
		return nil, fmt.Errorf("record: the recordings of %s are of format %d, want %d to go on with them; they can be read, and `burst replay` runs the whole again", f.Dir, m.Format, manifest.Format)
	}
	m.Format = manifest.Format
	m.Status, m.Failure, m.Digest, m.WeightDigest, m.Bursts, m.Spikes, m.Files = manifest.Running, "", "", "", 0, 0, []manifest.File{}
	m.Keep(p.Spikes) // older manifests tell the last neuron alone
	m.Variables = p.Names
	change(m)
	for _, table := range []string{tables.Weights, tables.Histograms} {
		if o := at[table]; o.Rows > 0 {
			r.sampled = max(r.sampled, o.Burst+1)
		}
	}
	if err := r.open(func(name string) (*track, error) { return r.reopen(name, at[name]) }); err != nil {
		return nil, err
	}
	if err := m.Write(r.dir); err != nil { // last: a folder that is damaged stays as it was
		return nil, errors.Join(err, r.closeTracks(false, true))
	}
	return r, nil
}

// reopen goes on with one recording.
func (r *Run) reopen(name string, at Offset) (*track, error) {
	base := filepath.Join(r.dir, name)
	if at.Bytes == 0 {
		for _, end := range []string{".arrows", ".sums"} {
			if err := os.Remove(base + end); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("record: %w", err)
			}
		}
		return r.begin(name)
	}
	var files [2]*os.File
	for i, end := range []string{".arrows", ".sums"} {
		f, err := regular.Open(base+end, os.O_RDWR)
		if err != nil {
			return nil, errors.Join(err, closeAll(files[:i]))
		}
		files[i] = f
	}
	s, err := r.cut(name, files, at)
	if err != nil {
		return nil, errors.Join(err, closeAll(files[:]))
	}
	return newTrack(base+".arrows", s, r.watch.Warn, at, r.encode(name))
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// cut checks both files of a recording up to the offset, and truncates them there.
func (r *Run) cut(name string, files [2]*os.File, at Offset) (*tables.Stream, error) {
	hash, err := tables.Prove(files[0], files[1], at)
	if err != nil {
		return nil, err
	}
	for i, size := range []int64{at.Bytes, at.Sums} {
		_, err := files[i].Seek(size, io.SeekStart)
		if err := errors.Join(err, files[i].Truncate(size), files[i].Sync()); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
	}
	return tables.ContinueStream(files[0], files[1], tables.Named(name).StreamSchema(&r.m), at, hash)
}
