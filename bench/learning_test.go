package bench

import (
	"testing"

	"burst/backend"
	"burst/internal/slow"

	"github.com/stretchr/testify/require"
)

// TestLearningNetworks: the suite's networks fire alike, so that their times compare, and only one of them learns.
func TestLearningNetworks(t *testing.T) {
	slow.Test(t)
	w, err := Select("learning", nil)
	require.NoError(t, err)
	require.Len(t, w, 3)
	results := map[string]Result{}
	for _, w := range w {
		w.Warm, w.Bursts = 3, 150
		r, err := Run(w, "cpu", backend.Options{Threads: 2})
		require.NoError(t, err)
		results[w.Name] = r
	}
	static, plastic, silent := results["burst-100k"], results["learning-100k"], results["learning-100k-silent"]
	require.Equal(t, static.Spikes, silent.Spikes)
	require.Equal(t, static.EventsPerBurst, silent.EventsPerBurst)
	require.InEpsilon(t, static.Spikes, plastic.Spikes, 1e-3)
	require.InEpsilon(t, static.EventsPerBurst, plastic.EventsPerBurst, 1e-3)
	require.EqualValues(t, []uint64{10_000_000, 10_000_000, 20_000_000}, []uint64{static.Synapses, plastic.Synapses, silent.Synapses})
	require.Empty(t, static.Weights)
	require.NotEqual(t, plastic.Weights, startWeights(t, "learning-100k"))
	require.Equal(t, silent.Weights, startWeights(t, "learning-100k-silent"))
}

func startWeights(t *testing.T, name string) string {
	r, err := Run(Workload{Name: name, Bursts: 1}, "cpu", backend.Options{Threads: 2})
	require.NoError(t, err)
	return r.Weights
}

// TestBalancedNetworks: the smallest one computes the same by plain code, and what learns is what should.
func TestBalancedNetworks(t *testing.T) {
	slow.Test(t)
	w := Workload{Name: "hpc-benchmark-small", Bursts: 40}
	want, err := Run(w, "reference", backend.Options{})
	require.NoError(t, err)
	got, err := Run(w, "cpu", backend.Options{Threads: 2})
	require.NoError(t, err)
	require.Equal(t, []string{want.State, want.Weights}, []string{got.State, got.Weights})
	require.Positive(t, got.PlasticEvents)
	for name, plastic := range map[string]float64{"hpc-benchmark-1": 81e6, "hpc-benchmark-20": 1.62e9, "morrison-2007": 810e6} {
		g, err := parse(Workload{Name: name})
		require.NoError(t, err)
		p := g.Projections[0]
		require.NotNil(t, p.Learning)
		require.Equal(t, plastic, float64(p.Indegree)*float64(g.Areas[0].Neurons()), name)
	}
}
