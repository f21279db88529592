package genome

import "math"

// Space gives the neurons of an area positions: all neurons of a voxel lie at its middle.
type Space struct {
	Pos      Pos
	Extent   [3]float64 // um along x, y, z, each ≥ 0
	Center   [3]float64 // um, the middle of the extent
	Periodic bool       // distances go the shorter way round
}

// maxLength bounds coordinates, in um, so that squares of distances stay finite.
const maxLength = 1e15

// At is where the middle of a voxel lies on an axis of an area with n voxels along it, in um: center + extent·(2i + 1 − n)/2n.
func (s *Space) At(axis int, i, n uint64) float64 {
	odd := float64(2*i+1) - float64(n)
	return s.Center[axis] + float64(s.Extent[axis]*odd)/float64(2*n)
}

// At is where a neuron of the area lies, in um; the area is placed.
func (a *Area) At(neuron uint64) [3]float64 {
	voxel := neuron / a.PerVoxel
	y, z := a.Size[1], a.Size[2]
	return [3]float64{a.Space.At(0, voxel/(y*z), a.Size[0]), a.Space.At(1, voxel/z%y, y), a.Space.At(2, voxel%z, z)}
}

// Placed reports whether the area's neurons have positions.
func (a *Area) Placed() bool { return a.Space != nil }

// Period is, of distances from the neurons of one area to those of another, the length of each axis after which places repeat; 0: they
// do not. It is false if only one area is periodic, or both with different extents.
func Period(from, to *Area) (period [3]float64, ok bool) {
	a, b := from.Space != nil && from.Space.Periodic, to.Space != nil && to.Space.Periodic
	switch {
	case !a && !b:
		return period, true
	case a && b && from.Space.Extent == to.Space.Extent:
		return from.Space.Extent, true
	}
	return period, false
}

// space reads extent, center and periodic.
func (f *fields) space(a *Area) {
	if !f.has("extent") {
		for _, name := range []string{"center", "periodic"} {
			if f.has(name) && f.lacks("extent") {
				f.faultKey(name, "", "expects %s beside extent, found no extent", name)
			}
		}
		return
	}
	if f.has("neurons") {
		f.faultKey("extent", "", "expects extent beside size, found it beside neurons; size: [%d, 1, 1] is the same number of neurons", a.Size[0])
		return
	}
	n, _, _ := f.get("extent")
	s := &Space{Pos: pos(n)}
	f.numbers3("extent", &s.Extent)
	f.numbers3("center", &s.Center)
	f.flag("periodic", &s.Periodic)
	for axis := range 3 {
		if s.Extent[axis] > maxLength || math.Abs(s.Center[axis]) > maxLength {
			f.fault("extent", "expects lengths of at most %g m, found %g um at %g um", maxLength/1e6, s.Extent[axis], s.Center[axis])
			return
		}
	}
	a.Space = s
}
