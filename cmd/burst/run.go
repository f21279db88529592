package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"burst/backend"
	"burst/backend/split"
	"burst/checkpoint"
	"burst/connectome"
	"burst/engine"
	"burst/exchange"
	"burst/exchange/nccl"
	"burst/genome"
	"burst/record"

	"github.com/spf13/cobra"
)

// defaultBursts is the length of a run when neither the genome nor the caller names one.
const defaultBursts = 1000

// runOptions are the flags of `burst run`.
type runOptions struct {
	seeds
	bursts   uint64
	duration time.Duration
	threads  int
	gpus
	backend  string
	realtime string
	expect   string
	digest   string
	json     bool
	quiet    bool
	keep     keeping
	set      []string
	sweep    string
	every    string // --checkpoint-every
	from     string
	onFault  string
	memory   memoryLimit
	others   exchange.Exchange // the processes that share the network; nil: there are none
	control  nccl.Control      // with the same; others may go through it or beside it
	host     []int             // the parts on this one's host, with this one
	gpu      int               // of this part
	wrap     func(exchange.Exchange) exchange.Exchange
	exchange string // --exchange
	via      string // what it came to; empty without others
}

func newRunCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:   "run GENOME",
		Short: "Run a network and show what happened",
		Example: "  burst run quickstart\n  burst run genome.yaml --bursts 5000 --threads 4\n" +
			"  burst run brunel-c --duration 500ms --json > result.json",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.together(cmd.Context(), func() error { return o.run(cmd, args[0]) })
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&o.bursts, "bursts", 0, fmt.Sprintf("how many bursts to run (default: the genome's, else %d)", defaultBursts))
	f.DurationVar(&o.duration, "duration", 0, "how much simulated time to run instead, such as 500ms; whole bursts")
	o.seeds.flags(cmd)
	f.IntVar(&o.threads, "threads", 0, "threads of the cpu backend and of building (default: all processors)")
	backendFlag(cmd, &o.backend)
	o.gpus.flags(cmd)
	o.exchangeFlag(cmd)
	f.StringVar(&o.realtime, "realtime", "", "hold this many bursts a second, such as 100 or 100Hz, and report missed deadlines")
	f.StringVar(&o.expect, "expect-digest", "", "fail with status 8 unless the run ends with this digest")
	f.StringVar(&o.digest, "digest", "", "every=N prints the hash of the whole state after every N bursts")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "no progress, and of the result only the digest")
	o.keep.flags(cmd)
	register(cmd, "record", completeRecord)
	f.StringArrayVar(&o.set, "set", nil, "PATH=VALUE sets a value of the genome, such as areas.L4E.params.tau=12ms; may be repeated")
	f.StringVar(&o.sweep, "seeds", "", "A..B runs once with each seed from A to B and shows mean and standard deviation")
	o.safety(cmd)
	f.StringVar(&o.from, "from", "", "begin with the state of this checkpoint, of the same network; --run-seed gives it another future")
	cmd.MarkFlagsMutuallyExclusive("bursts", "duration")
	cmd.MarkFlagsMutuallyExclusive("from", "seeds")
	cmd.MarkFlagsMutuallyExclusive("no-out", "checkpoint-every")
	cmd.MarkFlagsMutuallyExclusive("out", "no-out")
	for _, other := range []string{"seed", "run-seed", "expect-digest", "digest"} {
		cmd.MarkFlagsMutuallyExclusive("seeds", other)
	}
	return cmd
}

// backendFlag adds --backend with completion.
func backendFlag(cmd *cobra.Command, into *string) {
	cmd.Flags().StringVar(into, "backend", "auto", strings.Join(backendChoices(), ", "))
	register(cmd, "backend", cobra.FixedCompletions(backendChoices(), cobra.ShellCompDirectiveNoFileComp))
}

// backendChoices are what --backend takes.
func backendChoices() []string { return append([]string{"auto"}, backend.Names()...) }

