package edgelist

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"

	"burst/internal/tabular"
)

// column of the numbers 1 and 2 in a type of Arrow.
func oneTwo(t *testing.T, as arrow.DataType) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, as)
	for _, text := range []string{"1", "2"} {
		require.NoError(t, b.AppendValueFromString(text))
	}
	return b.NewArray()
}

// Each type of number in each column, in files and streams of Arrow: read, or refused by its name.
func TestArrowTypes(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, as := range []arrow.DataType{p.Int8, p.Int16, p.Int32, p.Int64, p.Uint8, p.Uint16, p.Uint32, p.Uint64, p.Float32, p.Float64, arrow.BinaryTypes.String, arrow.FixedWidthTypes.Boolean} {
		for _, name := range []string{"source", "target", "weight", "delay", "delay_ms"} {
			names, cols := []string{"source", "target"}, []arrow.Array{ints(5, 6), ints(7, 8)}
			var column arrow.Array
			if as.ID() == arrow.STRING || as.ID() == arrow.BOOL {
				b := array.NewBuilder(memory.DefaultAllocator, as)
				b.AppendEmptyValue()
				b.AppendEmptyValue()
				column = b.NewArray()
			} else {
				column = oneTwo(t, as)
			}
			switch name {
			case "source":
				cols[0] = column
			case "target":
				cols[1] = column
			default:
				names, cols = append(names, name), append(cols, column)
			}
			r := record(t, names, cols...)
			var text bytes.Buffer
			w := ipc.NewWriter(&text, ipc.WithSchema(r.Schema()))
			require.NoError(t, w.Write(r))
			require.NoError(t, w.Close())
			o := wanted()
			o.Timestep = 1
			got, err := Read(bytes.NewReader(text.Bytes()), "w.arrows", o)
			real := name == "weight" || name == "delay_ms"
			switch {
			case arrow.IsInteger(as.ID()), real && arrow.IsFloating(as.ID()):
				require.NoError(t, err, "%s as %s", name, as)
				want := &Table{Source: []uint32{5, 6}, Target: []uint32{7, 8}}
				switch name {
				case "source":
					want.Source = []uint32{1, 2}
				case "target":
					want.Target = []uint32{1, 2}
				case "weight":
					want.Weight = []float64{1, 2}
				default:
					want.Delay, want.Delays = []uint16{1, 2}, true
				}
				require.Equal(t, want, got, "%s as %s", name, as)
			case real:
				require.ErrorContains(t, err, "column "+name+": "+as.String()+", want a number")
			default:
				require.ErrorContains(t, err, "column "+name+": "+as.String()+", want whole numbers")
			}
		}
	}
}

// parquetColumns writes two rows with a source of the node's type; the target is 3 and 4.
func parquetColumns(t *testing.T, source schema.Node, write func(file.ColumnChunkWriter) error) []byte {
	t.Helper()
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{source, schema.NewInt32Node("target", parquet.Repetitions.Required, -1)}, -1)
	require.NoError(t, err)
	var out bytes.Buffer
	w, err := file.NewParquetWriterWithError(&out, root)
	require.NoError(t, err)
	g, err := w.AppendBufferedRowGroupChecked()
	require.NoError(t, err)
	c, err := g.Column(0)
	require.NoError(t, err)
	require.NoError(t, write(c))
	c, err = g.Column(1)
	require.NoError(t, err)
	_, err = c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{3, 4}, nil, nil)
	require.NoError(t, err)
	require.NoError(t, g.Close())
	require.NoError(t, w.Close())
	return out.Bytes()
}

