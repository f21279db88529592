package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"time"

	"burst/genome"
	"burst/internal/plain"
	"burst/record/stats"
	"burst/run"
	"burst/run/sweep"

	"github.com/spf13/cobra"
)

// sweepFlags are the flags of `burst run` that make a sweep of it.
type sweepFlags struct {
	axes   []string
	seeds  string
	trials int
	jobs   int
	stdin  bool
	settle time.Duration
	bin    float64
}

func (s *sweepFlags) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&s.axes, "sweep", nil, "PATH=VALUES runs with each value of the genome, such as areas.E.params.tau=10ms,12ms or projections.0.weight=0.1..0.5/5;\nmay be repeated for a grid; several paths with commas between them have the same value")
	f.StringVar(&s.seeds, "seeds", "", "A..B, or a list such as 1,5,9..12, runs once with each seed and shows mean and standard deviation")
	f.IntVar(&s.trials, "trials", 0, "run one network with this many run seeds: the genome's, or --run-seed, and those that follow it")
	f.DurationVar(&s.settle, "settle", 0, "simulated time that the figures of a sweep leave out at the beginning of each run, such as 200ms")
	f.Float64Var(&s.bin, "bin", 5, "width in ms of the bins for a sweep's synchrony, as in burst stats")
	s.shared(cmd)
	many := []string{"sweep", "seeds", "trials"}
	for _, other := range []string{"from", "weights-from", "expect-digest", "expect-weights", "digest", "view", "rate", "on-device-fault"} {
		for _, name := range many {
			cmd.MarkFlagsMutuallyExclusive(name, other)
		}
	}
	cmd.MarkFlagsMutuallyExclusive("seeds", "seed")
	cmd.MarkFlagsMutuallyExclusive("seeds", "run-seed")
}

// shared adds what resume has too.
func (s *sweepFlags) shared(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&s.stdin, "stop-with-stdin", false, "stop, as on SIGTERM, when standard input ends, which also happens when the program at its other end is killed")
	cmd.Flags().IntVar(&s.jobs, "jobs", 0, "runs of a sweep at a time; they share the threads (default: one a thread; on a GPU one, or several trials, by the size of the network)")
}

// holder is what ends when the program that holds it does; nil: the program goes on without.
func (s *sweepFlags) holder() io.Reader {
	if !s.stdin {
		return nil
	}
	return os.Stdin
}

// asked reports whether the flags make a sweep.
func (s *sweepFlags) asked() bool { return len(s.axes) > 0 || s.seeds != "" || s.trials != 0 }

// alone refuses what says something of sweeps where flags make none, and trials that are none.
func (s *sweepFlags) alone(cmd *cobra.Command) error {
	if cmd.Flags().Changed("trials") && (s.trials < 1 || s.trials > sweep.Most) {
		return usageError{fmt.Errorf("--trials %d, want 1 to %d", s.trials, sweep.Most)}
	}
	if s.asked() {
		return nil
	}
	cures := []struct{ name, cure string }{
		{"settle", "`burst stats FOLDER --from 200ms` leaves out the beginning of a run's figures"},
		{"bin", "`burst stats FOLDER --bin` takes it for one run"},
		{"jobs", "--threads is for one run"},
	}
	for _, f := range cures {
		if cmd.Flags().Changed(f.name) {
			return usageError{fmt.Errorf("--%s is for many runs (--sweep, --seeds or --trials), and there is one; %s", f.name, f.cure)}
		}
	}
	return nil
}

// plan reads the flags.
func (s *sweepFlags) plan() (p sweep.Plan, err error) {
	p.Trials, p.Axes = s.trials, []sweep.Axis{}
	if !(s.bin > 0) || math.IsInf(s.bin, 0) {
		return p, usageError{fmt.Errorf("--bin %v, want milliseconds above 0", s.bin)}
	}
	if s.jobs < 0 {
		return p, usageError{fmt.Errorf("--jobs %d, want 0 or more", s.jobs)}
	}
	for _, text := range s.axes {
		a, err := sweep.ParseAxis(text)
		if err != nil {
			return p, usageError{fmt.Errorf("--sweep %w", err)}
		}
		p.Axes = append(p.Axes, a)
	}
	if s.seeds != "" {
		if p.Seeds, err = sweep.ParseSeeds(s.seeds); err != nil {
			return p, usageError{fmt.Errorf("--seeds %w", err)}
		}
	}
	return p, nil
}

