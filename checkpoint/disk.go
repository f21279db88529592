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
	// Create makes an empty file and opens it for writing. What is there by that name is replaced, not written through.
	Create(path string) (File, error)
	// Open opens a regular file from its beginning, and says how many bytes it has.
	Open(path string) (r io.ReadCloser, size int64, err error)
	// Rename gives a file another name, in place of what has that name, at one moment: at no time has it neither.
	Rename(from, to string) error
	// Remove takes a file away; that there is none is an error.
	Remove(path string) error
	// SyncFolder returns when the names that Create, Rename and Remove have made in a folder survive a loss of power.
	SyncFolder(dir string) error
	// List names what is in a folder, in ascending order; none where there is no folder.
	List(dir string) ([]string, error)
}

// File is a file being written.
type File interface {
	// Write appends b.
	Write(b []byte) (int, error)
	// Sync returns when all that was written survives a loss of power, the file's name excepted: that is SyncFolder's.
	Sync() error
	// Close ends the writing and, without Sync, promises nothing.
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
