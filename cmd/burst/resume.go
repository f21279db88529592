package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"burst/checkpoint"
	"burst/genome"
	"burst/live"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/run"
	"burst/run/sweep"

	"github.com/spf13/cobra"
)

func newResumeCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "resume FOLDER",
		Short: "Go on with a run that was stopped, killed or failed",
		Long: "resume needs only the run folder. It takes the newest undamaged checkpoint, cuts the recordings there, and runs the rest,\n" +
			"on any backend and any number of threads. Digest, spikes and rates are those of a run that was never stopped. Without a\n" +
			"checkpoint the run starts again from the beginning. A live run ends where the log of its input ends. Of a sweep, the\n" +
			"points that are not complete are run.",
		Example: "  burst resume runs/quickstart-1\n  burst resume runs/quickstart-1 --backend cpu --threads 8",
		Args:    usage(cobra.ExactArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.underMPI(cmd.Context(), func() error { return o.resume(cmd, args[0]) })
		},
	}
	f := cmd.Flags()
	threadsFlag(f, &o.threads)
	backendFlag(cmd, &o.backend)
	f.Lookup("backend").DefValue = "the run's"
	o.gpus.flags(cmd)
	o.exchangeFlag(cmd)
	o.expected.flags(cmd)
	f.BoolVar(&o.json, "json", false, "print the result as JSON; for a complete run, its manifest")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress, and print only the digest")
	o.sweeping.shared(cmd)
	o.safety(cmd)
	for _, name := range []string{"checkpoint-every", "on-device-fault"} {
		f.Lookup(name).DefValue = "the run's"
	}
	return cmd
}

// resume is the command.
func (o *runOptions) resume(cmd *cobra.Command, dir string) error {
	if sweep.Is(dir) {
		return o.resumeSweep(cmd, dir)
	}
	folder, err := openFolder(dir)
	if err != nil {
		return o.peers.Settle(err)
	}
	if err := o.expected.check(); err != nil {
		return o.peers.Settle(err)
	}
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	if o.peers.Leads() && folder.Manifest.Status == manifest.Complete {
		_ = o.peers.Settle(run.ErrComplete) // the others need not serve
		return o.already(cmd, p, folder)
	}
	if err := o.inherit(cmd, &folder.Manifest); err != nil {
		return o.peers.Settle(err)
	}
	if !o.peers.Leads() {
		g, err := folder.Genome()
		if err != nil {
			return o.peers.Settle(err)
		}
		return o.serve(cmd.Context(), g)
	}
	r := &runner{o: o, out: cmd.OutOrStdout(), progress: p, branched: true}
	if folder.Manifest.Options.Inputs {
		if o.peers != nil {
			return o.peers.Settle(usageError{errors.New("a live run goes on in one process, which may use several GPUs: leave mpirun out")})
		}
		r.log, r.lasts = live.NewLog(dir), true
		defer r.log.Close()
	}
	err = r.whole(cmd, func(ctx context.Context) (*run.Run, error) {
		settings := o.settings(ctx, p)
		r.given(&settings)
		r.counted(ctx, &settings)
		return run.Resume(ctx, dir, settings)
	})
	if err == nil && r.lasts && r.Number() < r.End() {
		p.line("the log ends at burst %d of %d; a program goes on from there with live.Resume", r.Number(), r.End())
	}
	if !errors.Is(err, run.ErrComplete) {
		return err
	}
	if folder, err = runfolder.Open(dir); err != nil { // another process has just ended it
		return err
	}
	return o.already(cmd, p, folder)
}

// already reports on a run that is complete.
func (o *runOptions) already(cmd *cobra.Command, p *progress, folder *runfolder.Folder) error {
	if err := folder.CheckAll(); err != nil {
		return err
	}
	m := &folder.Manifest
	p.line("the run is complete: %d bursts, %d spikes", m.Bursts, m.Spikes)
	if o.json {
		if err := printJSON(cmd, m); err != nil {
			return err
		}
	} else if _, err := fmt.Fprintln(cmd.OutOrStdout(), m.Digest); err != nil {
		return err
	}
	if digest, err := hex.DecodeString(m.Digest); err != nil || len(digest) != 8 {
		return &runfolder.DamagedError{Path: "manifest.json", Reason: fmt.Sprintf("its digest is %q", m.Digest)}
	}
	return o.compare(m.Digest, m.WeightDigest)
}

// inherit takes from the manifest what no flag says, and checks what comes of it.
func (o *runOptions) inherit(cmd *cobra.Command, m *manifest.Manifest) error {
	var left run.Options
	given := cmd.Flags().Changed
	if given("backend") {
		left.Backend = o.backend
	}
	if given("checkpoint-every") {
		left.Checkpoints = o.every
	}
	if given("on-device-fault") {
		left.OnFault = run.Action(o.onFault)
	}
	left.Inherit(m)
	o.backend, o.every, o.keep.record, o.rate = left.Backend, left.Checkpoints, left.Record, left.Rate
	if left.OnFault != "" {
		o.onFault = string(left.OnFault)
	}
	return errors.Join(o.checkBackend(), o.gpus.check("backend", o.backend), o.checkMPI(), o.checkFault(), o.checkTimes())
}

// branch reads --from; the run's seed is the checkpoint's unless another is given. One that the genome names is neither ignored
// nor taken for a wish.
func (o *runOptions) branch(cmd *cobra.Command, g *genome.Genome) (*run.Start, error) {
	if o.from == "" {
		return nil, nil
	}
	c, err := checkpoint.Read(diskOf(cmd.Context()), o.from)
	if err != nil {
		return nil, err
	}
	if !cmd.Flags().Changed("run-seed") {
		if g.OwnRunSeed && g.RunSeed != c.RunSeed {
			return nil, usageError{fmt.Errorf("--from %s was saved with run seed %d, the genome has %d; add --run-seed %[2]d for the same random input, or --run-seed %[3]d for another", o.from, c.RunSeed, g.RunSeed)}
		}
		g.RunSeed = c.RunSeed
	}
	return &run.Start{Path: o.from, Saved: c}, nil
}

// learnt reads --weights-from, in the process that leads.
func (o *runOptions) learnt(cmd *cobra.Command) (*run.Learnt, error) {
	if o.weightsFrom == "" || !o.peers.Leads() {
		return nil, nil
	}
	return openLearnt(cmd, o.weightsFrom)
}

// openLearnt reads the weights of another run.
func openLearnt(cmd *cobra.Command, path string) (*run.Learnt, error) {
	l, err := run.OpenLearnt(diskOf(cmd.Context()), path)
	var wrong *run.LearntError
	switch {
	case errors.As(err, &wrong):
		return nil, usageError{fmt.Errorf("--weights-from %w", wrong)}
	case err != nil:
		if _, there := os.Stat(path); there != nil {
			_, err = openFolder(path) // which names one that is near
		}
		return nil, fmt.Errorf("--weights-from: %w", err)
	}
	return l, nil
}

// room refuses a run that would go beyond the last burst number.
func room(begin *run.Start, bursts uint64) error {
	first := uint64(0)
	if begin != nil {
		first = begin.Saved.State.Number
	}
	if most := manifest.MostBursts - min(first, manifest.MostBursts); bursts > most {
		return usageError{fmt.Errorf("%d bursts from burst %d on, want at most %d", bursts, first, most)}
	}
	return nil
}
