package main

import (
	"context"
	"errors"

	"burst/genome"
	"burst/live"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"

	"github.com/spf13/cobra"
)

func newReplayCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "replay FOLDER",
		Short: "Run a run folder's genome again and compare the digests",
		Long: "replay runs the genome of a run folder again, with the same seeds, number of bursts and, of a live run, input. It ends\n" +
			"with status 8 if the digest is not the one in the manifest.",
		Example:           "  burst replay runs/quickstart-1\n  burst replay runs/quickstart-1 --backend reference",
		Args:              folderArgument,
		ValidArgsFunction: completeFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.underMPI(cmd.Context(), func() error { return o.replay(cmd, args[0]) })
		},
	}
	f := cmd.Flags()
	threadsFlag(f, &o.threads)
	backendFlag(cmd, &o.backend)
	f.Lookup("backend").DefValue = "the run's"
	o.gpus.flags(cmd)
	o.exchangeFlag(cmd)
	f.StringVarP(&o.keep.out, "out", "o", "", "write the results of the new run to this folder (default: write none)")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress, and print only the digest")
	return cmd
}

// replay is the command.
func (o *runOptions) replay(cmd *cobra.Command, dir string) error {
	folder, err := openFolder(dir)
	if err != nil {
		return o.peers.Settle(err)
	}
	g, err := o.again(cmd, folder)
	if err != nil {
		return o.peers.Settle(err)
	}
	if !o.peers.Leads() {
		return o.serve(cmd.Context(), g)
	}
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	begin, err := run.Origin(diskOf(cmd.Context()), folder)
	if err != nil {
		return o.peers.Settle(err)
	}
	learnt, err := run.LearntBefore(diskOf(cmd.Context()), folder)
	if err != nil {
		return o.peers.Settle(err)
	}
	r := &runner{o: o, out: cmd.OutOrStdout(), progress: p, branched: begin != nil || learnt != nil}
	if folder.Manifest.Options.Inputs {
		r.log = live.NewLog(dir)
		defer r.log.Close()
	}
	err = r.whole(cmd, func(ctx context.Context) (*run.Run, error) {
		settings := o.settings(ctx, p)
		settings.Bursts, settings.From, settings.Weights = folder.Manifest.Bursts, begin, learnt
		r.given(&settings)
		r.counted(ctx, &settings)
		return run.New(ctx, g, settings)
	})
	if err != nil {
		return err
	}
	p.line("the same digest as in %s, whose recordings were not read", dir)
	return nil
}

// again reads the network of a run that has ended, and its results.
func (o *runOptions) again(cmd *cobra.Command, folder *runfolder.Folder) (*genome.Genome, error) {
	m := &folder.Manifest
	if m.Options.Inputs && o.peers != nil {
		return nil, usageError{errors.New("a live run is replayed by one process, which may use several GPUs: leave mpirun out")}
	}
	if m.Status == manifest.Running || m.Status == manifest.Failed {
		return nil, &runfolder.DamagedError{Path: folder.Dir, Reason: "the run has not ended, or failed: its manifest has no digest to compare with"}
	}
	o.weights = m.WeightDigest
	o.expect, o.keep.noOut, o.keep.record = m.Digest, o.keep.out == "", m.Options.Record
	if !cmd.Flags().Changed("backend") {
		o.backend = m.Backend
	}
	if err := errors.Join(o.checkBackend(), o.keep.check(), o.gpus.check("backend", o.backend), o.checkMPI()); err != nil {
		return nil, err
	}
	return folder.Genome()
}
