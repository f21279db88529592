package main

import (
	"fmt"
	"time"

	"burst/backend"
	"burst/connectome"
	"burst/genome"
	"burst/internal/plain"

	"github.com/spf13/cobra"
)

// inspectPart is one part of a split network.
type inspectPart struct {
	Neurons  uint64  `json:"neurons"`
	Synapses uint64  `json:"synapses"`
	Bytes    uint64  `json:"bytes"`                // connectome and state
	Peak     uint64  `json:"peak"`                 // while building
	Host     uint64  `json:"host_bytes,omitempty"` // with --cost: connectome and cpu backend
	Build    float64 `json:"build_s,omitempty"`    // with --cost: measured, the part alone on this machine
}

// inspectParts says what each of so many parts takes; where cost is set they are built, one after the other.
func (o *inspectOptions) inspectParts(cmd *cobra.Command, g *genome.Genome) ([]inspectPart, error) {
	list := make([]inspectPart, o.parts)
	for i := range list {
		part := connectome.Part{Index: i, Of: o.parts}
		s, err := connectome.Measure(g, connectome.Options{Threads: o.threads, Part: part})
		if err != nil {
			return nil, err
		}
		own := uint64(part.Count(uint32(s.Neurons)))
		list[i] = inspectPart{Neurons: own, Synapses: s.Synapses, Bytes: s.Bytes + s.Learnt + stateBytes*own, Peak: s.Peak}
	}
	if !o.cost {
		return list, nil
	}
	p := newProgress(cmd.ErrOrStderr(), false)
	all, err := connectome.NewParts(g, o.parts, connectome.Options{Threads: o.threads, Progress: p.building})
	p.finish()
	if err != nil {
		return nil, err
	}
	planning := all.Took()
	before := planning
	err = all.Each(func(c *connectome.Connectome) error { // in the memory of the one before
		own := &list[c.Part.Index]
		own.Build = (planning + all.Took() - before).Seconds()
		before = all.Took()
		host, _ := backend.Footprint("cpu", c, backend.Options{Threads: o.threads})
		own.Host = c.Bytes() + 4*uint64(c.Ports) + host // bounds are there when all parts are made
		return nil
	})
	return list, err
}

// printParts writes them for people.
func printParts(cmd *cobra.Command, list []inspectPart) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "\nin %d parts:\n\n", len(list))
	measured := len(list) > 0 && list[0].Host > 0
	rows := [][]string{{"part", "neurons", "synapses", "memory", "while building"}}
	if measured {
		rows[0] = append(rows[0], "with the cpu backend", "built in")
	}
	for i, p := range list {
		row := []string{fmt.Sprint(i), count(p.Neurons), count(p.Synapses), plain.Bytes(p.Bytes), plain.Bytes(p.Peak)}
		if measured {
			row = append(row, plain.Bytes(p.Host), duration(time.Duration(p.Build*float64(time.Second))))
		}
		rows = append(rows, row)
	}
	return table(w, rows)
}
