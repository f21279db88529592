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
