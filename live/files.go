package live

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"burst/genome"
	"burst/internal/durable"
)

// filesFolder holds the files that were handed over with a genome.
const filesFolder = "files"

// Files are files that a genome names, by their path in the genome. The caller passes them as bytes instead of having them on disk.
type Files map[string][]byte

// FilesOf reads the files that a genome names, to be handed over.
func FilesOf(g *genome.Genome) (Files, error) {
	files := Files{}
	for _, named := range g.Files {
		r, err := g.Open(named.Path)
		if err != nil {
			return nil, err
		}
		content, err := io.ReadAll(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return nil, fmt.Errorf("live: %s: %w", named.Path, err)
		}
		files[named.Path] = content
	}
	return files, nil
}

// Open is the genome.Opener of the files.
func (f Files) Open(path string) (io.ReadCloser, error) {
	content, found := f[path]
	if !found {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return file{bytes.NewReader(content)}, nil
}

// file is one of Files, opened.
type file struct{ *bytes.Reader }

func (file) Close() error { return nil }

// check refuses files that do not fit the genome they are for.
func (f Files) check(g *genome.Genome) error {
	for name := range f {
		if !filepath.IsLocal(name) {
			return fmt.Errorf("live: file %q, want a path inside the genome's folder", name)
		}
	}
	for _, named := range g.Files {
		if _, found := f[named.Path]; !found {
			return fmt.Errorf("live: the genome names %s, which is not among the %d files handed over", named.Path, len(f))
		}
	}
	return nil
}

// keep writes the files into a run's folder, where Folder.Genome finds them.
func (f Files) keep(dir string) error {
	for name, content := range f {
		path := filepath.Join(dir, filesFolder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return fmt.Errorf("live: %w", err)
		}
		if err := durable.Replace(path, content); err != nil {
			return err
		}
	}
	return nil
}