// sweepResult is what `burst run --sweep --json` prints, also with --seeds and --trials.
type sweepResult struct {
	Genome string       `json:"genome"`
	Folder string       `json:"folder,omitempty"`
	Axes   []sweep.Axis `json:"axes"`
	Points int          `json:"points"` // that there are to be
	Cells  []sweep.Cell `json:"cells"`  // of points with the same values
	Runs   []sweep.Row  `json:"runs"`   // of points that have ended
}

// runSweep runs the network of g many times.
func (o *runOptions) runSweep(cmd *cobra.Command, g *genome.Genome, bursts uint64) error {
	plan, err := o.sweeping.plan()
	if err != nil {
		return err
	}
	settle, err := wholeBursts("--settle", o.sweeping.settle, g.Timestep)
	if err != nil {
		return err
	}
	if settle >= bursts {
		return usageError{fmt.Errorf("--settle %v leaves none of %d bursts", o.sweeping.settle, bursts)}
	}
	return o.throughSweep(cmd, func(s sweep.Options) (*sweep.Result, error) {
		s.Run.Bursts, s.Settle, s.Bin = bursts, settle, o.sweeping.bin
		ctx, interrupted := catchSignals(cmd.Context(), o.sweeping.holder())
		o.interrupted = interrupted
		return sweep.Run(ctx, g, plan, s)
	})
}

// resumeSweep goes on with the sweep in a folder.
func (o *runOptions) resumeSweep(cmd *cobra.Command, dir string) error {
	if o.peers != nil {
		return o.peers.Settle(usageError{errors.New("a sweep goes on in one process: leave mpirun out")})
	}
	for _, flag := range []string{"expect-digest", "expect-weights", "checkpoint-every", "on-device-fault"} {
		if cmd.Flags().Changed(flag) {
			return usageError{fmt.Errorf("--%s is for one run, and %s is a sweep", flag, dir)}
		}
	}
	if !cmd.Flags().Changed("backend") {
		o.backend = ""
	} else if err := errors.Join(o.checkBackend(), o.gpus.check("backend", o.backend)); err != nil {
		return err
	}
	return o.throughSweep(cmd, func(s sweep.Options) (*sweep.Result, error) {
		ctx, interrupted := catchSignals(cmd.Context(), o.sweeping.holder())
		o.interrupted = interrupted
		return sweep.Resume(ctx, dir, s)
	})
}

// throughSweep runs a sweep, with progress, and reports what came of it.
func (o *runOptions) throughSweep(cmd *cobra.Command, run func(sweep.Options) (*sweep.Result, error)) error {
	p := newProgress(cmd.ErrOrStderr(), o.quiet)
	s := sweep.Options{Run: o.settings(cmd.Context(), p), Jobs: o.sweeping.jobs, Tell: p.sweepEvent}
	s.Folder, s.Runs, s.Run.Folder, s.Run.Runs, s.Run.Recorders, s.Run.Tell = s.Run.Folder, s.Run.Runs, "", "", nil, nil
	s.Run.OnFault, s.Run.Elsewhere = "", false
	res, err := run(s)
	p.finish()
	if res == nil {
		var wrong *sweep.PlanError
		if errors.As(err, &wrong) {
			return usageError{fmt.Errorf("--sweep %w", err)}
		}
		return err
	}
	if len(res.Rows) > 0 {
		if res.Folder != "" {
			if _, failed := res.WriteMaps(res.Folder, "png"); failed != nil { // the table is safe
				p.line("no pictures: %s", plain.Text(failed))
			}
		}
		if failed := o.reportSweep(cmd, res); failed != nil {
			return failed
		}
	}
	return o.sweepEnd(p, res, err)
}

