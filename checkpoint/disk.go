package checkpoint

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"burst/internal/durable"
	"burst/internal/regular"
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

// File is a file being written: Write appends; Sync returns when all that was written survives a loss of power, the file's name
// excepted, which is SyncFolder's; Close, without Sync, promises nothing.
type File = durable.File

// OS is the file system of the machine.
type OS struct{ durable.OS }

// Open opens a regular file.
func (OS) Open(path string) (io.ReadCloser, int64, error) {
	f, err := regular.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	return f, info.Size(), nil
}

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
