package picture

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// pixels is a plotter that fills the plot with an image made for exactly its size, so that nothing is scaled.
type pixels func(width, height int) image.Image

// Plot draws the image on whole dots.
func (p pixels) Plot(c draw.Canvas, _ *plot.Plot) {
	r, w, h := dots(c.Rectangle)
	if w > 0 && h > 0 {
		c.DrawImage(r, p(w, h))
	}
}

// dots is the largest rectangle of whole dots inside r, and its size in dots.
func dots(r vg.Rectangle) (in vg.Rectangle, w, h int) {
	up := func(x vg.Length) float64 { return math.Ceil(float64(x)*dotsPerPt - 1e-6) }
	down := func(x vg.Length) float64 { return math.Floor(float64(x)*dotsPerPt + 1e-6) }
	x0, y0, x1, y1 := up(r.Min.X), up(r.Min.Y), down(r.Max.X), down(r.Max.Y)
	pt := func(x float64) vg.Length { return vg.Length(x / dotsPerPt) }
	in = vg.Rectangle{Min: vg.Point{X: pt(x0), Y: pt(y0)}, Max: vg.Point{X: pt(x1), Y: pt(y1)}}
	return in, int(x1 - x0), int(y1 - y0)
}

// scale is a sequential colour scale: white-yellow for little, dark blue for much.
type scale []color.Color

func newScale() scale {
	p, err := brewer.GetPalette(brewer.TypeSequential, "YlGnBu", 9)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return p.Colors()
}

// at is the colour for x in 0…1.
func (s scale) at(x float64) color.NRGBA {
	x = max(0, min(x, 1)) * float64(len(s)-1)
	i := min(int(x), len(s)-2)
	f := x - float64(i)
	a, b := color.NRGBAModel.Convert(s[i]).(color.NRGBA), color.NRGBAModel.Convert(s[i+1]).(color.NRGBA)
	return mix(a, b, f)
}

// mix goes from a to b as f goes from 0 to 1.
func mix(a, b color.NRGBA, f float64) color.NRGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + f*(float64(y)-float64(x)))) }
	return color.NRGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}
