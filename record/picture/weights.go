package picture

import (
	"fmt"
	"image"
	"image/color"
	"iter"
	"math"
	"slices"
	"sort"

	"burst/record/manifest"
	"burst/record/runfolder"
	"burst/record/stats"
)

// mostSamples is how many samples of weights a picture holds of each projection; of more, every second one is left out, again and again.
const mostSamples = tracePoint

// course of a projection that learns: samples of its weights.
type weightCourse struct {
	*manifest.Learns
	every   uint64 // of the samples that there are, so many stand for one that is kept
	seen    uint64
	samples []stats.Sample
	last    stats.Sample // the last one, kept or not
}

// weightCourses reads the samples of projections from or to areas that are taken; keep copies what a picture needs of one.
func weightCourses(s span, learning []manifest.Learns, chunks iter.Seq2[runfolder.Chunk, error], keep func(*stats.Sample) stats.Sample) ([]*weightCourse, error) {
	var list []*weightCourse
	of := map[uint32]*weightCourse{}
	for i := range learning {
		l := &learning[i]
		if s.takes(l.From) || s.takes(l.To) {
			of[l.Projection] = &weightCourse{Learns: l, every: 1}
			list = append(list, of[l.Projection])
		}
	}
	for sample, err := range stats.Samples(chunks, s.from, s.until) {
		if err != nil {
			return nil, err
		}
		if c := of[sample.Projection]; c != nil {
			c.add(keep(sample))
		}
	}
	list = slices.DeleteFunc(list, func(c *weightCourse) bool { return len(c.samples) == 0 })
	for _, c := range list {
		if c.last.Burst != c.samples[len(c.samples)-1].Burst {
			c.samples = append(c.samples, c.last)
		}
	}
	return list, nil
}

func (c *weightCourse) add(s stats.Sample) {
	c.last = s
	if c.seen%c.every == 0 {
		c.samples = append(c.samples, s)
	}
	c.seen++
	if len(c.samples) < 2*mostSamples {
		return
	}
	for k := range mostSamples {
		c.samples[k] = c.samples[2*k]
	}
	c.samples, c.every = c.samples[:mostSamples], 2*c.every
}

// takes says whether an area is to be drawn.
func (s *span) takes(name string) bool {
	i, err := manifest.Find(s.areas, name)
	return err == nil && s.taken[i]
}

// title is over the panel of a projection.
func (c *weightCourse) title() string {
	return fmt.Sprintf("%s to %s, %s (projections[%d])", short(c.From, 24), short(c.To, 24), c.Rule, c.Projection)
}

// weightPanels lays out a panel for each projection, with time from left to right and weights between their bounds.
func weightPanels(s span, list []*weightCourse, draw func(p *chart, c *weightCourse, each float64)) panels {
	unit, each := timeAxis(s.from, s.until, s.timestep)
	l := panels{title: s.title, x: "time (" + unit + ")", y: "weight", columns: 1, height: 180}
	for _, c := range list[:min(len(list), mostPanels)] {
		p := newChart(c.title(), mediumText)
		p.x.min, p.x.max = float64(s.from)*each, max(float64(s.until), float64(s.from)+1)*each
		p.y.min, p.y.max = float64(c.Low), float64(c.High)
		if p.y.min == p.y.max {
			p.y.min, p.y.max = p.y.min-0.5, p.y.max+0.5
		}
		p.y.ticks = func(lo, hi float64) []tick { return roundTicks(lo, hi, 4) }
		draw(p, c, each)
		l.charts = append(l.charts, p)
	}
	if len(list) == 0 {
		p := newChart("", mediumText)
		p.x.max, p.y.max = 1, 1
		p.note("no weights")
		l.charts = append(l.charts, p)
	}
	return l
}

// left says what mostPanels leaves out.
func left(list []*weightCourse) string {
	if len(list) <= mostPanels {
		return ""
	}
	return fmt.Sprintf(" The first %d projections.", mostPanels)
}

// weights draws the histogram of each projection's weights over time, with its mean.
func weights(s span, learning []manifest.Learns, chunks iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	list, err := weightCourses(s, learning, chunks, func(x *stats.Sample) stats.Sample {
		return stats.Sample{Burst: x.Burst, Mean: x.Mean, Synapses: slices.Clone(x.Synapses)}
	})
	if err != nil {
		return nil, err
	}
	l := weightPanels(s, list, func(p *chart, c *weightCourse, each float64) {
		p.fill(func(img *image.RGBA) { c.histograms(s, img) })
		var mean []point
		for i := range c.samples {
			mean = append(mean, point{float64(c.samples[i].Burst) * each, c.samples[i].Mean})
		}
		p.line(mean, palette(1), false, false)
	})
	return l.picture("weights", "Histogram of all weights over time: the darker, the more synapses. The line is their mean."+left(list)), nil
}

// histograms colours the bins of the sample that each dot's time belongs to, relative to the fullest bin of all.
func (c *weightCourse) histograms(s span, img *image.RGBA) {
	w, h, colours, most := img.Rect.Dx(), img.Rect.Dy(), newScale(), uint64(1)
	for i := range c.samples {
		most = max(most, slices.Max(c.samples[i].Synapses))
	}
	for x := range w {
		burst := float64(s.from) + (float64(x)+0.5)/float64(w)*float64(max(1, s.until-s.from))
		k := max(0, sort.Search(len(c.samples), func(k int) bool { return float64(c.samples[k].Burst) > burst })-1)
		bins := c.samples[k].Synapses
		for y := range h {
			colour := color.NRGBA{0xFF, 0xFF, 0xFF, 0xFF}
			if n := bins[min((h-1-y)*len(bins)/h, len(bins)-1)]; n > 0 {
				colour = colours.at(math.Sqrt(float64(n) / float64(most)))
			}
			img.SetRGBA(x, y, color.RGBA(colour))
		}
	}
}

