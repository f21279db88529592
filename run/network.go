package run

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"sync"

	"burst/backend"
	"burst/backend/cuda"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// Network is a network that is built once for several runs that differ only in their run seed (Options.Network). A backend lays out its
// synapses once for all of them. The runs may go on at the same time. The caller closes the Network after its last run.
type Network struct {
	genome     *genome.Genome
	c          *connectome.Connectome
	id, wiring uint64

	mu      sync.Mutex
	first   engine.Backend // has what the others share, and runs nothing
	name    string         // of its backend
	options backend.Options
}

// Build builds the network of g for runs with the options o, whose Threads, MaxBytes and Tell it uses. It has one process and one device.
func Build(ctx context.Context, g *genome.Genome, o Options) (*Network, error) {
	if o.Peers != nil || o.GPUs.All || len(o.GPUs.List) > 1 {
		return nil, errors.New("run: several processes or GPUs build their own part of a network; want one of each for a network of several runs")
	}
	return heed(ctx, func() (*Network, error) {
		var m *cuda.Maker // whose rows come back
		if o.GPUs.Build == OnDevice {
			var err error
			if m, err = o.maker(); err != nil {
				return nil, err
			}
			defer m.Close()
		}
		c, id, wiring, err := o.Peers.build(g, o.building(g, m))
		if err != nil {
			return nil, err
		}
		return &Network{genome: g, c: c, id: id, wiring: wiring}, nil
	}, func(*Network) {})
}

// check refuses a run of another network. A nil Network fits every run.
func (n *Network) check(g *genome.Genome, o *Options) error {
	switch {
	case n == nil:
		return nil
	case o.Peers != nil || o.GPUs.All || len(o.GPUs.List) > 1:
		return errors.New("run: a Network is for one process and one GPU, want neither Peers nor several GPUs")
	case g != n.genome && (g.Seed != n.genome.Seed || g.Text() == nil || !bytes.Equal(g.Text(), n.genome.Text())):
		return errors.New("run: the Network was built of another genome or seed, want the same but for the run seed")
	}
	return nil
}

// open opens a backend for c, the network with a run seed. The first opens what all share. why is what auto says of its choice.
func (n *Network) open(name string, c *connectome.Connectome, o backend.Options) (b engine.Backend, took, why string, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == nil {
		n.name, n.options = name, o
		if name == "auto" {
			n.first, n.name, why, err = backend.Auto(n.c, o)
		} else {
			n.first, err = backend.Open(name, n.c, o)
		}
		if err != nil {
			return nil, n.name, why, err
		}
	}
	if !reflect.DeepEqual(o, n.options) { // what is to be delivered decides how a backend lays things out
		b, err = backend.Open(n.name, c, o)
	} else {
		b, err = backend.Twin(n.name, n.first, c, o)
	}
	return b, n.name, why, err
}

// Close frees what the runs have shared.
func (n *Network) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.first == nil {
		return nil
	}
	err := n.first.Close()
	n.first = nil
	return err
}
