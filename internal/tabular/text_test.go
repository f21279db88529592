package tabular

import (
	"bytes"
	"fmt"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// Memory given back is there for the next record batch.
func TestBounded(t *testing.T) {
	a := &bounded{Allocator: memory.DefaultAllocator, left: 100}
	for range 3 {
		a.Free(a.Reallocate(90, a.Allocate(50)))
	}
	require.Equal(t, 100, a.left)
	require.PanicsWithError(t, (&noRoom{101, 100}).Error(), func() { a.Allocate(101) })
}

// texts reads the column name of a file, with "-" for rows without one.
func texts(content []byte, file string, optional bool) ([]string, error) {
	var got []string
	err := Read(bytes.NewReader(content), file, Options{
		Header: func(names []string) ([]Column, error) {
			at, err := Find(names, "name")
			return []Column{{Name: "name", At: at, Optional: optional, Text: func(row uint64, s string) string {
				if s == "bad" {
					return "bad, want better"
				}
				got[row] = s
				return ""
			}}}, err
		},
		Room: func(rows uint64) error {
			for got = make([]string, rows); rows > 0; rows-- {
				got[rows-1] = "-"
			}
			return nil
		},
	})
	return got, err
}

// named is the same column of texts as programs write it.
func named(t *testing.T, as arrow.DataType, values []string) map[string][]byte {
	b := array.NewBuilder(memory.DefaultAllocator, as)
	for _, v := range values {
		if v == "-" {
			b.AppendNull()
			continue
		}
		require.NoError(t, b.AppendValueFromString(v))
	}
	s := arrow.NewSchema([]arrow.Field{{Name: "name", Type: as, Nullable: true}}, nil)
	r := array.NewRecordBatch(s, []arrow.Array{b.NewArray()}, int64(len(values)))
	files := map[string][]byte{}
	write := func(name string, w interface {
		Write(arrow.RecordBatch) error
		io.Closer
	}, out *bytes.Buffer, err error) {
		require.NoError(t, err)
		require.NoError(t, w.Write(r))
		require.NoError(t, w.Close())
		files[name] = out.Bytes()
	}
	var stream, whole bytes.Buffer
	write("t.arrows", ipc.NewWriter(&stream, ipc.WithSchema(s)), &stream, nil)
	f, err := ipc.NewFileWriter(&whole, ipc.WithSchema(s))
	write("t.arrow", f, &whole, err)
	files["t.parquet"] = parquetOf(t, as.ID() == arrow.BOOL, values)
	return files
}

// parquetOf is a Parquet file of the column name.
func parquetOf(t *testing.T, flags bool, values []string) []byte {
	var out bytes.Buffer
	node := schema.NewByteArrayNode("name", parquet.Repetitions.Optional, -1)
	if flags {
		node = schema.NewBooleanNode("name", parquet.Repetitions.Optional, -1)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	require.NoError(t, err)
	w := file.NewParquetWriter(&out, root)
	g, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	c, err := g.NextColumn()
	require.NoError(t, err)
	var levels []int16
	var list []parquet.ByteArray
	var trues []bool
	for _, v := range values {
		if v == "-" {
			levels = append(levels, 0)
			continue
		}
		levels, list, trues = append(levels, 1), append(list, parquet.ByteArray(v)), append(trues, v == "true")
	}
	switch c := c.(type) {
	case *file.ByteArrayColumnChunkWriter:
		_, err = c.WriteBatch(list, levels, nil)
	case *file.BooleanColumnChunkWriter:
		_, err = c.WriteBatch(trues, levels, nil)
	}
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return out.Bytes()
}

func TestTexts(t *testing.T) {
	dictionary := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	for _, as := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, dictionary} {
		for name, content := range named(t, as, []string{"V1 23E", "-", "µ"}) {
			got, err := texts(content, name, true)
			require.NoError(t, err, "%s as %s", name, as)
			require.Equal(t, []string{"V1 23E", "-", "µ"}, got, "%s as %s", name, as)
			_, err = texts(content, name, false)
			require.Equal(t, Faults{{Row: 2, Column: "name", Message: "nothing (null), want a text"}}, err, "%s as %s", name, as)
		}
		for name, content := range named(t, as, []string{"a", "bad"}) {
			_, err := texts(content, name, true)
			require.Equal(t, Faults{{Row: 2, Column: "name", Message: "bad, want better"}}, err, "%s as %s", name, as)
		}
	}
	for name, content := range named(t, arrow.FixedWidthTypes.Boolean, []string{"true", "-", "false"}) {
		got, err := texts(content, name, true)
		require.NoError(t, err, name)
		require.Equal(t, []string{"true", "-", "false"}, got, name)
	}
	_, err := texts(named(t, arrow.PrimitiveTypes.Int32, []string{"1"})["t.arrow"], "t.arrow", true)
	require.ErrorContains(t, err, "column name: int32, want texts")
	got, err := texts([]byte("x,name\n1,V1\n2,\n3, a b \n"), "t.csv", true)
	require.NoError(t, err)
	require.Equal(t, []string{"V1", "-", "a b"}, got)
	_, err = texts([]byte("x,name\n1,V1\n2,\n3,\xff\n"), "t.csv", false)
	require.Equal(t, Faults{
		{Row: 2, Line: 3, Column: "name", Message: "nothing, want a text"}, {Row: 3, Line: 4, Column: "name", Message: `"\xff", want UTF-8`},
	}, err)
}

// TestTextsOfManyBatches: a record batch takes the memory of the last one, whose texts stay.
func TestTextsOfManyBatches(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "name", Type: arrow.BinaryTypes.String}}, nil)
	var file bytes.Buffer
	w := ipc.NewWriter(&file, ipc.WithSchema(s))
	var want []string
	for batch := range 5 {
		b := array.NewRecordBuilder(memory.DefaultAllocator, s)
		for k := range 1000 {
			text := fmt.Sprintf("neuron %d of batch %d", k, batch)
			b.Field(0).(*array.StringBuilder).Append(text)
			want = append(want, text)
		}
		r := b.NewRecordBatch()
		require.NoError(t, w.Write(r))
		r.Release()
		b.Release()
	}
	require.NoError(t, w.Close())
	got, err := texts(file.Bytes(), "names.arrows", false)
	require.NoError(t, err)
	require.Equal(t, want, got)
}
