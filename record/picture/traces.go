package picture

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"burst/genome"
	"burst/record/manifest"
	"burst/record/runfolder"
)

// Most neurons whose potentials are drawn, and most points of one.
const (
	mostTraces = 60
	tracePoint = 1200
)

// trace is a variable of a neuron over time.
type trace struct {
	area, index uint32
	variable    string // "" for its potential
	points      []point
}

// title names the neuron and, where it is not the potential, the variable.
func (t *trace) title(s span) string {
	title := fmt.Sprintf("%s, neuron %d", short(s.areas[t.area].Name, 32), t.index)
	if t.variable != "" {
		title += ", " + t.variable
	}
	return title
}

// potentials draws the recorded potentials of up to mostTraces neurons.
func potentials(s span, chunks iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	t, left, err := traces(s, chunks, nil)
	if err != nil {
		return nil, err
	}
	about := "Potential after each burst, absolute; a spike shows as its reset."
	if left {
		about += fmt.Sprintf(" The first %d recorded neurons.", mostTraces)
	}
	return drawTraces(s, "potentials", about, potentialLabel(s.areas, t), t)
}

// variables draws the recorded state variables and inputs likewise. Where there are several of them, each trace has a scale of its
// own, and only as many are drawn as there is room for.
func variables(s span, names []string, chunks iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	t, left, err := traces(s, chunks, names)
	if err != nil {
		return nil, err
	}
	label, several := "value", false
	for _, x := range t {
		several = several || x.variable != t[0].variable
	}
	if len(t) > 0 && !several {
		label = t[0].variable
	}
	if several && len(t) > mostPanels {
		t, left = t[:mostPanels], true
	}
	about := "State variables after the bursts that were recorded, and inputs of those bursts, in the models' units."
	if left {
		about += fmt.Sprintf(" The first %d of those recorded.", len(t))
	}
	return drawTraces(s, "variables", about, label, t)
}

// traces reads up to mostTraces of them; left says that there are more. names are those of the chunks' variables; nil: they have
// potentials.
func traces(s span, chunks iter.Seq2[runfolder.Chunk, error], names []string) (order []*trace, left bool, err error) {
	_, each := timeAxis(s.from, s.until, s.timestep)
	known := map[[2]uint32]*trace{}
	for c, err := range chunks {
		if err != nil {
			return nil, false, err
		}
		for i, id := range c.Neuron {
			key, y := [2]uint32{id}, float32(0)
			if names == nil {
				y = c.Potential[i]
			} else {
				key[1], y = c.Variable[i], c.Value[i]
			}
			t := known[key]
			if t == nil {
				if !s.taken[c.Area[i]] {
					continue
				}
				if len(order) == mostTraces {
					left = true
					continue
				}
				t = &trace{area: c.Area[i], index: id - s.areas[c.Area[i]].First}
				if names != nil {
					t.variable = names[key[1]]
				}
				known[key], order = t, append(order, t)
			}
			t.points = append(t.points, point{float64(c.Burst[i]+1) * each, float64(y)})
		}
	}
	return order, left, nil
}

// drawTraces draws a chart for each, or, where there are more than that has room for, a row of colours.
func drawTraces(s span, name, about, label string, order []*trace) (*Picture, error) {
	unit, each := timeAxis(s.from, s.until, s.timestep)
	x0, x1 := float64(s.from)*each, max(float64(s.until), float64(s.from)+1)*each
	if len(order) > mostPanels {
		return manyTraces(s, name, order, "time ("+unit+")", label, about, x0, x1)
	}
	l := panels{title: s.title, x: "time (" + unit + ")", y: label, columns: 1, height: 92}
	for n, t := range order {
		p := newChart(t.title(s), mediumText)
		p.line(thin(t.points), palette(n), false, false)
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, at := range t.points {
			lo, hi = min(lo, at.y), max(hi, at.y)
		}
		pad := 0.05 * (hi - lo)
		if pad == 0 {
			pad = 1
		}
		p.x.min, p.x.max, p.y.min, p.y.max = x0, x1, lo-pad, hi+pad
		p.y.ticks = heightTicks(3)
		l.charts = append(l.charts, p)
	}
	if len(order) == 0 {
		p := newChart("", mediumText)
		p.x.min, p.x.max, p.y.min, p.y.max = x0, x1, 0, 1
		p.note("no " + name)
		l.charts = append(l.charts, p)
	}
	return l.picture(name, about), nil
}

// potentialLabel names the unit, where the neurons have one: those of feagi areas do not.
func potentialLabel(areas []manifest.Area, order []*trace) string {
	plain, model := 0, ""
	for _, t := range order {
		name := areas[t.area].Model
		if slices.ContainsFunc(genome.Models(), func(m *genome.Model) bool {
			return m.Name == name && len(m.State) > 0 && m.State[0].Dim == genome.Plain
		}) {
			plain, model = plain+1, name
		}
	}
	switch plain {
	case 0:
		return "potential (mV)"
	case len(order):
		return "potential"
	}
	return "potential (mV; none in " + model + " areas)"
}

// manyTraces draws a row of colours a neuron.
func manyTraces(s span, name string, order []*trace, x, key, about string, x0, x1 float64) (*Picture, error) {
	h := heat{title: s.title, x: x, key: key, x0: x0, x1: x1, ticks: ticks}
	for _, t := range order {
		row := make([]float64, min(len(t.points), tracePoint))
		for k := range row {
			row[k] = t.points[k*len(t.points)/len(row)].y
		}
		h.rows = append(h.rows, fmt.Sprintf("%s %d", short(s.areas[t.area].Name, 16), t.index))
		h.values = append(h.values, row)
	}
	return h.picture(name, about)
}

// thin keeps the lowest and the highest of neighbouring points, so that no peak is lost.
func thin(points []point) []point {
	every := 2 * len(points) / tracePoint
	if every < 3 {
		return points
	}
	var out []point
	for from := 0; from < len(points); from += every {
		lo, hi := from, from
		for k := from; k < min(from+every, len(points)); k++ {
			if points[k].y < points[lo].y {
				lo = k
			}
			if points[k].y > points[hi].y {
				hi = k
			}
		}
		out = append(out, points[min(lo, hi)], points[max(lo, hi)])
	}
	return out
}
