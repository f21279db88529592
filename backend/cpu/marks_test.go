package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
)

// TestMarksFollowWhatIsDue has bursts of many stimuli, of many spikes that arrive, and of neither by turns: each is marked or not by what
// it has itself, not by what the burst before had.
func TestMarksFollowWhatIsDue(t *testing.T) {
	const neurons, loud = 20_000, 1_000
	a := enginetest.Of("lif_event", neurons)
	a.Constant("threshold").Const = 20
	n := enginetest.Net{Areas: []connectome.Area{a}}
	for i := range uint32(neurons) {
		for k := range uint32(10) {
			n.Synapses = append(n.Synapses, enginetest.Synapse{From: i, To: (7*i + 1_999*k) % neurons, Weight: 1})
		}
	}
	c := n.Build()
	for _, workers := range []int{1, 3} {
		b := open(c, engine.Want{}, workers, vector.Best())
		oracle, err := reference.Open(c, engine.Want{})
		require.NoError(t, err)
		var out, want engine.Burst
		for i := range 12 {
			var in []engine.Stimulus
			if i%3 == 0 {
				for k := range uint32(loud) {
					in = append(in, engine.Stimulus{Port: neurons/loud*k + uint32(i), Amount: 30_000})
				}
			}
			require.NoError(t, b.Step(in, &out))
			require.NoError(t, oracle.Step(in, &want))
			require.Nil(t, engine.CompareBursts(&want, &out))
			for k, w := range b.workers {
				require.Equal(t, i%3 == 2, w.marking, "burst %d, worker %d of %d", i, k, workers)
			}
		}
		require.NoError(t, b.Close())
		require.NoError(t, oracle.Close())
	}
}
