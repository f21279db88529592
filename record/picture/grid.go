package picture

import (
	"image"
	"image/color"
	stdraw "image/draw"
	"maps"
	"math"
	"slices"
	"sort"
	"sync/atomic"

	"burst/internal/pages"
)

// grid counts spikes in dots.
type grid struct {
	bands         []band
	from, span    uint64
	width, height int
	counts        []uint32 // of dot x, y at x·height+y: those of a burst lie beside each other
	spikes        atomic.Uint64
}

func newGrid(s span, bands []band, width, height int) *grid {
	return &grid{bands: bands, from: s.from, span: max(1, s.until-s.from), width: width, height: height, counts: pages.Slice[uint32](uint64(width * height))}
}

// column is where a burst's spikes are counted.
func (g *grid) column(burst uint64) int { return int((burst - g.from) * uint64(g.width) / g.span) }

// add counts rows of a chunk in column x, and says how many are of bands that are drawn. Rows of the same burst and area follow
// each other and are counted together.
func (g *grid) add(x int, bursts []uint64, areas, neurons []uint32) (spikes uint64) {
	for from, to := 0, 0; from < len(bursts); from = to {
		burst, area := bursts[from], areas[from]
		to = from + leading(len(bursts)-from, func(i int) bool { return bursts[from+i] == burst && areas[from+i] == area })
		if b := &g.bands[area]; b.label != "" {
			spikes += b.count(g.dots(x, b), neurons[from:to])
		}
	}
	return spikes
}

// leading is for how many of n numbers from 0 on something holds that holds for the first, and not again once it does not.
func leading(n int, holds func(i int) bool) int {
	step := 1
	for step < n && holds(step) {
		step *= 2
	}
	known := step/2 + 1
	return known + sort.Search(min(step, n)-known, func(i int) bool { return !holds(known + i) })
}

// count counts neurons, ascending, in the dots of a band, from top to bottom, and says how many of them the band has.
func (b *band) count(dots []uint32, neurons []uint32) (spikes uint64) {
	all, rows := uint64(b.neurons), uint64(len(dots))
	for len(neurons) > 0 {
		id, n := neurons[0], 1
		k, follow, kept := b.kept.Place(id)
		if kept && rows > 0 { // of very many areas some have none
			y := uint64(k) * rows / all
			next := ((y+1)*all + rows - 1) / rows // the first neuron of the dot below
			beyond := uint64(id) + min(next-uint64(k), uint64(follow)+1)
			for n < len(neurons) && uint64(neurons[n]) < beyond {
				n++
			}
			dots[y] += uint32(n)
		}
		if kept {
			spikes += uint64(n)
		}
		neurons = neurons[n:]
	}
	return spikes
}

// paint colours the counts.
func (g *grid) paint(img *image.RGBA) {
	least := g.leastDot()
	shown := 0
	for i := range g.bands {
		b := &g.bands[i]
		if b.label == "" {
			continue
		}
		ground := color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
		if shown%2 == 1 {
			ground = color.NRGBA{0xF3, 0xF3, 0xF3, 0xFF}
		}
		shown++
		g.paintBand(img, b, ground, least)
	}
}

// dots are the counts of a band at x, from top to bottom.
func (g *grid) dots(x int, b *band) []uint32 { return g.counts[x*g.height+b.top:][:b.below-b.top] }

// leastDot is larger where spikes are few, so that single ones are seen.
func (g *grid) leastDot() int {
	used := 0
	for _, n := range g.counts {
		if n > 0 {
			used++
		}
	}
	switch share := float64(used) / float64(len(g.counts)); {
	case share < 0.004:
		return 3
	case share < 0.04:
		return 2
	}
	return 1
}

// shades are the steps from one spike to the densest dot; few colours make small files.
const shades = 6

// shading is how dark a dot of n spikes is: from low at one spike, more with each, to 1 at full.
type shading struct {
	low  float64
	full uint32
}

// shade looks at a band's counts. Where dots are few, one spike is plain to see. The more of the dots have spikes, the nearer to the
// ground one spike is, so that a dense band is not a block but shows where its spikes are more and where fewer. The densest
// hundredth of the dots has the full colour: the few of a common discharge would leave the others pale.
func (g *grid) shade(b *band) shading {
	have := map[uint32]int{} // dots by their count
	used := 0
	for x := range g.width {
		for _, n := range g.dots(x, b) {
			if n > 0 {
				have[n]++
				used++
			}
		}
	}
	if used == 0 {
		return shading{}
	}
	most, above := uint32(0), 0
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(have))) {
		if most = n; above+have[n] > used/100 {
			break
		}
		above += have[n]
	}
	cells := min(uint64(b.below-b.top), uint64(b.neurons)) * min(uint64(g.width), g.span) // dots in which a spike can be counted
	return shading{0.45 * (1 - float64(used)/float64(cells)), most}
}

// step is the shade of a dot of n spikes, 1…shades.
func (s shading) step(n uint32) uint8 {
	return uint8(max(1, math.Round(shades*float64(min(n, s.full))/float64(s.full))))
}

// share is how much of the band's colour a dot of that shade has.
func (s shading) share(step uint8) float64 { return s.low + (1-s.low)*float64(step)/shades }

// paintBand draws a band.
func (g *grid) paintBand(img *image.RGBA, b *band, ground color.NRGBA, least int) {
	shading := g.shade(b)
	stdraw.Draw(img, image.Rect(0, b.top, g.width, b.below), image.NewUniform(ground), image.Point{}, stdraw.Src)
	if shading.full == 0 {
		return
	}
	var colours [shades + 1]color.RGBA
	for step := range colours {
		colours[step] = color.RGBA(mix(ground, b.colour, shading.share(uint8(step))))
	}
	rows := b.below - b.top
	done := make([]uint8, g.width*rows)
	for x := range g.width {
		x0, x1 := extent(x, g.width, g.span, least)
		for y, n := range g.dots(x, b) {
			if n == 0 {
				continue
			}
			step := shading.step(n)
			y0, y1 := extent(y, rows, uint64(b.neurons), least)
			for yy := y0; yy < y1; yy++ {
				for xx := x0; xx < x1; xx++ {
					if i := yy*g.width + xx; step > done[i] {
						done[i] = step
						img.SetRGBA(xx, b.top+yy, colours[step])
					}
				}
			}
		}
	}
}

// extent is what a spike counted at dot x covers, where n bursts or neurons share the dots: all dots of its burst or
// neuron, but no more than a few, in the middle of them, and no less than least.
func extent(x, dots int, n uint64, least int) (from, until int) {
	const most = 8
	until = x + 1
	if n < uint64(dots) { // the next one begins where its first dot is
		k := (uint64(x)*n + uint64(dots) - 1) / uint64(dots)
		until = int((k + 1) * uint64(dots) / n)
	}
	if wide := until - x; wide > most {
		x += (wide - most) / 2
		until = x + most
	}
	return x, min(max(until, x+least), dots)
}
