package main

import (
	"fmt"
	"math"

	"burst/record/runfolder"
	"burst/record/stats"

	"github.com/spf13/cobra"
)

// statsOptions are the flags of `burst stats`.
type statsOptions struct {
	window
	bin  float64
	seed uint64
	json bool
}

// statistics is what `burst stats --json` prints.
type statistics struct {
	Folder string `json:"folder"`
	Genome string `json:"genome"`
	*stats.Summary
}

func newStatsCommand() *cobra.Command {
	var o statsOptions
	cmd := &cobra.Command{
		Use:   "stats FOLDER",
		Short: "Rates, intervals, synchrony and correlation of each area of a run",
		Long: "Figures of the recorded spikes, area by area:\n\n" +
			"  rate         mean over neurons, in Hz\n" +
			"  active       share of neurons that fired at all\n" +
			"  ISI          mean interval between a neuron's successive spikes\n" +
			"  CV           standard deviation (n−1) of a neuron's intervals over their mean, mean over neurons with two or\n" +
			"               more intervals\n" +
			"  synchrony    Golomb's chi of spike counts in bins (Golomb & Rinzel 1994; Golomb 2007): the square root of the\n" +
			"               variance over time of the mean count over the mean of the neurons' own variances; 1 where all fire\n" +
			"               as one, 1/sqrt(N) where they fire independently\n" +
			"  correlation  mean Pearson coefficient of counts in bins, over all pairs of up to 100 neurons that fired, drawn\n" +
			"               with --sample-seed\n\n" +
			"Of projections that learn, mean and standard deviation of all weights at the first and the last sample, and how many\n" +
			"lie in the lowest and in the highest fifth between their bounds.",
		Example:           "  burst stats runs/brunel-c-1 --from 200ms\n  burst stats runs/brunel-c-1 --json | jq '.areas[].isi_cv'",
		Args:              folderArgument,
		ValidArgsFunction: completeFolder,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.Float64Var(&o.bin, "bin", 5, "width of the bins of synchrony and correlation in ms: whole bursts, at most 10,000 bins; an incomplete last bin is left out")
	f.Uint64Var(&o.seed, "sample-seed", 0, "draw the sample of neurons with this seed")
	f.BoolVar(&o.json, "json", false, "print the figures as JSON")
	o.window.flags(cmd)
	return cmd
}

func (o *statsOptions) run(cmd *cobra.Command, dir string) error {
	if !(o.bin > 0) || math.IsInf(o.bin, 0) {
		return usageError{fmt.Errorf("--bin %v, want milliseconds above 0", o.bin)}
	}
	f, err := lookInto(cmd, dir)
	if err != nil {
		return err
	}
	if err := o.window.check(f); err != nil {
		return err
	}
	s, err := stats.Compute(f, stats.Options{From: o.from, Until: o.until, Areas: o.areas, Bin: o.bin, Seed: o.seed})
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd, statistics{Folder: dir, Genome: f.Manifest.Genome, Summary: s})
	}
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "%s: bursts %d to %d of %g ms, bins of %g ms\n\n", f.Manifest.Genome, s.From, max(s.Until, 1)-1, s.Timestep, s.Bin)
	if err := table(w, statsRows(s)); err != nil || len(s.Weights) == 0 {
		return err
	}
	fmt.Fprintln(w)
	return table(w, weightRows(s.Weights))
}

// weightRows is the table of weights, two lines a projection.
func weightRows(list []stats.Weights) [][]string {
	rows := [][]string{{"weights", "synapses", "burst", "mean", "SD", "lowest fifth", "highest fifth"}}
	for i := range list {
		l := &list[i]
		name := fmt.Sprintf("%s to %s (%s)", l.From, l.To, l.Rule)
		for _, x := range []stats.WeightSpread{l.Before, l.After} {
			rows = append(rows, []string{name, count(l.Synapses), count(x.Burst), fmt.Sprintf("%.4g", x.Mean), fmt.Sprintf("%.4g", x.SD), fmt.Sprintf("%.1f %%", 100*x.Low), fmt.Sprintf("%.1f %%", 100*x.High)})
		}
	}
	return rows
}

// statsRows is the table of a summary.
func statsRows(s *stats.Summary) [][]string {
	rows := [][]string{{"area", "neurons", "spikes", "rate (Hz)", "active", "ISI (ms)", "CV", "synchrony", "correlation"}}
	for i := range s.Areas {
		a := &s.Areas[i]
		neurons := count(uint64(a.Neurons))
		if a.Recorded < a.Neurons {
			neurons = count(uint64(a.Recorded)) + " of " + neurons
		}
		rows = append(rows, []string{a.Name, neurons, count(a.Spikes), figure(a.Rate, 2, 1, ""), figure(a.Active, 1, 100, " %"),
			figure(a.ISI, 2, 1, ""), figure(a.CV, 3, 1, ""), figure(a.Synchrony, 3, 1, ""), figure(a.Correlation, 4, 1, "")})
	}
	return rows
}

// figure writes a value times a factor, "-" where it is not defined.
func figure(v stats.Value, decimals int, factor float64, unit string) string {
	if !v.Defined() {
		return "-"
	}
	return fmt.Sprintf("%.*f%s", decimals, factor*float64(v), unit)
}

// hasSpikes refuses a run that recorded none.
func hasSpikes(f *runfolder.Folder) bool {
	for _, t := range f.Tables() {
		if t == "spikes" {
			return true
		}
	}
	return false
}
