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
	"slices"
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

// ParseIn is Parse for a text whose files are opened inside the folder dir, as Load does. Genome.Files lists them.
func ParseIn(dir, name string, text []byte) (*Genome, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("genome: %w", err)
	}
	defer root.Close()
	var files []File
	g, err := Parse(name, text, func(name string) (io.ReadCloser, error) { return openHashed(root, name, &files) })
	if err != nil {
		return nil, err
	}
	g.Folder, g.Files = dir, files
	return g, nil
}

// openHashed opens a file inside root and adds it to the list when it is not there yet.
func openHashed(root *os.Root, name string, files *[]File) (io.ReadCloser, error) {
	f, err := openInside(root, name)
	if err != nil {
		return nil, err
	}
	if slices.ContainsFunc(*files, func(f File) bool { return f.Path == name }) {
		return f, nil
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, outside(name, err)
	}
	*files = append(*files, File{Path: name, Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))})
	return f, nil
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
	return &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("expects a regular file, found one of type %s", info.Mode().Type())}
}
