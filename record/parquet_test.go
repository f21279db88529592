package record

import (
	"bytes"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"burst/internal/slow"
	"burst/record/internal/tables"
	"burst/record/runfolder"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// parquetOf is a small file of the table, with one column of a type that it does not have, or none.
func parquetOf(t testing.TB, name, column string, as arrow.DataType) []byte {
	t.Helper()
	m := raggedManifest()
	m.Variables = []string{"V", "u"}
	s := tables.Named(name).Schema(&m)
	var out bytes.Buffer
	if column == "" {
		c := tables.Chunk{Burst: []uint64{0, 0, 3}, Neuron: []uint32{5, 1011, 7}, Area: []uint32{0, 2, 0},
			Potential: []float32{-65, 1.5, 0}, Port: []uint32{5, 1011, 7}, Sum: []int32{1, -2, 3}, // the schema takes its columns
			Variable: []uint32{1, 0, 1}, Value: []float32{0.1, -2, 3e-40},
			Projection: []uint32{0, 2, 1}, Source: []uint32{1, 2, 3}, Target: []uint32{4, 5, 6}, Delay: []uint32{1, 1, 9}, Weight: []float32{0.5, -1, 0},
			Mean: []float64{1, 2, 3}, SD: []float64{0, 1, 1e-300}, Low: []float64{0, 0.1, 0.2}, High: []float64{0.1, 0.2, 0.3}, Synapses: []uint64{1 << 40, 0, 7}}
		require.NoError(t, tables.WriteParquet(&out, s, &m, one(c)))
		return out.Bytes()
	}
	var fields schema.FieldList
	for _, f := range s.Fields() {
		kind := physical(f.Type)
		if f.Name == column {
			kind = physical(as)
		}
		node, err := schema.NewPrimitiveNode(f.Name, parquet.Repetitions.Required, kind, -1, -1)
		require.NoError(t, err)
		fields = append(fields, node)
	}
	root, err := schema.NewGroupNode("burst", parquet.Repetitions.Required, fields, -1)
	require.NoError(t, err)
	meta := metadata.NewKeyValueMetadata()
	md := s.Metadata()
	for i, key := range md.Keys() {
		require.NoError(t, meta.Append(key, md.Values()[i]))
	}
	f := file.NewParquetWriter(&out, root, file.WithWriteMetadata(meta))
	group, err := f.AppendBufferedRowGroupChecked()
	require.NoError(t, err)
	for i := range s.Fields() {
		w, err := group.Column(i)
		require.NoError(t, err)
		switch w := w.(type) {
		case *file.Int64ColumnChunkWriter:
			_, err = w.WriteBatch(make([]int64, 1), nil, nil)
		case *file.Int32ColumnChunkWriter:
			_, err = w.WriteBatch(make([]int32, 1), nil, nil)
		case *file.Float32ColumnChunkWriter:
			_, err = w.WriteBatch(make([]float32, 1), nil, nil)
		case *file.Float64ColumnChunkWriter:
			_, err = w.WriteBatch(make([]float64, 1), nil, nil)
		case *file.ByteArrayColumnChunkWriter:
			_, err = w.WriteBatch(make([]parquet.ByteArray, 1), nil, nil)
		}
		require.NoError(t, err)
	}
	require.NoError(t, group.Close())
	require.NoError(t, f.Close())
	return out.Bytes()
}

// physical is how Parquet holds a type.
func physical(t arrow.DataType) parquet.Type {
	kinds := map[arrow.Type]parquet.Type{arrow.UINT64: parquet.Types.Int64, arrow.UINT32: parquet.Types.Int32, arrow.INT32: parquet.Types.Int32,
		arrow.FLOAT32: parquet.Types.Float, arrow.FLOAT64: parquet.Types.Double}
	if kind, number := kinds[t.ID()]; number {
		return kind
	}
	return parquet.Types.ByteArray
}

func one(c tables.Chunk) iter.Seq2[tables.Chunk, error] {
	return func(yield func(tables.Chunk, error) bool) { yield(c, nil) }
}

// readBytes reads a file of those bytes as `burst export` does.
func readBytes(dir string, b []byte) error {
	path := filepath.Join(dir, "x.parquet")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return err
	}
	r, err := runfolder.OpenRecording(path)
	if err != nil {
		return err
	}
	return drain(r)
}

