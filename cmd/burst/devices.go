package main

import (
	"errors"
	"fmt"
	"strings"

	"burst/backend/cuda"
	"burst/engine"
	"burst/internal/plain"

	"github.com/spf13/cobra"
)

// devices is what `burst devices --json` prints.
type devices struct {
	Devices     []cuda.DeviceInfo `json:"devices"`
	Unavailable string            `json:"unavailable"` // why there is none, "" when there is one
}

func newDevicesCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "devices",
		Short: "List the GPUs and say whether burst can use them",
		Args:  usage(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return listDevices(cmd, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the list as JSON")
	return cmd
}

// listDevices succeeds whenever it can say what there is; having no GPU is no error.
func listDevices(cmd *cobra.Command, asJSON bool) error {
	list, err := cuda.Devices()
	if err != nil && !errors.Is(err, engine.ErrUnavailable) {
		return err
	}
	d := devices{Devices: append([]cuda.DeviceInfo{}, list...)}
	if err != nil {
		d.Unavailable = err.Error()
	}
	if asJSON {
		return printJSON(cmd, d)
	}
	w := cmd.OutOrStdout()
	if err != nil {
		_, err := fmt.Fprintf(w, "no GPU: %s\nburst runs on the CPU with the same results.\n", strings.TrimPrefix(d.Unavailable, engine.ErrUnavailable.Error()+": "))
		return err
	}
	rows := [][]string{{"device", "name", "capability", "memory", "free", "driver", "CUDA", "code", "paths", "usable"}}
	for _, v := range list {
		usable := "yes"
		if !v.Usable {
			usable = "no: " + v.Why
		} else if v.SingleSteps != "" {
			usable = "yes: " + v.SingleSteps
		}
		rows = append(rows, []string{fmt.Sprint(v.Index), v.Name, v.Capability, plain.Bytes(v.MemoryTotal), plain.Bytes(v.MemoryFree), v.Driver, v.CUDA, v.PTX, strings.Join(v.Paths, " "), usable})
	}
	return table(w, rows)
}
