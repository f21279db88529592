package main

import (
	"errors"
	"fmt"
	"slices"

	"burst/connectome"
	"burst/genome"
	"burst/internal/plain"
	"burst/run"

	"github.com/spf13/cobra"
)

// verdict is one genome's part of `burst validate --json`.
type verdict struct {
	Genome   string        `json:"genome"`
	Valid    bool          `json:"valid"`
	Faults   genome.Faults `json:"faults"`
	Warnings []string      `json:"warnings,omitempty"`    // of a genome without faults
	Built    *run.Builder  `json:"built,omitempty"`       // who builds the network for a GPU under run's default --build auto, where there is no fault
	Needs    uint64        `json:"needs_bytes,omitempty"` // at least, to build it, where this machine has less
	Free     uint64        `json:"free_bytes,omitempty"`  // beside Needs: what it has
}

func newValidateCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "validate GENOME...",
		Short: "Check genomes and list every mistake with its place",
		Long: "Checks the whole genome and the rows of its edge lists. A genome without mistakes is ok even if this machine has too\n" +
			"little memory to build its network; a note then says so. A timestep that is too long for a model is a warning.\n" +
			"Lists that do not fit cannot be checked and are refused.",
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
	p := newProgress(cmd.ErrOrStderr(), false)
	for _, arg := range args {
		p.phase("checking " + arg)
		g, seen, short, err := check(cmd, arg)
		p.phase("")
		v := verdict{Genome: arg, Valid: err == nil, Faults: genome.Faults{}}
		if seen != nil && err == nil {
			by := run.BuiltBy(seen)
			v.Built = &by
		}
		if err == nil {
			v.Warnings = g.Warnings()
		}
		if short != nil {
			v.Needs, v.Free = short.Needed, short.Limit
		}
		if err != nil && !errors.As(err, &v.Faults) {
			return err
		}
		switch {
		case asJSON:
		case err != nil:
			fmt.Fprintln(cmd.ErrOrStderr(), plain.Text(err))
		case short != nil:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ok, but building it needs at least %s of memory, and this machine has %s free\n", arg, plain.Bytes(v.Needs), plain.Bytes(v.Free))
		default:
			fmt.Fprintf(cmd.OutOrStdout(), "%s: ok\n", arg)
		}
		if err == nil && !asJSON {
			warn(cmd, g)
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

// check reads a genome and plans its network, for which the rows of its edge lists are read. Too little memory on this machine is no
// mistake of the genome, unless there are lists, whose rows may not have been read then.
func check(cmd *cobra.Command, arg string) (g *genome.Genome, seen *connectome.Outlook, short *connectome.LimitError, err error) {
	g, err = loadGenome(cmd, arg)
	if err != nil {
		return nil, nil, nil, err
	}
	seen, err = connectome.Check(g, connectome.Options{})
	lists := slices.ContainsFunc(g.Projections, func(p genome.Projection) bool { return p.File != "" })
	if errors.As(err, &short) && short.Unit == "bytes" && !lists {
		return g, seen, short, nil
	}
	return g, seen, nil, err
}

// told is an error that was printed already.
type told struct{ err error }

func (t told) Error() string { return "" }
func (t told) Unwrap() error { return t.err }
