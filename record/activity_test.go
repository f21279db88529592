package record

import (
	"testing"

	"burst/connectome"
	"burst/engine"

	"github.com/stretchr/testify/require"
)

func twoAreas() *connectome.Connectome {
	return &connectome.Connectome{Neurons: 75, Areas: []connectome.Area{
		{Name: "a", Neurons: connectome.Span{Count: 70}}, {Name: "none"}, {Name: "b", Neurons: connectome.Span{First: 70, Count: 5}},
	}}
}

func TestActivityCountsByArea(t *testing.T) {
	a := NewActivity(twoAreas())
	for burst, fired := range [][]uint32{{0, 69, 70}, {}, {69, 74}} {
		require.NoError(t, a.Record(&engine.Burst{Number: uint64(burst), Fired: fired}))
	}
	require.EqualValues(t, 3, a.Spikes(0))
	require.EqualValues(t, 0, a.Spikes(1))
	require.EqualValues(t, 2, a.Spikes(2))
	require.EqualValues(t, 2, a.Active(0))
	require.EqualValues(t, 2, a.Active(2))
	require.Equal(t, []float64{2, 0, 1}, a.Course(0, 60))
	require.Equal(t, []float64{1, 0.5}, a.Course(2, 2), "one bin of one burst, one of two")
}

// TestActivityMergesBins checks runs around the lengths at which bins merge: nothing is lost, and means stay means.
func TestActivityMergesBins(t *testing.T) {
	for _, bursts := range []int{1, maxBins - 1, maxBins, maxBins + 1, 2*maxBins + 1, 4*maxBins + 3, 10_007} {
		a := NewActivity(twoAreas())
		for range bursts {
			require.NoError(t, a.Record(&engine.Burst{Fired: []uint32{3, 71, 72}}))
		}
		require.EqualValues(t, bursts, a.Bursts())
		require.EqualValues(t, 2*bursts, a.Spikes(2))
		require.LessOrEqual(t, len(a.bins[0]), maxBins)
		for _, mean := range a.Course(2, 60) {
			require.Equal(t, 2.0, mean, "%d bursts", bursts)
		}
	}
}
