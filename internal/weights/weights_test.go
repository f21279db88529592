package weights

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestCollect finds every weight's place for any number of threads, and refuses one weight too many.
func TestCollect(t *testing.T) {
	var list []int32
	for i := range int32(7001) {
		list = append(list, (i*7919)%501-250, -1<<31, 1<<31-1)
	}
	for _, threads := range []int{1, 3, 8} {
		table := Collect(list, 503, threads)
		require.Len(t, table.List, 503, "%d threads", threads)
		for _, w := range list {
			require.Equal(t, w, table.List[table.Place(w)])
		}
		require.Nil(t, Collect(list, 502, threads), "%d threads", threads)
	}
	require.Empty(t, Collect(nil, 1, 2).List, "no synapses, no weights")
}

// TestCollectManyWeights stops at limit, which the index has room for.
func TestCollectManyWeights(t *testing.T) {
	list := make([]int32, limit)
	for i := range list {
		list[i] = int32(i) * 65536 // one hash for many
	}
	require.Len(t, Collect(list, 1<<20, 2).List, limit)
	require.Nil(t, Collect(append(list, 1), 1<<20, 2))
}