// run is the command.
func (o *runOptions) run(cmd *cobra.Command, arg string) error {
	g, begin, err := o.prepare(cmd, arg)
	if err != nil {
		return o.settle(err)
	}
	if !o.leads() {
		return o.serve(g)
	}
	n, err := o.length(g)
	if err == nil {
		err = begin.room(n)
	}
	if err != nil {
		return o.settle(err)
	}
	every, err := parseEvery(o.digest)
	if err != nil {
		return o.settle(err)
	}
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	if o.sweep != "" {
		return o.runSweep(cmd, sweeping{g: g, arg: arg, progress: p, bursts: n})
	}
	r := &runner{o: o, g: g, arg: arg, out: cmd.OutOrStdout(), progress: p, bursts: n, stateEvery: every, start: begin}
	return r.whole(cmd)
}

// prepare checks the flags and reads what they name.
func (o *runOptions) prepare(cmd *cobra.Command, arg string) (*genome.Genome, *start, error) {
	if err := errors.Join(o.checkBackend(), o.checkTogether(), o.checkExpect(), o.gpus.check("backend", o.backend), o.keep.check(), o.checkFault()); err != nil {
		return nil, nil, err
	}
	g, err := loadGenome(cmd, arg)
	if err == nil {
		g, err = applySettings(g, o.set)
	}
	if err != nil {
		return nil, nil, err
	}
	o.seeds.apply(cmd, g)
	begin, err := o.branch(cmd, g)
	return g, begin, err
}

// whole runs, reports, and says how the run ended.
func (r *runner) whole(cmd *cobra.Command) error {
	if err := r.run(cmd.Context()); err != nil && !errors.Is(err, context.Canceled) {
		return r.afterFault(err)
	}
	if err := r.report(cmd); err != nil {
		return err
	}
	if s := r.interrupted(); s != nil && r.engine.Number() < r.first+r.bursts {
		cure := ""
		if r.saver != nil && r.resumable() {
			cure = fmt.Sprintf("; all is saved, `burst resume %s` goes on", quoted(r.folder))
		}
		r.progress.line("stopped by %v after burst %d of %d%s", s, r.engine.Number(), r.first+r.bursts, cure)
		return stoppedBy(s)
	}
	return r.o.compare(r.engine.Digest())
}

// stoppedBy is the exit status of a run that a signal ended.
func stoppedBy(s os.Signal) error {
	if s == syscall.SIGTERM {
		return stopped{exitTerminated}
	}
	return stopped{exitInterrupted}
}

// runner is one run and what it made.
type runner struct {
	o          *runOptions
	g          *genome.Genome
	arg        string // the genome, as `burst run` was given it
	out        io.Writer
	progress   *progress
	bursts     uint64 // to run, from first on
	stateEvery uint64
	start      *start // nil: burst 0

	interrupted func() os.Signal // which came, of those that end a run; nil: none is caught yet

	disk      checkpoint.Disk
	schedule  schedule
	saver     *checkpoint.Saver // nil: the run has no folder
	asked     uint64            // the burst of the last checkpoint that was asked for; 0: none
	state     engine.State      // memory for hashes
	recording *record.Run       // nil: none
	first     uint64            // the run's first burst
	began     uint64            // the first burst that this process runs

	c         *connectome.Connectome
	parts     *connectome.Parts // that several devices build while they are opened; nil: c has its synapses
	devices   []int
	id        uint64 // the hash of the whole connectome
	used      string // backend
	device    string
	engine    *engine.Engine
	activity  *record.Activity
	folder    string // "" when none is written
	hold      *record.Hold
	complete  bool // the folder holds all there will be
	fcl       bool // the backend delivers the FCL
	buildTime time.Duration
	runTime   time.Duration
}