// weightTraces draws the weights of up to mostTraces recorded synapses of each projection.
func weightTraces(s span, learning []manifest.Learns, chunks iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	most := 0
	list, err := weightCourses(s, learning, chunks, func(x *stats.Sample) stats.Sample {
		most = max(most, len(x.Weight))
		return stats.Sample{Burst: x.Burst, Weight: slices.Clone(x.Weight[:min(len(x.Weight), mostTraces)])}
	})
	if err != nil {
		return nil, err
	}
	l := weightPanels(s, list, func(p *chart, c *weightCourse, each float64) {
		for k := range c.samples[0].Weight {
			var points []point
			for i := range c.samples {
				points = append(points, point{float64(c.samples[i].Burst) * each, float64(c.samples[i].Weight[k])})
			}
			p.line(points, palette(k), false, false)
		}
	})
	about := "Weights of the recorded synapses." + left(list)
	if most > mostTraces {
		about += fmt.Sprintf(" The first %d of each projection.", mostTraces)
	}
	return l.picture("weight-traces", about), nil
}

// mostCells is how many sources and targets the matrix tells apart; neighbours share a cell.
const mostCells = 60

// weightMatrix draws the recorded weights from sources to targets, before and after.
func weightMatrix(s span, learning []manifest.Learns, chunks iter.Seq2[runfolder.Chunk, error]) (*Picture, error) {
	list, err := weightEnds(s, learning, chunks)
	if err != nil {
		return nil, err
	}
	h := heat{title: s.title, x: "targets", y: "sources", key: "weight between its bounds", x1: 2.1, column: 1.0 / mostCells}
	bursts := [2]uint64{s.from, s.until}
	for _, c := range list {
		before, after := c.matrix(&c.samples[0]), c.matrix(&c.last)
		for k := range before {
			name := ""
			if k == 0 {
				name = short(c.From, 12) + " to " + short(c.To, 12)
			}
			h.rows = append(h.rows, name)
			h.values = append(h.values, slices.Concat(before[k], slices.Repeat([]float64{math.NaN()}, mostCells/10), after[k]))
		}
		bursts = [2]uint64{c.samples[0].Burst, c.last.Burst}
	}
	h.ticks = fixed([]tick{{0.5, fmt.Sprintf("before (burst %d)", bursts[0])}, {1.6, fmt.Sprintf("after (burst %d)", bursts[1])}})
	return h.picture("weight-matrix", "Recorded weights from the sources at the left to the targets at the bottom, neighbours averaged; white where none is recorded.")
}

// weightEnds reads the first and the last sample of each projection.
func weightEnds(s span, learning []manifest.Learns, chunks iter.Seq2[runfolder.Chunk, error]) ([]*weightCourse, error) {
	copied := func(x *stats.Sample, to *stats.Sample) stats.Sample {
		return stats.Sample{Burst: x.Burst, Source: append(to.Source[:0], x.Source...), Target: append(to.Target[:0], x.Target...), Weight: append(to.Weight[:0], x.Weight...)}
	}
	var list []*weightCourse
	for x, err := range stats.Samples(chunks, s.from, s.until) {
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(list, func(c *weightCourse) bool { return c.Projection == x.Projection })
		if i >= 0 {
			list[i].last = copied(x, &list[i].last)
			continue
		}
		k := slices.IndexFunc(learning, func(l manifest.Learns) bool {
			return l.Projection == x.Projection && (s.takes(l.From) || s.takes(l.To))
		})
		if k >= 0 {
			list = append(list, &weightCourse{Learns: &learning[k], samples: []stats.Sample{copied(x, &stats.Sample{})}, last: copied(x, &stats.Sample{})})
		}
	}
	return list, nil
}

// matrix is the mean weight in each cell as a share of the way between the bounds, NaN where there is none: a row for each group of
// sources that are neighbours, at most mostCells, and mostCells columns of targets.
func (c *weightCourse) matrix(s *stats.Sample) [][]float64 {
	sources, targets := ranks(s.Source), ranks(s.Target)
	rows := min(len(sources), mostCells)
	sums, counts := make([][]float64, rows), make([][]float64, rows)
	for k := range sums {
		sums[k], counts[k] = make([]float64, mostCells), make([]float64, mostCells)
	}
	wide := max(float64(c.High)-float64(c.Low), math.SmallestNonzeroFloat32)
	for i, w := range s.Weight {
		y := sources[s.Source[i]] * rows / len(sources)
		from, until := targets[s.Target[i]]*mostCells/len(targets), (targets[s.Target[i]]+1)*mostCells/len(targets)
		for x := from; x < max(until, from+1); x++ {
			sums[y][x] += (float64(w) - float64(c.Low)) / wide
			counts[y][x]++
		}
	}
	for y := range sums {
		for x := range sums[y] {
			sums[y][x] /= counts[y][x] // 0/0 is NaN
		}
	}
	return sums
}

// ranks numbers the different ones of a list in ascending order.
func ranks(list []uint32) map[uint32]int {
	rank := map[uint32]int{}
	for _, n := range slices.Compact(slices.Sorted(slices.Values(list))) {
		rank[n] = len(rank)
	}
	return rank
}
