package main

import (
	"encoding/json"
	"fmt"
	"os"

	"burst/connectome"
	"burst/genome"
	"burst/genome/feagi"

	"github.com/spf13/cobra"
)

func newImportCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:        "import",
		SuggestFor: []string{"convert"},
		Short:      "Turn another simulator's network into a genome",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{fmt.Errorf("no format %q to import, want feagi\nusage: burst import feagi GENOME.json", args[0])}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newImportFEAGICommand())
	return cmd
}

// importOptions are the flags of `burst import feagi`.
type importOptions struct {
	feagi.Options
	dialect, out, json string
	quiet              bool
}

func newImportFEAGICommand() *cobra.Command {
	o := &importOptions{}
	cmd := &cobra.Command{
		Use:   "feagi GENOME.json",
		Short: "Turn a FEAGI genome into one of burst, with a report on every key",
		Long: "The genome goes to stdout, or to the file of -o; the report goes to stderr. `burst run GENOME.json` does the same in\n" +
			"memory. The dialect decides what leak, excitability, threshold limit and postsynaptic current mean: docs/feagi.md.",
		Args: usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.out, "out", "o", "", "write the genome to this file, which must not exist")
	f.StringVar(&o.dialect, "dialect", "auto", "release, rust, python, or auto: release from version 3 on, else python where a leak exceeds 1, else rust")
	f.BoolVar(&o.Strict, "strict", false, "refuse a genome with anything that burst does not honour")
	f.BoolVar(&o.NoClamp, "no-clamp", false, "keep postsynaptic currents and multipliers beyond 255")
	f.BoolVar(&o.SkipMissing, "skip-missing", false, "leave out mappings to areas or by morphologies that the file lacks")
	f.BoolVar(&o.Unlearnable, "keep-unlearnable", false, "release: keep the mappings of areas with a rule that FEAGI refuses, which leaves them out")
	f.Uint8Var(&o.Window, "plasticity-window", 0, "release, rust: bursts of the window of rules that learn and have none (with release beside --keep-unlearnable)")
	f.BoolVar(&o.Unmade, "keep-unmade", false, "release: make synapses by composites and functions of which FEAGI's release makes none")
	f.StringVar(&o.json, "json", "", "write the full report to this file as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "print no report")
	return cmd
}

func (o *importOptions) run(cmd *cobra.Command, path string) error {
	o.Dialect = feagi.Dialect(o.dialect)
	if err := checkChoice("no dialect", o.dialect, []string{string(feagi.Auto), string(feagi.Release), string(feagi.Rust), string(feagi.Python)}); err != nil {
		return err
	}
	text, err := genome.ReadText(path)
	if err != nil {
		return err
	}
	g, made, report, err := feagi.Translate(path, text, o.Options)
	if err != nil {
		return err
	}
	sizes, err := connectome.Measure(g, connectome.Options{})
	if err != nil {
		return err
	}
	report.CompareSynapses(sizes.Synapses)
	if err := o.tell(cmd, g, report, sizes); err != nil {
		return err
	}
	if o.out == "" {
		_, err := cmd.OutOrStdout().Write(made)
		return err
	}
	return writeNew(o.out, made)
}

// tell prints the report, and with --json also writes it to a file.
func (o *importOptions) tell(cmd *cobra.Command, g *genome.Genome, r *feagi.Report, s *connectome.Sizes) error {
	if !o.quiet {
		facts := []string{fmt.Sprintf("%d areas, %s neurons, %s synapses (%s before merging)", len(r.Areas), count(s.Neurons), count(s.Synapses), count(s.ByRule))}
		if err := r.Write(cmd.ErrOrStderr(), append(facts, roomLines(rooms(g, s))...)...); err != nil {
			return err
		}
	}
	if o.json == "" {
		return nil
	}
	text, err := json.MarshalIndent(struct {
		*feagi.Report
		Synapses uint64        `json:"synapses"`
		ByRule   uint64        `json:"synapses_by_rule"`
		Rooms    []inspectRoom `json:"rooms,omitempty"`
	}{r, s.Synapses, s.ByRule, rooms(g, s)}, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(o.json, append(text, '\n'), 0o644)
}
