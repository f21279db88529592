package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"burst/engine"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/record/stats"

	"github.com/stretchr/testify/require"
)

// synapses of each projection that learns in these tests, from 20 sources to 10 targets.
const synapses = 200

// learners are projections that learn, from each area to itself, and what is kept of them.
func learners(areas []manifest.Area) (list []manifest.Learns, s record.Sampling) {
	s.Every = 20
	for i := range areas {
		list = append(list, manifest.Learns{Projection: uint32(3 * i), From: areas[i].Name, To: areas[i].Name, Rule: "stdp", Synapses: synapses, High: 0.25})
		b := record.Bins{Plastic: i, Projection: uint32(3 * i)}
		for k := range 51 {
			b.Edges = append(b.Edges, 0.25*float64(k)/50)
		}
		x := record.Traced{Plastic: i, Projection: uint32(3 * i)}
		for k := range uint64(synapses) {
			x.Places, x.Source, x.Target, x.Delay = append(x.Places, k), append(x.Source, uint32(7*(k/10))), append(x.Target, uint32(k%10)), append(x.Delay, 1)
		}
		s.Histograms, s.Synapses = append(s.Histograms, b), append(s.Synapses, x)
	}
	return list, s
}

// learntBy is a state in which weights, uniform at first, have moved apart: at the end half are 0 and half are 0.25.
func learntBy(projections int, burst, end uint64) *engine.State {
	s := &engine.State{Number: burst}
	for range projections {
		p := engine.Plastic{}
		for k := range synapses {
			goal, share := float32(0), float32(burst)/float32(max(1, end))
			if k >= synapses/2 {
				goal = 0.25
			}
			p.Weight = append(p.Weight, share*goal+(1-share)*0.25*float32(k)/synapses)
		}
		s.Plastic = append(s.Plastic, p)
	}
	return s
}

// TestWeightPictures: the same bytes each time; the histogram ends with all synapses in the outermost bins, where it begins with
// some in every bin; traces and matrix are of the recorded synapses.
func TestWeightPictures(t *testing.T) {
	f := folder(t, network(3), 211, waves)
	for _, format := range Formats() {
		var first [][]byte
		for range 2 {
			list, err := Draw(f, []string{"weights", "weight-traces", "weight-matrix"}, Options{Areas: []string{"area 1 of this"}})
			require.NoError(t, err)
			for i, p := range list {
				data, err := p.Encode(format)
				require.NoError(t, err)
				if len(first) < len(list) {
					first = append(first, data)
				}
				require.Equal(t, first[i], data)
			}
		}
	}
	d, err := newDrawing(f, Options{Areas: []string{"area 1 of this"}})
	require.NoError(t, err)
	list, err := weightCourses(d.span, f.Manifest.Learning, f.Histograms(), func(x *stats.Sample) stats.Sample {
		return stats.Sample{Burst: x.Burst, Synapses: append([]uint64{}, x.Synapses...)}
	})
	require.NoError(t, err)
	require.Len(t, list, 1, "of the areas that are asked for")
	c := list[0]
	require.EqualValues(t, 3, c.Projection)
	require.EqualValues(t, 0, c.samples[0].Burst)
	require.EqualValues(t, 211, c.samples[len(c.samples)-1].Burst)
	img := histogramsOf(c, d.span)
	white := func(x, y int) bool { r, g, b, _ := img.At(x, y).RGBA(); return r+g+b == 3*0xffff }
	for y := range 50 {
		require.False(t, white(0, y), "row %d at the start", y)
	}
	c.samples[len(c.samples)-1].Burst = 200 // seen through the last dots, which are of burst 210
	img = histogramsOf(c, d.span)
	for y := range 50 {
		require.Equal(t, y != 0 && y != 49, white(499, y), "row %d at the end", y)
	}
	m := c.matrix(&stats.Sample{Source: []uint32{4, 9, 9}, Target: []uint32{7, 7, 8}, Weight: []float32{0.25, 0, 0.125}})
	require.Len(t, m, 2)
	require.Equal(t, 1.0, m[0][0])
	require.NotEqual(t, m[0][59], m[0][59], "NaN where there is no synapse")
	require.Equal(t, []float64{0, 0.5}, []float64{m[1][0], m[1][59]})

	pictures, err := Draw(f, []string{"weights"}, Options{})
	require.NoError(t, err)
	data, err := pictures[0].Encode("svg")
	require.NoError(t, err)
	require.Contains(t, string(data), "area 2 of this to area 2 of this, stdp (projections[6])")
	data, err = pictures[0].Encode("png")
	require.NoError(t, err)
	shown, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Greater(t, inked(shown), 50_000)
}

// TestManySamples: a picture holds some of very many samples, the first and the last among them.
func TestManySamples(t *testing.T) {
	var c runfolder.Chunk
	const samples = 10*mostSamples + 7
	for k := range uint64(samples) {
		c.Burst, c.Projection, c.Weight = append(c.Burst, 2*k), append(c.Projection, 0), append(c.Weight, float32(k))
		c.Source, c.Target, c.Delay = append(c.Source, 0), append(c.Target, 0), append(c.Delay, 1)
	}
	s := span{areas: []manifest.Area{{Name: "a", Neurons: 1}}, taken: []bool{true}, until: 2 * samples, timestep: 1}
	list, err := weightCourses(s, []manifest.Learns{{From: "a", To: "a", High: 1}}, func(yield func(runfolder.Chunk, error) bool) { yield(c, nil) }, func(x *stats.Sample) stats.Sample {
		return stats.Sample{Burst: x.Burst, Weight: append([]float32{}, x.Weight...)}
	})
	require.NoError(t, err)
	got := list[0].samples
	require.Less(t, len(got), 2*mostSamples)
	require.GreaterOrEqual(t, len(got), mostSamples)
	require.Zero(t, got[0].Burst)
	require.EqualValues(t, 2*(samples-1), got[len(got)-1].Burst)
	for i := range got[:len(got)-2] {
		require.Equal(t, got[1].Burst, got[i+1].Burst-got[i].Burst)
		require.EqualValues(t, got[i].Burst/2, got[i].Weight[0])
	}
}

// TestWithoutWeights: a run that kept none says what is missing.
func TestWithoutWeights(t *testing.T) {
	f := folder(t, network(1), 20, waves)
	f.Manifest.Files = f.Manifest.Files[:0]
	for name, want := range map[string]string{"weights": "without histograms of weights", "weight-matrix": "without recorded weights of synapses"} {
		_, err := Draw(f, []string{name}, Options{})
		require.ErrorContains(t, err, want)
	}
	var p *Picture
	s := span{areas: network(1), taken: []bool{true}, until: 10, timestep: 1}
	none := func(func(runfolder.Chunk, error) bool) {}
	for i, draw := range []func() (*Picture, error){
		func() (*Picture, error) { return weights(s, nil, none) }, func() (*Picture, error) { return weightTraces(s, nil, none) }, func() (*Picture, error) { return weightMatrix(s, nil, none) },
	} {
		var err error
		p, err = draw()
		require.NoError(t, err)
		text, err := p.Encode("svg")
		require.NoError(t, err, fmt.Sprint(i))
		require.True(t, i == 2 || strings.Contains(string(text), "no weights"))
	}
}

func histogramsOf(c *weightCourse, s span) *image.RGBA {
	img := image.NewRGBA(image.Rect(0, 0, 500, 50))
	c.histograms(s, img)
	return img
}
