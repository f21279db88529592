// Package tables has the formats of recordings: rows in columns, as the streams of a run that goes on and as Parquet files.
package tables

import (
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"burst/internal/arrowframe"
	"burst/record/manifest"
)

// Chunk is consecutive rows of a recording, sorted by burst, then neuron (variables: then variable; FCL: then port; weights and
// histograms: then projection); all slices that the recording has are equally long, the others nil. A chunk lent by an iterator holds until the
// next one.
type Chunk struct {
	Burst     []uint64
	Neuron    []uint32  // global id
	Area      []uint32  // index into Manifest.Areas
	Potential []float32 // Potentials: after the burst, absolute, in the model's unit
	Port      []uint32  // FCL: the port that was reached
	Sum       []int32   // FCL: its input, in quanta of 1/scale
	Variable  []uint32  // Variables: index into Manifest.Variables
	Value     []float32 // Variables: after the burst, absolute, in the model's unit; of an input what came in the burst

	// Fill works these out.
	X, Y, Z []uint32  // voxel in its area
	At      Positions // where its neuron lies
	Index   []uint32  // neuron in its area
	Time    []float64 // ms

	// Weights and histograms, as the burst begins.
	Projection     []uint32  // place in the genome's projections
	Source, Target []uint32  // weights: global ids
	Delay          []uint32  // weights: bursts
	Weight         []float32 // weights: in the unit of the target's input
	Mean, SD       []float64 // histograms: of all weights of the projection
	Low, High      []float64 // histograms: edges of a bin
	Synapses       []uint64  // histograms: those in the bin, Low ≤ weight < High; in the last bin also those at High
}

// Positions are x, y and z in um; NaN in areas whose neurons have no positions.
type Positions [3][]float64

// Table is a kind of recording: its name, which is also its files', and its columns.
type Table struct {
	name    string
	neurons bool          // a row is of a neuron, which tells the columns of areas
	columns []arrow.Field // of numbers
}

// The tables.
const (
	Spikes     = "spikes"
	Potentials = "potentials"
	Variables  = "variables"
	FCL        = "fcl"
	Weights    = "weights"
	Histograms = "histograms"
)

// field is a column of numbers.
func field(name string, t arrow.DataType) arrow.Field { return arrow.Field{Name: name, Type: t} }

// all are the tables.
func all() []Table {
	types := arrow.PrimitiveTypes
	burst, neuron, projection := field("burst", types.Uint64), field("neuron", types.Uint32), field("projection", types.Uint32)
	return []Table{
		{Spikes, true, []arrow.Field{burst, neuron}},
		{Potentials, true, []arrow.Field{burst, neuron, field("potential", types.Float32)}},
		{Variables, true, []arrow.Field{burst, neuron, field(variable, types.Uint32), field("value", types.Float32)}},
		{FCL, true, []arrow.Field{burst, neuron, field("port", types.Uint32), field("sum", types.Int32)}},
		{Weights, false, []arrow.Field{burst, projection, field("source", types.Uint32), field("target", types.Uint32), field("delay", types.Uint32), field("weight", types.Float32)}},
		{Histograms, false, []arrow.Field{burst, projection, field("mean", types.Float64), field("sd", types.Float64), field("low", types.Float64), field("high", types.Float64), field("synapses", types.Uint64)}},
	}
}

// Names are all tables that burst can record.
func Names() (names []string) {
	for _, t := range all() {
		names = append(names, t.name)
	}
	return names
}

// Named returns the table of that name.
func Named(name string) Table {
	for _, t := range all() {
		if t.name == name {
			return t
		}
	}
	panic("BUG: no table " + name)
}

// areaType is the column of area names, of which a stream holds each once.
var areaType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}

// voxels are the columns that stand behind the area's where a network has a grid; ids tell them.
func voxels() []arrow.Field {
	return []arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Uint32}, {Name: "y", Type: arrow.PrimitiveTypes.Uint32}, {Name: "z", Type: arrow.PrimitiveTypes.Uint32}}
}

// positions are the columns behind these where some area's neurons have positions.
func positions() []arrow.Field {
	return []arrow.Field{field("x_um", arrow.PrimitiveTypes.Float64), field("y_um", arrow.PrimitiveTypes.Float64), field("z_um", arrow.PrimitiveTypes.Float64)}
}

// Told says whether a column follows from the ids and bursts of a row.
func Told(name string) bool {
	switch name {
	case "area", areaID, "index", "time_ms":
		return true
	}
	return slices.ContainsFunc(append(voxels(), positions()...), func(f arrow.Field) bool { return f.Name == name })
}

// areaID is the column of the areas' ids in the genome that a network was imported from, their first aliases.
const areaID = "area_id"

// variable is the column of a variable's name; in a stream it is the place in Manifest.Variables.
const variable = "variable"

