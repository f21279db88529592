package edgelist

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"burst/internal/tabular"
)

// wanted takes 70 sources and 30 targets, and 0.1 ms a burst.
func wanted() Options {
	return Options{Source: Side{70, "E"}, Target: Side{30, "I"}, Timestep: 0.1, MostDelay: 255, MaxRows: 1000}
}

func readText(text string) (*Table, error) {
	return Read(bytes.NewReader([]byte(text)), "w.csv", wanted())
}

func TestReadCSV(t *testing.T) {
	want := &Table{Source: []uint32{69, 0}, Target: []uint32{0, 29}, Weight: []float64{-0.25, 1e-3}, Delay: []uint16{255, 1}, Delays: true}
	for name, text := range map[string]string{
		"plain":           "source,target,weight,delay\n69,0,-0.25,255\n0,29,1e-3,1\n",
		"other order":     "delay,weight,target,source\n255,-.25,0,69\n1,0.001,29,0\n",
		"no last newline": "source,target,weight,delay\n69,0,-0.25,255\n0,29,1e-3,1",
		"of Windows":      "\ufeffsource,target,weight,delay\r\n69,0,-0.25,255\r\n\r\n0,29,1e-3,1\r\n",
		"quotes, blanks":  "\"source\", target ,weight,delay\n\"69\", 0, -0.25 ,255 \n\n0,\"29\",1e-3,1\n",
		"columns to skip": "_name,source,target,_,weight,delay\n\"a, b\",69,0,,-0.25,255\nnan,0,29,x,1e-3,1\n",
		"times":           "source,target,weight,delay_ms\n69,0,-0.25,25.5\n0,29,1e-3,0.05\n",
		"digits":          "source,target,weight,delay\n69,0,-2500E-4,255\n0,29,0.00000000001e8,1\n",
		"ports":           "port,source,target,weight,delay\n1,69,0,-0.25,255\n0,0,29,1e-3,1\n",
	} {
		got, err := readText(text)
		require.NoError(t, err, name)
		if name == "ports" {
			require.Equal(t, []uint8{1, 0}, got.Port)
			got.Port = nil
		}
		assert.Equal(t, want, got, name)
	}
	got, err := readText("source,target,weight\n1,2,0e-400\n1,2,-0.0\n1,2,5e-324\n")
	require.NoError(t, err)
	assert.Equal(t, []float64{0, math.Copysign(0, -1), 5e-324}, got.Weight)
	got, err = readText("target,source\n")
	require.NoError(t, err)
	assert.Equal(t, &Table{Source: []uint32{}, Target: []uint32{}}, got)
}

