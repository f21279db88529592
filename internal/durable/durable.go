// Package durable replaces files atomically: after a crash the old or the new file is there, and it is complete. It writes a
// temporary file in the same folder, syncs it, renames it, and then syncs the folder.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Disk is the file system as this package needs it. OS is the machine's; tests use ones that fail.
type Disk interface {
	// Create makes an empty file and opens it for writing. An existing file, link or pipe is replaced, not written to.
	Create(path string) (File, error)
	// Rename renames a file atomically and replaces an existing one.
	Rename(from, to string) error
	// Remove removes a file; a missing file is an error.
	Remove(path string) error
	// SyncFolder returns when changes by Create, Rename and Remove in a folder would survive a loss of power.
	SyncFolder(dir string) error
}

// File is a file being written.
type File interface {
	// Write appends b.
	Write(b []byte) (int, error)
	// Sync returns when the content would survive a loss of power. The file's name needs SyncFolder.
	Sync() error
	// Close closes the file. Without Sync the content may be lost in a crash.
	Close() error
}

// OS is the file system of the machine.
type OS struct{}

// Create makes an empty file. It first removes a file, link or pipe of that name, so that nothing is written to it.
func (OS) Create(path string) (File, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	return &early{File: f}, nil
}

// early is a file that goes to the disk while it is written, so that Sync waits for its end alone.
type early struct {
	*os.File
	at, begun int64
}

// earlyBytes are begun to be written at a time.
const earlyBytes = 8 << 20

// Write writes b.
func (f *early) Write(b []byte) (int, error) {
	n, err := f.File.Write(b)
	if f.at += int64(n); f.at-f.begun >= earlyBytes {
		writeBack(f.File, f.begun, f.at-f.begun)
		f.begun = f.at
	}
	return n, err
}

// Rename renames from to to, and replaces an existing file.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove removes a file.
func (OS) Remove(path string) error { return os.Remove(path) }

// SyncFolder is the function SyncFolder.
func (OS) SyncFolder(dir string) error { return SyncFolder(dir) }

// linking never replaces an existing file: it makes a hard link, which fails if the name exists, instead of renaming.
type linking struct{ OS }

func (linking) Rename(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	_ = os.Remove(from) // the file has its name; a second name does no harm
	return nil
}

// Unfinished is the prefix of the names of temporary files.
const Unfinished = ".burst-"

// Replace writes a file. An existing one stays until the new one is complete.
func Replace(path string, content []byte) error {
	return ReplaceBy(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// ReplaceBy is Replace for content that fill writes piece by piece.
func ReplaceBy(path string, fill func(io.Writer) error) error { return write(OS{}, path, fill) }

// ReplaceVia is ReplaceBy through a temporary file of a name that the caller chose, in the same folder and with the prefix
// Unfinished: one that a crash left is replaced.
func ReplaceVia(temporary, path string, fill func(io.Writer) error) error {
	return writeVia(OS{}, temporary, path, fill)
}

// ReplaceAt is Replace for content that fill writes in pieces, in any order.
func ReplaceAt(path string, fill func(io.WriterAt) error) error {
	return write(OS{}, path, func(w io.Writer) error { return fill(w.(io.WriterAt)) })
}

// CreateBy writes a new file. If the file exists, the error wraps fs.ErrExist.
func CreateBy(path string, fill func(io.Writer) error) error { return write(linking{}, path, fill) }

// write writes a temporary file under a name that no other process uses, and renames it.
func write(d Disk, path string, fill func(io.Writer) error) error {
	return writeVia(d, filepath.Join(filepath.Dir(path), fmt.Sprintf("%s%016x", Unfinished, rand.Uint64())), path, fill)
}

func writeVia(d Disk, temporary, path string, fill func(io.Writer) error) error {
	err := ReplaceOn(d, temporary, path, fill)
	if err == nil {
		return nil
	}
	if e := (*fs.PathError)(nil); errors.As(err, &e) && e.Path == temporary {
		e.Path = filepath.Dir(path) // name the path that the caller chose, not the temporary file
	}
	return fmt.Errorf("writing %s: %w", path, err)
}

// ReplaceOn replaces path on a disk by what fill writes, or leaves it unchanged. temporary is the name of the temporary file,
// in the same folder.
func ReplaceOn(d Disk, temporary, path string, fill func(io.Writer) error) error {
	f, err := d.Create(temporary)
	if err != nil {
		return err
	}
	var w io.Writer = struct{ io.Writer }{f} // only writing is visible, so that fill cannot close the file before it is synced
	if at, can := f.(io.WriterAt); can {
		w = struct {
			io.Writer
			io.WriterAt
		}{f, at}
	}
	err = fill(w)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = d.Rename(temporary, path)
	}
	if err == nil {
		return d.SyncFolder(filepath.Dir(path))
	}
	d.Remove(temporary) // the first error is the one to report
	return err
}

// SyncFolder syncs a folder, so that the names in it survive a loss of power. Windows and some network and user-space file
// systems cannot do this; there it does nothing and returns no error.
func SyncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}
