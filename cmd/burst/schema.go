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
		Long: "Without --output it is the JSON Schema of the genome format, for editors; with it, that of the JSON which a command\n" +
			"prints with --json (run-seeds is that of `burst run --seeds`, resume-complete that of `burst resume` where the run has nothing\n" +
			"left to do: its manifest). Later versions may add fields, but not take any away.",
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
