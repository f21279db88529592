package genome

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"burst/internal/regular"
)

// Load reads the genome in a file of at most 16 MiB. The files that it names must be regular files inside its folder;
// "..", absolute names and links to other folders are refused. Mistakes in the text are returned as Faults. If a file
// cannot be read, the error is one of package os.
func Load(path string) (*Genome, error) {
	text, err := ReadText(path)
	if err != nil {
		return nil, err
	}
	return ParseIn(filepath.Dir(path), path, text)
}

// ParseIn is Parse for a text whose files are opened inside the folder dir, as Load does.
func ParseIn(dir, name string, text []byte) (*Genome, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	open := func(name string) (io.ReadCloser, error) {
		root, err := os.OpenRoot(dir) // opened again for each file, because edge lists are read long after Load
		if err != nil {
			return nil, err
		}
		defer root.Close()
		return openInside(root, name)
	}
	g, err := Parse(name, text, open)
	if err != nil {
		return nil, err
	}
	g.Folder = dir
	return g, nil
}

// hash fills in size and SHA-256.
func (f *File) hash(open Opener) error {
	r, err := open(f.Path)
	if err != nil {
		return err
	}
	defer r.Close()
	h := sha256.New()
	if f.Bytes, err = io.Copy(h, r); err != nil {
		return outside(f.Path, err)
	}
	f.SHA256 = hex.EncodeToString(h.Sum(nil))
	return nil
}

// ReadText reads a regular file of at most the 16 MiB that Parse takes.
func ReadText(path string) ([]byte, error) {
	f, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	if info.Size() > maxText {
		return nil, Faults{{File: path, Line: 1, Column: 1, Message: fmt.Sprintf("expects a text of at most 16 MiB, found %d bytes", info.Size())}}
	}
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	return text, nil
}

// openInside opens a regular file inside root.
func openInside(root *os.Root, name string) (*os.File, error) {
	if !filepath.IsLocal(name) {
		return nil, fmt.Errorf("expects a file inside the genome's folder, found %q", short(name))
	}
	f, err := regular.OpenIn(root, name)
	if other := (*regular.NotRegularError)(nil); err != nil && !errors.As(err, &other) {
		err = outside(name, err)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// outside is the error of a name that cannot be opened, without the name of the system call.
func outside(name string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("expects a file inside the genome's folder, found %q: %w", short(name), err)
}
