package picture

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heat is a table of colours: rows from the top, columns from x0 to x1.
type heat struct {
	title, x, y, key string
	rows             []string
	values           [][]float64 // NaN stays blank
	x0, x1           float64
	column           float64 // how wide one is, but for the last, which ends at x1; 0: all the same
	ticks            plot.Ticker
	log              bool     // the colour is that of the logarithm; zero stays blank
	columns          []string // instead of ticks: a label for each column
	cells            bool     // write each value into its cell
}

// limits are the values of the scale's ends.
func (h *heat) limits() (lo, hi float64) {
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, row := range h.values {
		for _, v := range row {
			if v = h.shade(v); !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	switch {
	case lo > hi:
		return 0, 1
	case lo == hi:
		return lo - 0.5, hi + 0.5
	}
	return lo, hi
}

// shade is where a value lies on the scale, NaN for blank.
func (h *heat) shade(v float64) float64 {
	if !h.log {
		return v
	}
	if !(v > 0) {
		return math.NaN()
	}
	return math.Log10(v)
}

// picture draws the table and the key to its colours.
func (h *heat) picture(name, about string) (*Picture, error) {
	lo, hi := h.limits()
	colours := newScale()
	rowHeight := vg.Length(max(12, min(30, 300/max(len(h.rows), 1))))
	height := min(max(rowHeight*vg.Length(len(h.rows)), 220), 2400) + 90
	p := newPlot(h.title, titleText)
	p.X.Label.Text, p.Y.Label.Text = h.x, h.y
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = h.x0, h.x1, 0, 1
	p.X.Tick.Marker = h.ticks
	if h.columns != nil {
		h.nameColumns(p)
	}
	p.Y.Tick.Length = 0
	p.Y.Tick.Marker = h.rowTicks(float64(height - 90))
	p.Add(pixels(func(w, ht int) image.Image { return h.image(w, ht, lo, hi, colours) }))
	if h.cells {
		if err := h.write(p, lo, hi); err != nil {
			return nil, err
		}
	}
	key := newPlot("", mediumText)
	key.X.Min, key.X.Max, key.Y.Min, key.Y.Max = 0, 1, lo, hi
	key.X.Tick.Marker, key.X.Tick.Length = plot.ConstantTicks{}, 0
	key.Y.Label.Text = h.key
	if h.log {
		key.Y.Tick.Marker = plot.TickerFunc(logTicks)
	}
	key.Add(pixels(func(w, ht int) image.Image {
		img := image.NewRGBA(image.Rect(0, 0, w, ht))
		for y := range ht {
			for x := range w {
				img.SetRGBA(x, y, color.RGBA(colours.at(1-(float64(y)+0.5)/float64(ht))))
			}
		}
		return img
	}))
	return &Picture{Name: name, About: about, width: pageWidth, height: height, draw: func(c draw.Canvas) {
		c = draw.Crop(c, margin, -margin, margin, -margin)
		const keyWidth = vg.Length(62)
		main := draw.Crop(c, 0, -keyWidth-2*margin, 0, 0)
		p.Draw(main)
		r := p.DataCanvas(main).Rectangle
		k := draw.Crop(c, c.Size().X-keyWidth, 0, 0, 0)
		size := min(r.Size().Y, 200)
		k.Max.Y = r.Max.Y
		k.Min.Y = r.Max.Y - size
		key.Draw(k)
	}}, nil
}

// rowTicks names the rows, none over another.
func (h *heat) rowTicks(points float64) plot.ConstantTicks {
	var out plot.ConstantTicks
	last := math.Inf(-1)
	for i, name := range h.rows {
		if at := (float64(i) + 0.5) / float64(len(h.rows)); (at-last)*points >= float64(smallText) {
			out = append(out, plot.Tick{Value: 1 - at, Label: short(name, 34)})
			last = at
		}
	}
	return out
}

// nameColumns writes a name under each column, upright where they would not fit.
func (h *heat) nameColumns(p *plot.Plot) {
	n, long := float64(len(h.columns)), 0
	for _, c := range h.columns {
		long = max(long, len([]rune(c)))
	}
	upright, gap := float64(long)*5.5*n > 400, ""
	if upright {
		gap = "   " // keeps the end of a name off the axis
	}
	var out plot.ConstantTicks
	last := math.Inf(-1)
	for i, c := range h.columns {
		if at := (float64(i) + 0.5) / n; (at-last)*400 >= float64(smallText) {
			out = append(out, plot.Tick{Value: h.x0 + at*(h.x1-h.x0), Label: short(c, 16) + gap})
			last = at
		}
	}
	p.X.Tick.Marker, p.X.Tick.Length = out, 5
	if upright {
		p.X.Tick.Label.Rotation = math.Pi / 2
		p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	}
}

// image colours the cells.
func (h *heat) image(w, ht int, lo, hi float64, colours scale) image.Image {
	img := image.NewRGBA(image.Rect(0, 0, w, ht))
	for y := range ht {
		if len(h.rows) == 0 {
			break
		}
		row := h.values[y*len(h.rows)/ht]
		for x := range w {
			colour := color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
			if v := h.shade(row[h.cell(x, w, len(row))]); !math.IsNaN(v) {
				colour = colours.at((v - lo) / (hi - lo))
			}
			img.SetRGBA(x, y, color.RGBA(colour))
		}
	}
	return img
}

// cell is the column of n that dot x of w lies in, by its middle.
func (h *heat) cell(x, w, n int) int {
	if h.column == 0 {
		return x * n / w
	}
	return min(int((float64(x)+0.5)/float64(w)*(h.x1-h.x0)/h.column), n-1)
}

// write puts each cell's number into it, white on dark.
func (h *heat) write(p *plot.Plot, lo, hi float64) error {
	at := plotter.XYLabels{}
	var styles []color.Color
	for i, row := range h.values {
		for k, v := range row {
			if v == 0 || math.IsNaN(v) {
				continue
			}
			x := h.x0 + (float64(k)+0.5)/float64(len(row))*(h.x1-h.x0)
			at.XYs = append(at.XYs, plotter.XY{X: x, Y: 1 - (float64(i)+0.5)/float64(len(h.rows))})
			at.Labels = append(at.Labels, number(v))
			var ink color.Color = color.Black
			if (h.shade(v)-lo)/(hi-lo) > 0.5 {
				ink = color.White
			}
			styles = append(styles, ink)
		}
	}
	if len(at.XYs) == 0 {
		return note(p, "no synapses")
	}
	l, err := plotter.NewLabels(at)
	if err != nil {
		return err
	}
	for i := range l.TextStyle {
		l.TextStyle[i] = mark(styles[i], smallText)
	}
	p.Add(l)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = h.x0, h.x1, 0, 1
	return nil
}
