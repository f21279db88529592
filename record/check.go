package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// A file of a run folder is checked against its hash in the manifest before it is read. Recordings in progress have no hash there yet:
// their chunks are checked against their .sums files.

// unended says that the run goes on, or ended without the hashes of its files.
func (m *Manifest) unended() bool { return m.Status == Running || m.Status == Failed }

// named is what the manifest says of a file of the folder.
func (m *Manifest) named(name string) (File, bool) {
	if m.From != nil && m.From.Path == name {
		return m.From.File, true
	}
	if i := slices.IndexFunc(m.Files, func(f File) bool { return f.Path == name }); i >= 0 {
		return m.Files[i], true
	}
	return File{}, false
}

// check holds the file in dir to f. One that is gone or another is a DamagedError.
func (f File) check(dir string) error {
	path := filepath.Join(dir, f.Path)
	info, err := present(path)
	if err != nil {
		return err
	}
	if info.Size() != f.Bytes { // before as much is read
		return damaged(path, "has changed since the run wrote it: %d bytes found, the manifest says %d%s", info.Size(), f.Bytes, f.cure(dir))
	}
	got, err := describe(dir, f.Path)
	if err != nil {
		return err
	}
	if got != f {
		return damaged(path, "has changed since the run wrote it: SHA-256 %s found, the manifest says %s%s", got.SHA256, f.SHA256, f.cure(dir))
	}
	return nil
}

// cure says how a file can be made again.
func (f File) cure(dir string) string {
	if f.Path == genomeFile || filepath.Ext(f.Path) == ".checkpoint" {
		return "; take it from a copy of the folder"
	}
	return fmt.Sprintf("; `burst replay %s --out NEW` records it again", dir)
}

// present looks at a file that the manifest names: one that is gone, or no regular file, is a DamagedError.
func present(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", damaged(path, "the manifest names this file, which is gone"), fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("record: %w", err)
	case !info.Mode().IsRegular():
		return nil, damaged(path, "the manifest names this file, a regular one is wanted, one of type %s found", info.Mode().Type())
	}
	return info, nil
}

// Check holds a file that the manifest names to its hash: one that is gone or another is a DamagedError, one that it does
// not name an error that wraps fs.ErrNotExist.
func (f *Folder) Check(name string) error {
	file, named := f.Manifest.named(name)
	if !named {
		return fmt.Errorf("record: the manifest of %s names no %s: %w", f.Dir, name, fs.ErrNotExist)
	}
	return file.check(f.Dir)
}

// CheckGenome does so with genome.yaml, also of a run that goes on.
func (f *Folder) CheckGenome() error {
	_, err := f.genomeText()
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
	for _, file := range files {
		if err := file.check(f.Dir); err != nil {
			return err
		}
	}
	if !f.Manifest.unended() {
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
	if !f.Manifest.unended() {
		return ""
	}
	text := fmt.Sprintf("%s: the run is %s, its manifest has no hashes of its files yet; recordings are read up to the last chunk that their .sums files list", f.Dir, f.Manifest.Status)
	for _, name := range f.Tables() {
		if n := f.unvouched(name); n > 0 {
			text += fmt.Sprintf("; the last %d bytes of %s.arrows are left out", n, name)
		}
	}
	return text
}

// unvouched is how many bytes of a recording in progress no line of its .sums file tells of.
func (f *Folder) unvouched(name string) int64 {
	base := filepath.Join(f.Dir, name)
	sums, err := openFile(base+".sums", os.O_RDONLY)
	if err != nil {
		return 0 // reading tells
	}
	defer sums.Close()
	lines, err := newMarks(sums.Name(), sums)
	for err == nil {
		_, err = lines.read()
	}
	data, err := os.Stat(base + ".arrows")
	if err != nil || lines == nil {
		return 0
	}
	return data.Size() - lines.next
}
