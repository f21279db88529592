package picture

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestFill: an image that fills a part of a canvas arrives there dot by dot, upright, and leaves the rest alone.
func TestFill(t *testing.T) {
	canvas := vgimg.NewWith(vgimg.UseWH(40, 30), vgimg.UseDPI(dotsPerInch))
	cut := draw.Crop(draw.Crop(draw.New(canvas), 3, 0, 0, 0), 0.25, -2, 4, -5) // left, right, below, above; in points of two dots
	want := func(x, y int) color.RGBA { return color.RGBA{uint8(7 * x), uint8(5 * y), uint8(x ^ y), 255} }
	var p chart
	p.fill(func(img *image.RGBA) {
		require.Equal(t, image.Rect(0, 0, 69, 42), img.Rect)
		for y := range 42 {
			for x := range 69 {
				img.SetRGBA(x, y, want(x, y))
			}
		}
	})
	p.drawn[0](frame{Canvas: cut})
	img := canvas.Image()
	left, above := 7, 2*5 // 3.25 points are 6.5 dots, of which the first whole one is the seventh
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			c := color.RGBA{255, 255, 255, 255}
			if x >= left && x < left+69 && y >= above && y < above+42 {
				c = want(x-left, y-above)
			}
			require.Equal(t, c, color.RGBAModel.Convert(img.At(x, y)), "dot %d, %d", x, y)
		}
	}
}

// TestBlank: the canvas of a picture is the one that the library makes of its lengths.
func TestBlank(t *testing.T) {
	for _, height := range []vg.Length{30, 30.2, 30.25, 30.3, 613.7} {
		want, got := vgimg.NewWith(vgimg.UseWH(40, height), vgimg.UseDPI(dotsPerInch)), blank(40, height)
		for _, c := range []*vgimg.Canvas{want, got} {
			d := draw.New(c)
			d.StrokeLine2(draw.LineStyle{Color: palette(0), Width: 1}, d.Min.X, d.Min.Y+2, d.Max.X, d.Max.Y)
			d.FillText(mark(color.Black, smallText), d.Center(), "text")
		}
		require.Equal(t, want.Image(), got.Image(), "height %v", height)
	}
}

// TestNumberedColours: a picture of numbered colours has those of the dots, rounded, wherever runs of one colour end.
func TestNumberedColours(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	img := image.NewRGBA(image.Rect(0, 0, 61, 200))
	for at := 0; at < len(img.Pix); {
		c := palette(r.IntN(7))
		for range 1 + r.IntN(9) {
			if at < len(img.Pix) {
				copy(img.Pix[at:], []uint8{c.R, c.G, c.B, c.A})
				at += 4
			}
		}
	}
	out := image.NewPaletted(img.Rect, nil)
	for i := range out.Pix {
		out.Pix[i] = 0xFF // what another number of steps left
	}
	for _, steps := range []int{255, 31, 15} {
		require.True(t, numberInto(out, img, steps))
		for y := range 200 {
			for x := range 61 {
				c := img.RGBAAt(x, y)
				for _, part := range []*uint8{&c.R, &c.G, &c.B} {
					*part = uint8((int(*part)*steps + 127) / 255 * 255 / steps)
				}
				require.Equal(t, c, out.At(x, y), "dot %d, %d in %d steps", x, y, steps)
			}
		}
	}
}
