package picture

import (
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

// TestFill: an image that fills a part of a canvas arrives there dot by dot, upright, and leaves the rest alone.
func TestFill(t *testing.T) {
	canvas := vgimg.NewWith(vgimg.UseWH(40, 30), vgimg.UseDPI(dotsPerInch))
	cut := draw.Crop(draw.Crop(draw.New(canvas), 3, 0, 0, 0), 0.25, -2, 4, -5) // left, right, below, above; in points of two dots
	want := func(x, y int) color.RGBA { return color.RGBA{uint8(7 * x), uint8(5 * y), uint8(x ^ y), 255} }
	var p chart
	p.fill(func(w, h int) image.Image {
		require.Equal(t, []int{69, 42}, []int{w, h})
		img := image.NewRGBA(image.Rect(0, 0, w, h))
		for y := range h {
			for x := range w {
				img.SetRGBA(x, y, want(x, y))
			}
		}
		return img
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
