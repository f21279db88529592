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

// course runs a genome's text for at most n bursts, shows the state after every so many, and ends where that is enough. It gives the
// last state.
func course(o options, text string, every, n uint64, enough func(*engine.State) bool, recorders ...engine.Recorder) (*engine.State, error) {
	g, err := genome.Parse("course.yaml", []byte(text), nil)
	if err != nil {
		return nil, err
	}
	c, err := connectome.Build(g, connectome.Options{})
	if err != nil {
		return nil, err
	}
	b, err := backend.Open(o.backend, c, backend.Options{})
	if err != nil {
		return nil, err
	}
	defer b.Close()
	e, s := engine.New(c, b, engine.Options{Recorders: recorders}), &engine.State{}
	for at := uint64(0); at < n; at += every {
		if err := e.Run(context.Background(), min(every, n-at)); err != nil {
			return nil, err
		}
		if err := e.State(s); err != nil {
			return nil, err
		}
		if enough(s) {
			break
		}
	}
	return s, nil
}
