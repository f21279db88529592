package bench

import (
	"time"

	"burst/backend"
	"burst/connectome"
	"burst/engine"
	"burst/genome"
)

// network is one that is built and opened.
type network struct {
	c           *connectome.Connectome // on several devices without its synapses
	b           engine.Backend
	out         []synapses // from each neuron
	build, open time.Duration
}

// synapses counts those of a neuron.
type synapses struct{ all, plastic uint32 }

// openNetwork builds g and opens it, on several devices part by part.
func openNetwork(name string, g *genome.Genome, o backend.Options) (*network, error) {
	if len(o.Devices) > 1 {
		return openParts(g, o)
	}
	start := time.Now()
	c, err := connectome.Build(g, connectome.Options{Threads: o.Threads})
	if err != nil {
		return nil, err
	}
	n := &network{c: c, out: make([]synapses, c.Neurons), build: time.Since(start)}
	countRows(n.out, c)
	start = time.Now()
	n.b, err = backend.Open(name, c, o)
	n.open = time.Since(start)
	return n, err
}

// openParts gives each device its part, of which the host builds one after the other.
func openParts(g *genome.Genome, o backend.Options) (*network, error) {
	start := time.Now()
	parts, err := connectome.NewParts(g, len(o.Devices), connectome.Options{Threads: o.Threads})
	if err != nil {
		return nil, err
	}
	n := &network{out: make([]synapses, parts.Head().Neurons)}
	n.b, n.c, err = backend.OpenParts(&counted{parts, n.out}, o)
	n.build = parts.Took()
	n.open = time.Since(start) - n.build
	return n, err
}

// counted counts the rows of the parts that pass by.
type counted struct {
	*connectome.Parts
	out []synapses
}

// Each counts each part.
func (p *counted) Each(use func(*connectome.Connectome) error) error {
	return p.Parts.Each(func(c *connectome.Connectome) error {
		countRows(p.out, c)
		return use(c)
	})
}

func countRows(out []synapses, c *connectome.Connectome) {
	for n := range out {
		out[n].all += uint32(c.Row[n+1] - c.Row[n])
	}
	if d := c.Driven; d != nil {
		for n := range out {
			out[n].all += uint32(d.Row[n+1] - d.Row[n])
		}
	}
	for i := range c.Plastic {
		p := &c.Plastic[i]
		for n := range p.From.Count {
			count := uint32(p.Row[n+1] - p.Row[n])
			out[p.From.First+n].all += count
			out[p.From.First+n].plastic += count
		}
	}
}
