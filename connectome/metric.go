package connectome

import (
	"math"

	"burst/genome"
	"burst/internal/formula"
)

// metric measures where the neurons of one area lie as seen from those of another.
type metric struct {
	from, to *genome.Area
	period   [3]float64 // um; 0: places do not repeat along the axis
}

func newMetric(from, to *genome.Area) metric {
	m := metric{from: from, to: to}
	m.period, _ = genome.Period(from, to)
	return m
}

// between is d, dx, dy and dz from a source to a target.
func (m *metric) between(source, target uint64) [4]float64 {
	s, t := m.from.At(source), m.to.At(target)
	var v [4]float64
	for axis := range 3 {
		v[1+axis] = m.wrap(axis, t[axis]-s[axis])
	}
	v[0] = distance(v[1], v[2], v[3])
	return v
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

// over is the intervals of d, dx, dy and dz that hold those of all differences of coordinates within intervals.
func (m *metric) over(raw [3]formula.Interval) [4]formula.Interval {
	var v [4]formula.Interval
	low, high := [3]float64{}, [3]float64{}
	for axis, x := range raw {
		v[1+axis], low[axis], high[axis] = m.wrapped(axis, x.Lo, x.Hi)
	}
	v[0] = formula.Interval{Lo: distance(low[0], low[1], low[2]), Hi: distance(high[0], high[1], high[2])}
	return v
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

// all is the intervals of d, dx, dy and dz that hold those of all pairs.
func (m *metric) all() [4]formula.Interval {
	slo, shi := corners(m.from)
	tlo, thi := corners(m.to)
	var raw [3]formula.Interval
	for axis := range 3 {
		raw[axis] = formula.Interval{Lo: tlo[axis] - shi[axis], Hi: thi[axis] - slo[axis]}
	}
	return m.over(raw)
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