// parquetSeeds are whole files: of every format, of every table, and some whose columns have other types.
func parquetSeeds(t testing.TB) [][]byte {
	t.Helper()
	var seeds [][]byte
	for _, name := range []string{"testdata/format-1-ended/spikes.parquet", "testdata/format-2-ended/spikes.parquet"} {
		b, err := os.ReadFile(name)
		require.NoError(t, err)
		seeds = append(seeds, b)
	}
	return append(seeds, parquetOf(t, tables.Spikes, "", nil), parquetOf(t, tables.Potentials, "", nil), parquetOf(t, tables.Variables, "", nil), parquetOf(t, tables.FCL, "", nil),
		parquetOf(t, tables.Weights, "", nil), parquetOf(t, tables.Histograms, "", nil),
		parquetOf(t, tables.FCL, "sum", arrow.PrimitiveTypes.Uint64), parquetOf(t, tables.Spikes, "burst", arrow.PrimitiveTypes.Uint32))
}

// TestParquetTypes: a column of another type than the table's is told, whichever it is.
func TestParquetTypes(t *testing.T) {
	for _, name := range runfolder.Tables() {
		require.NoError(t, readBytes(t.TempDir(), parquetOf(t, name, "", nil)))
		m := raggedManifest()
		fields := tables.Named(name).Schema(&m).Fields()
		areas := tables.Named(tables.Spikes).Schema(&m).Fields()[2]
		require.Equal(t, "area", areas.Name)
		for _, field := range fields {
			if slices.Contains([]string{"area", "x", "y", "z"}, field.Name) {
				continue // never read: ids tell
			}
			for _, as := range []arrow.DataType{arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Float32, areas.Type} {
				if as == field.Type || as == arrow.PrimitiveTypes.Uint32 && field.Type == arrow.PrimitiveTypes.Int32 {
					continue // held alike
				}
				var d *runfolder.DamagedError
				err := readBytes(t.TempDir(), parquetOf(t, name, field.Name, as))
				require.ErrorAs(t, err, &d, "%s: %s as %v", name, field.Name, as)
				require.ErrorContains(t, err, `column "`+field.Name+`" is `)
			}
		}
	}
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

// TestR22Parquet: files with bytes changed, cut out or set to large lengths give rows or an error, and take memory for no more
// than a few pages.
func TestR22Parquet(t *testing.T) {
	tries := slow.Times(300, 1000)
	if testing.Short() {
		tries = 200
	}
	r := rand.New(rand.NewPCG(22, 7))
	dir := t.TempDir()
	refused, tried, most := 0, 0, uint64(0)
	for _, whole := range parquetSeeds(t) {
		footer := len(whole) - min(len(whole), 2500) // where most is said in few bytes
		for range tries {
			b := slices.Clone(whole)
			for range 1 + r.IntN(3) {
				at := footer + r.IntN(len(b)-footer)
				switch r.IntN(4) {
				case 0:
					b[at] ^= 1 << r.IntN(8)
				case 1:
					b[at] = byte(r.Uint32())
				case 2:
					copy(b[at:], "\xff\xff\xff\xff\x0f")
				default:
					b[r.IntN(len(b))] ^= 1 << r.IntN(8)
				}
			}
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			err := readBytes(dir, b)
			if inPlainWords(t, err); err != nil {
				refused++
			}
			runtime.ReadMemStats(&after)
			tried, most = tried+1, max(most, after.TotalAlloc-before.TotalAlloc)
		}
	}
	require.Greater(t, refused, tried/4)
	require.Less(t, most, uint64(4*tables.MostPage))
	t.Logf("R22: of %d damaged Parquet files %d were refused, with %d KiB at most", tried, refused, most>>10)
}

// FuzzR22Parquet: whatever bytes a Parquet file holds, reading gives rows or an error.
func FuzzR22Parquet(f *testing.F) {
	for _, b := range parquetSeeds(f) {
		f.Add(b)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, b []byte) { _ = readBytes(dir, b) })
}
