package main

import (
	"bytes"
	"fmt"

	"burst/connectome"
	"burst/genome/brainmap"

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
	Host   uint64 `json:"host"`   // connectome and the cpu backend's state
	Device uint64 `json:"device"` // the same arrays on a GPU, without its output buffers
	Peak   uint64 `json:"peak"`   // on the host while building
}

func newInspectCommand() *cobra.Command {
	var asJSON bool
	var threads int
	var svg string
	cmd := &cobra.Command{
		Use:               "inspect GENOME",
		Short:             "Show areas, neurons, synapses and memory, without building",
		Args:              genomeArgument,
		ValidArgsFunction: completeGenome,
		RunE:              func(cmd *cobra.Command, args []string) error { return inspect(cmd, args[0], threads, svg, asJSON) },
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the sizes as JSON")
	cmd.Flags().IntVar(&threads, "threads", 0, "threads to count with (default: all processors)")
	cmd.Flags().StringVar(&svg, "map", "", "draw areas and projections into this SVG file, which must not exist")
	return cmd
}

// stateBytes is what the backends keep of a neuron: V, refractory countdown, fire count and the sum of its port.
const stateBytes = 4 + 2 + 2 + 4

// inspect prints what Measure finds.
func inspect(cmd *cobra.Command, arg string, threads int, svg string, asJSON bool) error {
	g, err := loadGenome(cmd, arg)
	if err != nil {
		return err
	}
	s, err := connectome.Measure(g, connectome.Options{Threads: threads})
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
	if svg != "" {
		var b bytes.Buffer
		if err := brainmap.Draw(&b, g); err != nil {
			return err
		}
		if err := writeNew(svg, b.Bytes()); err != nil {
			return err
		}
	}
	if asJSON {
		return printJSON(cmd, v)
	}
	return v.print(cmd)
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
		"memory", fmt.Sprintf("%s on the host (reference, cpu), %s on a GPU; %s while building", bytesText(v.Bytes.Host), bytesText(v.Bytes.Device), bytesText(v.Bytes.Peak)))...)
}
