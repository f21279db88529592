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
	"syscall"
)

// Load reads the genome in a file of at most 16 MiB. Files that it names are opened inside its folder only: neither
// "..", nor absolute names, nor links that lead outside, nor anything but regular files. Mistakes in the text are
// Faults; a file that cannot be read is an error of package os.
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
		root, err := os.OpenRoot(dir) // not kept open: edge lists are read long after Load
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
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	if err := regular(path, info); err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	defer f.Close()
	// The file may have been replaced since Stat; O_NONBLOCK kept a pipe from hanging the open.
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	if info.Size() > MaxText {
		return nil, Faults{{File: path, Line: 1, Column: 1, Message: fmt.Sprintf("a text of %d bytes found, at most 16 MiB wanted", info.Size())}}
	}
	text, err := io.ReadAll(io.LimitReader(f, MaxText+1))
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
	info, err := root.Stat(name)
	if err != nil {
		return nil, outside(name, err)
	}
	if err := regular(name, info); err != nil {
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, outside(name, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// outside is the fault of a name that cannot be opened, without the system call that said so.
func outside(name string, err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		err = p.Err
	}
	return fmt.Errorf("expects a file inside the genome's folder, found %q: %w", short(name), err)
}

// regular refuses folders, devices, pipes and sockets.
func regular(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	found := "one of type " + info.Mode().Type().String()
	if info.IsDir() {
		found = "a directory"
	}
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("expects a regular file, found %s", found)}
}