// sweepEnd says how a sweep ended that is not complete.
func (o *runOptions) sweepEnd(p *progress, res *sweep.Result, err error) error {
	failed := 0
	for i := range res.Rows {
		if res.Rows[i].Error != "" {
			failed++
		}
	}
	cure := ""
	if res.Folder != "" {
		cure = fmt.Sprintf("; `burst resume %s` goes on", quoted(res.Folder))
	}
	if s := o.interrupted(); s != nil && len(res.Rows) < res.Points {
		p.line("stopped by %v: %d of %d runs are complete%s", s, len(res.Rows)-failed, res.Points, cure)
		return stoppedBy(s)
	}
	if err != nil && failed > 0 {
		return fmt.Errorf("%w\n%d of %d runs failed%s", err, failed, res.Points, cure)
	}
	return err
}

// sweepEvent tells of a sweep.
func (p *progress) sweepEvent(e sweep.Event) {
	switch e := e.(type) {
	case sweep.Progress:
		if e.Spikes == 0 && e.Bursts == 0 { // all are building
			return
		}
		if !p.watched {
			p.watch(e.Bursts, e.Of, 0)
			p.watched = true
		}
		p.what = fmt.Sprintf("%d of %d runs complete, ", e.Ended, e.Points)
		p.done, p.spikes = e.Bursts, e.Spikes
		p.show()
	case sweep.Failed:
		p.line("%s", plain.Text(e.Err))
	case sweep.Of:
		switch event := e.Event.(type) {
		case run.Building:
			if !p.watched {
				p.building(event.Done, event.Total)
			}
		case run.Began: // many runs at a time
		case run.Took, run.RecordsPart:
			p.once("%v", e.Event)
		default:
			p.line("%s: %v", e.Place, e.Event)
		}
	}
}

// reportSweep prints what came of a sweep.
func (o *runOptions) reportSweep(cmd *cobra.Command, res *sweep.Result) error {
	if o.json {
		return printJSON(cmd, sweepResult{Genome: res.Genome, Folder: res.Folder, Axes: res.Plan.Axes, Points: res.Points, Cells: res.Cells(), Runs: res.Rows})
	}
	w := cmd.OutOrStdout()
	if o.quiet {
		for _, r := range res.Rows {
			if r.Error == "" {
				fmt.Fprintf(w, "%s %s\n", pointName(&res.Plan, &r), r.Digest)
			}
		}
		return nil
	}
	fmt.Fprintf(w, "%s: %d runs of %s bursts\n\n", res.Genome, len(res.Rows), count(res.Rows[0].Bursts))
	head := []string{}
	for i := range res.Plan.Axes {
		head = append(head, res.Plan.Axes[i].Name())
	}
	rows := [][]string{append(head, "area", "neurons", "spikes", "rate (Hz)", "CV", "synchrony")}
	for _, c := range res.Cells() {
		for _, a := range c.Areas {
			rows = append(rows, append(append([]string{}, c.Values...), a.Name, count(uint64(a.Neurons)), spread(a.Spikes, c.Runs, 1), spread(a.Rate, c.Runs, 3), spread(a.CV, c.Runs, 3), spread(a.Synchrony, c.Runs, 3)))
		}
	}
	if err := table(w, rows); err != nil {
		return err
	}
	if res.Folder != "" {
		fmt.Fprintf(w, "\nresults  %s\n", res.Folder)
	}
	return nil
}

// pointName is the seed of a run of a sweep over seeds or trials alone, and else the number of the point.
func pointName(p *sweep.Plan, r *sweep.Row) string {
	switch {
	case len(p.Axes) > 0 || len(p.Seeds) > 0 && p.Trials > 0:
		return strconv.Itoa(r.Point)
	case p.Trials > 0:
		return strconv.FormatUint(r.RunSeed, 10)
	}
	return strconv.FormatUint(r.Seed, 10)
}

// spread writes mean ± standard deviation of so many runs, the figure alone of one, "-" where there is none.
func spread(s stats.Spread, runs, decimals int) string {
	mean := figure(s.Mean, decimals, 1, "")
	if !s.Mean.Defined() || runs < 2 {
		return mean
	}
	return mean + " ± " + figure(s.SD, decimals, 1, "")
}
