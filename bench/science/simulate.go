package main

import (
	"context"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// recorder is a Recorder made of a function.
type recorder func(*engine.Burst) error

// Record calls the function.
func (r recorder) Record(b *engine.Burst) error { return r(b) }

// simulate runs a genome's text for n bursts and hands each burst to each.
func simulate(o options, name string, text []byte, n uint64, each recorder) error {
	g, err := genome.Parse(name, text, nil)
	if err != nil {
		return err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return err
	}
	b, err := backend.Open(o.backend, c, backend.Options{})
	if err != nil {
		return err
	}
	defer b.Close()
	return engine.New(c, b, engine.Options{Recorders: []engine.Recorder{each}}).Run(context.Background(), n)
}
