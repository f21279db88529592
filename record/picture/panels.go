package picture

import (
	"image/color"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mostPanels is how many areas have a panel each; more of them share a heat map.
const mostPanels = 9

// panels lays plots out in columns, under a common title, with labels of both axes written once.
type panels struct {
	title, x, y string
	plots       []*plot.Plot
	columns     int
	height      vg.Length // of a panel
}

// picture draws the panels.
func (l panels) picture(name, about string) *Picture {
	rows := (len(l.plots) + l.columns - 1) / l.columns
	const head, foot, side = vg.Length(24), vg.Length(18), vg.Length(26)
	height := head + foot + max(vg.Length(rows)*l.height, 220) + 2*margin // one panel alone has room for its labels, too
	return &Picture{Name: name, About: about, width: pageWidth, height: height, draw: func(c draw.Canvas) {
		c = draw.Crop(c, margin, -margin, margin, -margin)
		style := mark(color.Black, titleText)
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - titleText/2}, l.title)
		style.Font = sans(mediumText)
		c.FillText(style, vg.Point{X: c.Center().X, Y: c.Min.Y + mediumText/2}, l.x)
		style.Rotation = 1.5707963267948966 // a quarter turn
		c.FillText(style, vg.Point{X: c.Min.X + mediumText/2, Y: c.Center().Y}, l.y)
		c = draw.Crop(c, side, 0, foot, -head)
		grid := make([][]*plot.Plot, rows)
		for i := range grid {
			grid[i] = make([]*plot.Plot, l.columns)
			copy(grid[i], l.plots[i*l.columns:min((i+1)*l.columns, len(l.plots))])
		}
		tiles := draw.Tiles{Rows: rows, Cols: l.columns, PadX: 14, PadY: 8}
		for j, row := range plot.Align(grid, tiles, c) {
			for i, canvas := range row {
				if grid[j][i] != nil {
					grid[j][i].Draw(canvas)
				}
			}
		}
	}}
}

// heightTicks labels the height of a panel, but not its very top, where a label would push the panel's title up.
func heightTicks(about float64) plot.TickerFunc {
	return func(lo, hi float64) []plot.Tick {
		return slices.DeleteFunc(roundTicks(lo, hi, about), func(t plot.Tick) bool { return t.Value > lo+0.94*(hi-lo) })
	}
}

// line adds a line to a plot; step holds each value until the next, fill colours what is below.
func line(p *plot.Plot, points plotter.XYs, colour color.NRGBA, step, fill bool) error {
	l, err := plotter.NewLine(points)
	if err != nil {
		return err
	}
	l.Color, l.Width = colour, 1
	if step {
		l.StepStyle = plotter.PostStep
	}
	if fill {
		l.FillColor = mix(color.NRGBA{255, 255, 255, 255}, colour, 0.35)
	}
	p.Add(l)
	return nil
}

// bars adds a histogram to a plot: value k from edge k to edge k+1.
func bars(p *plot.Plot, edges, values []float64, colour color.NRGBA) error {
	points := plotter.XYs{{X: edges[0], Y: 0}}
	for k, v := range values {
		points = append(points, plotter.XY{X: edges[k], Y: v})
	}
	points = append(points, plotter.XY{X: edges[len(values)], Y: 0})
	return line(p, points, colour, true, true)
}
