package tables

import (
	"slices"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
)

// Column is one column of numbers of a chunk, whatever their type.
type Column interface {
	Len() int
	Bytes() []byte // the numbers as they lie in memory
	cell() cell
	resize(n int)            // its content is undefined
	cut(from, until int)     // rows from ≤ i < until; a view, not a copy
	add(rows Column)         // of the same type
	take(a arrow.Array) bool // views the array; false where it holds numbers of another type
}

// NamedColumn is a column and its name.
type NamedColumn struct {
	Name string
	Column
}

// number is what columns hold.
type number interface {
	uint64 | uint32 | int32 | float32 | float64
}

// list is the Column of a slice.
type list[T number] struct{ s *[]T }

func (l list[T]) Len() int            { return len(*l.s) }
func (l list[T]) Bytes() []byte       { return words[byte](*l.s) }
func (l list[T]) cut(from, until int) { *l.s = (*l.s)[from:until] }
func (l list[T]) add(rows Column)     { *l.s = append(*l.s, *rows.(list[T]).s...) }
func (l list[T]) resize(n int)        { *l.s = slices.Grow((*l.s)[:0], n)[:n] }

func (l list[T]) take(a arrow.Array) bool {
	from, ok := a.(interface{ Values() []T })
	if ok {
		*l.s = from.Values()
	}
	return ok
}

// words views numbers as numbers of another size or type.
func words[To byte | int32 | int64 | uint32 | uint64 | float32 | float64, From number | byte](s []From) []To {
	var from From
	var to To
	return unsafe.Slice((*To)(unsafe.Pointer(unsafe.SliceData(s))), len(s)*int(unsafe.Sizeof(from))/int(unsafe.Sizeof(to)))
}

// Columns are all columns of a chunk but those of areas; such as its recording has not are empty.
func Columns(c *Chunk) []NamedColumn {
	return []NamedColumn{
		{"burst", list[uint64]{&c.Burst}}, {"neuron", list[uint32]{&c.Neuron}},
		{"potential", list[float32]{&c.Potential}}, {"port", list[uint32]{&c.Port}}, {"sum", list[int32]{&c.Sum}},
		{variable, list[uint32]{&c.Variable}}, {"value", list[float32]{&c.Value}},
		{"index", list[uint32]{&c.Index}}, {"time_ms", list[float64]{&c.Time}},
		{"x", list[uint32]{&c.X}}, {"y", list[uint32]{&c.Y}}, {"z", list[uint32]{&c.Z}},
		{"x_um", list[float64]{&c.At[0]}}, {"y_um", list[float64]{&c.At[1]}}, {"z_um", list[float64]{&c.At[2]}},
		{"projection", list[uint32]{&c.Projection}}, {"source", list[uint32]{&c.Source}}, {"target", list[uint32]{&c.Target}},
		{"delay", list[uint32]{&c.Delay}}, {"weight", list[float32]{&c.Weight}},
		{"mean", list[float64]{&c.Mean}}, {"sd", list[float64]{&c.SD}}, {"low", list[float64]{&c.Low}}, {"high", list[float64]{&c.High}},
		{"synapses", list[uint64]{&c.Synapses}},
	}
}

// Of is the column of that name.
func Of(c *Chunk, name string) Column {
	for _, column := range Columns(c) {
		if column.Name == name {
			return column.Column
		}
	}
	panic("BUG: no column " + name)
}

// slice is rows from ≤ i < until.
func (c *Chunk) slice(from, until int) Chunk {
	s := *c
	for _, column := range Columns(&s) {
		if column.Len() > 0 {
			column.cut(from, until)
		}
	}
	if len(s.Area) > 0 {
		s.Area = s.Area[from:until]
	}
	return s
}

// add appends rows.
func (c *Chunk) add(rows Chunk) {
	from := Columns(&rows)
	for i, column := range Columns(c) {
		column.add(from[i].Column)
	}
	c.Area = append(c.Area, rows.Area...)
}

// rows is how many rows a chunk has whose bursts are elsewhere.
func (c *Chunk) rows() int { return max(len(c.Neuron), len(c.Projection)) }