// Numbers of Parquet with and without a sign, in 32 and 64 bits, and what is no plain number.
func TestParquetKinds(t *testing.T) {
	whole := func(bits int8, signed bool, kind parquet.Type) schema.Node {
		n, err := schema.NewPrimitiveNodeLogical("source", parquet.Repetitions.Required, schema.NewIntLogicalType(bits, signed), kind, 0, -1)
		require.NoError(t, err)
		return n
	}
	put32 := func(x ...int32) func(file.ColumnChunkWriter) error {
		return func(c file.ColumnChunkWriter) error {
			_, err := c.(*file.Int32ColumnChunkWriter).WriteBatch(x, nil, nil)
			return err
		}
	}
	put64 := func(x ...int64) func(file.ColumnChunkWriter) error {
		return func(c file.ColumnChunkWriter) error {
			_, err := c.(*file.Int64ColumnChunkWriter).WriteBatch(x, nil, nil)
			return err
		}
	}
	date, err := schema.NewPrimitiveNodeLogical("source", parquet.Repetitions.Required, schema.DateLogicalType{}, parquet.Types.Int32, 0, -1)
	require.NoError(t, err)
	for name, x := range map[string]struct {
		node  schema.Node
		write func(file.ColumnChunkWriter) error
		want  string // empty: 1 and 2
	}{
		"int32":           {schema.NewInt32Node("source", parquet.Repetitions.Required, -1), put32(1, 2), ""},
		"int32 below 0":   {schema.NewInt32Node("source", parquet.Repetitions.Required, -1), put32(1, -2), "row 2, column source: neuron -2, want"},
		"int8":            {whole(8, true, parquet.Types.Int32), put32(1, 2), ""},
		"uint32":          {whole(32, false, parquet.Types.Int32), put32(1, 2), ""},
		"uint32 of 2^31":  {whole(32, false, parquet.Types.Int32), put32(1, -1<<31), "row 2, column source: neuron 2147483648, want"},
		"int64":           {whole(64, true, parquet.Types.Int64), put64(1, 2), ""},
		"int64 below 0":   {whole(64, true, parquet.Types.Int64), put64(1, -1), "row 2, column source: neuron -1, want"},
		"uint64":          {whole(64, false, parquet.Types.Int64), put64(1, 2), ""},
		"uint64 of 2^63":  {whole(64, false, parquet.Types.Int64), put64(1, -1<<63), "row 2, column source: 9223372036854775808, which no column takes"},
		"uint64 below it": {whole(64, false, parquet.Types.Int64), put64(1, 1<<63-1), "row 2, column source: neuron 9223372036854775807, want"},
		"a day":           {date, put32(1, 2), "column source: INT32 Date, want a number"},
		"float": {schema.NewFloat32Node("source", parquet.Repetitions.Required, -1), func(c file.ColumnChunkWriter) error {
			_, err := c.(*file.Float32ColumnChunkWriter).WriteBatch([]float32{1, 2}, nil, nil)
			return err
		}, "want whole numbers"},
		"a list of int32": {schema.NewInt32Node("source", parquet.Repetitions.Repeated, -1), func(c file.ColumnChunkWriter) error {
			_, err := c.(*file.Int32ColumnChunkWriter).WriteBatch([]int32{1, 2}, []int16{1, 1}, []int16{0, 0})
			return err
		}, "a nested column, want one value a row"},
	} {
		got, err := Read(bytes.NewReader(parquetColumns(t, x.node, x.write)), "w.parquet", wanted())
		if x.want == "" {
			require.NoError(t, err, name)
			require.Equal(t, &Table{Source: []uint32{1, 2}, Target: []uint32{3, 4}}, got, name)
		} else {
			require.ErrorContains(t, err, x.want, name)
		}
	}
}

// Rows are gathered into groups of 2^20 or just above, whatever the blocks; columns have no numbers of their own.
func TestParquetGroups(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, "w.parquet")
	require.NoError(t, err)
	for _, rows := range []int{groupRows - 1, 1, groupRows, 5} {
		b := Block{make([]uint32, rows), make([]uint32, rows), make([]float64, rows), make([]uint16, rows), make([]uint8, rows), nil}
		require.NoError(t, w.Write(&b))
	}
	require.NoError(t, w.Close())
	r, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	require.Equal(t, 3, r.NumRowGroups())
	for i, rows := range []int64{groupRows, groupRows, 5} {
		require.Equal(t, rows, r.RowGroup(i).NumRows())
	}
	root := r.MetaData().Schema.Root()
	for i := range root.NumFields() {
		require.EqualValues(t, -1, root.Field(i).FieldID())
	}
}

// Batch by batch, rows are put behind those before.
func TestManyBatches(t *testing.T) {
	var text bytes.Buffer
	first := record(t, []string{"source", "target"}, ints(1, 2), ints(3, 4))
	w := ipc.NewWriter(&text, ipc.WithSchema(first.Schema()))
	for _, r := range []arrow.RecordBatch{first, record(t, []string{"source", "target"}, ints(5), ints(6)), record(t, []string{"source", "target"}, ints(7), ints(8))} {
		require.NoError(t, w.Write(r))
	}
	require.NoError(t, w.Close())
	got, err := Read(bytes.NewReader(text.Bytes()), "w.arrows", wanted())
	require.NoError(t, err)
	require.Equal(t, &Table{Source: []uint32{1, 2, 5, 7}, Target: []uint32{3, 4, 6, 8}}, got)
}

