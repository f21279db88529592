package main

import (
	"strings"

	"burst/run"

	"github.com/spf13/cobra"
)

// exchanges are what --exchange takes.
var exchanges = []string{run.ViaAuto, run.ViaMPI, run.ViaNCCL}

// exchangeFlag adds --exchange with completion, and tells --device and --devices what they mean to several processes.
func (o *runOptions) exchangeFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Lookup("device").Usage += " (several processes: one each, unless this or --devices names it)"
	f.Lookup("devices").Usage += " (several processes: taken by turns)"
	f.StringVar(&o.exchange, "exchange", run.ViaAuto, "how processes exchange spikes: "+strings.Join(exchanges, ", ")+" (auto: nccl where each has a GPU of its own)")
	register(cmd, "exchange", cobra.FixedCompletions(exchanges, cobra.ShellCompDirectiveNoFileComp))
}
