package genome

import (
	"fmt"
	"math"

	"gopkg.in/yaml.v3"

	"burst/internal/tabular"
)

// Space gives the neurons of an area positions: all neurons of a voxel lie at its middle, or each where a file says.
type Space struct {
	Pos      Pos
	Extent   [3]float64   // um along x, y, z, each ≥ 0
	Center   [3]float64   // um, the middle of the extent
	Periodic bool         // distances go the shorter way round
	Each     [][3]float64 // um, one per neuron, within the extent around the center; nil: by voxel
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
	if each := a.Space.Each; each != nil {
		return each[neuron]
	}
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

// space reads extent, center, periodic and positions.
func (p *parser) space(f *fields, a *Area) {
	if !f.has("extent") {
		for _, name := range []string{"center", "periodic"} {
			if f.has(name) && f.lacks("extent") {
				f.faultKey(name, "", "expects %s beside extent, found no extent", name)
				return
			}
		}
		if !f.has("positions") {
			return
		}
	}
	if f.has("neurons") && !f.has("positions") {
		f.faultKey("extent", "", "expects extent beside size, found it beside neurons; size: [%d, 1, 1] is the same number of neurons, positions: FILE places each neuron", a.Size[0])
		return
	}
	s := &Space{}
	if n, _, _ := f.get("extent"); n != nil {
		s.Pos = pos(n)
		f.numbers3("extent", &s.Extent)
		f.numbers3("center", &s.Center)
		f.flag("periodic", &s.Periodic)
	}
	for axis := range 3 {
		if s.Extent[axis] > maxLength || math.Abs(s.Center[axis]) > maxLength {
			f.fault("extent", "expects lengths of at most %g m, found %g um at %g um", maxLength/1e6, s.Extent[axis], s.Center[axis])
			return
		}
	}
	if n, at, _ := f.get("positions"); n != nil && !p.positions(n, at, a, s) {
		return
	}
	a.Space = s
}

// maxPlaces bounds the neurons whose positions come from a file: manifests and recordings hold them.
const maxPlaces = 1 << 17

// positions reads the file with a position for each neuron. Without an extent it is the box around them.
func (p *parser) positions(n *yaml.Node, at *path, a *Area, s *Space) bool {
	neurons := a.Neurons()
	switch {
	case neurons == 0:
		return false // the area's size is at fault already, or it has none
	case neurons > maxPlaces:
		p.fault(n, at, "", "expects an area of at most %d neurons for positions of a file, found %d", maxPlaces, neurons)
		return false
	}
	file, ok := p.scalar(n, at, "the name of a file with columns x, y and z")
	if !ok {
		return false
	}
	given := s.Pos != Pos{}
	o := tabular.Options{
		Header: func(names []string) (columns []tabular.Column, err error) {
			for axis, name := range []string{"x", "y", "z"} {
				column, err := tabular.Find(names, name)
				if err == nil && column < 0 {
					err = missingColumn(name, names)
				}
				if err != nil {
					return nil, err
				}
				half := s.Extent[axis] / 2
				columns = append(columns, tabular.Column{Name: name, At: column, Real: func(row uint64, x float64) string {
					switch {
					case !(math.Abs(x) <= maxLength):
						return fmt.Sprintf("%v, want a coordinate in um, of at most %g either way", x, maxLength)
					case given && !(s.Center[axis]-half <= x && x <= s.Center[axis]+half):
						return fmt.Sprintf("%v, want one within the extent, %v to %v um", x, s.Center[axis]-half, s.Center[axis]+half)
					}
					s.Each[row][axis] = x
					return ""
				}})
			}
			return columns, nil
		},
		Room: func(rows uint64) error {
			if rows != neurons {
				return fmt.Errorf("%d rows, want one for each of %d neurons", rows, neurons)
			}
			s.Each = make([][3]float64, rows)
			return nil
		},
	}
	if p.fileFault(n, at, file, p.read(file, o)) {
		return false
	}
	if given {
		return true
	}
	s.Pos = pos(n)
	lo, hi := s.Each[0], s.Each[0]
	for _, place := range s.Each {
		for axis, x := range place {
			lo[axis], hi[axis] = min(lo[axis], x), max(hi[axis], x)
		}
	}
	for axis := range 3 {
		s.Extent[axis], s.Center[axis] = hi[axis]-lo[axis], lo[axis]+(hi[axis]-lo[axis])/2
	}
	return true
}
