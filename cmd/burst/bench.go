package main

import (
	"errors"
	"fmt"
	"strings"

	"burst/backend"
	"burst/bench"
	"burst/engine"

	"github.com/spf13/cobra"
)

// benchOptions are the flags of `burst bench`.
type benchOptions struct {
	suite   string
	backend string
	threads []int
	gpus
	fcl    bool
	bursts int
	json   bool
}

func newBenchCommand() *cobra.Command {
	var o benchOptions
	cmd := &cobra.Command{
		Use:   "bench [NAME...]",
		Short: "Measure bursts of named workloads",
		Long: "Runs each workload from a fresh state for a fixed number of bursts. Prints how long a burst takes, and what was computed:\n" +
			"times of two backends compare only if spikes and the hash of the state are equal.\n\n" +
			"For the cpu backend it also prints the limit of this machine: the time in which as many threads read as many random\n" +
			"rows, add to as many random sums and pass over the state once; and the share of it that the median burst reaches.\n\n" +
			"If the measured bursts take two seconds on GPUs, their energy is printed too, by NVIDIA's counter; give --bursts for that.\n\n" +
			"With --fcl a burst's time is from one complete candidate list on the host to the next. On one GPU, copying a list\n" +
			"overlaps with later bursts. The suites scaling and digests run on one of --devices, on two, four and so on: scaling\n" +
			"measures how times change, digests checks that the examples keep their digests. The suite start measures whole\n" +
			"processes of burst run, from their start to their end, and says where the time went.",
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.suite, "suite", "quick", strings.Join(bench.Suites(), ", ")+"; without names")
	f.StringVar(&o.backend, "backend", "cpu", strings.Join(backend.Names(), ", "))
	f.IntSliceVar(&o.threads, "threads", []int{0}, "numbers of threads to measure; 0 is auto")
	o.gpus.flags(cmd)
	f.BoolVar(&o.fcl, "fcl", false, "also bring the fire candidate list of every burst to the host, and measure that")
	f.IntVar(&o.bursts, "bursts", 0, "bursts to measure instead of the workload's own number")
	f.BoolVar(&o.json, "json", false, "print the results as JSON")
	register(cmd, "suite", cobra.FixedCompletions(bench.Suites(), cobra.ShellCompDirectiveNoFileComp))
	register(cmd, "backend", cobra.FixedCompletions(backend.Names(), cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (o *benchOptions) run(cmd *cobra.Command, names []string) error {
	if err := errors.Join(checkChoice("--suite", o.suite, bench.Suites()), checkBackend(o.backend), o.gpus.check("backend", o.backend)); err != nil {
		return err
	}
	if o.suite == bench.ScalingSuite || o.suite == bench.DigestSuite {
		return o.onDevices(cmd, names)
	}
	if o.suite == bench.StartSuite {
		return o.starting(cmd, names)
	}
	workloads, err := bench.Select(o.suite, names)
	if err != nil {
		return usageError{err}
	}
	results := []bench.Result{}
	rows := [][]string{{"workload", "backend", "threads", "mean (µs)", "p50", "p90", "p99", "spikes/burst", "events/burst", "build (s)", "of limit", "state", "weights"}}
	for _, w := range workloads {
		if o.bursts > 0 {
			w.Bursts = o.bursts
		}
		for _, threads := range o.threads {
			options := backend.Options{Threads: threads, Device: o.device, Want: engine.Want{FCL: o.fcl}}
			if o.devices != "" {
				if options.Devices, err = o.gpus.chosen().Every(); err != nil {
					return err
				}
			}
			r, err := bench.Run(w, o.backend, options)
			if err != nil {
				return err
			}
			results = append(results, r)
			rows = append(rows, benchRow(r))
			fmt.Fprintf(cmd.ErrOrStderr(), "%s: %.1f µs%s\n", r.Name, r.Burst.P50, energyText(r))
		}
	}
	if o.json {
		return printJSON(cmd, results)
	}
	return table(cmd.OutOrStdout(), rows)
}

func benchRow(r bench.Result) []string {
	micros := func(x float64) string { return fmt.Sprintf("%.1f", x) }
	threads := fmt.Sprint(r.Threads)
	if r.Threads == 0 {
		threads = autoThreads
		if r.Used > 0 {
			threads = fmt.Sprintf("%s: %d", autoThreads, r.Used)
		}
	}
	limit := ""
	if r.Limit != nil {
		limit = limitText(r.ShareOfLimit, r.Limit.Total())
	}
	return []string{r.Name, r.Backend, threads, micros(r.Burst.Mean), micros(r.Burst.P50), micros(r.Burst.P90), micros(r.Burst.P99),
		micros(r.SpikesPerBurst), count(uint64(r.EventsPerBurst)), fmt.Sprintf("%.2f", r.Build), limit, r.State, r.Weights}
}

// energyText is what GPUs used in the measured bursts, if that is known.
func energyText(r bench.Result) string {
	if r.Joules == 0 {
		return ""
	}
	return fmt.Sprintf(", %.0f J in %.1f s, %.1f nJ for each synapse of a neuron that fired", r.Joules, r.Total, r.EventNJ)
}

// limitText is the share of a limit in µs, of which small ones have a figure that is not 0.
func limitText(share, micros float64) string {
	if micros >= 10 {
		return fmt.Sprintf("%.0f %% of %.0f µs", 100*share, micros)
	}
	return fmt.Sprintf("%.0f %% of %.2g µs", 100*share, micros)
}
