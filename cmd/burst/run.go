package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"burst/backend"
	"burst/engine"
	"burst/genome"
	"burst/internal/plain"
	"burst/live"
	"burst/record/manifest"
	"burst/record/picture"
	"burst/record/runfolder"
	"burst/run"

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
	build   string // where the network is built
	backend string
	rate    string
	expected
	digest string
	json   bool
	quiet  bool
	keep   keeping
	changes
	sweeping    sweepFlags
	interrupted func() os.Signal // of a sweep: which signal came; nil before
	every       string           // --checkpoint-every
	from        string
	weightsFrom string
	onFault     string
	memory      memoryLimit
	exchange    string
	view        bool
	peers       *run.Peers // the processes that share the network; nil: there are none
}

func newRunCommand() *cobra.Command {
	var o runOptions
	cmd := &cobra.Command{
		Use:        "run GENOME",
		SuggestFor: []string{"sweep"},
		Short:      "Run a network and show what happened",
		Example: "  burst run quickstart\n  burst run genome.yaml --bursts 5000 --threads 4\n" +
			"  burst run brunel-c --duration 500ms --json > result.json",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.underMPI(cmd.Context(), func() error { return o.run(cmd, args[0]) })
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&o.bursts, "bursts", 0, fmt.Sprintf("how many bursts to run (default: the genome's, else %d)", defaultBursts))
	f.DurationVar(&o.duration, "duration", 0, "how much simulated time to run instead, such as 500ms; whole bursts")
	o.seeds.flags(cmd)
	threadsFlag(f, &o.threads)
	backendFlag(cmd, &o.backend)
	o.gpus.flags(cmd)
	o.buildFlag(cmd)
	o.exchangeFlag(cmd)
	f.StringVar(&o.rate, "rate", "", "hold this many bursts a second, such as 100, 100Hz or 1kHz, and report how late they start")
	o.expected.flags(cmd)
	f.StringVar(&o.digest, "digest", "", "every=N prints the hash of the whole state after every N bursts")
	f.BoolVar(&o.json, "json", false, "print the result as JSON")
	f.BoolVar(&o.quiet, "quiet", false, "show no progress, and print only the digest")
	o.keep.flags(cmd)
	register(cmd, "record", completeRecord)
	o.changes.flags(cmd)
	o.safety(cmd)
	f.BoolVar(&o.view, "view", false, "open the run to programs that watch it, on a loopback address; burst view shows it afterwards")
	f.StringVar(&o.from, "from", "", "start from the state in this checkpoint of the same network; another --run-seed gives other random input from there")
	cmd.MarkFlagsMutuallyExclusive("bursts", "duration")
	f.StringVar(&o.weightsFrom, "weights-from", "", "begin with the weights that another run has learnt: its folder, or a checkpoint in it; rules of plasticity may differ")
	cmd.MarkFlagsMutuallyExclusive("from", "weights-from")
	cmd.MarkFlagsMutuallyExclusive("no-out", "checkpoint-every")
	cmd.MarkFlagsMutuallyExclusive("out", "no-out")
	o.sweeping.flags(cmd)
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
	start := time.Now()
	if !o.sweeping.asked() { // a sweep says first how many runs will use a GPU at once
		run.Wake(o.backend, o.peers == nil && o.gpus.first())
	}
	g, begin, err := o.prepare(cmd, arg)
	var learnt *run.Learnt
	if err == nil {
		learnt, err = o.learnt(cmd)
	}
	if err != nil {
		return o.peers.Settle(err)
	}
	if !o.peers.Leads() {
		return o.serve(cmd.Context(), g)
	}
	read := time.Since(start)
	n, err := o.length(g)
	if err == nil {
		err = room(begin, n)
	}
	if err != nil {
		return o.peers.Settle(err)
	}
	every, err := parseEvery(o.digest)
	if err != nil {
		return o.peers.Settle(err)
	}
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	if o.sweeping.asked() {
		return o.runSweep(cmd, g, n)
	}
	r := &runner{o: o, arg: arg, out: cmd.OutOrStdout(), progress: p, stateEvery: every, read: read, branched: begin != nil || learnt != nil}
	if o.view {
		r.viewing = new(viewing)
	}
	return r.whole(cmd, func(ctx context.Context) (*run.Run, error) {
		settings := o.settings(ctx, p)
		settings.Bursts, settings.From, settings.Weights = n, begin, learnt
		r.counted(ctx, &settings)
		if o.view {
			settings.Recorders = append(settings.Recorders, r.viewing)
		}
		return run.New(ctx, g, settings)
	})
}

// prepare checks the flags and reads what they name.
func (o *runOptions) prepare(cmd *cobra.Command, arg string) (*genome.Genome, *run.Start, error) {
	if err := errors.Join(o.checkBackend(), o.checkMPI(), o.expected.check(), o.gpus.check("backend", o.backend), o.checkBuild(), o.keep.check(), o.checkFault(), o.checkTimes(), o.sweeping.alone(cmd)); err != nil {
		return nil, nil, err
	}
	g, err := loadGenome(cmd, arg)
	if err == nil {
		g, err = o.changes.apply(g)
	}
	if err != nil {
		return nil, nil, err
	}
	if o.peers.Leads() {
		warn(cmd, g)
	}
	o.seeds.apply(cmd, g)
	begin, err := o.branch(cmd, g)
	return g, begin, err
}

