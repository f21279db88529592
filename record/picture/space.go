package picture

import (
	"fmt"
	"image"
	"image/color"
	"iter"
	"math"
	"slices"

	"burst/record/manifest"
	"burst/record/runfolder"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	usualFrames = 8  // of a map
	mostSheets  = 4  // areas in a map; more are not drawn
	sheetCells  = 96 // along an axis of a sheet; neighbouring voxels share one where there are more
)

// sheet is an area as a map shows it: seen along its shortest axis, in cells.
type sheet struct {
	area          *manifest.Area
	across, up    int // axes
	columns, rows int
	neurons       []uint32   // recorded ones in each cell
	spikes        [][]uint32 // by frame, in each cell
}

// newSheet counts the recorded neurons of an area with positions.
func newSheet(a *manifest.Area, frames int) *sheet {
	axes := []int{0, 1, 2}
	slices.SortStableFunc(axes, func(i, k int) int {
		switch x, y := a.Space.Extent[i], a.Space.Extent[k]; {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	s := &sheet{area: a, across: min(axes[0], axes[1]), up: max(axes[0], axes[1])}
	s.columns, s.rows = s.cells(s.across), s.cells(s.up)
	s.neurons = make([]uint32, s.columns*s.rows)
	for range frames {
		s.spikes = append(s.spikes, make([]uint32, len(s.neurons)))
	}
	kept := a.Kept()
	for place := range a.Neurons {
		if _, ok := kept.Rank(a.First + place); ok {
			s.neurons[s.cell(place)]++
		}
	}
	return s
}

// cells is how many there are along an axis: one for each voxel or, where a file has the positions, as if they lay on a square.
func (s *sheet) cells(axis int) int {
	switch a := s.area; {
	case a.Space.Each == nil:
		return min(sheetCells, int(a.Size[axis]))
	case a.Space.Extent[axis] == 0:
		return 1
	default:
		return min(sheetCells, int(math.Ceil(math.Sqrt(float64(a.Neurons)))))
	}
}

// cell is the cell of a neuron, by its place in the area; rows go from the least coordinate on.
func (s *sheet) cell(place uint32) int {
	if space := s.area.Space; space.Each != nil {
		on := func(axis, cells int) int {
			if cells == 1 {
				return 0
			}
			part := (s.area.At(place)[axis]-space.Center[axis])/space.Extent[axis] + 0.5
			return min(max(0, int(part*float64(cells))), cells-1)
		}
		return on(s.up, s.rows)*s.columns + on(s.across, s.columns)
	}
	x, y, z := s.area.Voxel(place)
	at := [3]uint32{x, y, z}
	on := func(axis, cells int) int { return int(uint64(at[axis]) * uint64(cells) / uint64(s.area.Size[axis])) }
	return on(s.up, s.rows)*s.columns + on(s.across, s.columns)
}

// rates are spikes a neuron and second of a frame, NaN where no neuron of a cell is recorded.
func (s *sheet) rates(frame int, seconds float64) []float64 {
	hz := make([]float64, len(s.neurons))
	for i, n := range s.neurons {
		if hz[i] = math.NaN(); n > 0 {
			hz[i] = float64(s.spikes[frame][i]) / (float64(n) * seconds)
		}
	}
	return hz
}

// paint colours the cells of a frame, larger coordinates up and to the right.
func (s *sheet) paint(img *image.RGBA, hz []float64, top float64, colours scale) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	for y := range h {
		for x := range w {
			colour := color.NRGBA{0xDD, 0xDD, 0xDD, 0xFF}
			if v := hz[(h-1-y)*s.rows/h*s.columns+x*s.columns/w]; !math.IsNaN(v) {
				colour = colours.at(v / top)
			}
			img.SetRGBA(x, y, color.RGBA(colour))
		}
	}
}

// sides sets an axis of a chart to the area's coordinates.
func (s *sheet) sides(on *axis, along int) {
	half, middle := s.area.Space.Extent[along]/2, s.area.Space.Center[along]
	on.min, on.max = middle-half, middle+half
	on.ticks = func(lo, hi float64) []tick { return roundTicks(lo, hi, 3) }
	if half == 0 {
		on.min, on.max, on.ticks = middle-0.5, middle+0.5, fixed(nil)
	}
}

// frames cuts a span into so many stretches of equal length, as far as bursts allow; start says where one begins.
type frames struct {
	from, bursts, count uint64
}

func (f frames) start(k int) uint64 { return f.from + (uint64(k)*f.bursts+f.count-1)/f.count }

func (f frames) of(burst uint64) int { return int((burst - f.from) * f.count / f.bursts) }

// activityMap draws where in space neurons fire: a row of frames for each area with positions, all in one scale of rates.
func activityMap(s span, asked int, spikes iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	bursts := max(1, s.until-s.from)
	f := frames{s.from, bursts, min(uint64(asked), bursts)}
	sheets, shown := make([]*sheet, len(s.areas)), []*sheet{}
	for _, i := range s.shown() {
		if a := &s.areas[i]; mapped(a) && len(shown) < mostSheets {
			sheets[i] = newSheet(a, int(f.count))
			shown = append(shown, sheets[i])
		}
	}
	for c, err := range spikes {
		if err != nil {
			return nil, err
		}
		for i, t := range c.Burst {
			if sheet := sheets[c.Area[i]]; sheet != nil {
				sheet.spikes[f.of(t)][sheet.cell(c.Neuron[i]-sheet.area.First)]++
			}
		}
	}
	return layMap(s, f, shown), nil
}

// mapped says that an area can be drawn in space.
func mapped(a *manifest.Area) bool { return a.Space != nil && !unrecorded(a) && a.Neurons > 0 }

// layMap lays the frames out.
func layMap(s span, f frames, sheets []*sheet) *Picture {
	unit, each := timeAxis(s.from, s.until, s.timestep)
	columns := min(4, int(f.count))
	l := panels{title: s.title, columns: columns}
	var hz [][]float64
	for _, sheet := range sheets {
		for k := range int(f.count) {
			hz = append(hz, sheet.rates(k, float64(f.start(k+1)-f.start(k))*s.timestep/1000))
		}
	}
	top, colours := topRate(hz), newScale()
	wide := float64(pageWidth-2*margin-keyWidth-2*margin-26)/float64(columns) - 44 // of a panel's data, about
	for i, sheet := range sheets {
		for k := range int(f.count) {
			name := fmt.Sprintf("%s to %s %s", number(float64(f.start(k))*each), number(float64(f.start(k+1))*each), unit)
			if k == 0 {
				name = short(sheet.area.Name, 16) + ", " + name
			}
			p := newChart(name, smallText)
			sheet.sides(&p.x, sheet.across)
			sheet.sides(&p.y, sheet.up)
			rates := hz[i*int(f.count)+k]
			p.fill(func(img *image.RGBA) { sheet.paint(img, rates, top, colours) })
			l.charts = append(l.charts, p)
		}
		for len(l.charts)%columns != 0 { // an area begins a row
			l.charts = append(l.charts, nil)
		}
		e := sheet.area.Space.Extent
		if e[sheet.across] > 0 {
			l.x = axisName(l.x, sheet.across)
			l.height = max(l.height, vg.Length(min(300, max(12, wide*e[sheet.up]/e[sheet.across])))+40)
		}
		if e[sheet.up] > 0 {
			l.y = axisName(l.y, sheet.up)
		}
	}
	if len(sheets) == 0 {
		p := newChart("", mediumText)
		p.x.max, p.y.max = 1, 1
		p.note("no recorded area with positions")
		l.charts, l.columns = append(l.charts, p), 1
	}
	inner := l.picture("map", "Spikes per neuron and second where the neurons lie, each frame a stretch of time.")
	key := colourKey("rate (Hz)", 0, top, nil)
	all := *inner
	all.draw = func(c draw.Canvas) {
		inner.draw(draw.Crop(c, 0, -keyWidth-margin, 0, 0))
		k := draw.Crop(c, c.Size().X-keyWidth-margin, -margin, 0, -margin-24)
		k.Min.Y = k.Max.Y - min(k.Size().Y, 200)
		key.draw(k)
	}
	return &all
}

// axisName names an axis that all sheets share.
func axisName(so string, axis int) string {
	name := string("xyz"[axis]) + " (µm)"
	if so != "" && so != name {
		return "position (µm)"
	}
	return name
}

// topRate is the darkest colour's: the few cells above, at most one in two hundred of those with spikes, look like it.
func topRate(hz [][]float64) float64 {
	var above []float64
	for _, list := range hz {
		for _, v := range list {
			if v > 0 {
				above = append(above, v)
			}
		}
	}
	if len(above) == 0 {
		return 1
	}
	slices.Sort(above)
	return above[len(above)-1-len(above)/200]
}
