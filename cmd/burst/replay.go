package main

import (
	"errors"

	"burst/genome"
	"burst/record"

	"github.com/spf13/cobra"
)

func newReplayCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "replay FOLDER",
		Short: "Run again what a run folder describes and compare the digests",
		Long: "replay runs the genome of a run folder again, with its seeds and as many bursts, and ends with status 8 when the\n" +
			"digest is not the one in the folder's manifest.",
		Example:           "  burst replay runs/quickstart-1\n  burst replay runs/quickstart-1 --backend reference",
		Args:              folderArgument,
		ValidArgsFunction: completeFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.together(cmd.Context(), func() error { return o.replay(cmd, args[0]) })
		},
	}
	f := cmd.Flags()
	f.IntVar(&o.threads, "threads", 0, "threads of the cpu backend and of building (default: all processors)")
	backendFlag(cmd, &o.backend)
	f.Lookup("backend").DefValue = "the run's"
	o.gpus.flags(cmd)
	o.exchangeFlag(cmd)
	f.StringVarP(&o.keep.out, "out", "o", "", "write the results of the new run to this folder (default: write none)")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "no progress, and of the result only the digest")
	return cmd
}

// replay is the command.
func (o *runOptions) replay(cmd *cobra.Command, dir string) error {
	folder, err := openFolder(dir)
	if err != nil {
		return o.settle(err)
	}
	g, err := o.again(cmd, folder)
	if err != nil {
		return o.settle(err)
	}
	if !o.leads() {
		return o.serve(g)
	}
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	begin, err := origin(cmd.Context(), folder)
	if err != nil {
		return o.settle(err)
	}
	r := &runner{o: o, g: g, out: cmd.OutOrStdout(), progress: p, bursts: folder.Manifest.Bursts, start: begin}
	if err := r.whole(cmd); err != nil {
		return err
	}
	p.line("the same digest as in %s, whose recordings were not read", dir)
	return nil
}

// again reads the network of a run that has ended, and what it came to.
func (o *runOptions) again(cmd *cobra.Command, folder *record.Folder) (*genome.Genome, error) {
	m := &folder.Manifest
	if m.Status == record.Running || m.Status == record.Failed {
		return nil, &record.DamagedError{Path: folder.Dir, Reason: "the run has not ended, or not in good order: its manifest has no digest to compare with"}
	}
	o.expect, o.keep.noOut, o.keep.record = m.Digest, o.keep.out == "", m.Options.Record
	if !cmd.Flags().Changed("backend") {
		o.backend = m.Backend
	}
	if err := errors.Join(o.checkBackend(), o.keep.check(), o.gpus.check("backend", o.backend), o.checkTogether()); err != nil {
		return nil, err
	}
	return folder.Genome()
}
