package main

import (
	"fmt"
	"strings"

	"burst/bench"
	"burst/genomes"

	"github.com/spf13/cobra"
)

// onDevices runs the suites that compare numbers of devices.
func (o *benchOptions) onDevices(cmd *cobra.Command, names []string) error {
	devices, err := o.gpus.chosen().Every()
	if err != nil {
		return err
	}
	if o.suite == bench.DigestSuite {
		if len(names) == 0 {
			names = genomes.Names()
		}
		return o.prove(cmd, names, devices)
	}
	scale := bench.DefaultScaling()
	if o.bursts > 0 {
		scale.Bursts = o.bursts
	}
	return o.scale(cmd, &scale, devices)
}

// scale prints every result at once, so that an interrupted measurement has shown something.
func (o *benchOptions) scale(cmd *cobra.Command, s *bench.Scaling, devices []int) error {
	results := []bench.ScalingResult{}
	rows := [][]string{{"network", "devices", "neurons", "synapses", "burst (µs)", "least–most", "weak", "strong", "exchange (µs)", "spikes/burst", "build (s)", "open (s)", "state"}}
	share := func(x float64, format string) string {
		if x == 0 {
			return "-"
		}
		return fmt.Sprintf(format, x)
	}
	err := s.Run(o.backend, devices, func(r bench.ScalingResult) {
		results = append(results, r)
		fmt.Fprintf(cmd.ErrOrStderr(), "%s on %d: %.1f µs (%.1f to %.1f), exchange %.2f to %.2f, %.0f spikes, state %s\n", r.Network, len(r.Devices), r.Burst, r.BurstLeast, r.BurstMost, r.Exchange, r.ExchangeMost, r.SpikesPerBurst, r.State)
		rows = append(rows, []string{r.Network, fmt.Sprint(len(r.Devices)), count(uint64(r.Neurons)), count(r.Synapses), fmt.Sprintf("%.1f", r.Burst), fmt.Sprintf("%.1f–%.1f", r.BurstLeast, r.BurstMost),
			share(100*r.Weak, "%.0f %%"), share(r.Strong, "%.2f"), fmt.Sprintf("%.2f–%.2f", r.Exchange, r.ExchangeMost), fmt.Sprintf("%.0f", r.SpikesPerBurst),
			fmt.Sprintf("%.1f", r.Build), fmt.Sprintf("%.1f", r.Open), r.State})
	})
	if o.json {
		if e := printJSON(cmd, results); e != nil {
			return e
		}
	} else if e := table(cmd.OutOrStdout(), rows); e != nil {
		return e
	}
	return err
}

// prove prints the digests of examples on one device, two, four and so on; a digest that differs from the law's is an error.
func (o *benchOptions) prove(cmd *cobra.Command, names []string, devices []int) error {
	results := []bench.Proof{}
	rows := [][]string{{"example", "devices", "bursts", "spikes", "digest", "equal", "seconds"}}
	err := bench.Prove(o.backend, names, devices, func(p bench.Proof) {
		results = append(results, p)
		equal := "no"
		if p.Equal {
			equal = "yes"
		}
		row := []string{p.Name, fmt.Sprint(len(p.Devices)), count(p.Bursts), count(p.Spikes), p.Digest, equal, fmt.Sprintf("%.2f", p.Total)}
		fmt.Fprintln(cmd.ErrOrStderr(), strings.Join(row, " "))
		rows = append(rows, row)
	})
	if o.json {
		if e := printJSON(cmd, results); e != nil {
			return e
		}
	} else if e := table(cmd.OutOrStdout(), rows); e != nil {
		return e
	}
	if err != nil {
		return assertionError{err}
	}
	return nil
}
