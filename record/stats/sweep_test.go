package stats

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpreadOf compares mean and deviation with ones worked out by hand.
func TestSpreadOf(t *testing.T) {
	s := SpreadOf([]Value{2, 4, 4, undefined, 4, 5, 5, 7, 9}) // mean 5, squared deviations 32
	require.Equal(t, Value(5), s.Mean)
	require.InDelta(t, 2.138089935, float64(s.SD), 1e-9)
	require.Equal(t, Spread{3, 0}, SpreadOf([]Value{3}), "one run has no deviation")
	require.False(t, SpreadOf([]Value{undefined}).Mean.Defined())
}

// TestTable: what there is not is an empty field of CSV. TestPlain of record/internal/tables looks at Parquet.
func TestTable(t *testing.T) {
	var table Table
	table.Add("point", []uint64{1, math.MaxUint64})
	table.Add("tau (ms)", []float64{0.1, math.NaN()})
	table.Add("digest", []string{"a,b", ""})
	dir := t.TempDir()
	require.NoError(t, table.Write(dir, "sweep"))
	text, err := os.ReadFile(filepath.Join(dir, "sweep.csv"))
	require.NoError(t, err)
	require.Equal(t, "point,tau (ms),digest\n1,0.1,\"a,b\"\n18446744073709551615,,\n", string(text))
}
