//go:build unix

package connectome

import (
	"syscall"
	"testing"

	"burst/genome"

	"github.com/stretchr/testify/require"
)

// BenchmarkRules is the processor time of a synapse by rule: 100,000 neurons with a hundred synapses each, as near as the rule can.
func BenchmarkRules(b *testing.B) {
	for rule, keys := range map[string]string{
		"fixed_outdegree": "outdegree: 100", "fixed_indegree": "indegree: 100", "pairwise_bernoulli": "p: 0.001", "fixed_total_number": "count: 10000000",
	} {
		g, err := genome.Parse("net.yaml", []byte("burst: v1\nareas:\n  - {name: a, neurons: 100000, model: lif}\nprojections:\n  - {from: a, to: a, rule: "+rule+", "+keys+", weight: 0.01 mV, delay: 2 ms}\n"), nil)
		require.NoError(b, err)
		b.Run(rule, func(b *testing.B) {
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
