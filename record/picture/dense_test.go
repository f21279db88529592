package picture

import (
	"image"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"burst/record/manifest"
	"burst/record/runfolder"

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
		if i/height >= width/2 {
			lambda *= 2
		}
		for rest := r.ExpFloat64(); rest < lambda; rest += r.ExpFloat64() {
			g.counts[i]++
		}
	}
	for y := range height { // a common discharge of a few bursts
		g.counts[width/4*height+y] += 500
	}
	img := image.NewRGBA(image.Rect(0, 0, g.width, g.height))
	g.paint(img)
	return img
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

// TestDotsOfNeurons: a neuron's dot is that of whole numbers, at every edge between two, for any numbers of neurons and dots.
func TestDotsOfNeurons(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0x67))
	for range 300 {
		neurons, rows := uint64(1)+r.Uint64N(1<<(1+r.IntN(32)))%math.MaxUint32, 1+r.Uint64N(6000)
		b := band{neurons: uint32(neurons), kept: (&manifest.Area{First: 7, Neurons: uint32(neurons), Recorded: uint32(neurons)}).Kept()}
		dots, want := make([]uint32, rows), make([]uint32, rows)
		var ids []uint32
		for range 100 {
			edge := r.Uint64N(rows) * neurons / rows
			for k := max(edge, 1) - 1; k < min(edge+3, neurons); k++ {
				ids = append(ids, uint32(k)+7)
			}
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		for _, id := range ids {
			want[uint64(id-7)*rows/neurons]++
		}
		require.EqualValues(t, len(ids), b.count(dots, ids))
		require.Equal(t, want, dots, "%d neurons, %d dots", neurons, rows)
	}
}

// TestAreasWithoutDots: of more areas than a picture has dots some are not seen.
func TestAreasWithoutDots(t *testing.T) {
	s := span{until: 1, timestep: 1}
	var c runfolder.Chunk
	for i := range uint32(9000) {
		s.areas, s.taken = append(s.areas, manifest.Area{Name: "a", First: i, Neurons: 1, Recorded: 1}), append(s.taken, true)
		c.Burst, c.Area, c.Neuron = append(c.Burst, 0), append(c.Area, i), append(c.Neuron, i)
	}
	bands, shown := layBands(s)
	require.Equal(t, 9000, shown)
	place(bands, 6000)
	g := newGrid(s, bands, 10, 6000)
	require.EqualValues(t, 9000, g.add(0, c.Burst, c.Area, c.Neuron))
	g.paint(image.NewRGBA(image.Rect(0, 0, g.width, g.height)))
}

// TestRasterOfMany: goroutines that count chunks in any order count what one does in order.
func TestRasterOfMany(t *testing.T) {
	const bursts, neurons = 2500, 300
	m := manifest.Manifest{First: 40, Timestep: 1, Areas: []manifest.Area{{Name: "a", Neurons: 200, Recorded: 200}, {Name: "b", First: 200, Neurons: 100, Recorded: 100}}}
	r := rand.New(rand.NewPCG(3, 9))
	chunks := make([]runfolder.Chunk, 40)
	for i := range chunks {
		c := &chunks[i]
		for burst := i * bursts / 40; burst < (i+1)*bursts/40+3; burst++ { // some bursts have rows in two chunks
			for n := uint32(i % 2); n < neurons; n += 2 * uint32(1+r.IntN(9)) {
				c.Burst, c.Neuron, c.Area = append(c.Burst, uint64(burst)+m.First), append(c.Neuron, n), append(c.Area, n/200)
			}
		}
	}
	one, many := NewRaster(&m, bursts), NewRaster(&m, bursts)
	for i := range chunks {
		one.Add(&chunks[i])
	}
	var all sync.WaitGroup
	for _, i := range r.Perm(len(chunks)) {
		all.Go(func() { many.Add(&chunks[i]) })
	}
	all.Wait()
	require.Equal(t, one.grid.counts, many.grid.counts)
	total := uint32(0)
	for _, n := range one.grid.counts {
		total += n
	}
	require.EqualValues(t, total, many.grid.spikes.Load())
	require.Greater(t, total, uint32(40_000))
}
