package tables

import (
	"testing"

	"burst/record/manifest"

	"github.com/stretchr/testify/require"
)

// TestColumnsOfABatch: a chunk that becomes a batch and a chunk again has all its columns, also those behind the area's.
func TestColumnsOfABatch(t *testing.T) {
	m := &manifest.Manifest{Timestep: 1, Scale: 1, Areas: []manifest.Area{{Name: "a", Neurons: 5}, {Name: "b", First: 5, Neurons: 5}}}
	want := Chunk{Burst: []uint64{3, 4}, Neuron: []uint32{1, 9}, Area: []uint32{0, 1}, Port: []uint32{1, 0}, Sum: []int32{-7, 8}}
	b := want.Batch(Named(FCL).Schema(m), Dictionaries(m))
	defer b.Release()
	got := Chunk{Area: want.Area}
	require.NoError(t, got.view(b))
	require.Equal(t, want, got)
}
