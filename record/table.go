package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Chunk is consecutive rows of a recording, sorted by burst, then neuron (FCL: then port); all slices that the recording
// has are equally long, the others nil. A chunk lent by an iterator holds until the next one.
type Chunk struct {
	Burst     []uint64
	Neuron    []uint32  // global id
	Area      []uint32  // index into Manifest.Areas
	Potential []float32 // Potentials: after the burst, absolute, in the model's unit
	Port      []uint32  // FCL: the port that was reached
	Sum       []int32   // FCL: its input, in quanta of 1/scale
}

// table is a kind of recording: its name, which is also its files', and the columns beside burst, neuron and area.
type table struct {
	name  string
	extra []arrow.Field
}

// The tables.
const (
	spikesTable     = "spikes"
	potentialsTable = "potentials"
	fclTable        = "fcl"
)

// tableNamed gives a table's columns.
func tableNamed(name string) table {
	t := table{name: name}
	switch name {
	case potentialsTable:
		t.extra = []arrow.Field{{Name: "potential", Type: arrow.PrimitiveTypes.Float32}}
	case fclTable:
		t.extra = []arrow.Field{{Name: "port", Type: arrow.PrimitiveTypes.Uint32}, {Name: "sum", Type: arrow.PrimitiveTypes.Int32}}
	}
	return t
}

// areaType is the column of area names, of which a stream holds each once.
var areaType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}

// schema is the table's schema for one run, with what its numbers mean.
func (t table) schema(m *Manifest) *arrow.Schema {
	fields := append([]arrow.Field{
		{Name: "burst", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "neuron", Type: arrow.PrimitiveTypes.Uint32},
		{Name: "area", Type: areaType},
	}, t.extra...)
	areas, err := json.Marshal(m.Areas)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	meta := map[string]string{
		"burst.table":           t.name,
		"burst.format":          fmt.Sprint(format),
		"burst.genome":          m.Genome,
		"burst.genome_sha256":   m.GenomeSHA256,
		"burst.connectome":      m.Connectome,
		"burst.timestep_ms":     fmt.Sprint(m.Timestep),
		"burst.scale":           fmt.Sprint(m.Scale),
		"burst.areas":           string(areas),
		"burst.unit.burst":      fmt.Sprintf("%g ms", m.Timestep),
		"burst.unit.potential":  "mV (feagi areas: the genome's plain unit)",
		"burst.unit.sum":        fmt.Sprintf("1/%d of the model's input unit", m.Scale),
		"burst.time_of_a_spike": "(burst + 1) * timestep_ms",
	}
	for _, of := range []string{"potential", "sum"} {
		if !slices.ContainsFunc(t.extra, func(f arrow.Field) bool { return f.Name == of }) {
			delete(meta, "burst.unit."+of)
		}
	}
	md := arrow.MetadataFrom(meta) // sorted by key
	return arrow.NewSchema(fields, &md)
}

// names makes the dictionary of the area column.
func names(areas []Area) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for _, a := range areas {
		b.Append(a.Name)
	}
	return b.NewArray()
}

// batch views c as an Arrow batch without copying.
func (c *Chunk) batch(s *arrow.Schema, names arrow.Array) arrow.RecordBatch {
	n := len(c.Burst)
	column := func(t arrow.DataType, bytes []byte) arrow.ArrayData {
		return array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}, nil, 0, 0)
	}
	var columns []arrow.Array
	for _, f := range s.Fields() {
		var a arrow.Array
		switch f.Name {
		case "burst":
			a = array.NewUint64Data(column(f.Type, arrow.Uint64Traits.CastToBytes(c.Burst)))
		case "neuron":
			a = array.NewUint32Data(column(f.Type, arrow.Uint32Traits.CastToBytes(c.Neuron)))
		case "area":
			index := array.NewUint32Data(column(arrow.PrimitiveTypes.Uint32, arrow.Uint32Traits.CastToBytes(c.Area)))
			a = array.NewDictionaryArray(areaType, index, names)
		case "potential":
			a = array.NewFloat32Data(column(f.Type, arrow.Float32Traits.CastToBytes(c.Potential)))
		case "port":
			a = array.NewUint32Data(column(f.Type, arrow.Uint32Traits.CastToBytes(c.Port)))
		case "sum":
			a = array.NewInt32Data(column(f.Type, arrow.Int32Traits.CastToBytes(c.Sum)))
		}
		columns = append(columns, a)
	}
	return array.NewRecordBatch(s, columns, int64(n))
}

// view makes c the columns of a batch, without copying. The area column is left alone: the neuron's id tells it.
func (c *Chunk) view(b arrow.RecordBatch) error {
	*c = Chunk{Area: c.Area}
	for i, f := range b.Schema().Fields() {
		ok := b.Column(i).NullN() == 0
		switch a := b.Column(i).(type) {
		case *array.Uint64:
			c.Burst = a.Uint64Values()
		case *array.Uint32:
			if f.Name == "port" {
				c.Port = a.Uint32Values()
			} else {
				c.Neuron = a.Uint32Values()
			}
		case *array.Float32:
			c.Potential = a.Float32Values()
		case *array.Int32:
			c.Sum = a.Int32Values()
		default:
			ok = f.Name == "area"
		}
		if !ok {
			return fmt.Errorf("column %q is %v with %d nulls, which burst does not write", f.Name, f.Type, b.Column(i).NullN())
		}
	}
	return nil
}

// locate fills c.Area from the ids and checks the order of rows.
func (c *Chunk) locate(areas []Area) error {
	n := len(c.Burst)
	if len(c.Neuron) != n {
		return fmt.Errorf("%d bursts and %d neurons in one chunk", n, len(c.Neuron))
	}
	key := c.Neuron
	if c.Port != nil {
		key = c.Port
	}
	c.Area = slices.Grow(c.Area[:0], n)[:n]
	k := 0
	for i, id := range c.Neuron {
		if i > 0 && (c.Burst[i] < c.Burst[i-1] || c.Burst[i] == c.Burst[i-1] && key[i] <= key[i-1]) {
			return fmt.Errorf("row %d (burst %d, neuron %d) is out of order", i, c.Burst[i], id)
		}
		if k == len(areas) || id-areas[k].First >= areas[k].Neurons { // also when id is less than First
			k = sort.Search(len(areas), func(k int) bool { return areas[k].First+areas[k].Neurons > id })
		}
		if k == len(areas) {
			return fmt.Errorf("neuron %d is in no area", id)
		}
		c.Area[i] = uint32(k)
	}
	return nil
}

// extraNames are the columns beside burst, neuron and area.
func (t table) extraNames() []string {
	var names []string
	for _, f := range t.extra {
		names = append(names, f.Name)
	}
	return names
}
