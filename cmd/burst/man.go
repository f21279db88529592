package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newManCommand writes the man pages; it is for those who package burst, and help does not list it.
func newManCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "man FOLDER",
		Short:  "Write the man pages into a folder",
		Args:   usage(cobra.ExactArgs(1)),
		Hidden: true,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return err
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true // no date, so that the same source gives the same pages
			header := &doc.GenManHeader{Title: "BURST", Section: "1", Source: "burst " + version, Manual: "burst"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return fmt.Errorf("man pages: %w", err)
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "wrote the man pages into %s\n", args[0])
			return err
		},
	}
}
