package picture

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostPanels is how many areas have a panel each; more of them share a heat map.
const mostPanels = 9

// panels lays charts out in columns, under a common title, with labels of both axes written once.
type panels struct {
	title, x, y string
	charts      []*chart // nil: an empty place
	columns     int
	height      vg.Length // of a panel
}

// picture draws the panels.
func (l panels) picture(name, about string) *Picture {
	rows := (len(l.charts) + l.columns - 1) / l.columns
	const head, foot, side = vg.Length(24), vg.Length(18), vg.Length(26)
	height := head + foot + max(vg.Length(rows)*l.height, 220) + 2*margin // one panel alone has room for its labels, too
	return &Picture{Name: name, About: about, width: pageWidth, height: height, draw: func(c draw.Canvas) {
		c = draw.Crop(c, margin, -margin, margin, -margin)
		style := mark(color.Black, titleText)
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - titleText/2}, l.title)
		style.Font.Size = mediumText
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y + mediumText/2}, l.x)
		style.Rotation = 1.5707963267948966 // a quarter turn
		c.FillText(style, vg.Point{X: c.Min.X + mediumText/2, Y: c.Center().Y}, l.y)
		c = draw.Crop(c, side, 0, foot, -head)
		tiles := draw.Tiles{Rows: rows, Cols: l.columns, PadX: 14, PadY: 8}
		at := func(i int) draw.Canvas { return tiles.At(c, i%l.columns, i/l.columns) }
		var around edges // the same for all
		for i, p := range l.charts {
			if p != nil {
				around = around.widest(p.edges(at(i).Size()))
			}
		}
		for i, p := range l.charts {
			if p != nil {
				p.drawIn(at(i), around)
			}
		}
	}}
}

// heightTicks labels the height of a panel, but not its very top, where a label would push the panel's title up.
func heightTicks(about float64) ticker {
	return func(lo, hi float64) []tick {
		return slices.DeleteFunc(roundTicks(lo, hi, about), func(t tick) bool { return t.value > lo+0.94*(hi-lo) })
	}
}
