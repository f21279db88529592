package tables

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
	"github.com/stretchr/testify/require"
)

// numbersOf makes numbers whose differences take every number of bits: up to k in the k-th piece of 300, on either side of 0.
func numbersOf(bits int) []int64 {
	random := rand.New(rand.NewPCG(7, 0x64))
	var numbers []int64
	last := int64(0)
	for k := range bits + 1 {
		for range 300 {
			last += int64(random.Uint64()>>(64-k)) * int64(1-2*random.IntN(2))
			numbers = append(numbers, last)
		}
	}
	return numbers
}

// writtenAs is a file with a column of these numbers in pages of that many bytes.
func writtenAs[T int32 | int64](t *testing.T, numbers []T, page int64, version parquet.DataPageVersion, write func(file.ColumnChunkWriter) error) *file.Reader {
	t.Helper()
	kind := parquet.Types.Int64
	if _, short := any(numbers).([]int32); short {
		kind = parquet.Types.Int32
	}
	node, err := schema.NewPrimitiveNode("n", parquet.Repetitions.Required, kind, -1, -1)
	require.NoError(t, err)
	root, err := schema.NewGroupNode("s", parquet.Repetitions.Required, schema.FieldList{node}, -1)
	require.NoError(t, err)
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, root, file.WithWriterProps(parquet.NewWriterProperties(parquet.WithDictionaryDefault(false), parquet.WithDataPageVersion(version),
		parquet.WithEncoding(parquet.Encodings.DeltaBinaryPacked), parquet.WithDataPageSize(page), parquet.WithBatchSize(50), parquet.WithCompression(compress.Codecs.Zstd))))
	group, err := w.AppendRowGroupChecked()
	require.NoError(t, err)
	column, err := group.NextColumn()
	require.NoError(t, err)
	require.NoError(t, write(column))
	require.NoError(t, w.Close())
	f, err := file.NewParquetReader(bytes.NewReader(out.Bytes()))
	require.NoError(t, err)
	return f
}

// sameNumbers reads numbers in pieces of some lengths, and as Arrow's reader does.
func sameNumbers[T int32 | int64](t *testing.T, f *file.Reader, want []T) {
	t.Helper()
	group := f.RowGroup(0)
	chunk, err := group.MetaData().ColumnChunk(0)
	require.NoError(t, err)
	theirs, err := group.Column(0)
	require.NoError(t, err)
	got := make([]T, len(want))
	n, err := fill(got, theirs.(reader[T]).ReadBatch)
	require.NoError(t, err)
	require.Equal(t, want, got[:n], "Arrow's reader")
	for _, piece := range []int{1, 31, 32, 33, 1000, len(want)} {
		c, err := columnOf(group, 0, f.MetaData().Schema.Column(0).PhysicalType(), chunk.Encodings())
		require.NoError(t, err)
		require.IsType(t, &deltas[T]{}, c)
		got := make([]T, 0, len(want)+piece)
		for {
			n, err := fill(got[len(got):len(got)+min(piece, cap(got)-len(got))], c.(reader[T]).ReadBatch)
			require.NoError(t, err)
			if n == 0 {
				break
			}
			got = got[:len(got)+n]
		}
		require.Equal(t, want, got, "in pieces of %d", piece)
	}
}

// TestDifferences: whatever numbers a column holds, they are read as Arrow's reader reads them, however the pages and the reads are cut.
func TestDifferences(t *testing.T) {
	for _, version := range []parquet.DataPageVersion{parquet.DataPageV1, parquet.DataPageV2} {
		for _, page := range []int64{64, 1000, 1 << 20} {
			for _, n := range []int{0, 1, 2, 33, 34, 128, 129, 1 << 30} {
				long := numbersOf(64)
				long = long[:min(n, len(long))]
				sameNumbers(t, writtenAs(t, long, page, version, func(w file.ColumnChunkWriter) error {
					_, err := w.(*file.Int64ColumnChunkWriter).WriteBatch(long, nil, nil)
					return err
				}), long)
				var short []int32
				for _, x := range numbersOf(32) {
					short = append(short, int32(x))
				}
				short = short[:min(n, len(short))]
				sameNumbers(t, writtenAs(t, short, page, version, func(w file.ColumnChunkWriter) error {
					_, err := w.(*file.Int32ColumnChunkWriter).WriteBatch(short, nil, nil)
					return err
				}), short)
			}
		}
	}
}