// Every mistake must be found where it stands, with what was found and what is wanted.
func TestCSVMistakes(t *testing.T) {
	const head = "source,target,weight,delay\n1,2,0.5,3\n\n"
	for _, c := range []struct{ name, text, want string }{
		{"source outside", head + "70,2,0.5,3\n", "row 2 (line 4), column source: neuron 70, want 0…69 of E"},
		{"target outside", head + "1,30,0.5,3\n", "row 2 (line 4), column target: neuron 30, want 0…29 of I"},
		{"negative neuron", head + "-1,2,0.5,3\n", "column source: neuron -1, want 0…69"},
		{"neuron of 2^32", head + "1,4294967296,0.5,3\n", "column target: neuron 4294967296, want"},
		{"neuron of 2^64", head + "18446744073709551616,2,0.5,3\n", "column source: \"18446744073709551616\", want a whole number"},
		{"fraction of a neuron", head + "1.0,2,0.5,3\n", `column source: "1.0", want a whole number`},
		{"name of a neuron", head + "AVAL,2,0.5,3\n", `column source: "AVAL", want`},
		{"no neuron", head + ",2,0.5,3\n", `column source: "", want`},
		{"thousands", head + "1_0,2,0.5,3\n", `"1_0", want`},
		{"weight NaN", head + "1,2,nan,3\n", "column weight: NaN, want a finite number"},
		{"weight infinite", head + "1,2,-inf,3\n", "column weight: -Inf, want"},
		{"weight of 1e999", head + "1,2,1e999,3\n", "column weight: +Inf, want"},
		{"no weight", head + "1,2,,3\n", `column weight: "", want a number`},
		{"weight in thousands", head + "1,2,1_000,3\n", `column weight: "1_000", want a number`},
		{"underscore in a fraction", head + "1,2,-5_0.5,3\n", `column weight: "-5_0.5", want`},
		{"weight in hexadecimal", head + "1,2,0x1p-2,3\n", `column weight: "0x1p-2", want`},
		{"weight of 1e-400", head + "1,2,-1e-400,3\n", "column weight: -1e-400 is too small for a number of 64 bits"},
		{"weight of 400 zeros", head + "1,2,0." + strings.Repeat("0", 400) + "1,3\n", "too small for a number of 64 bits"},
		{"weight with a unit", head + "1,2,5 mV,3\n", `column weight: "5 mV", want`},
		{"decimal comma", "source;target\n1;2\n", "columns are separated by commas"},
		{"delay of 0", head + "1,2,0.5,0\n", "column delay: 0, want 1…255 bursts"},
		{"delay of 256", head + "1,2,0.5,256\n", "column delay: 256, want 1…255"},
		{"half a burst", head + "1,2,0.5,1.5\n", `column delay: "1.5", want a whole number`},
		{"time too short", "source,target,delay_ms\n1,2,0.04\n", "column delay_ms: 0.04 ms, which is 0 bursts of 0.1 ms"},
		{"time too long", "source,target,delay_ms\n1,2,25.56\n", "which is 256 bursts"},
		{"time NaN", "source,target,delay_ms\n1,2,NaN\n", "NaN, want"},
		{"port 256", "source,target,port\n1,2,256\n", "column port: 256, want the number of a port, from 0"},
		{"too few columns", head + "1,2,0.5\n", "row 2 (line 4): 3 columns, want 4 as in the header"},
		{"too many columns", head + "1,2,0.5,3,4\n", "row 2 (line 4): 5 columns, want"},
		{"bare quote", head + "1,2\",0.5,3\n", "row 2 (line 4): bare"},
		{"row over two lines", "source,target,_n\n1,2,\"a\nb\"\n3,4,c\n", "quotes goes over the end of its line"},
		{"quote without end", "source,target,_n\n1,2,\"a\n3,4,b\n3,4,c\n", "quotes"},
		{"empty", "", "no header, want"},
		{"no header", "1,2,0.5,3\n", `unknown column "1"`},
		{"a blank in one of several", "source,target,my own\n1,2,3\n", "begin its name with _ to have it left out"},
		{"misspelt", "source,taget\n1,2\n", `unknown column "taget", want one of source, target, weight, delay, delay_ms, port; did you mean "target"?`},
		{"row names", ",source,target\n1,1,2\n", "begin its name with _"},
		{"no target", "source,weight\n1,2\n", "want source and target"},
		{"twice", "source,target,source\n1,2,3\n", `column "source" found twice`},
		{"delays twice", "source,target,delay,delay_ms\n1,2,3,0.3\n", "both columns delay and delay_ms"},
		{"long header", strings.Repeat("x", 1<<17), "line 1: a line of more than 65536 bytes"},
		{"too many rows", "source,target\n" + strings.Repeat("1,2\n", 1001), "1001 rows, want at most 1000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readText(c.text)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// Of many wrong rows the first ten are reported, whichever piece is read first.
func TestFirstFaults(t *testing.T) {
	_, err := readText("source,target\n" + strings.Repeat("1,2\n", 100) + strings.Repeat("99,99\n", 100))
	var faults tabular.Faults
	require.True(t, errors.As(err, &faults))
	require.Len(t, faults, 10)
	assert.Equal(t, tabular.Fault{Row: 101, Line: 102, Column: "source", Message: "neuron 99, want 0…69 of E"}, faults[0])
	assert.Equal(t, tabular.Fault{Row: 105, Line: 106, Column: "target", Message: "neuron 99, want 0…29 of I"}, faults[9])
}

// record is an Arrow record batch of columns by name, for files that other programs write.
func record(t *testing.T, names []string, cols ...arrow.Array) arrow.RecordBatch {
	t.Helper()
	fields := make([]arrow.Field, len(names))
	for i := range names {
		fields[i] = arrow.Field{Name: names[i], Type: cols[i].DataType(), Nullable: true}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(cols[0].Len()))
}

func ints(x ...int64) arrow.Array {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues(x, nil)
	return b.NewArray()
}

func floats(valid []bool, x ...float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	b.AppendValues(x, valid)
	return b.NewArray()
}

func texts(x ...string) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(x, nil)
	return b.NewArray()
}

// foreign writes a record batch in every format but CSV.
func foreign(t *testing.T, r arrow.RecordBatch) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	var b bytes.Buffer
	f, err := ipc.NewFileWriter(&b, ipc.WithSchema(r.Schema()), ipc.WithZstd())
	require.NoError(t, err)
	require.NoError(t, f.Write(r))
	require.NoError(t, f.Close())
	files["w.arrow"] = bytes.Clone(b.Bytes())
	b.Reset()
	s := ipc.NewWriter(&b, ipc.WithSchema(r.Schema()))
	require.NoError(t, s.Write(r))
	require.NoError(t, s.Close())
	files["w.arrows"] = bytes.Clone(b.Bytes())
	b.Reset()
	parquetOf(t, &b, r)
	files["w.parquet"] = bytes.Clone(b.Bytes())
	return files
}

// parquetOf writes columns that may be null, in physical types of 64 bits.
func parquetOf(t *testing.T, b *bytes.Buffer, r arrow.RecordBatch) {
	t.Helper()
	var fields schema.FieldList
	for _, f := range r.Schema().Fields() {
		var node schema.Node
		switch {
		case f.Type.ID() == arrow.FLOAT64:
			node = schema.NewFloat64Node(f.Name, parquet.Repetitions.Optional, -1)
		case f.Type.ID() == arrow.STRING:
			node = schema.NewByteArrayNode(f.Name, parquet.Repetitions.Optional, -1)
		default:
			var err error
			node, err = schema.NewPrimitiveNodeLogical(f.Name, parquet.Repetitions.Optional, schema.NewIntLogicalType(64, !arrow.IsUnsignedInteger(f.Type.ID())), parquet.Types.Int64, 0, -1)
			require.NoError(t, err)
		}
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("schema", parquet.Repetitions.Required, fields, -1)
	require.NoError(t, err)
	w, err := file.NewParquetWriterWithError(b, root)
	require.NoError(t, err)
	g, err := w.AppendBufferedRowGroupChecked()
	require.NoError(t, err)
	for i, a := range r.Columns() {
		c, err := g.Column(i)
		require.NoError(t, err)
		var levels []int16
		var whole []int64
		var real []float64
		var text []parquet.ByteArray
		for k := range a.Len() {
			if a.IsNull(k) {
				levels = append(levels, 0)
				continue
			}
			levels = append(levels, 1)
			switch a := a.(type) {
			case *array.Float64:
				real = append(real, a.Value(k))
			case *array.String:
				text = append(text, parquet.ByteArray(a.Value(k)))
			default:
				x, err := strconv.ParseUint(strings.TrimPrefix(a.ValueStr(k), "-"), 10, 64)
				require.NoError(t, err)
				whole = append(whole, int64(x))
			}
		}
		switch c := c.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = c.WriteBatch(whole, levels, nil)
		case *file.Float64ColumnChunkWriter:
			_, err = c.WriteBatch(real, levels, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = c.WriteBatch(text, levels, nil)
		}
		require.NoError(t, err)
	}
	require.NoError(t, g.Close())
	require.NoError(t, w.Close())
}

// Files of pandas have 64-bit numbers, columns that may be null, and sometimes an index.
func TestForeignFiles(t *testing.T) {
	r := record(t, []string{"source", "target", "weight", "delay_ms", "__index_level_0__"},
		ints(69, 0), ints(0, 29), floats(nil, -0.25, 1e-3), floats(nil, 25.5, 0.1), texts("a", "b"))
	for name, text := range foreign(t, r) {
		got, err := Read(bytes.NewReader(text), name, wanted())
		require.NoError(t, err, name)
		assert.Equal(t, &Table{Source: []uint32{69, 0}, Target: []uint32{0, 29}, Weight: []float64{-0.25, 1e-3}, Delay: []uint16{255, 1}, Delays: true}, got, name)
	}
}

// Every type of whole number will do, and a weight may be one.
func TestForeignTypes(t *testing.T) {
	u8 := array.NewUint8Builder(memory.DefaultAllocator)
	u8.AppendValues([]uint8{1, 2}, nil)
	i16 := array.NewInt16Builder(memory.DefaultAllocator)
	i16.AppendValues([]int16{3, 4}, nil)
	u64 := array.NewUint64Builder(memory.DefaultAllocator)
	u64.AppendValues([]uint64{5, 6}, nil)
	for name, text := range foreign(t, record(t, []string{"source", "target", "weight"}, u8.NewArray(), i16.NewArray(), u64.NewArray())) {
		got, err := Read(bytes.NewReader(text), name, wanted())
		require.NoError(t, err, name)
		assert.Equal(t, &Table{Source: []uint32{1, 2}, Target: []uint32{3, 4}, Weight: []float64{5, 6}}, got, name)
	}
}

func TestForeignMistakes(t *testing.T) {
	u64 := array.NewUint64Builder(memory.DefaultAllocator)
	u64.AppendValues([]uint64{1, 1 << 63}, nil)
	for _, c := range []struct {
		name, want string
		r          arrow.RecordBatch
	}{
		{"null", "row 2, column weight: nothing (null), want a number", record(t, []string{"source", "target", "weight"}, ints(1, 2), ints(1, 2), floats([]bool{true, false}, 1, 2))},
		{"outside", "row 1, column target: neuron 30, want 0…29 of I", record(t, []string{"source", "target"}, ints(1, 2), ints(30, 2))},
		{"beyond 63 bits", "row 2, column source: 9223372036854775808, which", record(t, []string{"source", "target"}, u64.NewArray(), ints(1, 2))},
		{"fractions of neurons", "column source: ", record(t, []string{"source", "target"}, floats(nil, 1, 2), ints(1, 2))},
		{"text", "column weight: ", record(t, []string{"source", "target", "weight"}, ints(1), ints(1), texts("1"))},
		{"unknown", `unknown column "wieght"`, record(t, []string{"source", "target", "wieght"}, ints(1), ints(1), ints(1))},
		{"NaN", "row 1, column weight: NaN, want", record(t, []string{"source", "target", "weight"}, ints(1), ints(1), floats(nil, nan()))},
	} {
		for name, text := range foreign(t, c.r) {
			_, err := Read(bytes.NewReader(text), name, wanted())
			require.ErrorContains(t, err, c.want, "%s, %s", c.name, name)
		}
	}
}

func nan() float64 { zero := 0.0; return zero / zero }

// A damaged or foreign file is an error, never a panic.
func TestDamagedFiles(t *testing.T) {
	files := foreign(t, record(t, []string{"source", "target", "weight"}, ints(1, 2, 3), ints(4, 5, 6), floats(nil, 1, 2, 3)))
	r := rand.New(rand.NewPCG(11, 4))
	for name, text := range files {
		for range 300 {
			bad := bytes.Clone(text)
			for range 1 + r.IntN(3) {
				bad[r.IntN(len(bad))] = byte(r.Uint32())
			}
			_, err := Read(bytes.NewReader(bad[:len(bad)-r.IntN(2)*r.IntN(len(bad))]), name, wanted())
			inPlainWords(t, err)
		}
		_, err := Read(bytes.NewReader(nil), name, wanted())
		require.Error(t, err, name)
		_, err = Read(bytes.NewReader([]byte("source,target\n1,2\n")), name, wanted())
		require.Error(t, err, name)
		o := wanted()
		o.MaxRows = 2
		_, err = Read(bytes.NewReader(text), name, o)
		require.ErrorAs(t, err, new(*TooManyError), name)
	}
	_, err := Read(bytes.NewReader(nil), "w.xlsx", wanted())
	require.ErrorContains(t, err, "ends in .csv")
}

// inPlainWords fails where an error has words of Go's runtime.
func inPlainWords(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	require.NotErrorAs(t, err, new(runtime.Error))
	for _, word := range []string{"runtime error", "out of range", "nil pointer", "makeslice", "goroutine"} {
		require.NotContains(t, err.Error(), word)
	}
}

// TestR22ArrowLengths: a length in an Arrow file that promises more than the file or the list holds takes no memory to speak of.
func TestR22ArrowLengths(t *testing.T) {
	files := foreign(t, record(t, []string{"source", "target", "weight", "_name"}, ints(1, 2, 3), ints(4, 5, 6), floats(nil, 1, 2, 3), texts("a", "b", "c")))
	lengths := []uint32{0x7fffffff, 0x10000000}
	if testing.Short() {
		lengths = lengths[:1]
	}
	for _, name := range []string{"w.arrow", "w.arrows"} {
		whole, refused, most := files[name], 0, uint64(0)
		for at := 0; at+4 <= len(whole); at += 4 {
			for _, length := range lengths {
				bad := bytes.Clone(whole)
				binary.LittleEndian.PutUint32(bad[at:], length)
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := Read(bytes.NewReader(bad), name, wanted())
				if inPlainWords(t, err); err != nil {
					refused++
				}
				runtime.ReadMemStats(&after)
				taken := after.TotalAlloc - before.TotalAlloc
				require.Less(t, taken, uint64(40<<20), "%s: %#x at %d", name, length, at)
				most = max(most, taken)
			}
		}
		require.Greater(t, refused, 50, name)
		t.Logf("R22: false lengths in %s took %d KiB at most", name, most>>10)
	}
}

// pyarrow writes a table as one record batch, however long: one beyond 256 MiB, the limit that Arrow's reader comes with, is read.
func TestLongBatch(t *testing.T) {
	const width = 90 << 20
	wide := &arrow.FixedSizeBinaryType{ByteWidth: width}
	notes := array.NewData(wide, 3, []*memory.Buffer{nil, memory.NewBufferBytes(make([]byte, 3*width))}, nil, 0, 0)
	r := record(t, []string{"source", "target", "_notes"}, ints(1, 2, 3), ints(4, 5, 6), array.NewFixedSizeBinaryData(notes))
	var b bytes.Buffer
	b.Grow(3*width + 1<<20)
	f, err := ipc.NewFileWriter(&b, ipc.WithSchema(r.Schema()))
	require.NoError(t, err)
	require.NoError(t, f.Write(r))
	require.NoError(t, f.Close())
	o := wanted()
	_, err = Read(bytes.NewReader(b.Bytes()), "w.arrow", o)
	require.ErrorContains(t, err, "write smaller batches", "no room")
	o.MaxRows = 1 << 25
	got, err := Read(bytes.NewReader(b.Bytes()), "w.arrow", o)
	require.NoError(t, err)
	assert.Equal(t, []uint32{4, 5, 6}, got.Target)
}

// A file of which the end is missing is refused, even where all batches before are whole.
func TestTruncatedArrowFile(t *testing.T) {
	whole := foreign(t, record(t, []string{"source", "target"}, ints(1, 2, 3), ints(4, 5, 6)))["w.arrow"]
	for n := range whole {
		_, err := Read(bytes.NewReader(whole[:n]), "w.arrow", wanted())
		require.Error(t, err, "%d bytes of %d", n, len(whole))
	}
}

// What is written must be read back bit for bit, over several blocks, row groups and threads.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var b Block
	want := &Table{Delays: true}
	for range 70_001 {
		q := int32(r.Uint32())
		w := float64(q) / float64(1+r.IntN(1<<24))
		b.Add(r.Uint32(), r.Uint32(), w, uint16(1+r.IntN(65535)), uint8(r.IntN(16)))
	}
	for range 2 {
		want.Source, want.Target = append(want.Source, b.Source...), append(want.Target, b.Target...)
		want.Weight, want.Delay = append(want.Weight, b.Weight...), append(want.Delay, b.Delay...)
		want.Port = append(want.Port, b.Port...)
	}
	for _, end := range []string{"csv", "parquet", "arrow", "arrows"} {
		var text bytes.Buffer
		w, err := NewWriter(&text, "w."+end)
		require.NoError(t, err)
		require.NoError(t, w.Write(&b))
		require.NoError(t, w.Write(&b))
		require.NoError(t, w.Close())
		for _, threads := range []int{1, 3} {
			o := Options{Source: Side{1 << 32, "S"}, Target: Side{1 << 32, "T"}, Timestep: 1, MostDelay: 65_535, MaxRows: 1 << 20, Threads: threads}
			got, err := Read(bytes.NewReader(text.Bytes()), "w."+end, o)
			require.NoError(t, err, end)
			require.Equal(t, want, got, fmt.Sprintf("%s with %d threads", end, threads))
		}
	}
	_, err := NewWriter(nil, "w.txt")
	require.ErrorContains(t, err, "ends in")
}

// An empty list is a list.
func TestRoundTripOfNothing(t *testing.T) {
	for _, end := range []string{"csv", "parquet", "arrow", "arrows"} {
		var text bytes.Buffer
		w, err := NewWriter(&text, "w."+end)
		require.NoError(t, err)
		require.NoError(t, w.Close())
		got, err := Read(bytes.NewReader(text.Bytes()), "w."+end, wanted())
		require.NoError(t, err, end)
		assert.Empty(t, got.Source, end)
	}
}
