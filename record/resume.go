package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// Resume goes on with the run in a folder. Each of the plan's recordings is proved up to its offset, every chunk of it, and
// cut there; one without an offset begins anew. change tells the manifest what is new in this part of the run.
func Resume(f *Folder, p Plan, at map[string]Offset, warn func(string), change func(*Manifest)) (*Run, error) {
	r := &Run{dir: f.Dir, m: f.Manifest, plan: p}
	m := &r.m
	if m.Format != format && len(at) > 0 {
		return nil, fmt.Errorf("record: the recordings of %s are of format %d, want %d to go on with them; they can be read, and `burst replay` runs the whole again", f.Dir, m.Format, format)
	}
	m.Format = format
	m.Status, m.Failure, m.Digest, m.Bursts, m.Spikes, m.Files = Running, "", "", 0, 0, []File{}
	m.keep(p.Spikes) // older manifests tell the last neuron alone
	change(m)
	if err := r.open(func(name string) (*track, error) { return r.reopen(name, at[name], warn) }); err != nil {
		return nil, err
	}
	if err := m.write(r.dir); err != nil { // last: a folder that is damaged stays as it was
		return nil, errors.Join(err, r.closeTracks())
	}
	return r, nil
}

// reopen goes on with one recording.
func (r *Run) reopen(name string, at Offset, warn func(string)) (*track, error) {
	base := filepath.Join(r.dir, name)
	if at.Bytes == 0 {
		for _, end := range []string{".arrows", ".sums"} {
			if err := os.Remove(base + end); err != nil && !errors.Is(err, os.ErrNotExist) {
				return nil, fmt.Errorf("record: %w", err)
			}
		}
		return r.begin(name, warn)
	}
	var files [2]*os.File
	for i, end := range []string{".arrows", ".sums"} {
		f, err := openFile(base+end, os.O_RDWR)
		if err != nil {
			return nil, errors.Join(err, closeAll(files[:i]))
		}
		files[i] = f
	}
	s, err := r.cut(name, files, at)
	if err != nil {
		return nil, errors.Join(err, closeAll(files[:]))
	}
	return newTrack(base+".arrows", s, warn, at), nil
}

func closeAll(files []*os.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// cut proves both files of a recording up to the offset, and cuts them there.
func (r *Run) cut(name string, files [2]*os.File, at Offset) (*stream, error) {
	hash, err := prove(files[0], files[1], at)
	if err != nil {
		return nil, err
	}
	for i, size := range []int64{at.Bytes, at.Sums} {
		_, err := files[i].Seek(size, io.SeekStart)
		if err := errors.Join(err, files[i].Truncate(size), files[i].Sync()); err != nil {
			return nil, fmt.Errorf("record: %w", err)
		}
	}
	return continueStream(files[0], files[1], tableNamed(name).streamSchema(&r.m), at, hash)
}

// prove holds the beginning of a recording to its checksums and gives the hash of its .sums file up to there.
func prove(data, sums *os.File, at Offset) (hash xxhash.Digest, err error) {
	info, err := sums.Stat()
	if err != nil {
		return hash, fmt.Errorf("record: %w", err)
	}
	if info.Size() < at.Sums {
		return hash, damaged(sums.Name(), "%d bytes found, the checkpoint says %d", info.Size(), at.Sums)
	}
	hash.Reset()
	if _, err := io.Copy(&hash, io.NewSectionReader(sums, 0, at.Sums)); err != nil {
		return hash, fmt.Errorf("record: %w", err)
	}
	if got := hash.Sum64(); got != at.SumsHash {
		return hash, damaged(sums.Name(), "its first %d bytes hash to %016x, the checkpoint says %016x", at.Sums, got, at.SumsHash)
	}
	marks, err := newMarks(sums.Name(), io.NewSectionReader(sums, 0, at.Sums))
	if err != nil {
		return hash, err
	}
	if info, err = data.Stat(); err != nil {
		return hash, fmt.Errorf("record: %w", err)
	}
	n, err := io.Copy(io.Discard, &checked{path: data.Name(), f: data, size: info.Size(), marks: marks})
	if err == nil && n != at.Bytes {
		err = damaged(data.Name(), "its chunks end at %d, the checkpoint says %d", n, at.Bytes)
	}
	return hash, err
}
