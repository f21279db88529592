package live

import (
	"fmt"
	"slices"
)

// Place says which neurons of an area an Input or Output has, in which order: an entry is a neuron, or all neurons of a voxel.
type Place struct {
	Area    string      // its name or an alias
	Neurons []uint32    // by their numbers in the area
	Voxels  [][3]uint32 // or by voxel; with neither, all neurons of the area

	Variable string // of an Output of Potentials: a state variable of the area's model in place of its potential
}

// entries are the neurons of a Place.
type entries struct {
	area int
	n    int
	each uint32
	list []uint32 // first neuron of each entry; nil: the entry's number
}

func (e *entries) first(i int) uint32 {
	if e.list == nil {
		return uint32(i)
	}
	return e.list[i]
}

// entries finds the neurons of a place.
func (s *Session) entries(p Place) (e entries, err error) {
	g, c := s.run.Genome, s.run.Connectome
	if p.Variable != "" {
		return e, fmt.Errorf("variable %q, want it of outputs of potentials alone", p.Variable)
	}
	if e.area, err = g.FindArea(p.Area); err != nil {
		return e, err
	}
	a := &c.Areas[e.area]
	e.n, e.each = int(a.Neurons.Count), 1
	switch {
	case p.Neurons != nil && p.Voxels != nil:
		return e, fmt.Errorf("neurons and voxels of area %q are named, want one of them", a.Name)
	case p.Neurons != nil:
		e.n, e.list = len(p.Neurons), slices.Clone(p.Neurons)
		for _, n := range p.Neurons {
			if n >= a.Neurons.Count {
				return e, fmt.Errorf("neuron %d of area %q, want less than %d", n, a.Name, a.Neurons.Count)
			}
		}
	case p.Voxels != nil:
		e.n, e.each = len(p.Voxels), a.PerVoxel
		for _, v := range p.Voxels {
			if v[0] >= a.Size[0] || v[1] >= a.Size[1] || v[2] >= a.Size[2] {
				return e, fmt.Errorf("voxel %v of area %q, want one within its %v", v, a.Name, a.Size)
			}
			first, _ := g.Areas[e.area].Voxel(uint64(v[0]), uint64(v[1]), uint64(v[2]))
			e.list = append(e.list, uint32(first))
		}
	}
	if e.n == 0 {
		return e, fmt.Errorf("no neurons of area %q, want one at least", a.Name)
	}
	return e, nil
}
