package picture

import (
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// painted draws a band of 12,500 neurons over 3,000 bursts, whose dots hold so many spikes in the mean on the left, and twice as
// many on the right.
func painted(mean float64) *image.RGBA {
	r := rand.New(rand.NewPCG(1, uint64(1000*mean)))
	const width, height = 200, 100
	bands := []band{{label: "dense", neurons: 12_500, below: height, colour: palette(0)}}
	g := newGrid(span{until: 3000}, bands, width, height)
	for i := range g.counts {
		lambda := mean
		if i%width >= width/2 {
			lambda *= 2
		}
		for rest := r.ExpFloat64(); rest < lambda; rest += r.ExpFloat64() {
			g.counts[i]++
		}
	}
	for y := range height { // a common discharge of a few bursts
		g.counts[y*width+width/4] += 500
	}
	return g.image().(*image.RGBA)
}

// ink is how dark a part of an image is in the mean, 0 for white, and full the share of its dots in the band's own colour.
func inkOf(img *image.RGBA, part image.Rectangle) (ink, full float64) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			c := img.RGBAAt(x, y)
			ink += float64(255 - c.R)
			if c.R == palette(0).R {
				full++
			}
		}
	}
	dots := float64(part.Dx() * part.Dy())
	return ink / dots / 255, full / dots
}

// TestDenseBandsShowTheirRates: however many spikes share a dot, twice as many are seen as darker, and a band is no block of its
// colour; where spikes are few, each is plain to see.
func TestDenseBandsShowTheirRates(t *testing.T) {
	for _, mean := range []float64{0.3, 1, 3, 10, 40} {
		img := painted(mean)
		left, _ := inkOf(img, image.Rect(60, 0, 100, 100))
		right, full := inkOf(img, image.Rect(100, 0, 200, 100))
		require.Greater(t, right/left, 1.4, "%v spikes a dot", mean)
		require.Less(t, full, 0.1, "%v spikes a dot", mean)
		discharge, _ := inkOf(img, image.Rect(50, 0, 51, 100))
		require.InDelta(t, 1, discharge, 0.05, "%v spikes a dot", mean)
	}
	for _, n := range []int{1, 20} {
		bands := []band{{label: "sparse", neurons: 12_500, below: 100}}
		g := newGrid(span{until: 3000}, bands, 200, 100)
		for k := range n {
			g.counts[k*997] = 1 + uint32(k%5)
		}
		s := g.shade(&bands[0])
		require.GreaterOrEqual(t, math.Round(100*s.share(s.step(1))), 45., "one spike among few")
	}
}
