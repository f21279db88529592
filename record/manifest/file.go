package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"burst/genome"
	"burst/internal/regular"
)

// Files of a run folder that the manifest names.
const (
	GenomeFile = "genome.yaml" // as run
	RatesFile  = "rates.csv"
	InputsLog  = "inputs"        // what a live run was given, while it goes on
	InputsFile = "inputs.arrows" // and when it has ended
)

// Ended reports whether the run was closed without an error: the manifest then has the hashes of its files.
func (m *Manifest) Ended() bool { return m.Status != Running && m.Status != Failed }

// Named is the manifest's entry of a file of the folder.
func (m *Manifest) Named(name string) (File, bool) {
	if m.From != nil && m.From.Path == name {
		return m.From.File, true
	}
	if m.Weights != nil && m.Weights.Path == name {
		return m.Weights.File, true
	}
	if i := slices.IndexFunc(m.Files, func(f File) bool { return f.Path == name }); i >= 0 {
		return m.Files[i], true
	}
	return File{}, false
}

// Check compares the file in dir with f. A missing or different file is a DamagedError.
func (f File) Check(dir string) error {
	path := filepath.Join(dir, f.Path)
	info, err := present(path)
	if err != nil {
		return err
	}
	if info.Size() != f.Bytes { // before as much is read
		return regular.Damaged(path, "has changed since the run wrote it: %d bytes found, the manifest says %d%s", info.Size(), f.Bytes, f.cure(dir))
	}
	got, err := Describe(dir, f.Path)
	if err != nil {
		return err
	}
	if got != f {
		return regular.Damaged(path, "has changed since the run wrote it: SHA-256 %s found, the manifest says %s%s", got.SHA256, f.SHA256, f.cure(dir))
	}
	return nil
}

// cure says how to make a file again.
func (f File) cure(dir string) string {
	if f.Path == GenomeFile || f.Path == InputsFile || filepath.Ext(f.Path) == ".checkpoint" {
		return "; take it from a copy of the folder"
	}
	return fmt.Sprintf("; `burst replay %s --out NEW` records it again", dir)
}

// present checks that a file of the manifest exists and is a regular file; otherwise the error is a DamagedError.
func present(path string) (fs.FileInfo, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: %w", regular.Damaged(path, "the manifest names this file, which is gone"), fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("record: %w", err)
	case !info.Mode().IsRegular():
		return nil, regular.Damaged(path, "the manifest names this file, want a regular file, found %s", regular.Kind(info.Mode()))
	}
	return info, nil
}

// Describe hashes a file of the folder.
func Describe(dir, name string) (File, error) {
	f, err := regular.Open(filepath.Join(dir, name), os.O_RDONLY)
	if err != nil {
		return File{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return File{}, fmt.Errorf("record: %w", err)
	}
	return File{Path: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// GenomeText reads genome.yaml and holds it to the manifest, also of a run that goes on. One that is gone or another is a DamagedError.
func (m *Manifest) GenomeText(dir string) ([]byte, error) {
	path := filepath.Join(dir, GenomeFile)
	if _, err := present(path); err != nil {
		return nil, err
	}
	text, err := genome.ReadText(path)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != m.GenomeSHA256 {
		return nil, regular.Damaged(path, "has changed since the run wrote it: SHA-256 %x found, the manifest says %s%s", sum, m.GenomeSHA256, File{Path: GenomeFile}.cure(dir))
	}
	return text, nil
}

// mostText is the largest manifest that is read: some million areas, of which a genome has room for fewer.
const mostText = 256 << 20

// readText reads a whole file of at most mostText.
func readText(path string) ([]byte, error) {
	f, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > mostText {
		return nil, regular.Damaged(path, "%d bytes found, want at most %d", info.Size(), mostText)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostText))
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	return text, nil
}
