// Package durable writes files that are there whole or not at all, also after a crash: into a temporary file beside them, which is
// synced and then takes the name; last the folder is synced, so that the name stays.
package durable

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// Replace writes a file; one that is there stays until the new one is whole.
func Replace(path string, content []byte) error {
	return ReplaceBy(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// ReplaceBy is Replace for content that is written piece by piece.
func ReplaceBy(path string, fill func(io.Writer) error) error { return write(path, fill, os.Rename) }

// CreateBy writes a file that must not exist yet; else the error wraps fs.ErrExist.
func CreateBy(path string, fill func(io.Writer) error) error {
	return write(path, fill, os.Link) // which, unlike a rename, refuses to replace what is there
}

// write fills a temporary file, which name gives its path.
func write(path string, fill func(io.Writer) error, name func(from, to string) error) (err error) {
	dir := filepath.Dir(path)
	defer func() {
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()
	f, err := os.CreateTemp(dir, ".burst-*")
	if err != nil {
		if e := (*fs.PathError)(nil); errors.As(err, &e) {
			e.Path = dir // what stands in the way, rather than a name that nobody chose
		}
		return err
	}
	defer os.Remove(f.Name()) // a renamed one is gone
	// A hidden method keeps fill from closing the file before it is synced.
	err = fill(struct{ io.Writer }{f})
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = name(f.Name(), path)
	}
	if err == nil {
		err = SyncFolder(dir)
	}
	return err
}

// SyncFolder makes the names in a folder durable. Where there is no such call, as on Windows and some network and user-space file
// systems, nothing more can be done, which is no error; every other failure is one.
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
