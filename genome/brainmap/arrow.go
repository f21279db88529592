package brainmap

import (
	"image/color"
	"math"

	"burst/genome"

	"gonum.org/v1/plot/vg"
)

var positive, negative = color.RGBA{60, 60, 90, 255}, color.RGBA{200, 40, 40, 255}

// drawArrows draws one arrow for each ordered pair of areas and sign of weight.
func (m *sheet) drawArrows(g *genome.Genome) {
	type arrow struct {
		from, to int
		negative bool
	}
	drawn := map[arrow]bool{}
	for i := range g.Projections {
		p := &g.Projections[i]
		a := arrow{p.From, p.To, p.Weight.Mean()*g.Areas[p.From].Factor() < 0}
		if drawn[a] {
			continue
		}
		drawn[a] = true
		m.canvas.SetColor(positive)
		bend := 0.12
		if a.negative {
			m.canvas.SetColor(negative)
			bend = 0.2
		}
		m.canvas.SetLineWidth(0.7)
		if p.From == p.To {
			m.loop(m.areas[p.From].box)
			continue
		}
		m.arrow(m.areas[p.From].box, m.areas[p.To].box, bend)
	}
}

// arrow bends to its left, so that two that run both ways stay apart. It runs between the borders of the boxes.
func (m *sheet) arrow(from, to rect, bend float64) {
	a, b := from.centre(), to.centre()
	d := b.Sub(a)
	middle := vg.Point{X: (a.X+b.X)/2 - d.Y*vg.Length(bend), Y: (a.Y+b.Y)/2 + d.X*vg.Length(bend)}
	const steps = 200
	at := func(i int) vg.Point {
		t := vg.Length(i) / steps
		return a.Scale((1 - t) * (1 - t)).Add(middle.Scale(2 * t * (1 - t))).Add(b.Scale(t * t))
	}
	first, last := 0, steps
	for first < last-2 && from.holds(at(first)) {
		first++
	}
	for last > first+2 && to.holds(at(last-1)) {
		last--
	}
	var p vg.Path
	p.Move(at(first))
	for i := first + 5; i < last; i += 5 {
		p.Line(at(i))
	}
	p.Line(at(last))
	m.canvas.Stroke(p)
	end, before := at(last), at(last-1)
	m.head(end, math.Atan2(float64(end.Y-before.Y), float64(end.X-before.X)))
}

// edge is where the line from a box's centre towards a point leaves the box.
func edge(r rect, towards vg.Point) vg.Point {
	c := r.centre()
	d := towards.Sub(c)
	t := math.Inf(1)
	if d.X != 0 {
		t = min(t, math.Abs(float64(r.w/2/d.X)))
	}
	if d.Y != 0 {
		t = min(t, math.Abs(float64(r.h/2/d.Y)))
	}
	if t >= 1 {
		return c
	}
	return vg.Point{X: c.X + d.X*vg.Length(t), Y: c.Y + d.Y*vg.Length(t)}
}

// head draws an arrow's head that points along an angle.
func (m *sheet) head(at vg.Point, angle float64) {
	const length, half = 6.5, 0.38
	back := func(turn float64) vg.Point {
		return vg.Point{X: at.X - vg.Length(length*math.Cos(angle+turn)), Y: at.Y - vg.Length(length*math.Sin(angle+turn))}
	}
	var p vg.Path
	p.Move(at)
	p.Line(back(half))
	p.Line(back(-half))
	p.Close()
	m.canvas.Fill(p)
}

// loop is the arrow of an area onto itself, at its upper right corner.
func (m *sheet) loop(r rect) {
	const radius = 6
	corner := vg.Point{X: r.x + r.w, Y: r.y + r.h}
	var p vg.Path
	p.Move(vg.Point{X: corner.X - radius, Y: corner.Y})
	p.Arc(corner, radius, math.Pi, -1.5*math.Pi)
	m.canvas.Stroke(p)
	m.head(vg.Point{X: corner.X, Y: corner.Y - radius}, math.Pi)
}
