package connectome

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/genome"
)

// net is a genome under construction.
type net struct{ *genome.Genome }

// network has one area after the other, scale 1000 and an ugly seed.
func network(timestep float64, areas ...genome.Area) net {
	g := &genome.Genome{Name: "test", Seed: 0x9d2c5680_1a7, RunSeed: 3, Timestep: timestep, Scale: 1000}
	for i, a := range areas {
		a.Name = fmt.Sprintf("A%d", i)
		g.Areas = append(g.Areas, a)
	}
	return net{g}
}

// join adds projections; their zero ends join the first area to itself.
func (n net) join(list ...genome.Projection) *genome.Genome {
	for _, p := range list {
		if p.Delay.Kind == genome.Const && p.Delay.A == 0 {
			p.Delay = constant(1)
		}
		n.Projections = append(n.Projections, p)
	}
	return n.Genome
}

func areaOf(model string, neurons uint64) genome.Area { return block(model, neurons, 1, 1, 1) }

func block(model string, x, y, z, each uint64) genome.Area {
	a := genome.Area{Size: [3]uint64{x, y, z}, PerVoxel: each, Params: map[string]float64{}}
	for _, m := range genome.Models() {
		if m.Name != model {
			continue
		}
		a.Model = m
		for _, p := range m.Params {
			a.Params[p.Name] = p.Default
		}
	}
	return a
}

func constant(x float64) genome.Value {
	return genome.Value{A: x, Lo: math.Inf(-1), Hi: math.Inf(1)}
}

func value(kind genome.ValueKind, a, b float64) genome.Value {
	return genome.Value{Kind: kind, A: a, B: b, Lo: math.Inf(-1), Hi: math.Inf(1)}
}

func atLeastValue(kind genome.ValueKind, a, b, lo float64) genome.Value {
	v := value(kind, a, b)
	v.Lo = lo
	return v
}

func build(t testing.TB, g *genome.Genome) *Connectome {
	t.Helper()
	c, err := Build(g, Options{})
	require.NoError(t, err)
	return c
}

// pairs are the (source, target) of all synapses, in row order.
func pairs(c *Connectome) [][2]uint32 {
	var list [][2]uint32
	for n := range c.Neurons {
		for k := c.Row[n]; k < c.Row[n+1]; k++ {
			list = append(list, [2]uint32{n, c.Target[k]})
		}
	}
	return list
}
