package picture

import (
	"image"
	"image/color"
	"math"

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
	ticks            ticker
	log              bool     // the colour is that of the logarithm; zero stays blank
	columns          []string // instead of ticks: a label for each column
	cells            bool     // write each value into its cell
	empty            string   // what to say where no cell has one
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
	case oneLevel(lo, hi):
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
	p := newChart(h.title, titleText)
	p.x.label, p.y.label = h.x, h.y
	p.x.min, p.x.max, p.y.min, p.y.max = h.x0, h.x1, 0, 1
	p.x.ticks = h.ticks
	if h.columns != nil {
		h.nameColumns(p)
	}
	p.y.length = 0
	p.y.ticks = fixed(h.rowTicks(float64(height - 90)))
	p.fill(func(img *image.RGBA) { h.paint(img, lo, hi, colours) })
	if h.cells {
		h.write(p, lo, hi)
	}
	var marks ticker
	if h.log {
		marks = logTicks
	}
	key := colourKey(h.key, lo, hi, marks)
	return &Picture{Name: name, About: about, width: pageWidth, height: height, draw: func(c draw.Canvas) {
		c = draw.Crop(c, margin, -margin, margin, -margin)
		main := draw.Crop(c, 0, -keyWidth-2*margin, 0, 0)
		p.draw(main)
		r := p.inside(main).Rectangle
		k := draw.Crop(c, c.Size().X-keyWidth, 0, 0, 0)
		size := min(r.Size().Y, 200)
		k.Max.Y = r.Max.Y
		k.Min.Y = r.Max.Y - size
		key.draw(k)
	}}, nil
}

// keyWidth is the room of a key to colours.
const keyWidth = vg.Length(62)

// colourKey is the key to the colours from lo to hi; nil ticks are the usual ones.
func colourKey(label string, lo, hi float64, marks ticker) *chart {
	colours := newScale()
	key := newChart("", mediumText)
	key.x.min, key.x.max, key.y.min, key.y.max = 0, 1, lo, hi
	key.x.ticks, key.x.length = fixed(nil), 0
	key.y.label = label
	if marks != nil {
		key.y.ticks = marks
	}
	key.fill(func(img *image.RGBA) {
		w, ht := img.Rect.Dx(), img.Rect.Dy()
		for y := range ht {
			for x := range w {
				img.SetRGBA(x, y, color.RGBA(colours.at(1-(float64(y)+0.5)/float64(ht))))
			}
		}
	})
	return key
}

// rowTicks names the rows, none over another.
func (h *heat) rowTicks(points float64) []tick {
	var out []tick
	last := math.Inf(-1)
	for i, name := range h.rows {
		if at := (float64(i) + 0.5) / float64(len(h.rows)); (at-last)*points >= float64(smallText) {
			out = append(out, tick{1 - at, short(name, 34)})
			last = at
		}
	}
	return out
}

// nameColumns writes a name under each column, upright where they would not fit.
func (h *heat) nameColumns(p *chart) {
	n, long := float64(len(h.columns)), 0
	for _, c := range h.columns {
		long = max(long, len([]rune(c)))
	}
	upright := float64(long)*5.5*n > 400
	var out []tick
	last := math.Inf(-1)
	for i, c := range h.columns {
		if at := (float64(i) + 0.5) / n; (at-last)*400 >= float64(smallText) {
			out = append(out, tick{h.x0 + at*(h.x1-h.x0), short(c, 16)})
			last = at
		}
	}
	p.x.ticks, p.x.length, p.x.upright = fixed(out), 5, upright
}

// paint colours the cells.
func (h *heat) paint(img *image.RGBA, lo, hi float64, colours scale) {
	w, ht := img.Rect.Dx(), img.Rect.Dy()
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
}

// cell is the column of n that dot x of w lies in, by its middle.
func (h *heat) cell(x, w, n int) int {
	if h.column == 0 {
		return x * n / w
	}
	return min(int((float64(x)+0.5)/float64(w)*(h.x1-h.x0)/h.column), n-1)
}

// write puts each cell's number into it, white on dark.
func (h *heat) write(p *chart, lo, hi float64) {
	written := false
	for i, row := range h.values {
		for k, v := range row {
			if math.IsNaN(h.shade(v)) {
				continue
			}
			var ink color.Color = color.Black
			if (h.shade(v)-lo)/(hi-lo) > 0.5 {
				ink = color.White
			}
			x := h.x0 + (float64(k)+0.5)/float64(len(row))*(h.x1-h.x0)
			p.write(point{x, 1 - (float64(i)+0.5)/float64(len(h.rows))}, mark(ink, smallText), h.text(v))
			written = true
		}
	}
	if !written {
		p.note(h.empty)
	}
}

// text is a number as it stands in a cell: counts in full, figures with three digits.
func (h *heat) text(v float64) string {
	if h.log {
		return number(v)
	}
	return figures(v, 3)
}
