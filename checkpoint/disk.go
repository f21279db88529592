package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"burst/internal/durable"
)

// Disk is the part of a file system that checkpoints need. OS is the real one; tests put failing ones in its place.
type Disk interface {
	Create(path string) (File, error) // an empty file; one that is there is emptied
	Open(path string) (r io.ReadCloser, size int64, err error)
	Rename(from, to string) error
	Remove(path string) error
	SyncFolder(dir string) error
	List(dir string) ([]string, error) // names; none where there is no folder
}

// File is a file being written.
type File interface {
	io.Writer
	Sync() error
	Close() error
}

// OS is the file system of the machine.
type OS struct{}

// Create makes an empty file, in place of a file, a link or a pipe of that name: nothing is written through these.
func (OS) Create(path string) (File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
}

// Open opens a regular file.
func (OS) Open(path string) (io.ReadCloser, int64, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: errors.New("is not a regular file")}
	}
	if err != nil {
		return nil, 0, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	if info, err = f.Stat(); err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

// Rename replaces to by from.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file.
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncFolder makes the names in a folder durable.
func (OS) SyncFolder(dir string) error { return durable.SyncFolder(dir) }

// List names the files of a folder.
func (OS) List(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names, nil
}