// settings are what the flags say of a run, but for where it begins and ends.
func (o *runOptions) settings(ctx context.Context, p *progress) run.Options {
	hosts := 1
	if o.peers != nil {
		hosts = len(o.peers.Host)
	}
	s := run.Options{
		Backend: o.backend, GPUs: o.gpus.chosen(), Threads: o.threads, MaxBytes: o.memory.apply(hosts), Peers: o.peers,
		Rate: o.rate, Checkpoints: o.every, Record: o.keep.record, Disk: diskOf(ctx), OnFault: run.Action(o.onFault), Elsewhere: true,
		Recorders: []engine.Recorder{p}, Tell: p.event,
	}
	if s.GPUs.Build = run.BuildOn(o.build); o.build == onHost || o.build == onEither && o.view { // which shows synapses
		s.GPUs.Build = run.OnHost
	}
	if s.Folder = o.keep.out; s.Folder == "" && !o.keep.noOut {
		s.Runs = runsFolder
	}
	return s
}

// runner is one run of the command line and its output.
type runner struct {
	*run.Run
	o           *runOptions
	arg         string // the genome, as `burst run` was given it
	out         io.Writer
	progress    *progress
	stateEvery  uint64
	branched    bool             // the run began from a checkpoint or with weights of one, or goes on
	viewing     *viewing         // nil: nobody watches
	log         *live.Log        // of the input of a live run; nil: of any other
	lasts       bool             // the run ends where the log does
	read, draw  time.Duration    // of the genome, and of pictures
	raster      *picture.Raster  // counted while spikes are recorded; nil: none are yet
	interrupted func() os.Signal // which came, of those that end a run; nil: none is caught yet
}

// whole runs, reports, and says how the run ended.
func (r *runner) whole(cmd *cobra.Command, open func(context.Context) (*run.Run, error)) error {
	if err := r.run(cmd.Context(), open); err != nil && !errors.Is(err, context.Canceled) {
		return r.afterFault(err)
	}
	if err := r.report(cmd); err != nil {
		return err
	}
	if s := r.interrupted(); s != nil && r.Number() < r.end() {
		cure := ""
		if r.Folder != "" && r.Resumable() {
			cure = fmt.Sprintf("; all is saved, `burst resume %s` goes on", quoted(r.Folder))
		}
		r.progress.line("stopped by %v after burst %d of %d%s", s, r.Number(), r.end(), cure)
		return stoppedBy(s)
	}
	return r.o.compare(fmt.Sprintf("%016x", r.Engine().Digest()), r.WeightDigest())
}

// stoppedBy is the exit status of a run that a signal ended.
func stoppedBy(s os.Signal) error {
	if s == syscall.SIGTERM {
		return stopped{exitTerminated}
	}
	return stopped{exitInterrupted}
}

// stoppedOpening says that a signal ended ctx before there was anything to save; nil: none has.
func (p *progress) stoppedOpening(ctx context.Context) error {
	var e signalError
	if !errors.As(context.Cause(ctx), &e) {
		return nil
	}
	p.line("stopped by %v before the first burst; nothing was written", e.Signal)
	return stoppedBy(e.Signal)
}

// run opens the run, advances it to its end, and ends it.
func (r *runner) run(ctx context.Context, open func(context.Context) (*run.Run, error)) (err error) {
	if r.interrupted == nil && r.o.peers == nil { // of several processes a signal ends each at once until all are open
		ctx, r.interrupted = catchSignals(ctx, r.o.sweeping.holder())
	}
	r.Run, err = open(ctx)
	r.progress.phase("")
	if err != nil {
		if stop := r.progress.stoppedOpening(ctx); stop != nil {
			return stop
		}
		var plan *run.PlanError
		var learnt *run.LearntError
		switch {
		case errors.As(err, &plan):
			return usageError{fmt.Errorf("--record %w", plan.Err)}
		case errors.As(err, &learnt):
			return usageError{fmt.Errorf("--weights-from %w", learnt)}
		}
		return err
	}
	if r.interrupted == nil {
		ctx, r.interrupted = catchSignals(ctx, r.o.sweeping.holder())
	}
	if r.log != nil { // as fast as it goes: nobody feeds it
		r.Engine().Pace(0)
		r.o.rate = ""
	}
	if r.viewing != nil {
		if err := r.viewing.open(r); err != nil {
			return errors.Join(err, r.Close())
		}
		defer func() { err = errors.Join(err, r.viewing.close()) }()
	}
	r.progress.watch(r.Began-r.First, r.end()-r.First, r.Connectome.Timestep)
	err = r.advance(ctx)
	r.progress.finish()
	end := r.Close
	if r.lasts && r.Number() < r.end() {
		end = r.Suspend
	}
	if failed := end(); failed != nil {
		err = failed
	}
	defer r.progress.phase("")
	return elsewhere(r.finished(ctx, err))
}

