package picture

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"burst/record/runfolder"
	"burst/record/stats"
)

// course is the mean rate of each area's neurons in equal bins of time.
type course struct {
	width uint64      // bursts in a bin; the last may have fewer
	hz    [][]float64 // of area i in bin k
	shown []int       // the areas that are drawn
	left  string      // names those that are not, behind a gap
}

// mostPoints is how many bins a course has at most.
const mostPoints = 400

// spikeCourse counts recorded spikes.
func spikeCourse(s span, spikes iter.Seq2[runfolder.Chunk, error]) (*course, error) {
	bursts := s.until - s.from
	c := &course{width: max(1, (bursts+mostPoints-1)/mostPoints), hz: make([][]float64, len(s.areas)), left: s.without("; ")}
	for _, i := range s.shown() {
		if !unrecorded(&s.areas[i]) {
			c.shown = append(c.shown, i)
		}
	}
	bins := int((bursts + c.width - 1) / c.width)
	for i := range c.hz {
		c.hz[i] = make([]float64, bins)
	}
	for chunk, err := range spikes {
		if err != nil {
			return nil, err
		}
		for i, t := range chunk.Burst {
			c.hz[chunk.Area[i]][(t-s.from)/c.width]++
		}
	}
	for i, row := range c.hz {
		for k := range row {
			seconds := float64(min(c.width, bursts-uint64(k)*c.width)) * s.timestep / 1000
			row[k] /= max(1, float64(s.areas[i].Recorded)) * seconds
		}
	}
	return c, nil
}

// ratesCourse cuts the rates that every run keeps; their bins are those of the whole run.
func ratesCourse(s *span, r *runfolder.Rates) *course {
	c := &course{width: max(1, r.Width), shown: s.shown()}
	lo, hi := int((s.from-r.First)/c.width), int((s.until-r.First+c.width-1)/c.width)
	s.from = r.First + uint64(lo)*c.width
	for _, hz := range r.Hz {
		c.hz = append(c.hz, hz[min(lo, len(hz)):min(hi, len(hz))])
	}
	for len(c.hz) < len(s.areas) {
		c.hz = append(c.hz, nil)
	}
	return c
}

// rates draws the course of each area.
func rates(s span, c *course) (*Picture, error) {
	unit, each := timeAxis(s.from, s.until, s.timestep)
	x0, x1 := float64(s.from)*each, max(float64(s.until), float64(s.from)+1)*each
	const about = "Spikes per neuron and second, over time."
	x := "time (" + unit + ")" + c.left
	if len(c.shown) > mostPanels {
		h := heat{title: s.title, x: x, key: "rate (Hz)", x0: x0, x1: x1, column: float64(c.width) * each, ticks: ticks, log: true}
		for _, i := range c.shown {
			h.rows, h.values = append(h.rows, s.areas[i].Name), append(h.values, orBlank(c.hz[i]))
		}
		return h.picture("rates", about)
	}
	l := panels{title: s.title, x: x, y: "rate (Hz)", columns: 1, height: 92}
	if len(c.shown) == 0 {
		p := newChart("", mediumText)
		p.x.min, p.x.max, p.y.min, p.y.max = x0, x1, 0, 1
		p.note("not recorded")
		l.charts = append(l.charts, p)
	}
	for n, i := range s.shown() {
		if !slices.Contains(c.shown, i) {
			continue
		}
		p := newChart(short(s.areas[i].Name, 40), mediumText)
		var points []point
		top := 0.0
		for k, v := range c.hz[i] {
			points = append(points, point{float64(s.from+uint64(k)*c.width) * each, v})
			top = max(top, v)
		}
		if len(points) > 0 {
			points = append(points, point{x1, points[len(points)-1].y})
			p.line(points, palette(n), true, true)
		}
		p.x.min, p.x.max, p.y.min, p.y.max = x0, x1, 0, 1.1*top
		if top == 0 {
			p.y.max = 1
		}
		p.y.ticks = heightTicks(3)
		l.charts = append(l.charts, p)
	}
	return l.picture("rates", about), nil
}

// orBlank gives a row at least one cell.
func orBlank(row []float64) []float64 {
	if len(row) == 0 {
		return []float64{math.NaN()}
	}
	return row
}

// shown lists the areas that are drawn.
func (s *span) shown() []int {
	var list []int
	for i, t := range s.taken {
		if t {
			list = append(list, i)
		}
	}
	return list
}

// gridColumns is how many panels stand side by side.
func gridColumns(n int) int { return max(1, min(3, int(math.Ceil(math.Sqrt(float64(n)))))) }

