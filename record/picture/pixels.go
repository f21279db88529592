package picture

import (
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// fill has the chart's room painted, an image of exactly its size in whole dots, so that nothing is scaled. On a canvas of dots the
// image is a part of the canvas.
func (p *chart) fill(paint func(img *image.RGBA)) {
	p.add(func(f frame) {
		r, w, h := dots(f.Rectangle)
		if w <= 0 || h <= 0 {
			return
		}
		size := image.Rect(0, 0, w, h)
		if canvas, dotted := whole(f.Canvas).(*vgimg.Canvas); dotted {
			all := canvas.Image().(*image.RGBA)
			at := onto(r, all.Rect).Min
			paint(&image.RGBA{Pix: all.Pix[all.PixOffset(at.X, at.Y):], Stride: all.Stride, Rect: size})
			return
		}
		img := image.NewRGBA(size)
		paint(img)
		f.DrawImage(r, img)
	})
}

// whole is the canvas that c was cut from.
func whole(c vg.Canvas) vg.Canvas {
	for {
		part, cut := c.(draw.Canvas)
		if !cut {
			return c
		}
		c = part.Canvas
	}
}

// onto is where r, whole dots measured from below, lies on an image.
func onto(r vg.Rectangle, bounds image.Rectangle) image.Rectangle {
	dot := func(x vg.Length) int { return int(math.Round(float64(x) * dotsPerPt)) }
	return image.Rect(dot(r.Min.X), bounds.Dy()-dot(r.Max.Y), dot(r.Max.X), bounds.Dy()-dot(r.Min.Y))
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
type scale []color.NRGBA

// newScale is ColorBrewer's YlGnBu of nine colours.
func newScale() scale {
	var s scale
	for _, c := range []uint32{0xFFFFD9, 0xEDF8B1, 0xC7E9B4, 0x7FCDBB, 0x41B6C4, 0x1D91C0, 0x225EA8, 0x253494, 0x081D58} {
		s = append(s, color.NRGBA{uint8(c >> 16), uint8(c >> 8), uint8(c), 255})
	}
	return s
}

// at is the colour for x in 0…1.
func (s scale) at(x float64) color.NRGBA {
	x = max(0, min(x, 1)) * float64(len(s)-1)
	i := min(int(x), len(s)-2)
	f := x - float64(i)
	return mix(s[i], s[i+1], f)
}

// mix goes from a to b as f goes from 0 to 1.
func mix(a, b color.NRGBA, f float64) color.NRGBA {
	part := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + f*(float64(y)-float64(x)))) }
	return color.NRGBA{part(a.R, b.R), part(a.G, b.G), part(a.B, b.B), 255}
}
