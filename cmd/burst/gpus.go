package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/genome"

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
	f.StringVar(&g.devices, "devices", "", "GPUs that share the network, such as 0,1,2,3; all: as many as are worth it")
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
			return nil, usageError{fmt.Errorf("--devices %q: %q is no device, want numbers as `burst devices` has them, such as 0,1,2,3, or all", g.devices, word)}
		}
		if slices.Contains(list, d) {
			return nil, usageError{fmt.Errorf("--devices %q names device %d twice", g.devices, d)}
		}
		list = append(list, d)
	}
	return list, nil
}

// parts plans a network in parts where the backend that is asked for takes several of the devices, which it lists. Where one
// device takes the whole, there are no parts, and the list has at most that one.
func (g *gpus) parts(n *genome.Genome, name string, o connectome.Options) (*connectome.Parts, []int, error) {
	if g.devices == "" || name != "cuda" && name != "auto" {
		return nil, []int{g.device}, nil
	}
	if g.devices == "all" {
		return g.spread(n, o)
	}
	list, err := g.list()
	if err != nil || len(list) == 1 {
		return nil, list, err
	}
	parts, err := connectome.NewParts(n, len(list), o)
	return parts, list, err
}

// spread is parts for as many of all devices as are worth it.
func (g *gpus) spread(n *genome.Genome, o connectome.Options) (*connectome.Parts, []int, error) {
	found, err := cuda.Devices()
	if errors.Is(err, engine.ErrUnavailable) {
		return nil, nil, nil // opening says why, or takes another backend
	}
	usable := 0
	for _, d := range found {
		if d.Usable {
			usable++
		}
	}
	if err != nil || usable == 0 {
		return nil, nil, err
	}
	parts, err := connectome.NewParts(n, usable, o)
	if err != nil {
		return nil, nil, err
	}
	list := cuda.Spread(parts.Head(), parts.Least(connectome.Part{}), found)
	if len(list) == 1 {
		return nil, list, nil
	}
	return parts, list, parts.Into(len(list))
}

// turn is the device of one of several processes, which take those of the list by turns.
func (g *gpus) turn(process int) (int, error) {
	list, err := g.every()
	if errors.Is(err, engine.ErrUnavailable) || err == nil && len(list) == 0 {
		return g.device, nil // opening says why, or takes another backend
	}
	if err != nil {
		return 0, err
	}
	return list[process%len(list)], nil
}

// arguments are the flags again, for a new process.
func (g *gpus) arguments() []string {
	if g.devices != "" {
		return []string{"--devices", g.devices}
	}
	return []string{"--device", strconv.Itoa(g.device)}
}
