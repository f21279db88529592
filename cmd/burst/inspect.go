package main

import (
	"bytes"
	"fmt"
	"path/filepath"

	"burst/connectome"
	"burst/genome/brainmap"
	"burst/internal/plain"

	"github.com/spf13/cobra"
)

// inspection is what `burst inspect --json` prints.
type inspection struct {
	Genome   string        `json:"genome"`
	Neurons  uint64        `json:"neurons"`
	Synapses uint64        `json:"synapses"`         // after merging
	ByRule   uint64        `json:"synapses_by_rule"` // before
	MaxDelay int           `json:"max_delay"`        // bursts
	Areas    []inspectArea `json:"areas"`
	Bytes    inspectBytes  `json:"bytes"`
	Cost     *cost         `json:"cost,omitempty"`  // with --cost
	Parts    []inspectPart `json:"parts,omitempty"` // with --parts
}

// inspectOptions are the flags of `burst inspect`.
type inspectOptions struct {
	threads int
	gpus
	parts  int
	cost   bool
	bursts uint64
	svg    string
	json   bool
}

type inspectArea struct {
	Name        string    `json:"name"`
	Group       string    `json:"group"`   // "" when it has none
	Devices     uint64    `json:"devices"` // 0 when the genome does not say
	Model       string    `json:"model"`
	Size        [3]uint64 `json:"size"`
	PerVoxel    uint64    `json:"neurons_per_voxel"`
	Neurons     uint64    `json:"neurons"`
	InSynapses  uint64    `json:"in_synapses"`
	OutSynapses uint64    `json:"out_synapses"`
}

// inspectBytes is the memory a network takes.
type inspectBytes struct {
	Host   uint64 `json:"host"`   // connectome and the reference's state; the cpu backend copies synapses, which --cost adds
	Device uint64 `json:"device"` // the same arrays on a GPU, without its output buffers
	Peak   uint64 `json:"peak"`   // on the host while building
}

func newInspectCommand() *cobra.Command {
	var o inspectOptions
	cmd := &cobra.Command{
		Use:   "inspect GENOME",
		Short: "Show areas, neurons, synapses and memory, without building",
		Long: "Counts what the genome grows to. With --cost the network is built and its first bursts are run on each backend of\n" +
			"this machine, for about a second each, to tell memory and time of the whole run. With --parts it tells what each of\n" +
			"so many processes would hold of it; --cost then builds one part after the other, and never the whole.",
		Example:           "  burst inspect brunel-c\n  burst inspect brunel-c --cost --bursts 100000",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0]) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print the sizes as JSON")
	f.IntVar(&o.threads, "threads", 0, "threads to count, build and run with (default: all processors)")
	o.gpus.flags(cmd)
	f.BoolVar(&o.cost, "cost", false, "build the network and try its first bursts to tell memory and time of a run")
	f.Uint64Var(&o.bursts, "bursts", 0, fmt.Sprintf("with --cost: the length of the run (default: the genome's, else %d)", defaultBursts))
	f.IntVar(&o.parts, "parts", 0, "tell what each of so many processes would hold")
	f.StringVar(&o.svg, "map", "", "draw areas and projections into this SVG file, which must not exist")
	return cmd
}

// stateBytes is what the backends keep of a neuron: V, refractory countdown, fire count and the sum of its port.
const stateBytes = 4 + 2 + 2 + 4

// run prints what Measure finds.
func (o *inspectOptions) run(cmd *cobra.Command, arg string) error {
	if err := o.gpus.check("cost", "cuda"); err != nil {
		return err
	}
	if end := filepath.Ext(o.svg); o.svg != "" && end != ".svg" {
		return usageError{fmt.Errorf("--map %s ends with %q, want .svg", o.svg, end)}
	}
	g, err := loadGenome(cmd, arg)
	if err != nil {
		return err
	}
	s, err := connectome.Measure(g, connectome.Options{Threads: o.threads})
	if err != nil {
		return err
	}
	v := inspection{
		Genome: g.Name, Neurons: s.Neurons, Synapses: s.Synapses, ByRule: s.ByRule, MaxDelay: s.MaxDelay, Areas: []inspectArea{},
		Bytes: inspectBytes{Host: s.Bytes + stateBytes*s.Neurons, Device: s.Bytes + stateBytes*s.Neurons, Peak: s.Peak},
	}
	for i, a := range s.Areas {
		area := &g.Areas[i]
		v.Areas = append(v.Areas, inspectArea{
			Name: a.Name, Group: area.Group, Devices: area.Devices, Model: area.Model.Name, Size: area.Size, PerVoxel: area.PerVoxel,
			Neurons: a.Neurons, InSynapses: a.InSynapses, OutSynapses: a.OutSynapses,
		})
	}
	if o.svg != "" {
		var b bytes.Buffer
		if err := brainmap.Draw(&b, g); err != nil {
			return err
		}
		if err := writeNew(o.svg, b.Bytes()); err != nil {
			return err
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "wrote %s\n", o.svg)
	}
	if o.parts > 0 {
		if v.Parts, err = o.inspectParts(cmd, g); err != nil {
			return err
		}
	} else if o.cost {
		bursts, err := (&runOptions{bursts: o.bursts}).length(g)
		if err != nil {
			return err
		}
		if v.Cost, err = estimate(cmd, g, bursts, o.threads, &o.gpus); err != nil {
			return err
		}
	}
	if o.json {
		return printJSON(cmd, v)
	}
	if err := v.print(cmd); err != nil {
		return err
	}
	switch {
	case v.Parts != nil:
		return printParts(cmd, v.Parts)
	case v.Cost != nil:
		return v.Cost.print(cmd)
	}
	return nil
}

// print writes the sizes for people.
func (v *inspection) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	rows := [][]string{{"area", "group", "model", "size", "neurons", "in synapses", "out synapses"}}
	for _, a := range v.Areas {
		size := fmt.Sprintf("%d × %d × %d", a.Size[0], a.Size[1], a.Size[2])
		if a.PerVoxel != 1 {
			size += fmt.Sprintf(" × %d", a.PerVoxel)
		}
		rows = append(rows, []string{a.Name, a.Group, a.Model, size, count(a.Neurons), count(a.InSynapses), count(a.OutSynapses)})
	}
	rows = append(rows, []string{"all", "", "", "", count(v.Neurons), count(v.Synapses), count(v.Synapses)})
	if err := table(w, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	var facts []string
	if v.ByRule != v.Synapses {
		facts = append(facts, "merged", fmt.Sprintf("%s synapses of the rules into %s", count(v.ByRule), count(v.Synapses)))
	}
	return pairs(w, append(facts,
		"longest delay", fmt.Sprintf("%d bursts", v.MaxDelay),
		"memory", fmt.Sprintf("%s on the host, %s on a GPU; %s while building (--cost measures each backend)", plain.Bytes(v.Bytes.Host), plain.Bytes(v.Bytes.Device), plain.Bytes(v.Bytes.Peak)))...)
}
