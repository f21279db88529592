package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"burst/backend/cpu/internal/vector"
	"burst/backend/reference"
	"burst/connectome"
	"burst/engine"
	"burst/engine/enginetest"
	"burst/internal/split"
)

// Listed spikes come from windows of bursts: over their edges, from any burst on that a state sets, in threads and in parts.
func TestSpikesOverWindows(t *testing.T) {
	const neurons, bursts, edge = 700, 800, 175 // windows are about as long as a worker has neurons
	r := rand.New(rand.NewPCG(4, 4))
	lists := make([][]uint64, neurons)
	for i := range lists {
		for b := range uint64(bursts + 100) {
			if r.IntN(40) == 0 || b%edge < 2 && r.IntN(3) == 0 {
				lists[i] = append(lists[i], b)
			}
		}
		lists[i] = append(lists[i], 1<<40+uint64(i%5))
	}
	c := enginetest.Net{Areas: []connectome.Area{enginetest.SpikeList(lists...), enginetest.SpikeList(lists[:3]...)}}.Build()
	whole := open(c, engine.Want{}, 3, vector.Best())
	defer whole.Close()
	first, until := spikesWithin(&c.Areas[0].Spikes)
	require.EqualValues(t, 175, windowOf(&c.Areas[0].Spikes, edge, first, until))
	parts, err := split.Local([]*connectome.Connectome{c.Cut(connectome.Part{Index: 0, Of: 2}), c.Cut(connectome.Part{Index: 1, Of: 2})}, engine.Want{},
		func(c *connectome.Connectome, w engine.Want) (split.Part, error) {
			return open(c, w, 2, vector.Best()), nil
		})
	require.NoError(t, err)
	defer parts.Close()
	oracle, err := reference.Open(c, engine.Want{})
	require.NoError(t, err)
	for _, from := range []struct{ burst, bursts uint64 }{{0, bursts}, {edge - 1, 300}, {5, 1}, {5 + edge, 10}, {0, 3}, {1<<40 - 1, 7}} {
		s := engine.NewState(c)
		s.Number = from.burst
		fired := 0
		for _, b := range []engine.Backend{whole, parts} {
			require.NoError(t, b.WriteState(s))
			require.NoError(t, oracle.WriteState(s))
			var got, want engine.Burst
			for k := range from.bursts {
				require.NoError(t, oracle.Step(nil, &want))
				require.NoError(t, b.Step(nil, &got))
				require.True(t, slices.Equal(want.Fired, got.Fired), "burst %d from %d: %d fired, want %d", from.burst+k, from.burst, len(got.Fired), len(want.Fired))
				fired += len(got.Fired)
			}
		}
		require.NotZero(t, fired)
	}
}

// Neurons are not looked through for spikes once none are to come; a state from before the last spike has it again.
func TestSpentSpikesAreNotLookedFor(t *testing.T) {
	c := enginetest.Net{Areas: []connectome.Area{enginetest.SpikeList([]uint64{}, []uint64{}), enginetest.SpikeList([]uint64{3, 40}, []uint64{40})}}.Build()
	b := open(c, engine.Want{}, 1, vector.Best())
	defer b.Close()
	var out engine.Burst
	for range 2 {
		require.NoError(t, b.WriteState(engine.NewState(c)))
		fired := 0
		for range 200 {
			require.NoError(t, b.Step(nil, &out))
			fired += len(out.Fired)
		}
		require.Equal(t, 3, fired)
	}
	silent, spent := b.workers[0].groups[0].trains, b.workers[0].groups[1].trains
	require.False(t, silent.begun, "nobody has a spike")
	require.EqualValues(t, 41, spent.until)
	require.Less(t, spent.from, spent.until)
}
