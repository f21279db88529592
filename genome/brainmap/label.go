package brainmap

import (
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// wider makes room for fonts that are wider than the one measured.
const wider = 1.12

// drawLabels writes every area's name where it is in the way of the least; the largest areas choose last, for they have
// the most room.
func (m *sheet) drawLabels() {
	order := make([]int, len(m.areas))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := m.areas[i].box, m.areas[j].box
		return int(math.Copysign(1, float64(a.w*a.h-b.w*b.h)))
	})
	var written []rect
	for _, i := range order {
		box, far := m.room(i, written)
		written = append(written, box)
		if far {
			m.leader(m.areas[i].box, box)
		}
		m.canvas.SetColor(color.Black)
		m.canvas.FillString(m.face, vg.Point{X: box.x, Y: box.y + 2}, m.areas[i].area.Name)
	}
}

// room finds a label's box; far says that it is not beside its area.
func (m *sheet) room(i int, written []rect) (best rect, far bool) {
	const ring, rings = 13, 9
	a, w := m.areas[i].box, m.face.Width(m.areas[i].area.Name)*wider
	least := math.Inf(1)
	if inside := (rect{a.x + 4, a.y + a.h - textSize - 4, w, textSize}); a.w > w+8 && a.h > 2*textSize {
		best, least = inside, m.cost(inside, written)-inside.overlap(a)
	}
	for k := range rings {
		off := vg.Length(2 + ring*k)
		middle, right := a.x+a.w/2-w/2, a.x+a.w+off
		for _, r := range []rect{
			{middle, a.y + a.h + off, w, textSize}, {middle, a.y - textSize - off, w, textSize},
			{right, a.y + a.h/2 - textSize/2, w, textSize}, {a.x - w - off, a.y + a.h/2 - textSize/2, w, textSize},
			{right, a.y + a.h + off, w, textSize}, {a.x - w - off, a.y + a.h + off, w, textSize},
			{right, a.y - textSize - off, w, textSize}, {a.x - w - off, a.y - textSize - off, w, textSize},
		} {
			cost := m.cost(r, written) + float64(8*k)
			if cost < least {
				least, best, far = cost, r, k > 0
			}
		}
	}
	return best, far
}

// cost is how much a label would cover; other labels and the edge weigh most.
func (m *sheet) cost(r rect, written []rect) float64 {
	sheet := rect{4, footer - 6, width - 8, m.height - footer}
	cost := 100 * (float64(r.w*r.h) - r.overlap(sheet))
	for _, o := range written {
		cost += 20 * r.overlap(o)
	}
	for i := range m.areas {
		cost += r.overlap(m.areas[i].box)
	}
	return cost
}

// leader ties a label to its area.
func (m *sheet) leader(area, label rect) {
	m.canvas.SetColor(color.Gray{150})
	m.canvas.SetLineWidth(0.5)
	var p vg.Path
	p.Move(edge(area, label.centre()))
	p.Line(edge(label, area.centre()))
	m.canvas.Stroke(p)
}
