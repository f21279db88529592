package tables

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
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

// onePage is a PageReader of one page.
type onePage struct {
	file.PageReader
	page file.Page
}

func (p *onePage) Next() bool      { return p.page != nil }
func (p *onePage) Err() error      { return nil }
func (p *onePage) Page() file.Page { page := p.page; p.page = nil; return page }

// TestDamagedDifferences: a page that says what cannot be is an error.
func TestDamagedDifferences(t *testing.T) {
	words := func(list ...uint64) (b []byte) {
		for _, x := range list {
			b = binary.AppendUvarint(b, x)
		}
		return b
	}
	block := append(words(128, 4, 40, 2, 0), 8, 8, 8, 8) // then 32 differences, of which all are there
	whole := append(block, make([]byte, 64)...)
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"whole":                         {whole, ""},
		"nothing":                       {nil, "unexpected EOF"},
		"a header that is cut":          {words(128, 4, 40), "unexpected EOF"},
		"no miniblocks":                 {words(128, 0, 40, 2), "in blocks of 128 and 0 miniblocks"},
		"blocks of nothing":             {words(0, 4, 40, 2), "in blocks of 0 and 4"},
		"miniblocks of 2^59":            {words(128, 1<<59, 40, 2), "and 576460752303423488 miniblocks"},
		"miniblocks of no whole bytes":  {words(128, 3, 40, 2), "in blocks of 128 and 3"},
		"blocks that are too large":     {words(1<<20, 4, 40, 2), "in blocks of 1048576"},
		"more values than the page has": {words(128, 4, 41, 2), "a page of 41 values, want 40"},
		"no blocks":                     {words(128, 4, 40, 2), "unexpected EOF"},
		"widths that are cut":           {append(words(128, 4, 40, 2, 0), 8, 8), "unexpected EOF"},
		"differences that are cut":      {whole[:len(block)+40], "unexpected EOF"},
		"differences too wide":          {append(append(words(128, 4, 40, 2, 0), 65, 8, 8, 8), make([]byte, 600)...), "differences of 65 bits"},
	} {
		t.Run(name, func(t *testing.T) {
			plain := parquet.Encodings.Plain
			page := file.NewDataPageV1(memory.NewBufferBytes(c.data), 40, parquet.Encodings.DeltaBinaryPacked, plain, plain, int32(len(c.data)))
			d := deltas[int64]{pages: &onePage{page: page}}
			got := make([]int64, 50)
			_, n, err := d.ReadBatch(50, got, nil, nil)
			if c.says == "" {
				require.NoError(t, err)
				require.Equal(t, slices.Repeat([]int64{1}, 40), got[:n])
				return
			}
			require.ErrorContains(t, err, c.says)
		})
	}
}
