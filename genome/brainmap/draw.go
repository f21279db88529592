// Package brainmap draws a genome for people: its areas where the genome puts them, and the projections between them. It
// needs the genome and its sizes alone: no network is built.
package brainmap

import (
	"bytes"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"burst/genome"
	"burst/internal/typeface"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The page, in points.
const (
	width    = 1100
	most     = 1400 // height
	margin   = 60
	least    = 7 // of an area's side
	textSize = 10
	footer   = 40
	slant    = 0.35 // of z, right and up
)

// Draw writes an SVG of g: each area at its position, x to the right and y up, z slanting away and paler; sides in
// proportion to its voxels. Areas that have no positions stand in rows. Arrows are projections, red where the weight is
// negative.
func Draw(w io.Writer, g *genome.Genome) error {
	m := &sheet{areas: make([]placed, len(g.Areas))}
	for i := range g.Areas {
		m.areas[i].area = &g.Areas[i]
	}
	m.place()
	m.canvas = vgsvg.NewWith(vgsvg.UseWH(width, m.height), vgsvg.EmbedFonts(false))
	m.face = typeface.Cache().Lookup(typeface.Font(textSize), textSize)
	m.fill(rect{0, 0, width, m.height}, color.White)
	m.drawAreas()
	m.drawArrows(g)
	m.drawLabels()
	m.legend(g.Name)
	var b bytes.Buffer
	if _, err := m.canvas.WriteTo(&b); err != nil {
		return err
	}
	// Viewers without the font measured get one of the same kind.
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("font-family:Liberation Sans"), []byte("font-family:Liberation Sans,Arial,Helvetica,sans-serif")))
	return err
}

// sheet is one picture.
type sheet struct {
	canvas *vgsvg.Canvas
	face   font.Face
	areas  []placed
	scale  float64 // points a voxel
	height vg.Length
}

// placed is an area on the sheet.
type placed struct {
	area  *genome.Area
	x, y  float64 // of the lower left corner, in voxels, slanted
	box   rect
	shade float64 // 0 near … 1 far
}

// rect is a box in points.
type rect struct{ x, y, w, h vg.Length }

func (r rect) centre() vg.Point { return vg.Point{X: r.x + r.w/2, Y: r.y + r.h/2} }

func (r rect) holds(p vg.Point) bool {
	return p.X > r.x && p.X < r.x+r.w && p.Y > r.y && p.Y < r.y+r.h
}

// overlap is the area that two boxes share.
func (r rect) overlap(o rect) float64 {
	w := min(r.x+r.w, o.x+o.w) - max(r.x, o.x)
	h := min(r.y+r.h, o.y+o.h) - max(r.y, o.y)
	if w <= 0 || h <= 0 {
		return 0
	}
	return float64(w * h)
}

// place finds the box of every area.
func (m *sheet) place() {
	if m.unplaced() {
		m.rows()
	} else {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range m.areas {
			a := &m.areas[i]
			p := a.area.Position
			a.x, a.y = p[0]+slant*p[2], p[1]+slant*p[2]
			low, high = min(low, p[2]), max(high, p[2])
		}
		for i := range m.areas {
			if high > low {
				m.areas[i].shade = (m.areas[i].area.Position[2] - low) / (high - low)
			}
		}
	}
	m.fit()
}

// unplaced says that the genome has no positions worth the name.
func (m *sheet) unplaced() bool {
	for i := range m.areas {
		if m.areas[i].area.Position != m.areas[0].area.Position {
			return false
		}
	}
	return true
}

// rows stands the areas in rows of equal cells.
func (m *sheet) rows() {
	cell := 1.0
	for i := range m.areas {
		s := m.areas[i].area.Size
		cell = max(cell, 1.6*float64(s[0]), 1.6*float64(s[1]))
	}
	columns := int(math.Ceil(math.Sqrt(float64(len(m.areas)))))
	for i := range m.areas {
		m.areas[i].x, m.areas[i].y = float64(i%columns)*cell, -float64(i/columns)*cell
	}
}

