package edgelist

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"
)

// listed is a Parquet file of rows edges, as burst writes it; all of the same neurons, or of any.
func listed(t *testing.T, rows int, same bool) []byte {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 9))
	var out bytes.Buffer
	w, err := NewWriter(&out, "w.parquet")
	require.NoError(t, err)
	var b Block
	for range rows {
		source, target, x := uint32(4), uint32(5), 0.5
		if !same {
			source, target, x = r.Uint32N(70), r.Uint32N(30), r.Float64()
		}
		b.Add(source, target, x, 1, 0)
	}
	require.NoError(t, w.Write(&b))
	require.NoError(t, w.Close())
	return out.Bytes()
}

// varint is how Parquet's footer writes a whole number.
func varint(n int64) []byte { return binary.AppendVarint(nil, n) }

// claiming makes the footer of a file say another number of rows in some of seven places: the file's, the five columns', the group's.
func claiming(t *testing.T, whole []byte, rows, claim int64, places ...int) []byte {
	t.Helper()
	length := int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	start := len(whole) - 8 - length
	footer := whole[start : len(whole)-8]
	parts := bytes.Split(footer, varint(rows))
	require.Len(t, parts, 8)
	footer = nil
	for i, part := range parts {
		switch footer = append(footer, part...); {
		case i == 7:
		case slices.Contains(places, i):
			footer = append(footer, varint(claim)...)
		default:
			footer = append(footer, varint(rows)...)
		}
	}
	out := append(bytes.Clone(whole[:start]), footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), "PAR1"...)
}

// TestClaimedRows: a Parquet file that claims many times the rows that its pages hold is refused before memory is taken for them,
// whichever places of its footer say so; one that holds so many is read.
func TestClaimedRows(t *testing.T) {
	const rows, claim = 123_457, 20_000_000 // the columns of as many are 340 MB
	o := Options{Source: Side{70, "E"}, Target: Side{30, "I"}, Timestep: 0.1, MostDelay: 255, MaxRows: 1 << 40, Threads: 2}
	everywhere := []int{0, 1, 2, 3, 4, 5, 6}
	for _, same := range []bool{true, false} {
		whole := listed(t, rows, same)
		if same {
			require.Less(t, len(whole), rows/4, "few bytes hold many rows")
		}
		got, err := Read(bytes.NewReader(whole), "w.parquet", o)
		require.NoError(t, err)
		require.Len(t, got.Source, rows)
		for _, places := range [][]int{{0}, {6}, {0, 6}, {1, 2, 3, 4, 5}, {0, 1, 6}, {0, 1, 2, 3, 4, 5}, everywhere} {
			bad := claiming(t, whole, rows, claim, places...)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, err := Read(bytes.NewReader(bad), "w.parquet", o)
			runtime.ReadMemStats(&after)
			require.ErrorContains(t, err, "damaged", "places %v", places)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(32<<20), "places %v: %v", places, err)
		}
	}
	_, err := Read(bytes.NewReader(claiming(t, listed(t, rows, true), rows, 99, 0, 6)), "w.parquet", o)
	require.ErrorContains(t, err, "row group 0 of 99 rows: column source has 123457", "rows left out")
	for _, n := range []int64{-1, -claim} {
		_, err := Read(bytes.NewReader(claiming(t, listed(t, rows, true), rows, n, everywhere...)), "w.parquet", o)
		require.ErrorContains(t, err, "damaged", "%d rows", n)
	}
	o.MaxRows = rows - 1
	_, err = Read(bytes.NewReader(listed(t, rows, true)), "w.parquet", o)
	require.Equal(t, &TooManyError{rows, rows - 1}, err)
	o.MaxRows = rows
	_, err = Read(bytes.NewReader(listed(t, rows, true)), "w.parquet", o)
	require.NoError(t, err, "as many as are wanted")
}

// TestClaimedBytes: a column that claims fewer bytes than none, or more than its file has, is refused before memory is taken for it.
func TestClaimedBytes(t *testing.T) {
	whole := listed(t, 5000, false)
	r, err := file.NewParquetReader(bytes.NewReader(whole))
	require.NoError(t, err)
	m, err := r.MetaData().RowGroup(0).ColumnChunk(2)
	require.NoError(t, err)
	footer := len(whole) - 8 - int(binary.LittleEndian.Uint32(whole[len(whole)-8:]))
	for _, claim := range []int64{-1, int64(len(whole)), int64(len(whole)) + 1, 1 << 50} {
		size := varint(m.TotalCompressedSize())
		require.Contains(t, string(whole[footer:]), string(size))
		text := bytes.Replace(whole[footer:len(whole)-8], size, varint(claim), 1)
		bad := append(bytes.Clone(whole[:footer]), text...)
		bad = append(binary.LittleEndian.AppendUint32(bad, uint32(len(text))), "PAR1"...)
		refused := fmt.Sprintf("column weight has %d bytes in a file of %d", claim, len(bad))
		if _, err := Read(bytes.NewReader(bad), "w.parquet", wanted()); claim == int64(len(bad)) {
			require.NotContains(t, fmt.Sprint(err), refused)
		} else {
			require.ErrorContains(t, err, refused)
		}
	}
}