// elsewhere says what to do where the folder of runs may not be written to.
func elsewhere(err error) error {
	var e *fs.PathError
	if errors.As(err, &e) && (errors.Is(e, fs.ErrPermission) || errors.Is(e, syscall.EROFS)) && (e.Path == runsFolder || filepath.Dir(e.Path) == runsFolder) {
		return fmt.Errorf("%w; --out FOLDER writes elsewhere, --no-out writes nothing", err)
	}
	return err
}

// given has a run take the input of a live run's log, and keep it.
func (r *runner) given(o *run.Options) {
	if r.log == nil {
		return
	}
	o.Sources = []engine.Source{r.log}
	if o.Folder != "" || o.Runs != "" {
		o.Inputs = r.log
	}
}

// end is where the run ends: of a live run that goes on, where its log does.
func (r *runner) end() uint64 {
	if r.lasts {
		return r.log.End(r.Run)
	}
	return r.End()
}

// advance runs the bursts, in pieces where state hashes are asked for.
func (r *runner) advance(ctx context.Context) error {
	for {
		to := r.end()
		if r.stateEvery > 0 {
			to = min(to, (r.Number()/r.stateEvery+1)*r.stateEvery)
		}
		if err := r.forward(ctx, to); err != nil {
			return err
		}
		if r.stateEvery > 0 {
			var s engine.State
			if err := r.Engine().State(&s); err != nil {
				return err
			}
			r.progress.data(r.out, r.o.json, "burst %d state %016x\n", r.Number(), s.Hash())
		}
		if r.Number() >= r.end() {
			return nil
		}
	}
}

// forward is Advance, with what a live run's log has.
func (r *runner) forward(ctx context.Context, to uint64) error {
	if r.log != nil {
		return r.log.Advance(ctx, r.Run, to)
	}
	return r.Advance(ctx, to)
}

// drawKey is the key of a context's func(folder string) error in place of the one that draws a run's pictures: tests run hundreds of
// networks, and drawing takes far longer than these.
type drawKey struct{}

// counted has the raster counted while the spikes are recorded.
func (r *runner) counted(ctx context.Context, o *run.Options) {
	if ctx.Value(drawKey{}) != nil {
		return
	}
	o.Spikes = func(m *manifest.Manifest) func(*runfolder.Chunk) {
		r.raster = picture.NewRaster(m, r.Planned)
		return r.raster.Add
	}
}

// finished draws the pictures of a run that is complete, and says how to resume any other.
func (r *runner) finished(ctx context.Context, err error) error {
	var failed *run.FailedError
	if errors.As(err, &failed) && failed.Resumable {
		return fmt.Errorf("%w; `burst resume %s` goes on from its last checkpoint", err, quoted(r.Folder))
	}
	if r.Folder == "" || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	// The recordings are safe; a picture that fails can be drawn again.
	start := time.Now()
	r.progress.phase("drawing")
	defer func() { r.draw = time.Since(start) }()
	draw := func(folder string) error { return picture.OfRun(folder, r.raster) }
	if f, ok := ctx.Value(drawKey{}).(func(string) error); ok {
		draw = f
	}
	if err := draw(r.Folder); err != nil {
		r.progress.line("no pictures: %s; try `burst plot %s`", plain.Text(err), r.Folder)
	}
	return err
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
		n, err := wholeBursts("--duration", o.duration, g.Timestep)
		if err == nil && n == 0 {
			err = usageError{fmt.Errorf("--duration %v is less than a burst of %g ms", o.duration, g.Timestep)}
		}
		return n, err
	case g.Bursts > 0:
		return g.Bursts, nil
	}
	return defaultBursts, nil
}

// wholeBursts is how many bursts a flag's time is.
func wholeBursts(flag string, d time.Duration, timestep float64) (uint64, error) {
	n := float64(d) / float64(time.Millisecond) / timestep
	whole := math.Round(n)
	if n < 0 || math.Abs(n-whole) > min(1e-6*whole, 0.01) {
		return 0, usageError{fmt.Errorf("%s %v is %g bursts of %g ms, want a whole number", flag, d, n, timestep)}
	}
	return uint64(whole), nil
}

// checkTimes refuses a --rate and a --checkpoint-every that cannot be read.
func (o *runOptions) checkTimes() error {
	if _, err := run.ParseRate(o.rate); err != nil {
		return usageError{fmt.Errorf("--rate %w", err)}
	}
	if err := run.CheckCheckpoints(o.every); err != nil {
		return usageError{fmt.Errorf("--checkpoint-every %w", err)}
	}
	return nil
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

// catchSignals gives a context that the first Ctrl-C or SIGTERM ends; a second one ends the program at once. The end of what there is to
// read from holder, unless that is nil, counts as SIGTERM. The function says which signal came, nil for none.
func catchSignals(parent context.Context, holder io.Reader) (context.Context, func() os.Signal) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if holder != nil {
		go func() {
			_, _ = io.Copy(io.Discard, holder) // an error is an end, too
			signals <- syscall.SIGTERM
		}()
	}
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