// intervals draws the histogram of interspike intervals of each area, with their CV.
func intervals(title string, s *stats.Summary) (*Picture, error) {
	const about = "Intervals between a neuron's successive spikes; CV is the mean over neurons of standard deviation over mean."
	edges := intervalEdges(s.Areas)
	at := make([]float64, len(edges))
	for k, e := range edges {
		at[k] = math.Log10(e * s.Timestep)
	}
	label := func(a *stats.Area) string {
		if !a.CV.Defined() {
			return short(a.Name, 24)
		}
		return fmt.Sprintf("%s, CV %.2f", short(a.Name, 24), float64(a.CV))
	}
	l := panels{title: title, x: "interspike interval (ms)", y: "share of intervals per decade", columns: gridColumns(len(s.Areas)), height: 160}
	return histograms("isi", about, l, s.Areas, at, logTicks, label, func(a *stats.Area) []float64 { return density(a.Intervals, edges) })
}

// histograms draws a histogram an area: in panels, or as rows of a heat map where there are many areas.
func histograms(name, about string, l panels, areas []stats.Area, at []float64, ticks ticker, label func(*stats.Area) string, values func(*stats.Area) []float64) (*Picture, error) {
	if len(areas) > mostPanels {
		h := heat{title: l.title, x: l.x, key: l.y, x0: at[0], x1: at[len(at)-1], ticks: ticks, log: true}
		for i := range areas {
			h.rows, h.values = append(h.rows, label(&areas[i])), append(h.values, resample(values(&areas[i]), at))
		}
		return h.picture(name, about)
	}
	for i := range areas {
		p := newChart(label(&areas[i]), mediumText)
		v := values(&areas[i])
		top := 0.0
		for _, x := range v {
			top = max(top, x)
		}
		if top > 0 {
			p.bars(at, v, palette(i))
		}
		p.x.min, p.x.max, p.y.min, p.y.max = at[0], at[len(at)-1], 0, max(1.1*top, 1e-9)
		p.x.ticks = ticks
		p.y.ticks = heightTicks(4)
		if top == 0 {
			p.y.max, p.y.ticks = 1, fixed(nil)
			words := "nothing to show"
			if areas[i].Recorded == 0 {
				words = "not recorded"
			}
			p.note(words)
		}
		l.charts = append(l.charts, p)
	}
	return l.picture(name, about), nil
}

// resample spreads values over unequal bins onto a row of equal cells.
func resample(values, at []float64) []float64 {
	const cells = 200
	row := make([]float64, cells)
	k := 0
	for c := range row {
		x := at[0] + (float64(c)+0.5)/cells*(at[len(at)-1]-at[0])
		for k < len(values)-1 && at[k+1] <= x {
			k++
		}
		row[c] = values[k]
	}
	return row
}

// intervalEdges are bins of whole bursts, twelve a decade where bursts are short enough, around all intervals.
func intervalEdges(areas []stats.Area) []float64 {
	lo, hi := math.Inf(1), 0.0
	for _, a := range areas {
		for k, n := range a.Intervals {
			if n > 0 {
				lo, hi = min(lo, float64(k)), max(hi, float64(k))
			}
		}
	}
	if hi == 0 {
		lo, hi = 1, 10
	}
	edges := []float64{lo}
	for edges[len(edges)-1] <= hi {
		last := edges[len(edges)-1]
		edges = append(edges, max(last+1, math.Round(last*math.Pow(10, 1.0/12))))
	}
	return edges
}

// density is the share of intervals in each bin over the bin's width in decades.
func density(counts []uint64, edges []float64) []float64 {
	out := make([]float64, len(edges)-1)
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	for k := range out {
		for i := int(edges[k]); i < int(edges[k+1]) && i < len(counts); i++ {
			out[k] += float64(counts[i])
		}
		out[k] /= max(total, 1) * math.Log10(edges[k+1]/edges[k])
	}
	return out
}

// rateHistogram draws how neurons of an area differ in rate.
func rateHistogram(title string, s *stats.Summary) (*Picture, error) {
	const about = "How many neurons of an area fired at which mean rate."
	const bins = 30
	most := uint64(0)
	for _, a := range s.Areas {
		for _, n := range a.Counts {
			most = max(most, n)
		}
	}
	l := panels{title: title, x: "mean rate of a neuron (Hz)", y: "share of neurons", columns: gridColumns(len(s.Areas)), height: 160}
	label := func(a *stats.Area) string {
		if !a.Rate.Defined() {
			return short(a.Name, 24)
		}
		return fmt.Sprintf("%s, mean %s Hz", short(a.Name, 24), number(float64(a.Rate)))
	}
	width := max(1, (most+bins)/bins) // spikes; a bin holds whole numbers of them
	hertz := 1 / max(s.Seconds(), 1e-9)
	var at []float64
	for k := uint64(0); k == 0 || (k-1)*width <= most; k++ {
		at = append(at, float64(k*width)*hertz)
	}
	return histograms("rate-histogram", about, l, s.Areas, at, ticks, label, func(a *stats.Area) []float64 {
		out := make([]float64, len(at)-1)
		for _, n := range a.Counts {
			out[n/width] += 1 / float64(len(a.Counts))
		}
		return out
	})
}
