package record

import (
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"burst/internal/arrowframe"
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

// numbers are the columns but the area's.
func (t table) numbers() []arrow.Field {
	return append([]arrow.Field{{Name: "burst", Type: arrow.PrimitiveTypes.Uint64}, {Name: "neuron", Type: arrow.PrimitiveTypes.Uint32}}, t.extra...)
}

// areaType is the column of area names, of which a stream holds each once.
var areaType = &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.String}

// schema is the table's schema for one run, with what its numbers mean.
func (t table) schema(m *Manifest) *arrow.Schema {
	fields := slices.Insert(t.numbers(), 2, arrow.Field{Name: "area", Type: areaType})
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
		"burst.unit.potential":  "mV (feagi areas: the genome's plain unit; models of the genome's own: as they hold it)",
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

// column views one of the columns of numbers, n long, as Arrow data without copying.
func (c *Chunk) column(name string, t arrow.DataType, n int) arrow.ArrayData {
	var bytes []byte
	switch name {
	case "burst":
		bytes = arrow.Uint64Traits.CastToBytes(c.Burst)
	case "neuron":
		bytes = arrow.Uint32Traits.CastToBytes(c.Neuron)
	case "area":
		bytes = arrow.Uint32Traits.CastToBytes(c.Area)
	case "potential":
		bytes = arrow.Float32Traits.CastToBytes(c.Potential)
	case "port":
		bytes = arrow.Uint32Traits.CastToBytes(c.Port)
	case "sum":
		bytes = arrow.Int32Traits.CastToBytes(c.Sum)
	}
	return array.NewData(t, n, []*memory.Buffer{nil, memory.NewBufferBytes(bytes)}, nil, 0, 0)
}

// batch views c as an Arrow batch without copying.
func (c *Chunk) batch(s *arrow.Schema, names arrow.Array) arrow.RecordBatch {
	n := len(c.Burst)
	var columns []arrow.Array
	for _, f := range s.Fields() {
		var a arrow.Array
		if f.Name == "area" {
			a = array.NewDictionaryArray(areaType, array.NewUint32Data(c.column(f.Name, areaType.IndexType, n)), names)
		} else {
			a = array.MakeFromData(c.column(f.Name, f.Type, n))
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
	ok := nulls == 0
	switch a := from.(type) {
	case *array.Uint64:
		c.Burst = a.Uint64Values()
	case *array.Uint32:
		if name == "port" {
			c.Port = a.Uint32Values()
		} else {
			c.Neuron = a.Uint32Values()
		}
	case *array.Float32:
		c.Potential = a.Float32Values()
	case *array.Int32:
		c.Sum = a.Int32Values()
	default:
		ok = false
	}
	if !ok {
		return fmt.Errorf("column %q is %v with %d nulls, which burst does not write", name, from.DataType(), nulls)
	}
	return nil
}

// locate fills c.Area from the ids and checks that c has the table's columns and the order of rows.
func (c *Chunk) locate(t table, areas []Area) error {
	n := len(c.Burst)
	names := append(t.extraNames(), "neuron")
	for _, column := range []struct {
		name string
		rows int
	}{{"neuron", len(c.Neuron)}, {"potential", len(c.Potential)}, {"port", len(c.Port)}, {"sum", len(c.Sum)}} {
		want := 0
		if slices.Contains(names, column.name) {
			want = n
		}
		if column.rows != want {
			return fmt.Errorf("%d rows of %q in a chunk of %s of %d bursts, want %d", column.rows, column.name, t.name, n, want)
		}
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
