package main

import (
	"errors"
	"fmt"
	"io"

	"burst/backend/cuda/doctor"
	"burst/internal/plain"

	"github.com/spf13/cobra"
)

func newDoctorCommand() *cobra.Command {
	var asJSON bool
	var o doctor.Options
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Test and measure the GPUs, and say how to fix problems",
		Long: "doctor looks for driver, devices and libraries, runs kernels with known results on every GPU, and measures. It needs\n" +
			"no CUDA toolkit. The exit status is 5 if a GPU fails a test, otherwise 0.",
		Args: usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := doctor.Examine(o)
			write := func() error { return writeReport(cmd.OutOrStdout(), r) }
			if asJSON {
				write = func() error { return printJSON(cmd, r) }
			}
			if err := write(); err != nil || r.Passed {
				return err
			}
			return deviceFault{errors.New("a GPU failed its self-test; --backend cpu gives the same results without it")}
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().BoolVar(&o.Quick, "quick", false, "test only, without measuring")
	return cmd
}

// writeReport is the report for people: devices, checks, measurements, verdict.
func writeReport(w io.Writer, r *doctor.Report) error {
	var right int
	for _, v := range r.Devices {
		if err := pairs(w, fmt.Sprintf("device %d", v.Index), v.Name, "memory", plain.Bytes(v.MemoryTotal), "capability", v.Capability,
			"driver", fmt.Sprintf("%s, CUDA %s", v.Driver, v.CUDA), "burst's code", v.PTX, "proof's code", v.Code); err != nil {
			return err
		}
	}
	for _, c := range r.Checks {
		if c.Found == doctor.Right {
			right++
			continue // one line for all of them
		}
		line := fmt.Sprintf("  ok    %s: %s\n", c.Name, c.Found)
		if !c.OK {
			line = fmt.Sprintf("  WRONG %s: %s\n        -> %s\n", c.Name, c.Cause, c.Advice)
			if !c.Proof {
				line = fmt.Sprintf("  note  %s: %s\n        -> %s\n", c.Name, c.Cause, c.Advice)
			}
		}
		if _, err := io.WriteString(w, line); err != nil {
			return err
		}
	}
	for _, v := range r.Devices {
		rows := [][]string{{fmt.Sprintf("device %d, measured", v.Index), "", ""}}
		for _, m := range v.Measures {
			rows = append(rows, []string{m.Name, fmt.Sprintf("%.4g", m.Value), m.Unit})
		}
		if len(rows) > 1 {
			if err := table(w, rows); err != nil {
				return err
			}
		}
	}
	return closing(w, r, right)
}

// closing is the report's last line.
func closing(w io.Writer, r *doctor.Report, right int) error {
	text := fmt.Sprintf("All is well: %d kernels gave the right results.", right)
	switch {
	case len(r.Devices) == 0:
		text = "no GPU: burst runs on the CPU with the same results."
	case !r.Passed:
		text = fmt.Sprintf("A GPU failed its self-test; %d kernels gave the right results.", right)
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
