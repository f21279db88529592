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

// cost estimates time and memory of a run: it builds the network and runs its first bursts on each backend.
type cost struct {
	Bursts   uint64        `json:"bursts"`  // of the run that is estimated
	Build    float64       `json:"build_s"` // measured, on the host
	Backends []backendCost `json:"backends"`
}

// backendCost is one backend's part.
type backendCost struct {
	Backend   string     `json:"backend"`
	Available bool       `json:"available"`
	Note      string     `json:"backend_note"`         // why it is not available, else what it would run on
	Host      uint64     `json:"host_bytes"`           // of the network and the backend on the host, without what a burst's spikes take
	Device    uint64     `json:"device_bytes"`         // on the GPU; 0 for backends without
	Path      *cuda.Path `json:"gpu,omitempty"`        // how a GPU runs bursts, and why so; without one here, how one of usual size would
	Probe     uint64     `json:"probe"`                // bursts run to find out
	Burst     float64    `json:"measured_us"`          // mean time of a burst in the later part of the probe
	Total     float64    `json:"total_s"`              // building and all bursts, without recording
	Sample    float64    `json:"weights_us,omitempty"` // time to read all weights once, as recordings and checkpoints do; of a network that learns
}

// probeTime is how long a backend is measured; a shorter run is run in full.
const probeTime = time.Second

// estimate builds g and measures each backend.
func estimate(cmd *cobra.Command, g *genome.Genome, bursts uint64, threads int, devices *gpus) (*cost, error) {
	p := newProgress(cmd.ErrOrStderr(), false)
	defer p.finish()
	start := time.Now()
	c, err := build(g, threads, 0, p)
	if err != nil {
		return nil, err
	}
	v := &cost{Bursts: bursts, Build: time.Since(start).Seconds(), Backends: []backendCost{}}
	for _, name := range backend.Names() {
		parts, list, err := devices.chosen().Parts(g, name, connectome.Options{Threads: threads, Progress: p.building})
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

// try opens the backend and runs 1, 2, 4, … bursts until that takes long enough to measure.
func (b *backendCost) try(c *connectome.Connectome, v *cost, open func() (engine.Backend, error)) error {
	opened, err := open()
	var (
		small *cuda.MemoryError
		host  *backend.MemoryError
	)
	if errors.Is(err, engine.ErrUnavailable) || errors.As(err, &small) || errors.As(err, &host) {
		b.Note = err.Error()
		if b.Backend == "cuda" {
			usual := cuda.PathOf(c, engine.Want{})
			b.Path = &usual
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer opened.Close()
	b.Available, b.Note, b.Path = true, backend.Device(opened), backend.Path(opened)
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
	if len(c.Plastic) > 0 {
		if b.Sample, err = sampleTime(e); err != nil {
			return err
		}
	}
	b.Total = v.Build + spent + float64(v.Bursts-b.Probe)*b.Burst/1e6
	return nil
}

// sampleTime is how long it takes to read the state, in memory that is there already.
func sampleTime(e *engine.Engine) (float64, error) {
	var s engine.State
	if err := e.State(&s); err != nil {
		return 0, err
	}
	start := time.Now()
	err := e.State(&s)
	return time.Since(start).Seconds() * 1e6, err
}

// print writes the cost for people.
func (v *cost) print(cmd *cobra.Command) error {
	w := cmd.OutOrStdout()
	fmt.Fprintf(w, "\ncost of %s bursts, measured on this machine (built by the host, without recording):\n\n", count(v.Bursts))
	rows := [][]string{{"backend", "host", "device", "burst (µs)", "in all", "probed"}}
	for _, b := range v.Backends {
		device := "-"
		if b.Device > 0 {
			device = plain.Bytes(b.Device)
		}
		if !b.Available {
			host := "-"
			if b.Host > 0 {
				host = plain.Bytes(b.Host)
			}
			rows = append(rows, []string{b.Backend, host, device, "-", "-", "not available"})
			continue
		}
		rows = append(rows, []string{b.Backend, plain.Bytes(b.Host), device, fmt.Sprintf("%.1f", b.Burst), duration(time.Duration(b.Total * float64(time.Second))), count(b.Probe) + " bursts"})
	}
	if err := table(w, rows); err != nil {
		return err
	}
	for _, b := range v.Backends {
		if b.Sample > 0 {
			fmt.Fprintf(w, "reading all weights once on %s: %s\n", b.Backend, duration(time.Duration(b.Sample*float64(time.Microsecond))))
		}
	}
	for _, b := range v.Backends {
		if b.Path == nil {
			continue
		}
		fmt.Fprintf(w, "\npath on the GPU: %v\n", b.Path)
		for _, not := range b.Path.Not {
			fmt.Fprintf(w, "  not %s\n", not)
		}
	}
	return nil
}