// Weights of 32 bits are taken as they are, and those of a row without one are told.
func TestFloat32Weights(t *testing.T) {
	b := array.NewFloat32Builder(memory.DefaultAllocator)
	b.AppendValues([]float32{0.1, -2}, nil)
	r := record(t, []string{"source", "target", "weight"}, ints(1, 2), ints(3, 4), b.NewArray())
	var text bytes.Buffer
	w, err := ipc.NewFileWriter(&text, ipc.WithSchema(r.Schema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(r))
	require.NoError(t, w.Close())
	got, err := Read(bytes.NewReader(text.Bytes()), "w.arrow", wanted())
	require.NoError(t, err)
	require.Equal(t, []float64{float64(float32(0.1)), -2}, got.Weight)

	b.AppendValues([]float32{0.1, 0, -2, 0}, []bool{true, false, true, false})
	r = record(t, []string{"source", "target", "weight"}, ints(1, 2, 3, 4), ints(5, 6, 7, 8), b.NewArray())
	text.Reset()
	w, err = ipc.NewFileWriter(&text, ipc.WithSchema(r.Schema()))
	require.NoError(t, err)
	require.NoError(t, w.Write(r))
	require.NoError(t, w.Close())
	_, err = Read(bytes.NewReader(text.Bytes()), "w.arrow", wanted())
	require.Equal(t, tabular.Faults{{Row: 2, Column: "weight", Message: "nothing (null), want a number"}, {Row: 4, Column: "weight", Message: "nothing (null), want a number"}}, err)
}

// The limits of every column, from both sides.
func TestLimitsOfValues(t *testing.T) {
	for text, want := range map[string]string{
		"source,target\n0,0\n":                                        "",
		"source,target\n69,29\n":                                      "",
		"source,target,delay\n0,0,1\n":                                "",
		"source,target,delay\n0,0,255\n":                              "",
		"source,target,delay_ms\n0,0,0.1\n":                           "",
		"source,target,delay_ms\n0,0,25.5\n":                          "",
		"source,target,delay_ms\n0,0,25.549\n":                        "",
		"source,target,delay_ms\n0,0,25.551\n":                        "256 bursts",
		"source,target,delay_ms\n0,0,0.051\n":                         "",
		"source,target,delay_ms\n0,0,0.049\n":                         "0 bursts",
		"source,target,delay_ms\n0,0,-1\n":                            "want 1…255 bursts",
		"source,target,port\n0,0,0\n":                                 "",
		"source,target,weight,port\n0,0,1,255\n":                      "",
		"source,target,weight,port\n0,0,0,256\n":                      "256, want the number of a port",
		"source,target,weight,port\n0,0,-1,-1\n":                      "-1, want the number of a port",
		"source,target,weight\n0,0,0.00e1\n":                          "",
		"source,target,weight\n0,0,5X\n":                              `"5X", want`,
		"source,target,weight\n0,0," + strings.Repeat("z", 60) + "\n": `"` + strings.Repeat("z", 60) + `", want`,
		"source,target,weight\n0,0," + strings.Repeat("z", 61) + "\n": `"` + strings.Repeat("z", 60) + `…", want`,
	} {
		_, err := readText(text)
		if want == "" {
			require.NoError(t, err, text)
		} else {
			require.ErrorContains(t, err, want, text)
		}
	}
	o := wanted()
	o.Target = Side{0, "nobody"}
	_, err := Read(bytes.NewReader([]byte("source,target\n0,0\n")), "w.csv", o)
	require.ErrorContains(t, err, "neuron 0, but nobody has none")
	require.EqualValues(t, 38, Bytes(2, 0))
	require.EqualValues(t, 38+2*3*4, Bytes(2, 3))
}

// Delays that are all 1 are left out, and the file is still said to have them.
func TestPlainDelays(t *testing.T) {
	got, err := readText("source,target,delay\n1,2,1\n3,4,1\n")
	require.NoError(t, err)
	require.Nil(t, got.Delay)
	require.True(t, got.Delays)
	got, err = readText("source,target,delay\n1,2,1\n3,4,2\n")
	require.NoError(t, err)
	require.Equal(t, []uint16{1, 2}, got.Delay)
	got, err = readText("source,target\n1,2\n")
	require.NoError(t, err)
	require.False(t, got.Delays)
}

// A row's line, as connectome asks for it, in files of lines and of others.
// few takes so many bytes and refuses more.
type few struct{ left int }

func (f *few) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// Where a list cannot be written, the error comes out, in every format and wherever it happens.
func TestWriterFails(t *testing.T) {
	var b Block
	for i := range 2000 {
		b.Add(uint32(i*7919%70), uint32(i*104729%30), float64(i)/7, uint16(1+i%65535), 0)
	}
	for _, end := range []string{"csv", "parquet", "arrow", "arrows"} {
		write := func(to io.Writer) error {
			w, err := NewWriter(to, "w."+end)
			if err == nil {
				err = w.Write(&b)
			}
			if err == nil {
				err = w.Close()
			}
			return err
		}
		var whole bytes.Buffer
		require.NoError(t, write(&whole))
		for _, n := range []int{0, 4, whole.Len() / 2, whole.Len() - 1} {
			require.Error(t, write(&few{n}), "%s after %d of %d bytes", end, n, whole.Len())
		}
		require.NoError(t, write(&few{whole.Len()}))
	}
	b.Reset()
	require.Equal(t, []int{0, 0, 0, 0, 0}, []int{len(b.Source), len(b.Target), len(b.Weight), len(b.Delay), len(b.Port)})
}
