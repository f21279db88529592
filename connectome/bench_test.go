package connectome

import (
	"testing"

	"burst/genome"
)

// BenchmarkBuild makes whole networks from a fresh start; a build is one iteration.
func BenchmarkBuild(b *testing.B) {
	million := func(rule genome.Rule) *genome.Genome {
		return network(1, areaOf("lif", 1_000_000)).join(genome.Projection{
			Rule: rule, Indegree: 100, Outdegree: 100, Count: 100_000_000,
			Weight: constant(0.1), Delay: constant(1),
		})
	}
	cases := []struct {
		name string
		g    *genome.Genome
	}{
		{"1M×100-outdegree", million(genome.FixedOutdegree)},
		{"1M×100-indegree", million(genome.FixedIndegree)},
		{"1M×100-total", million(genome.FixedTotalNumber)},
		{"brunel", brunel()},
		{"normal-16M", normal(10_000, 16_000_000)},
		{"distance", local(genome.Projection{Rule: genome.DistanceRule, Kernel: kernelOf("0.4*exp(-d/(150 um))")})},
		{"near-indegree", local(genome.Projection{Rule: genome.FixedIndegree, Indegree: 1000, Kernel: kernelOf("exp(-d*d/(2*(150 um)*(150 um)))")})},
	}
	for _, c := range cases {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				n, err := Build(c.g, Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(n.Synapses()), "synapses")
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/build")
		})
	}
}

// local is a periodic sheet of 99,856 neurons, 7.5 um apart, each with about 1,000 synapses onto near ones.
func local(p genome.Projection) *genome.Genome {
	p.Weight, p.Delay = constant(0.1), constant(1)
	a := sheet(316, 316, 1, true)
	a.Space.Extent = [3]float64{2370, 2370, 0}
	return network(0.1, a).join(p)
}

// brunel is model A of Brunel 2000: 12,500 neurons, 1,000 + 250 synapses onto each, 1.5 ms.
func brunel() *genome.Genome {
	g := network(0.1, areaOf("lif", 10_000), areaOf("lif", 2_500))
	for _, pair := range [][2]int{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		p := genome.Projection{From: pair[0], To: pair[1], Rule: genome.FixedIndegree, Indegree: 1000, Weight: constant(0.1), Delay: constant(15)}
		if pair[0] == 1 {
			p.Indegree, p.Weight = 250, constant(-0.3)
		}
		g.join(p)
	}
	return g.Genome
}

// BenchmarkCortexBuild makes as many neurons and synapses as the full cortical circuit of Potjans and Diesmann (2014)
// has; it takes a minute and 3 GiB, and is named so that -bench ^BenchmarkBuild leaves it out.
func BenchmarkCortexBuild(b *testing.B) {
	g := normal(77_169, 298_880_968)
	for b.Loop() {
		n, err := Build(g, Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n.Synapses()), "synapses")
	}
}

// normal is n synapses with normal weights and delays between random neurons.
func normal(neurons, n uint64) *genome.Genome {
	return network(0.1, areaOf("lif", neurons)).join(genome.Projection{
		Rule: genome.FixedTotalNumber, Count: n,
		Weight: atLeastValue(genome.Normal, 87.8, 8.78, 0), Delay: atLeastValue(genome.Normal, 15, 7.5, 1),
	})
}

// BenchmarkParts makes a million neurons with a hundred synapses each in four parts, one after the other.
func BenchmarkParts(b *testing.B) {
	g := network(1, areaOf("lif", 1_000_000)).join(genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 100, Weight: constant(0.1), Delay: constant(1)})
	for b.Loop() {
		s, err := NewParts(g, 4, Options{})
		if err != nil {
			b.Fatal(err)
		}
		synapses := uint64(0)
		err = s.Each(func(c *Connectome) error {
			synapses += c.Synapses()
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(synapses), "synapses")
	}
}

// BenchmarkHash names a network of 20 million synapses.
func BenchmarkHash(b *testing.B) {
	c := build(b, network(1, areaOf("lif", 200_000)).join(genome.Projection{Rule: genome.FixedOutdegree, Outdegree: 100, Weight: constant(0.1), Delay: constant(1)}))
	sum := uint64(0)
	for b.Loop() {
		sum += c.Hash()
	}
	b.ReportMetric(float64(sum&1), "parity")
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(c.Synapses())*1e9, "ns/synapse")
}
