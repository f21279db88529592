package genome

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"strings"
)

const (
	maxPixels = 1 << 22  // of an image, 2048 by 2048
	maxLit    = 1 << 24  // neurons of an area that takes an image
	maxFile   = 16 << 20 // bytes of a file that a genome names
)

// image reads the picture of a stimulus: amount × level/255 for every voxel that is not black.
func (p *parser) image(f *fields, s *Stimulus, amount float64) {
	n, at, _ := f.get("image")
	name, ok := p.scalar(n, at, "the name of a PNG file")
	if !ok || s.Area < 0 {
		return
	}
	a := &p.g.Areas[s.Area]
	if a.Neurons() == 0 {
		return
	}
	if a.Size[2] != 1 && a.Size[2] != 3 {
		p.fault(n, at, "", "expects an area with z of 1 (grey) or 3 (red, green, blue) for an image, found z of %d in %s", a.Size[2], a.Name)
		return
	}
	if a.Neurons() > maxLit {
		p.fault(n, at, "", "expects an area of at most %d neurons for an image, found %d", maxLit, a.Neurons())
		return
	}
	picture, err := p.picture(name, a)
	if err != nil {
		p.fault(n, at, "", "%v", err)
		return
	}
	s.Neurons, s.Amounts = levels(picture, a, amount)
}

// picture opens and decodes a PNG of the area's size.
func (p *parser) picture(name string, a *Area) (image.Image, error) {
	r, err := p.openFile(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("expects a file of at most %d bytes, found more in %s", maxFile, name)
	}
	head, err := png.DecodeConfig(strings.NewReader(string(text)))
	switch {
	case err != nil:
		return nil, fmt.Errorf("expects a PNG picture, found %s: %w", name, err)
	case uint64(head.Width) != a.Size[0] || uint64(head.Height) != a.Size[1]:
		return nil, fmt.Errorf("expects a picture of %d by %d pixels, the size of %s, found %d by %d", a.Size[0], a.Size[1], a.Name, head.Width, head.Height)
	case head.Width*head.Height > maxPixels:
		return nil, fmt.Errorf("expects a picture of at most %d pixels, found %d by %d", maxPixels, head.Width, head.Height)
	}
	picture, err := png.Decode(strings.NewReader(string(text)))
	if err != nil {
		return nil, fmt.Errorf("expects a PNG picture, found %s: %w", name, err)
	}
	return picture, nil
}

// levels turns a picture into neurons, ascending, and their amounts. Row 0 of the picture is y = 0; all neurons of a
// voxel take its amount. A transparent pixel has the levels that it has on black.
func levels(picture image.Image, a *Area, amount float64) (neurons []uint32, amounts []float64) {
	corner := picture.Bounds().Min
	for x := range a.Size[0] {
		for y := range a.Size[1] {
			c := picture.At(corner.X+int(x), corner.Y+int(y))
			channels := [3]uint8{color.GrayModel.Convert(c).(color.Gray).Y}
			if a.Size[2] == 3 {
				r, g, b, _ := c.RGBA()
				channels = [3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8)}
			}
			for z := range a.Size[2] {
				if channels[z] == 0 {
					continue
				}
				voxel := (x*a.Size[1]+y)*a.Size[2] + z
				for j := range a.PerVoxel {
					neurons = append(neurons, uint32(voxel*a.PerVoxel+j))
					amounts = append(amounts, float64(amount*float64(channels[z]))/255)
				}
			}
		}
	}
	return neurons, amounts
}
