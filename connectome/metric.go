package connectome

import (
	"math"
	"slices"

	"burst/genome"
	"burst/internal/formula"
)

// metric says what kernels read of pairs of neurons of two areas: where one lies as seen from the other, and columns of both.
type metric struct {
	from, to *genome.Area
	placed   bool       // the neurons of both have positions
	period   [3]float64 // um; 0: places do not repeat along the axis
}

func newMetric(from, to *genome.Area) metric {
	m := metric{from: from, to: to, placed: from.Placed() && to.Placed()}
	m.period, _ = genome.Period(from, to)
	return m
}

// between is what kernels read of a source and a target.
func (m *metric) between(source, target uint64) (v [formula.Variables]float64) {
	if m.placed {
		s, t := m.from.At(source), m.to.At(target)
		for axis := range 3 {
			v[1+axis] = m.wrap(axis, t[axis]-s[axis])
		}
		v[0] = distance(v[1], v[2], v[3])
	}
	for i := range m.from.Columns {
		v[formula.OfSource+i] = m.from.Columns[i].Each[source]
	}
	for i := range m.to.Columns {
		v[formula.OfTarget+i] = m.to.Columns[i].Each[target]
	}
	return v
}

// many makes what a kernel reads of sources and their targets.
func (m *metric) many(k *formula.Kernel, sources, targets []uint32, v *[formula.Variables][]float64) {
	if k.ReadsPlace() && m.placed {
		dx, dy, dz := v[1], v[2], v[3]
		var from [3]float64
		for i, target := range targets {
			if i == 0 || sources[i] != sources[i-1] {
				from = m.from.At(uint64(sources[i]))
			}
			to := m.to.At(uint64(target))
			dx[i], dy[i], dz[i] = m.wrap(0, to[0]-from[0]), m.wrap(1, to[1]-from[1]), m.wrap(2, to[2]-from[2])
		}
		for i := range v[0] {
			v[0][i] = distance(dx[i], dy[i], dz[i])
		}
	}
	for end, list := range [][]uint32{sources, targets} {
		first, area := []int{formula.OfSource, formula.OfTarget}[end], []*genome.Area{m.from, m.to}[end]
		for c, column := range area.Columns {
			for i, n := range list {
				v[first+c][i] = column.Each[n]
			}
		}
	}
}

func distance(dx, dy, dz float64) float64 {
	return math.Sqrt(float64(dx*dx) + float64(dy*dy) + float64(dz*dz))
}

// wrap is a difference of coordinates, the shorter way round.
func (m *metric) wrap(axis int, x float64) float64 {
	e := m.period[axis]
	if near := float64(0.499 * e); e == 0 || -near < x && x < near { // the same in less time: there are no turns
		return x
	}
	return min(max(x-float64(e*turns(x, e)), -e/2), e/2)
}

// turns is how many periods e to take from x.
func turns(x, e float64) float64 { return math.Floor(x/e + 0.5) }

// over makes the intervals of d, dx, dy and dz that hold those of all differences of coordinates within intervals.
func (m *metric) over(raw [3]formula.Interval, v *[formula.Variables]formula.Interval) {
	low, high := [3]float64{}, [3]float64{}
	for axis, x := range raw {
		v[1+axis], low[axis], high[axis] = m.wrapped(axis, x.Lo, x.Hi)
	}
	v[0] = formula.Interval{Lo: distance(low[0], low[1], low[2]), Hi: distance(high[0], high[1], high[2])}
}

// wrapped is the interval of wrap, and the least and largest magnitude within it. Differences that wrap at different turns lie on both
// sides of half a period.
func (m *metric) wrapped(axis int, lo, hi float64) (x formula.Interval, least, most float64) {
	a, b, e := m.wrap(axis, lo), m.wrap(axis, hi), m.period[axis]
	x = formula.Interval{Lo: a, Hi: b}
	if least, most = max(0, a, -b), max(-a, b); e == 0 || turns(lo, e) == turns(hi, e) {
		return x, least, most
	}
	if least = 0; turns(hi, e)-turns(lo, e) == 1 && a >= 0 && b <= 0 {
		least = min(a, -b)
	}
	return formula.Interval{Lo: -e / 2, Hi: e / 2}, least, e / 2
}

// all is the intervals that hold what kernels read of all pairs.
func (m *metric) all() (v [formula.Variables]formula.Interval) {
	for i := range m.from.Columns {
		v[formula.OfSource+i] = spanned(m.from.Columns[i].Each)
	}
	for i := range m.to.Columns {
		v[formula.OfTarget+i] = spanned(m.to.Columns[i].Each)
	}
	if !m.placed {
		return v
	}
	slo, shi := corners(m.from)
	tlo, thi := corners(m.to)
	var raw [3]formula.Interval
	for axis := range 3 {
		raw[axis] = formula.Interval{Lo: tlo[axis] - shi[axis], Hi: thi[axis] - slo[axis]}
	}
	m.over(raw, &v)
	return v
}

// spanned is the interval of some numbers.
func spanned(list []float64) formula.Interval {
	return formula.Interval{Lo: slices.Min(list), Hi: slices.Max(list)}
}

// corners is the least and the largest coordinates of an area's neurons.
func corners(a *genome.Area) (lo, hi [3]float64) {
	lo, hi = a.At(0), a.At(0)
	for n := range a.Neurons() {
		for axis, x := range a.At(n) {
			lo[axis], hi[axis] = min(lo[axis], x), max(hi[axis], x)
		}
	}
	return lo, hi
}
