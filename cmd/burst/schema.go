package main

import (
	"burst/genome"

	"github.com/spf13/cobra"
)

func newSchemaCommand() *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the genome format, or of what a command prints",
		Long: "Without --output it prints the JSON Schema of the genome format, for editors. With --output it prints the schema of what a\n" +
			"command prints with --json: run-sweep is for `burst run` with --sweep, --seeds or --trials, and resume-complete for\n" +
			"`burst resume` of a complete run, which prints the manifest. Later versions may add fields, but remove none.",
		Example: "  burst schema > genome.schema.json\n  burst schema --output stats",
		Args:    usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			text := genome.Schema()
			if cmd.Flags().Changed("output") {
				var err error
				if text, err = outputSchema(output); err != nil {
					return err
				}
			}
			_, err := cmd.OutOrStdout().Write(text)
			return err
		},
	}
	cmd.Flags().StringVar(&output, "output", "", "the command whose JSON output to describe")
	register(cmd, "output", cobra.FixedCompletions(outputNames(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}
