package picture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"path/filepath"
	"testing"

	"burst/connectome"
	"burst/engine"
	"burst/record"
	"burst/record/manifest"
	"burst/record/runfolder"

	"github.com/stretchr/testify/require"
)

// firing makes a run of bursts in which those neurons fire, of two areas of 100 neurons; kept are recorded.
func firing(t *testing.T, bursts uint64, kept []connectome.Span, fires func(burst uint64) []uint32) *runfolder.Folder {
	t.Helper()
	areas := []manifest.Area{{Name: "upper", Neurons: 100}, {Name: "lower", First: 100, Neurons: 100}}
	c := &connectome.Connectome{Areas: []connectome.Area{{Neurons: connectome.Span{Count: 100}}, {Neurons: connectome.Span{First: 100, Count: 100}}}}
	dir, a := filepath.Join(t.TempDir(), "run"), record.NewActivity(c)
	run, err := record.Create(dir, record.Options{Manifest: manifest.Manifest{Genome: "x", Timestep: 1, Areas: areas}, Plan: record.Plan{Spikes: kept}})
	require.NoError(t, err)
	for n := range bursts {
		b := engine.Burst{Number: n, Fired: fires(n)}
		require.NoError(t, run.Record(&b))
		require.NoError(t, a.Record(&b))
	}
	require.NoError(t, run.Close(record.End{Bursts: bursts, Status: manifest.Complete, Activity: a}))
	f, err := runfolder.Open(dir)
	require.NoError(t, err)
	return f
}

// drawn gives a picture's dots.
func drawn(t *testing.T, f *runfolder.Folder, name string, o Options) image.Image {
	t.Helper()
	p, err := Draw(f, []string{name}, o)
	require.NoError(t, err)
	data, err := p[0].Encode("png")
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	return img
}

