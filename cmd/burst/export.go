package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

// newExportCommand gathers what burst writes for other programs, a command each.
func newExportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write a network for other programs",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("nothing called %q to export (`burst export --help` lists what there is)", args[0])}
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newExportConnectomeCommand())
	return cmd
}
