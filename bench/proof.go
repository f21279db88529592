package bench

import (
	"context"
	"fmt"
	"time"

	"burst/backend"
	"burst/engine"
	"burst/genome"
	"burst/genomes"
)

// Proof is an example run on some devices.
type Proof struct {
	Name    string  `json:"name"`
	Devices []int   `json:"devices"`
	Bursts  uint64  `json:"bursts"`
	Spikes  uint64  `json:"spikes"`
	Digest  string  `json:"digest"`
	Network string  `json:"connectome"` // its hash: digests of networks in which nothing fires are the same
	Equal   bool    `json:"equal"`      // to the example's digest
	Total   float64 `json:"total_s"`
}

// Prove runs examples as often as there are numbers of devices, those that learn on one, which several cannot share, and holds each run
// to the digests that are law.
func Prove(name string, examples []string, devices []int, each func(Proof)) error {
	held, err := hold(name, devices)
	if err != nil {
		return err
	}
	defer held.Close()
	for _, example := range examples {
		want, err := genomes.Expect(example)
		if err != nil {
			return err
		}
		g, err := parse(Workload{Name: example})
		if err != nil {
			return err
		}
		for _, k := range counts(devices) {
			if want.Weights != 0 && k > 1 {
				break
			}
			p := Proof{Name: example, Devices: devices[:k], Bursts: want.Bursts}
			if err := p.run(name, g, want); err != nil {
				return err
			}
			each(p)
			if !p.Equal {
				return fmt.Errorf("%s on devices %v: digest %s, want %016x", example, p.Devices, p.Digest, want.Digest)
			}
		}
	}
	return nil
}

// hold keeps the devices' contexts alive, which take longer to make than most examples to run.
func hold(name string, devices []int) (engine.Backend, error) {
	g, err := parse(Workload{Name: "quickstart"})
	if err != nil {
		return nil, err
	}
	n, err := openNetwork(name, g, backend.Options{Devices: devices})
	if err != nil {
		return nil, err
	}
	return n.b, nil
}

// run builds and opens the network and runs the example.
func (p *Proof) run(name string, g *genome.Genome, want genomes.Expected) error {
	start := time.Now()
	n, err := openNetwork(name, g, backend.Options{Devices: p.Devices})
	if err != nil {
		return err
	}
	defer n.b.Close()
	e := engine.New(n.c, n.b, engine.Options{})
	if err := e.Run(context.Background(), p.Bursts); err != nil {
		return err
	}
	p.Spikes, p.Digest, p.Total = e.Spikes(), fmt.Sprintf("%016x", e.Digest()), time.Since(start).Seconds()
	p.Network = fmt.Sprintf("%016x", n.c.Hash())
	var s engine.State
	if err := e.State(&s); err != nil {
		return err
	}
	p.Equal = e.Digest() == want.Digest && e.Spikes() == want.Spikes && s.WeightDigest() == want.Weights
	return nil
}