// fit turns voxels into points; the smallest sides are drawn larger than they are.
func (m *sheet) fit() {
	left, low, right, high := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for i := range m.areas {
		a := &m.areas[i]
		left, right = min(left, a.x), max(right, a.x+float64(a.area.Size[0]))
		low, high = min(low, a.y), max(high, a.y+float64(a.area.Size[1]))
	}
	wide, tall := max(right-left, 1), max(high-low, 1)
	m.scale = min((width-2*margin)/wide, (most-2*margin-footer)/tall, 40)
	m.height = vg.Length(max(tall*m.scale+2*margin+footer, 300))
	for i := range m.areas {
		a := &m.areas[i]
		a.box = rect{
			vg.Length(margin + (a.x-left)*m.scale), vg.Length(margin + footer + (a.y-low)*m.scale),
			vg.Length(max(float64(a.area.Size[0])*m.scale, least)), vg.Length(max(float64(a.area.Size[1])*m.scale, least)),
		}
	}
}

// hue is the colour of a group.
func hue(group string) color.RGBA {
	switch group {
	case "ipu":
		return color.RGBA{66, 133, 190, 255}
	case "opu":
		return color.RGBA{226, 135, 50, 255}
	case "core":
		return color.RGBA{120, 120, 120, 255}
	case "memory":
		return color.RGBA{150, 95, 180, 255}
	}
	return color.RGBA{90, 160, 95, 255}
}

// paler mixes a colour with white.
func paler(c color.RGBA, by float64) color.RGBA {
	mix := func(x uint8) uint8 { return uint8(float64(x) + (255-float64(x))*by) }
	return color.RGBA{mix(c.R), mix(c.G), mix(c.B), 255}
}

// drawAreas draws the far ones first.
func (m *sheet) drawAreas() {
	order := make([]int, len(m.areas))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		if a, b := m.areas[i].shade, m.areas[j].shade; a != b {
			return int(math.Copysign(1, b-a))
		}
		return int(math.Copysign(1, float64(m.areas[j].box.w*m.areas[j].box.h-m.areas[i].box.w*m.areas[i].box.h)))
	})
	for _, i := range order {
		a := &m.areas[i]
		c := hue(a.area.Group)
		m.fill(a.box, paler(c, 0.35+0.4*a.shade))
		m.outline(a.box, c)
	}
}

func (m *sheet) path(r rect) vg.Path {
	var p vg.Path
	p.Move(vg.Point{X: r.x, Y: r.y})
	p.Line(vg.Point{X: r.x + r.w, Y: r.y})
	p.Line(vg.Point{X: r.x + r.w, Y: r.y + r.h})
	p.Line(vg.Point{X: r.x, Y: r.y + r.h})
	p.Close()
	return p
}

func (m *sheet) fill(r rect, c color.Color) {
	m.canvas.SetColor(c)
	m.canvas.Fill(m.path(r))
}

func (m *sheet) outline(r rect, c color.Color) {
	m.canvas.SetColor(c)
	m.canvas.SetLineWidth(1)
	m.canvas.Stroke(m.path(r))
}

// legend says what is drawn, and how long a number of voxels is.
func (m *sheet) legend(name string) {
	m.canvas.SetColor(color.Black)
	voxels := math.Pow(10, math.Floor(math.Log10(200/m.scale)))
	bar := vg.Length(voxels * m.scale)
	m.canvas.FillString(m.face, vg.Point{X: margin, Y: 14}, fmt.Sprintf("%s: %d areas", name, len(m.areas)))
	x := vg.Length(width - margin)
	m.fill(rect{x - bar, 14, bar, 2}, color.Black)
	m.canvas.FillString(m.face, vg.Point{X: x - bar, Y: 20}, fmt.Sprintf("%g voxels", voxels))
	x = width / 2.6
	for _, e := range []struct {
		text string
		c    color.RGBA
	}{{"ipu", hue("ipu")}, {"opu", hue("opu")}, {"core", hue("core")}, {"memory", hue("memory")}, {"other", hue("")}, {"weight ≥ 0", positive}, {"weight < 0", negative}} {
		m.fill(rect{x, 14, 8, 8}, e.c)
		m.canvas.SetColor(color.Black)
		m.canvas.FillString(m.face, vg.Point{X: x + 11, Y: 14}, e.text)
		x += 24 + m.face.Width(e.text)
	}
}
