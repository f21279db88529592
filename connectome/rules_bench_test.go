//go:build unix

package connectome

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// ruleBenches are networks of some ten million synapses: a kind of rule, value or shape each.
func ruleBenches() []struct{ name, areas, projections string } {
	const (
		areas = "  - {name: a, neurons: 100000, model: lif}\n"
		fixed = "weight: 0.01 mV, delay: 2 ms"
		sheet = "  - {name: a, size: [316, 316, 1], model: lif, extent: [2370 um, 2370 um, 0 um], periodic: true}\n"
	)
	one := func(keys string) string { return "  - {from: a, to: a, " + keys + "}\n" }
	var small, columns strings.Builder // ten projections to each of a thousand small areas; 64 areas, all onto all
	for i := range 1000 {
		fmt.Fprintf(&small, "  - {name: a%d, neurons: 100, model: lif}\n", i)
	}
	for i := range 64 {
		fmt.Fprintf(&columns, "  - {name: a%d, neurons: 1500, model: lif}\n", i)
	}
	mesh := func(areas, each int, keys string) string {
		var b strings.Builder
		for i := range areas {
			for k := range each {
				fmt.Fprintf(&b, "  - {from: a%d, to: a%d, %s}\n", i, (i+k)%areas, keys)
			}
		}
		return b.String()
	}
	return []struct{ name, areas, projections string }{
		{"outdegree", areas, one("rule: fixed_outdegree, outdegree: 100, " + fixed)},
		{"indegree", areas, one("rule: fixed_indegree, indegree: 100, " + fixed)},
		{"bernoulli", areas, one("rule: pairwise_bernoulli, p: 0.001, " + fixed)},
		{"total", areas, one("rule: fixed_total_number, count: 10000000, " + fixed)},
		{"poisson", areas, one("rule: pairwise_poisson, average: 0.001, " + fixed)},
		{"distance", sheet, one("rule: distance, p: \"0.004*exp(-d/(150 um))\", " + fixed)},
		{"normal", areas, one("rule: fixed_outdegree, outdegree: 100, weight: \"normal(0.01 mV, 0.001 mV)\", delay: 2 ms")},
		{"normal-bernoulli", areas, one("rule: pairwise_bernoulli, p: 0.001, weight: \"normal(0.01 mV, 0.001 mV)\", delay: 2 ms")},
		{"redrawn", areas, one("rule: fixed_outdegree, outdegree: 100, weight: \"normal(0.01 mV, 0.01 mV) >= 0 mV\", delay: 2 ms")},
		{"lognormal", areas, one("rule: fixed_outdegree, outdegree: 100, weight: \"lognormal(0.01 mV, 0.005 mV)\", delay: 2 ms")},
		{"delays", areas, one("rule: fixed_outdegree, outdegree: 100, weight: 0.01 mV, delay: \"uniform(1 ms, 20 ms)\"")},
		{"both-drawn-by-target", areas, one("rule: fixed_indegree, indegree: 100, weight: \"normal(0.01 mV, 0.001 mV)\", delay: \"uniform(1 ms, 20 ms)\"")},
		{"no-self", areas, one("rule: fixed_outdegree, outdegree: 100, autapses: false, " + fixed)},
		{"distinct", areas, one("rule: fixed_outdegree, outdegree: 100, multapses: false, " + fixed)},
		{"distinct-by-target", areas, one("rule: fixed_indegree, indegree: 100, multapses: false, " + fixed)},
		{"distinct-dense", "  - {name: a, neurons: 4000, model: lif}\n", one("rule: fixed_outdegree, outdegree: 3900, multapses: false, " + fixed)},
		{"distinct-dense-by-target", "  - {name: a, neurons: 4000, model: lif}\n", one("rule: fixed_indegree, indegree: 3900, multapses: false, " + fixed)},
		{"distinct-pairs", "  - {name: a, neurons: 4000, model: lif}\n", one("rule: fixed_total_number, count: 14000000, multapses: false, " + fixed)},
		{"rows-of-2", "  - {name: a, neurons: 4000000, model: lif}\n", one("rule: fixed_outdegree, outdegree: 2, " + fixed)},
		{"rows-of-2-by-target", "  - {name: a, neurons: 4000000, model: lif}\n", one("rule: fixed_indegree, indegree: 2, " + fixed)},
		{"rows-of-million", "  - {name: a, neurons: 1000000, model: lif}\n  - {name: b, neurons: 10, model: lif}\n", "  - {from: b, to: a, rule: fixed_outdegree, outdegree: 1000000, " + fixed + "}\n"},
		{"one-target", areas + "  - {name: b, neurons: 1, model: lif}\n", "  - {from: a, to: b, rule: fixed_outdegree, outdegree: 100, weight: 0.001 mV, delay: 2 ms}\n"},
		{"one-target-by-target", areas + "  - {name: b, neurons: 1, model: lif}\n", "  - {from: a, to: b, rule: fixed_indegree, indegree: 10000000, weight: 0.001 mV, delay: 2 ms}\n"},
		{"small-projections", small.String(), mesh(1000, 10, "rule: fixed_indegree, indegree: 10, "+fixed)},
		{"mesh", columns.String(), mesh(64, 64, "rule: fixed_indegree, indegree: 2, "+fixed)},
		{"mesh-total", columns.String(), mesh(64, 64, "rule: fixed_total_number, count: 3000, weight: \"normal(0.01 mV, 0.001 mV)\", delay: \"normal(2 ms, 1 ms) >= 1 ms\"")},
	}
}

// BenchmarkRules is the processor time of a synapse, user and system, of whole builds.
func BenchmarkRules(b *testing.B) {
	for _, c := range ruleBenches() {
		b.Run(c.name, func(b *testing.B) {
			g, err := genome.Parse("net.yaml", []byte("burst: v1\nareas:\n"+c.areas+"projections:\n"+c.projections), nil)
			require.NoError(b, err)
			var before, after syscall.Rusage
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
			synapses := uint64(0)
			for b.Loop() {
				c, err := Build(g, Options{})
				require.NoError(b, err)
				synapses += c.Synapses()
			}
			require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
			b.ReportMetric(float64(after.Utime.Nano()+after.Stime.Nano()-before.Utime.Nano()-before.Stime.Nano())/float64(synapses), "cpu-ns/synapse")
		})
	}
}