// Schema is the table's schema for one run, with what its numbers mean.
func (t Table) Schema(m *manifest.Manifest) *arrow.Schema { return t.schema(m, false) }

// ExportSchema is Schema with what else a file should say that is read alone: the time, and a neuron's place in its area.
func (t Table) ExportSchema(m *manifest.Manifest) *arrow.Schema { return t.schema(m, true) }

func (t Table) schema(m *manifest.Manifest, export bool) *arrow.Schema {
	fields, meta := slices.Clone(t.columns), m.Metadata(t.name)
	if k := slices.IndexFunc(fields, func(f arrow.Field) bool { return f.Name == variable }); k >= 0 {
		fields[k].Type = areaType
	}
	if t.neurons {
		named := []arrow.Field{{Name: "area", Type: areaType}}
		if m.Aliased() {
			named = append(named, arrow.Field{Name: areaID, Type: areaType})
		}
		if m.Grid() {
			named = append(named, voxels()...)
		}
		if m.Placed() {
			named = append(named, positions()...)
		}
		fields = slices.Insert(fields, 2, named...)
	} else {
		delete(meta, "burst.time_of_a_spike")
	}
	if export && t.neurons {
		fields = append(fields, field("index", arrow.PrimitiveTypes.Uint32))
	}
	if export {
		fields = append(fields, field("time_ms", arrow.PrimitiveTypes.Float64))
	}
	for _, of := range []string{"potential", "value", "sum", "weight"} {
		if !t.has(of) {
			delete(meta, "burst.unit."+of)
		}
	}
	md := arrow.MetadataFrom(meta) // sorted by key
	return arrow.NewSchema(fields, &md)
}

// has says whether the table has a column of numbers.
func (t Table) has(name string) bool {
	return slices.ContainsFunc(t.columns, func(f arrow.Field) bool { return f.Name == name })
}

// Words are what columns of words may say, by the column; rows have places in them.
func Words(m *manifest.Manifest) map[string][]string {
	words := map[string][]string{variable: m.Variables}
	for i := range m.Areas {
		words["area"], words[areaID] = append(words["area"], m.Areas[i].Name), append(words[areaID], m.Areas[i].Call())
	}
	return words
}

// places are the places in names of a column of words.
func (c *Chunk) places(column string) *[]uint32 {
	if column == variable {
		return &c.Variable
	}
	return &c.Area
}

// Called are the dictionaries of the columns of words.
type Called map[string]arrow.Array

// Dictionaries makes the dictionaries of the columns of words.
func Dictionaries(m *manifest.Manifest) Called {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	made := Called{}
	for column, words := range Words(m) {
		b.AppendValues(words, nil)
		made[column] = b.NewArray()
	}
	return made
}

// Fill works out the columns of s that follow from the others.
func (c *Chunk) Fill(s *arrow.Schema, m *manifest.Manifest) {
	n := len(c.Burst)
	if holds(s, voxels()) {
		c.X, c.Y, c.Z = slices.Grow(c.X[:0], n)[:n], slices.Grow(c.Y[:0], n)[:n], slices.Grow(c.Z[:0], n)[:n]
		for i, id := range c.Neuron {
			a := &m.Areas[c.Area[i]]
			c.X[i], c.Y[i], c.Z[i] = a.Voxel(id - a.First)
		}
	}
	if holds(s, positions()) {
		for axis := range c.At {
			c.At[axis] = slices.Grow(c.At[axis][:0], n)[:n]
		}
		for i, id := range c.Neuron {
			a := &m.Areas[c.Area[i]]
			for axis, x := range a.At(id - a.First) {
				c.At[axis][i] = x
			}
		}
	}
	if s.HasField("index") {
		c.Index = slices.Grow(c.Index[:0], n)[:n]
		for i, id := range c.Neuron {
			c.Index[i] = id - m.Areas[c.Area[i]].First
		}
	}
	if s.HasField("time_ms") {
		c.Time = slices.Grow(c.Time[:0], n)[:n]
		after := uint64(0)
		if len(c.Neuron) > 0 { // what is of a neuron is so at the end of its burst
			after = 1
		}
		for i, b := range c.Burst {
			if i > 0 && b == c.Burst[i-1] {
				c.Time[i] = c.Time[i-1]
			} else {
				c.Time[i] = m.Time(b + after)
			}
		}
	}
}

// holds says whether s has one of the columns.
func holds(s *arrow.Schema, columns []arrow.Field) bool {
	return slices.ContainsFunc(columns, func(f arrow.Field) bool { return s.HasField(f.Name) })
}

// view is a column, n long, as Arrow data without copying.
func view(c Column, t arrow.DataType, n int) arrow.ArrayData {
	return array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(c.Bytes())}, nil, 0, 0)
}

