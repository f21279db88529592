package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"burst/run"

	"github.com/spf13/cobra"
)

// gpus are the flags that say which GPUs the cuda backend takes.
type gpus struct {
	device  int
	devices string
	given   func(flag string) bool // by the user
}

func (g *gpus) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	g.given = f.Changed
	f.IntVar(&g.device, "device", 0, "GPU of the cuda backend, numbered as by burst devices")
	f.StringVar(&g.devices, "devices", "", "GPUs that share the network, such as 0,1,2,3; all: as many as make the run faster")
	cmd.MarkFlagsMutuallyExclusive("device", "devices")
	register(cmd, "devices", cobra.FixedCompletions([]string{"all"}, cobra.ShellCompDirectiveNoFileComp))
}

// named says that the user chose among the GPUs.
func (g *gpus) named() bool { return g.devices != "" || g.given("device") }

// check refuses GPUs for backends that take none, and a list that no machine could have. flag is the one that names the backends.
func (g *gpus) check(flag string, backends ...string) error {
	if g.named() && !slices.Contains(backends, "cuda") && !slices.Contains(backends, "auto") {
		own := "--device"
		if g.devices != "" {
			own = "--devices"
		}
		return usageError{fmt.Errorf("%s chooses GPUs for the cuda backend, and --%s is %s; add cuda there, or leave %[1]s out", own, flag, strings.Join(backends, ","))}
	}
	if g.devices == "" || g.devices == "all" {
		return nil
	}
	_, err := g.list()
	return err
}

// list reads --devices.
func (g *gpus) list() ([]int, error) {
	var list []int
	for word := range strings.SplitSeq(g.devices, ",") {
		d, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || d < 0 {
			return nil, usageError{fmt.Errorf("--devices %q: %q is not a device, want numbers from `burst devices`, such as 0,1,2,3, or all", g.devices, word)}
		}
		if slices.Contains(list, d) {
			return nil, usageError{fmt.Errorf("--devices %q names device %d twice", g.devices, d)}
		}
		list = append(list, d)
	}
	return list, nil
}

// first reports whether no flag names GPUs: one process then uses the first alone.
func (g *gpus) first() bool { return g.devices == "" && !g.given("device") }

// chosen are the GPUs that check has accepted.
func (g *gpus) chosen() run.GPUs {
	switch {
	case g.devices == "all":
		return run.GPUs{All: true}
	case g.devices != "":
		list, err := g.list()
		if err != nil {
			panic("BUG: --devices was not checked: " + err.Error())
		}
		return run.GPUs{List: list}
	case g.given("device"):
		return run.GPUs{List: []int{g.device}}
	}
	return run.GPUs{}
}

// arguments writes the flags again, for a new process.
func (g *gpus) arguments() []string {
	if g.devices != "" {
		return []string{"--devices", g.devices}
	}
	return []string{"--device", strconv.Itoa(g.device)}
}

// The places where a network is built, of --build.
const (
	onHost   = "host"
	onDevice = string(run.OnDevice)
	onEither = string(run.OnEither)
)

// buildFlag adds --build.
func (o *runOptions) buildFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&o.build, "build", onEither, "who builds the network: host, device (the GPUs of the cuda backend), or auto; the network is the same")
	register(cmd, "build", cobra.FixedCompletions([]string{onEither, onHost, onDevice}, cobra.ShellCompDirectiveNoFileComp))
}

// checkBuild refuses places that there are not.
func (o *runOptions) checkBuild() error {
	switch {
	case o.build == onHost || o.build == onEither || o.build == "": // a command without the flag
		return nil
	case o.build != onDevice:
		return usageError{fmt.Errorf("--build is %q, want %s, %s or %s", o.build, onEither, onHost, onDevice)}
	case o.backend != "cuda" && o.backend != "auto":
		return usageError{fmt.Errorf("--build device is for the cuda backend, and --backend is %s; leave one of them out", o.backend)}
	case o.peers != nil:
		return usageError{errors.New("--build device is for one process; leave it out, or leave mpirun out")}
	}
	return nil
}
