package tables

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/stretchr/testify/require"
)

// TestPlain reads back what a plain table wrote as Parquet.
func TestPlain(t *testing.T) {
	var p Plain
	p.Add("point", []uint64{1, math.MaxUint64})
	p.Add("tau (ms)", []float64{0.1, math.NaN()})
	p.Add("digest", []string{"a,b", ""})
	path := filepath.Join(t.TempDir(), "plain.parquet")
	w, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, p.Parquet(struct{ *os.File }{w}))
	w.Close()
	r, err := openParquet(path)
	require.NoError(t, err)
	defer r.Close()
	require.EqualValues(t, 2, r.NumRows())
	numbers, figures, texts := make([]int64, 2), make([]float64, 2), make([]parquet.ByteArray, 2)
	for i, name := range p.Names {
		require.Equal(t, name, r.MetaData().Schema.Column(i).Name())
		c, err := r.RowGroup(0).Column(i)
		require.NoError(t, err)
		switch c := c.(type) {
		case *file.Int64ColumnChunkReader:
			_, _, err = c.ReadBatch(2, numbers, nil, nil)
		case *file.Float64ColumnChunkReader:
			_, _, err = c.ReadBatch(2, figures, nil, nil)
		case *file.ByteArrayColumnChunkReader:
			_, _, err = c.ReadBatch(2, texts, nil, nil)
		}
		require.NoError(t, err)
	}
	require.Equal(t, []int64{1, -1}, numbers)
	require.Equal(t, 0.1, figures[0])
	require.True(t, math.IsNaN(figures[1]))
	require.Equal(t, "a,b", string(texts[0]))
	require.Empty(t, texts[1])
}
