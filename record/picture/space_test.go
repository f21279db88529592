package picture

import (
	"image"
	"image/color"
	"iter"
	"math"
	"testing"

	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// one is a recording of one chunk.
func one(c runfolder.Chunk) iter.Seq2[runfolder.Chunk, error] {
	return func(yield func(runfolder.Chunk, error) bool) { yield(c, nil) }
}

// slab is an area seen along x: cells of two neurons in each of two layers; those of its last voxel are not recorded, nor is a cell's half.
func slab() manifest.Area {
	return manifest.Area{
		Name: "slab", First: 10, Neurons: 128, Model: "lif", Size: [3]uint32{2, 8, 4}, PerVoxel: 2, Recorded: 126,
		Space: &manifest.Space{Extent: [3]float64{10, 400, 200}, Center: [3]float64{0, 0, 50}},
	}
}

// A sheet is seen along its shortest axis: a spike counts in its frame and in the cell of its voxel, and the rate is that of recorded neurons.
func TestSheets(t *testing.T) {
	a := slab()
	s := newSheet(&a, 3)
	require.Equal(t, [4]int{1, 2, 8, 4}, [4]int{s.across, s.up, s.columns, s.rows})
	neuron := func(x, y, z, k uint32) uint32 { return a.First + ((x*8+y)*4+z)*2 + k }
	f := frames{100, 10, 3}
	for k, start := range []uint64{100, 104, 107, 110} {
		require.Equal(t, start, f.start(k))
	}
	for burst, frame := range []int{0, 0, 0, 0, 1, 1, 1, 2, 2, 2} {
		require.Equal(t, frame, f.of(100+uint64(burst)))
	}
	for _, id := range []uint32{neuron(0, 7, 0, 0), neuron(1, 7, 0, 1)} {
		require.Equal(t, 7, s.cell(id-a.First))
		s.spikes[1][s.cell(id-a.First)]++
	}
	hz := s.rates(1, 0.002)
	require.Equal(t, 250.0, hz[7], "two spikes of four neurons in 2 ms")
	require.Equal(t, uint32(2), s.neurons[3*8+7], "those of the last voxel are not recorded")
	require.Equal(t, 0.0, s.rates(0, 0.002)[7])
	s.neurons[0] = 0
	hz = s.rates(1, 0.002)
	require.True(t, math.IsNaN(hz[0]))
	img := image.NewRGBA(image.Rect(0, 0, 16, 8))
	s.paint(img, hz, 250, newScale())
	require.Equal(t, color.RGBA{0x08, 0x1D, 0x58, 0xFF}, img.At(15, 7), "the largest y to the right, the least z below")
	require.Equal(t, color.RGBA{0xDD, 0xDD, 0xDD, 0xFF}, img.At(0, 7))
	require.Equal(t, color.RGBA{0xFF, 0xFF, 0xD9, 0xFF}, img.At(15, 0))
}

// Long axes share cells, so that each has as many voxels as others, but for one.
func TestSheetsMerge(t *testing.T) {
	a := manifest.Area{Name: "wide", Neurons: 200 * 3, Recorded: 600, Size: [3]uint32{200, 3, 1}, PerVoxel: 1, Space: &manifest.Space{Extent: [3]float64{200, 3, 0}}}
	s := newSheet(&a, 1)
	require.Equal(t, [2]int{96, 3}, [2]int{s.columns, s.rows})
	sum := uint32(0)
	for _, n := range s.neurons {
		require.True(t, n == 2 || n == 3)
		sum += n
	}
	require.EqualValues(t, 600, sum)
}

// The map draws areas with positions whose spikes are recorded, four at most, and has at most a frame a burst.
func TestMap(t *testing.T) {
	bare := manifest.Area{Name: "bare", Neurons: 10, Recorded: 10, Size: [3]uint32{10, 1, 1}, PerVoxel: 1}
	ring := manifest.Area{Name: "ring", First: 138, Neurons: 5, Recorded: 5, Size: [3]uint32{1, 1, 5}, PerVoxel: 1, Space: &manifest.Space{Extent: [3]float64{0, 0, 10}}}
	s := span{areas: []manifest.Area{bare, slab(), ring}, taken: []bool{true, true, true}, from: 5, until: 9, timestep: 1, title: "sheets"}
	rows := runfolder.Chunk{Burst: []uint64{5, 5, 8}, Neuron: []uint32{3, 11, 140}, Area: []uint32{0, 1, 2}}
	p, err := activityMap(s, 8, one(rows))
	require.NoError(t, err)
	text, err := p.Encode("svg")
	require.NoError(t, err)
	for _, words := range []string{">slab, 5 to 6 ms<", ">8 to 9 ms<", ">ring, 5 to 6 ms<", ">y (µm)<", ">z (µm)<", ">rate (Hz)<"} {
		require.Contains(t, string(text), words)
	}
	require.NotContains(t, string(text), "bare")
	s.taken = []bool{true, false, false}
	p, err = activityMap(s, 8, one(rows))
	require.NoError(t, err)
	text, err = p.Encode("svg")
	require.NoError(t, err)
	require.Contains(t, string(text), "no recorded area with positions")
	require.Equal(t, "position (µm)", axisName("x (µm)", 1))
	require.Equal(t, 1.0, topRate(nil))
	require.Equal(t, 3.0, topRate([][]float64{{0, math.NaN()}, {3, 2}}))
}

// Areas whose positions a file has are cut into cells, so that each neuron counts where it lies.
func TestSheetOfPositions(t *testing.T) {
	places := [][3]float64{{-10, 0, 5}, {10, 0, 25}, {9.9, 0, 24}, {0, 0, 5}}
	a := manifest.Area{Name: "a", First: 3, Neurons: 4, Recorded: 4, Size: [3]uint32{4, 1, 1}, PerVoxel: 1,
		Space: &manifest.Space{Extent: [3]float64{20, 0, 20}, Center: [3]float64{0, 0, 15}, Each: places}}
	s := newSheet(&a, 1)
	require.Equal(t, []int{2, 2}, []int{s.columns, s.rows})
	require.Equal(t, []uint32{1, 1, 0, 2}, s.neurons)
	require.Equal(t, places[2], a.At(2))
}
