package bench

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTally: counts are those of all spikes, where the blocks hold them and where they hold a small part.
func TestTally(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	out := make([]synapses, 100)
	for i := range out {
		out[i] = synapses{all: r.Uint32N(1000), plastic: r.Uint32N(10)}
	}
	for _, most := range []int{2, 3, 1000} {
		for _, bursts := range []int{0, 1, 300} {
			tally := newTally(out, bursts, 11, 8, most)
			var spikes, all, plastic uint64
			for range bursts {
				fired := make([]uint32, r.IntN(30))
				for k := range fired {
					fired[k] = r.Uint32N(100)
					all += uint64(out[fired[k]].all)
					plastic += uint64(out[fired[k]].plastic)
				}
				spikes += uint64(len(fired))
				tally.add(fired)
			}
			for range 2 {
				foundAll, foundPlastic := tally.finish()
				require.Equal(t, [3]uint64{spikes, all, plastic}, [3]uint64{tally.spikes, foundAll, foundPlastic})
			}
			require.LessOrEqual(t, cap(tally.free), most)
		}
	}
	require.Equal(t, 25+2, cap(newTally(out, 20, 80, 80, 1000).free), "a quarter more, and two")
	for _, each := range []int{1, 7, 1 << 20, 1 << 30} {
		require.Equal(t, 5, cap(newTally(out, math.MaxInt, each, 8, 5).free))
	}
}
