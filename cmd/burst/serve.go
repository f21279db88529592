package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"burst/live"
	"burst/run"
	"burst/serve"

	"github.com/spf13/cobra"
)

// serveOptions are the flags of `burst serve`.
type serveOptions struct {
	runOptions
	lockStep    bool
	paused      bool
	listen      string
	socket      string
	inherited   int
	keepFiles   bool
	stepTimeout time.Duration
}

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve GENOME|FOLDER",
		Short: "Run a network that programs feed, step and watch, and people see in a browser",
		Long: "serve runs a network until it is stopped, and opens it to programs on this machine. They give it input, step it in\n" +
			"lock-step, and watch what fires. docs/live.md describes their frames and routes. All input is logged in the run's folder,\n" +
			"so that `burst replay` gives the same digest.\n\n" +
			"It prints two addresses with tokens, one to view and one to control, which a browser opens (docs/page.md); or the socket.\n" +
			"Only programs on this machine can connect, and to a socket only those of the same user. On Ctrl-C or SIGTERM it tells the\n" +
			"clients, saves a checkpoint and ends with status 0. Given the FOLDER of such a run, it continues where the run has stopped.",
		Example:           "  burst serve runs/quickstart-1 --rate 1kHz\n  burst serve quickstart --rate 1kHz\n  burst serve brain.yaml --lock-step --socket /tmp/me/burst",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rate, "rate", "", "hold this many bursts a second, such as 100, 100Hz or 1kHz (default: as fast as they go)")
	f.BoolVar(&o.lockStep, "lock-step", false, "run bursts only when a driver asks for them")
	f.BoolVar(&o.paused, "paused", false, "begin paused, until a client resumes the run")
	f.StringVar(&o.listen, "listen", "", "loopback address for HTTP and WebSocket (default: 127.0.0.1:0, a free port, unless --socket or --fd is given)")
	f.StringVar(&o.socket, "socket", "", "path of a Unix socket to make, in a folder that is yours alone")
	f.IntVar(&o.inherited, "fd", -1, "number of a connected socket that the starting process hands over; serve ends with that process")
	f.DurationVar(&o.stepTimeout, "step-timeout", 30*time.Second, "with --lock-step: after so long without a step, save a checkpoint and free the driver's place")
	f.BoolVar(&o.keepFiles, "keep-files", false, "copy the files that the genome names into the run's folder, which then replays without them")
	o.seeds.flags(cmd)
	threadsFlag(f, &o.threads)
	backendFlag(cmd, &o.backend)
	o.gpus.flags(cmd)
	o.keep.flags(cmd)
	register(cmd, "record", completeRecord)
	o.changes.flags(cmd)
	f.StringVar(&o.every, "checkpoint-every", "", "save a checkpoint every N bursts, or after a time such as 5m; the last 3 are kept")
	f.Var(&o.memory, "max-memory", "refuse what would need more memory, such as 4GiB or 800MB (default: what the machine has free)")
	f.BoolVar(&o.quiet, "quiet", false, "print the addresses and the digest alone")
	cmd.MarkFlagsMutuallyExclusive("lock-step", "paused", "rate")
	cmd.MarkFlagsMutuallyExclusive("out", "no-out")
	cmd.MarkFlagsMutuallyExclusive("no-out", "checkpoint-every")
	return cmd
}

// run is the command.
func (o *serveOptions) run(cmd *cobra.Command, arg string) error {
	o.exchange, o.onFault = run.ViaAuto, faultStop
	if err := o.checkServe(); err != nil {
		return err
	}
	open, err := o.opener(cmd, arg)
	if err != nil {
		return err
	}
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	settings := o.settings(cmd.Context(), p)
	settings.Recorders, settings.OnFault, settings.Elsewhere = nil, "", false
	so := serve.Options{
		Options: live.Options{Options: settings}, LockStep: o.lockStep, Paused: o.paused, Listen: o.listen, Socket: o.socket, StepTimeout: o.stepTimeout,
		Tell: func(text string) { p.line("%s", text) },
	}
	if o.inherited >= 0 {
		so.Inherited = os.NewFile(uintptr(o.inherited), fmt.Sprintf("--fd %d", o.inherited))
	}
	ctx, _ := catchSignals(cmd.Context(), nil)
	s, err := open(ctx, so)
	p.phase("")
	if err != nil {
		if stop := p.stoppedOpening(ctx); stop != nil {
			return stop
		}
		var plan *run.PlanError
		if errors.As(err, &plan) {
			return usageError{fmt.Errorf("--record %w", plan.Err)}
		}
		return err
	}
	p.finish()
	o.print(cmd, s)
	if err := s.Serve(ctx); err != nil {
		return err
	}
	x, err := s.Status()
	if err != nil {
		return err
	}
	if !o.quiet && s.Facts().Folder != "" {
		p.line("stopped at burst %d; all is in %s", x.Burst, s.Facts().Folder)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "digest %s\n", x.Digest)
	return nil
}

// opener begins a run of a genome, or goes on with the one in a folder.
func (o *serveOptions) opener(cmd *cobra.Command, arg string) (func(context.Context, serve.Options) (*serve.Server, error), error) {
	if _, err := os.Stat(filepath.Join(arg, "manifest.json")); err != nil {
		g, _, err := o.prepare(cmd, arg)
		var files live.Files
		if err == nil && o.keepFiles {
			files, err = live.FilesOf(g)
		}
		return func(ctx context.Context, so serve.Options) (*serve.Server, error) {
			so.Files = files
			return serve.New(ctx, g, so)
		}, err
	}
	for _, name := range []string{"seed", "run-seed", "set", "stimulate", "plasticity", "record", "out", "no-out", "keep-files"} {
		if cmd.Flags().Changed(name) {
			return nil, usageError{fmt.Errorf("--%s with the run folder %s, want it with a genome: a run that goes on is as it was begun", name, arg)}
		}
	}
	f, err := openFolder(arg)
	if err != nil {
		return nil, err
	}
	if !f.Manifest.Options.Inputs {
		return nil, usageError{fmt.Errorf("%s is a run that took no input; `burst resume` goes on with it, `burst view` shows it", arg)}
	}
	if !cmd.Flags().Changed("backend") {
		o.backend = f.Manifest.Backend
	}
	return func(ctx context.Context, so serve.Options) (*serve.Server, error) {
		so.Runs = ""
		return serve.Resume(ctx, arg, so)
	}, errors.Join(o.checkBackend(), o.checkMPI(), o.gpus.check("backend", o.backend), o.checkTimes())
}

// checkServe refuses what only this command has.
func (o *serveOptions) checkServe() error {
	if o.stepTimeout <= 0 {
		return usageError{fmt.Errorf("--step-timeout %v, want more than 0", o.stepTimeout)}
	}
	return checkListen(o.listen)
}

// checkListen refuses an address that others can reach.
func checkListen(address string) error {
	if address == "" {
		return nil
	}
	if err := serve.CheckListen(address); err != nil {
		return usageError{fmt.Errorf("--listen %w", err)}
	}
	return nil
}

// print tells where the server can be reached, in lines that programs can read.
func (o *serveOptions) print(cmd *cobra.Command, s *serve.Server) {
	printAddresses(cmd.OutOrStdout(), s)
	if o.socket != "" {
		fmt.Fprintf(cmd.OutOrStdout(), "socket %s\n", o.socket)
	}
}
