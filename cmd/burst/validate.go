package main

import (
	"errors"
	"fmt"
	"slices"

	"burst/connectome"
	"burst/genome"

	"github.com/spf13/cobra"
)

// verdict is one genome's part of `burst validate --json`.
type verdict struct {
	Genome string        `json:"genome"`
	Valid  bool          `json:"valid"`
	Faults genome.Faults `json:"faults"`
}

func newValidateCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:               "validate GENOME...",
		Short:             "Check genomes and list every mistake with its place",
		Args:              usage(cobra.MinimumNArgs(1)),
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return validate(cmd, args, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the verdicts as JSON")
	return cmd
}

// validate checks all genomes; its error is the first that is no mistake in a text, else the first text's mistakes.
func validate(cmd *cobra.Command, args []string, asJSON bool) error {
	verdicts := []verdict{}
	var first error
	for _, arg := range args {
		err := check(cmd, arg)
		v := verdict{Genome: arg, Valid: err == nil, Faults: genome.Faults{}}
		if err != nil && !errors.As(err, &v.Faults) {
			return err
		}
		switch {
		case asJSON:
		case err == nil:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", arg)
		default:
			fmt.Fprintln(cmd.ErrOrStderr(), err)
		}
		if first == nil && err != nil {
			first = told{err}
		}
		verdicts = append(verdicts, v)
	}
	if asJSON {
		if err := printJSON(cmd, verdicts); err != nil {
			return err
		}
	}
	return first
}

// check reads a genome, and the rows of its edge lists, which is done where their synapses are counted.
func check(cmd *cobra.Command, arg string) error {
	g, err := loadGenome(cmd, arg)
	if err != nil || !slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.Rule == genome.Edges }) {
		return err
	}
	_, err = connectome.Measure(g, connectome.Options{})
	return err
}

// told is an error that has been printed already.
type told struct{ err error }

func (t told) Error() string { return "" }
func (t told) Unwrap() error { return t.err }