// coloured is the box of the dots that have a colour near to that one; the ground and letters have none.
func coloured(img image.Image, want color.NRGBA) (box image.Rectangle) {
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y++ {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x++ {
			c := color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
			near := func(a, b uint8) bool { return max(a, b)-min(a, b) < 24 }
			if near(c.R, want.R) && near(c.G, want.G) && near(c.B, want.B) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return box
}

// TestRasterIsUpright: the first area is at the top, the first neuron at the top of its area, and time goes to the right.
func TestRasterIsUpright(t *testing.T) {
	neurons := []uint32{0, 30, 99, 100, 130, 199} // fire in bursts 5, 15, 25, …
	f := firing(t, 60, []connectome.Span{{Count: 200}}, func(b uint64) []uint32 {
		if b%10 != 5 {
			return nil
		}
		return neurons[b/10 : b/10+1]
	})
	img := drawn(t, f, "raster", Options{}).(*image.Paletted)
	whole := coloured(img, palette(0)).Union(coloured(img, palette(1)))
	burst := float64(whole.Dx()) / 50.5 // dots
	last := image.Rectangle{}
	for i, neuron := range neurons {
		x := whole.Min.X + int(10*burst*float64(i))
		box := coloured(img.SubImage(image.Rect(x-20, 0, x+20, img.Bounds().Dy())), palette(int(neuron/100)))
		require.False(t, box.Empty(), "neuron %d is seen in the colour of its area, at its time", neuron)
		require.Less(t, box.Dy(), 12, "one neuron")
		if i > 0 {
			require.GreaterOrEqual(t, box.Min.Y, last.Max.Y-1, "neuron %d is below the one before", neuron)
		}
		last = box
	}
}

// TestUnrecordedAreasHaveNoBand: the band of the one that is recorded has the whole height, beside its own name.
func TestUnrecordedAreasHaveNoBand(t *testing.T) {
	areas := []manifest.Area{{Name: "a", Neurons: 10}, {Name: "b", First: 10, Neurons: 10, Recorded: 10}, {Name: "c", First: 20, Neurons: 10, Recorded: 4}, {Name: "none", First: 30}}
	s := span{areas: areas, taken: []bool{true, true, true, true}, until: 5}
	bands, shown := layBands(s)
	require.Equal(t, 3, shown)
	place(bands, 400)
	require.Equal(t, []int{0, 0, 0}, []int{bands[0].top, bands[0].below, bands[1].top})
	require.Equal(t, []string{"", "b (10)", "c (4 of 10)", "none (0)"}, []string{bands[0].label, bands[1].label, bands[2].label, bands[3].label})
	require.Greater(t, bands[1].below, bands[2].below-bands[2].top, "more neurons, more height")
	require.Equal(t, 400, bands[3].below)
	require.Equal(t, palette(1), bands[1].colour, "as in the rates")
	names := bandTicks(bands, 400, 200)
	require.Len(t, names, 3)
	for i, tick := range names {
		b := bands[i+1]
		require.Equal(t, b.label, tick.label)
		require.InDelta(t, float64(b.top+b.below)/2, 400*(1-tick.value), 1e-9, "%s stands at the middle of its own band", b.label)
	}
	require.Equal(t, "\nspikes not recorded: a", s.without("\n"))
	s.taken[0] = false
	require.Empty(t, s.without("\n"))

	f := firing(t, 10, []connectome.Span{{First: 100, Count: 100}}, func(uint64) []uint32 { return []uint32{100, 199} })
	box := coloured(drawn(t, f, "raster", Options{}), palette(1))
	alone := coloured(drawn(t, f, "raster", Options{Areas: []string{"lower"}}), palette(0))
	require.InDelta(t, alone.Min.Y, box.Min.Y, 2)
	require.InDelta(t, alone.Dy(), box.Dy(), 30, "but for the line that names the other")
	_, err := Draw(f, []string{"rates"}, Options{From: 3, Areas: []string{"upper"}})
	require.NoError(t, err, "an empty picture, which says why")
}

// TestPartialBin: the last bin of the rates is as wide as it is long, in panels and in heat maps, and as high as its rate.
func TestPartialBin(t *testing.T) {
	// 300 bursts make bins of 2 and 301 a last one of 1; all of upper fire in the last burst alone.
	all := make([]uint32, 100)
	for i := range all {
		all[i] = uint32(i)
	}
	f := firing(t, 301, nil, func(b uint64) []uint32 {
		if b == 300 {
			return all
		}
		return nil
	})
	r, err := f.Rates()
	require.NoError(t, err)
	require.Len(t, r.Hz[0], 151)
	require.InDelta(t, 1000, r.Hz[0][150], 1e-9, "a spike a neuron in a burst of 1 ms")
	img := drawn(t, f, "rates", Options{})
	bar := coloured(img, mix(color.NRGBA{255, 255, 255, 255}, palette(0), 0.35))
	require.InDelta(t, float64(img.Bounds().Dx())*0.87/301, bar.Dx(), 2, "one burst of 301")

	h := heat{x0: 0, x1: 301, column: 2}
	require.Equal(t, 0, h.cell(1, 301, 151))
	require.Equal(t, 1, h.cell(2, 301, 151))
	require.Equal(t, 149, h.cell(299, 301, 151))
	require.Equal(t, 150, h.cell(300, 301, 151))
	require.Equal(t, 150, h.cell(602, 603, 151))
	wide := heat{x0: 10, x1: 15, column: 10}
	require.Equal(t, 0, wide.cell(99, 100, 1))
	plain := heat{x0: 0, x1: 301}
	require.Equal(t, 1, plain.cell(50, 100, 2))
	require.Equal(t, 0, plain.cell(49, 100, 2))
}

// TestPartialBinOfManyAreas: of so many areas the rates are a heat map, whose last column is as wide as its bin is long.
func TestPartialBinOfManyAreas(t *testing.T) {
	s := span{until: 21, timestep: 1}
	c := &course{width: 10}
	for i := range mostPanels + 1 {
		s.areas, s.taken = append(s.areas, manifest.Area{Name: "x", Neurons: 1, Recorded: 1}), append(s.taken, true)
		c.hz, c.shown = append(c.hz, []float64{0, 0, 7}), append(c.shown, i)
	}
	p, err := rates(s, c)
	require.NoError(t, err)
	data, err := p.Encode("png")
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	table := img.(*image.Paletted).SubImage(image.Rect(0, 0, img.Bounds().Dx()-160, img.Bounds().Dy()))
	bar := coloured(table, newScale().at(0.5))
	require.InDelta(t, 0.8*float64(img.Bounds().Dx())/21, bar.Dx(), 8, "one burst of 21, a third of the table if it were as wide as the others")
}
