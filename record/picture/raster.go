package picture

import (
	"fmt"
	"image/color"
	"iter"
	"math"
	"slices"
	"strings"
	"sync"

	"burst/record/manifest"
	"burst/record/runfolder"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// span is what a picture of spikes covers.
type span struct {
	areas       []manifest.Area
	taken       []bool // areas to draw
	from, until uint64 // bursts
	timestep    float64
	title       string
}

// unrecorded says that an area has neurons, of which no spikes were recorded.
func unrecorded(a *manifest.Area) bool { return a.Recorded == 0 && a.Neurons > 0 }

// without lists the wanted areas whose spikes are not recorded, after gap; empty: there are none.
func (s *span) without(gap string) string {
	var names []string
	for _, i := range s.shown() {
		if unrecorded(&s.areas[i]) {
			names = append(names, s.areas[i].Name)
		}
	}
	if names == nil {
		return ""
	}
	return gap + short("spikes not recorded: "+strings.Join(names, ", "), 100)
}

// Raster draws every spike as a dot: time to the right, neurons from the top, one band an area. Bands grow with the square
// root of the number of neurons, so that small areas stay visible. Where many spikes share a dot, it is darker, by the band's own scale.
type Raster struct {
	span  span
	chart *chart
	page  vg.Rectangle
	shown int // bands
	grid  *grid
	locks [64]sync.Mutex // of the grid's columns: column x has lock x modulo 64
}

// NewRaster is the raster of a run that is to have so many bursts, without spikes.
func NewRaster(m *manifest.Manifest, bursts uint64) *Raster {
	s := wholeSpan(m)
	s.from, s.until = m.First, m.First+bursts
	return newRaster(s)
}

// newRaster is a raster without spikes.
func newRaster(s span) *Raster {
	bands, shown := layBands(s)
	height := rasterHeight(bands, shown)
	p := newChart(s.title, titleText)
	unit, each := timeAxis(s.from, s.until, s.timestep)
	p.x.label = "time (" + unit + ")" + s.without("\n")
	p.x.min, p.x.max = float64(s.from)*each, max(float64(s.until), float64(s.from)+1)*each
	p.y.min, p.y.max = 0, 1
	p.y.bare, p.y.length = true, 0
	p.y.ticks = fixed([]tick{{0.5, longest(bands)}}) // takes the room of the widest label
	page := vg.Rectangle{Max: vg.Point{X: pageWidth, Y: height}}
	blank := draw.NewCanvas(vgimg.New(1, 1), page.Max.X, page.Max.Y)
	r, w, h := dots(p.inside(inner(blank)).Rectangle)
	place(bands, h)
	p.y.ticks = fixed(bandTicks(bands, h, float64(r.Size().Y)))
	return &Raster{span: s, chart: p, page: page, shown: shown, grid: newGrid(s, bands, w, h)}
}

// inner is a canvas without its margin.
func inner(c draw.Canvas) draw.Canvas { return draw.Crop(c, margin, -2*margin, margin, -margin) }

// Add counts spikes; those behind the last burst are left out. Goroutines may call it at the same time, in any order.
func (r *Raster) Add(c *runfolder.Chunk) {
	n, _ := slices.BinarySearch(c.Burst, r.span.until)
	spikes := uint64(0)
	for from, to := 0, 0; from < n; from = to {
		x := r.grid.column(c.Burst[from])
		to = from + leading(n-from, func(i int) bool { return r.grid.column(c.Burst[from+i]) == x })
		lock := &r.locks[x%len(r.locks)]
		lock.Lock()
		spikes += r.grid.add(x, c.Burst[from:to], c.Area[from:to], c.Neuron[from:to])
		lock.Unlock()
	}
	r.grid.spikes.Add(spikes)
}

// picture is the raster of what was counted.
func (r *Raster) picture() *Picture {
	p := r.chart
	p.fill(r.grid.paint)
	if r.grid.spikes.Load() == 0 {
		words := "no spikes"
		if r.shown == 0 {
			words = "not recorded"
		}
		p.note(words)
	}
	return &Picture{Name: "raster", About: "Every spike as a dot; one band an area, its height growing with the square root of its neurons. Darker dots hold more spikes.", width: r.page.Max.X, height: r.page.Max.Y,
		draw: func(c draw.Canvas) { p.draw(inner(c)) }}
}

// raster reads the spikes of a raster.
func raster(s span, spikes iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	r := newRaster(s)
	for c, err := range spikes {
		if err != nil {
			return nil, err
		}
		r.Add(&c)
	}
	return r.picture(), nil
}

// rasterHeight grows with what there is to see.
func rasterHeight(bands []band, shown int) vg.Length {
	neurons := 0.0
	for _, b := range bands {
		neurons += float64(b.neurons)
	}
	height := max(24*float64(shown), min(300, 40+8*neurons)) // a neuron alone needs little
	height = max(min(height, 600), 13*float64(shown))        // many areas need room for their names
	return vg.Length(min(height, 3000)) + 70
}

// band is an area's part of the raster.
type band struct {
	label      string
	kept       manifest.Kept
	neurons    uint32 // drawn: the kept ones
	top, below int    // dots from the top
	colour     color.NRGBA
}

// layBands makes a band for each area; those not taken or not recorded have no label and no height.
func layBands(s span) (bands []band, shown int) {
	bands = make([]band, len(s.areas))
	for n, i := range s.shown() { // colours are those of the rates
		a := &s.areas[i]
		if unrecorded(a) {
			continue
		}
		b := &bands[i]
		*b = band{kept: a.Kept(), neurons: a.Recorded, colour: palette(n)}
		b.label = fmt.Sprintf("%s (%s)", short(a.Name, 22), number(float64(a.Neurons)))
		if a.Recorded < a.Neurons {
			b.label = fmt.Sprintf("%s (%s of %s)", short(a.Name, 22), number(float64(a.Recorded)), number(float64(a.Neurons)))
		}
		shown++
	}
	return bands, shown
}

// longest is the label that needs most room.
func longest(bands []band) string {
	most := ""
	for _, b := range bands {
		if len(b.label) > len(most) {
			most = b.label
		}
	}
	return most
}

// place shares height dots among the bands: room for a label each, the rest by the root of the neurons.
func place(bands []band, height int) {
	shown, roots := 0, 0.0
	for _, b := range bands {
		if b.label != "" {
			shown++
			roots += math.Sqrt(float64(b.neurons))
		}
	}
	least := 0.0
	if shown > 0 {
		least = min(float64((smallText+1)*dotsPerPt), float64(height)/float64(shown))
	}
	left := float64(height) - least*float64(shown)
	if roots == 0 {
		roots = 1
	}
	at := 0.0
	for i := range bands {
		b := &bands[i]
		b.top = int(math.Round(at))
		if b.label != "" {
			at += least + left*math.Sqrt(float64(b.neurons))/roots
		}
		b.below = int(math.Round(at))
	}
}

// bandTicks writes each band's label at its middle, but none over another.
func bandTicks(bands []band, height int, points float64) []tick {
	var out []tick
	last := math.Inf(-1)
	for _, b := range bands {
		at := float64(b.top+b.below) / 2 / float64(height)
		if b.label != "" && (at-last)*points >= float64(smallText)-0.5 {
			out = append(out, tick{1 - at, b.label})
			last = at
		}
	}
	return out
}
