package main

import (
	"errors"
	"strings"

	"burst/backend"
	"burst/exchange/nccl"

	"github.com/spf13/cobra"
)

// How processes exchange fire queues: --exchange.
const (
	viaAuto = "auto"
	viaMPI  = "mpi"
	viaNCCL = "nccl"
)

// byMPI is what is said of processes that gather through MPI; of NCCL the version is.
const byMPI = "MPI"

var exchanges = []string{viaAuto, viaMPI, viaNCCL}

// exchangeFlag adds --exchange with completion, and tells --device and --devices what they mean to several processes.
func (o *runOptions) exchangeFlag(cmd *cobra.Command) {
	f := cmd.Flags()
	f.Lookup("device").Usage += " (several processes: one each, unless this or --devices names it)"
	f.Lookup("devices").Usage += " (several processes: taken by turns)"
	f.StringVar(&o.exchange, "exchange", viaAuto, "how processes tell each other who fired: "+strings.Join(exchanges, ", ")+" (auto: nccl where each has a GPU of its own)")
	register(cmd, "exchange", cobra.FixedCompletions(exchanges, cobra.ShellCompDirectiveNoFileComp))
}

// meet says how this process's part is opened, and, where there are others, chooses how fire queues travel, alike in all:
// they then go through what the options name. All call it, after identify.
func (o *runOptions) meet(p *progress) (options backend.Options, err error) {
	options = backend.Options{Threads: o.threads, Device: o.gpu, Others: o.others, MaxBytes: uint64(o.memory), Sharers: len(o.host)}
	if o.others == nil {
		return options, nil
	}
	o.via = byMPI
	if o.exchange == viaMPI || o.backend != "cuda" {
		return options, nil
	}
	x, err := nccl.Connect(o.control, o.gpu)
	switch {
	case err == nil:
		o.via = "NCCL " + x.Version()
		o.others = o.wrap(x)
		options.Others = o.others
		return options, nil
	case errors.Is(err, nccl.ErrUnavailable) && o.exchange == viaAuto:
		p.line("exchange: MPI (%s)", strings.ReplaceAll(err.Error(), "\n", "; "))
		return options, nil
	case !o.leads():
		err = errServed // the leader has the same error
	}
	return options, err
}

// through names what the parts run on, and how they are joined.
func (o *runOptions) through(device string) string {
	if o.via == "" {
		return device
	}
	return device + " joined by " + o.via
}
