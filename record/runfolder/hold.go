package runfolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
)

// lockName is the file of a run folder that the process locks which writes there; a run that is complete has none.
const lockName = "lock"

// Hold keeps other processes from writing to a run folder. The lock ends with its process, however that ends.
type Hold struct{ lock *flock.Flock }

// Take locks an existing folder. A folder in use is an error; on file systems without locks it never is.
func Take(dir string) (*Hold, error) {
	path := filepath.Join(dir, lockName)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "record", Path: path, Err: errors.New("is not a regular file; remove it")}
	}
	h := &Hold{flock.New(path, flock.SetPermissions(0o644))}
	got, err := h.lock.TryLock()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return h, nil
	}
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if !got {
		return nil, &fs.PathError{Op: "record", Path: dir, Err: errors.New("another process is running in this folder; wait until it has ended, or stop it")}
	}
	return h, nil
}

// Release gives the folder back. If finished, the run is complete, and the lock's file is removed too.
func (h *Hold) Release(finished bool) error {
	err := h.lock.Unlock()
	if finished { // whoever opened the file before looks at the manifest next, and sees that too
		err = errors.Join(err, os.Remove(h.lock.Path()))
	}
	return err
}

// Vacant returns the error of Create for a folder that it would refuse.
func Vacant(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	for _, e := range entries {
		if e.Name() != lockName {
			return &fs.PathError{Op: "record", Path: dir, Err: fmt.Errorf("holds %s already; want a folder that is empty or not there yet", e.Name())}
		}
	}
	return nil
}
