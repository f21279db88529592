package bench

import (
	"context"
	"fmt"
	"time"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genomes"
)

// Proof is an example run on some devices.
type Proof struct {
	Name    string  `json:"name"`
	Devices []int   `json:"devices"`
	Bursts  uint64  `json:"bursts"`
	Spikes  uint64  `json:"spikes"`
	Digest  string  `json:"digest"`
	Equal   bool    `json:"equal"` // to the example's digest
	Total   float64 `json:"total_s"`
}

// Prove runs examples as often as there are numbers of devices, and holds each run to the digest that is law.
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
		c, err := Build(Workload{Name: example}, 0)
		if err != nil {
			return err
		}
		for _, k := range counts(devices) {
			p := Proof{Name: example, Devices: devices[:k], Bursts: want.Bursts}
			if err := p.run(name, c, want); err != nil {
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
	c, err := Build(Workload{Name: "quickstart"}, 0)
	if err != nil {
		return nil, err
	}
	return backend.Open(name, c, backend.Options{Devices: devices})
}

// run opens the devices and runs the example.
func (p *Proof) run(name string, c *connectome.Connectome, want genomes.Expected) error {
	start := time.Now()
	b, err := backend.Open(name, c, backend.Options{Devices: p.Devices})
	if err != nil {
		return err
	}
	defer b.Close()
	e := engine.New(c, b, engine.Options{})
	if err := e.Run(context.Background(), p.Bursts); err != nil {
		return err
	}
	p.Spikes, p.Digest, p.Total = e.Spikes(), fmt.Sprintf("%016x", e.Digest()), time.Since(start).Seconds()
	p.Equal = e.Digest() == want.Digest && e.Spikes() == want.Spikes
	return nil
}
