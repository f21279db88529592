package main

import (
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"burst/internal/durable"

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
	err := durable.CreateBy(path, fill)
	if errors.Is(err, fs.ErrExist) {
		return existsError(path)
	}
	return err
}
