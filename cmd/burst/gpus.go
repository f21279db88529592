package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"burst/backend"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"

	"github.com/spf13/cobra"
)

// gpus are the flags that say which GPUs the cuda backend takes.
type gpus struct {
	device  int
	devices string
}

func (g *gpus) flags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.IntVar(&g.device, "device", 0, "GPU of the cuda backend, as `burst devices` numbers them")
	f.StringVar(&g.devices, "devices", "", "GPUs that share the network, such as 0,1,2,3; all: as many as are worth it")
	cmd.MarkFlagsMutuallyExclusive("device", "devices")
	register(cmd, "devices", cobra.FixedCompletions([]string{"all"}, cobra.ShellCompDirectiveNoFileComp))
}

// check refuses a list that no machine could have.
func (g *gpus) check() error {
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

// apply tells the backend. Where all may be taken, how many of them depends on the network. Several processes each take one
// device of the list, by turns.
func (g *gpus) apply(c *connectome.Connectome, o *backend.Options) error {
	o.Device = g.device
	if g.devices == "" {
		return nil
	}
	list, err := g.usable(c, o.Others != nil)
	if errors.Is(err, engine.ErrUnavailable) || (err == nil && len(list) == 0) {
		return nil // opening says why, or takes another backend
	}
	if err == nil && o.Others != nil {
		o.Device = list[o.Others.Part().Index%len(list)]
		return nil
	}
	o.Devices = list
	return err
}

// usable lists the devices that are named; of all, those that are worth it, or with every the usable ones.
func (g *gpus) usable(c *connectome.Connectome, every bool) ([]int, error) {
	if g.devices != "all" {
		return g.list()
	}
	if every {
		return g.every()
	}
	found, err := cuda.Devices()
	return cuda.Spread(c, found), err
}

// arguments are the flags again, for a new process.
func (g *gpus) arguments() []string {
	if g.devices != "" {
		return []string{"--devices", g.devices}
	}
	return []string{"--device", strconv.Itoa(g.device)}
}
