package record

import (
	"bytes"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
)

// parquetOf is a small file of the table, with one column of a type that it does not have, or none.
func parquetOf(t testing.TB, name, column string, as arrow.DataType) []byte {
	t.Helper()
	m := raggedManifest()
	c := Chunk{Burst: []uint64{0, 0, 3}, Neuron: []uint32{5, 1011, 7}, Area: []uint32{0, 2, 0},
		Potential: []float32{-65, 1.5, 0}, Port: []uint32{5, 1011, 7}, Sum: []int32{1, -2, 3}} // the schema takes its columns
	s := tableNamed(name).schema(&m)
	fields := slices.Clone(s.Fields())
	for i := range fields {
		if fields[i].Name == column {
			fields[i].Type = as
		}
	}
	md := s.Metadata()
	var out bytes.Buffer
	require.NoError(t, writeParquet(&out, arrow.NewSchema(fields, &md), m.Areas, one(c)))
	return out.Bytes()
}

func one(c Chunk) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) { yield(c, nil) }
}

// readBytes reads a file of those bytes as `burst export` does.
func readBytes(dir string, b []byte) error {
	path := filepath.Join(dir, "x.parquet")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return err
	}
	r, err := OpenRecording(path)
	if err != nil {
		return err
	}
	return exportCSV(io.Discard, r)
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
	return append(seeds, parquetOf(t, spikesTable, "", nil), parquetOf(t, potentialsTable, "", nil), parquetOf(t, fclTable, "", nil),
		parquetOf(t, fclTable, "sum", arrow.PrimitiveTypes.Uint64), parquetOf(t, spikesTable, "burst", arrow.PrimitiveTypes.Uint32))
}

// TestParquetTypes: a column of another type than the table's is told, whichever it is.
func TestParquetTypes(t *testing.T) {
	for _, name := range Tables() {
		require.NoError(t, readBytes(t.TempDir(), parquetOf(t, name, "", nil)))
		for _, field := range tableNamed(name).numbers() {
			for _, as := range []arrow.DataType{arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Float32, areaType} {
				if as == field.Type || as == arrow.PrimitiveTypes.Uint32 && field.Type == arrow.PrimitiveTypes.Int32 {
					continue // held alike
				}
				var d *DamagedError
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
	tries := 1000
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
	require.Less(t, most, uint64(4*mostPage))
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
