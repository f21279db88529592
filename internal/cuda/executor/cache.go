package executor

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"burst/internal/durable"
)

// cache keeps files by key in a folder that several processes share. A file appears whole or not at all (a rename), says by
// its checksum whether it still is whole, and goes when it was not used for longest and the folder holds too much.
type cache struct {
	folder string
	limit  int64 // bytes
}

const (
	cacheSuffix = ".ptx"
	abandoned   = time.Hour
)

// read is what lies under the key: nil when nothing does or it is damaged.
func (c *cache) read(key string) ([]byte, error) {
	path := filepath.Join(c.folder, key+cacheSuffix)
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(b) < sha256.Size {
		return nil, nil
	}
	sum := sha256.Sum256(b[sha256.Size:])
	if !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil, nil // a later write replaces it
	}
	now := time.Now()
	_ = os.Chtimes(path, now, now) // without it the file only goes earlier
	return b[sha256.Size:], nil
}

// write puts content under the key and makes room; what is larger than the whole cache is not kept.
func (c *cache) write(key string, content []byte) error {
	if int64(len(content))+sha256.Size > c.limit {
		return nil
	}
	if err := os.MkdirAll(c.folder, 0o755); err != nil {
		return err
	}
	sum := sha256.Sum256(content)
	if err := durable.Replace(filepath.Join(c.folder, key+cacheSuffix), append(sum[:], content...)); err != nil {
		return err
	}
	return c.trim()
}

// trim removes what was not used for longest until the folder keeps to its limit, and what crashed writers left.
func (c *cache) trim() error {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return err
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			continue // another process removed it
		}
		switch {
		case strings.HasSuffix(e.Name(), cacheSuffix):
			files = append(files, info)
			total += info.Size()
		case strings.HasPrefix(e.Name(), durable.Unfinished) && time.Since(info.ModTime()) > abandoned:
			_ = os.Remove(filepath.Join(c.folder, e.Name()))
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= c.limit {
			return nil
		}
		if err := os.Remove(filepath.Join(c.folder, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("making room in the cache: %w", err)
		}
		total -= f.Size()
	}
	return nil
}
