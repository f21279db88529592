package picture

import (
	"testing"

	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// TestRanges: the raster and the rates of neurons recorded in ranges are those of a network that has no others.
func TestRanges(t *testing.T) {
	parts := []manifest.Area{
		{Name: "a", Neurons: 10, Recorded: 3, RecordedSpans: []manifest.Span{{First: 4, Neurons: 2}, {First: 8, Neurons: 1}}},
		{Name: "b", First: 10, Neurons: 5, Recorded: 2, RecordedSpans: []manifest.Span{{First: 13, Neurons: 2}}},
	}
	alone := []manifest.Area{{Name: "a", Neurons: 3, Recorded: 3}, {Name: "b", First: 3, Neurons: 2, Recorded: 2}}
	drawn := func(areas []manifest.Area, neurons ...uint32) ([]uint32, [][]float64) {
		s := span{areas: areas, taken: []bool{true, true}, until: 5, timestep: 1}
		c := runfolder.Chunk{Burst: []uint64{0, 1, 1, 3, 4}, Neuron: neurons, Area: []uint32{0, 0, 0, 1, 1}}
		bands, _ := layBands(s)
		place(bands, 100)
		r := Raster{span: s, grid: newGrid(s, bands, 20, 100)}
		r.Add(&c)
		require.EqualValues(t, 5, r.grid.spikes.Load())
		rates, err := spikeCourse(s, func(yield func(runfolder.Chunk, error) bool) { yield(c, nil) })
		require.NoError(t, err)
		return r.grid.counts, rates.hz
	}
	dots, hz := drawn(parts, 4, 5, 8, 14, 13)
	wantDots, wantHz := drawn(alone, 0, 1, 2, 4, 3)
	require.Equal(t, wantDots, dots)
	require.Equal(t, wantHz, hz)
}
