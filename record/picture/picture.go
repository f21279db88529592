// Package picture draws what a run has recorded: raster, rates, histograms, connectivity and potentials, as PNG and SVG.
// Spikes are counted into pixels as they are read, so that a picture's memory does not depend on their number. Colours are
// those of Okabe and Ito (2008), which colour-blind people tell apart, and a sequential scale of ColorBrewer.
package picture

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"strconv"

	"burst/internal/pages"

	"git.sr.ht/~sbinet/gg"
	xdraw "golang.org/x/image/draw"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Picture is a drawing that can be written in any format.
type Picture struct {
	Name   string // raster, rates, …: one of Names
	About  string // one line that explains what is seen
	width  vg.Length
	height vg.Length
	draw   func(draw.Canvas)
}

// Formats lists what Encode writes.
func Formats() []string { return []string{"png", "svg"} }

// Encode gives the picture's file.
func (p *Picture) Encode(format string) ([]byte, error) {
	var out bytes.Buffer
	switch format {
	case "png":
		c := blank(p.width, p.height)
		p.draw(draw.New(c))
		fast := png.Encoder{CompressionLevel: png.BestSpeed} // a tenth of the time or less, for an eighth more bytes
		if err := fast.Encode(&out, fewColours(c.Image().(*image.RGBA))); err != nil {
			return nil, err
		}
	case "svg":
		c := vgsvg.New(p.width, p.height)
		dc := draw.New(c)
		dc.SetColor(color.White)
		dc.Fill(dc.Rectangle.Path())
		p.draw(dc)
		if _, err := c.WriteTo(&out); err != nil {
			return nil, err
		}
		// Where the typeface is missing another without serifs stands in, not the reader's default.
		return bytes.ReplaceAll(out.Bytes(), []byte("font-family:Liberation Sans;"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif;")), nil
	default:
		return nil, fmt.Errorf("picture: format %q, want one of %v", format, Formats())
	}
	return out.Bytes(), nil
}

// newDots is an image in huge pages: to take its memory in small ones is a third of a picture's time.
func newDots(w, h int) *image.RGBA {
	return &image.RGBA{Pix: pages.Slice[uint8](uint64(4 * w * h)), Stride: 4 * w, Rect: image.Rect(0, 0, w, h)}
}

// blank is an empty canvas of dots.
func blank(width, height vg.Length) *vgimg.Canvas {
	w, h := int(width/vg.Inch*dotsPerInch+0.5), int(height/vg.Inch*dotsPerInch+0.5)
	dots := newDots(w, h)
	context := gg.NewContextForRGBA(dots)
	context.SetLineCapButt()
	context.SetInterpolator(letters{xdraw.BiLinear})
	context.InvertY()
	size, on := vgimg.UseWH(width, height), vgimg.UseImageWithContext(dots, context)
	return vgimg.NewWith(vgimg.UseDPI(dotsPerInch), func(c *vgimg.Canvas) uint32 {
		on(c)
		return size(c) // the lengths that were asked for, not those of whole dots
	})
}

// fewColours gives the picture as one of numbered colours where 256 are enough, which makes a third of the file: first as
// it is, then with 32 or 16 steps a channel, which is hardly seen in the edges of letters and lines.
func fewColours(img *image.RGBA) image.Image {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	out := &image.Paletted{Pix: pages.Slice[uint8](uint64(w * h)), Stride: w, Rect: img.Rect}
	for _, steps := range []int{255, 31, 15} {
		if numberInto(out, img, steps) {
			return out
		}
	}
	return img
}

// numberInto makes out img in so many steps a channel; false when that leaves more than 256 colours.
func numberInto(out *image.Paletted, img *image.RGBA, steps int) bool {
	numbers := map[uint32]uint8{} // of dots, before rounding
	var recent [1 << 10]struct {  // some of them, which are found in a fifth of the time
		dot    uint32
		number uint8
		known  bool
	}
	var colours []color.RGBA
	round := func(x uint8) uint8 { return uint8((int(x)*steps + 127) / 255 * 255 / steps) }
	for y := range out.Rect.Dy() {
		from, to := img.Pix[y*img.Stride:][:4*out.Stride], out.Pix[y*out.Stride:][:out.Stride]
		if y > 0 && bytes.Equal(from, img.Pix[(y-1)*img.Stride:][:len(from)]) { // half of the rows
			copy(to, out.Pix[(y-1)*out.Stride:])
			continue
		}
		for len(to) > 0 {
			dot := binary.LittleEndian.Uint32(from)
			last := &recent[dot*0x9E3779B1>>22]
			k, known := last.number, last.known && last.dot == dot
			if !known {
				k, known = numbers[dot]
			}
			if !known {
				c := color.RGBA{round(uint8(dot)), round(uint8(dot >> 8)), round(uint8(dot >> 16)), uint8(dot >> 24)}
				at := slices.Index(colours, c)
				if at < 0 {
					if at = len(colours); at == 256 {
						return false
					}
					colours = append(colours, c)
				}
				k = uint8(at)
				numbers[dot] = k
			}
			last.dot, last.number, last.known = dot, k, true
			n := alike(from)
			if k == 0 {
				clear(to[:n]) // the ground, most of a picture
			} else {
				for x := range to[:n] {
					to[x] = k
				}
			}
			from, to = from[4*n:], to[n:]
		}
	}
	out.Palette = make(color.Palette, len(colours))
	for k, c := range colours {
		out.Palette[k] = c
	}
	return true
}

// alike is how many dots from the first on have its colour.
func alike(dots []uint8) int {
	n, first := 4, uint64(binary.LittleEndian.Uint32(dots))
	for pair := first<<32 | first; n+8 <= len(dots) && binary.LittleEndian.Uint64(dots[n:]) == pair; {
		n += 8
	}
	if n+4 <= len(dots) && uint64(binary.LittleEndian.Uint32(dots[n:])) == first {
		n += 4
	}
	return n / 4
}

// Measures shared by all pictures.
const (
	dotsPerInch = 144
	dotsPerPt   = dotsPerInch / 72
	pageWidth   = vg.Length(648)
	margin      = vg.Length(8)
	smallText   = vg.Length(9)
	mediumText  = vg.Length(10)
	titleText   = vg.Length(12)
)

// palette is Okabe and Ito's, in an order in which neighbours differ most; yellow is left out, it fades on white.
func palette(i int) color.NRGBA {
	colours := [...]color.NRGBA{
		{0x00, 0x72, 0xB2, 255}, {0xD5, 0x5E, 0x00, 255}, {0x00, 0x9E, 0x73, 255}, {0xCC, 0x79, 0xA7, 255},
		{0xE6, 0x9F, 0x00, 255}, {0x56, 0xB4, 0xE9, 255}, {0x00, 0x00, 0x00, 255},
	}
	return colours[i%len(colours)]
}

// ticks labels an axis at round numbers, about six of them.
func ticks(lo, hi float64) []tick { return roundTicks(lo, hi, 6) }

// oneLevel reports whether two values differ by no more than rounding, so that labels between them would be the same.
func oneLevel(lo, hi float64) bool { return hi-lo <= 1e-9*max(math.Abs(lo), math.Abs(hi)) }

func roundTicks(lo, hi float64, about float64) []tick {
	span := hi - lo
	if !(span > 0) || math.IsInf(span, 0) || oneLevel(lo, hi) {
		return []tick{{value: lo, label: number(lo)}}
	}
	step := math.Pow(10, math.Floor(math.Log10(span/about)))
	for _, m := range []float64{2, 2.5, 2} { // steps of 1, 2, 5 and 10
		if span/step > about {
			step *= m
		}
	}
	var out []tick
	for k := math.Ceil(lo/step - 1e-9); k*step <= hi+1e-9*span; k++ {
		out = append(out, tick{value: k * step, label: number(k * step)})
	}
	return out
}

// logTicks labels an axis of decimal logarithms: powers of ten, and 2 and 5 of each where there are few.
func logTicks(lo, hi float64) []tick {
	var out []tick
	steps := []float64{1}
	if hi-lo < 2.2 {
		steps = []float64{1, 2, 5}
	}
	every := max(1, math.Ceil((hi-lo)/8))
	for k := math.Floor(lo); k <= hi; k++ {
		for _, m := range steps {
			v := k + math.Log10(m)
			if v < lo-1e-9 || v > hi+1e-9 {
				continue
			}
			label := ""
			if math.Mod(k, every) == 0 {
				label = number(m * math.Pow(10, k))
			}
			out = append(out, tick{value: v, label: label})
		}
	}
	if len(out) < 2 {
		return []tick{{value: lo, label: number(math.Pow(10, lo))}, {value: hi, label: number(math.Pow(10, hi))}}
	}
	return out
}

// number writes a number as short as it can be read: 0.25, 1500, 15k, 2M.
func number(x float64) string {
	units := []struct {
		of   float64
		name string
	}{{1e9, "G"}, {1e6, "M"}, {1e4, "k"}}
	for _, u := range units {
		if math.Abs(x) >= u.of*0.99995 {
			return figures(x/math.Pow(1000, math.Floor(math.Log10(u.of)/3)), 3) + u.name
		}
	}
	return figures(x, 4)
}

// figures writes x with so many significant figures at most, and zero without a sign.
func figures(x float64, most int) string {
	if x == 0 {
		return "0"
	}
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', most, 64), 64)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return strconv.FormatFloat(y, 'g', -1, 64)
}

// short cuts a name that would take too much room.
func short(name string, most int) string {
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// timeAxis chooses the unit of a time axis over bursts from to until, and says how many units a burst takes.
func timeAxis(from, until uint64, timestep float64) (unit string, each float64) {
	if float64(until-from)*timestep >= 2000 {
		return "s", timestep / 1000
	}
	return "ms", timestep
}
