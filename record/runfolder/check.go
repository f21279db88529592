package runfolder

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"burst/record/internal/tables"
)

// A file of a run folder is checked against its hash in the manifest before it is read. Recordings in progress have no hash there yet:
// their chunks are checked against their .sums files.

// Check holds a file that the manifest names to its hash: one that is gone or another is a DamagedError, one that it does
// not name an error that wraps fs.ErrNotExist.
func (f *Folder) Check(name string) error {
	file, named := f.Manifest.Named(name)
	if !named {
		return fmt.Errorf("record: the manifest of %s names no %s: %w", f.Dir, name, fs.ErrNotExist)
	}
	return file.Check(f.Dir)
}

// CheckGenome does so with genome.yaml, also of a run that goes on.
func (f *Folder) CheckGenome() error {
	_, err := f.Manifest.GenomeText(f.Dir)
	return err
}

// CheckAll holds genome.yaml and every file that the manifest names to its hash, and every chunk of a recording in progress to
// its .sums file. The pictures have no hash, nor has the manifest; checkpoints prove themselves.
func (f *Folder) CheckAll() error {
	if err := f.CheckGenome(); err != nil {
		return err
	}
	files := f.Manifest.Files
	if f.Manifest.From != nil {
		files = append(slices.Clone(files), f.Manifest.From.File)
	}
	if f.Manifest.Weights != nil {
		files = append(slices.Clone(files), f.Manifest.Weights.File)
	}
	for _, file := range files {
		if err := file.Check(f.Dir); err != nil {
			return err
		}
	}
	if f.Manifest.Ended() {
		return nil
	}
	for _, name := range f.Tables() {
		for _, err := range f.rows(name) {
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Unchecked says in a line which parts of the folder cannot be checked; it is empty for a run that has ended in good order.
func (f *Folder) Unchecked() string {
	if f.Manifest.Ended() {
		return ""
	}
	text := fmt.Sprintf("%s: the run is %s, its manifest has no hashes of its files yet; recordings are read up to the last chunk that their .sums files list", f.Dir, f.Manifest.Status)
	for _, name := range f.Tables() {
		if n := tables.Unvouched(filepath.Join(f.Dir, name)); n > 0 {
			text += fmt.Sprintf("; the last %d bytes of %s.arrows are left out", n, name)
		}
	}
	return text
}
