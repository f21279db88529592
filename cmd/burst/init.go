package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

//go:embed starter.yaml
var starter []byte

// written is what commands that write one file print with --json.
type written struct {
	File string `json:"file"`
}

func newInitCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a small genome to start from",
		Args:  usage(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := "genome.yaml"
			if len(args) == 1 {
				path = args[0]
			}
			if err := writeNew(path, starter); err != nil {
				return err
			}
			return tellWritten(cmd, path, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "name the file as JSON")
	return cmd
}

// tellWritten names a new genome and what to do with it.
func tellWritten(cmd *cobra.Command, path string, asJSON bool) error {
	if asJSON {
		return printJSON(cmd, written{path})
	}
	_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\nnow: burst run %s\n", path, path)
	return err
}

// writeNew writes a file that must not exist yet: whole or not at all, also after a crash.
func writeNew(path string, text []byte) error {
	return createNew(path, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// createNew is writeNew for what fill writes.
func createNew(path string, fill func(io.Writer) error) error {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".burst-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	err = fill(f)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	// A link, unlike a rename, refuses to replace what is there.
	if err := os.Link(f.Name(), path); errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already and is left as it is: %w", path, &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist})
	} else if err != nil {
		return &fs.PathError{Op: "create", Path: path, Err: err}
	}
	return syncDir(dir)
}

// syncDir makes a new name in a folder durable; systems that cannot sync folders do not need it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}
