package checkpoint

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"burst/internal/durable"
)

// keep is how many checkpoints of a run stay; older ones are removed.
const keep = 3

// Damaged ends the names of checkpoints that were set aside.
const Damaged = ".damaged"

// suffix ends the names of checkpoints in a folder; before it stands the burst.
const suffix = ".checkpoint"

// temporary is the name of one being written; there is never more than one.
const temporary = "unfinished.tmp"

// write writes the file's bytes.
func (c *Checkpoint) write(w io.Writer) error {
	for _, r := range c.Recordings {
		if len(r.Table) > nameBytes {
			panic("BUG: a table's name of more than 16 bytes")
		}
	}
	parts := c.parts()
	head, err := c.head(parts)
	if err != nil {
		return err
	}
	sum := sha256.New()
	both := io.MultiWriter(w, sum)
	if _, err := both.Write(head); err != nil {
		return err
	}
	var zeros [8]byte
	for _, p := range parts {
		if err := p.write(both); err != nil {
			return err
		}
		if _, err := both.Write(zeros[:aligned(p.length)-p.length]); err != nil {
			return err
		}
	}
	_, err = w.Write(append(sum.Sum(nil), endMagic...))
	return err
}

// Save writes c into a folder, under the name of its burst, and removes all but the three newest checkpoints there. At any
// moment the folder holds the checkpoint before or this one, whole: an older checkpoint is removed only after that.
func Save(d Disk, dir string, c *Checkpoint) (path string, err error) {
	path = filepath.Join(dir, Name(c.State.Number))
	if err := c.replace(d, path); err != nil {
		return "", fmt.Errorf("checkpoint: saving burst %d: %w", c.State.Number, err)
	}
	bursts, err := List(d, dir)
	if err != nil {
		return "", err
	}
	for _, n := range bursts[:max(0, len(bursts)-keep)] {
		if err := d.Remove(filepath.Join(dir, Name(n))); err != nil {
			return "", fmt.Errorf("checkpoint: removing an old checkpoint: %w", err)
		}
	}
	return path, nil
}

// SetAside renames the checkpoints that are newer than the one at path, those that Newest has skipped, so that they do not count
// among the newest that Save keeps. The next Save makes that durable.
func SetAside(d Disk, path string) error {
	dir, chosen := filepath.Split(path)
	bursts, err := List(d, dir)
	if err != nil {
		return err
	}
	for _, n := range bursts {
		if name := filepath.Join(dir, Name(n)); Name(n) > chosen {
			if err := d.Rename(name, name+Damaged); err != nil {
				return fmt.Errorf("checkpoint: renaming a damaged checkpoint: %w", err)
			}
		}
	}
	return nil
}

// SaveAs writes c to a file of any name, as safely as Save.
func SaveAs(d Disk, path string, c *Checkpoint) error {
	if err := c.replace(d, path); err != nil {
		return fmt.Errorf("checkpoint: saving %s: %w", path, err)
	}
	return nil
}

// replace makes path hold the checkpoint, or leaves it as it was.
func (c *Checkpoint) replace(d Disk, path string) error {
	return durable.ReplaceOn(d, filepath.Join(filepath.Dir(path), temporary), path, func(f io.Writer) error {
		w := bufio.NewWriterSize(f, 1<<20)
		if err := c.write(w); err != nil {
			return err
		}
		return w.Flush()
	})
}

// Name is a checkpoint's file name; names sort as bursts do.
func Name(burst uint64) string { return fmt.Sprintf("%020d%s", burst, suffix) }

// List gives the bursts of the checkpoints in a folder, ascending; a folder that is not there has none.
func List(d Disk, dir string) ([]uint64, error) {
	names, err := d.List(dir)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	var bursts []uint64
	for _, name := range names {
		if n, _ := strconv.ParseUint(strings.TrimSuffix(name, suffix), 10, 64); name == Name(n) {
			bursts = append(bursts, n)
		}
	}
	slices.Sort(bursts)
	return bursts, nil
}
