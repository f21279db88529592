package picture

import (
	"image"

	"golang.org/x/image/draw"
	"golang.org/x/image/math/f64"
)

// letters copies letters that are not turned, and interpolates others, which draw.ApproxBiLinear does with 160 KB more of program.
type letters struct{ draw.Interpolator }

// Transform draws a letter through the mask that gg gives it.
func (l letters) Transform(to draw.Image, by f64.Aff3, from image.Image, part image.Rectangle, op draw.Op, o *draw.Options) {
	x, y := int(by[2]), int(by[5])
	if by == (f64.Aff3{1, 0, float64(x), 0, 1, float64(y)}) {
		draw.DrawMask(to, part.Add(image.Pt(x, y)), from, part.Min, o.SrcMask, o.SrcMaskP.Add(part.Min), op)
		return
	}
	l.Interpolator.Transform(to, by, from, part, op, o)
}
