// Package regular opens files that may come from anywhere. It refuses all but regular files: a pipe could block, and a device
// could be read for ever. DamagedError is the error for a file that was changed after burst wrote it.
package regular

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"burst/internal/plain"
)

// Open opens a file for reading, or with a flag such as os.O_RDWR.
func Open(path string, flag int) (*os.File, error) {
	return open(path, flag, os.Stat, os.OpenFile)
}

// OpenIn opens a file inside root for reading.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return open(name, os.O_RDONLY, root.Stat, root.OpenFile)
}

func open(name string, flag int, stat func(string) (fs.FileInfo, error), openFile func(string, int, fs.FileMode) (*os.File, error)) (*os.File, error) {
	info, err := stat(name)
	if err == nil {
		err = check(name, info)
	}
	if err != nil {
		return nil, err
	}
	// The file may have been replaced since: O_NONBLOCK keeps a pipe from hanging the open.
	f, err := openFile(name, flag|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = check(name, info)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// check refuses folders, devices, pipes and sockets: by a *NotRegularError in an *fs.PathError.
func check(name string, info fs.FileInfo) error {
	if info.Mode().IsRegular() {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: &NotRegularError{info.Mode()}}
}

// NotRegularError is a file of another kind.
type NotRegularError struct{ Found fs.FileMode }

func (e *NotRegularError) Error() string {
	text := "expects a regular file, found " + Kind(e.Found)
	if e.Found&fs.ModeNamedPipe != 0 {
		text += "; write what it gives to a file"
	}
	return text
}

// Kind names the kind of a file that is not regular: a directory, pipe, socket or device.
func Kind(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "one of type " + mode.Type().String()
}

// DamagedError is a file that cannot be what burst has written, or is of another version.
type DamagedError struct {
	Path    string
	Section string // the part of the file; empty where that is not known
	Reason  string // what was found, and what is wanted
}

func (e *DamagedError) Error() string {
	if e.Section == "" {
		return fmt.Sprintf("%s: %s", e.Path, e.Reason)
	}
	return fmt.Sprintf("%s: %s: %s", e.Path, e.Section, e.Reason)
}

// Damaged makes a DamagedError without a section; errors among the arguments are told in plain words.
func Damaged(path, format string, args ...any) error {
	return &DamagedError{Path: path, Reason: plain.Sprintf(format, args...)}
}
