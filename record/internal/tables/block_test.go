package tables

import (
	"testing"

	"burst/record/manifest"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/stretchr/testify/require"
)

// TestExpandRefusesWrongOffsets: offsets come from a file; whatever they say, no row is read twice, left out or made up.
func TestExpandRefusesWrongOffsets(t *testing.T) {
	m := manifest.Manifest{Timestep: 0.1, Scale: 1000}
	s := Named(FCL).StreamSchema(&m)
	whole := func() *Block {
		b := NewBlock()
		for _, number := range []uint64{3, 5, 6} { // burst 5 has no candidates
			if number != 5 {
				b.Rows.Neuron, b.Rows.Port, b.Rows.Sum = append(b.Rows.Neuron, 7, 1011), append(b.Rows.Port, 7, 1011), append(b.Rows.Sum, -1, int32(number))
			}
			b.End(number)
		}
		return b
	}
	var c Chunk
	require.NoError(t, c.expand(whole().batch(s)))
	require.Equal(t, Chunk{Burst: []uint64{3, 3, 6, 6}, Neuron: []uint32{7, 1011, 7, 1011}, Port: []uint32{7, 1011, 7, 1011}, Sum: []int32{-1, 3, -1, 6}}, c)
	for name, ends := range map[string][]int64{
		"a row is left out at the start": {1, 2, 4}, "a row is left out at the end": {0, 2, 3}, "more rows than values": {0, 2, 5},
		"backwards": {0, 5, 4}, "negative": {0, -1, 4}, "too few": {0, 4},
	} {
		t.Run(name, func(t *testing.T) {
			b := whole()
			b.Ends = ends
			require.ErrorIs(t, new(Chunk).expand(b.batch(s)), errLists)
		})
	}
	b := whole()
	good := b.batch(s)
	b.Ends = []int64{0, 1, 4}
	columns := good.Columns()
	columns[3] = b.batch(s).Column(3)
	require.ErrorIs(t, new(Chunk).expand(array.NewRecordBatch(s, columns, 2)), errLists, "port and sum end at other rows")
}
