package bench

import (
	"testing"

	"burst/backend"

	"github.com/stretchr/testify/require"
)

// TestGridTexts: the genomes of the grid are such.
func TestGridTexts(t *testing.T) {
	for _, n := range grid() {
		g, err := parse(Workload{Name: n.name})
		require.NoError(t, err, n.name)
		require.Equal(t, n.name, g.Name)
		require.Positive(t, n.workload().Bursts)
	}
}

// TestGridFires wants the spikes that a name says, within a fifth: inputs hardly change the period, whole bursts do.
func TestGridFires(t *testing.T) {
	for name, spikes := range map[string]float64{"grid-2000-100-delay-1to20-every-100": 20, "grid-2000-1000-delay-15-every-5": 400} {
		r, err := Run(Workload{Name: name, Warm: 50, Bursts: 200}, "cpu", backend.Options{Threads: 1})
		require.NoError(t, err)
		require.InDelta(t, spikes, r.SpikesPerBurst, spikes/5, name)
	}
}
