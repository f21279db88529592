package picture

import (
	"image/color"
	"math"

	"burst/internal/typeface"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// chart is a picture's data between two axes, under a title.
type chart struct {
	title string
	size  vg.Length // of the title's letters
	x, y  axis
	drawn []func(frame) // in this order
}

// axis is one of a chart's two.
type axis struct {
	label    string
	min, max float64
	ticks    ticker
	length   vg.Length // of a tick
	bare     bool      // no line
	upright  bool      // labels of ticks read from below; of the x axis only
}

// tick is a place on an axis; without a label it is short.
type tick struct {
	value float64
	label string
}

// ticker gives an axis its ticks.
type ticker func(lo, hi float64) []tick

// fixed is a ticker of these.
func fixed(list []tick) ticker { return func(float64, float64) []tick { return list } }

// newChart is an empty chart in the house style.
func newChart(title string, size vg.Length) *chart {
	a := axis{ticks: ticks, length: 8}
	return &chart{title: title, size: size, x: a, y: a}
}

// add puts something on top of what is drawn.
func (p *chart) add(f func(frame)) { p.drawn = append(p.drawn, f) }

// frame is the room of the data between the axes.
type frame struct {
	draw.Canvas
	x, y axis
}

// at is the point of two values.
func (f frame) at(x, y float64) vg.Point {
	return vg.Point{X: f.X(f.x.share(x)), Y: f.Y(f.y.share(y))}
}

// share is where a value lies between the axis's ends, 0…1.
func (a *axis) share(v float64) float64 { return (v - a.min) / (a.max - a.min) }

// seen lists the ticks between the axis's ends.
func (a *axis) seen() []tick {
	var out []tick
	for _, t := range a.ticks(a.min, a.max) {
		if s := a.share(t.value); s > -1e-9 && s < 1+1e-9 {
			out = append(out, t)
		}
	}
	return out
}

// ink is text in black.
func ink(size vg.Length, x text.XAlignment, y text.YAlignment) text.Style {
	return text.Style{Color: color.Black, Font: typeface.Font(size), XAlign: x, YAlign: y, Handler: text.Plain{Fonts: typeface.Cache()}}
}

// mark is a text inside a chart, centred at a point.
func mark(colour color.Color, size vg.Length) text.Style {
	s := ink(size, text.XCenter, text.YCenter)
	s.Color = colour
	return s
}

// tickStyles are the texts at the ticks of both axes.
func (p *chart) tickStyles() (x, y text.Style) {
	x, y = ink(smallText, text.XCenter, text.YTop), ink(smallText, text.XRight, text.YCenter)
	if p.x.upright {
		x.Rotation, x.XAlign, x.YAlign = math.Pi/2, text.XRight, text.YCenter
	}
	return x, y
}

// edges is the room around the data.
type edges struct{ left, right, below, above vg.Length }

// widest takes of each side the larger room, so that charts beside each other have their axes in line.
func (e edges) widest(o edges) edges {
	return edges{max(e.left, o.left), max(e.right, o.right), max(e.below, o.below), max(e.above, o.above)}
}

const (
	tickGap  = vg.Length(2.5) // between a tick and its label
	titleGap = vg.Length(4)
)

// edges is the room that titles, labels and ticks take of a canvas of that size.
func (p *chart) edges(size vg.Point) edges {
	xStyle, yStyle := p.tickStyles()
	e := edges{left: p.y.length + p.labelHeight(&p.y), below: p.x.length + p.labelHeight(&p.x)}
	if p.title != "" {
		e.above = ink(p.size, text.XCenter, text.YTop).Height(p.title) + titleGap
	}
	wide, high := vg.Length(0), vg.Length(0)
	for _, t := range p.y.seen() {
		wide = max(wide, yStyle.Width(t.label))
	}
	for _, t := range p.x.seen() {
		if t.label != "" {
			box := xStyle.Rectangle(t.label)
			high = max(high, box.Max.Y-box.Min.Y)
		}
	}
	if wide > 0 {
		e.left += wide + tickGap
	}
	if high > 0 {
		e.below += high + tickGap
	}
	// A label at an axis's end may need more room than there is.
	for _, t := range p.x.seen() {
		half, s := xStyle.Width(t.label)/2, vg.Length(p.x.share(t.value))
		if p.x.upright {
			half = xStyle.Height(t.label) / 2
		}
		e.right = max(e.right, half-(1-s)*(size.X-e.left))
		e.left = max(e.left, half-s*(size.X-e.left))
	}
	for _, t := range p.y.seen() {
		half, s := yStyle.Height(t.label)/2, vg.Length(p.y.share(t.value))
		e.above = max(e.above, half-(1-s)*(size.Y-e.below))
		e.below = max(e.below, half-s*(size.Y-e.below))
	}
	return e
}

// labelHeight is what an axis's label takes.
func (p *chart) labelHeight(a *axis) vg.Length {
	if a.label == "" {
		return 0
	}
	s := ink(mediumText, text.XCenter, text.YBottom)
	return s.Height(a.label) + s.FontExtents().Descent + tickGap
}

// inside is the data's room in a canvas.
func (p *chart) inside(c draw.Canvas) draw.Canvas { return p.edges(c.Size()).crop(c) }

func (e edges) crop(c draw.Canvas) draw.Canvas {
	return draw.Crop(c, e.left, -e.right, e.below, -e.above)
}

// draw draws the chart into a canvas.
func (p *chart) draw(c draw.Canvas) { p.drawIn(c, p.edges(c.Size())) }

// drawIn draws the chart with that room around its data.
func (p *chart) drawIn(c draw.Canvas, e edges) {
	f := frame{e.crop(c), p.x, p.y}
	for _, d := range p.drawn {
		d(f)
	}
	middle := f.Center()
	if p.title != "" {
		c.FillText(ink(p.size, text.XCenter, text.YTop), vg.Point{X: middle.X, Y: c.Max.Y}, p.title)
	}
	label := ink(mediumText, text.XCenter, text.YBottom)
	c.FillText(label, vg.Point{X: middle.X, Y: c.Min.Y + label.FontExtents().Descent}, p.x.label)
	label.Rotation, label.YAlign = math.Pi/2, text.YTop
	c.FillText(label, vg.Point{X: c.Min.X, Y: middle.Y}, p.y.label)

	pen := draw.LineStyle{Color: color.Black, Width: 0.75}
	xStyle, yStyle := p.tickStyles()
	for _, t := range p.x.seen() {
		at := f.X(p.x.share(t.value))
		c.StrokeLine2(pen, at, f.Min.Y, at, f.Min.Y-p.x.tickLength(t))
		c.FillText(xStyle, vg.Point{X: at, Y: f.Min.Y - p.x.length - tickGap}, t.label)
	}
	for _, t := range p.y.seen() {
		at := f.Y(p.y.share(t.value))
		c.StrokeLine2(pen, f.Min.X-p.y.tickLength(t), at, f.Min.X, at)
		c.FillText(yStyle, vg.Point{X: f.Min.X - p.y.length - tickGap, Y: at + yStyle.FontExtents().Descent/2}, t.label)
	}
	if !p.x.bare {
		c.StrokeLine2(pen, f.Min.X, f.Min.Y, f.Max.X, f.Min.Y)
	}
	if !p.y.bare {
		c.StrokeLine2(pen, f.Min.X, f.Min.Y, f.Min.X, f.Max.Y)
	}
}

// tickLength is half for a tick without a label.
func (a *axis) tickLength(t tick) vg.Length {
	if t.label == "" {
		return a.length / 2
	}
	return a.length
}

// point is two values.
type point struct{ x, y float64 }

// line draws points as a line; step holds each value until the next, fill colours what is below.
func (p *chart) line(points []point, colour color.NRGBA, step, fill bool) {
	p.add(func(f frame) {
		var path []vg.Point
		for k, at := range points {
			if step && k > 0 {
				if at.y == points[k-1].y && k+1 < len(points) {
					continue // no corner
				}
				path = append(path, f.at(at.x, points[k-1].y))
			}
			path = append(path, f.at(at.x, at.y))
		}
		if fill && len(path) > 0 {
			ground := []vg.Point{{X: path[0].X, Y: f.Min.Y}}
			ground = append(append(ground, path...), vg.Point{X: path[len(path)-1].X, Y: f.Min.Y})
			f.FillPolygon(mix(color.NRGBA{255, 255, 255, 255}, colour, 0.35), ground)
		}
		f.StrokeLines(draw.LineStyle{Color: colour, Width: 1}, path)
	})
}

// bars draws a histogram: value k from edge k to edge k+1.
func (p *chart) bars(edges, values []float64, colour color.NRGBA) {
	points := []point{{edges[0], 0}}
	for k, v := range values {
		points = append(points, point{edges[k], v})
	}
	p.line(append(points, point{edges[len(values)], 0}), colour, true, true)
}

// write puts a text centred at a point.
func (p *chart) write(at point, style text.Style, words string) {
	p.add(func(f frame) { f.FillText(style, f.at(at.x, at.y), words) })
}

// note writes a word into the middle of a chart.
func (p *chart) note(words string) {
	p.add(func(f frame) { f.FillText(mark(color.Gray{0x70}, mediumText), f.Center(), words) })
}
