package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"burst/backend"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
	"burst/internal/plain"
	"burst/record"

	"github.com/spf13/cobra"
)

// cost is what a run would take, by building the network and running its first bursts on each backend.
type cost struct {
	Bursts   uint64        `json:"bursts"`  // of the run that is estimated
	Build    float64       `json:"build_s"` // measured
	Backends []backendCost `json:"backends"`
}

// backendCost is one backend's part.
type backendCost struct {
	Backend   string  `json:"backend"`
	Available bool    `json:"available"`
	Note      string  `json:"backend_note"` // why it is not available, else what it would run on
	Host      uint64  `json:"host_bytes"`   // of the network and the backend on the host, without what a burst's spikes take
	Device    uint64  `json:"device_bytes"` // on the GPU; 0 for backends without
	Probe     uint64  `json:"probe"`        // bursts run to find out
	Burst     float64 `json:"measured_us"`  // mean time of a burst in the later part of the probe
	Total     float64 `json:"total_s"`      // building and all bursts, without recording
}

// probeTime is how long a backend is tried out; a run that is shorter is run in full.
const probeTime = time.Second

// estimate builds g and tries each backend.
func estimate(cmd *cobra.Command, g *genome.Genome, bursts uint64, threads int, devices *gpus) (*cost, error) {
	p := newProgress(cmd.ErrOrStderr(), false)
	start := time.Now()
	c, err := build(g, threads, 0, p)
	if err != nil {
		return nil, err
	}
	v := &cost{Bursts: bursts, Build: time.Since(start).Seconds(), Backends: []backendCost{}}
	for _, name := range backend.Names() {
		parts, list, err := devices.parts(g, name, connectome.Options{Threads: threads, Progress: p.building})
		if err != nil {
			return nil, err
		}
		b, o := backendCost{Backend: name}, backend.Options{Threads: threads, Devices: list}
		b.Host, b.Device = backend.Footprint(name, c, o)
		b.Host += c.Bytes()
		open := func() (engine.Backend, error) { return backend.Open(name, c, o) }
		if parts != nil {
			b.Host += parts.Head().Bytes() - c.Bytes()
			open = func() (engine.Backend, error) {
				b, _, err := backend.OpenParts(parts, o)
				return b, err
			}
		}
		if err := b.try(c, v, open); err != nil {
			return nil, err
		}
		v.Backends = append(v.Backends, b)
	}
	return v, nil
}

// try opens the backend and runs bursts in steps that double, until it takes long enough to tell.
func (b *backendCost) try(c *connectome.Connectome, v *cost, open func() (engine.Backend, error)) error {
	opened, err := open()
	var (
		small *cuda.MemoryError
		host  *backend.MemoryError
	)
	if errors.Is(err, engine.ErrUnavailable) || errors.As(err, &small) || errors.As(err, &host) {
		b.Note = err.Error()
		return nil
	}
	if err != nil {
		return err
	}
	defer opened.Close()
	b.Available, b.Note = true, backend.Device(opened)
	e := engine.New(c, opened, engine.Options{Recorders: []engine.Recorder{record.NewActivity(c)}})
	start := time.Now()
	last := time.Duration(0)
	for step := uint64(1); b.Probe < v.Bursts && time.Since(start) < probeTime; step = b.Probe {
		step = min(step, v.Bursts-b.Probe)
		began := time.Now()
		if err := e.Run(context.Background(), step); err != nil {
			return err
		}
		last = time.Since(began)
		b.Probe += step
		b.Burst = last.Seconds() * 1e6 / float64(step)
	}
	spent := time.Since(start).Seconds()
	b.Total = v.Build + spent + float64(v.Bursts-b.Probe)*b.Burst/1e6
	return nil
}

// print writes the cost for people.
func (v *cost) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "\ncost of %s bursts, measured on this machine (without recording):\n\n", count(v.Bursts))
	rows := [][]string{{"backend", "host", "device", "burst (µs)", "in all", "probed"}}
	for _, b := range v.Backends {
		device := "-"
		if b.Device > 0 {
			device = plain.Bytes(b.Device)
		}
		if !b.Available {
			rows = append(rows, []string{b.Backend, plain.Bytes(b.Host), device, "-", "-", "not available"})
			continue
		}
		rows = append(rows, []string{b.Backend, plain.Bytes(b.Host), device, fmt.Sprintf("%.1f", b.Burst), duration(time.Duration(b.Total * float64(time.Second))), count(b.Probe) + " bursts"})
	}
	return table(w, rows)
}
