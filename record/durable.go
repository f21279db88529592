package record

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
)

// replace writes a file so that a crash at any moment leaves the old one or the new one, whole.
func replace(path string, content []byte) error {
	return replaceBy(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// replaceBy is replace for content that is written piece by piece.
func replaceBy(path string, write func(io.Writer) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	defer func() {
		if err != nil {
			os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	// A hidden method keeps writers from closing the file before it is synced.
	err = write(struct{ io.Writer }{f})
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
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	if err != nil {
		return fmt.Errorf("record: writing %s: %w", path, err)
	}
	return nil
}

// syncFolder makes the names in a folder durable; Windows has no such call and needs none.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

// WriteFile writes a file or replaces it: whole or not at all, also after a crash.
func WriteFile(path string, content []byte) error { return replace(path, content) }
