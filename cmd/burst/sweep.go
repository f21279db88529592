package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"burst/genome"
	"burst/record/stats"
	"burst/run"

	"github.com/spf13/cobra"
)

// sweeping is a sweep over seeds.
type sweeping struct {
	g           *genome.Genome
	arg         string
	progress    *progress
	bursts      uint64
	interrupted func() os.Signal
}

// sweepResult is what `burst run --seeds --json` prints.
type sweepResult struct {
	Genome string         `json:"genome"`
	Folder string         `json:"folder,omitempty"`
	Areas  []stats.Spread `json:"areas"`
	Runs   []result       `json:"runs"`
}

// parseSeeds reads A..B.
func parseSeeds(s string) (first, last uint64, err error) {
	a, b, found := strings.Cut(s, "..")
	first, errA := strconv.ParseUint(a, 10, 64)
	last, errB := strconv.ParseUint(b, 10, 64)
	const most = 100_000
	if !found || errA != nil || errB != nil || first > last || last-first >= most {
		return 0, 0, usageError{fmt.Errorf("--seeds %q, want A..B with A of at most B and at most %d seeds, such as 1..20", s, most)}
	}
	return first, last, nil
}

// runSweep runs the network once with each seed. Where a run fails or is stopped, those before it are written and reported.
func (o *runOptions) runSweep(cmd *cobra.Command, s sweeping) error {
	first, last, err := parseSeeds(o.sweep)
	if err != nil {
		return err
	}
	res := sweepResult{Genome: s.g.Name, Runs: []result{}}
	if res.Folder, err = o.sweepFolder(s.g.Name); err != nil {
		return err
	}
	var failed error
	ctx, interrupted := catchSignals(cmd.Context())
	s.interrupted = interrupted
	for i := uint64(0); failed == nil && i <= last-first; i++ {
		failed = o.runOne(ctx, cmd, s, first+i, &res)
	}
	if failed != nil && len(res.Runs) == 0 {
		return failed
	}
	if err := res.gather(); err != nil {
		return err
	}
	if err := o.reportSweep(cmd, &res); err != nil {
		return err
	}
	return failed
}

// runOne is one run of a sweep.
func (o *runOptions) runOne(ctx context.Context, cmd *cobra.Command, s sweeping, seed uint64, res *sweepResult) error {
	one, g := *o, *s.g
	reseed(&g, seed)
	if res.Folder != "" {
		one.keep.out = filepath.Join(res.Folder, fmt.Sprintf("seed-%d", seed))
	}
	r := &runner{o: &one, arg: s.arg, out: cmd.OutOrStdout(), progress: s.progress.again(), interrupted: s.interrupted}
	err := r.run(ctx, func(ctx context.Context) (*run.Run, error) {
		settings := one.settings(ctx, r.progress)
		settings.Bursts = s.bursts
		return run.New(ctx, &g, settings)
	})
	switch {
	case errors.Is(err, context.Canceled):
		s.progress.line("stopped by %v in the run with seed %d; the %d runs before it are complete", s.interrupted(), seed, len(res.Runs))
		return stoppedBy(s.interrupted())
	case err != nil:
		return fmt.Errorf("seed %d: %w", seed, err)
	}
	res.Runs = append(res.Runs, r.result())
	return nil
}

// gather computes the areas' figures over all runs, and writes sweep.csv where the sweep has a folder.
func (s *sweepResult) gather() error {
	var sweep stats.Sweep
	for _, r := range s.Runs {
		for _, a := range r.Areas {
			sweep.Add(r.Seed, a.Name, a.Neurons, a.Spikes, a.Rate, a.Active, r.Digest)
		}
	}
	s.Areas = sweep.Areas()
	if s.Folder == "" {
		return nil
	}
	return sweep.Write(s.Folder)
}

// sweepFolder makes the folder that holds a folder for each run; "" with --no-out.
func (o *runOptions) sweepFolder(name string) (string, error) {
	switch {
	case o.keep.noOut:
		return "", nil
	case o.keep.out == "":
		return run.NextFolder(runsFolder, name)
	}
	return o.keep.out, os.MkdirAll(o.keep.out, 0o755)
}

// reportSweep prints means and standard deviations.
func (o *runOptions) reportSweep(cmd *cobra.Command, res *sweepResult) error {
	if o.json {
		return printJSON(cmd, res)
	}
	w := cmd.OutOrStdout()
	if o.quiet {
		for _, r := range res.Runs {
			fmt.Fprintf(w, "%d %s\n", r.Seed, r.Digest)
		}
		return nil
	}
	fmt.Fprintf(w, "%s: %d runs of %s bursts\n\n", res.Genome, len(res.Runs), bursts(res.Runs))
	rows := [][]string{{"area", "neurons", "spikes", "rate (Hz)"}}
	for _, a := range res.Areas {
		rows = append(rows, []string{a.Area, count(uint64(a.Neurons)), fmt.Sprintf("%.1f ± %.1f", a.SpikesMean, a.SpikesSD), fmt.Sprintf("%.3f ± %.3f", a.RateMean, a.RateSD)})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	if res.Folder != "" {
		fmt.Fprintf(w, "\nresults  %s\n", res.Folder)
	}
	return nil
}

// bursts is the number of bursts of each run.
func bursts(runs []result) string {
	if len(runs) == 0 {
		return "0"
	}
	return count(runs[0].Bursts)
}