// Batch views c, which Fill has filled, as an Arrow batch without copying.
func (c *Chunk) Batch(s *arrow.Schema, names Called) arrow.RecordBatch {
	n := len(c.Burst)
	var columns []arrow.Array
	for _, f := range s.Fields() {
		var a arrow.Array
		if names[f.Name] != nil {
			a = array.NewDictionaryArray(areaType, array.NewUint32Data(view(list[uint32]{c.places(f.Name)}, areaType.IndexType, n)), names[f.Name])
		} else {
			a = array.MakeFromData(view(Of(c, f.Name), f.Type, n))
		}
		columns = append(columns, a)
	}
	return array.NewRecordBatch(s, columns, int64(n))
}

// view makes c the columns of a batch, without copying. The area column is left alone: the neuron's id tells it.
func (c *Chunk) view(b arrow.RecordBatch) (err error) {
	defer arrowframe.Guard(&err)
	*c = Chunk{Area: c.Area}
	for i, f := range b.Schema().Fields() {
		if f.Name == "area" {
			continue
		}
		if err := c.take(f.Name, b.Column(i)); err != nil {
			return err
		}
	}
	return nil
}

// take makes a column of c of an array, without copying.
func (c *Chunk) take(name string, from arrow.Array) error {
	nulls := from.Data().NullN() // as the batch says
	for _, column := range Columns(c) {
		if column.Name == name && nulls == 0 && column.take(from) {
			return nil
		}
	}
	return fmt.Errorf("column %q is %v with %d nulls, which burst does not write", name, from.DataType(), nulls)
}

// locate checks that c has the table's columns and the order of rows, and fills c.Area from the ids.
func (c *Chunk) locate(t Table, m *manifest.Manifest) error {
	if err := c.checkLengths(t); err != nil {
		return err
	}
	if !t.neurons {
		return c.checkProjections()
	}
	if err := c.checkVariables(len(m.Variables)); err != nil {
		return err
	}
	if err := c.checkNeurons(); err != nil {
		return err
	}
	return c.findAreas(m.Areas)
}

// checkLengths: all columns of the table have as many rows, and the others none.
func (c *Chunk) checkLengths(t Table) error {
	for _, column := range Columns(c) {
		want := 0
		if t.has(column.Name) {
			want = len(c.Burst)
		}
		if column.Len() != want {
			return fmt.Errorf("%d rows of %q in a chunk of %s of %d bursts, want %d", column.Len(), column.Name, t.name, len(c.Burst), want)
		}
	}
	return nil
}

// checkProjections: rows are in the order of bursts, and within one in that of projections.
func (c *Chunk) checkProjections() error {
	for i := 1; i < len(c.Burst); i++ {
		if c.Burst[i] < c.Burst[i-1] || c.Burst[i] == c.Burst[i-1] && c.Projection[i] < c.Projection[i-1] {
			return fmt.Errorf("row %d (burst %d, projection %d) is out of order", i, c.Burst[i], c.Projection[i])
		}
	}
	return nil
}

// checkVariables: there are so many of them, and those of a neuron ascend.
func (c *Chunk) checkVariables(variables int) error {
	for i, k := range c.Variable {
		again := i > 0 && c.Burst[i] == c.Burst[i-1] && c.Neuron[i] == c.Neuron[i-1]
		if int(k) >= variables || again && k <= c.Variable[i-1] {
			return fmt.Errorf("row %d (burst %d, neuron %d, variable %d) is out of order, or of no variable", i, c.Burst[i], c.Neuron[i], k)
		}
	}
	return nil
}

// checkNeurons: rows are in the order of bursts, and within one in that of ports or neurons, which have one row unless it is of a variable.
func (c *Chunk) checkNeurons() error {
	burst, key, many := c.Burst, c.Neuron, c.Variable != nil
	if c.Port != nil {
		key = c.Port
	}
	for i := 1; i < len(burst) && i < len(key); i++ {
		if burst[i] == burst[i-1] && (key[i] > key[i-1] || many && key[i] == key[i-1]) || burst[i] > burst[i-1] {
			continue
		}
		return fmt.Errorf("row %d (burst %d, neuron %d) is out of order", i, c.Burst[i], c.Neuron[i])
	}
	return nil
}

// findAreas fills c.Area from the ids. Most rows are of the area of the row before.
func (c *Chunk) findAreas(areas []manifest.Area) error {
	c.Area = slices.Grow(c.Area[:0], len(c.Neuron))[:len(c.Neuron)]
	var k, first, n uint32 // an area, its first neuron and how many it has; at first one without neurons
	to := c.Area
	for i, id := range c.Neuron {
		if id-first >= n { // also when id is less than first
			at := sort.Search(len(areas), func(k int) bool { return areas[k].First+areas[k].Neurons > id })
			if at == len(areas) {
				return fmt.Errorf("neuron %d is in no area", id)
			}
			k, first, n = uint32(at), areas[at].First, areas[at].Neurons
		}
		to[i] = k
	}
	return nil
}
