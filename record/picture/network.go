package picture

import (
	"fmt"
	"iter"

	"burst/connectome"
	"burst/genome"
	"burst/record"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
)

// matrix draws how many synapses lead from area to area.
func matrix(title string, g *genome.Genome) (*Picture, error) {
	s, err := connectome.Measure(g, connectome.Options{})
	if err != nil {
		return nil, err
	}
	h := heat{title: title, x: "from area", y: "to area", key: "synapses", x1: 1, log: true, cells: len(g.Areas) <= 12, columns: []string{}}
	for i := range g.Areas {
		h.rows, h.columns = append(h.rows, g.Areas[i].Name), append(h.columns, g.Areas[i].Name)
		h.values = append(h.values, make([]float64, len(g.Areas)))
	}
	for _, p := range s.Pairs {
		h.values[p.To][p.From] += float64(p.Synapses)
	}
	return h.picture("matrix", "Synapses from the areas at the bottom to the areas at the left.")
}

// Most neurons whose potentials are drawn, and most points of one.
const (
	mostTraces = 60
	tracePoint = 1200
)

// trace is a neuron's potential over time.
type trace struct {
	area, index uint32
	points      plotter.XYs
}

// potentials draws the recorded potentials of up to mostTraces neurons.
func potentials(s span, chunks iter.Seq2[record.Chunk, error]) (*Picture, error) {
	unit, each := timeAxis(s.from, s.until, s.timestep)
	traces, order, left := map[uint32]*trace{}, []*trace{}, 0
	for c, err := range chunks {
		if err != nil {
			return nil, err
		}
		for i, id := range c.Neuron {
			t := traces[id]
			if t == nil {
				if !s.taken[c.Area[i]] {
					continue
				}
				if len(order) == mostTraces {
					left++
					continue
				}
				t = &trace{area: c.Area[i], index: id - s.areas[c.Area[i]].First}
				traces[id], order = t, append(order, t)
			}
			t.points = append(t.points, plotter.XY{X: float64(c.Burst[i]+1) * each, Y: float64(c.Potential[i])})
		}
	}
	about := "Potential after each burst, absolute; a spike shows as its reset."
	if left > 0 {
		about += fmt.Sprintf(" The first %d recorded neurons.", mostTraces)
	}
	x0, x1 := float64(s.from)*each, max(float64(s.until), float64(s.from)+1)*each
	if len(order) > mostPanels {
		return manyTraces(s, order, "time ("+unit+")", about, x0, x1)
	}
	l := panels{title: s.title, x: "time (" + unit + ")", y: potentialLabel(s.areas, order), columns: 1, height: 92}
	for n, t := range order {
		p := newPlot(fmt.Sprintf("%s, neuron %d", short(s.areas[t.area].Name, 32), t.index), mediumText)
		if err := line(p, thin(t.points), palette(n), false, false); err != nil {
			return nil, err
		}
		pad := 0.05 * (p.Y.Max - p.Y.Min)
		if pad == 0 {
			pad = 1
		}
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x0, x1, p.Y.Min-pad, p.Y.Max+pad
		p.Y.Tick.Marker = heightTicks(3)
		l.plots = append(l.plots, p)
	}
	if len(order) == 0 {
		p := newPlot("", mediumText)
		p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = x0, x1, 0, 1
		if err := note(p, "no potentials"); err != nil {
			return nil, err
		}
		l.plots = append(l.plots, p)
	}
	return l.picture("potentials", about), nil
}

// potentialLabel names the unit, where the neurons have one: those of feagi areas do not.
func potentialLabel(areas []record.Area, order []*trace) string {
	plain := 0
	for _, t := range order {
		if areas[t.area].Model == "feagi" {
			plain++
		}
	}
	switch plain {
	case 0:
		return "potential (mV)"
	case len(order):
		return "potential"
	}
	return "potential (mV; none in feagi areas)"
}

// manyTraces draws a row of colours a neuron.
func manyTraces(s span, order []*trace, x, about string, x0, x1 float64) (*Picture, error) {
	h := heat{title: s.title, x: x, key: potentialLabel(s.areas, order), x0: x0, x1: x1, ticks: plot.TickerFunc(ticks)}
	for _, t := range order {
		row := make([]float64, min(len(t.points), tracePoint))
		for k := range row {
			row[k] = t.points[k*len(t.points)/len(row)].Y
		}
		h.rows = append(h.rows, fmt.Sprintf("%s %d", short(s.areas[t.area].Name, 16), t.index))
		h.values = append(h.values, row)
	}
	return h.picture("potentials", about)
}

// thin keeps the lowest and the highest of neighbouring points, so that no peak is lost.
func thin(points plotter.XYs) plotter.XYs {
	every := 2 * len(points) / tracePoint
	if every < 3 {
		return points
	}
	var out plotter.XYs
	for from := 0; from < len(points); from += every {
		lo, hi := from, from
		for k := from; k < min(from+every, len(points)); k++ {
			if points[k].Y < points[lo].Y {
				lo = k
			}
			if points[k].Y > points[hi].Y {
				hi = k
			}
		}
		out = append(out, points[min(lo, hi)], points[max(lo, hi)])
	}
	return out
}