// run builds the network and runs it.
func (r *runner) run(ctx context.Context) error {
	defer r.release()
	period, err := parseRate(r.o.realtime)
	if err == nil {
		r.schedule, err = parseSchedule(r.o.every)
	}
	if err = r.o.settle(err); err != nil {
		return err
	}
	if err := r.o.takeGPU(); err != nil {
		return err
	}
	r.disk = diskOf(ctx)
	if err := r.heed(ctx, r.build); err != nil {
		return err
	}
	options, err := r.o.meet(r.progress)
	if err != nil {
		return err
	}
	waiting := r.o.others != nil
	defer func() {
		if waiting {
			split.Dismiss(r.o.others)
		}
	}()
	plan, err := r.plan()
	if err != nil {
		return err
	}
	r.fcl = len(plan.FCL) > 0
	options.Devices, options.Want = r.devices, engine.Want{FCL: r.fcl, Potentials: plan.Potentials}
	waiting = false
	var b engine.Backend
	err = r.heed(ctx, func() (err error) {
		b, err = r.open(options)
		return err
	})
	if err != nil {
		return err
	}
	defer b.Close()
	if r.interrupted == nil { // before, nothing is written, and a signal ends the program at once
		ctx, r.interrupted = catchSignals(ctx)
	}
	r.device, r.activity = r.o.through(backend.Device(b)), record.NewActivity(r.c)
	if err := r.checkStart(); err != nil {
		return err
	}
	if err := r.create(plan); err != nil {
		return err
	}
	recorders := []engine.Recorder{r.activity, r.progress.watch(r.began-r.first, r.bursts)}
	if r.recording != nil {
		recorders = append(recorders, r.recording)
	}
	r.engine = engine.New(r.c, b, engine.Options{Period: period, Recorders: recorders})
	start := time.Now()
	if err = r.newSaver(); err == nil {
		err = r.restore()
	}
	if err == nil {
		err = r.advance(ctx)
	}
	r.runTime = time.Since(start)
	r.progress.finish()
	return r.finish(err)
}

// checkBackend refuses a name that no backend has, before other processes wait for its part.
func (o *runOptions) checkBackend() error {
	return checkChoice("no backend", o.backend, backendChoices())
}

// length is how many bursts to run.
func (o *runOptions) length(g *genome.Genome) (uint64, error) {
	switch {
	case o.bursts > 0:
		return o.bursts, nil
	case o.duration != 0:
		n := float64(o.duration) / float64(time.Millisecond) / g.Timestep
		whole := float64(uint64(n + 0.5))
		if n < 0.5 || n-whole > 1e-6*whole || whole-n > 1e-6*whole {
			return 0, usageError{fmt.Errorf("--duration %v is %g bursts of %g ms, want a whole number", o.duration, n, g.Timestep)}
		}
		return uint64(whole), nil
	case g.Bursts > 0:
		return g.Bursts, nil
	}
	return defaultBursts, nil
}

// checkExpect refuses an --expect-digest that is no digest.
func (o *runOptions) checkExpect() error {
	if o.expect == "" {
		return nil
	}
	if _, err := strconv.ParseUint(o.expect, 16, 64); err != nil || len(o.expect) != 16 {
		return usageError{fmt.Errorf("--expect-digest %q, want 16 hexadecimal digits as `burst run` prints them", o.expect)}
	}
	return nil
}

// compare holds the digest to --expect-digest.
func (o *runOptions) compare(digest uint64) error {
	if got := fmt.Sprintf("%016x", digest); o.expect != "" && !strings.EqualFold(got, o.expect) {
		return assertionError{fmt.Errorf("digest %s, want %s", got, strings.ToLower(o.expect))}
	}
	return nil
}

// parseRate reads --realtime as the time between bursts; 0 without the flag.
func parseRate(s string) (time.Duration, error) {
	if s == "" {
		return 0, nil
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "Hz")), 64)
	if err != nil || !(rate >= 0.001 && rate <= 1e6) {
		return 0, usageError{fmt.Errorf("--realtime %q, want bursts a second, 0.001 to 1000000, such as 100 or 100Hz", s)}
	}
	return time.Duration(float64(time.Second) / rate), nil
}

// parseEvery reads every=N.
func parseEvery(s string) (uint64, error) {
	if s == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(strings.TrimPrefix(s, "every="), 10, 64)
	if err != nil || n == 0 || !strings.HasPrefix(s, "every=") {
		return 0, usageError{fmt.Errorf("--digest %q, want every=N with N of at least 1", s)}
	}
	return n, nil
}

// catchSignals gives a context that the first Ctrl-C or SIGTERM ends; a second one ends the program at once. The function
// says which signal came, nil for none.
func catchSignals(parent context.Context) (context.Context, func() os.Signal) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals) // the next one has its default effect
			cancel(signalError{s})
		case <-ctx.Done():
			signal.Stop(signals)
		}
	}()
	return ctx, func() os.Signal {
		var e signalError
		if errors.As(context.Cause(ctx), &e) {
			return e.Signal
		}
		return nil
	}
}

// signalError is the cause of a context that a signal ended.
type signalError struct{ os.Signal }

func (e signalError) Error() string { return e.String() }
